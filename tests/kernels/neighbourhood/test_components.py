"""Components and whether they may change by themselves, beside naive twins."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.neighbourhood.components import (
    may_swap,
    signed_components,
)
from rote.space import SpaceBuilder, at_most
from tests.kernels.bodies import activities, entry_of, networks
from tests.kernels.parts import around_of, whole
from tests.strategies import rules_as_rows, spaces

# -- components ---------------------------------------------------------------------------


def sets_of(found, i):
    first, ptr, members = found
    return [members[ptr[s] : ptr[s + 1]].tolist() for s in range(first[i], first[i + 1])]


def naive_components(n, states, scopes, signs):
    """Grow each set until no factor joins more to it."""
    joined = []
    for scope, sign in zip(scopes, signs, strict=True):
        same = states[scope[0]] == states[scope[1]]
        if sign == 0 or (sign == 1 and same) or (sign == -1 and not same):
            joined.append(set(scope))
    left, found = set(range(n)), []
    while left:
        component = {min(left)}
        while True:
            more = component.union(*(scope for scope in joined if scope & component))
            if more == component:
                break
            component = more
        found.append(sorted(component))
        left -= component
    return found


@given(spaces(most=5, max_rules=0), st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_components_are_those_that_grow_along_factors(space, seed, m):
    rng = np.random.default_rng(seed)
    n = len(space.variables)
    gold = whole([[rng.integers(size) for size in space.sizes] for _ in range(m)]).reshape(m, n)
    states = whole(rng.integers(3, size=space.labels))
    pairwise = np.array([len(f.variables) == 2 for f in space.factors], dtype=np.bool_)
    signs = whole(np.where(pairwise, rng.integers(-1, 3, size=len(pairwise)), 0))
    arguments = gold, space.layout, states, signs
    scopes = [factor.variables for factor in space.factors]
    found = signed_components(*arguments)
    assert found[0].shape == (m + 1,)
    for i in range(m):
        own = [int(states[space.offsets[j] + gold[i, j]]) for j in range(n)]
        assert sets_of(found, i) == naive_components(n, own, scopes, signs.tolist())


# -- whether they may change by themselves --------------------------------------------------


def labels_of(net):
    """Every labelling of a network whose single labels are allowed."""
    graph = net.graph
    return [
        labels
        for labels in product(*map(range, graph.sizes))
        if all(net.allowed[graph.offsets[j] + a] for j, a in enumerate(labels))
    ]


def swapped(gold, labels, members):
    return tuple(labels[j] if j in members else int(gold[j]) for j in range(len(gold)))


def random_sets(rng, n):
    """The variables in a few sets."""
    owner = rng.integers(3, size=n)
    return [np.flatnonzero(owner == s).tolist() for s in range(3) if (owner == s).any()]


def at_most_two_of_four():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(4)]
    builder.require(at_most(2, [v["b"] for v in variables]))
    return builder.build()


@pytest.mark.parametrize(
    ("gold", "members", "expected"),
    [
        ([0, 0, 0, 0], [0, 1], True),  # two at most, whatever they are
        ([0, 0, 0, 0], [0, 1, 2], True),  # three were possible nowhere
        ([1, 0, 0, 0], [0, 1], True),
        ([1, 0, 0, 0], [1, 2], False),  # one is there already
        ([1, 0, 0, 0], [1], True),
        ([1, 1, 1, 0], [0], False),  # gold breaks it, and goes on doing so with x0 = b
        ([0, 0, 0, 0], [], True),
    ],
)
@pytest.mark.parametrize("max_entries", [None, 1], ids=["table", "row"])
def test_at_most_two_by_hand(gold, members, expected, max_entries):
    space = at_most_two_of_four()
    with rules_as_rows(max_entries):
        net = space.network
    assert bool(len(net.graph.rows.lower)) == (max_entries == 1)
    found = may_swap(whole([gold]), net.graph, net.allowed, around_of([[members]]))
    assert found.tolist() == [expected]


@given(networks(least=1), st.integers(0, 2**32 - 1))
def test_where_sets_may_be_swapped_every_possible_output_stays_possible(found, seed):
    _, net = found
    graph, rng, rows = net.graph, np.random.default_rng(seed), net.graph.rows
    n = len(graph.sizes)
    gold = whole([[rng.integers(size) for size in graph.sizes] for _ in range(3)])
    lists = [random_sets(rng, n) for _ in range(3)]
    around = around_of(lists)
    may = may_swap(gold, graph, net.allowed, around)
    assert may_swap(gold, graph, net.allowed, around).tolist() == may.tolist()

    def possible(labels):
        if not all(net.allowed[graph.offsets[j] + a] for j, a in enumerate(labels)):
            return False
        if not all(net.allowed[entry_of(graph, b, labels)] for b in range(net.blocks)):
            return False
        totals = activities(graph, labels)
        return bool(((totals >= rows.lower) & (totals <= rows.upper)).all())

    outputs = [labels for labels in labels_of(net) if possible(labels)]
    for i in np.flatnonzero(may):
        for members in lists[i]:
            for labels in outputs:
                assert possible(swapped(gold[i], labels, members))
