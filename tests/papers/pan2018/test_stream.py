"""What speed-up classifiers learn from: splits and black boxes."""

import numpy as np
import pytest

from papers.pan2018 import stream as pan_stream
from papers.pan2018.stream import (
    CITATIONS,
    MADE_UP,
    SENTENCES,
    Share,
    extraction_measures,
    field_measures,
    ready,
)
from rote import EntityRelation, EntityRelationOutput, Milp
from rote.io.conll import Relation

SHARES = {SENTENCES: Share(60, 80, 3, (0.03, 0.1)), CITATIONS: Share(20, 30, 1)}


@pytest.fixture(scope="module")
def cases():
    return {name: ready(name, share, 0) for name, share in SHARES.items()}


@pytest.mark.parametrize("name", SHARES)
def test_nobody_is_judged_on_what_was_learned_from(cases, name):
    case = cases[name]
    learned = case.about["learned from"]
    assert case.source == case.about["source"] == MADE_UP
    assert len(case.held_out.xs) == learned // 5
    assert len(case.test.xs) == case.about["judged on"]
    if name == SENTENCES:
        assert (learned, len(case.test.xs), len(case.stream)) == (42, 18, 80)
        own = {x.id for x in case.test.xs}
        assert len(own) == 18
        assert not own & {x.id for x in (*case.held_out.xs, *case.stream)}


@pytest.mark.parametrize("name", SHARES)
def test_two_black_boxes_have_learned_and_not_from_the_same(cases, name):
    case = cases[name]
    whole, trial = case.black_box, case.trial
    assert np.abs(whole.weights).max() > 0
    assert np.abs(trial.weights).max() > 0
    assert whole.layout.size > trial.layout.size  # fewer examples have fewer features
    assert set(case.measures(case.test.ys, whole.predict(case.test.xs))) >= {case.metric}


def test_weights_are_those_that_integer_programs_lead_to(cases, monkeypatch):
    share = Share(60, 0, 2, (0.1,))
    exact = ready(SENTENCES, share, 0)
    monkeypatch.setattr(pan_stream, "Exact", Milp)
    by_program = ready(SENTENCES, share, 0)
    np.testing.assert_allclose(by_program.black_box.weights, exact.black_box.weights, atol=1e-12)


def test_sentences_that_break_a_rule_are_left_out(monkeypatch):
    made = pan_stream.english_sentences

    def with_a_broken_one(count, seed):
        first, *rest = made(count, seed)
        both = (Relation(0, 1, "Kill"), Relation(1, 0, "Kill"))
        return (pan_stream.replace(first, relations=both), *rest)

    monkeypatch.setattr(pan_stream, "english_sentences", with_a_broken_one)
    case = ready(SENTENCES, SHARES[SENTENCES], 0)
    assert case.about["left out, as they break a rule"] == 1
    assert case.about["learned from"] + case.about["judged on"] == 59


def test_measures_are_of_named_entities_and_of_relations():
    gold = [EntityRelationOutput(("Peop", "Loc", "Other"), {(0, 1): "Live_In"})]
    found = [
        EntityRelationOutput(("Peop", "Org", "Other"), {(0, 1): "Live_In", (1, 0): "OrgBased_In"})
    ]
    assert extraction_measures(gold, gold) == {"entity_f1": 100, "relation_f1": 100}
    assert extraction_measures(gold, found) == pytest.approx(
        {"entity_f1": 50, "relation_f1": 200 / 3}
    )
    assert field_measures([("author", "date")], [("author", "title")]) == {"accuracy": 50}


@pytest.mark.usefixtures("real_data")
def test_the_corpora_are_split_as_the_paper_does():
    split = pan_stream._split_sentences(Share(1441, 30_000, 1), 0)
    assert (len(split.train.xs), len(split.test.xs), split.left_out) == (1008, 432, 1)
    assert len(split.stream) == 29_889
    assert max(len(x.entities) for x in split.stream) == 12
    assert all(EntityRelation().is_feasible(x) for x in split.test.xs)
    few = pan_stream._split_sentences(Share(100, 300, 1), 0)
    assert 250 <= len(few.stream) <= 300
    fields = pan_stream._split_citations(Share(300, 400, 1), 0)
    assert (len(fields.train.xs), len(fields.test.xs), len(fields.stream)) == (281, 100, 400)
    assert fields.left_out == 19
