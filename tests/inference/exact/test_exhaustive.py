"""`Exhaustive`, the judge of the other engines, against a plain search."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
import pytest

from rote.errors import InfeasibleSpace, ScoreError, UnsupportedSpace
from rote.inference.exact import exhaustive
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.problem import Problem, clamp
from rote.inference.solutions import Source, Status
from rote.space import SpaceBuilder, all_different, any_of, at_most
from rote.space.losses import ZeroOne
from tests.inference.outputs import (
    check_answers,
    check_nothing_is_answered,
    feasible,
    random_scores,
)


def random_space(rng):
    builder = SpaceBuilder()
    n = int(rng.integers(1, 6))
    variables = [builder.variable(f"x{j}", "abcd"[: rng.integers(1, 5)]) for j in range(n)]
    for size in (2, 3, 4):
        for scope in combinations(range(n), size):
            if rng.random() < 0.3:
                builder.factor(*[variables[j] for j in rng.permutation(scope)])
    for _ in range(rng.integers(0, 3)):
        first, then, other = (variables[j] for j in rng.integers(0, n, 3))
        builder.require(first["a"] >> (then[then.labels[-1]] | other["a"]))
    if rng.random() < 0.3:
        builder.require(at_most(2, [v["a"] for v in variables]))
    return builder.build()


def random_objective(rng, space, m=3):
    scores = random_scores(rng, (m, space.parts))
    allowed = rng.random((m, space.labels)) < 0.8
    return Problem(space, scores, closed=~allowed) if rng.random() < 0.5 else Problem(space, scores)


def test_it_agrees_with_a_plain_search_on_random_spaces():
    rng = np.random.default_rng(1)
    statuses = set()
    for _ in range(600):
        space = random_space(rng)
        problem = random_objective(rng, space)
        if problem.closed is None and not feasible(space):
            with pytest.raises(InfeasibleSpace):
                Exhaustive().solve(space, problem)
            continue
        found = Exhaustive().solve(space, problem)
        statuses |= set(found.status.tolist())
        check_answers(space, problem, found, Source.ENUMERATION)
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


def test_a_space_of_many_blocks_is_searched_to_its_end(monkeypatch):
    monkeypatch.setattr(exhaustive, "BLOCK", 16)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(4)]
    builder.require(variables[0]["c"] & variables[3]["c"])
    space = builder.build()
    scores = space.scores({"x1": {"b": 1.0}, "x2": {"c": 1.0}})
    assert Exhaustive().solve(space, scores).labels.tolist() == [[2, 1, 2, 2]]


@dataclass(frozen=True)
class Given:
    """A term that says one number for every output, by its place in lexicographic order."""

    worth: np.ndarray  # (m, outputs)
    sizes: tuple[int, ...]
    asked: list[int] = field(default_factory=list)

    def __len__(self):
        return len(self.worth)

    def rows(self, index):
        return Given(self.worth[index], self.sizes, self.asked)

    def value(self, labels):
        self.asked.append(labels.shape[1])
        place = np.ravel_multi_index(np.moveaxis(labels, 2, 0), self.sizes, mode="clip")
        return np.take_along_axis(self.worth, place, axis=1)


@pytest.mark.parametrize("block", [8, 16, 48, 1000])
def test_under_a_term_the_first_of_equals_is_found_block_by_block(monkeypatch, block):
    monkeypatch.setattr(exhaustive, "BLOCK", block)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(4)]
    builder.require(at_most(2, [v["a"] for v in variables]))
    space = builder.build()
    rng = np.random.default_rng(0)
    # Whole numbers tie; a few are close enough to count as equal, and some are just not.
    worth = rng.integers(0, 3, size=(4, 81)) - rng.choice([0.0, 6e-11, 3e-10], size=(4, 81))
    allowed = rng.random((4, 12)) < 0.8
    allowed[3, :3] = False
    term = Given(worth, (3, 3, 3, 3))
    found = Exhaustive().solve(
        space, Problem(space, np.zeros((4, 12)), closed=~allowed, loss_term=term)
    )
    outputs = np.array(list(product(range(3), repeat=4)))
    for i in range(4):
        possible = space.holds(outputs) & allowed[i][space.offsets[:-1] + outputs].all(axis=1)
        values = np.where(possible, worth[i], -np.inf)
        first = outputs[(values >= values.max() - 1e-10).argmax()]
        assert found.labels[i].tolist() == (first.tolist() if possible.any() else [-1] * 4)
    assert found.status[3] == Status.INFEASIBLE
    assert max(term.asked) <= max(1, block // 4)


def test_under_a_term_no_more_than_some_blocks_are_held_at_once():
    builder = SpaceBuilder()
    for j in range(18):
        builder.variable(f"x{j}", "ab")
    space = builder.build()
    gold = np.zeros((32, 18), dtype=np.int64)
    problem = Problem(space, np.zeros((32, 36)), loss_term=ZeroOne().term(gold))
    Exhaustive().solve(space, problem.rows(np.arange(1)))  # compiled by now
    tracemalloc.start()
    try:
        Exhaustive().solve(space, problem)
        assert tracemalloc.get_traced_memory()[1] < 8 * 32 * 2**18 // 2
    finally:
        tracemalloc.stop()


def test_too_many_outputs_are_refused_with_their_number():
    builder = SpaceBuilder()
    for j in range(10):
        builder.variable(f"x{j}", "ab")
    space = builder.build()
    assert Exhaustive(1024).accepts(space)
    assert not Exhaustive(1023).accepts(space)
    with pytest.raises(UnsupportedSpace, match="1024 outputs"):
        Exhaustive(1023).solve(space, np.zeros(20))


def test_rules_that_cannot_be_obeyed_together_are_named():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(all_different(x, y, z), name="three of two")
    builder.require(any_of(x["a"], y["a"]))
    with pytest.raises(InfeasibleSpace) as caught:
        Exhaustive().solve(builder.build(), np.zeros(6))
    assert caught.value.conflicting_rules == ("three of two",)


def test_an_input_made_infeasible_by_what_is_given_leaves_the_others_alone():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    problem = clamp(space, np.zeros((2, 4)), [{"x": "a", "y": "a"}, {"x": "a"}])
    found = Exhaustive().solve(space, problem)
    assert found.labels.tolist() == [[-1, -1], [0, 1]]
    assert found.status.tolist() == [Status.INFEASIBLE, Status.OPTIMAL]


def test_no_inputs_and_no_variables_are_answered(space):
    check_nothing_is_answered(Exhaustive(), space)


def test_scores_of_another_space_are_refused():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    with pytest.raises(ScoreError):
        Exhaustive().solve(builder.build(), np.zeros(3))
