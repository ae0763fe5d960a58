"""Questions about some of the rules: what asks the same goes to the engine together."""

from __future__ import annotations

import numpy as np
import pytest

from rote import Exact, Problem, SpaceBuilder
from rote.inference.relaxed import Groups, Known, Relaxations


@pytest.fixture
def space():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(~x["b"], "no b at 0")
    builder.require(~y["b"], "no b at 1")
    builder.require(x["a"] >> y["b"], "b after a")
    return builder.build()


def kind(name):
    return name.rstrip("01")


def test_rules_of_one_name_are_kept_or_left_out_together(space):
    groups = Groups(space, kind)
    assert groups.names == ("no b at ", "b after a")
    assert [rule.name for rule in groups.space_with(frozenset([1])).rules] == ["b after a"]
    assert groups.space_with(frozenset([1])) is groups.space_with(frozenset([1]))
    labels = np.array([[0, 1], [0, 0], [1, 0]])
    sets = ({0}, {1}, {0})
    assert groups.broken_by(labels) == [frozenset(broken) for broken in sets]
    assert groups.broken_by(labels[:1], frozenset([1])) == [frozenset([0])]
    assert groups.called(frozenset([1, 0])) == groups.names
    alone = Groups(space)
    assert alone.names == ("no b at 0", "no b at 1", "b after a")


def test_what_asks_the_same_is_asked_at_once_and_only_once(space):
    problem = Problem(space, np.arange(12.0).reshape(3, 4) % 5)
    groups = Groups(space)

    def question(row, more):
        known = Known(problem, row, groups)
        found = yield from known.best(frozenset())
        again = yield from known.best(frozenset())
        assert again is found
        for kept in more:
            found = yield from known.best(frozenset(kept))
        return row, found.value, found.broken

    asked = Relaxations(Exact())
    found = asked.settle(groups, [question(0, []), question(1, [{0}]), question(2, [{0}, {1}])])
    assert [row for row, *_ in found] == [0, 1, 2]
    assert asked.calls == 3
    for (row, value, broken), kept in zip(found, [set(), {0}, {1}], strict=True):
        alone = Exact().solve(space.with_rules(kept), problem.scores[row])
        assert (value, broken) == (alone.value[0], space.broken_by(alone.labels)[0])


def test_an_input_without_an_output_has_none_and_breaks_nothing(space):
    known = Known(Problem(space, np.zeros((1, 4))), 0, Groups(space))
    (found,) = Relaxations(Exact()).settle(known.groups, [known.best(known.groups.every)])
    assert (found.value, found.broken) == (-np.inf, frozenset())


def test_what_is_known_already_is_not_asked_again(space):
    known = Known(Problem(space, [[0, 3.0, 0, 1.0]]), 0, Groups(space))
    asked = Relaxations(Exact())

    def question():
        first = yield from known.above(frozenset(), 3.5)  # both are b, which is worth 4
        for kept in ([2], []):  # an output that is known obeys it
            assert (yield from known.above(frozenset(kept), 3.5)) == first
        assert (yield from known.above(frozenset([0]), 3.5)) is None
        assert (yield from known.above(frozenset([0, 1]), 2.0)) is None  # nor with more rules
        return first

    assert asked.settle(known.groups, [question()]) == [frozenset([0, 1])]
    assert asked.calls == 2
