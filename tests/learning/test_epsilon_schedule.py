"""Stages of ε: in order, resumed bit for bit, and ending where exact training ends."""

import dataclasses
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from rote.datasets import english_sentences
from rote.engines import Exact
from rote.errors import SettingError
from rote.inference.wrappers.amortized import Amortized
from rote.learning import (
    EpsilonSchedule,
    EpsilonStage,
    Perceptron,
    StructuredSVM,
    Subgradient,
    adaptive_schedule,
    exact_at_times,
    geometric,
)
from rote.learning.checkpoints import load_state, save_state
from rote.model import Model, prepare
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput
from tests.learning.small import chains, start

COSTS = (
    "queries",
    "solver_calls",
    "hits",
    "distinct_outputs",
    "testing_seconds",
    "solving_seconds",
)


@cache
def sentences(count=10):
    xs = [s for s in english_sentences(60, seed=4) if len(s.entities) <= 3][:count]
    task = EntityRelation()
    return task, prepare(task, xs, [EntityRelationOutput.of(x) for x in xs])


def remembering(certificate="auto", **settings):
    return Amortized(certificate=certificate, admission="always", **settings)


def begun(engine=None, data=None):
    task, prepared = data or sentences()
    return Model(task, prepared.layout, prepared.layout.zeros(), engine or remembering()), prepared


def states_of(learner, engine=None, state=None, data=None):
    model, prepared = begun(engine, data)
    return [now.kept() for now in learner.iterate(model, prepared, state)]


def same_states(ours, theirs):
    assert [state.iteration for state in ours] == [state.iteration for state in theirs]
    assert [state.done for state in ours] == [state.done for state in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one.weights.tobytes() == other.weights.tobytes()


# -- schedules -------------------------------------------------------------------------------


def test_the_schedule_of_the_paper_is_the_default_of_adaptive():
    assert adaptive_schedule() == (EpsilonStage(10.0), EpsilonStage(0.1), EpsilonStage(0.0))
    assert adaptive_schedule(3.0, 0.0) == (EpsilonStage(3.0), EpsilonStage(0.0))


def test_a_geometric_schedule_shrinks_each_iteration_and_ends_with_zero():
    assert geometric(2.0, 0.1, 2) == (EpsilonStage(2.0, 1), EpsilonStage(0.2, 1), EpsilonStage(0.0))


def test_exact_at_times_begins_after_so_many_iterations():
    assert exact_at_times(0.5, every=10, after=3) == (
        EpsilonStage(0.5, 3),
        EpsilonStage(0.5, None, 10),
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: geometric(0.0, 0.5, 3), "first is a number above 0"),
        (lambda: geometric(1.0, 0.0, 3), "factor is a number above 0"),
        (lambda: geometric(1.0, 1.0, 3), "factor is a number above 0 and below 1"),
        (lambda: geometric(1.0, 0.5, 0), "steps is a whole number of at least 1"),
        (lambda: geometric(1.0, 0.5, 1.5), "steps is a whole number of at least 1"),
        (lambda: exact_at_times(1.0, 0, 3), "every is a whole number of at least 1"),
        (lambda: exact_at_times(1.0, 3, 0), "after is a whole number of at least 1"),
        *(
            (lambda stages=stages: EpsilonSchedule(Perceptron(), stages), "of EpsilonStage")
            for stages in ((), (1.0,), [(0.5, 3)], EpsilonStage(0.5))
        ),
        *(
            (lambda epsilon=epsilon: EpsilonStage(epsilon), "epsilon is a number of at least 0")
            for epsilon in (-1.0, np.inf, np.nan)
        ),
        (lambda: EpsilonStage(0.0, 0), "iterations is a whole number"),
        (lambda: EpsilonStage(0.0, 2.5), "iterations is a whole number"),
        (lambda: EpsilonStage(1.0, None, 0), "exact_period is a whole number"),
        (lambda: EpsilonSchedule(Perceptron), "learner is one such as"),
    ],
)
def test_schedules_that_cannot_be_are_refused(make, message):
    with pytest.raises(SettingError, match=message):
        make()


def test_an_engine_that_remembers_nothing_is_refused():
    with pytest.raises(SettingError, match=r"of an Amortized engine; the model has Exact\("):
        states_of(EpsilonSchedule(Perceptron()), Exact())


# -- stages in order -------------------------------------------------------------------------


