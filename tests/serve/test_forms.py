"""Inputs from JSON and outputs to it; what cannot be read is answered by a sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rote.serve.forms import (
    MOST_ENTITIES,
    MOST_TOKENS,
    FeatureForm,
    SentenceForm,
    TokenForm,
    form_for,
)
from rote.tasks.files import output_text, read_for

from rote.errors import DataError, ModelError, TooLarge
from rote.features import Templates
from rote.io.conll import Entity
from rote.tasks.coreference import Coreference
from rote.tasks.entity_relation import EntityRelation, Extraction
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging

WORDS = TokenForm(("word",))
TAGGED = TokenForm(("word", "pos"))


def test_a_task_has_the_form_of_its_files():
    assert form_for(Tagging(("A",), Templates(("word", "pos"), ("word[0]",)))) == TAGGED
    assert form_for(EntityRelation()) == SentenceForm()
    assert form_for(MultiLabel(("a", "b"))) == form_for(Multiclass(("a", "b"))) == FeatureForm()


@pytest.mark.parametrize("task", [Coreference(), Tagging(("A",), lambda x: [["bias"] for _ in x])])
def test_a_task_without_a_form_is_refused_when_the_service_is_made(task):
    with pytest.raises(ModelError, match=r"Service\(model, form=\.\.\.\)"):
        form_for(task)


@pytest.mark.parametrize("value", ["the  dog\n", ["the", "dog"], [["the"], ["dog"]]])
def test_words_are_a_text_or_a_list(value):
    assert WORDS.read(value) == (("the",), ("dog",))


@pytest.mark.parametrize(
    "value", ["the D\ndog N\n", "the\tD\n\ndog\tN", [["the", "D"], ["dog", "N"]]]
)
def test_tokens_with_columns_are_lines_or_lists(value):
    assert TAGGED.read(value) == (("the", "D"), ("dog", "N"))


@pytest.mark.parametrize(
    ("form", "value", "said"),
    [
        (WORDS, 7, "a text or a list of tokens, got 7"),
        (WORDS, " ", "at least one token"),
        (WORDS, ["the", 7], r"token 1: expected a text for each column \(word\), got 7"),
        (WORDS, ["the", ""], "token 1"),
        (WORDS, [["the", "D"]], "token 0"),
        (TAGGED, "the D\ndog", r"token 1: .*\(word, pos\), got \[\"dog\"\]"),
        (TAGGED, ["the"], "token 0"),
        (FeatureForm(), [1, "red"], "a list of names or a list of numbers"),
        (FeatureForm(), {"red": float("nan")}, "a finite number"),
        (SentenceForm(), 7, "a text with entities in brackets, or an object"),
        (SentenceForm(), "Ada lives", "no entity is marked"),
        (SentenceForm(), "[Ada [Byron]]", "none of which is inside another"),
        (SentenceForm(), "Ada]", "brackets are around entities"),
        (SentenceForm(), "[Ada", "close it with ]"),
        (SentenceForm(), "[] lives", "start 0 and stop 0"),
        (SentenceForm(), {"words": "Ada"}, '"words" is a list of texts'),
        (SentenceForm(), {"words": ["Ada"]}, '"entities" is a list of objects'),
        (SentenceForm(), {"words": ["Ada"], "entities": [[0, 1]]}, '"entities" is a list'),
        (
            SentenceForm(),
            {"words": ["Ada"], "POS": ["NNP"], "entities": []},
            'no other keys than words, pos, entities, id, relations; got "POS"',
        ),
        (
            SentenceForm(),
            {"words": ["Ada"], "entities": [{"start": 0, "stop": 1, "end": 1}]},
            'an entity has no other keys than start, stop, label; got "end"',
        ),
        (
            SentenceForm(),
            {"words": ["Ada"], "pos": [], "entities": []},
            "one tag per word, 1; got 0",
        ),
        (
            SentenceForm(),
            {"words": ["Ada"], "entities": [{"start": 0, "stop": 2}]},
            "ends within the 1 words; got start 0 and stop 2",
        ),
        (
            SentenceForm(),
            {"words": ["Ada", "B"], "entities": [{"start": 1, "stop": 2}, {"start": 0, "stop": 1}]},
            "in the order of their words",
        ),
    ],
)
def test_what_cannot_be_read_is_said(form, value, said):
    with pytest.raises(DataError, match=said):
        form.read(value)


def test_brackets_mark_the_same_entities_as_spans():
    typed = SentenceForm().read("[Ada Byron] lives in[London].")
    assert typed.words == ("Ada", "Byron", "lives", "in", "London", ".")
    assert typed.entities == (Entity(0, 2, ""), Entity(4, 5, ""))
    spans = [{"start": 0, "stop": 2}, {"start": 4, "stop": 5}]
    assert SentenceForm().read({"words": list(typed.words), "entities": spans}) == typed


def test_a_sentence_keeps_its_tags_and_an_output_of_rote_predict_is_an_input(as_json, sentences):
    form, sentence = SentenceForm(), sentences[0]
    x = form.read(as_json(sentence))
    assert (x.words, x.pos) == (sentence.words, sentence.pos)
    assert [(e.start, e.stop) for e in x.entities] == [(e.start, e.stop) for e in sentence.entities]
    written = form.write(x, Extraction.of(sentence))
    assert json.loads(json.dumps(written)) == written
    assert form.read(written).entities == x.entities
    assert form.read({"id": 7, **written}).entities == x.entities


def test_a_sentence_is_written_as_rote_predict_writes_it(file):
    path = file("0\tPeop\t0\tO\tNNP\tAda\tO\tO\tO\n0\tO\t1\tO\tVBZ\tsleeps\tO\tO\tO\n\n\n")
    contents = read_for(EntityRelation(), path)
    lines = output_text(contents, contents.ys).splitlines()
    expected = json.loads(lines[0])
    del expected["id"]
    assert SentenceForm().write(contents.xs[0], contents.ys[0]) == expected


def test_features_are_names_numbers_or_both():
    form = FeatureForm()
    assert form.read("red small") == form.read(["red", "small"]) == ["red", "small"]
    assert form.read({"red": 2}) == {"red": 2.0}
    assert np.array_equal(form.read([1, 0.5]), [1.0, 0.5])
    assert form.write([], ("a", "b")) == ["a", "b"]
    assert form.write([], "a") == "a"


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (WORDS, ["a"] * (MOST_TOKENS + 1)),
        (SentenceForm(), "[a]" + " a" * MOST_TOKENS),
        (SentenceForm(), "[a]" * (MOST_ENTITIES + 1)),
    ],
)
def test_an_input_whose_space_would_be_too_large_is_refused(form, value):
    with pytest.raises(TooLarge, match="at most"):
        form.read(value)


@pytest.mark.parametrize("form", [WORDS, TAGGED, SentenceForm()])
def test_the_example_of_a_form_can_be_read(form):
    assert form.read(form.example)
    assert form.hint.endswith(".")


def test_the_example_of_features_is_json_that_can_be_read():
    assert FeatureForm().read(json.loads(FeatureForm().example))
