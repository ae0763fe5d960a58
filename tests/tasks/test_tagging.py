"""Tagging, against its rules written out by hand."""

import itertools

import numpy as np
import pytest

from rote.errors import LabelError, SettingError
from rote.features import CHUNKING, POS_TAGGING, Templates
from rote.space import at_most
from rote.tasks.tagging import KIND, Tagging, default_templates
from tests.strategies import Judge

BIO = ("O", "B-X", "I-X", "B-Y", "I-Y")
WORDS = Templates(("word",), ("word[0]",))


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_factors_are_over_all_neighbours_up_to_the_order(order, length):
    frame = Tagging(("a", "b"), WORDS, order=order).frame([["w"]] * length)
    spans = [
        tuple(range(first, first + span))
        for span in range(2, order + 2)
        for first in range(length - span + 1)
    ]
    assert [factor.variables for factor in frame.space.factors] == spans
    assert frame.kinds == (KIND,) * length
    assert [slot.vector for slot in frame.slots] == [*range(length), *[None] * len(spans)]
    blocks = ["label"] * length + [f"{len(span)} labels" for span in spans]
    assert [slot.block for slot in frame.slots] == blocks


def legal(labels):
    """Whether every I-X follows a B-X or an I-X."""
    return all(
        not label.startswith("I-") or before in (f"B-{label[2:]}", label)
        for before, label in zip(("O", *labels), labels, strict=False)
    )


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_with_bio_the_outputs_are_the_legal_sequences(length):
    space = Tagging(BIO, WORDS, bio=True).frame([["w"]] * length).space
    found = [tuple(BIO[a] for a in labels) for labels in Judge(space).outputs]
    assert found == [y for y in itertools.product(BIO, repeat=length) if legal(y)]


def test_bio_with_an_inside_that_nothing_opens_is_refused():
    labels = ("O", "I-X", "B-Y", "I-Y", "I-Z")
    with pytest.raises(SettingError, match=r"nothing opens I-X, I-Z, .*; add B-X, B-Z .*leave bio"):
        Tagging(labels, WORDS, bio=True)
    assert Tagging(labels, WORDS).labels == labels


@pytest.mark.parametrize("labels", [("NN", "VB"), ("X-B", "X-I", "O"), ("b-x", "i-x"), ()])
def test_bio_with_labels_of_another_spelling_is_refused(labels):
    with pytest.raises(
        SettingError,
        match=r"none of the labels is spelled so; got .*; spell labels so, or leave bio",
    ):
        Tagging(labels, WORDS, bio=True)


def test_bio_requires_nothing_where_all_spans_have_one_token():
    space = Tagging(("B-X", "O"), WORDS, bio=True).frame([["w"]] * 2).space
    assert (len(Judge(space).outputs), space.rules) == (4, ())


def few(builder, tokens):
    builder.require(at_most(1, [token["a"] for token in tokens]), "one a at most")


def test_rules_of_ones_own_join_the_space():
    space = Tagging(("a", "b"), WORDS, rules=few).frame([["w"]] * 3).space
    assert [rule.name for rule in space.rules] == ["one a at most"]
    assert Judge(space).outputs == [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1)]


def test_inputs_of_one_length_share_a_frame():
    task = Tagging(("a", "b"), WORDS)
    assert task.frame([["x"], ["y"]]) is task.frame([["u"], ["v"]])
    assert Tagging(["a", "b"], WORDS).frame([["x"]]) is task.frame([["x"]])
    assert task.frame([["x"]]) is not Tagging(("a", "b"), WORDS, order=2).frame([["x"]])


def test_vectors_come_from_templates_or_from_a_function():
    x = [["the"], ["dog"]]
    assert [list(row) for row in Tagging(("a",), WORDS).vectors(x)] == [
        list(row) for row in WORDS.rows(x)
    ]
    task = Tagging(("a",), lambda x: [np.full(2, len(token[0])) for token in x])
    assert [vector.tolist() for vector in task.vectors([["the"], ["horse"]])] == [[3, 3], [5, 5]]


def test_outputs_that_do_not_fit_are_refused():
    task = Tagging(("a", "b"), WORDS)
    with pytest.raises(LabelError, match="got 1 for 2 tokens"):
        task.encode([["w"]] * 2, ("a",))
    with pytest.raises(LabelError, match="'c' is not a label; the labels are a, b"):
        task.encode([["w"]], ("c",))


def test_wide_tuples_are_those_that_no_factor_has():
    task = Tagging(("a", "b"), lambda x: [[] for _ in x], order=1, max_ngram=4)
    frame = task.frame("xxxxx")
    assert [len(factor.variables) for factor in frame.space.factors] == [2] * 4
    assert [(family.block, family.count, family.width) for family in frame.global_features] == [
        ("3 labels", 3, 8),
        ("4 labels", 2, 16),
    ]
    # A short sequence has none of them, and its model has their weights all the same.
    assert [family.count for family in task.frame("xx").global_features] == [0, 0]
    assert task.frame("xxxxx") is frame
    assert (
        Tagging(("a", "b"), lambda x: [], order=2, max_ngram=3).frame("xxx").global_features == ()
    )


@pytest.mark.parametrize(
    ("wrong", "wanted"),
    [
        ({"order": -1}, "order is a whole number of at least 0, got -1"),
        ({"order": 0.5}, "order is a whole number of at least 0, got 0.5"),
        ({"max_ngram": -1}, "max_ngram is a whole number of at least 0, got -1"),
        ({"features": "word[0]"}, "features is Templates, or a function"),
        ({"bio": "yes"}, "bio is True or False"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong, wanted):
    with pytest.raises(SettingError, match=wanted):
        Tagging(**{"labels": ("B-a", "I-a"), "features": lambda x: x, **wrong})


@pytest.mark.parametrize("columns", [("form",), ("pos", "word"), ("a", "b", "c", "d")])
def test_default_templates_speak_of_the_columns_by_their_own_names(columns):
    templates = default_templates(columns)
    assert Templates(columns, templates).templates == templates
    assert f"{columns[0]}[0]" in templates
    if len(columns) == 1:
        assert "suffix2(lower(form[-1]))" in templates
        assert len(templates) == len(POS_TAGGING)
    else:
        assert f"{columns[0]}[-1]|{columns[0]}[0]" in templates
        assert f"{columns[1]}[-2]|{columns[1]}[-1]|{columns[1]}[0]" in templates
        assert len(templates) == len(CHUNKING) + 3 * (len(columns) - 2)