def test_one_stage_of_zero_is_the_learner_itself():
    for learner in (
        StructuredSVM(iterations=8, online_epochs=0),
        StructuredSVM(iterations=8, squared=False),
        Perceptron(iterations=5),
        Perceptron(iterations=5, update="largest", average=False),
        Subgradient(iterations=4),
    ):
        alone = states_of(learner, Exact())
        for certificate in ("auto", "condition"):
            same_states(states_of(EpsilonSchedule(learner), remembering(certificate)), alone)


def test_every_stage_lasts_as_long_as_it_says():
    stages = (EpsilonStage(10.0, 2), EpsilonStage(1.0, 3), EpsilonStage(0.1, 1), EpsilonStage(0.0))
    learner = StructuredSVM(C=1.0, delta=1e-3, iterations=9, online_epochs=0)
    states = states_of(EpsilonSchedule(learner, stages), remembering("condition"))
    used = [state.measures["epsilon"] for state in states]
    assert used == [10.0] * 2 + [1.0] * 3 + [0.1] + [0.0] * 3
    assert [state.iteration for state in states] == list(range(1, 10))


@pytest.mark.parametrize("certificate", ["condition", "auto"])
def test_adaptive_stages_end_at_the_stop_rule_and_only_the_last_is_done(certificate):
    learner = EpsilonSchedule(
        StructuredSVM(C=0.1, delta=0.1, iterations=100, online_epochs=0), adaptive_schedule()
    )
    states = states_of(learner, remembering(certificate))
    used = [state.measures["epsilon"] for state in states]
    assert used == sorted(used, reverse=True)
    assert set(used) == {10.0, 0.1, 0.0}
    assert [state.done for state in states] == [False] * (len(states) - 1) + [True]
    for before, after in pairwise(states):
        if before.measures["epsilon"] != after.measures["epsilon"]:
            assert before.measures["added"] == 0  # nothing was left to add under the larger ε


def test_stages_after_the_learners_own_limit_are_not_reached():
    learner = EpsilonSchedule(
        Perceptron(iterations=3), (EpsilonStage(1.0, 2), EpsilonStage(0.5, 5), EpsilonStage(0.0))
    )
    states = states_of(learner, remembering("condition"))
    assert len(states) <= 3
    limited = EpsilonSchedule(Subgradient(iterations=4), (EpsilonStage(1.0, 4), EpsilonStage(0.0)))
    assert [s.measures["epsilon"] for s in states_of(limited)] == [1.0] * 4


def test_the_last_stage_may_be_limited_too():
    learner = StructuredSVM(C=1.0, delta=1e-6, iterations=50, online_epochs=0)
    states = states_of(EpsilonSchedule(learner, (EpsilonStage(0.0, 2), EpsilonStage(0.0, 3))))
    assert len(states) == 5
    same_states(states, states_of(dataclasses.replace(learner, iterations=5), Exact()))


# -- what an iteration costs -----------------------------------------------------------------


def test_measures_are_what_each_iteration_cost():
    engine = remembering("condition")
    states = states_of(EpsilonSchedule(StructuredSVM(iterations=6, online_epochs=0)), engine)
    for state in states:
        assert state.measures["queries"] == len(sentences()[1])
        assert "primal" in state.measures
    for name in COSTS:
        whole = getattr(engine.counters, name)
        whole = sum(whole.values()) if name == "hits" else whole
        assert sum(state.measures[name] for state in states) == pytest.approx(whole)


def test_what_the_caller_asks_between_iterations_is_not_counted():
    engine = remembering()
    model, prepared = begun(engine)
    found = []
    for state in EpsilonSchedule(StructuredSVM(iterations=4, online_epochs=0)).iterate(
        model, prepared
    ):
        found.append(state.measures["queries"])
        model.with_weights(state.weights).answers(prepared)
    assert found == [len(prepared)] * len(found)


def test_the_state_at_the_end_of_a_stage_stays_what_it_was():
    stages = (EpsilonStage(0.0, 2), EpsilonStage(0.0, 2))
    learner = StructuredSVM(C=1.0, iterations=4, online_epochs=0)
    model, prepared = begun()
    unasked = list(EpsilonSchedule(learner, stages).iterate(model, prepared))
    kept = states_of(EpsilonSchedule(learner, stages))
    assert unasked[1].weights.tobytes() == kept[1].weights.tobytes()


