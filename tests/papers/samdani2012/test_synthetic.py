"""Figure 2 and Table 1 on tiny data: numbers by other means, and claims that follow from them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from papers.data.synthetic import linear_constrained
from papers.samdani2012.synthetic import (
    IN_PAPER,
    LEARNED,
    METHODS,
    Bench,
    Measured,
    Plan,
    Times,
    _claims,
    _rows,
)
from rote.engines import Exact
from rote.inference.wrappers.decomposed import Decomposed, HammingBall
from tests.papers.studies import TINY as PLANS

STUDY = "samdani2012-synthetic"
TINY = PLANS[STUDY]
CLOSE = Plan(delta=1e-4, iterations=400)
DATA = linear_constrained(15, 0)


@pytest.fixture(scope="module")
def bench():
    return Bench(DATA)


def weights_of(model) -> np.ndarray:
    """What label 1 has over label 0, of shape (variables, dimensions)."""
    blocks = [model.layout.block(model.weights, f"variable {i}") for i in range(10)]
    return np.array([block[:, 1] - block[:, 0] for block in blocks])


def test_there_is_a_row_for_each_method_and_size_and_one_for_integer_programs(outcome):
    found = [(row.method, row.metrics.get("examples")) for row in outcome.rows]
    wanted = [(method, size) for method in METHODS for size in TINY.sizes]
    assert found == [*wanted, ("GL with Milp", None)]


def test_times_stand_where_something_was_learned_from_the_most_examples(outcome):
    timed = {(row.method, row.metrics.get("examples")) for row in outcome.rows if is_timed(row)}
    assert timed == {*((method, 12) for method in LEARNED), ("GL with Milp", None)}
    for row in filter(is_timed, outcome.rows):
        assert 0 < row.metrics["inference_seconds"] < row.metrics["training_seconds"]


def is_timed(row) -> bool:
    return "training_seconds" in row.metrics


# Pieces, by other means


@pytest.mark.parametrize("cost", [0.1, 1.0])
def test_local_learning_is_a_binary_svm_for_each_variable(bench, cost):
    """Of a variable's two vectors u/2 and -u/2, ½‖w‖² is ¼‖u‖²: half a binary SVM with 2 C."""
    points, signs = DATA.train.points, 2 * DATA.train.labels - 1

    def primal(u):
        slacks = np.maximum(0, 1 - signs * (points @ u.T))
        return (u**2).sum() / 4 + cost * slacks.sum()

    judge = np.zeros((10, 20))
    for i, own in enumerate(signs.T):
        svm = LinearSVC(C=2 * cost, loss="hinge", fit_intercept=False, tol=1e-7, max_iter=10**6)
        judge[i] = svm.fit(points, own).coef_[0]
    found = weights_of(bench.trained(Exact(), cost, CLOSE, unruled=True).model)
    assert primal(found) == pytest.approx(primal(judge), rel=1e-3)
    assert found == pytest.approx(judge, abs=0.02)


def test_looking_at_all_variables_is_global_learning(bench):
    around = bench.trained(Decomposed(Exact(), HammingBall(10)), 1.0, TINY).model
    whole = bench.trained(Exact(), 1.0, TINY).model
    assert np.any(whole.weights)
    assert around.weights == pytest.approx(whole.weights)


@pytest.mark.parametrize("unruled", [True, False])
def test_what_is_wrong_is_counted_against_the_best_outputs(bench, unruled):
    model = bench.trained(LEARNED["LL"], 1.0, TINY).model
    known_value = DATA.test.points @ weights_of(model).T
    outputs = (
        known_value > 0
        if unruled
        else DATA.feasible[(known_value @ DATA.feasible.T).argmax(axis=1)]
    )
    wrong = (outputs != DATA.test.labels).mean()
    assert bench.wrong(model, unruled=unruled) == pytest.approx(wrong)


def test_the_c_that_is_chosen_is_best_on_validation_and_the_smaller_of_equals(bench):
    plan = replace(TINY, C=(0.001, 0.1, 10.0, 10.0))
    cost, best = bench.tuned(LEARNED["GL"], plan, unruled=False)
    wrong = {
        each: bench.wrong(bench.trained(LEARNED["GL"], each, plan).model, bench.validation)
        for each in plan.C
    }
    assert cost == min(wrong, key=lambda each: (wrong[each], each))
    assert bench.wrong(best.model, bench.validation) == wrong[cost]


# Rows and claims, by hand

NOISE = np.array([-1e-3, 0.0, 1e-3])
GOOD = {
    "LL": (0.30, 0.30),
    "LL+C": (0.20, 0.20),
    "DecL-1": (0.20, 0.19),
    "DecL-2": (0.15, 0.10),
    "DecL-3": (0.12, 0.05),
    "GL": (0.12, 0.05),
}
SECONDS = {"LL": 1.0, "DecL-1": 1.0, "DecL-2": 1.0, "DecL-3": 2.0, "GL": 9.0, "GL with Milp": 40.0}


def measured(seconds=SECONDS, **changed) -> Measured:
    """Three trials at two sizes, in which hardly anything differs."""
    levels = {**GOOD, **{name.replace("_", "-"): both for name, both in changed.items()}}
    # Falls by the same amount in every trial are sure; noise keeps intervals from being points.
    wrong = {
        method: np.array([np.full(3, first) + NOISE, np.full(3, second)])
        for method, (first, second) in levels.items()
    }
    wrong["LL+C"] = np.array([0.2 + NOISE, 0.2 - NOISE])
    times = {method: Times([s] * 3, [s / 2] * 3) for method, s in seconds.items()}
    return Measured(wrong, times, {method: [1.0] * 3 for method in LEARNED})


PLAN = Plan(sizes=(10, 20), trials=3)


def test_all_claims_hold_where_the_numbers_are_as_in_the_paper():
    claims = list(_claims(PLAN, measured()))
    assert [claim.held for claim in claims] == [True] * 4
    assert "20.0 times as long with Milp and 4.5 times with Exact" in claims[0].evidence
    assert "+7.0 points [6.8, 7.2] (GL)" in claims[1].evidence


@pytest.mark.parametrize(
    ("changed", "which"),
    [
        ({"seconds": {**SECONDS, "GL with Milp": 39.0}}, 0),
        ({"DecL_2": (0.10, 0.10)}, 1),
        ({"DecL_3": (0.14, 0.05)}, 3),
    ],
    ids=["slow", "level", "apart"],
)
def test_a_claim_fails_alone_where_its_numbers_are_not(changed, which):
    held = [claim.held for claim in _claims(PLAN, measured(**changed))]
    assert held == [k != which for k in range(4)]


def test_a_method_that_is_behind_is_not_called_ahead():
    behind = list(_claims(PLAN, measured(DecL_3=(0.4, 0.3))))[2]
    assert not behind.held
    assert "ahead at no number" in behind.evidence


def test_the_papers_times_stand_beside_a_whole_run_on_the_most_examples():
    rows = list(_rows(PLAN, measured(), whole=True))
    beside = {row.method: row.paper["training_seconds"] for row in rows if row.paper}
    in_paper = {**IN_PAPER, "GL with Milp": IN_PAPER["GL"]}
    assert beside == {method: seconds for method, seconds in in_paper.items() if method != "GL"}
    assert not any(row.paper for row in rows if row.metrics.get("examples") == 10)
