"""Outputs that are taken again without solving."""

import numpy as np
import pytest

from rote import Exact, SettingError, StructuredSVM
from rote.inference.wrappers.amortized import Amortized
from rote.learning import fit
from rote.learning.reuse import Reuse
from rote.model import Model, prepare
from rote.space.losses import F1Loss, Hamming
from rote.tasks.multilabel import MultiLabel
from rote.types import readonly


def _made_ready() -> tuple[MultiLabel, Model, object]:
    rng = np.random.default_rng(3)
    task = MultiLabel(("a", "b", "c", "d"))
    xs = list(rng.normal(size=(60, 5)))
    hidden = rng.normal(size=(5, 4))
    ys = [tuple(np.array(task.labels)[x @ hidden > 0.3]) for x in xs]
    prepared = prepare(task, xs, ys)
    return task, Model(task, prepared.layout, prepared.layout.zeros()), prepared


def test_a_remembered_output_above_its_bar_is_taken_without_solving() -> None:
    _, model, prepared = _made_ready()
    group = prepared.groups[0]
    counted = Amortized(Exact(), certificate="none", admission="always")
    reuse = Reuse()
    weights = readonly(model.weights)
    low, high = np.full(len(group), -np.inf), np.full(len(group), np.inf)
    first, _ = reuse.most_violated_of(counted, prepared, weights, Hamming(), group, low)
    assert counted.counters.queries == len(group)  # nothing is remembered yet
    again, taken = reuse.most_violated_of(counted, prepared, weights, Hamming(), group, low)
    assert counted.counters.queries == len(group)
    assert taken == len(group)
    # Under the same weights, the best remembered output is at least what was found before.
    assert (again.slacks >= first.slacks - 1e-12).all()
    reuse.most_violated_of(counted, prepared, weights, Hamming(), group, high)
    assert counted.counters.queries == 2 * len(group)


def test_slacks_and_losses_are_those_of_the_outputs_returned() -> None:
    _, model, prepared = _made_ready()
    group = prepared.groups[0]
    weights = readonly(np.random.default_rng(0).normal(size=len(model.weights)))
    reuse = Reuse()
    bars = np.full(len(group), 1.0)
    for _ in range(2):
        worst, _ = reuse.most_violated_of(Exact(), prepared, weights, Hamming(), group, bars)
    scores = prepared.scores(weights, group)
    gained = group.space.value(scores, worst.labels) - group.space.value(scores, group.gold)
    losses = (worst.labels != group.gold).sum(axis=1)
    np.testing.assert_allclose(worst.losses, losses)
    np.testing.assert_allclose(worst.slacks, gained + losses)


def test_training_with_reuse_reaches_the_same_optimum_and_solves_less_often() -> None:
    _, model, prepared = _made_ready()
    counted = Amortized(Exact(), certificate="none", admission="always")
    options = {"C": 1.0, "delta": 1e-4, "iterations": 2000, "online_epochs": 0, "passes": 50}
    one = fit(StructuredSVM(**options), model, prepared)
    learner = StructuredSVM(**options, reuse=True)
    *_, last = learner.iterate(model.with_engine(counted), prepared)
    assert last.done
    np.testing.assert_allclose(last.weights, one.weights, atol=2e-2)
    assert counted.counters.queries < last.iteration * len(prepared)


def test_the_primal_is_unknown_where_outputs_were_taken_again() -> None:
    _, model, prepared = _made_ready()
    states = StructuredSVM(C=0.5, delta=0.01, online_epochs=0, reuse=True).iterate(model, prepared)
    primals = [state.measures["primal"] for state in states]
    assert np.isfinite(primals[0])
    assert np.isnan(primals).any()


def test_examples_are_asked_for_or_taken_again_and_both_are_counted() -> None:
    _, model, prepared = _made_ready()
    counted = Amortized(Exact(), certificate="none", admission="always")
    learner = StructuredSVM(C=0.5, delta=0.01, online_epochs=1, reuse=True)
    told = [s.measures for s in learner.iterate(model.with_engine(counted), prepared)]
    assert sum(each["inferences"] for each in told) == counted.counters.queries
    assert [each["inferences"] + each["reused"] for each in told] == [len(prepared)] * len(told)
    assert sum(each["reused"] for each in told) > 0


def test_reuse_needs_squared_slacks_one_thread_and_a_loss_that_adds_up() -> None:
    with pytest.raises(SettingError, match="squared"):
        StructuredSVM(squared=False, reuse=True)
    with pytest.raises(SettingError, match="one thread"):
        StructuredSVM(n_jobs=2, reuse=True)
    _, model, prepared = _made_ready()
    learner = StructuredSVM(loss=F1Loss(), reuse=True, online_epochs=0)
    with pytest.raises(SettingError, match="adds up"):
        fit(learner, model, prepared)
