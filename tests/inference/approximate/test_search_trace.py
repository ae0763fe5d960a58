"""Paths of greedy search, from starts of one's own."""

import numpy as np
import pytest

from rote.engines import Problem
from rote.errors import UnsupportedSpace
from rote.inference.approximate import RGS, hill_climb
from rote.inference.approximate.search_trace import MAX_STEPS, RestartSampler
from rote.inference.problem import NO_CONTEXT
from rote.space import SpaceBuilder, at_most
from rote.space.losses import F1Loss
from rote.types import readonly
from tests.inference.approximate.test_greedy import grid
from tests.inference.approximate.test_greedy_any_score import Alternations
from tests.strategies import rules_as_rows


def test_every_step_is_better_and_the_last_output_is_the_end():
    space, scores = grid(4)
    problem = Problem.of(space, scores)
    starts = readonly(np.random.default_rng(0).integers(2, size=(4, 16)))
    paths = hill_climb(problem, starts)
    outputs, owner = paths.outputs()
    known_value = space.known_value(readonly(scores[owner]), outputs)
    for i in range(4):
        mine, values = outputs[owner == i], known_value[owner == i]
        assert mine[0].tolist() == starts[i].tolist()
        assert mine[-1].tolist() == paths.ends[i].tolist()
        assert (np.diff(values) > 0).all()
        assert (np.count_nonzero(np.diff(mine, axis=0), axis=1) == 1).all()
        assert paths.counts[i] <= MAX_STEPS * 16
    assert paths.is_feasible.all()


def test_the_best_end_of_all_restarts_is_the_answer():
    space, scores = grid(3)
    problem = Problem.of(space, scores)
    engine = RGS(restarts=4, seed=5)
    initial = engine.initials(problem, NO_CONTEXT)
    starts = RestartSampler(problem, 5, 4)
    ends = [hill_climb(problem, starts.drawn(initial, 9)).ends for _ in range(4)]
    values = [space.known_value(problem.scores, end) for end in ends]
    assert engine.solve(space, problem).value == pytest.approx(np.max(values, axis=0))


def test_terms_that_kernels_know_are_climbed():
    space, scores = grid(2)
    gold = np.array([[1, 0, 0, 1]] * 4)
    problem = Problem(space, 0.0 * scores, loss_term=F1Loss().term(gold))
    paths = hill_climb(problem, readonly(gold))
    found = problem.loss_term.value(paths.ends[:, None])[:, 0]
    assert found.tolist() == [1.0] * 4


def test_what_only_plain_python_knows_has_no_paths():
    space, scores = grid(2)
    problem = Problem(space, scores, loss_term=Alternations(np.ones(4)))
    with pytest.raises(UnsupportedSpace, match="loss terms and global features"):
        hill_climb(problem, readonly(np.zeros((4, 4), np.int64)))
    builder = SpaceBuilder()
    v = [builder.variable(f"x{j}", "ab") for j in range(4)]
    builder.require(at_most(1, [v[j]["a"] & ~v[j - 1]["a"] for j in (1, 2, 3)]))
    with rules_as_rows(1):
        space = builder.build()
        with pytest.raises(UnsupportedSpace, match="auxiliary columns"):
            hill_climb(Problem(space, np.zeros(8)), readonly(np.zeros((1, 4), np.int64)))


@pytest.mark.parametrize("most", [2, 3, 5, 100])
def test_some_outputs_of_each_path_are_evenly_spread(most):
    space, scores = grid(4)
    problem = Problem.of(space, scores)
    starts = np.random.default_rng(0).integers(2, size=(4, 16))
    paths = hill_climb(problem, readonly(starts))
    everything, owner = paths.outputs()
    some, whose = paths.outputs(most)
    for i in range(4):
        path, kept = everything[owner == i].tolist(), some[whose == i].tolist()
        assert len(kept) == min(most, len(path))
        places = [path.index(output) for output in kept]
        assert places[0] == 0
        assert places[-1] == len(path) - 1
        gaps = np.diff(places)
        assert gaps.max() - gaps.min() <= 1


def test_a_given_start_is_taken_if_it_is_good_and_new():
    space, scores = grid(3)
    problem = Problem.of(space, scores)
    starts = RestartSampler(problem, 0, 3)
    ones, zeros = (readonly(np.full((4, 9), label)) for label in (1, 0))
    good = np.array([True, True, False, True])
    own, taken = starts.given(ones, good, zeros, 2)
    assert taken.tolist() == good.tolist()
    assert (own[good] == 1).all()
    assert own[2].sum() <= 2
    starts.keep(good)
    again, taken = starts.given(readonly(ones[:3]), np.ones(3, np.bool_), readonly(zeros[:3]), 2)
    assert not taken.any()
    assert (again.sum(axis=1) <= 2).all()
    other = starts.given(readonly(zeros[:3]), np.ones(3, np.bool_), readonly(ones[:3]), 2)[1]
    assert other.tolist() == (again.sum(axis=1) > 0).tolist()
