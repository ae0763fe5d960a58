"""Ranges of rows with open variables, beside all that these variables can be."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.neighbourhood.ranges import Ranges, add_up, close_labels, prune, reopen, settle
from tests.kernels.bodies import activities, labellings
from tests.kernels.parts import whole
from tests.strategies import rules_as_rows, spaces

seeds = st.integers(0, 2**32 - 1)
ROOM = ("low", "high", "begin", "end", "groups")


@st.composite
def graphs(draw):
    """All rules of a space as rows."""
    space = draw(spaces(1, 4, max_rules=3, depth=2))
    with rules_as_rows(1):
        return space.network.graph


def opened(graph, rng):
    """An output, some of whose variables are opened, and what is known of rows then."""
    rows, n = graph.rows, len(graph.sizes)
    labels = whole([rng.integers(size) for size in graph.sizes])
    members = whole(rng.permutation(n)[: rng.integers(n + 1)])
    activity = np.empty(len(rows.lower))
    add_up(graph, labels, activity)
    ranges = Ranges(rows, n)
    broken = prune(graph, labels, activity, members, 0, ranges)
    fields = {name: getattr(ranges, name) for name in ROOM}
    return labels, members, ranges, SimpleNamespace(**fields), broken


def reached(graph, labels, members):
    """What rows add up to under all labels of the open variables."""
    fixed = [j for j in range(len(labels)) if j not in members.tolist()]
    return np.array(
        [
            activities(graph, other)
            for other in labellings(graph)
            if all(other[j] == labels[j] for j in fixed)
        ]
    )


def touched(graph, members):
    rows = graph.rows
    return sorted({int(rows.row[g]) for g, j in enumerate(rows.variable) if j in members.tolist()})


@given(graphs(), seeds)
def test_open_rows_range_over_all_they_can_be(graph, seed):
    rng = np.random.default_rng(seed)
    labels, members, _, ranges, broken = opened(graph, rng)
    rows, every = graph.rows, reached(graph, labels, members)
    mine = touched(graph, members)
    before = activities(graph, labels)
    out = (before < rows.lower) | (before > rows.upper)
    assert broken == out[mine].sum()
    assert ranges.low[mine].tolist() == every.min(axis=0)[mine].tolist()
    assert ranges.high[mine].tolist() == every.max(axis=0)[mine].tolist()
    # A row that nothing can break is in no list, and every other one is.
    safe = ((every >= rows.lower) & (every <= rows.upper)).all(axis=0)
    for j in members:
        groups = ranges.groups[ranges.begin[j] : ranges.end[j]]
        own = [g for g, v in enumerate(rows.variable) if v == j and not safe[rows.row[g]]]
        assert sorted(groups.tolist()) == own


@given(graphs(), seeds)
def test_labels_are_closed_that_no_others_can_save(graph, seed):
    rng = np.random.default_rng(seed)
    labels, members, room, _, _ = opened(graph, rng)
    lower, upper = graph.rows.lower, graph.rows.upper
    fixed = [j for j in range(len(labels)) if j not in members.tolist()]
    for j in members:
        belief, mine = np.zeros(graph.offsets[-1]), touched(graph, np.array([j]))
        close_labels(graph, j, room, belief)
        for a in range(graph.sizes[j]):
            every = np.array(
                [
                    activities(graph, other)[mine]
                    for other in labellings(graph)
                    if other[j] == a and all(other[k] == labels[k] for k in fixed)
                ]
            )
            lost = (every.min(axis=0) > upper[mine]) | (every.max(axis=0) < lower[mine])
            assert (belief[graph.offsets[j] + a] == -np.inf) == lost.any()


@given(graphs(), seeds)
def test_labels_are_given_and_taken_back(graph, seed):
    rng = np.random.default_rng(seed)
    labels, members, room, ranges, _ = opened(graph, rng)
    rows, mine = graph.rows, touched(graph, members)
    lower, upper = rows.lower, rows.upper
    begun = ranges.low.copy(), ranges.high.copy()
    chosen = labels.copy()
    within = True
    for j in members:
        chosen[j] = rng.integers(graph.sizes[j])
        part = graph.offsets[j] + chosen[j]
        within = settle(rows, part, j, room) and within
    totals = activities(graph, chosen)
    listed = np.unique(rows.row[ranges.groups[: ranges.end[members].max(initial=0)]])
    assert ranges.low[listed].tolist() == ranges.high[listed].tolist() == totals[listed].tolist()
    was_feasible = (totals[mine] >= lower[mine]) & (totals[mine] <= upper[mine])
    assert within == was_feasible.all()
    for j in members[::-1]:
        reopen(rows, graph.offsets[j] + chosen[j], j, room)
    assert ranges.low[mine].tolist() == begun[0][mine].tolist()
    assert ranges.high[mine].tolist() == begun[1][mine].tolist()
