"""One tree for a batch: the answers of exhaustive search, whatever inputs share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import Exact, Exhaustive, FoundBy, Problem, Status
from rote.inference.exact import shared_tree
from rote.inference.exact.shared_tree import is_dense, solve_together
from tests.inference.outputs import built, dense, few
from tests.strategies import dense_spaces, problems_with_equal_tables


def alike(n, labels="ab", m=1, seed=0, whole=False):
    """Random scores over every pair of variables, the same for all inputs."""
    space, scores = dense(n, labels, m, seed, whole)
    scores[:, space.labels :] = scores[0, space.labels :]
    return space, scores


def together(space, scores, visits=1 << 40):
    assert is_dense(space)
    return solve_together(Problem.of(space, scores), visits)


@pytest.fixture
def grown(monkeypatch):
    """How many inputs each tree was for."""
    sizes = []
    really = shared_tree.shared_tree

    def counted(questions, floors, graph, limit):
        sizes.append(len(questions.scores))
        return really(questions, floors, graph, limit)

    monkeypatch.setattr(shared_tree, "shared_tree", counted)
    return sizes


@given(st.data())
@settings(max_examples=250)
def test_answers_are_those_of_exhaustive_search(data):
    space = data.draw(dense_spaces())
    problem = data.draw(problems_with_equal_tables(space))
    answers, best = together(space, problem), Exhaustive().solve(space, problem)
    assert answers.labels.tolist() == best.labels.tolist()
    assert answers.value.tobytes() == best.value.tobytes()
    assert answers.status.tolist() == best.status.tolist()
    assert (answers.source == FoundBy.SHARED_TREE).all()


@given(st.data(), st.integers(1, 40))
@settings(max_examples=100)
def test_a_limit_never_makes_an_answer_false(data, visits):
    space = data.draw(dense_spaces())
    problem = data.draw(problems_with_equal_tables(space))
    cut, best = together(space, problem, visits), Exhaustive().solve(space, problem)
    for i in range(len(problem)):
        if cut.status[i] == Status.FEASIBLE:
            slack = 2 * problem.ties[i]
            assert cut.value[i] <= best.value[i] + slack
            assert cut.bound[i] >= best.value[i] - slack
        else:
            assert cut.labels[i].tolist() == best.labels[i].tolist()
            assert cut.status[i] == best.status[i]


def test_inputs_with_equal_tables_share_a_tree(grown):
    space, scores = alike(10, m=7)
    assert together(space, scores).optimal.all()
    assert grown == [7]


def test_inputs_with_other_tables_or_of_another_magnitude_do_not(grown):
    space, scores = alike(10, m=7)
    scores[3:5, -1] += 1.0
    scores[6, 0] = 1e6
    answers = together(space, scores)
    assert sorted(grown) == [1, 2, 4]
    assert answers.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


def test_a_large_batch_has_several_trees(grown, monkeypatch):
    monkeypatch.setattr(shared_tree, "MAX_TOGETHER", 3)
    space, scores = alike(8, m=7)
    answers = together(space, scores)
    assert grown == [3, 3, 1]
    assert answers.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


def test_inputs_that_have_little_in_common_go_apart(grown):
    space, scores = alike(14, "abcd", m=8)
    scores[:, space.labels :] *= 0.15
    answers = together(space, scores)
    assert grown == [8] + [1] * 8
    alone = together(space, scores[4])
    assert answers.labels[4].tolist() == alone.labels[0].tolist()


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_ties_are_quick_without_weights_and_with_pairs_alone(weight, grown):
    space, scores = alike(40, m=50, whole=True)
    scores *= weight * (np.arange(space.parts) >= space.parts - 4)
    answers = together(space, scores, 1 << 10)
    assert answers.optimal.all()
    assert (answers.labels[:, :-2] == 0).all()
    assert grown == [50, 50]  # the best outputs, and the first of them


def test_the_order_of_equal_outputs_may_take_more_than_a_limit():
    space, scores = alike(14, m=3, seed=1, whole=True)
    best = together(space, scores)
    cut = [together(space, scores, 1 << k) for k in range(5, 12)]
    assert {status for each in cut for status in each.status.tolist()} == {0, 1}
    for each in cut:
        same = each.labels[each.optimal] == best.labels[each.optimal]
        assert same.all()
    assert Exact().solve(space, scores).labels.tolist() == best.labels.tolist()


def test_no_input_has_no_answer():
    space, scores = alike(6)
    assert len(together(space, scores[:0])) == 0


@pytest.mark.parametrize(
    "space",
    [
        built(3),
        built(6, [(j, j + 1) for j in range(5)]),
        built(4, [(0, 1, 2), (1, 2, 3)]),
        built(12, [(j, k) for j in range(12) for k in range(j)], [few]),
        dense(3, "abcde")[0],
        dense(65)[0],
    ],
)
def test_what_is_not_dense_or_too_large_is_left_to_others(space):
    assert not is_dense(space)


def test_exact_takes_it_where_elimination_is_dear():
    space, scores = alike(20, m=4)
    assert (Exact().solve(space, scores).source == FoundBy.SHARED_TREE).all()
    small, scores = alike(6, m=4)
    assert (Exact().solve(small, scores).source == FoundBy.ELIMINATION).all()


@pytest.mark.parametrize("limit", [None, 20.0])
def test_what_it_does_not_finish_is_left_to_branch_and_bound(monkeypatch, limit):
    from rote.inference.exact import exact

    monkeypatch.setattr(exact, "VISITS", 64)
    space, scores = alike(18, m=3, seed=2)
    answers = Exact(limit).solve(space, scores)
    assert (answers.source == FoundBy.BRANCH).all()
    assert answers.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


def test_a_time_limit_is_a_limit_of_visits():
    space, scores = alike(60, m=1, seed=4)
    answers = Exact(time_limit=0.2).solve(space, Problem(space, scores))
    assert answers.status[0] == Status.FEASIBLE
    assert answers.bound[0] > answers.value[0]
