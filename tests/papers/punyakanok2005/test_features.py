"""Figure 1's trade-off on few sentences: features are cut, methods compared, claims computed."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from papers.curves import Lead
from papers.punyakanok2005.features import (
    CORPUS,
    MADE_UP,
    METHODS,
    Bench,
    Computed,
    Measured,
    _claims,
    sentences_of,
)
from rote import EntityRelation, EntityRelationOutput
from rote.datasets import english_sentences
from rote.tasks.entity_relation_features import ENTITY, PAIR
from tests.papers.studies import TINY as PLANS

STUDY = "punyakanok2005-features"
TINY = PLANS[STUDY]


@pytest.fixture(scope="module")
def bench():
    sentences = english_sentences(24, seed=4)
    return Bench(Computed(sentences), sentences[:16], sentences[16:])


def test_the_most_frequent_features_of_each_kind_are_kept(bench):
    task = EntityRelation()
    counts = Counter(
        name
        for s in bench.train
        for name in (n for v in task.vectors(s)[: len(s.entities)] for n in v)
    )
    kept = bench.layout(7).indices[ENTITY].names()
    assert len(kept) == 7
    least = min(counts[name] for name in kept)
    assert all(count <= least for name, count in counts.items() if name not in kept)
    assert len(bench.layout(7).indices[PAIR]) == 7


def test_without_a_limit_all_features_of_the_training_sentences_are_kept(bench):
    task = EntityRelation()
    names = {name for s in bench.train for vector in task.vectors(s) for name in vector}
    indices = bench.layout(None).indices
    assert {*indices[ENTITY].names(), *indices[PAIR].names()} == names


def test_vectors_are_those_of_the_task(bench):
    sentence = bench.train[0]
    assert bench.task.vectors(sentence) == EntityRelation().vectors(sentence)
    assert bench.task.frame(sentence) is EntityRelation().frame(sentence)
    y = EntityRelationOutput.of(sentence)
    assert bench.task.decode(sentence, bench.task.encode(sentence, y)) == y


def test_there_is_a_row_for_each_method_and_number_of_features(outcome):
    places = sorted({row.metrics["features"] for row in outcome.rows})
    assert places[:2] == [10, 100]
    assert places[2] > 1000
    found = [(row.method, row.metrics["features"]) for row in outcome.rows]
    assert found == list(product(METHODS, places))


def test_rows_have_three_f1_with_intervals_and_how_hard_learning_was(outcome):
    for row in outcome.rows:
        for name in ("f1", "entity_f1", "relation_f1"):
            assert row.metrics[f"{name}_low"] <= row.metrics[name] <= row.metrics[f"{name}_high"]
            assert 0 <= row.metrics[name] <= 100
        assert ("training_mistakes" in row.metrics) == (row.method != "IBT")
    mistakes = [r.metrics["training_mistakes"] for r in outcome.rows if r.method == "LO"]
    assert mistakes[0] > mistakes[-1]


def test_without_a_data_folder_the_sentences_are_made_up_and_said_to_be(outcome):
    assert outcome.settings["data"] == MADE_UP
    assert outcome.settings["sentences"] == TINY.sentences
    assert sentences_of(TINY, 3) == (MADE_UP, english_sentences(30, 3))


def claims(trained: list[float], helped: list[float]) -> list[bool]:
    places, noise = (10, 100, 1000, 9999), np.array([-0.001, 0.0, 0.001])
    measured = Measured(np.zeros((4, 3)), np.full((4, 3), 0.25), {})
    made = [
        Lead.of(places, np.array(means)[:, None] + noise, np.zeros((4, 3)))
        for means in (trained, helped)
    ]
    related = Lead.of(places, np.array([[0.1], [0.1], [0.0], [-0.1]]) + noise, np.zeros((4, 3)))
    found = list(_claims(made[0], related, made[1], measured))
    alone = "By relation F1 alone, IBT is ahead with 10 and 100 features and L+I with 9,999."
    assert [alone in claim.evidence for claim in found] == [True, True, False]
    assert "25.0 % of its training decisions wrong with 10 features" in found[0].evidence
    return [claim.held for claim in found]


@pytest.mark.parametrize(
    ("trained", "helped", "held"),
    [
        ([0.1, 0.1, 0.0, -0.1], [0.0, 0.0, 0.1, 0.1], [True, True, True]),
        ([0.0, 0.1, 0.1, 0.0], [0.0, 0.0, 0.1, 0.0], [True, False, False]),
        ([0.1, -0.1, 0.0, -0.1], [0.1, 0.1, 0.1, 0.1], [False, True, True]),
        ([0.0, 0.0, 0.1, 0.1], [-0.1, 0.0, 0.1, 0.1], [False, False, True]),
    ],
)
def test_claims_follow_from_who_is_ahead_where(trained, helped, held):
    assert claims(trained, helped) == held


@pytest.mark.usefixtures("real_data")
def test_the_corpus_is_taken_where_there_is_one():
    source, sentences = sentences_of(TINY, 0)
    assert source == CORPUS
    assert len({sentence.id for sentence in sentences}) == 30
    assert all(sentence.relations for sentence in sentences)
