"""Coreference: trees and clusters, what features say of mentions, and documents it learns from."""

import numpy as np
import pytest

from rote.engines import FoundBy
from rote.errors import LabelError, SettingError
from rote.inference.approximate import RGS
from rote.learning import Perceptron, fit
from rote.model import Model, prepare
from rote.tasks.coreference import (
    Coreference,
    Document,
    Mention,
    ParsedSentence,
    clusters_of,
    describe,
    entity_features,
    new_features,
    pair_features,
)

STORY = Document(
    "story",
    "fiction",
    (
        ParsedSentence(("Lady", "Ann", "saw", "the", "old", "dog", "of", "Mr.", "Hill", ".")),
        ParsedSentence(("She", "called", "it", ".")),
    ),
    (
        Mention(0, 0, 2, "PER"),
        Mention(0, 3, 9, "ANIMAL"),
        Mention(0, 7, 9, "PER"),
        Mention(1, 0, 1, "PER"),
        Mention(1, 2, 3, "ANIMAL"),
    ),
)


def blank(mentions):
    """A document of which only the number of mentions matters."""
    words = tuple("x" for _ in range(mentions))
    spans = tuple(Mention(0, i, i + 1, "PER") for i in range(mentions))
    return Document("blank", "none", (ParsedSentence(words),), spans)


def trained(task, documents, learner):
    outputs = [clusters_of(y) for _, y in documents]
    prepared = prepare(task, [x for x, _ in documents], outputs)
    return fit(learner, Model(task, prepared.layout, prepared.layout.zeros()), prepared)


def test_a_mention_is_a_variable_and_each_label_of_it_has_a_vector():
    task = Coreference(max_antecedents=2)
    frame = task.frame(STORY)
    assert [variable.labels for variable in frame.space.variables] == [
        ("new",),
        ("new", "1 back"),
        ("new", "1 back", "2 back"),
        ("new", "1 back", "2 back"),
        ("new", "1 back", "2 back"),
    ]
    assert [slot.vector for slot in frame.slots] == [0, 1, 3, 6, 9]
    assert all(slot.each for slot in frame.slots)
    assert len(task.vectors(STORY)) == len(frame.kinds) == 12
    assert task.frame(blank(5)) is frame


def test_a_mention_is_linked_to_the_closest_of_its_cluster():
    task = Coreference()
    assert task.encode(blank(6), ({0, 2, 5}, {1}, {3, 4})) == [0, 0, 2, 0, 1, 3]


def test_a_mention_whose_cluster_is_out_of_sight_counts_as_new():
    task = Coreference(max_antecedents=2)
    assert task.encode(blank(4), ({0, 3}, {1, 2})) == [0, 0, 1, 0]


def test_clusters_are_what_links_join():
    task = Coreference()
    found = task.decode(blank(6), [0, 1, 0, 2, 1, 3])
    assert found == (frozenset({0, 1, 3, 4}), frozenset({2, 5}))
    assert task.decode(blank(0), []) == ()


def test_clusters_come_back_from_random_trees():
    rng = np.random.default_rng(0)
    task = Coreference(max_antecedents=20)
    for _ in range(20):
        y = clusters_of(rng.integers(0, 5, size=12))
        assert task.decode(blank(12), task.encode(blank(12), y)) == y


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (({0, 1},), "mention 2 is in no cluster"),
        (({0, 1}, {1, 2}), "mention 1 is in two clusters"),
        (({0, 1, 2, 3},), "from 0 to 2, got 3"),
    ],
)
def test_clusters_that_cannot_be_are_refused(clusters, message):
    with pytest.raises(LabelError, match=message):
        Coreference().encode(blank(3), clusters)


def test_a_mention_has_an_antecedent_to_choose_from():
    with pytest.raises(SettingError, match="max_antecedents is a whole number of at least 1"):
        Coreference(max_antecedents=0)


def test_a_mention_is_described_by_its_words():
    described = [describe(STORY, mention) for mention in STORY.mentions]
    assert [m.head for m in described] == ["ann", "dog", "hill", "she", "it"]
    assert [m.form for m in described] == ["PROP", "NOM", "PROP", "PRON", "PRON"]
    assert [m.gender for m in described] == ["female", "", "male", "female", "thing"]
    assert [m.article for m in described] == ["", "definite", "", "", ""]


