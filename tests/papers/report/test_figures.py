"""Drawings fit into a page: names and colours are its own, and words say what is seen."""

import re

from papers.registry import experiment_of
from papers.report.figures import described, figure_html, svg_of
from tests.papers.report.made_up import saved


def drawn(name):
    found = experiment_of(name)
    assert found is not None
    return found[0].draw(saved(name))


def ids(svg):
    return set(re.findall(r' id="([^"]+)"', svg))


def test_a_drawing_is_the_same_every_time_and_its_names_are_its_own():
    one, again, other = (svg_of(drawn("ma2019-testtime-yeast"), key, "") for key in "aab")
    assert one == again
    assert ids(one)
    assert not ids(one) & ids(other)
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', one)
    assert {first or second for first, second in used} == ids(one)


def test_every_colour_of_every_figure_is_one_of_the_pages(page):
    drawings = re.findall(r"<svg.*?</svg>", page.html, re.DOTALL)
    assert len(drawings) == page.report.figures
    for svg in drawings:
        assert re.findall(r'style="[^"]*#[0-9a-fA-F]{6}', svg) == []
        assert "currentColor" in svg
        assert not re.search("font-family|<style|<metadata", svg)


def test_a_figure_is_described_by_its_curves_and_bars():
    (sentence,) = described(drawn("chang2015-er"))
    assert sentence.startswith("dual objective lost, % by solver calls, % of inferences: ")
    assert "the paper's condition (4), by ε from " in sentence
    assert "baseline at 0" in sentence
    curves, bars = described(drawn("ma2019-testtime-yeast"))
    rows = [row for row in saved("ma2019-testtime-yeast").rows if row.method == "curve of RGS"]
    first, last = (f"{rows[k].metrics['accuracy']:.4g}" for k in (0, -1))
    assert curves.startswith(f"yeast, accuracy in per cent by seconds: RGS from {first} to {last}")
    assert "RGS 1 " in bars
    (sideways,) = described(drawn("chang2015-cv"))
    assert "none 100, epsilon=1, reset" in sideways
    title, *_ = described(drawn("punyakanok2005-synthetic"))  # two lines are read as one
    assert "local answers are always feasible, accuracy of single" in title


def test_the_caption_says_what_is_shown_by_what_and_of_which_case():
    html = figure_html(drawn("ma2019-testtime-yeast"), "k", "About it", "yeast")
    caption = re.search(r"<figcaption>(.*)</figcaption>", html)
    assert caption is not None
    assert caption[1] == (
        "yeast: accuracy in per cent by seconds; inputs in per cent by required restarts"
    )
    assert 'role="img" aria-label="yeast: About it. yeast, accuracy' in html
    assert '<figure id="k"' in html
