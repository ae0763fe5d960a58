"""Entity and relation F1 against hand-worked sentences and a flat reading by scikit-learn."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from rote.errors import DataError
from rote.metrics import F1, EntityRelations, entity_f1, relation_f1

GOLD = [
    EntityRelations(["Peop", "Loc", "Org"], {(0, 1): "Live_In", (2, 1): "OrgBased_In"}),
    EntityRelations(["Peop", "Peop", "Other"], {(0, 1): "Kill"}),
]
PREDICTED = [
    # Live_In is right with a wrong argument label; OrgBased_In has become Located_In.
    EntityRelations(
        ["Peop", "Org", "Org"], {(0, 1): "Live_In", (2, 1): "Located_In", (1, 0): "none"}
    ),
    # Kill is found, and again where nothing is.
    EntityRelations(["Peop", "Peop", "Loc"], {(0, 1): "Kill", (1, 2): "Kill"}),
]


def test_entities_with_every_label_counted():
    table = entity_f1(GOLD, PREDICTED)
    assert table.by_label == {
        "Loc": F1.of(1, 1, 0),
        "Org": F1.of(1, 2, 1),
        "Other": F1.of(1, 0, 0),
        "Peop": F1.of(3, 3, 3),
    }
    assert table.micro == F1.of(6, 6, 4)


@pytest.mark.parametrize("ignored", ["Other", ["Other"]])
def test_entities_with_a_label_ignored(ignored):
    table = entity_f1(GOLD, PREDICTED, ignored=ignored)
    assert list(table.by_label) == ["Loc", "Org", "Peop"]
    assert table.micro == F1.of(5, 6, 4)


def test_relations_need_their_label_and_their_arguments():
    table = relation_f1(GOLD, PREDICTED)
    assert table.by_label == {
        "Kill": F1.of(1, 2, 1),
        "Live_In": F1.of(1, 1, 1),
        "Located_In": F1.of(0, 1, 0),
        "OrgBased_In": F1.of(1, 0, 0),
    }
    assert table.micro == F1.of(3, 4, 2)


def test_strict_relations_need_the_labels_of_their_arguments_as_well():
    table = relation_f1(GOLD, PREDICTED, strict=True)
    assert table.by_label["Live_In"] == F1.of(1, 1, 0)
    assert table.by_label["Kill"] == F1.of(1, 2, 1)
    assert table.micro == F1.of(3, 4, 1)


def test_the_direction_of_a_relation_matters():
    forth = [EntityRelations(["Peop", "Peop"], {(0, 1): "Kill"})]
    back = [EntityRelations(["Peop", "Peop"], {(1, 0): "Kill"})]
    assert relation_f1(forth, back).micro == F1.of(1, 1, 0)


def test_none_may_have_another_name():
    gold = [EntityRelations(["Peop", "Loc"], {(0, 1): "no", (1, 0): "no"})]
    assert relation_f1(gold, gold, none="no").by_label == {}
    assert relation_f1(gold, gold).micro == F1.of(2, 2, 2)


def test_sentences_without_entities_or_relations_count_nothing():
    empty = [EntityRelations([], {})]
    assert entity_f1(empty, empty).micro == F1.of(0, 0, 0)
    assert relation_f1(empty, empty).micro == F1.of(0, 0, 0)


def test_random_outputs_agree_with_scikit_learn_over_the_flat_labels():
    random = np.random.default_rng(3)
    relations = ["none", "none", "Kill", "Live_In"]

    def draw(n):
        own = random.choice(["Peop", "Loc", "Other"], n)
        return [*own.tolist(), *random.choice(relations, n * (n - 1)).tolist()]

    sizes = random.integers(0, 6, 40)
    gold, predicted = ([draw(n) for n in sizes] for _ in range(2))
    outputs = [
        [
            EntityRelations(y[:n], dict(zip(permutations(range(n), 2), y[n:], strict=True)))
            for y, n in zip(side, sizes, strict=True)
        ]
        for side in (gold, predicted)
    ]

    def theirs(part, labels):
        flat = (
            [x for y, n in zip(side, sizes, strict=True) for x in part(y, n)]
            for side in (gold, predicted)
        )
        return precision_recall_fscore_support(
            *flat, labels=labels, average="micro", zero_division=0
        )[:3]

    for table, expected in [
        (entity_f1(*outputs, ignored="Other"), theirs(lambda y, n: y[:n], ["Peop", "Loc"])),
        (relation_f1(*outputs), theirs(lambda y, n: y[n:], ["Kill", "Live_In"])),
    ]:
        ours = table.micro
        assert (ours.precision, ours.recall, ours.f1) == pytest.approx(expected)
        assert ours.right > 0


@pytest.mark.parametrize("pair", [(0, 2), (-1, 0), (1, 1)])
def test_a_relation_holds_between_two_entities_of_the_sentence(pair):
    with pytest.raises(DataError, match=r"relation 'Kill' of .*: expected the places of two"):
        EntityRelations(["Peop", "Peop"], {pair: "Kill"})


def test_bad_input_is_answered_with_a_sentence():
    with pytest.raises(DataError, match="sentence 0: expected as many predicted entities"):
        entity_f1([EntityRelations(["Peop"], {})], [EntityRelations([], {})])
    with pytest.raises(DataError, match="as many predicted sentences"):
        relation_f1(GOLD, PREDICTED[:1])
    with pytest.raises(DataError, match="there are no sentences"):
        relation_f1([], [])