def test_what_the_data_says_of_head_and_form_wins():
    sentence = ParsedSentence(("the", "Dogs"), upos=("DET", "NOUN"))
    document = Document("a", "news", (sentence,), (Mention(0, 0, 2, "animal", head=1),))
    described = describe(document, document.mentions[0])
    assert (described.head, described.form, described.number) == ("dogs", "NOM", "many")
    named = Document("a", "news", (sentence,), (Mention(0, 0, 2, "animal", form="PROP", head=0),))
    assert describe(named, named.mentions[0]).form == "PROP"
    assert describe(named, named.mentions[0]).head == "the"


def test_features_of_a_pair_say_what_agrees():
    lady, dog, hill, she, _ = (describe(STORY, mention) for mention in STORY.mentions)
    close = pair_features(lady, she, 3, "fiction")
    assert {"PROP-PRON gender agree", "PROP-PRON kinds agree", "apart 3"} <= set(close)
    assert "PROP-PRON gender differ" in pair_features(hill, she, 1, "fiction")
    assert "PROP-PRON 1 sentences" in close
    assert "nested NOM-PROP" in pair_features(dog, hill, 1, "fiction")
    again = pair_features(lady, lady, 9, "fiction")
    assert {"same text PROP-PROP", "same head PROP-PROP", "apart 8"} <= set(again)
    assert "other head NOM-PROP" in pair_features(dog, hill, 1, "fiction")


def test_features_of_a_new_mention_say_what_was_seen_before():
    lady, dog, *_ = (describe(STORY, mention) for mention in STORY.mentions)
    assert "new NOM not seen definite" in new_features(dog, [lady], "fiction")
    assert "new NOM text seen definite" in new_features(dog, [dog], "fiction")
    assert "new NOM genre fiction" in new_features(dog, [], "fiction")
    assert all(name.startswith("new") for name in new_features(dog, [], "fiction"))


def test_a_tie_is_a_new_mention():
    task = Coreference()
    prepared = prepare(task, [STORY])
    model = Model(task, prepared.layout, prepared.layout.zeros())
    assert model.predict([STORY]) == [tuple(frozenset({i}) for i in range(5))]


def test_a_story_that_was_seen_is_remembered():
    task = Coreference()
    model = trained(task, [(STORY, (0, 1, 2, 0, 1))], Perceptron(20))
    assert model.predict([STORY]) == [(frozenset({0, 3}), frozenset({1, 4}), frozenset({2}))]
    ((_, solutions),) = model.answers(model.prepare([STORY]))
    assert set(solutions.source.tolist()) == {FoundBy.ARGMAX}


def test_entities_are_told_by_attributes_of_their_mentions():
    family = entity_features([describe(STORY, mention) for mention in STORY.mentions])
    # Gender, number, kind, head; the first of each value is 1. A pronoun's head says nothing.
    assert family.attributes == (
        (1, 1, 1, 1),
        (0, 1, 2, 2),
        (2, 1, 1, 3),
        (1, 1, 1, 0),
        (3, 1, 2, 0),
    )
    assert [("PROP", "NOM", "PRON")[form] for form in family.forms] == [
        describe(STORY, mention).form for mention in STORY.mentions
    ]


def test_what_no_pair_can_say_is_learned_of_entities():
    task = Coreference(entities=True)
    frame = task.frame(STORY)
    assert frame is task.frame(STORY)
    assert frame.space is Coreference().frame(STORY).space
    documents = [(STORY, [0, 1, 2, 0, 1])]
    prepared = prepare(task, [STORY], [clusters_of(y) for _, y in documents])
    model = Model(task, prepared.layout, prepared.layout.zeros(), RGS(restarts=20))
    learned = fit(Perceptron(iterations=10), model, prepared)
    assert learned.predict([STORY]) == [clusters_of([0, 1, 2, 0, 1])]
    assert np.abs(prepared.layout.block(learned.weights, "entity")).max() > 0
