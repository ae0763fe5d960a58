"""What all learners share."""

import numpy as np
import pytest

from rote.errors import DataError, SettingError
from rote.learning import (
    IndependentPerceptron,
    Perceptron,
    State,
    StructuredSVM,
    Subgradient,
    fit,
)
from rote.learning.base import iterations_left, mini_batches, shuffled
from rote.space.losses import Hamming
from tests.learning.small import chains, start

LEARNERS = pytest.mark.parametrize(
    "learner",
    [IndependentPerceptron(3), Perceptron(3), StructuredSVM(iterations=3)],
    ids=lambda x: type(x).__name__,
)


@LEARNERS
def test_fit_ends_with_the_weights_of_the_last_state_and_shows_every_one(learner):
    task, xs, ys = chains(0)
    model, prepared = start(task, xs, ys)
    states = [state.kept() for state in learner.iterate(model, prepared)]
    seen = []
    learned = fit(learner, model, prepared, watch=seen.append)
    assert [state.iteration for state in seen] == [1, 2, 3]
    np.testing.assert_array_equal(learned.weights, states[-1].weights)
    assert not model.weights.any()


def test_a_learner_without_states_returns_the_model_it_was_given():
    class Idle:
        def iterate(self, model, prepared, state=None):
            return iter(())

    task, xs, ys = chains(0)
    model, prepared = start(task, xs, ys)
    assert fit(Idle(), model, prepared) is model
    state = State(1, np.ones(model.layout.size), done=True)
    assert fit(Idle(), model, prepared, state=state).weights.tolist() == [1.0] * model.layout.size


def test_the_iterations_that_are_left_are_those_after_the_state():
    none = np.zeros(0)
    assert list(iterations_left(None, 3)) == [1, 2, 3]
    assert list(iterations_left(State(1, none, done=False), 3)) == [2, 3]
    assert list(iterations_left(State(1, none, done=True), 3)) == []
    assert list(iterations_left(State(7, none, done=False), 3)) == []


@pytest.mark.parametrize(
    "learner",
    [IndependentPerceptron(500), Perceptron(500), StructuredSVM(iterations=500)],
    ids=["local", "perceptron", "SVM"],
)
def test_nothing_follows_a_state_that_is_done(learner):
    task, xs, ys = chains(0, noise=0.0, order=0)
    model, prepared = start(task, xs, ys)
    last = [state.kept() for state in learner.iterate(model, prepared)][-1]
    assert last.done
    assert [state.kept() for state in learner.iterate(model, prepared, last)] == []
    np.testing.assert_array_equal(fit(learner, model, prepared, state=last).weights, last.weights)


def test_the_order_of_examples_depends_on_seed_and_iteration_alone():
    assert shuffled(20, 1, 2) == shuffled(20, 1, 2)
    assert sorted(shuffled(20, 1, 2)) == list(range(20))
    assert len({tuple(shuffled(20, seed, k)) for seed in range(3) for k in range(3)}) == 9


def test_pieces_hold_every_example_once_and_share_a_space():
    task, xs, ys = chains(0, count=25)
    _, prepared = start(task, xs, ys)
    batches = mini_batches(prepared, 4, 0, 1)
    members = [member for batch in batches for member in batch.members.tolist()]
    assert sorted(members) == list(range(25))
    assert members != list(range(25))
    for batch in batches:
        assert 1 <= len(batch) <= 4
        assert {len(xs[member]) for member in batch.members} == {len(batch.space.variables)}
        golds = [task.encode(xs[m], ys[m]) for m in batch.members]
        assert batch.gold.tolist() == golds


@LEARNERS
def test_a_state_that_was_not_asked_in_time_says_so(learner):
    task, xs, ys = chains(0)
    model, prepared = start(task, xs, ys)
    states = list(learner.iterate(model, prepared))
    assert len(states) > 1
    assert states[-1].weights.shape == (prepared.layout.size,)
    assert states[-1].memory
    for ask in ("weights", "memory"):
        with pytest.raises(DataError, match="gone on since iteration 1"):
            getattr(states[0], ask)
    kept = [state.kept() for state in learner.iterate(model, prepared)]
    assert kept[-1].weights.tobytes() == states[-1].weights.tobytes()
    assert kept[0].weights.tobytes() != kept[-1].weights.tobytes()


@pytest.mark.parametrize(
    ("learner", "names"),
    [
        (IndependentPerceptron, ()),
        (Perceptron, ("update",)),
        (Subgradient, ("C", "loss", "batch")),
        (
            StructuredSVM,
            ("C", "loss", "batch", "delta", "passes", "online_epochs", "patience", "n_jobs"),
        ),
    ],
)
def test_settings_that_cannot_be_are_refused(learner, names):
    wrong = {
        "C": (0.0, -1.0, np.nan, "1", None, True),
        "loss": (Hamming, "hamming"),
        "batch": (0, 1.5),
        "update": ("late", None),
        "iterations": (0, 2.5),
        "seed": (-1, 0.5, "0"),
        "online_epochs": (-1,),
    }
    for name in ("iterations", "seed", *names):
        for value in wrong.get(name, (0, np.inf if name == "delta" else 1.5)):
            with pytest.raises(SettingError, match=f"{name} is .*, got "):
                learner(**{name: value})


@pytest.mark.parametrize("other", [{"batch": 2}, {"squared": False}, {"n_jobs": 2}], ids=str)
def test_reuse_needs_squared_slacks_one_thread_and_no_batch(other):
    with pytest.raises(SettingError, match="reuse needs squared slacks, one thread and no batch"):
        StructuredSVM(reuse=True, **other)
