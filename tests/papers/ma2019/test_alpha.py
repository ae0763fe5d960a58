"""Figure 2 on made-up data: rows by α, their judges, the claims and the figure."""

import numpy as np
import pytest

from papers.ma2019.alpha import (
    CURVES,
    QUICK,
    _claims,
    example_f1,
)
from papers.records import Row
from rote.metrics import example_scores

STUDY = "ma2019-alpha"


def rows(case, prediction, generation, spread=0.1):
    for k, (p, g) in enumerate(zip(prediction, generation, strict=True)):
        curves = {"prediction": p, "generation": g}
        ends = {
            f"{name}_{end}": value + sign * spread
            for name, value in curves.items()
            for end, sign in (("low", -1), ("high", 1))
        }
        yield Row(case, {"alpha": k / 2, **curves, **ends})


def held(made):
    return {claim.claim: claim.held for claim in _claims(list(made))}


def test_there_is_a_row_for_every_case_and_alpha(outcome):
    found = [(row.method, row.metrics["alpha"]) for row in outcome.rows]
    assert found == [(part.case, alpha) for part in QUICK.parts for alpha in QUICK.alphas]


def test_generation_is_at_least_prediction_and_means_lie_between_their_ends(outcome):
    for row in outcome.rows:
        assert row.metrics["generation"] >= row.metrics["prediction"]
        for name in CURVES:
            assert row.metrics[f"{name}_low"] <= row.metrics[name] <= row.metrics[f"{name}_high"]
            assert 0 <= row.metrics[name] <= 100


def test_starts_that_are_all_the_same_have_no_spread(outcome):
    for row in outcome.rows:
        if row.metrics["alpha"] == 1:
            assert row.metrics["generation_low"] == row.metrics["generation_high"]


def test_f1_of_label_sets_is_that_of_the_evaluation():
    rng = np.random.default_rng(0)
    gold, labels = rng.integers(0, 2, (2, 30, 4))
    gold[0] = labels[0] = 0
    assert example_f1(gold, labels) == pytest.approx(example_scores(gold, labels).f1)
    assert example_f1(gold[3], labels) == pytest.approx(
        example_scores(np.repeat(gold[3:4], 30, axis=0), labels).f1
    )


def test_claims_by_hand():
    good = held(rows("msrc21", (60.0, 70.0, 69.0), (80.0, 85.0, 75.0)))
    assert len(good) == 2
    assert all(good.values())
    bad = held(rows("msrc21", (70.0, 70.2, 69.0), (69.0, 80.0, 79.8)))
    assert not any(bad.values())
    noisy = held(rows("msrc21", (60.0, 70.0, 69.0), (80.0, 85.0, 75.0), spread=6.0))
    assert not any(noisy.values())


def test_only_large_outputs_are_said_to_need_likely_starts():
    assert len(held(rows("yeast", (60.0,), (70.0,)))) == 1
