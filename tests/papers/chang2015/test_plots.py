"""Figures show every point that there is, also where nothing is lost or called."""

from papers.chang2015.plots import Points, draw_tradeoff

THEIRS = Points("theirs", ("0.1", "1"), (50.0, 20.0), (0.1, 2.0))
OURS = Points("ours", ("0.01", "0.1"), (0.5, 0.0), (0.0, 0.3))
ALONE = Points("baseline", ("",), (100.0,), (0.0,))


def test_a_tradeoff_has_lines_points_and_words():
    figure = draw_tradeoff([THEIRS, OURS], [ALONE], "calls", "lost")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("calls", "lost")
    drawn = [(tuple(line.get_xdata()), tuple(line.get_ydata())) for line in axes.lines]
    assert drawn == [points[2:] for points in (THEIRS, OURS, ALONE)]
    assert [text.get_text() for text in axes.texts] == ["0.1", "1", "0.01", "0.1"]
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == ["theirs", "ours", "baseline"]


def test_a_tradeoff_has_room_for_what_needs_no_call_and_what_loses_nothing():
    (axes,) = draw_tradeoff([THEIRS, OURS], [ALONE], "calls", "lost").axes
    for limits, values in ((axes.get_xlim(), (0.0, 100.0)), (axes.get_ylim(), (0.0, 2.0))):
        assert limits[0] <= values[0] < values[1] < limits[1]
