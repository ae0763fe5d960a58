"""Figures show every curve with its band, with words at their axes."""

import sys

import pytest

from papers.plots import COLOURS, Curve, Panel, draw_panels, save_figure
from papers.records import Row
from rote import DataError, MissingDependency

ROWS = [
    Row("LO", {"examples": size, "accuracy": y, "accuracy_low": y - 1, "accuracy_high": y + 2})
    for size, y in ((100, 70.0), (20, 60.0), (500, 90.0))
]
CURVE = Curve.of(ROWS, "LO", "examples", "accuracy")
OTHER = Curve("IBT", (20, 500), (65.0, 95.0), (64.0, 94.0), (66.0, 96.0))


def test_a_curve_takes_its_places_in_order_and_its_interval_from_rows():
    assert CURVE == Curve("LO", (20, 100, 500), (60, 70, 90), (59, 69, 89), (62, 72, 92))


def test_a_figure_has_every_curve_and_words_at_its_axes():
    figure = draw_panels(
        [Panel("easy", [CURVE, OTHER]), Panel("hard", [OTHER])], "training examples", "accuracy, %"
    )
    easy, hard = figure.axes
    assert (easy.get_title(), hard.get_title()) == ("easy", "hard")
    assert easy.get_ylabel() == "accuracy, %"
    assert figure.get_supxlabel() == "training examples"
    assert easy.get_xscale() == "log"
    assert easy.get_ylim() == hard.get_ylim()
    line = easy.lines[0]
    assert (tuple(line.get_xdata()), tuple(line.get_ydata())) == (CURVE.x, CURVE.mean)
    assert len(easy.collections) == 2
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == ["LO", "IBT", "95 % interval over trials"]


def test_curves_differ_by_colour_marker_and_line():
    axes = draw_panels([Panel("", [CURVE, OTHER])], "x", "y").axes[0]
    looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in axes.lines]
    assert [len(set(look)) for look in zip(*looks, strict=True)] == [2, 2, 2]
    assert len(set(COLOURS)) == len(COLOURS)


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_figure_is_written_by_the_ending_of_its_path(tmp_path, suffix, magic):
    figure = draw_panels([Panel("", [CURVE])], "x", "y")
    path = save_figure(figure, tmp_path / "new" / f"figure{suffix}")
    assert path.read_bytes().startswith(magic)


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"\.png or \.svg"):
        save_figure(draw_panels([Panel("", [CURVE])], "x", "y"), tmp_path / "figure.gif")


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r"'\.\[report\]'"):
        draw_panels([Panel("", [CURVE])], "x", "y")


def test_more_curves_than_can_be_told_apart_are_refused():
    curve = Curve("a", (1.0, 2.0), (1.0, 2.0), (0.5, 1.5), (1.5, 2.5))
    with pytest.raises(DataError, match="6 curves apart, and has 7"):
        draw_panels([Panel("many", [curve] * 7)], "x", "y")
