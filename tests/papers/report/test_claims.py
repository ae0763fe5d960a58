"""Claims are told with a sign and a word, and the summary says which did not hold, and why."""

import re
from dataclasses import replace

import pytest

from papers.records import Claim, write_record
from papers.report.claims import Tally, claims_html, summary_html
from papers.report.collect import CaseClaim, collect
from tests.papers.report.made_up import FAILED, RECORDS, record, saved


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            CaseClaim("", Claim("A < B", True, "1 & 2.")),
            ["✓", "Held", "A &lt; B", '<p class="evidence">1 &amp; 2.</p>'],
        ),
        (
            CaseClaim("", Claim("A", False, ""), "1 < 2."),
            ["✗", "Did not hold", '<p class="why"><strong>Why:</strong> 1 &lt; 2.</p>'],
        ),
        (CaseClaim("yeast", Claim("on every case", True, "")), ["yeast: on every case"]),
        (CaseClaim("yeast", Claim("yeast: fast", True, "")), ["yeast: fast"]),
    ],
)
def test_a_verdict_is_a_sign_and_a_word_with_its_evidence_its_case_and_why(claim, said):
    html = claims_html([claim])
    assert [words for words in said if words not in html] == []
    assert ("Why" in html) == bool(claim.why)
    assert "yeast: yeast" not in html


def test_the_summary_counts_claims_by_paper_and_opens_what_did_not_hold():
    collected = collect(RECORDS)
    html = summary_html(collected)
    claims = [claim for path in RECORDS.glob("*.json") for claim in saved(path.stem).claims]
    held = sum(claim.held for claim in claims)
    assert Tally.of(collected.exhibits) == (held, len(claims))
    assert f"{held} of {len(claims)} claims held." in html
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', html)
    counts = [[int(n) for n in re.findall(r"<td>(\d+)</td>", row)] for row in rows]
    totals = [sum(column) for column in zip(*counts, strict=True)]
    assert totals == [held, len(claims) - held, len(claims), 0]
    opened = "".join(re.findall(r"<details open>.*?</details>", html))
    assert opened.count("Did not hold") == len(claims) - held
    assert '<a class="where" href="#ma2019-testtime-cases">' in html


def test_a_claim_of_several_runs_counts_once_and_what_is_left_out_is_named(shown):
    whole = record("ma2019-alpha")
    quick = replace(saved("ma2019-alpha-msrc21"), settings={"quick": True})
    report, html = shown(whole, saved("ma2019-alpha-yeast"), quick)
    assert report.claims == (1, 2)
    assert "1 of 2 claims held.</strong> Left out, as a fuller" in html
    left_out = re.findall(r"is counted: (.*?)\.</p>", html)[0]
    assert re.findall(r'href="#([\w-]*)"', left_out) == [
        "ma2019-alpha-cases",
        "ma2019-alpha-cases-quick",
    ]
    summary = summary_html(collect(report.file.parent))
    assert summary.count("<li") == 2
    assert "judged by quick runs" not in summary


def test_quick_runs_and_papers_without_claims_are_said_to_be_so(tmp_path):
    write_record(record("conll04-learners", claims=()), tmp_path)
    html = summary_html(collect(tmp_path))
    assert html.count("No claim was judged.") == 1
    assert re.findall("<h3>(.*?)</h3>", html) == ["Punyakanok et al. (2005)"]
    assert "judged by quick runs" not in html
    write_record(record("chang2015-er", claims=(FAILED, FAILED), quick=True), tmp_path)
    html = summary_html(collect(tmp_path))
    assert "2 of them were judged by quick runs" in html
    assert html.count('<span class="tag">quick</span>') == 2
