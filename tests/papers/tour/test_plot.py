"""The figure of the tour: one place per method, and what it says of rules and proofs."""

import pytest

from papers.records import Record, Row
from papers.tour.plot import draw

pytest.importorskip("matplotlib")


def record(rows: dict[str, tuple[float, float, float, float]]) -> Record:
    names = ("learn_seconds", "relation_f1", "obey_percent", "proved_percent")
    made = [Row(method, dict(zip(names, each, strict=True))) for method, each in rows.items()]
    return Record("tour", "All five papers", {}, made, [], {}, 1.0)


def test_places_are_hollow_where_rules_break_and_ringed_where_all_is_proved():
    figure = draw(record({"LO": (0.1, 50.0, 60.0, 60.0), "SVM": (2.0, 70.0, 100.0, 100.0)}))
    lines = figure.axes[0].get_lines()
    named = {line.get_label(): line for line in lines if not line.get_label().startswith("_")}
    assert list(named) == ["LO", "SVM", "some answers break rules", "all answers proved"]
    assert named["LO"].get_markerfacecolor() == "white"
    assert named["SVM"].get_markerfacecolor() == named["SVM"].get_color()
    assert (named["SVM"].get_xdata()[0], named["SVM"].get_ydata()[0]) == (2.0, 70.0)
    rings = [line for line in lines if line.get_label().startswith("_")]
    assert [ring.get_ydata()[0] for ring in rings] == [70.0]


def test_nine_methods_are_told_apart_by_their_shapes():
    figure = draw(record({f"method {k}": (0.1 + k, 50.0 + k, 100.0, 50.0) for k in range(9)}))
    shapes = [line.get_marker() for line in figure.axes[0].get_lines()[:9]]
    assert len(set(shapes)) == 9
    assert figure.axes[0].get_xscale() == "log"
