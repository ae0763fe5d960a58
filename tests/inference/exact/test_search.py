"""`search`: outputs above a floor, the best or the first in order, under any plan."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rote.inference.exact.plans import no_plan, partial_plan
from rote.inference.exact.search import UNLIMITED, search
from rote.inference.problem import Problem
from rote.space import SpaceBuilder
from tests.strategies import Judge, problems, row_of, rules_as_rows


@given(problems(), st.sampled_from([-np.inf, -1.5, 0.5, 2.5]), st.sampled_from([None, 1]))
def test_only_outputs_above_the_floor_are_found(problem, floor, max_entries):
    space, problem = problem
    judge = Judge(space)
    with rules_as_rows(max_entries):
        floors = np.full(len(problem), floor)
        for plan in (partial_plan(space), no_plan(space)):
            found = search(plan, problem, floors, None, UNLIMITED)
            assert found.complete.all()
            for i in range(len(problem)):
                best = judge.best(*row_of(problem, i))
                value = -np.inf if best is None else best.value
                scale = max(1.0, np.abs(problem.scores[i]).max(initial=0.0))
                if value > floor + 1e-9 * scale:
                    reached = space.value(problem.scores[i], found.labels[i])[0]
                    assert reached >= value - 1e-9 * scale
                    assert space.holds(found.labels[i]).all()
                elif value < floor - 1e-9 * scale:
                    assert (found.labels[i] == -1).all()


@given(problems(), st.sampled_from([-np.inf, -1.5, 0.5, 2.5]), st.sampled_from([None, 1]))
def test_in_order_the_first_output_above_the_floor_is_found(problem, floor, max_entries):
    space, problem = problem
    judge = Judge(space)
    with rules_as_rows(max_entries):
        floors = np.full(len(problem), floor)
        found = search(no_plan(space), problem, floors, None, UNLIMITED, in_order=True)
        for i in range(len(problem)):
            scores, allowed = row_of(problem, i)
            scale = 1e-9 * max(1.0, np.abs(scores).max(initial=0.0))
            valued = judge.valued(scores, allowed)
            if any(abs(one.value - floor) <= scale for one in valued):
                continue  # on the floor: either answer will do
            above = [one.labels for one in valued if one.value > floor]
            expected = above[0] if above else (-1,) * len(space.variables)
            assert tuple(found.labels[i].tolist()) == expected


@given(problems())
def test_an_answer_that_is_not_doubtful_has_no_equal(problem):
    space, problem = problem
    judge = Judge(space)
    floors = np.full(len(problem), -np.inf)
    for plan in (partial_plan(space), no_plan(space)):
        found = search(plan, problem, floors, None, UNLIMITED)
        for i, tie in enumerate(problem.ties):
            ranked = judge.ranked(*row_of(problem, i))
            if len(ranked) > 1 and ranked[1].value >= ranked[0].value - 0.9 * tie:
                assert found.doubtful[i]


def test_a_clear_answer_is_not_doubtful():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    space = builder.build()
    problem = Problem.of(space, np.array([0, 1, 0, 2, 0, 0, 0, 3.0]))
    found = search(no_plan(space), problem, np.array([-np.inf]), None, UNLIMITED)
    assert found.labels.tolist() == [[1, 1]]
    assert not found.doubtful[0]
