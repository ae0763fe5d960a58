"""SVG that is well formed, safe in any page, and does not depend on fonts."""

from xml.etree import ElementTree as ET

import pytest

from rote.viz.shapes import Arc, End, Layout, Said, Tile, Tone
from rote.viz.text import width_of
from rote.viz.vector import COLUMN, html_of, svg_of

NASTY = '<b onload="x()">&\'</b>]]>'
LAYOUT = Layout(
    (
        Said(0, 0, NASTY),
        Tile(1, 0, 30, NASTY, 0, framed=True),
        Arc(2, 3, 1, 40, End.HEAD, End.EDGE, NASTY, 4, Tone.BROKEN),
    ),
    4,
    42,
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("standalone", [False, True])
def test_it_is_well_formed_and_says_exactly_what_was_given(standalone):
    root = ET.fromstring(svg_of(LAYOUT, NASTY, standalone=standalone))
    assert [text.text for text in root.iter(f"{SVG}text")] == [NASTY] * 3
    assert root.find(f"{SVG}title").text == NASTY
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "style", "text", "rect", "path",
    }  # fmt: skip


def test_every_text_says_how_wide_it_is():
    root = ET.fromstring(svg_of(LAYOUT, "t"))
    widths = [int(text.get("textLength")) for text in root.iter(f"{SVG}text")]
    assert widths == [COLUMN * width_of(NASTY)] * 3


def test_inside_a_page_there_is_no_style_no_id_and_no_background():
    svg = svg_of(LAYOUT, "t")
    assert "<style" not in svg
    assert " id=" not in svg
    assert "currentColor" in svg


def test_a_file_of_its_own_follows_light_and_dark():
    assert "prefers-color-scheme:dark" in svg_of(LAYOUT, "t", standalone=True)
    page = html_of(svg_of(LAYOUT, "t"), "t")
    assert 'content="light dark"' in page
    assert page.count("http") == page.count("http://www.w3.org/2000/svg")  # nothing is fetched


def test_all_shapes_lie_inside():
    root = ET.fromstring(svg_of(LAYOUT, "t"))
    x, y, width, height = map(float, root.get("viewBox").split())
    for rect in root.iter(f"{SVG}rect"):
        assert x <= float(rect.get("x"))
        assert float(rect.get("x")) + float(rect.get("width")) <= x + width
        assert float(rect.get("y")) + float(rect.get("height")) <= y + height
