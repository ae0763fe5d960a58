"""TRW-S: bounds hold and never rise, losses hold, and what is compacted is worth the same."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.inference.exact.duals import Duals, dual_bound
from rote.inference.problem import Problem
from rote.kernels.dual.trws import (
    PairNetwork,
    SmallNetwork,
    close_losses,
    compact,
    decode,
    improve,
    narrow,
    pass_messages,
    value_of,
)
from tests.kernels import bodies
from tests.strategies import pair_spaces

seeds = st.integers(0, 2**32 - 1)
small_spaces = pair_spaces(most=4, labels=3)


def prepared(space, seed, messages=0.0):
    """A network under drawn scores and messages, with its scores and all labellings by value."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=space.parts)
    graph = space.network.graph
    net = PairNetwork(graph)
    np.asarray(net.entries)[:] = bodies.loaded(graph, scores)
    np.asarray(net.messages)[:] = messages * rng.normal(size=len(net.messages))
    np.asarray(net.opened)[:] = True
    np.asarray(net.trial)[:] = 0
    np.asarray(net.variable)[:] = np.arange(len(net.variable))
    np.asarray(net.label)[:] = np.concatenate([np.arange(size) for size in space.sizes])
    return net, scores, values(net, space.sizes)


def values(net, sizes):
    """The value of each labelling that is allowed, entry by entry."""
    theta, graph, found = np.asarray(net.theta), net.graph, {}
    for labels in itertools.product(*map(range, sizes)):
        worth = theta[bodies.entries_of(graph, labels)].sum()
        if worth > -np.inf:
            found[labels] = worth
    return found


def finite(messages):
    return np.nan_to_num(np.asarray(messages), neginf=0.0)[None]


@given(small_spaces, seeds, st.sampled_from([0.0, 1.0, 30.0]))
@settings(max_examples=100)
def test_bounds_hold_and_never_rise_and_losses_hold(space, seed, scale):
    net, scores, outputs = prepared(space, seed, scale)
    problem = Problem(space, scores)
    none = np.zeros((1, len(space.rows)))
    before = dual_bound(space, problem, Duals(finite(net.messages), none))[0]
    if not outputs:
        return
    for turn in range(6):
        bound = pass_messages(net, turn % 2 == 0)
        assert max(outputs.values()) - 1e-9 <= bound <= before + 1e-9
        judged = dual_bound(space, problem, Duals(finite(net.messages), none))[0]
        assert judged >= max(outputs.values()) - 1e-9
        if turn % 2:
            losses = np.asarray(net.losses)
            for labels, worth in outputs.items():
                for j, label in enumerate(labels):
                    assert worth <= before + 1e-9 - losses[space.offsets[j] + label]
        before = bound


@given(small_spaces, seeds)
def test_messages_after_a_pass_prove_its_bound(space, seed):
    net, scores, outputs = prepared(space, seed)
    if len(outputs) < np.prod(space.sizes):
        return  # a message says nothing of labels without support
    none = np.zeros((1, len(space.rows)))
    for turn in range(4):
        bound = pass_messages(net, turn % 2 == 0)
        duals = Duals(finite(net.messages), none)
        assert dual_bound(space, Problem(space, scores), duals)[0] == pytest.approx(bound, abs=1e-9)


@given(small_spaces, seeds, st.sampled_from([0.0, 1.0]), st.integers(1, 3), st.booleans())
@settings(max_examples=150)
def test_all_outputs_lose_the_lead_that_an_output_was_read_with(space, seed, scale, turns, whole):
    net, _, outputs = prepared(space, seed, scale)
    if whole:  # with many ties
        net.entries[:] = np.round(net.entries)
        outputs = values(net, space.sizes)
    if not outputs:
        return
    for turn in range(2 * turns - 1):
        bound = pass_messages(net, turn % 2 == 0)
    lead = decode(net)
    labels = tuple(np.asarray(net.trial).tolist())
    for other, worth in outputs.items():
        if other != labels:
            assert worth <= bound - lead + 1e-9


@given(small_spaces, seeds)
def test_single_changes_never_lose(space, seed):
    net, _, outputs = prepared(space, seed)
    rng = np.random.default_rng(seed + 1)
    np.asarray(net.trial)[:] = rng.integers(0, space.sizes)
    labels = tuple(np.asarray(net.trial).tolist())
    before = value_of(net, net.trial)
    assert before == pytest.approx(outputs.get(labels, -np.inf))
    improve(net, 5)
    assert value_of(net, net.trial) >= before


@given(small_spaces, seeds, st.floats(0.0, 2.0))
@settings(max_examples=100)
def test_what_is_left_has_the_open_outputs_with_the_same_differences(space, seed, room):
    net, _, outputs = prepared(space, seed)
    if not outputs:
        return
    pass_messages(net, True)
    pass_messages(net, False)
    best = max(outputs, key=outputs.get)
    np.asarray(net.found)[:] = best
    net.value = outputs[best]
    close_losses(net, room)
    opened = net.opened
    for j, label in enumerate(best):
        opened[space.offsets[j] + label] = True
    to = SmallNetwork(net.graph)
    fixed = np.full(len(space.variables), -1)
    compact(net, to, fixed)
    left = values(to.net, np.asarray(to.net.graph.sizes))
    assert to.net.value == pytest.approx(max(left.values()))
    for small, worth in left.items():
        whole = fixed.copy()
        for v, a in enumerate(small):
            whole[to.net.variable[v]] = to.net.label[to.net.graph.offsets[v] + a]
        lost = outputs[best] - outputs[tuple(whole.tolist())]
        assert to.net.value - worth == pytest.approx(lost, abs=1e-9)
    inside = [o for o in outputs if all(opened[space.offsets[j] + a] for j, a in enumerate(o))]
    assert len(left) == len(inside)
    assert pass_messages(to.net, True) >= max(left.values()) - 1e-9  # whatever messages came along


@given(small_spaces, seeds)
def test_no_label_of_an_output_within_a_tie_is_closed(space, seed):
    net, _, outputs = prepared(space, seed)
    left = narrow(net, 0.01)
    if not outputs:
        return
    assert left >= 0
    opened, top = net.opened, max(outputs.values())
    for labels, worth in outputs.items():
        if worth >= top - 0.01:
            assert all(opened[space.offsets[j] + a] for j, a in enumerate(labels))
