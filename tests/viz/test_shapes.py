"""Shapes know where they end, and marks which rules they speak of."""

import pytest

from rote.viz.shapes import RULES_SHOWN, Arc, End, Said, Tile, mark_of


@pytest.mark.parametrize(
    ("shape", "end"),
    [
        (Said(0, 2, "地図"), 6),
        (Tile(0, 2, 7, "a"), 9),
        (Arc(0, 1, 2, 8, End.TAIL, End.HEAD, "ab", 4), 9),
        (Arc(0, 1, 2, 8, End.TAIL, End.HEAD, "beside", 10), 16),
    ],
)
def test_a_shape_ends_after_its_last_column(shape, end):
    assert shape.end == end


def test_a_mark_names_few_rules_and_only_listed_ones():
    assert mark_of([1, 2, 3]) == "✗1,2,3"
    assert mark_of([1, 2, 3, 4]) == "✗1,2,3…"
    assert mark_of([RULES_SHOWN + 1]) == "✗…"