# -- resuming --------------------------------------------------------------------------------


def test_a_run_resumed_after_the_rough_stages_makes_the_same_steps(tmp_path):
    learner = EpsilonSchedule(
        StructuredSVM(C=0.1, delta=0.05, online_epochs=0), adaptive_schedule()
    )
    states = states_of(learner, remembering("condition"))
    for k, state in enumerate(states):
        if states[min(k + 1, len(states) - 1)].measures["epsilon"] > 0:
            continue  # with ε > 0 answers depend on what is remembered
        save_state(state, tmp_path / "state")
        rest = states_of(learner, remembering("auto"), load_state(tmp_path / "state"))
        same_states(rest, states[k + 1 :])


def test_a_state_remembers_the_stage_it_is_in():
    stages = (EpsilonStage(1.0, 2), EpsilonStage(0.5, 2), EpsilonStage(0.0))
    learner = EpsilonSchedule(
        StructuredSVM(C=1.0, delta=1e-3, iterations=6, online_epochs=0), stages
    )
    states = states_of(learner, remembering("condition"))
    expected = [state.measures["epsilon"] for state in states]
    assert expected == [1.0, 1.0, 0.5, 0.5, 0.0, 0.0]
    for k, state in enumerate(states[:-1]):
        rest = states_of(learner, remembering("condition"), state)
        assert [now.measures["epsilon"] for now in rest] == expected[k + 1 :]


def test_states_of_other_learners_and_longer_schedules_are_refused():
    plain = states_of(StructuredSVM(iterations=2), Exact())[-1]
    with pytest.raises(SettingError, match="not that of an EpsilonSchedule"):
        states_of(EpsilonSchedule(StructuredSVM(iterations=4)), state=plain)
    long = EpsilonSchedule(
        StructuredSVM(C=1.0, iterations=3),
        (EpsilonStage(0.0, 1), EpsilonStage(0.0, 1), EpsilonStage(0.0)),
    )
    state = states_of(long)[-1]
    with pytest.raises(SettingError, match="a schedule with more than 1 stages"):
        states_of(EpsilonSchedule(StructuredSVM(C=1.0, iterations=9)), state=state)


# -- where it ends ---------------------------------------------------------------------------


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize(
    "stages",
    [
        adaptive_schedule(),
        geometric(10.0, 0.3, 5),
        (*exact_at_times(1.0, every=3, after=4)[:1], EpsilonStage(1.0, 4, 3), EpsilonStage(0.0)),
    ],
    ids=["adaptive_schedule", "geometric", "exact at times"],
)
@pytest.mark.parametrize("certificate", ["condition", "auto"])
def test_stages_that_end_with_zero_reach_the_optimum_of_exact_training(
    squared, stages, certificate
):
    task, xs, ys = chains(3, count=8)
    learner = StructuredSVM(
        C=0.3, squared=squared, delta=1e-7, iterations=2000, passes=300, online_epochs=0
    )
    exact = states_of(learner, Exact(), data=(task, start(task, xs, ys)[1]))[-1]
    engine = remembering(certificate)
    states = states_of(
        EpsilonSchedule(learner, stages), engine, data=(task, start(task, xs, ys)[1])
    )
    assert exact.done
    assert states[-1].done
    assert states[-1].measures["epsilon"] == 0.0
    assert states[-1].measures["dual"] == pytest.approx(exact.measures["dual"], rel=1e-6)
    assert states[-1].measures["primal"] == pytest.approx(exact.measures["primal"], rel=1e-5)


def test_epsilon_alone_may_end_below_the_optimum_and_solves_less():
    learner = StructuredSVM(C=0.1, delta=0.01, iterations=200, online_epochs=0)
    exact = states_of(learner, Exact())[-1]
    rough_engine, fine_engine = remembering("condition"), remembering("condition")
    rough = states_of(EpsilonSchedule(learner, adaptive_schedule(10.0)), rough_engine)[-1]
    fine = states_of(EpsilonSchedule(learner, adaptive_schedule(10.0, 0.0)), fine_engine)[-1]
    assert rough.measures["dual"] < fine.measures["dual"]
    assert fine.measures["dual"] == pytest.approx(exact.measures["dual"], rel=1e-3)
    assert rough_engine.counters.solver_calls < fine_engine.counters.solver_calls


# -- afterwards ------------------------------------------------------------------------------
