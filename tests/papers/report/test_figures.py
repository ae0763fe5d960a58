"""Drawings fit into a page: names and colours are its own, and words say what is seen."""

from __future__ import annotations

import re

from papers.registry import experiment_of
from papers.report.figures import described, figure_html, svg_of
from tests.papers.report.made_up import at_test_time, by_alpha, calls, synthetic, validation


def drawn(record):
    found = experiment_of(record.name)
    assert found is not None
    return found[0].draw(record)


def test_the_same_record_gives_the_same_drawing():
    one, two = (svg_of(drawn(by_alpha("yeast")), "a", "seen") for _ in range(2))
    assert one == two


def test_names_within_drawings_are_their_own():
    ids = [
        set(re.findall(r' id="([^"]+)"', svg_of(drawn(by_alpha("yeast")), key, "")))
        for key in ("a", "b")
    ]
    assert ids[0]
    assert ids[1]
    assert not ids[0] & ids[1]


def test_whatever_is_referred_to_is_there():
    svg = svg_of(drawn(at_test_time("yeast")), "a", "")
    used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg))
    there = set(re.findall(r' id="([^"]+)"', svg))
    assert used
    assert {one or other for one, other in used} == there


def test_every_colour_of_every_figure_is_one_of_the_pages(page):
    drawings = re.findall(r"<svg.*?</svg>", page.file.read_text(encoding="utf-8"), re.DOTALL)
    assert len(drawings) == page.figures == 9
    for svg in drawings:
        assert re.findall(r'style="[^"]*#[0-9a-fA-F]{6}', svg) == []
        assert "currentColor" in svg
        assert "font-family" not in svg
        assert "<style" not in svg
        assert "<metadata" not in svg


def test_a_figure_is_described_by_its_curves_and_bars():
    (sentence,) = described(drawn(calls()))
    assert sentence.startswith("dual objective lost, % by solver calls, % of inferences: ")
    assert "the paper's condition (4), by ε from 0.5 to 2" in sentence
    assert "baseline at 0" in sentence
    curves, bars = described(drawn(at_test_time("yeast")))
    assert curves.startswith("yeast, accuracy in per cent by seconds: RGS from 61 to 65")
    assert "RGS 1 14, 2 14" in bars
    (sideways,) = described(drawn(validation()))
    assert "none 100, auto, reset 9, auto, forward 7." in sideways


def test_a_title_of_two_lines_is_read_as_one():
    first, *_ = described(drawn(synthetic()))
    assert "local answers are always feasible, accuracy of single" in first


def test_the_caption_says_what_is_shown_by_what_and_of_which_case():
    html = figure_html(drawn(at_test_time("yeast")), "k", "About it", "yeast")
    caption = re.search(r"<figcaption>(.*)</figcaption>", html)
    assert caption is not None
    assert caption[1] == (
        "yeast: accuracy in per cent by seconds; inputs in per cent by required restarts"
    )
    assert 'role="img" aria-label="yeast: About it. yeast, accuracy' in html
    assert '<figure id="k"' in html
