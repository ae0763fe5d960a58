"""Some optimum becomes the first of equals, and as little as can be is asked."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.inference.exact import search
from rote.inference.exact.tie_breaking import first_by_search
from rote.inference.problem import Problem
from rote.space import SpaceBuilder
from tests.strategies import Judge, problems, row_of, spaces


def last_best(judge, scores, allowed, floor=-np.inf):
    """The last of equals in lexicographic order: as far as can be from what is wanted."""
    valued = judge.valued(scores, allowed)
    top = max((one.value for one in valued), default=-np.inf)
    if top < floor or top == -np.inf:
        return [-1] * len(judge.space.variables)
    return [one for one in valued if one.value >= top - 1e-12][-1].labels


def engine_of(judge, asked):
    def better(problem, floor, rows):
        asked.append(len(problem))
        return np.array(
            [last_best(judge, *row_of(problem, i), floor[i]) for i in range(len(problem))],
            dtype=np.int64,
        )

    return better


def first_of(problem, labels, better, nodes=-(10**6)):
    """The search in order is cut short unless it has nodes."""
    with mock.patch.object(search, "NODES_IN_ORDER", nodes):
        return first_by_search(problem, labels, better)


@given(problems(spaces(least=1), inputs=3), st.sampled_from([-(10**6), 1, 1 << 10]))
def test_any_optimum_becomes_the_first_of_equals(problem, nodes):
    space, problem = problem
    judge = Judge(space)
    labels = np.array([last_best(judge, *row_of(problem, i)) for i in range(3)])
    rows = np.flatnonzero(labels[:, 0] >= 0)
    problem, labels = problem.rows(rows), labels[rows]
    before = labels.copy()
    result = first_of(problem, labels, engine_of(judge, []), nodes)
    for i in range(len(rows)):
        assert tuple(result[i].tolist()) == judge.best(*row_of(problem, i)).labels
    assert labels.tolist() == before.tolist()


@pytest.fixture
def free():
    builder = SpaceBuilder()
    for j in range(3):
        builder.variable(f"x{j}", "ab")
    return builder.build()


def test_only_smaller_labels_are_asked_about_where_the_search_in_order_is_cut_short(free):
    labels = np.array([[0, 0, 1], [0, 0, 0]])
    problem = Problem.of(free, np.zeros((2, 6)))
    for nodes, questions in ((-(10**6), 1), (1 << 10, 0)):  # the last variable of the first input
        asked = []
        result = first_of(problem, labels, engine_of(Judge(free), asked), nodes)
        assert result.tolist() == [[0, 0, 0], [0, 0, 0]]
        assert sum(asked) == questions


def test_an_answer_below_the_floor_is_not_taken(free):
    scores = np.zeros((1, 6))
    scores[0, 5] = 1.0  # the last variable is better off with its second label

    def careless(narrowed, floor, rows):
        return np.zeros((len(narrowed), 3), dtype=np.int64)

    labels = np.array([[0, 0, 1]])
    assert first_of(Problem.of(free, scores), labels, careless).tolist() == [[0, 0, 1]]
