"""A space that is used once is solved without compiling it, and all answers are as before."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import Exact, Exhaustive, FoundBy, Problem, Status
from rote.errors import InfeasibleSpace
from rote.inference.exact import presolve
from rote.inference.exact.presolve import Presolved, graph_of_rules
from rote.space import Space, at_most
from tests.inference.outputs import built
from tests.strategies import extraction_spaces, flat_rule_spaces, problems_of, spaces


def anew(space: Space) -> Space:
    """The same space, of which nothing is compiled."""
    return Space(space.variables, space.factors, space.rules)


def one_by_one(problem: Problem):
    """The answer to each input by itself, in a space of its own, or why it has none."""
    for i in range(len(problem)):
        alone = problem.rows(i).with_space(anew(problem.space))
        try:
            yield Exact().solve(alone.space, alone)
        except InfeasibleSpace as error:
            yield error


def check(problem: Problem) -> None:
    error = None
    try:
        want = Exhaustive().solve(problem.space, problem)
    except InfeasibleSpace as found:
        error = str(found)
    for i, answer in enumerate(one_by_one(problem)):
        if error is not None:
            assert str(answer) == error
            continue
        for array, right in zip(answer.arrays[:4], want.arrays[:4], strict=True):
            assert array[0].tolist() == right[i].tolist()


@pytest.mark.parametrize("nodes", [presolve.MOST_NODES, 1])
@settings(max_examples=200)
@given(data=st.data())
def test_answers_are_those_of_enumeration(nodes, data):
    """With one node of search, what presolve leaves is handed on with fewer labels."""
    space = data.draw(st.one_of(flat_rule_spaces(), extraction_spaces(), spaces()))
    problem = data.draw(problems_of(space, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(presolve, "MOST_NODES", nodes)
        check(problem)


@pytest.mark.parametrize("seed", range(10))
def test_components_are_solved_apart_and_ties_together(seed):
    """Five parts of three variables; of equal outputs the first of all is found."""
    rng = np.random.default_rng(seed)
    space = built(
        12,
        [(0, 1)] if seed % 2 else (),
        [lambda v, j=j: at_most(1, [x["b"] for x in v[j : j + 3]]) for j in range(0, 12, 3)],
    )
    scores = rng.integers(-1, 2, (2, space.parts)) + 3e-11 * rng.integers(0, 3, (2, space.parts))
    check(Problem(space, scores))


def few(variables):
    return at_most(3, [x["b"] for x in variables])


def test_nothing_is_compiled_for_the_first_input():
    space = built(10, rules=[few])
    scores = np.random.default_rng(0).normal(size=space.parts)
    first = Exact().solve(space, scores)
    assert "forms" not in vars(space)
    again = Exact().solve(space, scores)
    assert "forms" in vars(space)
    assert first.labels.tolist() == again.labels.tolist()


def test_source_says_whether_anything_was_left_to_search():
    rule = [lambda v: at_most(1, [x["b"] for x in v])]
    scores = np.array([1.0, 0, 0, 1, 1, 0])
    assert Exact().solve(built(3, rules=rule), scores).source == FoundBy.PRESOLVE
    scores = np.array([0, 1.0, 0, 3, 0, 2])
    assert Exact().solve(built(3, rules=rule), scores).source == FoundBy.BRANCH


def test_closed_labels_without_an_output_are_infeasible():
    space = built(3, rules=[lambda v: v[0]["a"] >> v[1]["a"]])
    closed = np.array([[False, True, True, False, False, False]])
    found = Exact().solve(space, Problem(space, np.zeros((1, 6)), closed))
    assert found.status.tolist() == [Status.INFEASIBLE]
    assert found.labels.tolist() == [[-1, -1, -1]]


def test_answers_of_a_batch_come_in_its_order(monkeypatch):
    space = built(10, combinations(range(10), 2), [few])
    scores = np.random.default_rng(1).normal(size=(6, space.parts))
    scores[::2] = 0.0  # of every other input nothing is left
    monkeypatch.setattr(presolve, "MOST_NODES", 1)
    asked = []

    def further(problem):
        asked.append(len(problem))
        return Exhaustive().solve(problem.space, problem)

    found = Presolved.of(Problem(space, scores), graph_of_rules(space)).answers(further)
    assert asked == [3]
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()
