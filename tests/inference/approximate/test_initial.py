"""Guesses: every variable by itself, under the weights of a classifier."""

import numpy as np
import pytest

from rote.engines import Problem
from rote.errors import ScoreError, SettingError
from rote.inference.approximate import RGS, UnaryClassifier
from rote.inference.approximate.initial import unary_argmax
from rote.inference.problem import Context
from rote.model import Model, prepare
from rote.space import SpaceBuilder
from rote.tasks.tagging import Tagging

XS = [["the", "dog"], ["a", "cat", "sleeps"], ["dogs", "run"]]
TASK = Tagging(("D", "N", "V"), lambda words: [{word: 1.0} for word in words])


def spoken_for(prepared, word, label):
    """Weights under which a word has a label, whatever is around it."""
    weights = prepared.layout.zeros()
    row = prepared.layout.indices["token"].column(word)
    prepared.layout.block(weights, "label")[row, TASK.labels.index(label)] = 1.0
    return weights


def test_every_variable_gets_its_best_label_whatever_factors_say():
    prepared = prepare(TASK, XS, [["D", "N"], ["D", "N", "V"], ["N", "V"]])
    classifier = UnaryClassifier(spoken_for(prepared, "cat", "V"))
    for group in prepared.groups:
        factors = np.random.default_rng(0).normal(size=(len(group), group.space.parts))
        context = Context(features=prepared.features(group))
        initial = classifier.initial(Problem(group.space, factors), context)
        for member, labels in zip(group.members, initial, strict=True):
            assert labels.tolist() == [2 if word == "cat" else 0 for word in XS[member]]


def test_closed_labels_are_not_guessed():
    builder = SpaceBuilder()
    x = builder.variable("x", "abc")
    builder.variable("y", "ab")
    builder.require(~x["c"])
    space = builder.build()
    scores = np.array([[0.0, 1.0, 2.0, 1.0, 0.0]])
    assert unary_argmax(Problem(space, scores)).tolist() == [[1, 0]]
    allowed = np.array([[True, False, True, True, True]])
    assert unary_argmax(Problem(space, scores, closed=~allowed)).tolist() == [[0, 0]]
    allowed[0, 3:] = False
    assert unary_argmax(Problem(space, scores, closed=~allowed)).tolist() == [[-1, -1]]


def test_a_model_tells_its_engine_what_scores_come_from():
    prepared = prepare(TASK, XS)
    classifier = UnaryClassifier(spoken_for(prepared, "cat", "V"))
    engine = RGS(1.0, 1, classifier)
    model = Model(TASK, prepared.layout, prepared.layout.zeros(), engine)
    # All outputs are equally good, so that search stays where it starts.
    assert model.predict(XS)[1] == ("D", "V", "D")


def test_without_vectors_there_is_no_guess():
    space = SpaceBuilder().build()
    with pytest.raises(SettingError, match="the context has none"):
        UnaryClassifier(np.zeros(3)).initial(Problem(space, np.zeros((1, 0))), Context())


def test_weights_of_another_layout_are_refused():
    prepared = prepare(TASK, XS)
    group = prepared.groups[0]
    problem = Problem(group.space, np.zeros((len(group), group.space.parts)))
    with pytest.raises(ScoreError, match="weights, got"):
        UnaryClassifier(np.zeros(3)).initial(problem, prepared.context(group))
