"""One step on a chain is what its three kernels do one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from rote.inference.base import TIE

from rote.inference import Chain, Objective
from rote.kernels.learning.linear import move_both, scores_of
from rote.kernels.learning.online import NOTHING, RIGHT, WRONG, chain_step
from rote.model import prepare
from rote.space import SpaceBuilder
from rote.tasks.task import Frame, Slot
from rote.types import frozen
from tests.kernels.bodies import plain
from tests.learning.small import chains

BOTH = pytest.mark.parametrize("run", [chain_step, plain(chain_step)], ids=["compiled", "plain"])


def arguments(prepared, group, place, weights, sums):
    windows, space = Chain().windows(group.space), group.space
    known = prepared.vectors, group.slots, windows, space.scope_ptr, space.scope
    return weights, sums, *known, group.firsts[place], group.gold_columns[place], TIE, 1.5, 7.0


@BOTH
@pytest.mark.parametrize("order", [1, 2])
def test_it_scores_solves_and_moves(run, order):
    task, xs, ys = chains(order, count=12, longest=4, order=order)
    prepared = prepare(task, xs, ys)
    rng = np.random.default_rng(0)
    seen = set()
    for group in prepared.groups:
        if len(group.space.variables) < 2:
            continue  # nothing to chain
        for place in range(len(group)):
            weights, sums = rng.normal(size=(2, prepared.layout.size))
            own, own_sums = weights.copy(), sums.copy()
            firsts = group.firsts[place : place + 1]
            scores = frozen(scores_of(frozen(own), prepared.vectors, group.slots, firsts))
            objective = Objective(scores)
            found = group.columns(Chain().solve(group.space, objective).labels)[0]
            toward = group.gold_columns[place]
            wrong = (found != toward).any()
            if wrong:
                known = prepared.vectors, group.slots, firsts[0], toward, found
                move_both(own, own_sums, *known, 1.5, 7.0)
            how = run(*arguments(prepared, group, place, weights, sums))
            assert how == (WRONG if wrong else RIGHT)
            seen.add(how)
            np.testing.assert_array_equal(weights, own)
            np.testing.assert_array_equal(sums, own_sums)
    assert WRONG in seen


@BOTH
def test_where_no_output_is_feasible_nothing_moves(run):
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] & y["a"] & ~y["a"])
    builder.factor(x, y)
    space = builder.build()

    class Task:
        def frame(self, x):
            return Frame(space, (Slot("label", 0), Slot("label", 0), Slot("pair")), ("k",))

        def vectors(self, x):
            return [["feature"]]

        def encode(self, x, y):
            return y

        def decode(self, x, labels):
            return labels

    prepared = prepare(Task(), [None], [[0, 1]], allow_broken=True)
    weights, sums = np.ones((2, prepared.layout.size))
    assert run(*arguments(prepared, prepared.groups[0], 0, weights, sums)) == NOTHING
    assert weights.tolist() == sums.tolist() == [1.0] * prepared.layout.size
