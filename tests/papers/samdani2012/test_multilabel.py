"""Table 2 on made-up points: what is learned, counted, and chosen by whom."""

from dataclasses import replace

import numpy as np
import pytest

from papers.samdani2012.multilabel import (
    FULL,
    IN_PAPER,
    METHODS,
    NAME,
    Bench,
    Proving,
    Trained,
    _claims,
    _rows,
    documents_of,
)
from rote import BranchAndBound, Exact, SpaceBuilder
from tests.papers.studies import TINY as PLANS

STUDY = "samdani2012-multilabel"
TINY = PLANS[STUDY]


@pytest.fixture(scope="module")
def bench():
    return Bench(documents_of(TINY, 0), TINY)


def rows_of(outcome):
    return {row.method: row.metrics for row in outcome.rows}


def test_there_is_a_row_for_each_method_with_all_its_numbers(outcome):
    assert [row.method for row in outcome.rows] == list(METHODS)
    for metrics in rows_of(outcome).values():
        assert 0 < metrics["f1"] <= 100
        assert 0 < metrics["inference_seconds"] < metrics["training_seconds"]
        assert metrics["inferences"] % TINY.train == 0
        assert 0 <= metrics["proved_percent"] <= 100


def test_c_is_chosen_by_ll_and_by_decl_2_for_all_with_pairs(outcome):
    costs = {method: metrics["C"] for method, metrics in rows_of(outcome).items()}
    assert costs["LL"] in TINY.C
    assert costs["DecL-2"] in TINY.C
    assert costs["DecL-1"] == costs["DecL-3"] == costs["GL"] == costs["DecL-2"]


# Data


@pytest.mark.usefixtures("real_data")
def test_documents_have_the_labels_that_are_most_frequent():
    documents = documents_of(FULL, 0)
    assert documents.source == NAME
    assert documents.Y.shape == (6000, 30)
    assert len(documents.X) == 6000
    counts = documents.Y.sum(axis=0)
    assert counts.tolist() == sorted(counts.tolist(), reverse=True)
    assert len(set(documents.names)) == 30


# Pieces, by other means


def test_local_learning_scores_no_pairs(bench):
    spaces = {pairs: learned.groups[0].space for pairs, (_, learned) in bench.learned.items()}
    assert len(spaces["none"].factors) == 0
    assert len(spaces["complete"].factors) == 6


def test_looking_at_all_labels_is_global_learning():
    plan = replace(TINY, labels=3)
    bench = Bench(documents_of(plan, 0), plan)
    around, whole = (bench.trained(method, 1.0) for method in ("DecL-3", "GL"))
    assert whole.proved == 100
    assert np.any(whole.model.weights)
    assert around.model.weights == pytest.approx(whole.model.weights)


def test_the_best_on_validation_is_taken(bench):
    found = bench.tuned("DecL-2", (0.001, 1.0))
    reached = {
        cost: bench.judged(bench.trained("DecL-2", cost).model, bench.validation)
        for cost in (0.001, 1.0)
    }
    assert found.cost == max(reached, key=reached.__getitem__)


def hard_space():
    builder = SpaceBuilder()
    chosen = [builder.variable(str(i), ("off", "on")) for i in range(6)]
    for i, a in enumerate(chosen):
        for b in chosen[i + 1 :]:
            builder.factor(a, b)
    return builder.build()


def test_proving_counts_the_answers_that_were_proved():
    space = hard_space()
    scores = np.random.default_rng(0).normal(size=(20, space.parts))
    proving = Proving(BranchAndBound(node_limit=1))
    assert proving.percent == 0
    found, judge = proving.solve(space, scores), Exact().solve(space, scores)
    assert found.value[found.optimal] == pytest.approx(judge.value[found.optimal])
    proved = int(found.optimal.sum())
    assert 0 < proved < 20
    assert (proving.inputs, proving.proved) == (20, proved)
    assert proving.percent == 5 * proved
    proving.inner = Exact()
    proving.solve(space, scores)
    assert (proving.inputs, proving.proved) == (40, 20 + proved)


# Rows and claims, by hand


def trained(seconds: float) -> Trained:
    return Trained(None, 1.0, 2 * seconds, {"seconds": seconds, "inputs": 0}, 50.0)


GOOD = {"LL": 79.0, "DecL-1": 60.0, "DecL-2": 81.0, "DecL-3": 81.5, "GL": 82.0}
SECONDS = {"LL": 1.0, "DecL-1": 1.0, "DecL-2": 2.0, "DecL-3": 6.0, "GL": 10.0}


def claims(f1=GOOD, seconds=SECONDS):
    results = {method: trained(took) for method, took in seconds.items()}
    return list(_claims(results, f1))


def test_all_claims_hold_where_the_numbers_are_as_in_the_paper():
    assert [claim.held for claim in claims()] == [True] * 3
    assert claims()[1].evidence == "2.00 s against 10.00 s, 5.0 times."


@pytest.mark.parametrize(
    ("changed", "which"),
    [
        ({"f1": {**GOOD, "GL": 82.1}}, 0),
        ({"seconds": {**SECONDS, "GL": 9.9}}, 1),
        ({"f1": {**GOOD, "DecL-3": 78.9}}, 2),
        ({"f1": {**GOOD, "DecL-1": 74.5}}, 2),
    ],
    ids=["behind", "slow", "below", "level"],
)
def test_a_claim_fails_alone_where_its_numbers_are_not(changed, which):
    assert [claim.held for claim in claims(**changed)] == [k != which for k in range(3)]


def test_whole_runs_have_the_papers_f1_and_ratio_beside_them():
    results = {method: trained(took) for method, took in SECONDS.items()}
    rows = {row.method: row for row in _rows(results, GOOD, whole=True)}
    assert {method: row.paper["f1"] for method, row in rows.items()} == {
        method: known[0] for method, known in IN_PAPER.items()
    }
    assert rows["GL"].paper["inference_ratio"] == pytest.approx(126.78 / 22.86)
    assert rows["GL"].metrics["inference_ratio"] == 5
