"""Each kind of picture shows all of an output, and marks it where rules and gold say."""

from itertools import combinations, product
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rote import SpaceBuilder
from rote.errors import LabelError, SettingError
from rote.space.reasons import BrokenConstraint
from rote.viz import (
    picture_of_extraction,
    picture_of_graph,
    picture_of_grid,
    picture_of_labels,
    picture_of_tagging,
)
from rote.viz.shapes import Tone

WORDS = ["Oswald", "shot", "Kennedy", "in", "Dallas"]
SPANS = [(0, 1), (2, 3), (4, 5)]
ENTITIES = ["Peop", "Peop", "Loc"]
RELATIONS = {(0, 1): "Kill", (2, 0): "Live_In"}


def spans(picture):
    return [(s.start, s.stop, s.text) for s in picture.drawing.spans]


def test_an_extraction_has_all_entities_and_relations():
    picture = picture_of_extraction(WORDS, SPANS, ENTITIES, RELATIONS)
    assert spans(picture) == [(0, 1, "Peop"), (2, 3, "Peop"), (4, 5, "Loc")]
    assert [link[:3] for link in picture.drawing.links] == [(0, 1, "Kill"), (2, 0, "Live_In")]
    texts = {element.text for element in ET.fromstring(picture.svg()).iter()}
    assert {*WORDS, *ENTITIES, *RELATIONS.values()} <= texts


def test_a_rule_marks_the_entities_and_pairs_that_it_blames_and_is_told_below():
    rules = [
        BrokenConstraint("first", (2, 7)),
        BrokenConstraint("second", (7,)),
    ]  # pair 7 is (2, 0)
    picture = picture_of_extraction(WORDS, SPANS, ENTITIES, RELATIONS, broken=rules)
    assert spans(picture)[2] == (4, 5, "Loc ✗1")
    assert [link.text for link in picture.drawing.links] == ["Kill", "Live_In ✗1,2"]
    assert [s.tone for s in picture.drawing.spans] == [Tone.PLAIN, Tone.PLAIN, Tone.BROKEN]
    assert picture.text(40).splitlines()[-2:] == ["✗1 first", "✗2 second"]


def test_a_gold_extraction_marks_what_is_wrong_and_adds_what_is_missing():
    gold = (["Peop", "Peop", "Org"], {(0, 1): "Kill", (2, 0): "Work_For", (1, 2): "Live_In"})
    picture = picture_of_extraction(WORDS, SPANS, ENTITIES, RELATIONS, gold=gold)
    assert [s.text for s in picture.drawing.spans] == ["Peop", "Peop", "Loc ≠"]
    assert [s.text for s in picture.drawing.gold] == ["Peop", "Peop", "Org ≠"]
    assert [(link.text, link.dashed) for link in picture.drawing.links] == [
        ("Kill", False),
        ("(Live_In) ≠", True),
        ("Live_In ≠", False),
        ("(Work_For) ≠", True),
    ]


def test_bio_tags_are_joined_and_what_goes_on_from_nothing_keeps_its_prefix():
    tags = ["B-A", "I-A", "B-A", "I-B", "O"]
    assert spans(picture_of_tagging(WORDS, tags)) == [
        (0, 2, "A"),
        (2, 3, "A"),
        (3, 4, "I-B"),
        (4, 5, "O"),
    ]


def test_every_bio_tagging_can_be_read_back_from_its_picture():
    for tags in product(["B-A", "I-A", "B-B", "I-B", "O"], repeat=4):
        back = []
        for start, stop, label in spans(picture_of_tagging(WORDS[:4], tags)):
            kind = label.removeprefix("I-")
            first = label if label == "O" or label != kind else f"B-{kind}"
            back += [first] + [f"I-{kind}"] * (stop - start - 1)
        assert tuple(back) == tags


def test_other_tags_are_joined_as_asked():
    tags = ["a", "a", "b", "b", "a"]
    assert [s[:2] for s in spans(picture_of_tagging(WORDS, tags))] == [(t, t + 1) for t in range(5)]
    joined = spans(picture_of_tagging(WORDS, tags, joined="equal"))
    assert joined == [(0, 2, "a"), (2, 4, "b"), (4, 5, "a")]


def test_a_span_bears_the_marks_of_all_its_words_and_gold_has_none():
    rules = [BrokenConstraint("one", (1,)), BrokenConstraint("two", (0, 4))]
    tags, gold = ["B-A", "I-A", "O", "O", "O"], ["B-A", "I-A", "I-A", "O", "O"]
    picture = picture_of_tagging(WORDS, tags, gold=gold, broken=rules)
    assert [s.text for s in picture.drawing.spans] == ["A ✗1,2≠", "O ≠", "O", "O ✗2"]
    assert [s.text for s in picture.drawing.gold] == ["A ≠", "O", "O"]


def test_the_colour_of_a_label_is_that_of_its_place_in_the_list():
    labels = ["B-A", "I-A", "B-B", "I-B", "O"]
    (span, outside) = picture_of_tagging(WORDS[:2], ["B-B", "O"], labels=labels).drawing.spans
    assert (span.color, outside.color) == (1, None)


