"""`lexicographic_first` turns some optimum into the first, asking as little as it can."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.inference.exact.tie_breaking import lexicographic_first
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


@given(problems(spaces(least=1), inputs=3), st.booleans())
@settings(max_examples=60)
def test_any_optimum_becomes_the_first_of_equals(problem, all_doubtful):
    space, problem = problem
    judge = Judge(space)
    labels = np.array([last_best(judge, *row_of(problem, i)) for i in range(3)])
    before = labels.copy()
    doubtful = np.array([True, True, all_doubtful])
    result = lexicographic_first(problem, labels, doubtful, engine_of(judge, []))
    for i in range(3):
        expected = judge.best(*row_of(problem, i))
        if expected is None or not doubtful[i]:
            assert result[i].tolist() == before[i].tolist()
        else:
            assert tuple(result[i].tolist()) == expected.labels
    assert labels.tolist() == before.tolist()


def three_of_two():
    builder = SpaceBuilder()
    for j in range(3):
        builder.variable(f"x{j}", "ab")
    return builder.build()


def test_nothing_is_asked_where_nothing_is_doubtful():
    space, asked = three_of_two(), []
    labels = np.ones((4, 3), dtype=np.int64)
    problem = Problem.of(space, np.zeros((4, 6)))
    doubtful = np.zeros(4, dtype=np.bool_)
    result = lexicographic_first(problem, labels, doubtful, engine_of(Judge(space), asked))
    assert result.tolist() == labels.tolist()
    assert asked == []


def test_inputs_without_an_output_are_left_alone():
    space, asked = three_of_two(), []
    labels = np.full((1, 3), -1)
    problem = Problem.of(space, np.zeros((1, 6)))
    result = lexicographic_first(problem, labels, np.ones(1, bool), engine_of(Judge(space), asked))
    assert result.tolist() == [[-1, -1, -1]]
    assert asked == []


def test_only_doubtful_inputs_and_only_smaller_labels_are_asked_about():
    space, asked = three_of_two(), []
    labels = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0]])
    problem = Problem.of(space, np.zeros((3, 6)))
    doubtful = np.array([True, False, True])
    result = lexicographic_first(problem, labels, doubtful, engine_of(Judge(space), asked))
    assert result.tolist() == [[0, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert sum(asked) == 1  # the last variable of the first input


def test_an_answer_below_the_floor_is_not_taken():
    space = three_of_two()
    scores = np.zeros((1, 6))
    scores[0, 5] = 1.0  # the last variable is better off with its second label
    problem = Problem.of(space, scores)

    def careless(narrowed, floor, rows):
        return np.zeros((len(narrowed), 3), dtype=np.int64)

    labels = np.array([[0, 0, 1]])
    result = lexicographic_first(problem, labels, np.ones(1, dtype=np.bool_), careless)
    assert result.tolist() == [[0, 0, 1]]
