"""The space of Roth and Yih's task says what it should, and nothing more."""

import copy
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from rote import Exact, Exhaustive, Tagging, Templates, train
from rote.datasets import english_sentences
from rote.errors import DataError, LabelError, SpaceError
from rote.io.conll import Entity, Relation, Sentence
from rote.learning import Perceptron, fit
from rote.model import Model, prepare
from rote.tasks.entity_relation import (
    ARGUMENTS,
    ENTITY_LABELS,
    RELATION_LABELS,
    EntityRelation,
    EntityRelationOutput,
    entity_relation_space,
    marked_sentences,
    pairs,
)
from rote.tasks.tagging import default_templates

SENTENCES = [s for s in english_sentences(60, seed=0) if len(s.entities) == 3][:2]


def test_entities_come_first_and_pairs_in_lexicographic_order():
    space = entity_relation_space(3)
    assert [v.name for v in space.variables] == [
        "e0", "e1", "e2", "r0_1", "r0_2", "r1_0", "r1_2", "r2_0", "r2_1",
    ]  # fmt: skip
    assert pairs(3) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert space["e1"].labels == ENTITY_LABELS
    assert space["r1_0"].labels == RELATION_LABELS
    assert RELATION_LABELS[0] == "none"


def test_the_possible_outputs_of_a_pair_are_those_of_the_task():
    space = entity_relation_space(2)
    outputs = list(product(ENTITY_LABELS, ENTITY_LABELS, RELATION_LABELS, RELATION_LABELS))

    def possible(first, second, forth, back):
        return (
            ARGUMENTS.get(forth, (first, second)) == (first, second)
            and ARGUMENTS.get(back, (second, first)) == (second, first)
            and "none" in (forth, back)
        )

    labels = space.encode(
        [dict(zip(("e0", "e1", "r0_1", "r1_0"), o, strict=True)) for o in outputs]
    )
    expected = [possible(*output) for output in outputs]
    assert space.holds(labels).tolist() == expected
    # 16 pairs of entities without a relation, and each relation one way or the other.
    assert sum(expected) == 16 + 2 * len(ARGUMENTS)


def test_broken_rules_are_named_in_plain_words():
    space = entity_relation_space(2)
    output = {"e0": "Peop", "e1": "Loc", "r0_1": "Kill", "r1_0": "Live_In"}
    assert [named.name for named in space.broken(space.encode([output]))] == [
        "Kill(e0, e1) needs Peop and Peop",
        "e0 and e1 are related in one direction at most",
        "Live_In(e1, e0) needs Peop and Loc",
    ]


def test_a_shape_is_built_once():
    assert entity_relation_space(4) is entity_relation_space(4)
    assert entity_relation_space(4) is entity_relation_space(4, list(ENTITY_LABELS))
    assert entity_relation_space(4) is not entity_relation_space(3)


def test_other_labels_and_argument_types_will_do():
    space = entity_relation_space(
        2, ("Drug", "Effect"), ("no", "causes", "near"), {"causes": ("Drug", "Effect")}
    )
    allowed = {"e0": "Drug", "e1": "Effect", "r0_1": "causes", "r1_0": "no"}
    untyped = {"e0": "Effect", "e1": "Effect", "r0_1": "near", "r1_0": "no"}
    wrong = {"e0": "Effect", "e1": "Drug", "r0_1": "causes", "r1_0": "no"}
    both = {"e0": "Drug", "e1": "Effect", "r0_1": "causes", "r1_0": "near"}
    held = space.holds(space.encode([allowed, untyped, wrong, both]))
    assert held.tolist() == [True, True, False, False]


def test_what_cannot_be_a_sentence_is_refused():
    with pytest.raises(SpaceError, match="no fewer than 0 entities, got -1"):
        entity_relation_space(-1)
    with pytest.raises(LabelError, match="arguments speaks of 'Kill'; the relations are Live_In"):
        entity_relation_space(2, ENTITY_LABELS, ("none", "Live_In"), ARGUMENTS)
    with pytest.raises(LabelError, match="arguments speaks of 'none'"):
        entity_relation_space(2, arguments={"none": ("Peop", "Loc")})
    with pytest.raises(LabelError, match="has no label 'Person'"):
        entity_relation_space(2, arguments={"Kill": ("Person", "Peop")})


def test_a_frame_has_a_slot_per_decision_and_is_built_once():
    task, sentence = EntityRelation(), SENTENCES[0]
    frame = task.frame(sentence)
    assert frame.space is entity_relation_space(3)
    assert frame.kinds == ("entity",) * 3 + ("pair",) * 6
    assert [slot.block for slot in frame.slots] == ["entity"] * 3 + ["relation"] * 6
    assert [slot.vector for slot in frame.slots] == list(range(9))
    assert frame is EntityRelation().frame(SENTENCES[1])


