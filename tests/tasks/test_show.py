"""Pictures of outputs of tasks: all is there, and marks are where trying every change puts them."""

import os
from itertools import product

import numpy as np
import pytest

from papers.data.conll04 import load_conll04
from papers.samdani2012.fields import citations
from rote import show
from rote.errors import LabelError
from rote.features import Templates
from rote.io.conll import Entity, Sentence
from rote.space import SpaceBuilder
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput, pairs
from rote.tasks.graphs import Graph, GraphLabelling, grid, grid_shape
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging, words_of
from rote.tasks.task import Frame, Slot, Task
from rote.viz.grids import Grid
from rote.viz.listing import Listing
from rote.viz.shapes import BROKEN_SIGN
from rote.viz.text import width_of

TASK = EntityRelation(
    ("Peop", "Loc"),
    ("none", "Kill", "Live_In"),
    {"Kill": ("Peop", "Peop"), "Live_In": ("Peop", "Loc")},
)
X = Sentence(
    0, ("Oswald", "in", "New", "York"), ("",) * 4, (Entity(0, 1, "Loc"), Entity(2, 4, "Loc")), ()
)
TAGGER = Tagging(("B-A", "I-A", "O"), Templates(("pos", "word"), ("word[0]",)), bio=True)
CITATION = [("A",), (".",), ("Quill",), (".",), ("On",), ("maps",), (",",), ("1997",), (".",)]


def every_extraction():
    for *entities, forth, back in product(*[TASK.entity_labels] * 2, *[TASK.relation_labels] * 2):
        both = {(0, 1): forth, (1, 0): back}
        yield EntityRelationOutput(tuple(entities), {p: r for p, r in both.items() if r != "none"})


def at_fault(y):
    """The rules of the task, told anew: who is at fault for what."""
    names = ("Oswald", "New York")
    found = {}
    for (i, j), label in sorted(y.relations.items()):
        needs = TASK.arguments[label]
        wrong = [e for e, need in ((i, needs[0]), (j, needs[1])) if y.entities[e] != need]
        if wrong:
            sentence = f"{label}({names[i]}, {names[j]}) needs {needs[0]} and {needs[1]}"
            found[sentence] = {*wrong, (i, j)}
    if len(y.relations) == 2:
        found["Oswald and New York are related in one direction at most"] = {(0, 1), (1, 0)}
    return found


def test_an_extraction_is_marked_exactly_where_it_is_at_fault():
    for y in every_extraction():
        picture = show(TASK, X, y)
        expected = at_fault(y)
        assert set(picture.broken) == set(expected)
        marked = [(k, s.mark) for k, s in enumerate(picture.drawing.spans)]
        marked += [((link.first, link.second), link.mark) for link in picture.drawing.links]
        for what, mark in marked:
            numbers = [n for n, rule in enumerate(picture.broken, 1) if what in expected[rule]]
            said = BROKEN_SIGN + ",".join(map(str, numbers)) if numbers else ""
            assert mark == said


def test_all_entities_and_relations_are_there():
    for y in every_extraction():
        drawing = show(TASK, X, y).drawing
        assert tuple(span.label for span in drawing.spans) == y.entities
        assert {(k.first, k.second): k.label for k in drawing.links} == dict(y.relations)


def test_the_gold_labels_of_the_input_are_not_looked_at():
    spans = show(TASK, X, EntityRelationOutput(("Peop", "Loc"), {})).drawing.spans
    assert [span.text for span in spans] == ["Peop", "Loc"]


def test_a_tagging_is_marked_where_no_change_elsewhere_would_mend_it():
    tokens = [("N", f"w{t}") for t in range(3)]
    for tags in product(TAGGER.labels, repeat=3):
        picture = show(TAGGER, tokens, tags)
        expected = {
            t
            for t, (before, tag) in enumerate(zip(("O", *tags), tags, strict=False))
            if tag == "I-A" and before == "O"
        }
        blamed = expected | {t - 1 for t in expected if t}
        marked = {
            t
            for span in picture.drawing.spans
            if BROKEN_SIGN in span.mark
            for t in range(span.start, span.stop)
        }
        whole = {t for s in picture.drawing.spans for t in range(s.start, s.stop)
                 if blamed & set(range(s.start, s.stop))}  # fmt: skip
        assert len(picture.broken) == len(expected)
        assert marked == whole


def test_words_are_the_column_of_that_name_or_the_first_or_numbers():
    assert words_of(TAGGER, [("N", "dog"), "as it is", {"word": "cat"}]) == [
        "dog",
        "as it is",
        "cat",
    ]
    plain = Tagging(("a",), lambda x: x)
    assert words_of(plain, [("dog", "N"), np.zeros(3), (1, 2), {}]) == ["dog", "1", "2", "3"]


