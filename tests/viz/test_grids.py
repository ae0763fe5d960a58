"""Grids: every cell is there, at every width."""

import numpy as np
import pytest

from rote.viz.grids import Grid
from rote.viz.shapes import Said, Tile, Tone
from rote.viz.terminal import plain_text
from rote.viz.text import width_of

LABELS = ("land", "sea")


def text(grid, columns=40):
    return plain_text(grid.layout(columns)).rstrip().splitlines()


def test_a_grid_by_hand():
    assert text(Grid(((0, 1, 1), (0, None, 1)), LABELS)) == [
        "L S S",
        "L · S",
        "",
        " L  land    S  sea",
    ]


def test_broken_cells_are_marked_and_no_others():
    grid = Grid(((0, 1), (1, 0)), LABELS, frozenset([(0, 1)]))
    tiles = [s for s in grid.layout(40).shapes if isinstance(s, Tile)]
    assert [t.text for t in tiles if t.tone is Tone.BROKEN] == ["S✗"]
    assert [t.text for t in tiles[:4]] == ["L", "S✗", "S", "L"]


def test_gold_stands_beside_and_differences_are_marked_unless_nobody_said():
    grid = Grid(((0, 1, 1),), LABELS, gold=((1, 1, None),))
    assert text(grid, 40)[:2] == ["y           gold", "L≠  S  S     S  S  ·"]
    assert text(grid, 12)[:2] == ["y", "L≠  S  S"]
    assert text(grid, 12)[3:5] == ["gold", " S  S  ·"]


@pytest.mark.parametrize("columns", [12, 40, 96])
def test_every_cell_of_a_large_grid_is_there(columns):
    cells = np.random.default_rng(0).integers(0, 21, size=(30, 30))
    labels = tuple(f"class {k}" for k in range(21))
    layout = Grid(tuple(map(tuple, cells.tolist())), labels).layout(columns)
    assert max(map(width_of, plain_text(layout).splitlines())) <= columns
    tiles = [s for s in layout.shapes if isinstance(s, Tile)]
    names = [s.text for s in layout.shapes if isinstance(s, Said) and s.text.startswith("class")]
    assert len(tiles) == 30 * 30 + 21
    assert names == list(labels)
    assert len({(t.row, t.column) for t in tiles}) == len(tiles)
    drawn = sorted(t.color for t in tiles[: 30 * 30])
    assert drawn == sorted(cells.ravel().tolist())


def test_only_labels_that_occur_are_in_the_legend():
    assert "land" not in "\n".join(text(Grid(((1, 1),), LABELS)))
    assert text(Grid((), LABELS)) == []
