"""Why claims did not hold: said of whole runs on the real data, and of no others."""

from dataclasses import replace
from pathlib import Path

import pytest

from papers.explanations import EXPLANATIONS, explanation
from papers.records import Claim, Record, read_record

RECORDS = Path(__file__).parents[2] / "records"
FAILED = Claim("Inference always helps: it does", False, "It is behind.")
WHOLE = Record("punyakanok2005-synthetic", "A paper", {"quick": False}, (), (FAILED,), {}, 1.0)


def test_a_whole_run_says_why_a_claim_did_not_hold():
    assert explanation(WHOLE, FAILED).startswith("An output that is wrong anyway")


@pytest.mark.parametrize(
    ("record", "claim"),
    [
        (WHOLE, replace(FAILED, held=True)),
        (WHOLE, replace(FAILED, claim="Something else")),
        (replace(WHOLE, name="tour"), FAILED),
        (replace(WHOLE, settings={"quick": True}), FAILED),
        (
            replace(WHOLE, settings={"quick": False, "data": "made up, ROTE_DATA is not set"}),
            FAILED,
        ),
    ],
    ids=["held", "another claim", "another record", "quick", "made up"],
)
def test_nothing_else_does(record, claim):
    assert explanation(record, claim) == ""


def test_every_claim_that_did_not_hold_has_a_reason_and_no_other_has():
    records = [read_record(path) for path in sorted(RECORDS.glob("*.json"))]
    failed = [(record, each) for record in records for each in record.claims if not each.held]
    assert [(r.name, each.claim) for r, each in failed if not explanation(r, each)] == []
    used = {(r.name, explanation(r, each)) for r, each in failed}
    known = {(name, why) for name, own in EXPLANATIONS.items() for why in own.values()}
    assert known - used == set()
