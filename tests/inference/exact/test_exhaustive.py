"""`Exhaustive`: blocks of outputs, terms, and what it refuses."""

import tracemalloc
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from rote.inference.exact import exhaustive
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.problem import Problem
from rote.inference.solutions import Status
from rote.space import SpaceBuilder, at_most
from rote.space.losses import ZeroOne


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

    known_value: np.ndarray  # (m, outputs)
    sizes: tuple[int, ...]
    asked: list[int] = field(default_factory=list)

    def __len__(self):
        return len(self.known_value)

    def rows(self, index):
        return Given(self.known_value[index], self.sizes, self.asked)

    def value(self, labels):
        self.asked.append(labels.shape[1])
        place = np.ravel_multi_index(np.moveaxis(labels, 2, 0), self.sizes, mode="clip")
        return np.take_along_axis(self.known_value, place, axis=1)


@pytest.mark.parametrize("block", [8, 16, 48, 1000])
def test_under_a_term_the_first_of_equals_is_found_block_by_block(monkeypatch, block):
    monkeypatch.setattr(exhaustive, "BLOCK", block)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(4)]
    builder.require(at_most(2, [v["a"] for v in variables]))
    space = builder.build()
    rng = np.random.default_rng(0)
    # Whole numbers tie; a few are close enough to count as equal, and some are just not.
    known_value = rng.integers(0, 3, size=(4, 81)) - rng.choice([0.0, 6e-11, 3e-10], size=(4, 81))
    allowed = rng.random((4, 12)) < 0.8
    allowed[3, :3] = False
    term = Given(known_value, (3, 3, 3, 3))
    found = Exhaustive().solve(
        space, Problem(space, np.zeros((4, 12)), closed=~allowed, loss_term=term)
    )
    outputs = np.array(list(product(range(3), repeat=4)))
    for i in range(4):
        possible = space.holds(outputs) & allowed[i][space.offsets[:-1] + outputs].all(axis=1)
        values = np.where(possible, known_value[i], -np.inf)
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
