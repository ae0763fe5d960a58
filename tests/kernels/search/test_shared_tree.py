"""One tree for a batch, against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.inference.problem import Problem
from rote.kernels.search.shared_tree import shared_tree
from tests.inference.outputs import dense
from tests.strategies import Judge, dense_spaces, problems_of, row_of

UNLIMITED = 1 << 60
NO_FLOORS = np.empty(0)


@st.composite
def batches(draw, most=4):
    """A dense space, and a problem of inputs that share the scores of factors."""
    space = draw(dense_spaces(most))
    problem = draw(problems_of(space, draw(st.integers(1, 4))))
    scores = problem.scores.copy()
    scores[:, space.labels :] = scores[0, space.labels :]
    return space, problem.changed(scores=scores)


@given(batches())
def test_a_tree_finds_the_best_and_knows_what_is_close(batch):
    space, problem = batch
    judge = Judge(space)
    labels, bound, complete, doubtful = shared_tree(
        problem.questions, NO_FLOORS, space.network.graph, UNLIMITED
    )
    assert complete.all()
    for i in range(len(problem)):
        ranked = judge.ranked(*row_of(problem, i))
        if not ranked:
            assert (labels[i] == -1).all()
            continue
        tie = problem.ties[i]
        found = {one.labels: one.value for one in ranked}[tuple(labels[i].tolist())]
        assert found >= ranked[0].value - 0.2 * tie
        assert bound[i] == pytest.approx(found, abs=0.1 * tie)
        if len(ranked) > 1 and ranked[1].value > found - 0.9 * tie:
            assert doubtful[i]


@given(batches(), st.sampled_from([0.5, 1.5, 3.0]))
def test_with_floors_a_tree_finds_the_first_above(batch, below):
    space, problem = batch
    judge = Judge(space)
    each = [judge.valued(*row_of(problem, i)) for i in range(len(problem))]
    if not all(each):
        return
    best = np.array([max(one.value for one in valued) for valued in each])
    floors = best - below * problem.ties
    labels, _, complete, _ = shared_tree(problem.questions, floors, space.network.graph, UNLIMITED)
    assert complete.all()
    for i, valued in enumerate(each):
        first = next(one for one in valued if one.value > floors[i])
        assert tuple(labels[i].tolist()) == first.labels


@given(batches(), st.integers(1, 12))
def test_a_tree_that_is_stopped_brackets_the_best(batch, visits):
    space, problem = batch
    judge = Judge(space)
    labels, bound, complete, _ = shared_tree(
        problem.questions, NO_FLOORS, space.network.graph, visits
    )
    for i in range(len(problem)):
        best = judge.best(*row_of(problem, i))
        if best is None:
            assert (labels[i] == -1).all()
            assert complete[i]
            continue
        found = space.value(problem.scores[i], labels[i][None])[0]
        assert bound[i] >= best.value - problem.ties[i]
        assert found <= best.value + problem.ties[i]
        if complete[i]:
            assert found >= best.value - problem.ties[i]


def test_inputs_with_little_in_common_are_left_after_a_trial():
    space, scores = dense(14, "abcd", m=8)
    scores[:, space.labels :] = 0.15 * scores[0, space.labels :]
    problem = Problem(space, scores)
    graph = space.network.graph
    together = shared_tree(problem.questions, NO_FLOORS, graph, UNLIMITED)
    alone = shared_tree(problem.rows([0]).questions, NO_FLOORS, graph, UNLIMITED)
    assert not together[2].any()
    assert alone[2].all()
    assert together[1][0] >= alone[1][0]
