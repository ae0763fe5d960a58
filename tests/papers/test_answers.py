"""Answers without rules, beside those of a model whose task has none."""

import numpy as np

from papers.answers import answers_without_rules
from rote import EntityRelation, Model, prepare
from rote.datasets import english_sentences


def test_answers_are_those_of_a_model_without_rules_and_groups_keep_their_rules():
    task, sentences = EntityRelation(), english_sentences(30, seed=1)
    prepared = prepare(task, sentences)
    weights = np.random.default_rng(0).normal(size=prepared.layout.size)
    model = Model(task, prepared.layout, weights)
    found = answers_without_rules(model, prepared)
    outputs = model.decode(sentences, found)
    assert outputs == model.without_rules().predict(sentences)
    assert outputs != model.predict(sentences)
    assert not all(group.space.holds(each.labels).all() for group, each in found)
    assert all(each.optimal.all() for _, each in found)
