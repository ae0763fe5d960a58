"""Figure 3's panels on tiny data: every number is there, and claims follow from numbers."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from papers.curves import Lead
from papers.data.synthetic import binary_constrained
from papers.punyakanok2005.synthetic import (
    KAPPAS,
    METHODS,
    _claims,
    _judged,
    once,
)
from tests.papers.studies import TINY as PLANS

STUDY = "punyakanok2005-synthetic"
TINY = PLANS[STUDY]


def test_there_is_a_row_for_each_panel_method_and_size(outcome):
    found = {(r.metrics["kappa"], r.method, r.metrics["examples"]) for r in outcome.rows}
    assert found == set(product(KAPPAS, METHODS, TINY.sizes))
    assert len(outcome.rows) == len(found)


def test_rows_are_means_over_trials_in_per_cent(outcome):
    row = next(r for r in outcome.rows if r.method == "L+I" and r.metrics["examples"] == 20)
    trials = [once(TINY, 0.0, 20, seed=0, trial=t)["L+I"] for t in range(2)]
    assert row.metrics["kappa"] == 0
    assert row.metrics["accuracy"] == pytest.approx(100 * np.mean([t.accuracy for t in trials]))
    assert row.metrics["exact_match"] == pytest.approx(
        100 * np.mean([t.exact_match for t in trials])
    )
    assert row.metrics["accuracy_low"] <= row.metrics["accuracy"] <= row.metrics["accuracy_high"]


def test_the_methods_differ_by_the_rules_and_by_what_is_learned_from():
    """LO and IBT against plain perceptrons written out here, on the same data and order."""
    seed = int(np.random.SeedSequence((1, 0)).generate_state(1)[0])
    data = binary_constrained(20, 1.0, seed, d=4, test=50)
    feasible = data.feasible

    def inputs(points):
        return np.concatenate([points, np.ones((*points.shape[:2], 1))], axis=2)

    def best(weights, x):
        signs = np.einsum("vd,vd->v", weights, x)
        return feasible[(feasible @ signs).argmax()]

    local, trained = np.zeros((2, 5, 5))
    xs = inputs(data.train.points)
    for cycle in range(1, TINY.cycles + 1):
        wrong = [0, 0]
        for k in np.random.default_rng([seed, cycle]).permutation(20):
            x, y = xs[k], data.train.labels[k]
            alone = (np.einsum("vd,vd->v", local, x) > 0).astype(int)
            local += (y - alone)[:, None] * x
            together = best(trained, x)
            trained += (y - together)[:, None] * x
            wrong[0] += (alone != y).any()
            wrong[1] += (together != y).any()
    tests = inputs(data.test.points)
    expected = {
        "LO": [(np.einsum("vd,vd->v", local, x) > 0).astype(int) for x in tests],
        "L+I": [best(local, x) for x in tests],
        "IBT": [best(trained, x) for x in tests],
    }
    assert min(wrong) > 0  # neither stopped early, so the loops above did the same
    found = once(TINY, 1.0, 20, seed=1, trial=0)
    for method, labels in expected.items():
        right = np.array(labels) == data.test.labels
        assert found[method].accuracy == pytest.approx(right.mean())
        assert found[method].exact_match == pytest.approx(right.all(axis=1).mean())


def test_the_evidence_says_how_a_claim_fares_by_whole_outputs():
    shape = 2, 3
    noise = np.array([-0.001, 0.0, 0.001])
    levels = {"LO": (0.5, 0.1), "L+I": (0.7, 0.3), "IBT": (0.6, 0.4)}
    measured = {
        (kappa, method): tuple(np.full(shape, level) + noise * (method == "IBT") for level in both)
        for kappa in KAPPAS
        for method, both in levels.items()
    }
    easy, mixed, hard, helped = _judged(replace(TINY, trials=3), measured)
    assert [claim.held for claim in (easy, mixed, hard, helped)] == [True, False, False, True]
    assert easy.evidence.endswith("Counted by whole outputs, the claim does not hold.")
    assert hard.evidence.endswith("Counted by whole outputs, the claim holds.")


def leads(easy: list[float], mixed: list[float], hard: list[float], helped: float = 0.02) -> dict:
    """Leads of L+I over IBT by size, all but sure."""
    sizes = (10, 20, 50)
    noise = np.array([-0.001, 0.0, 0.001])

    def lead(means: list[float]) -> Lead:
        return Lead.of(sizes, np.array(means)[:, None] + noise, np.zeros((3, 3)))

    made = {}
    for kappa, means in zip(KAPPAS, (easy, mixed, hard), strict=True):
        made[kappa, ("L+I", "IBT")] = lead(means)
        made[kappa, ("IBT", "L+I")] = lead([-mean for mean in means])
        made[kappa, ("L+I", "LO")] = lead([helped] * 3)
    return made


GOOD = ([0.0, 0.1, 0.1], [0.1, 0.0, -0.1], [0.0, -0.1, -0.2])


def test_all_claims_hold_where_the_numbers_are_as_in_the_paper():
    claims = list(_claims(leads(*GOOD)))
    assert [claim.held for claim in claims] == [True] * 4
    assert "From 20 examples on" in claims[2].evidence
    assert "50: +20.0 points [19.6, 20.4]" in claims[2].evidence


@pytest.mark.parametrize(
    ("changed", "which"),
    [
        ({"easy": [0.0, 0.1, -0.1]}, 0),
        ({"easy": [0.0, 0.0, 0.0]}, 0),
        ({"mixed": [-0.1, 0.0, 0.1]}, 1),
        ({"mixed": [0.1, -0.1, 0.0]}, 1),
        ({"mixed": [0.0, 0.0, -0.1]}, 1),
        ({"hard": [-0.1, -0.1, 0.0]}, 2),
        ({"helped": -0.02}, 3),
        ({"helped": 0.0}, 3),
    ],
    ids=str,
)
def test_a_claim_fails_alone_where_its_numbers_are_not(changed, which):
    given = {**dict(zip(("easy", "mixed", "hard"), GOOD, strict=True)), **changed}
    held = [claim.held for claim in _claims(leads(**given))]
    assert held == [k != which for k in range(4)]
