"""Methods beside the speed-up: who takes part, what is chosen without test, and how it is timed."""

from dataclasses import replace

import numpy as np
import pytest

from papers.ma2019.tasks import Examples
from papers.pan2018 import methods as pan_methods
from papers.pan2018.methods import (
    Licensed,
    Method,
    OneByOne,
    Trial,
    choose,
    differences,
    gurobi_for,
    in_turn,
    skipping,
    validity,
)
from papers.pan2018.stream import SENTENCES, Share, ready
from rote import (
    Beam,
    Engine,
    EntityRelationOutput,
    Exact,
    LearnedBeam,
    MissingDependency,
    UnsupportedSpace,
    distill,
)

TRIAL = Trial(Share(250, 200, 5, (0.1,)), (1, 2), (0.1, 0.01), (0.0, 0.1, 5.0), (1,), runs=2)


@pytest.fixture(scope="module")
def case():
    return ready(SENTENCES, TRIAL.share, 0)


@pytest.fixture(scope="module")
def stream(case):
    return case.trial.prepare(case.stream)


class Refusing(Engine):
    """Stands for Gurobi with a licence for so many variables; without one, it is not there."""

    def __init__(self, most: int | None) -> None:
        self.most, self.solved = most, 0

    def answer(self, problem, context):
        if self.most is None:
            raise MissingDependency("gurobipy is not installed")
        if len(problem.space.variables) > self.most:
            raise UnsupportedSpace("too large for the licence")
        self.solved += 1
        return Exact().answer(problem, context)


def test_the_step_with_which_answers_agree_best_is_chosen(case, stream):
    own = choose(case, 2, stream, TRIAL, 0)
    xs = case.held_out.xs
    by_box = case.trial.predict(xs)
    agreement = {}
    for step in TRIAL.steps:
        speedup = LearnedBeam(Exact(), 2, step=step)
        distill(case.trial.with_engine(speedup), stream, epochs=TRIAL.epochs)
        found = case.trial.with_engine(speedup).predict(xs)
        agreement[step] = case.measures(by_box, found)["relation_f1"]
    assert own.step == max(TRIAL.steps, key=lambda step: agreement[step])
    assert own.agreement == agreement[own.step]


def test_of_thetas_that_lose_little_the_one_that_skips_most_is_chosen(case, stream):
    own = choose(case, 2, stream, TRIAL, 0)
    speedup = LearnedBeam(Exact(), 2, step=own.step)
    distill(case.trial.with_engine(speedup), stream, epochs=TRIAL.epochs)

    def lazy(theta: float | None):
        return case.trial.with_engine(speedup.with_theta(theta))

    def reached(theta: float | None) -> float:
        found = lazy(theta).predict(case.held_out.xs)
        return case.measures(case.held_out.ys, found)["relation_f1"]

    bar = reached(None) - pan_methods.LOSS
    enough = [theta for theta in TRIAL.thetas if reached(theta) >= bar]
    assert reached(0.0) < bar  # or there would be nothing to choose
    skipped = {theta: skipping(lazy(theta), case.held_out.xs)[1] for theta in enough}
    assert own.theta == max(skipped, key=skipped.get)
    assert own.skipped == skipped[own.theta]


def test_no_theta_is_chosen_where_none_is_good_enough_or_none_is_asked_for(case, stream):
    assert choose(case, 1, stream, replace(TRIAL, steps=(0.01,), thetas=()), 0).theta is None
    assert choose(case, 1, stream, replace(TRIAL, steps=(0.01,), thetas=(0.0,)), 0).theta is None


def test_what_is_chosen_does_not_hang_on_test(case, stream):
    other = replace(case, test=Examples((), ()), black_box=case.trial)
    assert choose(other, 1, stream, TRIAL, 0) == choose(case, 1, stream, TRIAL, 0)


def test_gurobi_takes_part_if_its_licence_allows_most_inputs(case, monkeypatch):
    model, xs = case.black_box, case.test.xs
    sizes = sorted(len(x.entities) ** 2 for x in xs)
    for most, takes_part in ((None, False), (sizes[0] - 1, False), (sizes[-1], True)):
        monkeypatch.setattr(pan_methods, "Milp", lambda solver, most=most: Refusing(most))
        engine, allowed = gurobi_for(model, xs)
        assert (engine is not None) is takes_part
        assert allowed == (len(xs) if takes_part else 0)


