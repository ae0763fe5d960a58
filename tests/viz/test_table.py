"""Rows under heads, in as many columns as there are."""

from __future__ import annotations

from rote.viz.shapes import Said, Tone
from rote.viz.table import Table
from rote.viz.terminal import plain_text
from rote.viz.text import width_of

TABLE = Table(("rule", "changed"), (("who goes does not stay", "12"), ("short", "")))


def text(columns):
    return plain_text(TABLE.layout(columns)).rstrip().splitlines()


def test_texts_are_folded_where_there_is_no_room_and_numbers_stand_right():
    wide = ["rule                    changed", "who goes does not stay       12", "short"]
    assert text(60) == wide
    folded = ["rule          changed", "who goes           12", "  does not", "  stay", "short"]
    assert text(21) == folded
    assert max(map(width_of, text(12))) <= 12  # numbers that find no room are left out


def test_heads_are_faint_and_texts_bold():
    said = [s for s in TABLE.layout(60).shapes if isinstance(s, Said)]
    assert [s.text for s in said if s.tone is Tone.FAINT] == ["changed", "rule"]
    assert [s.text for s in said if s.bold] == ["who goes does not stay", "short"]