def test_vectors_are_those_of_entities_and_then_of_pairs():
    vectors = EntityRelation().vectors(SENTENCES[0])
    assert len(vectors) == 9
    assert all("bias" in vector for vector in vectors)
    assert [f"bias{'<>'[i < j]}" in vectors[3 + k] for k, (i, j) in enumerate(pairs(3))] == [
        True
    ] * 6
    assert not any("bias>" in vector or "bias<" in vector for vector in vectors[:3])


def test_outputs_go_to_labels_and_back():
    task = EntityRelation()
    for sentence in english_sentences(20, seed=1):
        y = EntityRelationOutput.of(sentence)
        labels = task.encode(sentence, y)
        assert task.decode(sentence, labels) == y
        assert task.frame(sentence).space.holds(np.array([labels])).all()


def test_an_output_by_hand():
    task = EntityRelation()
    y = EntityRelationOutput(("Peop", "Org", "Loc"), {(0, 1): "Work_For", (1, 2): "OrgBased_In"})
    labels = [0, 2, 1, 3, 0, 0, 4, 0, 0]
    assert task.encode(SENTENCES[0], y) == labels
    assert task.decode(SENTENCES[0], labels) == y
    assert task.encode(SENTENCES[0], y._replace(relations={(2, 0): "none"}))[3:] == [0] * 6


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (EntityRelationOutput(("Peop", "Loc"), {}), "one label per entity; got 2 for 3"),
        (EntityRelationOutput(("Peop", "Loc", "Town"), {}), "'Town' is not a label of an entity"),
        (
            EntityRelationOutput(("Peop",) * 3, {(0, 1): "Likes"}),
            "'Likes' is not a label of a relation",
        ),
        (EntityRelationOutput(("Peop",) * 3, {(0, 3): "Kill"}), r"got \(0, 3\)"),
        (
            EntityRelationOutput(("Peop",) * 3, {(1, 1): "Kill"}),
            r"two different entities.* got \(1, 1\)",
        ),
    ],
)
def test_what_cannot_be_an_output_is_refused(y, message):
    with pytest.raises(LabelError, match=message):
        EntityRelation().encode(SENTENCES[0], y)


def test_a_sentence_whose_output_breaks_a_rule_is_seen():
    entities = (Entity(0, 1, "Loc"), Entity(1, 2, "Loc"))
    broken, obeying = (
        Sentence(0, ("A", "B"), ("NNP", "NNP"), entities, (Relation(0, 1, label),))
        for label in ("Kill", "Located_In")
    )
    task = EntityRelation()
    assert (task.is_feasible(broken), task.is_feasible(obeying)) == (False, True)


def test_a_task_with_other_labels():
    task = EntityRelation(["Drug", "Effect"], ["no", "causes"], {"causes": ["Drug", "Effect"]})
    assert task == EntityRelation(
        ("Drug", "Effect"), ("no", "causes"), {"causes": ("Drug", "Effect")}
    )
    assert hash(task) == hash(copy.deepcopy(task))
    assert task != EntityRelation()
    y = EntityRelationOutput(("Drug", "Drug", "Effect"), {(1, 2): "causes"})
    assert task.decode(SENTENCES[0], task.encode(SENTENCES[0], y)) == y
    with pytest.raises(LabelError, match="arguments speaks of 'cures'"):
        EntityRelation(("Drug",), ("no", "causes"), {"cures": ("Drug", "Drug")})


def test_tasks_are_copied_and_pickled():
    task = EntityRelation()
    assert copy.deepcopy(task) == task
    assert pickle.loads(pickle.dumps(task)) == task  # noqa: S301


def test_a_model_learns_the_sentences_it_has_seen():
    task, sentences = EntityRelation(), english_sentences(40, seed=5)
    ys = [EntityRelationOutput.of(sentence) for sentence in sentences]
    prepared = prepare(task, sentences, ys)
    model = Model(task, prepared.layout, prepared.layout.zeros())
    assert fit(Perceptron(20, average=False), model, prepared).predict(sentences) == ys


# -- the task of examples --------------------------------------------------------------------


def test_examples_with_the_labels_of_conll04_have_its_rules():
    assert (
        EntityRelation.of([EntityRelationOutput(("Loc", "Peop"), {(1, 0): "Live_In"})])
        == EntityRelation()
    )
    assert EntityRelation.of([]) == EntityRelation()


def test_examples_with_other_labels_show_what_their_relations_join():
    outputs = [
        EntityRelationOutput(
            ("Person", "City", "City"), {(0, 1): "Lives", (1, 2): "Near", (0, 2): "none"}
        ),
        EntityRelationOutput(("Person", "Person"), {(0, 1): "Near"}),
        EntityRelationOutput(("Other",), {}),
    ]
    task = EntityRelation.of(outputs)
    assert task.entity_labels == ("City", "Other", "Person")
    assert task.relation_labels == ("none", "Lives", "Near")
    assert task.arguments == {"Lives": ("Person", "City")}


