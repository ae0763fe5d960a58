"""A layout as characters: hand-worked lines, colours, and terminals that know little."""

import io

from rich.console import Console

from rote.viz.shapes import Arc, End, Layout, Said, Tile, Tone
from rote.viz.terminal import lines_of, plain_text, rich_text

LAYOUT = Layout(
    (
        Arc(0, 1, 1, 8, End.TAIL, End.HEAD, "to", 4),
        Said(2, 0, "地図"),
        Said(2, 7, "map", Tone.FAINT),
        Tile(3, 0, 5, "N", 0, Tone.BROKEN, framed=True),
        Tile(3, 6, 5, "N", 1, framed=True, stops=False),
    ),
    4,
    12,
)


def test_arcs_words_and_spans_stand_where_the_layout_says():
    assert plain_text(LAYOUT).splitlines() == [
        " ┌──to──┐",
        " │      ▼",
        "地図   map",
        "└─N─┘ └─N──",
    ]


def test_lines_that_cross_are_seen_to_cross():
    arcs = (
        Arc(0, 2, 2, 6, End.HEAD, End.TAIL, "", 0),
        Arc(1, 2, 0, 4, End.TAIL, End.EDGE, "", 0, dashed=True),
    )
    assert plain_text(Layout(arcs, 3, 8)).splitlines() == ["  ┌───┐", "┌╌┼╌╌ │", "│ ▼   │"]


def test_ascii_has_the_same_columns():
    lines = ["".join(p.text for p in line) for line in lines_of(LAYOUT, ascii_only=True)]
    assert lines == [" +--to--+", " |      v", "????   map", "+-N-+ +-N--"]


def test_rich_prints_colours_and_no_markup():
    layout = Layout((Said(0, 0, "[red]x[/red]"), Tile(1, 0, 3, "a", 0)), 2, 12)
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=12)
    console.print(rich_text(layout))
    printed = console.file.getvalue()
    assert "[red]x[/red]" in printed
    assert "\x1b[38;2;0;0;0;48;2;86;180;233m a \x1b[0m" in printed


def test_a_broken_tile_and_another_have_other_styles():
    (broken, _, whole) = lines_of(LAYOUT)[3]
    assert broken.style != whole.style
