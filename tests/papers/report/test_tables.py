"""Tables have ours beside the paper's, and show each number with as many digits as it needs."""

import re

import pytest

from papers.records import Row
from papers.report.tables import (
    Sheet,
    digits_of,
    exact_digits,
    number,
    sheets_of,
    table_html,
    title_in,
    title_of,
)
from tests.papers.report.made_up import saved


def texts(html: str, tag: str) -> list[str]:
    cells = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", html, re.DOTALL)
    return [re.sub(r"<[^>]+>", "", cell) for cell in cells]


def test_rows_that_measure_other_things_stand_in_tables_of_their_own_which_cases_share():
    yeast, images = (saved(f"ma2019-testtime-{case}").rows for case in ("yeast", "msrc21"))
    kinds = [["RGS (50)", "A-RGS", "A-RGS (50)", "RGS (as many)"], ["RGS (20)", "A-RGS (20)"]]
    found = [[row.method for row in sheet.rows] for sheet in sheets_of([yeast])]
    assert found[:2] == kinds
    assert set(found[2]) == {"curve of RGS", "curve of A-RGS"}
    both = sheets_of([yeast, images])
    assert [len(sheet.rows) for sheet in both] == [2 * len(own) for own in found]
    other = [Row("IID", {"case": "bibtex", "hamming": 1.0, "f1": 2.0})]
    assert len(sheets_of([yeast, other])) == 4


def test_a_row_with_some_metrics_more_stays_with_the_others():
    rows = [Row("GL", {"f1": 1.0, "seconds": 1.0}), Row("LL", {"f1": 1.0})]
    assert len(sheets_of([rows])) == len(sheets_of([rows[::-1]])) == 1


def test_the_papers_number_stands_beside_ours_and_units_in_the_heading():
    rows = (
        Row("LO", {"f1": 61.534, "seconds": 1234.56}, {"f1": 60}),
        Row("IBT", {"f1": 70.0, "seconds": 2.0}, {"f1": 72.1}),
    )
    html = table_html(Sheet(rows), "a-table")
    assert texts(html, "th") == ["method", "F1 (%)", "time (s)", "ours", "paper", "LO", "IBT"]
    assert texts(html, "td") == ["61.53", "60", "1,234.6", "70.00", "72.1", "2.0"]
    assert html.count('class="theirs"') == 3
    assert 'aria-label="Table of a-table"' in html


def test_what_is_the_same_in_all_rows_is_said_once():
    rows = tuple(
        Row(name, {"case": "yeast", "examples": 1500, "seconds": 2.5, "f1": k})
        for k, name in enumerate("ab")
    )
    html = table_html(Sheet(rows), "x")
    assert texts(html, "caption") == ["In all rows: case yeast, examples 1,500, time 2.5 s."]
    assert texts(html, "th") == ["method", "F1", "a", "b"]


def test_a_single_row_and_rows_that_do_not_differ_keep_their_columns():
    one = Row("a", {"case": "yeast", "f1": 1.0})
    assert Sheet((one,)).same() == {}
    assert Sheet((one, one)).same() == {}


def test_an_interval_stands_in_the_cell_of_its_metric():
    rows = (Row("a", {"f1": 61.534, "f1_low": 60.0, "f1_high": 62.96}), Row("b", {"f1": 1.5}))
    html = table_html(Sheet(rows), "x")
    assert texts(html, "td") == ["61.53 60.00 to 62.96", "1.50"]
    assert Sheet((Row("c", {"heat_low": 3.0}),)).columns == ("heat_low",)


def test_many_rows_of_ours_are_folded_away_and_those_beside_the_papers_are_not():
    ours = Sheet(tuple(Row("a", {"step": k}) for k in range(30)))
    assert "<summary>All 30 rows of numbers</summary>" in table_html(ours, "x")
    beside = Sheet(tuple(Row("a", {"step": k}, {"step": 1}) for k in range(30)))
    assert "<details>" not in table_html(beside, "x")


def test_what_records_say_cannot_become_a_tag():
    html = table_html(Sheet((Row("<i>", {"a<b": "<u>"}), Row("x", {"a<b": "y"}))), '"x"')
    assert not re.search(r"<[iub]>|a<b|Table of \"x\"\"", html)
    assert texts(html, "td") == ["&lt;u&gt;", "y"]


@pytest.mark.parametrize(
    ("metric", "title"),
    [
        ("entity_f1", "entity F1 (%)"),
        ("calls_percent", "calls (%)"),
        ("milliseconds", "time (ms)"),
        ("search_milliseconds_deviation", "search deviation (ms)"),
        ("deviation", "deviation"),
        ("inference_speed_up", "inference speed-up (×)"),
        ("speedup", "speed-up (×)"),
        ("needed_6_to_10_percent", "needed 6–10 (%)"),
        ("alpha", "α"),
        ("solver_calls_so_far", "solver calls so far"),
    ],
)
def test_headings_are_words_with_a_unit(metric, title):
    assert title_of(metric, [50.0]) == title


def test_a_share_below_one_is_not_said_to_be_in_per_cent():
    assert title_of("accuracy", [0.5, 1.0]) == "accuracy"


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ([62.674, 0.5], 2),
        ([444.123], 1),
        ([12345.6], 0),
        ([0.1, 0.5], 1),
        ([0.25, 0.5, 0.75], 2),
        ([0.012345], 3),
        ([1.0, 50.0], 0),
        ([1, 2], 0),
        (["yes"], 0),
        ([0.0], 0),
    ],
)
def test_a_column_has_digits_by_what_is_usual_in_it(values, digits):
    assert digits_of(values) == digits


def test_numbers_of_the_paper_are_shown_as_they_were_given():
    assert exact_digits([63.35, 80.0]) == 2
    assert exact_digits([444, 48]) == 0


def test_a_number_that_would_vanish_is_shown_with_one_digit():
    assert number(0.0004, 2) == "0.0004"
    assert number(0.0, 2) == "0.00"
    assert number(-1234.5, 1) == "-1,234.5"
    assert number(None, 2) == ""
    assert number("ended", 2) == "ended"


def test_a_metric_is_called_as_its_column_is_and_a_method_by_its_name():
    sheet = Sheet((Row("LO_1", {"entity_f1": 61.5, "learn_seconds": 0.5}),))
    assert title_in(sheet, "entity_f1") == "entity F1 (%)"
    assert title_in(sheet, "learn_seconds") == "learn (s)"
    assert title_in(sheet, "LO_1") == "LO_1"