def test_what_the_licence_does_not_allow_is_answered_all_the_same(case, monkeypatch):
    monkeypatch.setattr(pan_methods, "Milp", lambda solver: Refusing(4))
    engine = Licensed()
    prepared = case.black_box.prepare(case.test.xs)
    allowed = [engine.allows(group.space) for group in prepared.groups]
    assert allowed == [len(group.space.variables) <= 4 for group in prepared.groups]
    assert engine.gurobi.solved == sum(allowed)
    model = case.black_box.with_engine(engine)
    assert model.predict(case.test.xs) == case.black_box.predict(case.test.xs)
    assert engine.gurobi.solved == 2 * sum(allowed)


def test_methods_are_timed_in_turn_and_the_first_run_is_left_out(case):
    order = []

    class Watched(Engine):
        def __init__(self, name: str) -> None:
            self.name = name

        def answer(self, problem, context):
            order.append(self.name)
            return Exact().answer(problem, context)

    spaces = len(case.black_box.prepare(case.test.xs).groups)
    reached = in_turn(case, [Method(name, Watched(name)) for name in "ab"], runs=2)
    assert (
        order
        == ["a"] * 2 * spaces + ["b"] * 2 * spaces + (["a"] * 2 * spaces + ["b"] * 2 * spaces) * 2
    )
    for found in reached.values():
        assert len(found.milliseconds) == len(found.search_milliseconds) == 2
        assert min(found.milliseconds) > 0
        assert (found.validity_before, found.validity, found.skipped) == (1, 1, 0)


def test_validity_is_told_before_and_after_repair_and_what_was_skipped(case, stream):
    speedup = LearnedBeam(Exact(), 1, step=0.01)
    distill(case.trial.with_engine(speedup), stream, epochs=1)
    lazy = speedup.with_theta(0.02)
    methods = [Method("all", speedup), Method("some", lazy), Method("free", Beam(1), rules=False)]
    reached = in_turn(case, methods, runs=1)
    assert reached["all"].validity == reached["some"].validity == 1
    assert reached["all"].validity_before < 1
    assert reached["free"].validity == reached["free"].validity_before < 1
    assert reached["all"].skipped == 0
    prepared = case.black_box.prepare(case.test.xs)
    problems = [prepared.problem(case.black_box.weights, group) for group in prepared.groups]
    searched = [lazy.searched(problem.space, problem) for problem in problems]
    was_feasible = np.concatenate([beams.is_feasible for beams in searched])
    assert reached["some"].validity_before == pytest.approx(was_feasible.mean())
    assert not was_feasible.all()
    # Where an output was repaired, all vectors were computed in the end; each decision has one.
    left_out = sum(int(beams.skipped[beams.is_feasible].sum()) for beams in searched)
    vectors = sum(len(x.entities) ** 2 for x in case.test.xs)
    assert reached["some"].skipped == pytest.approx(100 * left_out / vectors)
    assert 0 < left_out < sum(int(beams.skipped.sum()) for beams in searched)


def test_validity_is_a_share_of_outputs(case):
    xs = [x for x in case.test.xs if len(x.entities) >= 2][:2]
    kinds = [("Other",) * len(x.entities) for x in xs]
    ys = [EntityRelationOutput(kinds[0], {}), EntityRelationOutput(kinds[1], {(0, 1): "Kill"})]
    assert validity(case.black_box, xs, ys) == 0.5


def test_answers_that_differ_from_the_programs_are_counted(case, stream, monkeypatch):
    assert differences(case.trial, stream, 0) == (0, len(case.stream))

    class Wrong(Engine):
        def answer(self, problem, context):
            return Exact().solve(problem.space, -problem.scores)

    differ, looked_at = differences(case.trial.with_engine(Wrong()), stream, 0)
    assert 0 < differ <= looked_at
    monkeypatch.setattr(pan_methods, "SAMPLE", 10)
    assert differences(case.trial, stream, 0) == (0, 10)


def test_programs_solved_one_by_one_give_the_same_answers(case):
    prepared = case.black_box.prepare(case.test.xs)
    for group in prepared.groups:
        problem = prepared.problem(case.black_box.weights, group)
        one, other = (engine.solve(group.space, problem) for engine in (OneByOne(), Exact()))
        np.testing.assert_allclose(one.value, other.value)
        assert group.space.holds(one.labels).all()
