"""Logistic regression over single decisions, beside scikit-learn's own."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from rote import fit_unary_classifier
from rote.errors import MissingDependency, SettingError
from rote.inference.problem import Problem
from rote.model import prepare
from rote.tasks.coreference import Coreference, Document, Mention, ParsedSentence
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging


def words(x):
    return [{f"w={word}": 1.0, "bias": 1.0, "length": float(len(word))} for word in x]


def sentences(count, seed=0):
    rng = np.random.default_rng(seed)
    vocabulary = {"D": ["the", "a"], "N": ["dog", "cat", "house"], "V": ["runs", "sleeps", "dog"]}
    xs, ys = [], []
    for _ in range(count):
        tags = [str(tag) for tag in rng.choice(["D", "N", "V"], size=rng.integers(2, 6))]
        ys.append(tags)
        xs.append([str(rng.choice(vocabulary[tag])) for tag in tags])
    return xs, ys


TASK = Tagging(("D", "N", "V"), words)


def initials(classifier, prepared):
    found = [None] * len(prepared)
    for group in prepared.groups:
        problem = Problem(group.space, np.zeros((len(group), group.space.parts)))
        guessed = classifier.initial(problem, prepared.context(group))
        for member, labels in zip(group.members, guessed, strict=True):
            found[member] = labels.tolist()
    return found


def test_weights_are_those_of_scikit_learn():
    xs, ys = sentences(60)
    prepared = prepare(TASK, xs, ys)
    classifier = fit_unary_classifier(prepared, cost=0.5)
    rows = [pair for x, y in zip(xs, ys, strict=True) for pair in zip(words(x), y, strict=True)]
    index = prepared.layout.indices["token"]
    X = np.zeros((len(rows), len(index)))
    for k, (row, _) in enumerate(rows):
        for name, value in row.items():
            X[k, index.column(name)] = value
    own = LogisticRegression(C=0.5, fit_intercept=False, max_iter=200)
    own.fit(X, [TASK.labels.index(tag) for _, tag in rows])
    found = prepared.layout.block(classifier.weights, "label")
    assert found == pytest.approx(own.coef_.T, abs=1e-3)
    assert np.count_nonzero(classifier.weights) == np.count_nonzero(found)  # factors have none
    # "dog" is told by nothing but itself, everything else for sure.
    wrong = [
        word
        for x, y, labels in zip(xs, ys, initials(classifier, prepared), strict=True)
        for word, tag, a in zip(x, y, labels, strict=True)
        if TASK.labels[a] != tag
    ]
    assert set(wrong) <= {"dog"}


def test_two_labels_and_one_that_is_always_there():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = np.column_stack([X[:, 0] > 0, np.ones(80), np.zeros(80)]).astype(np.int64)
    prepared = prepare(MultiLabel(("sign", "always", "never"), "none"), list(X), list(Y))
    found = np.array(initials(fit_unary_classifier(prepared, cost=100.0), prepared))
    assert (found == Y).mean(axis=0).tolist() == pytest.approx([1.0, 1.0, 1.0], abs=0.02)


def test_examples_of_no_importance_are_not_looked_at():
    xs, ys = sentences(40)
    wrong = [["V" if tag == "N" else "N" for tag in y] for y in ys]
    both = prepare(TASK, xs + xs, ys + wrong, sample_weight=np.repeat([1.0, 0.0], 40))
    alone = prepare(TASK, xs, ys)
    assert fit_unary_classifier(both).weights == pytest.approx(
        fit_unary_classifier(alone).weights, abs=1e-6
    )


def document(names):
    sentence = ParsedSentence(tuple(names))
    mentions = tuple(Mention(0, j, j + 1, "person", "PROP") for j in range(len(names)))
    return Document("one", "news", (sentence,), mentions)


def test_labels_with_vectors_of_their_own_are_told_apart():
    names = [["Ann", "Ann", "Bob", "Ann"], ["Bob", "Cid", "Bob"], ["Ann", "Bob", "Bob", "Cid"]]
    task = Coreference()
    xs = [document(one) for one in names]
    ys = [[{j for j, name in enumerate(one) if name == who} for who in set(one)] for one in names]
    prepared = prepare(task, xs, ys)
    found = initials(fit_unary_classifier(prepared, cost=100.0), prepared)
    assert found == [list(task.encode(x, y)) for x, y in zip(xs, ys, strict=True)]


def test_settings_that_make_no_sense_are_refused():
    prepared = prepare(TASK, *sentences(3))
    with pytest.raises(SettingError, match="cost is a number above 0"):
        fit_unary_classifier(prepared, cost=0)
    with pytest.raises(SettingError, match="iterations"):
        fit_unary_classifier(prepared, iterations=0)


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(MissingDependency, match=r"pip install '\.\[sklearn\]'"):
        fit_unary_classifier(prepare(TASK, *sentences(2)))
