"""Where words, spans and arcs stand: by hand, and on random sentences of all widths."""

import numpy as np
import pytest

from rote.errors import DataError
from rote.viz.sentence import Link, Sentence, Span
from rote.viz.shapes import Arc, End, Said, Tile, Tone
from rote.viz.terminal import plain_text
from rote.viz.text import width_of

WORDS = ("Oswald", "shot", "Kennedy", "in", "Dallas")
SPANS = (Span(0, 1, "Peop"), Span(2, 3, "Peop"), Span(4, 5, "Loc"))


def text(drawing, columns):
    return [line for line in plain_text(drawing.layout(columns)).splitlines() if line]


def test_a_sentence_by_hand():
    drawing = Sentence(WORDS, SPANS, (Link(0, 1, "Kill", "✗1"), Link(0, 2, "Live_In")))
    assert text(drawing, 60) == [
        " ┌────────Live_In─────────┐",
        " │  ┌─Kill ✗1──┐          │",
        " │  │          ▼          ▼",
        "Oswald shot Kennedy in Dallas",
        "└Peop┘      └Peop─┘    └Loc─┘",
    ]


def test_an_arc_goes_on_in_the_next_line():
    assert text(Sentence(WORDS, SPANS, (Link(2, 0, "Of"),)), 14) == [
        "   ┌───Of─────",
        "   ▼",
        "Oswald shot",
        "└Peop┘",
        "──────Of──────",
        "Kennedy in",
        "└Peop─┘",
        "───┐ Of",
        "   │",
        "Dallas",
        "└Loc─┘",
    ]


def test_gold_spans_stand_below():
    drawing = Sentence(WORDS, SPANS[:1], gold=(Span(0, 2, "Org"),))
    assert text(drawing, 60) == [
        "     Oswald shot Kennedy in Dallas",
        "y    └Peop┘",
        "gold └───Org───┘",
    ]


def test_spans_that_overlap_stand_below_each_other():
    drawing = Sentence(WORDS, (Span(0, 3, "a"), Span(1, 2, "b"), Span(3, 4, "c")))
    tiles = {s.text: s.row for s in drawing.layout(60).shapes if isinstance(s, Tile)}
    assert tiles == {"a": 1, "b": 2, "c": 1}


def test_two_spans_of_the_same_words_can_be_linked():
    same = (Span(2, 3, "a"), Span(2, 3, "a", tone=Tone.BROKEN))
    shown = text(Sentence(WORDS, same, (Link(0, 1, "Is"),)), 40)
    assert "Is" in shown[0]
    assert shown[-2:] == [f"{'└──a──┘':>19}"] * 2


def test_a_span_outside_the_words_is_refused():
    for start, stop in ((0, 6), (2, 2), (-1, 1)):
        with pytest.raises(DataError, match="among 5 words"):
            Sentence(WORDS, (Span(start, stop, "a"),))


def test_no_words_are_no_trouble():
    assert text(Sentence(()), 20) == []


def random_sentence(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    words = tuple("地" * int(k) if k % 5 == 0 else "x" * int(k) for k in rng.integers(1, 16, n))
    starts = np.sort(rng.choice(n, size=min(n, 6), replace=False)).tolist()
    ends = [*starts[1:], n]
    spans = tuple(
        Span(a, int(rng.integers(a + 1, b + 1)), f"label{k}")
        for k, (a, b) in enumerate(zip(starts, ends, strict=True))
    )
    pairs = [(i, j) for i in range(len(spans)) for j in range(len(spans)) if i != j]
    chosen = [pairs[k] for k in rng.permutation(len(pairs))[:5]]
    links = tuple(Link(i, j, f"link{k}") for k, (i, j) in enumerate(chosen))
    return Sentence(words, spans, links)


@pytest.mark.parametrize("columns", [12, 40, 96])
@pytest.mark.parametrize("seed", range(15))
def test_everything_is_there_and_nothing_leaves_the_picture(seed, columns):
    drawing = random_sentence(seed)
    layout = drawing.layout(columns)
    assert max(map(width_of, plain_text(layout).splitlines())) <= columns
    assert len([s for s in layout.shapes if isinstance(s, Said)]) == len(drawing.words)
    tiles = [s for s in layout.shapes if isinstance(s, Tile)]
    assert {t.text for t in tiles} == {span.label for span in drawing.spans}
    assert sum(t.starts for t in tiles) == sum(t.stops for t in tiles) == len(drawing.spans)
    arcs = [s for s in layout.shapes if isinstance(s, Arc)]
    for link in drawing.links:
        assert any(arc.label in (link.label, "lin…") for arc in arcs)
    ends = [end for arc in arcs for end in (arc.left_end, arc.right_end)]
    assert ends.count(End.HEAD) == ends.count(End.TAIL) == len(drawing.links)


@pytest.mark.parametrize("seed", range(15))
def test_no_two_words_tiles_or_arcs_are_drawn_over_each_other(seed):
    layout = random_sentence(seed).layout(60)
    taken = set()
    for shape in layout.shapes:
        match shape:
            case Said():
                cells = {(shape.row, shape.column + k) for k in range(width_of(shape.text))}
            case Tile():
                cells = {(shape.row, shape.column + k) for k in range(shape.width)}
            case Arc():
                cells = {(shape.top, column) for column in range(shape.left, shape.right + 1)}
                at = shape.label_at
                cells |= {(shape.top, at + k) for k in range(width_of(shape.label))}
        assert not cells & taken
        taken |= cells


@pytest.mark.parametrize("seed", range(15))
def test_arcs_end_on_their_spans(seed):
    drawing = random_sentence(seed)
    layout = drawing.layout(96)
    tiles = {t.text: t for t in layout.shapes if isinstance(t, Tile) and t.starts}
    feet = {End.TAIL: set(), End.HEAD: set()}
    for arc in (s for s in layout.shapes if isinstance(s, Arc)):
        for column, end in ((arc.left, arc.left_end), (arc.right, arc.right_end)):
            if end is not End.EDGE:
                under = [
                    text
                    for text, t in tiles.items()
                    if t.row == arc.bottom + 2 and t.column <= column < t.column + t.width
                ]
                feet[end].update(under)
                assert len(under) == 1
    for end, chosen in ((End.TAIL, 0), (End.HEAD, 1)):
        assert feet[end] == {drawing.spans[link[chosen]].label for link in drawing.links}
