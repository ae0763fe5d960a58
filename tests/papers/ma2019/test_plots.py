"""The figure of amortized search has a curve and bars for each search and case."""

import pytest

from papers.ma2019.plots import draw_testtime
from papers.records import Record, Row


@pytest.fixture
def record():
    rows = []
    for case in ("small", "large"):
        for search, times in (("RGS", (10, 100)), ("A-RGS", (5, 20))):
            rows.append(Row(f"{search} (50)", {"case": case, "accuracy": 80.0}))
            bars = {"needed_1_percent": 60.0, "needed_2_to_9_percent": 40.0}
            rows.append(Row(f"{search} (20)", {"case": case, "required_restarts": 2.0, **bars}))
            rows += [
                Row(
                    f"curve of {search}",
                    {"case": case, "milliseconds": time, "accuracy": 70 + time / 10},
                )
                for time in times
            ]
    return Record("a-figure", "Nobody (2019)", {}, rows, (), {}, 1.0)


def test_a_case_has_curves_above_and_bars_below(record):
    figure = draw_testtime(record, ("1", "2_to_9"))
    small, large, below, _ = figure.axes
    assert (small.get_title(), large.get_title()) == ("small", "large")
    drawn, led = small.get_lines()
    assert drawn.get_xdata().tolist() == [0.01, 0.1]
    assert led.get_ydata().tolist() == [70.5, 72.0]
    assert [bar.get_height() for bar in below.patches] == [60, 40, 60, 40]
    assert [text.get_text() for text in below.get_xticklabels()] == ["1", "2-9"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["RGS", "A-RGS"]
