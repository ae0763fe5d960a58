"""Claims are told with a sign and a word, and the summary says which did not hold, and why."""

from __future__ import annotations

import re
from dataclasses import replace

from papers.records import Claim, write_record
from papers.report import write_report
from papers.report.claims import Tally, claims_html, summary_html
from papers.report.collect import CaseClaim, collect
from tests.papers.report.made_up import by_alpha, record


def test_a_verdict_is_a_sign_and_a_word_with_its_evidence():
    html = claims_html([CaseClaim("", Claim("A < B", True, "1 & 2."))])
    assert "✓" in html
    assert "Held" in html
    assert "A &lt; B" in html
    assert '<p class="evidence">1 &amp; 2.</p>' in html
    html = claims_html([CaseClaim("", Claim("A", False, ""))])
    assert "✗" in html
    assert "Did not hold" in html


def test_a_claim_says_why_it_did_not_hold_if_that_is_known():
    failed = Claim("it is fast", False, "It is slow.")
    assert '<p class="why"><strong>Why:</strong> 1 &lt; 2.</p>' in claims_html(
        [CaseClaim("", failed, "1 < 2.")]
    )
    assert "Why" not in claims_html([CaseClaim("", failed)])


def test_a_claim_of_one_case_names_it_once():
    html = claims_html(
        [CaseClaim("yeast", Claim(claim, True, "")) for claim in ("on every case", "yeast: fast")]
    )
    assert "yeast: on every case" in html
    assert html.count("yeast: fast") == 1
    assert "yeast: yeast" not in html


def test_the_summary_counts_claims_by_paper(folder):
    collected = collect(folder)
    html = summary_html(collected)
    tally = Tally.of(collected.exhibits)
    assert tally == (10, 18)
    assert f"{tally.held} of {tally.claims} claims held." in html
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', html)
    counts = [[int(n) for n in re.findall(r"<td>(\d+)</td>", row)] for row in rows]
    assert counts == [[2, 2, 4, 2], [1, 1, 2, 0], [3, 3, 6, 0], [1, 1, 2, 0], [3, 1, 4, 0]]
    assert "2 of them were judged by quick runs" in html


def test_a_claim_of_several_runs_counts_once_and_what_is_left_out_is_named(tmp_path):
    whole = record("ma2019-alpha", [])
    for one in (whole, by_alpha("yeast"), replace(by_alpha("msrc21"), settings={"quick": True})):
        write_record(one, tmp_path)
    page = write_report(tmp_path)
    html = page.file.read_text(encoding="utf-8")
    held = sum(claim.held for claim in whole.claims)
    assert page.claims == (held, len(whole.claims))
    assert f"{held} of {len(whole.claims)} claims held.</strong> Left out, as a fuller" in html
    left_out = re.findall(r"is counted: (.*?)\.</p>", html)[0]
    assert re.findall(r'href="#([\w-]*)"', left_out) == [
        "ma2019-alpha-cases",
        "ma2019-alpha-cases-quick",
    ]
    summary = summary_html(collect(tmp_path))
    assert summary.count("<li") == len(whole.claims)
    assert "judged by quick runs" not in summary


def test_what_did_not_hold_is_open_with_its_evidence_and_a_way_to_the_experiment(folder):
    html = summary_html(collect(folder))
    opened = re.findall(r"<details open>.*?</details>", html)
    assert len(opened) == 5
    assert all("Did not hold" in part and "60 against 61." in part for part in opened)
    assert '<a class="where" href="#ma2019-testtime-cases">' in html
    assert html.count('<span class="tag">quick</span>') == 2


def test_a_paper_without_claims_says_so(tmp_path):
    write_record(replace(record("conll04-learners", []), claims=()), tmp_path)
    html = summary_html(collect(tmp_path))
    assert html.count("No claim was judged.") == 1
    assert re.findall("<h3>(.*?)</h3>", html) == ["Punyakanok et al. (2005)"]
    assert "judged by quick runs" not in html