MARRIED = EntityRelation(
    ("Peop", "Loc"),
    ("none", "Live_In", "Spouse"),
    {"Live_In": ("Peop", "Loc"), "Spouse": ("Peop", "Peop")},
    symmetric=("Spouse",),
)


def said_of(n):
    return Sentence(0, ("w",) * n, ("",) * n, tuple(Entity(k, k + 1, "") for k in range(n)), ())


@pytest.mark.parametrize("seed", range(4))
def test_a_symmetric_relation_holds_in_both_directions_or_in_none(seed):
    x = said_of(3)
    space = MARRIED.frame(x).space
    scores = np.random.default_rng(seed).normal(size=(20, space.parts))
    found, judge = (engine.solve(space, scores) for engine in (Exact(), Exhaustive()))
    np.testing.assert_allclose(found.value, judge.value)
    spouses = 0
    for labels in judge.labels.tolist():
        relations = dict(zip(pairs(3), labels[3:], strict=True))
        for (i, j), label in relations.items():
            assert (label == 2) == (relations[j, i] == 2)
            assert 1 not in (label, relations[j, i]) or 0 in (label, relations[j, i])
        y = MARRIED.decode(x, labels)
        spouses += list(y.relations.values()).count("Spouse")
        assert all(i < j for (i, j), label in y.relations.items() if label == "Spouse")
        assert MARRIED.encode(x, y) == labels
    assert spouses > 0


def test_a_symmetric_relation_may_be_said_in_either_direction():
    x, both = said_of(2), [0, 0, 2, 2]
    for relations in ({(0, 1): "Spouse"}, {(1, 0): "Spouse"}, dict.fromkeys(pairs(2), "Spouse")):
        y = EntityRelationOutput(("Peop", "Peop"), relations)
        assert MARRIED.encode(x, y) == both
        assert MARRIED.directed(y) == MARRIED.decode(x, both)


@pytest.mark.parametrize("label", ["Live_In", "Kill", "none"])
def test_a_relation_between_different_kinds_or_of_no_name_is_not_symmetric(label):
    with pytest.raises(LabelError, match=f"symmetric names relations .*; got '{label}'"):
        replace(MARRIED, symmetric=(label,))


# -- spans that are predicted -------------------------------------------------------------


def tags_of(sentence):
    tags = ["O"] * len(sentence.words)
    for entity in sentence.entities:
        tags[entity.start : entity.stop] = [f"I-{entity.label}"] * (entity.stop - entity.start)
        tags[entity.start] = f"B-{entity.label}"
    return tags


def test_tags_mark_the_entities_of_sentences():
    sentences = english_sentences(40, seed=2)
    tokens = [tuple(zip(one.words, one.pos, strict=True)) for one in sentences]
    found = marked_sentences(tokens, [tags_of(one) for one in sentences])
    assert [one.entities for one in found] == [one.entities for one in sentences]
    assert [(one.words, one.pos) for one in found] == [(s.words, s.pos) for s in sentences]
    (plain,) = marked_sentences([["Ada", "left"]], [["U-Peop", "O"]])
    assert plain.entities == (Entity(0, 1, "Peop"),)
    with pytest.raises(DataError, match="input 1: each of 2 tokens has a tag, got 1"):
        marked_sentences([["a"], ["a", "b"]], [["O"], ["O"]])


def test_a_tagger_finds_the_spans_that_are_read_together():
    sentences = english_sentences(160, seed=3)
    train_on, held_out = sentences[:120], sentences[120:]
    tokens = [tuple(zip(one.words, one.pos, strict=True)) for one in sentences]
    labels = tuple(sorted({tag for one in sentences for tag in tags_of(one)}))
    templates = Templates(("word", "pos"), default_templates(("word", "pos")))
    learner = Perceptron(iterations=5)
    tagger = train(
        Tagging(labels, templates, bio=True),
        tokens[:120],
        [tags_of(one) for one in train_on],
        learner=learner,
    )
    task = EntityRelation()
    gold = [EntityRelationOutput.of(one) for one in train_on]
    reader = train(task, train_on, gold, learner=learner, allow_infeasible_gold=True)
    found = marked_sentences(tokens[120:], tagger.predict(tokens[120:]))
    right = 0
    for one, marked, y in zip(held_out, found, reader.predict(found), strict=True):
        assert task.frame(marked).space.holds([task.encode(marked, y)]).all()
        said = {
            (entity.start, entity.stop, label)
            for entity, label in zip(marked.entities, y.entities, strict=True)
        }
        there = {(entity.start, entity.stop, entity.label) for entity in one.entities}
        right += len(there & said)
    given_spans = reader.predict(held_out)
    best = sum(
        entity.label == label
        for one, y in zip(held_out, given_spans, strict=True)
        for entity, label in zip(one.entities, y.entities, strict=True)
    )
    assert right > 0.85 * best  # what is lost where spans are not given
