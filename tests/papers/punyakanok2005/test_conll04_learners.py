"""The comparison of learners: what it measures, and that it chooses without looking at test."""

import json
from dataclasses import replace

import numpy as np
import pytest

from papers.base import Settings
from papers.punyakanok2005 import conll04_learners
from papers.punyakanok2005.conll04_learners import (
    CORPUS,
    FULL,
    MADE_UP,
    QUICK,
    learn_all,
    sentences_of,
)
from rote.io.conll import Relation
from rote.metrics import EntityRelations
from tests.papers.studies import TINY as PLANS

STUDY = "conll04-learners"
TINY = PLANS[STUDY]
METHODS = ["LO", "L+I", "IBT", "structural SVM"]


def rows_of(outcome):
    return {row.method: row.metrics for row in outcome.rows}


def test_there_is_a_row_per_method_and_each_has_all_measures(outcome):
    rows = rows_of(outcome)
    assert list(rows) == METHODS
    for metrics in rows.values():
        assert list(metrics) == [
            "entity_f1",
            "entity_f1_without_other",
            "relation_f1",
            "strict_relation_f1",
            "broken_outputs",
            "training_seconds",
        ]
        assert all(0 <= metrics[name] <= 100 for name in metrics if name.endswith("f1"))
        assert metrics["training_seconds"] > 0


def test_only_decisions_made_by_themselves_break_rules(outcome):
    rows = rows_of(outcome)
    assert rows["LO"]["broken_outputs"] > 0
    assert [rows[method]["broken_outputs"] for method in METHODS[1:]] == [0, 0, 0]
    assert outcome.claims[0].held
    # Where rules hold, a right relation has right entities.
    for method in METHODS[1:]:
        assert rows[method]["strict_relation_f1"] == rows[method]["relation_f1"]


def test_rules_help_on_made_up_sentences(outcome):
    rows = rows_of(outcome)
    assert rows["L+I"]["strict_relation_f1"] > rows["LO"]["strict_relation_f1"]
    helped = outcome.claims[1]
    assert helped.held
    for method in ("LO", "L+I"):
        assert f"{rows[method]['strict_relation_f1']:.1f} for {method}" in helped.evidence


def test_settings_say_what_was_learned_from_and_what_was_chosen(outcome):
    assert outcome.settings["sentences"] == MADE_UP
    assert outcome.settings["learned from"] == "train and dev, 80 sentences"
    assert outcome.settings["judged on"] == "test, 40 sentences"
    chosen = outcome.settings["chosen on dev"]
    assert chosen["C"] in TINY.C
    assert chosen["cost"] in TINY.cost
    assert 1 <= chosen["IBT iterations"] <= TINY.perceptron_iterations
    json.dumps(outcome.settings)


def test_what_is_chosen_does_not_hang_on_the_test_sentences(outcome, monkeypatch):
    def with_other_test(plan, seed):
        given = sentences_of(plan, seed)
        return given._replace(test=given.test[:5])

    monkeypatch.setattr(conll04_learners, "sentences_of", with_other_test)
    other = learn_all(TINY, Settings())
    assert other.settings["chosen on dev"] == outcome.settings["chosen on dev"]
    assert other.settings["judged on"] == "test, 5 sentences"


def test_sentences_that_break_a_rule_are_not_learned_from():
    given = sentences_of(TINY, 0)
    first = given.train[0]
    both = (Relation(0, 1, "Kill"), Relation(1, 0, "Kill"))
    bench = conll04_learners._Bench((replace(first, relations=both), *given.train[1:]), given.dev)
    assert bench.left_out == 1
    assert len(bench.learned) == TINY.train - 1


def test_counts_are_of_true_predicted_and_strictly_right_relations():
    gold = [
        EntityRelations(["Peop", "Loc"], {(0, 1): "Live_In"}),
        EntityRelations(["Loc", "Loc"], {(0, 1): "Located_In"}),
        EntityRelations(["Loc"], {}),
    ]
    found = [
        EntityRelations(["Peop", "Org"], {(0, 1): "Live_In"}),
        EntityRelations(["Loc", "Loc"], {(0, 1): "Located_In", (1, 0): "Located_In"}),
        EntityRelations(["Loc"], {}),
    ]
    assert conll04_learners._counts(gold, found).tolist() == [[1, 1, 0], [1, 2, 1], [0, 0, 0]]


def test_made_up_sentences_are_split_without_overlap():
    given = sentences_of(TINY, 0)
    assert [len(part) for part in given[1:]] == [60, 20, 40]
    assert len({sentence.id for part in given[1:] for sentence in part}) == 120
    assert given != sentences_of(TINY, 1)


@pytest.mark.usefixtures("real_data")
def test_the_corpus_is_split_as_everybody_does():
    given = sentences_of(FULL, 0)
    assert given.source == CORPUS
    assert [len(part) for part in given[1:]] == [910, 243, 288]
    assert [len(part) for part in sentences_of(QUICK, 0)[1:]] == [250, 80, 150]


@pytest.mark.usefixtures("real_data")
def test_the_structural_svm_learns_the_corpus():
    """One run with settings that the whole experiment finds on dev."""
    given = sentences_of(FULL, 0)
    # Planning the search of the longest sentences takes longer than all the rest.
    short = [sentence for sentence in given.train if len(sentence.entities) <= 8]
    bench = conll04_learners._Bench(short, given.dev)
    learner = conll04_learners._svm(replace(FULL, svm_iterations=10), 0.1, 2.0, Settings())
    found = bench.judged(conll04_learners.fit(learner, bench.model, bench.learned))
    assert found.broken_outputs == 0
    assert found.entity_f1 > 90
    assert found.relation_f1 > 65
    assert np.isclose(found.sum, found.entity_f1 + found.relation_f1)
