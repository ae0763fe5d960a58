"""Calls along training: what is counted in each iteration, and what is said of it."""

from papers.chang2015.figure1 import ORACLE, OURS, RAW, THEIRS

STUDY = "chang2015-figure1"
CURVES = [RAW, ORACLE, THEIRS, OURS]


def rows_of(outcome, name):
    return [row.metrics for row in outcome.rows if row.method == name]


def test_there_is_a_row_per_curve_and_iteration_and_calls_add_up(outcome):
    assert list(dict.fromkeys(row.method for row in outcome.rows)) == CURVES
    for name in CURVES:
        rows = rows_of(outcome, name)
        assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
        so_far = 0
        for row in rows:
            so_far += row["solver_calls"]
            assert row["solver_calls_so_far"] == so_far


def test_raw_solves_everything_and_nobody_solves_more(outcome):
    examples = outcome.settings["learned from"]
    assert {row["solver_calls"] for row in rows_of(outcome, RAW)} == {examples}
    for row in outcome.rows:
        assert 0 <= row.metrics["solver_calls"] <= examples


def test_ours_is_exact_and_needs_fewer_calls_than_the_oracle(outcome):
    assert len(rows_of(outcome, OURS)) == len(rows_of(outcome, RAW))
    fewer = outcome.claims[1]
    assert fewer.held
    assert f"{rows_of(outcome, OURS)[-1]['solver_calls_so_far']:,} calls" in fewer.evidence
