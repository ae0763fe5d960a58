"""Presolve closes no label that the answer needs, and closes those that it should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.inference.exact.presolve import graph_of_rules
from rote.inference.problem import TIE, Problem
from rote.kernels.presolve.reductions import presolve
from rote.space import at_most, count, exactly
from tests.bundles import as_arrays
from tests.inference.outputs import built
from tests.strategies import (
    Judge,
    extraction_spaces,
    flat_rule_spaces,
    problems_of,
    row_of,
    spaces,
)

ANY = st.one_of(flat_rule_spaces(), extraction_spaces(), spaces())


def presolved(problem: Problem):
    return presolve(problem.questions, graph_of_rules(problem.space), problem.space.labels)


@st.composite
def finely_scored(draw, space) -> Problem:
    """Whole scores and parts of a tie, four of which are less than one tie and five are more."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (4, space.parts)
    scores = rng.integers(-1, 2, shape) * (rng.random(shape) < draw(st.sampled_from([0.2, 1.0])))
    ties = Problem(space, scores).ties[:, None]
    return Problem(space, scores + 0.22 * ties * rng.integers(-3, 4, shape))


@settings(max_examples=400)
@given(st.data())
def test_the_answer_stays_the_same(data):
    space = data.draw(ANY)
    scored = finely_scored(space) if data.draw(st.booleans()) else problems_of(space, 4)
    problem = data.draw(scored)
    labels, left, is_open, _ = presolved(problem)
    judge = Judge(space)
    for i in range(len(problem)):
        scores, allowed = row_of(problem, i)
        best = judge.best(scores, allowed, problem.ties[i])
        if best is None:
            continue
        kept = is_open[i, : space.labels]
        assert judge.best(scores, kept, problem.ties[i]) == best
        assert allowed is None or not (kept & ~allowed).any()
        if not left[i]:
            assert tuple(labels[i, : len(space.variables)]) == best.labels


@settings(max_examples=100)
@given(st.data())
def test_rows_that_cannot_bind_are_met_by_all_open_labels_and_infeasible_is_infeasible(data):
    space = data.draw(ANY)
    problem = data.draw(problems_of(space, 2))
    graph = as_arrays(graph_of_rules(space))
    labels, left, is_open, live = presolved(problem)
    judge = Judge(space)
    for i in range(len(problem)):
        if (labels[i] < 0).any():
            assert judge.best(*row_of(problem, i)) is None
            assert not left[i]
            continue
        for r in np.flatnonzero(~live[i]):
            least = most = 0.0
            for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
                v, span = (
                    graph.rows.variable[g],
                    slice(graph.rows.start[g], graph.rows.start[g + 1]),
                )
                weights = np.zeros(graph.sizes[v])
                weights[graph.rows.column[span] - graph.offsets[v]] = graph.rows.coefficient[span]
                own = weights[is_open[i, graph.offsets[v] : graph.offsets[v + 1]]]
                least, most = least + own.min(), most + own.max()
            assert graph.rows.lower[r] <= least
            assert most <= graph.rows.upper[r]


def open_labels(space, *scores):
    problem = Problem(space, np.array(scores, dtype=float))
    return presolved(problem)[2].astype(int).tolist()


def test_unit_propagation_closes_what_breaks_a_rule():
    space = built(3, rules=[lambda v: v[0]["b"] & (v[0]["b"] >> v[1]["b"])])
    ((*closed, _, _),) = open_labels(space, [5, 0, 5, 0, 0, 0])
    assert closed == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("more", "is_open"),
    [
        ([0, 0], [1, 0]),
        ([0, 0.9 * TIE], [1, 1]),
        ([0, 1.1 * TIE], [0, 1]),
        ([0.9 * TIE, 0], [1, 0]),
    ],
)
def test_to_a_later_label_a_gain_of_more_than_a_tie_is_asked_for(more, is_open):
    space = built(3, rules=[lambda v: v[0]["a"] | v[1]["a"], lambda v: v[2]["b"]])
    (found,) = open_labels(space, [0, 0, *more, 1, 0])  # what the last one loses makes the tie
    assert found[:2] == [1, 0]
    # With the first variable at "a" the rule cannot bind, whatever the second one has.
    assert found[2:] == [*is_open, 0, 1]


def test_many_small_steps_lose_no_more_than_one():
    """Each variable could give up half a tie for its first label, all of them together not."""
    space = built(5, rules=[lambda v: at_most(4, [x["b"] for x in v[:4]]), lambda v: v[4]["b"]])
    scores = [0, 0.5 * TIE] * 4 + [1, 0]  # what the last one loses makes the tie
    assert open_labels(space, scores) == [[1] * 8 + [0, 1]]
    judge = Judge(space)
    assert judge.best(np.array(scores)).labels == (0, 0, 1, 1, 1)


def test_a_table_that_may_pay_for_a_label_keeps_it_open():
    space = built(2, [(0, 1)], [lambda v: v[0]["b"] >> v[1]["b"]])
    assert open_labels(space, [2, 0, 1, 0, 0, 0, 0, 1.5])[0][1] == 0
    assert open_labels(space, [2, 0, 1, 0, 0, 0, 0, 3.5])[0][1] == 1


def needs(relations):
    """x0 is needed by all others, which exclude each other."""

    def rules(v):
        found = v[1]["b"] >> v[0]["b"]
        for x in v[2:]:
            found = found & (x["b"] >> v[0]["b"])
        return found & at_most(1, [x["b"] for x in v[1:]])

    return built(1 + relations, rules=[rules])


@pytest.mark.parametrize(("cost", "falls"), [(2.0, True), (1.5, True), (1.4, False)])
def test_a_candidate_falls_if_all_that_needs_it_cannot_repay_it(cost, falls):
    """Of three relations, worth 1, 1.5 and 1 and one at most, the dearest counts."""
    (found,) = open_labels(needs(3), [0, -cost, 0, 1, 0, 1.5, 0, 1])
    assert found == [1, 0] * 4 if falls else found[:2] == [1, 1]


def test_of_an_auxiliary_variable_either_label_may_go():
    space = built(5, rules=[lambda v: count(v[0]["a"] & v[1]["b"], v[2]["a"] | v[3]["b"]) >= 1])
    problem = Problem(space, np.array([[0, 1.0] * 5]))
    labels, left, _, _ = presolved(problem)
    assert labels.shape[1] > 5
    assert not left.any()


def test_nothing_is_left_of_what_rules_decide():
    space = built(3, rules=[lambda v: exactly(3, [x["b"] for x in v])])
    labels, left, _, live = presolved(Problem(space, np.zeros((2, 6))))
    assert labels.tolist() == [[1, 1, 1]] * 2
    assert not left.any()
    assert not live.any()


def test_no_open_label_is_no_output():
    space = built(2)
    closed = np.array([[True, True, False, False], [False] * 4])
    labels, *_ = presolved(Problem(space, np.zeros((2, 4)), closed))
    assert labels.tolist() == [[-1, -1], [0, 0]]
