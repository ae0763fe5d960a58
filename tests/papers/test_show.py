"""A record is shown with ours beside the paper's, and a verdict per claim."""

from dataclasses import replace

from rich.console import Console

from papers.records import Claim, Record, Row
from papers.show import show_record

RECORD = Record(
    "a-table",
    "Some and Others (2005)",
    {},
    [
        Row("LO", {"kappa": 0.1, "examples": 1000, "f1": 61.53, "f1_low": 60.0, "f1_high": 62.96}),
        Row("IBT", {"kappa": 0.1, "examples": 1000, "f1": 70.0}, {"f1": 72.1}),
        Row("other", {"kappa": 0.1, "note": "none", "heat_low": 3.0}),
    ],
    [Claim("A holds", True, "because of 1."), Claim("B holds", False, "because of 2.")],
    {},
    1.25,
)


def shown(record: Record) -> list[str]:
    console = Console(width=200)
    with console.capture() as capture:
        show_record(record, console)
    return capture.get().splitlines()


def test_the_table_has_the_papers_number_beside_ours_and_intervals_in_one_column():
    lines = shown(RECORD)
    header = next(line for line in lines if line.startswith("method"))
    assert header.split() == ["method", "kappa", "examples", "F1", "paper", "note", "heat", "low"]
    rows = {line.split()[0]: line.split() for line in lines if line}
    assert rows["LO"] == ["LO", "0.1", "1,000", "61.5", "[60,", "63.0]"]
    assert rows["IBT"] == ["IBT", "0.1", "1,000", "70", "72.1"]
    assert rows["other"] == ["other", "0.1", "none", "3"]
    assert "Some and Others (2005)" in lines[0]


def test_every_claim_has_its_verdict_and_its_evidence():
    text = "\n".join(shown(RECORD))
    assert "held: A holds\n  because of 1." in text
    assert "did not hold: B holds\n  because of 2." in text


def test_a_quick_run_is_said_to_be_one():
    assert not any("quick" in line for line in shown(RECORD))
    assert any("quick" in line for line in shown(replace(RECORD, settings={"quick": True})))


def test_made_up_data_are_said_before_the_table():
    made = replace(RECORD, settings={"data": {"yeast": "made up, as ROTE_DATA is not set"}})
    assert shown(made) == ["On made-up data: ROTE_DATA is not set.", *shown(RECORD)]


def test_headings_are_stacked_before_columns_are_moved():
    metrics = {"calls_to_learn": 1, "learn_seconds": 2.5, "obey_percent": 60, "entity_f1": 3.5}
    record = replace(RECORD, rows=[Row("ours", metrics)])
    assert len([line for line in shown(record) if "calls to learn" in line]) == 1
    console = Console(width=34)
    with console.capture() as capture:
        show_record(record, console)
    lines = [line.split() for line in capture.get().splitlines()]
    assert lines[1:5] == [
        ["calls"],
        ["to", "learn", "obey", "entity"],
        ["method", "learn", "s", "%", "F1"],
        ["ours", "1", "2.5", "60", "3.5"],
    ]


def test_a_legend_stands_between_the_table_and_the_claims():
    console = Console(width=80)
    with console.capture() as capture:
        show_record(RECORD, console, {"LO": "every label by itself", "heat_low": "degrees"})
    lines = [line.strip() for line in capture.get().splitlines()]
    at = lines.index("LO        every label by itself")
    assert lines[at + 1] == "heat low  degrees"
    assert lines[at - 1] == lines[at + 2] == ""
    assert lines.index("held: A holds") > at


def test_columns_that_do_not_fit_follow_in_a_table_of_their_own():
    numbers = {f"a_long_metric_{k}": 10.0 + k for k in range(12)}
    rows = [Row("ours", {"solver": "Exact", **numbers}), Row("theirs", {"solver": "Milp"})]
    console = Console(width=80)
    with console.capture() as capture:
        show_record(replace(RECORD, rows=rows), console)
    lines = capture.get().splitlines()
    headers = [line for line in lines if line.startswith("method")]
    assert len(headers) > 1
    assert all(header.split()[1] == "solver" for header in headers)  # says what a row is about
    assert [k for header in headers for k in header.split() if k.isdigit()] == [
        str(k) for k in range(12)
    ]
    ours = [line.split() for line in lines if line.startswith("ours")]
    assert [cell for row in ours for cell in row[2:]] == [f"{10 + k}" for k in range(12)]
    assert max(map(len, lines)) <= 80
