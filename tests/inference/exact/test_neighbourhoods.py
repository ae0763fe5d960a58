"""Large neighbourhood search: never worse, never against a rule, and the best on small ones."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from rote.engines import Exhaustive, Problem
from rote.inference.exact import neighbourhoods
from rote.inference.exact.neighbourhoods import Climb, neighbours_of
from rote.inference.exact.plans import no_plan
from rote.kernels.local_search.large_neighbourhood import Climber, draw_free
from rote.types import readonly
from tests.inference.outputs import built, few


def first_output(problem):
    """Some output that obeys the rules, by no means a good one."""
    worst = problem.changed(scores=readonly(-problem.scores))
    return Exhaustive().answer(worst, None).labels[0]


@pytest.mark.parametrize(
    ("scopes", "rules"),
    [
        (list(combinations(range(9), 2)), []),
        (list(pairwise(range(9))), [few]),
        ([(0, 1, 2), (2, 3, 4), (4, 5, 6), (6, 7, 8), (8, 0)], [lambda v: v[0]["a"] >> v[4]["b"]]),
        ([], [lambda v, j=j: v[j]["a"] >> v[j + 1]["b"] for j in range(8)]),
    ],
)
def test_small_problems_are_solved_by_steps(scopes, rules):
    space = built(9, scopes, rules)
    for seed in range(3):
        scores = np.random.default_rng(seed).normal(size=(1, space.parts))
        problem = Problem(space, scores)
        climb = Climb(problem, first_output(problem), np.random.default_rng(seed))
        for _ in range(200):
            before = climb.best_value
            gained = climb.step()
            assert gained == (climb.best_value > before)
            assert space.holds(climb.now[None]).all()
            assert climb.value == space.value(scores, climb.now)[0]
            assert climb.value <= climb.best_value + 1e-2
        assert climb.best_value == pytest.approx(Exhaustive().solve(space, scores).value[0])


def test_closed_labels_stay_closed():
    space = built(6, combinations(range(6), 2), labels="abc")
    scores = np.random.default_rng(0).normal(size=(1, space.parts))
    closed = np.zeros((1, 18), dtype=bool)
    closed[0, ::3] = True
    problem = Problem(space, scores, closed=closed)
    climb = Climb(problem, np.ones(6, np.int64))
    climb.run(0.3, lambda labels: None)
    found = climb.best
    assert (found > 0).all()
    best = Exhaustive().solve(space, problem)
    assert space.value(scores, found)[0] <= best.value[0] + 1e-9


def test_what_is_watched_gets_better_and_is_returned():
    space = built(30, combinations(range(30), 2))
    scores = np.random.default_rng(1).normal(size=(1, space.parts))
    seen = []
    climb = Climb(Problem(space, scores), np.zeros(30, np.int64))
    climb.run(0.5, seen.append)
    values = [space.value(scores, each)[0] for each in seen]
    assert len(values) > 1
    assert (np.diff(values) > 0).all()
    assert climb.best.tolist() == seen[-1].tolist()
    climb.start_from(seen[0])
    assert climb.best_value == values[0]


def test_shaking_leaves_a_local_optimum(monkeypatch):
    """One variable is freed at a time: only a shake leads from aa to bb."""
    monkeypatch.setattr(neighbourhoods, "partial_plan", no_plan)
    monkeypatch.setattr(neighbourhoods, "STEPS", 1)
    space = built(2, [(0, 1)], labels="abc")
    scores = np.array([[0.0, 0, -9, 0, 0, -9, 1, 0, 0, 0, 2, 0, 0, 0, 0]])
    for patience, expected in ((10**9, 1.0), (5, 2.0)):
        monkeypatch.setattr(neighbourhoods, "PATIENCE", patience)
        climb = Climb(Problem(space, scores), np.zeros(2, np.int64))
        for _ in range(300):
            climb.climber.size = climb.searcher.size = 0.5
            climb.step()
        assert climb.best_value == expected


def joined_of(space):
    joined = neighbours_of(space).all_joined
    return [others.tolist() for others in np.split(joined.other, joined.ptr[1:-1])]


def test_neighbours_share_a_table_or_a_row():
    joined = joined_of(built(12, [(0, 1), (1, 2, 3)], [lambda v: few(v[2:])]))
    assert joined[0] == [1]
    assert joined[1] == [0, 2, 3]
    assert joined[11] == [*range(2, 11)]


def test_free_variables_hang_together_and_a_tree_closes_no_loop():
    space = built(
        12, [*combinations(range(12), 2)][::3], [few]
    )  # a row, so that nothing is eliminated
    neighbours = neighbours_of(space)
    joined = joined_of(space)
    climber = Climber(12, 0, 1.0)
    seen = set()
    for size in range(1, 13):
        for is_tree in (False, True):
            free = np.flatnonzero(draw_free(climber, neighbours.all_joined, size, is_tree)).tolist()
            inside = sum(k in free for j in free for k in joined[j]) // 2
            reached = {free[0]}
            for _ in free:
                reached |= {k for j in reached for k in joined[j] if k in free}
            assert reached == set(free)
            assert len(free) <= size
            assert inside == len(free) - 1 if is_tree else len(free) == size
            seen.add(free[0])
    assert len(seen) > 1
