"""Learning with amortized search: what is timed, and what is claimed of it."""

from dataclasses import replace

import pytest

from papers.ma2019.hard import BIBTEX, DOCUMENTS, IMAGES, NAMES, YEAST, Share, ready
from papers.ma2019.training import (
    OURS,
    THEIRS,
    Both,
    Trained,
    _claims,
    _rows,
)

ALL = (*NAMES, BIBTEX)
STUDY = "ma2019-training"


@pytest.fixture
def learned():

    def both(name, *, ours, theirs):
        share = Share(2, 2, iterations=1)
        case = replace(ready(name, share), source=name)
        return Both(case, share, {THEIRS: theirs, OURS: ours})

    return both


def test_each_case_is_learned_in_both_ways(outcome):
    assert [(row.metrics["case"], row.method) for row in outcome.rows] == [
        (name, kind) for name in ALL for kind in (THEIRS, OURS)
    ]


def test_time_is_that_of_inference_and_that_of_updates(outcome):
    for row in outcome.rows:
        metrics = row.metrics
        assert 0 < metrics["inference_seconds"] < 60 * metrics["minutes"]
        whole = metrics["inference_seconds"] + metrics["update_seconds"]
        assert whole == pytest.approx(60 * metrics["minutes"])
        assert metrics["update_percent"] == pytest.approx(100 * metrics["update_seconds"] / whole)
        assert metrics["examples"] == 8
        # All examples in every iteration, so this is the full batch; it may end early.
        assert metrics["inferences"] in (8, 16, 24)


def test_amortized_search_climbs_no_more_than_the_other(outcome):
    for theirs, ours in zip(outcome.rows[::2], outcome.rows[1::2], strict=True):
        assert theirs.metrics["climbs"] == 4
        assert 1 <= ours.metrics["climbs"] <= 4
        ratio = theirs.metrics["minutes"] / ours.metrics["minutes"]
        assert ours.metrics["speed_up"] == pytest.approx(ratio)


def test_bibtex_has_rows_and_no_claim(outcome):
    assert [claim.claim.split(":")[0] for claim in outcome.claims[:-1]] == list(NAMES)
    assert not any(BIBTEX in claim.claim + claim.evidence for claim in outcome.claims)


def test_the_papers_numbers_stand_beside_whole_data(learned):
    same = Trained(80.0, 10.0, 5.0, 2, 3.0)
    _, ours = _rows(learned(YEAST, ours=same, theirs=same), whole=True)
    assert ours.paper == {"minutes": 10, "accuracy": 63.20, "speed_up": 1.69}
    theirs, ours = _rows(learned(BIBTEX, ours=same, theirs=same), whole=True)
    assert theirs.paper == {"minutes": 95}
    assert ours.paper == {"minutes": 32, "speed_up": 95 / 32}
    assert [row.paper for row in _rows(learned(DOCUMENTS, ours=same, theirs=same), whole=True)] == [
        {},
        {},
    ]


@pytest.mark.parametrize(
    ("name", "seconds", "held"),
    [(YEAST, 9.0, True), (YEAST, 10.0, False), (IMAGES, 3.0, True), (IMAGES, 9.0, False)],
)
def test_the_harder_cases_have_the_higher_bar(learned, name, seconds, held):
    ours, theirs = Trained(80.0, seconds, 1.0, 2, 3.0), Trained(80.0, 10.0, 5.0, 2, 50.0)
    faster, _ = _claims([learned(name, ours=ours, theirs=theirs)])
    assert faster.held is held


@pytest.mark.parametrize(("accuracy", "held"), [(79.0, True), (78.9, False), (85.0, True)])
def test_a_point_of_accuracy_may_be_lost(learned, accuracy, held):
    ours, theirs = Trained(accuracy, 1.0, 1.0, 2, 3.0), Trained(80.0, 10.0, 5.0, 2, 50.0)
    *_, close = _claims([learned(YEAST, ours=ours, theirs=theirs)])
    assert close.held is held