def test_a_grid_marks_the_cells_that_rules_blame():
    picture = picture_of_grid(
        np.array([[0, 1, -1], [1, 1, 0]]), ["land", "sea"], broken=[BrokenConstraint("no", (1, 3))]
    )
    assert picture.drawing.cells == ((0, 1, None), (1, 1, 0))
    assert picture.drawing.broken == {(0, 1), (1, 0)}
    assert picture.broken == ("no",)


def test_nodes_of_a_graph_stand_where_they_lie():
    across, down = np.meshgrid(np.arange(4.0), np.arange(2.0))
    places = np.column_stack([across.ravel(), down.ravel()])
    nodes = np.arange(8)
    cells = np.array(picture_of_graph(places, nodes, "abcdefgh").drawing.cells)
    for one, other in combinations(nodes, 2):
        here, there = np.argwhere(cells == one), np.argwhere(cells == other)
        (x, y), (x2, y2) = places[one], places[other]
        assert x >= x2 or here[:, 1].mean() < there[:, 1].mean()
        assert y >= y2 or here[:, 0].mean() < there[:, 0].mean()


def test_every_node_has_cells_of_its_own_even_where_all_lie_in_one_place():
    rng = np.random.default_rng(0)
    for places in (np.zeros((7, 2)), rng.normal(size=(7, 2)), rng.normal(size=(7, 2)) * (1, 0)):
        picture = picture_of_graph(
            places, range(7), "abcdefg", gold=[-1] * 7, broken=[BrokenConstraint("no", (2, 5))]
        )
        cells = np.array(picture.drawing.cells)
        assert set(cells.ravel()) == set(range(7))
        blamed = {(int(r), int(c)) for r, c in np.argwhere((cells == 2) | (cells == 5))}
        assert picture.drawing.broken == blamed
        assert {cell for row in picture.drawing.gold for cell in row} == {None}


def test_any_space_shows_its_variables_and_marks_those_to_blame():
    builder = SpaceBuilder()
    x, y, _ = (builder.variable(name, "ab") for name in "xyz")
    builder.require(x["a"] >> y["b"], "a before b")
    space = builder.build()
    picture = picture_of_labels(space, [0, 0, 1], gold=[0, 1, 1], facts=["said"])
    assert picture.text(26).splitlines() == [
        "x a ✗1       z b",
        "y a ✗1 ≠ b",
        "",
        "said",
        "broken rules: 1 of 1",
        "✗1 a before b",
    ]
    assert "broken rules: none of 1" in picture_of_labels(space, [0, 1, 1]).text()


builder = SpaceBuilder()
builder.variable("x", "ab")
SPACE = builder.build()


def extraction(entities, relations, gold=None):
    return picture_of_extraction(WORDS, SPANS, entities, relations, gold=gold)


@pytest.mark.parametrize(
    ("draw", "match"),
    [
        (lambda: extraction(ENTITIES[:2], {}), "3 entities have as many labels, got 2"),
        (lambda: extraction(ENTITIES, {(0, 3): "Kill"}), "two different entities"),
        (lambda: extraction(ENTITIES, {(1, 1): "Kill"}), "two different entities"),
        (lambda: extraction(ENTITIES, {}, (ENTITIES, {(1, 1): "K"})), "two different entities"),
        (lambda: picture_of_tagging(WORDS, ["O"]), "5 words have as many tags, got 1"),
        (lambda: picture_of_tagging(WORDS, ["O"] * 5, gold=["O"]), "5 words have as many tags"),
        (lambda: picture_of_tagging(WORDS, ["O"] * 5, joined="BIO"), "joined is one of bio, equal"),
        (lambda: picture_of_grid([0, 1], "ab"), r"shape \(rows, columns\)"),
        (lambda: picture_of_grid([[0.5]], "ab"), "positions of labels"),
        (lambda: picture_of_grid([[2]], "ab"), "from 0 to 1, got 2"),
        (lambda: picture_of_grid([[0, 1]], "ab", gold=[[0], [1]]), "as many rows"),
        (lambda: picture_of_graph(np.zeros(3), [0, 0, 0], "a"), r"shape \(n, 2\)"),
        (lambda: picture_of_graph(np.zeros((3, 2)), [0, 0], "a"), "3 nodes have the positions"),
        (lambda: picture_of_labels(SPACE, [[0], [1]]), "got 2; index the batch first"),
        (lambda: picture_of_labels(SPACE, [0], gold=[[0], [1]]), "got 2; index the batch first"),
    ],
)
def test_what_does_not_fit_is_refused(draw, match):
    with pytest.raises((LabelError, SettingError), match=match):
        draw()


def test_little_is_drawn_of_little():
    assert picture_of_labels(SPACE, [1]).text() == "x b"  # there are no rules to speak of
    assert picture_of_graph(np.zeros((0, 2)), [], "a").text() == ""
