"""Joint extraction beside others: the problems, who is measured, and the bars."""

from __future__ import annotations

import logging

import pytest

from benchmarks.extraction import (
    BEAM,
    CP_SAT,
    GREEDY,
    OURS,
    WIDE,
    ExtractionRow,
    bars_of,
    engines,
    main,
    measure,
    worth,
)
from benchmarks.extraction_cases import SIZES, cases


def rows_of(case, milliseconds, proved=1.0, lower=0.0):
    """A row for each, ours first, with so many milliseconds."""
    return [
        ExtractionRow(
            case, name, 1e3 * ms, ms / milliseconds[0], 0.0, 0.0, 0.0, proved, lower, None, 2
        )
        for name, ms in zip((OURS, GREEDY, BEAM, WIDE, CP_SAT), milliseconds, strict=True)
    ]


@pytest.mark.parametrize(
    ("case", "milliseconds", "met"),
    [
        ("10 candidates", (1, 1, 1, 1, 1), [True]),
        ("20 candidates, linked", (1, 0.9, 9, 9, 9), [False]),
        ("50 candidates", (1, 3, 9, 50, 1), [True, True]),
        ("200 candidates, linked", (1, 2.9, 9, 49, 1), [False, False]),
        ("built, sparse", (5, 1, 1, 1, 1), [True]),
        ("built, sparse", (5.1, 1, 1, 1, 1), [False]),
        ("built, dense", (1, 1, 2, 1.9, 1), [True, False]),
        ("conll04", (9, 1, 1, 1, 1), []),
    ],
)
def test_bars_are_those_of_the_case(case, milliseconds, met):
    proved, lower, *more = bars_of(rows_of(case, milliseconds))
    assert proved.met
    assert lower.met
    assert [bar.met for bar in more] == met


def test_all_is_proved_and_nothing_lower_or_it_says_so():
    proved, lower, *_ = bars_of(rows_of("conll04", (1, 1, 1, 1, 1), proved=0.5, lower=0.1))
    assert not proved.met
    assert "1 of 2 problems" in proved.says
    assert not lower.met


@pytest.fixture
def gliner2():
    logging.disable(logging.WARNING)
    yield pytest.importorskip("gliner2.joint_ie")
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("case", [name for name in cases() if name != "conll04"])
def test_problems_are_the_same_every_time(case, gliner2):
    make = cases()[case]
    assert make(3) == make(3) != make(4)
    problem = make(1)
    if case.split()[0].isdigit():
        size = int(case.split()[0])
        assert size in SIZES
        assert 0.7 * size <= len(problem.nodes) + len(problem.edges) <= size


@pytest.mark.parametrize("case", ["10 candidates", "20 candidates", "20 candidates, linked"])
def test_cp_sat_finds_what_we_find(case, gliner2):
    pytest.importorskip("ortools")
    ours, by_hand = engines()[OURS], engines()[CP_SAT]
    for k in range(10):
        problem = cases()[case](k)
        assert worth(ours.optimize(problem)) == pytest.approx(worth(by_hand.optimize(problem)))
        assert ours.proved
        assert by_hand.proved


def test_rows_say_what_was_measured(gliner2):
    pytest.importorskip("ortools")
    rows = measure("10 candidates", cases()["10 candidates"], 2)
    assert [row.engine for row in rows] == list(engines())
    assert rows[0].ratio_to_ours == rows[0].proved == 1.0
    assert rows[0].lower == 0.0
    assert all(0 < row.median_us <= row.slowest_us for row in rows)


def test_the_program_prints_a_table_and_bars(gliner2, capsys):
    pytest.importorskip("ortools")
    main(["--repeats", "1", "--case", "10 candidates"])
    printed = capsys.readouterr().out
    assert "EXTRACTION, all proved: met: 5 of 5 problems" in printed
