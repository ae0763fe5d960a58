"""One value for notebooks, terminals and files."""

import io
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from rote.errors import SettingError
from rote.viz.listing import Entry, Listing
from rote.viz.picture import Picture
from rote.viz.shapes import RULES_SHOWN
from rote.viz.text import width_of

PICTURE = Picture("x and y", Listing((Entry("x", "a"), Entry("y", "b"))), ("x is not y",), ("ok",))


def printed(picture, **options):
    console = Console(file=io.StringIO(), **options)
    console.print(picture)
    return console.file.getvalue()


def test_all_places_show_the_drawing_the_facts_and_the_broken_rules():
    expected = ["x a   y b", "", "ok", "✗1 x is not y"]
    assert PICTURE.text(40).splitlines() == expected
    assert printed(PICTURE, width=40).splitlines() == expected
    texts = [element.text for element in ET.fromstring(PICTURE._repr_html_()).iter()]
    assert {"x", "a", "y", "b", "ok", "✗1 x is not y"} <= set(texts)


def test_its_title_says_what_is_in_it_to_those_who_cannot_see_it():
    assert "<title>x and y. ok. Broken: x is not y</title>" in PICTURE.svg()


def test_an_interpreter_shows_it_by_itself():
    assert repr(PICTURE) == str(PICTURE) == PICTURE.text()


def test_a_terminal_that_knows_ascii_only_is_served_too():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(file=stream, width=40).print(PICTURE)
    stream.flush()
    assert b"x1 x is not y" in raw.getvalue()


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_it_is_saved_by_the_end_of_the_name(tmp_path, suffix):
    file = tmp_path / f"picture.{suffix}"
    PICTURE.save(file)
    text = file.read_text(encoding="utf-8")
    assert "✗1 x is not y" in text
    assert ("<!doctype html>" in text) is (suffix == "html")
    ET.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])


def test_other_files_are_refused_with_what_to_do(tmp_path):
    with pytest.raises(SettingError, match=r"\.svg or \.html, got 'a\.png'"):
        PICTURE.save(tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_the_caption_fits_and_long_lists_are_cut():
    many = tuple(f"rule {k} says so in many words" for k in range(RULES_SHOWN + 7))
    text = Picture("t", Listing(()), many).text(20)
    assert max(map(width_of, text.splitlines())) <= 20
    flat = " ".join(text.split())
    assert f"✗{RULES_SHOWN} rule {RULES_SHOWN - 1} says" in flat
    assert "✗ and 7 more broken rules" in flat
    assert f"rule {RULES_SHOWN} " not in flat