def test_fields_are_joined_and_rules_blame_their_words():
    task, x = citations(), CITATION
    right = ["author"] * 4 + ["title"] * 3 + ["date"] * 2
    picture = show(task, x, right)
    assert [(s.start, s.stop, s.text) for s in picture.drawing.spans] == [
        (0, 4, "author"),
        (4, 7, "title"),
        (7, 9, "date"),
    ]
    assert picture.broken == ()
    wrong = ["title"] * 4 + right[4:]
    picture = show(task, x, wrong, right)
    assert BROKEN_SIGN in picture.drawing.spans[0].mark
    assert BROKEN_SIGN not in picture.drawing.spans[1].mark
    assert "≠ differs from gold in 4 of 9 words" in picture.facts


def test_fields_that_change_inside_a_segment_are_marked_there():
    task, x = citations(), CITATION
    y = ["author"] * 4 + ["title", "note", "note"] + ["date"] * 2
    picture = show(task, x, y)
    assert picture.broken == ("labels change only at borders, and there is none before word 5",)
    assert [s.text for s in picture.drawing.spans] == ["author", "title ✗1", "note ✗1", "date"]


def test_a_graph_that_is_a_grid_is_drawn_as_one():
    task = GraphLabelling(("land", "sea"))
    x = Graph(np.zeros((6, 1)), grid(2, 3)[::-1, ::-1])
    picture = show(task, x, np.array([0, 1, 0, 1, 1, 0]), np.array([0, 1, -1, 1, 0, 0]))
    assert picture.drawing == Grid(
        ((0, 1, 0), (1, 1, 0)), task.labels, gold=((0, 1, None), (1, 0, 0))
    )
    assert picture.facts == ("≠ differs from gold in 1 of 6 nodes",)


@pytest.mark.parametrize("shape", [(1, 4), (2, 2), (3, 5), (5, 3)])
def test_the_shape_of_a_grid_is_found(shape):
    assert grid_shape(Graph(np.zeros((shape[0] * shape[1], 1)), grid(*shape))) == shape


def test_other_graphs_and_other_tasks_are_shown_variable_by_variable():
    graph = Graph(np.zeros((3, 1)), np.array([[0, 1], [1, 2], [0, 2]]))
    assert grid_shape(graph) is None
    picture = show(
        GraphLabelling(("land", "sea")), graph, np.array([0, 1, 1]), np.array([-1, 1, 0])
    )
    assert isinstance(picture.drawing, Listing)
    assert [(e.label, e.gold) for e in picture.drawing.entries] == [
        ("land", None),
        ("sea", None),
        ("sea", "land"),
    ]
    topics = show(MultiLabel(("beach", "sea")), [], ("sea",), ("beach", "sea"), facts=["mine"])
    assert topics.text(20).splitlines()[:2] == ["beach off ≠ on", "sea   on"]
    assert "mine" in topics.facts


def test_an_output_that_is_none_is_refused():
    with pytest.raises(LabelError, match="one label per token"):
        show(TAGGER, [("N", "dog")], ["O", "O"])


class Marks(Task):
    """One mark per letter, given as True and False."""

    def frame(self, x):
        builder = SpaceBuilder()
        for t, letter in enumerate(x):
            builder.variable(f"{letter}{t}", ("off", "on"))
        return Frame(builder.build(), tuple(Slot("mark") for _ in x))

    def vectors(self, x):
        return []

    def encode(self, x, y):
        return [mark == "1" for mark in y]

    def decode(self, x, labels):
        return "".join(map(str, labels))


def test_an_output_may_be_said_by_true_and_false_and_may_equal_gold():
    assert show(Marks(), "dog", "011").drawing.entries[2].label == "on"
    assert show(Marks(), "dog", "011", "011").facts == ("equal to gold",)
    assert show(Marks(), "dog", "011", "001").facts == ("≠ differs from gold in 1 of 3 variables",)


@pytest.mark.parametrize(
    ("task", "x", "y", "gold"),
    [
        (Marks(), "dog", "011", "01"),
        (TAGGER, [("N", "dog")], ["O"], ["O", "O"]),
        (citations(), CITATION, ["author"] * 9, ["author"] * 8),
        (GraphLabelling(("a", "b")), Graph(np.zeros((4, 1)), grid(2, 2)), np.zeros(4, int), [0]),
    ],
    ids=["own", "tagging", "fields", "grid"],
)
def test_gold_of_another_shape_is_refused(task, x, y, gold):
    with pytest.raises(LabelError):
        show(task, x, y, gold)
    with pytest.raises(LabelError):
        show(task, x, gold)


@pytest.mark.skipif("ROTE_DATA" not in os.environ, reason="the corpus is where ROTE_DATA says")
def test_every_tenth_sentence_of_the_corpus_can_be_shown_in_40_columns():
    task = EntityRelation()
    for x in load_conll04().split("test")[::10]:
        picture = show(task, x, EntityRelationOutput.of(x))
        text = picture.text(40)
        assert max(map(width_of, text.splitlines())) <= 40
        assert sum(len(k.label) > 0 for k in picture.drawing.links) == len(x.relations)
        space = task.frame(x).space
        labels = np.array(task.encode(x, EntityRelationOutput.of(x)))
        assert len(picture.broken) == len(space.broken(labels))
        assert len(pairs(len(x.entities))) + len(x.entities) == len(space.variables)
