"""Cross-validation with caches: what is counted, and what the record and its figure say of it."""

import pytest

from papers.chang2015 import cv as chang_cv
from papers.chang2015.cv import FULL, METHODS, Job, draw
from papers.chang2015.shared import BASELINE
from papers.records import Record
from rote import EntityRelationOutput
from rote.inference.wrappers.amortized import Counters
from rote.learning.cross_validation import Run, Validation
from tests.papers.studies import TINY as PLANS

STUDY = "chang2015-cv"
TINY = PLANS[STUDY]
NAMES = [
    "none",
    *(
        f"{method}, {how}"
        for method in ("epsilon=1", "adaptive", "auto")
        for how in ("reset", "forward", "2 processes")
    ),
]


def jobs():
    """All of them, in the order of their rows."""
    found = [Job(BASELINE, "none")]
    for method in METHODS:
        found += [Job(method, "reset"), Job(method, "forward"), Job(method, "forward", 2)]
    return found


def counted(calls, digest=""):
    """A cross-validation of one run with so many calls."""
    counters = Counters(queries=2 * calls, solver_calls=calls)
    return Validation((Run(0.1, 0, 50.0, 1, True, digest, counters, 0.5),), 1.0)


def metrics_of(outcome):
    return {row.method: row.metrics for row in outcome.rows}


def test_there_is_a_row_for_each_cross_validation(outcome):
    rows = metrics_of(outcome)
    assert list(rows) == NAMES
    baseline = rows["none"]
    assert baseline["solver_calls"] == baseline["inferences"] > 0
    for name, metrics in rows.items():
        calls = metrics["solver_calls"]
        assert metrics["calls_percent"] == pytest.approx(100 * calls / baseline["solver_calls"])
        assert metrics["processes"] == (2 if name.endswith("processes") else 1)
        assert float(metrics["best_c"]) in TINY.C
        assert 0 < metrics["mean_f1"] <= 100
        assert ("kept_percent" in metrics) == (metrics["processes"] > 1)


def test_what_processes_keep_is_a_share_of_what_forwarding_saves(outcome):
    rows = metrics_of(outcome)
    without = rows["none"]["solver_calls"]
    for method in ("epsilon=1", "adaptive", "auto"):
        one, two = (rows[f"{method}, {how}"] for how in ("forward", "2 processes"))
        share = 100 * (without - two["solver_calls"]) / (without - one["solver_calls"])
        assert two["kept_percent"] == pytest.approx(share)


def test_exact_answers_choose_as_if_there_were_no_cache(outcome):
    rows = metrics_of(outcome)
    for name in NAMES[-3:]:
        for metric in ("inferences", "best_c", "mean_f1"):
            assert rows[name][metric] == rows["none"][metric]
    claim = outcome.claims[-1]
    assert claim.held
    assert "12 of 12 runs" in claim.evidence


def test_forwarding_needs_the_fewest_calls(outcome):
    rows = metrics_of(outcome)
    for method, claim in zip(("epsilon=1", "adaptive", "auto"), outcome.claims, strict=False):
        reset, forward = (rows[f"{method}, {how}"]["solver_calls"] for how in ("reset", "forward"))
        assert claim.claim.startswith(method)
        assert claim.held
        assert f"{forward:,} with forwarding, {reset:,} with resetting" in claim.evidence


def test_a_claim_that_does_not_hold_is_said_not_to():
    none, *others = jobs()
    assert [job.name for job in (none, *others)] == NAMES
    found = {none: counted(100), **{job: counted(10 + job.processes) for job in others}}
    found[others[-1]] = counted(30, digest="other")
    claims = list(chang_cv._claims(found, none, 2))
    assert [claim.held for claim in claims] == [False] * 5
    assert "11 with forwarding, 11 with resetting, 100 without" in claims[0].evidence
    assert "98.9 % by adaptive, 78.7 % by auto" in claims[3].evidence
    assert "2 of 3 runs" in claims[4].evidence


def test_the_shares_of_the_paper_stand_beside_the_whole_corpus():
    none, *others = jobs()
    found = {job: counted(100) for job in (none, *others)}
    rows = [chang_cv._row(job, found, none, whole=True) for job in found if job.processes == 1]
    shares = {row.method: round(row.paper.get("calls_percent", 0)) for row in rows}
    assert shares == {
        "none": 100,
        "epsilon=1, reset": 23,
        "epsilon=1, forward": 17,
        "adaptive, reset": 66,
        "adaptive, forward": 37,
        "auto, reset": 0,
        "auto, forward": 0,
    }
    drawn = draw(Record("chang2015-cv", "Chang", {}, rows, (), {}, 1.0)).axes[0]
    assert len(drawn.collections[0].get_offsets()) == 4
    assert drawn.get_legend().get_texts()[0].get_text() == "share in the paper"


def test_the_score_is_the_mean_of_two_f1():
    gold = [EntityRelationOutput(("Peop", "Loc"), {(0, 1): "Live_In"})]
    assert chang_cv.mean_f1(gold, gold) == pytest.approx(100)
    half = [EntityRelationOutput(("Peop", "Org"), {(0, 1): "Live_In"})]
    assert chang_cv.mean_f1(gold, half) == pytest.approx(75)


@pytest.mark.usefixtures("real_data")
def test_the_folds_are_of_all_related_sentences_that_obey_the_rules():
    given = chang_cv.related_sentences(FULL.sentences, 0)
    assert len(given.learn) + len(given.judge) == 1441
