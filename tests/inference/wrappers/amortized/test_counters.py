"""Counters add up, and say what was done."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from rote.engines import BranchAndBound, Exact, Problem, clamp
from rote.inference.engine import Engine
from rote.inference.stores import MemoryStore
from rote.inference.wrappers.amortized import Amortized, Counters, EqualScores
from rote.inference.wrappers.amortized.counters import AmortizedStats
from rote.space import SpaceBuilder
from rote.tasks.entity_relation import entity_relation_space
from tests.strategies import Judge

EARLIER = Counters(10, 4, {"duals": 5, "same": 1}, 2, 3, 1, 0.5, 0.25, 2.0, 5, 1, 4)
LATER = Counters(17, 6, {"duals": 9, "same": 1, "margin": 1}, 2, 4, 1, 0.75, 0.5, 3.0, 9, 2, 6)


@dataclass(frozen=True)
class Counted(Engine):
    """An exact engine that keeps the scores it was asked about, but for those about margins."""

    asked: list = field(default_factory=list)
    narrowed: list = field(default_factory=list)  # how many inputs with closed labels, call by call

    def answer(self, problem, context):
        if problem.closed is not None:
            self.narrowed.append(len(problem))
        else:
            self.asked.extend(row.tobytes() for row in problem.scores)
        return Exact().answer(problem, context)


def moving(space, steps=6, inputs=10, seed=0, repeats=False):
    """Batches that move slowly, after one of equal inputs; with repeats, half are others again."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(inputs, space.parts))
    yield np.zeros_like(scores)
    for _ in range(steps):
        scores = scores + 0.1 * rng.normal(size=scores.shape)
        if repeats:
            scores[inputs // 2 :] = scores[: inputs - inputs // 2]
        yield scores


# -- arithmetic ------------------------------------------------------------------------------


def test_a_difference_is_what_happened_between():
    between = LATER - EARLIER
    assert between == Counters(7, 2, {"duals": 4, "margin": 1}, 0, 1, 0, 0.25, 0.25, 3.0, 4, 1, 2)
    assert EARLIER + between == LATER


def test_nothing_has_happened_at_first():
    nothing = Counters()
    assert nothing + EARLIER == EARLIER == EARLIER - nothing
    assert (nothing.seconds, LATER.seconds) == (0.0, 1.25)
    assert (EARLIER - EARLIER).hits == {}


def test_stats_grow_and_what_was_read_from_them_does_not():
    stats = AmortizedStats()
    assert stats.counters() == Counters()
    stats.add(queries=3)
    stats.hit("same", 2)
    before = stats.counters()
    stats.hit("same", 1)
    stats.hit("duals", 1)
    stats.reach(4.0)
    assert before == Counters(3, hits={"same": 2})
    assert stats.counters() == Counters(3, hits={"same": 3, "duals": 1}, largest_m=4.0)


# -- what an engine counts -------------------------------------------------------------------

CERTIFICATES = ["auto", "condition", "algorithm 1", "relative", "duals", "margin", "none"]


@pytest.mark.parametrize("certificate", CERTIFICATES)
def test_queries_are_hits_and_calls_and_repeats_within_a_batch(certificate):
    space, beneath = entity_relation_space(2), Counted()
    engine = Amortized(beneath, certificate=certificate, admission="always")
    asked = 0
    for scores in moving(space):
        engine.solve(space, scores)
        asked += len(scores)
        counters = engine.counters
        assert counters.queries == asked
        assert counters.solver_calls == len(beneath.asked) + counters.second_bests
        repeats = asked - len(beneath.asked) - sum(counters.hits.values())
        assert 0 <= repeats <= 9  # only the ten zeros of the first batch are equal
        assert counters.bypassed == 0
    if certificate == "none":
        assert counters.solver_calls == counters.queries


@pytest.mark.parametrize("certificate", ["auto", "condition", "margin"])
def test_equal_inputs_of_a_batch_are_solved_once_and_asked_each(certificate):
    space, beneath = entity_relation_space(2), Counted()
    engine = Amortized(beneath, certificate=certificate, admission="always")
    for scores in moving(space, repeats=True):
        found = engine.solve(space, scores)
        assert found.labels.tolist() == Exact().solve(space, scores).labels.tolist()
    counters = engine.counters
    assert len(beneath.asked) == len(set(beneath.asked))
    assert len(beneath.asked) == counters.solver_calls - counters.second_bests
    assert engine.counters.queries == 70


def test_without_certificates_every_input_is_solved_equal_or_not():
    space, beneath = entity_relation_space(2), Counted()
    engine = Amortized(beneath, certificate="none", admission="always")
    engine.solve(space, np.zeros((9, space.parts)))
    assert len(beneath.asked) == engine.counters.solver_calls == 9


def test_inputs_with_closed_labels_are_each_solved():
    space, beneath = entity_relation_space(2), Counted()
    engine = Amortized(beneath, certificate=(EqualScores(),), admission="always")
    for _ in range(2):
        engine.solve(space, clamp(space, np.zeros((4, space.parts)), {"e0": "Loc"}))
    assert sum(beneath.narrowed) == engine.counters.solver_calls == engine.counters.queries == 8


@pytest.mark.parametrize("certificate", CERTIFICATES)
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_new_outputs_are_the_distinct_answers_of_each_space(certificate, epsilon):
    engine = Amortized(certificate=certificate, epsilon=epsilon, admission="always")
    seen: set[object] = set()
    for n in (1, 2):
        space = entity_relation_space(n)
        for k, scores in enumerate(moving(space, seed=n)):
            asked = clamp(space, scores, {"e0": "Org"}) if k == 3 else scores
            seen |= {(n, *labels) for labels in engine.solve(space, asked).labels.tolist()}
            assert engine.counters.distinct_outputs == len(seen)


def test_an_output_that_came_from_a_store_is_new_when_it_is_first_given():
    space, store = entity_relation_space(2), MemoryStore()
    scores = np.random.default_rng(1).normal(size=(5, space.parts))
    engines = [
        Amortized(store=store, certificate=(EqualScores(),), admission="always") for _ in range(2)
    ]
    first, second = (engine.solve(space, scores) for engine in engines)
    assert first.labels.tolist() == second.labels.tolist()
    assert engines[0].counters.distinct_outputs == len(set(map(tuple, first.labels.tolist())))
    assert engines[1].counters.solver_calls == 0


def test_differences_of_iterations_add_up_to_the_whole():
    space = entity_relation_space(2)
    engine = Amortized(admission="always")
    before, parts = engine.counters, []
    for scores in moving(space):
        engine.solve(space, scores)
        parts.append(engine.counters - before)
        before = engine.counters
    assert [part.queries for part in parts] == [10] * 7
    whole = sum(parts, Counters())
    assert whole.hits == engine.counters.hits
    assert whole.solver_calls == engine.counters.solver_calls
    assert whole.distinct_outputs == engine.counters.distinct_outputs
    assert whole.seconds == pytest.approx(engine.counters.seconds)


def test_margins_that_a_search_has_to_find_are_counted():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(3)]
    for j in range(3):
        builder.factor(variables[j], variables[j - 1])
    space = builder.build()
    # Of three that want to differ, two agree: the relaxation says none has to, and ties abound.
    scores = np.zeros((1, space.parts))
    scores[0, 6:] = np.tile([0.0, 1.0, 1.0, 0.0], 3)
    for certificate, searched in (("margin", 1), ("condition", 1), ("auto", 0), ("duals", 0)):
        engine = Amortized(BranchAndBound(), certificate=certificate, admission="always")
        engine.solve(space, scores)
        assert engine.counters.second_bests == searched
    engine = Amortized(BranchAndBound(), certificate="margin", epsilon=1.0, admission="always")
    engine.solve(space, scores)
    assert engine.counters.second_bests == 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("certificate", ["condition", "relative"])
def test_the_largest_m_bounds_the_loss_of_every_output_as_in_theorem_1(epsilon, certificate):
    space = entity_relation_space(2)
    judge, rng = Judge(space), np.random.default_rng(3)
    engine = Amortized(certificate=certificate, epsilon=epsilon, admission="always")
    scores, taken = 1.0 + rng.random(size=(6, space.parts)), 0
    for _ in range(8):
        scores = scores + 0.05 * rng.normal(size=scores.shape)
        found = engine.solve(space, Problem(space, scores))
        for i in np.flatnonzero(~found.optimal):
            taken += 1
            best = judge.best(scores[i]).value
            assert best <= (1 + engine.counters.largest_m * epsilon) * found.value[i] + 1e-9
    assert taken > 0
    assert engine.counters.largest_m > 0


def test_the_largest_m_of_a_difference_is_of_what_happened_between():
    stats, snapshots = AmortizedStats(), [Counters()]
    reached = [3.0, 7.0, 0.0, 5.0, 5.0, 1.0, 6.0, 2.0]
    for m in reached:
        stats.add(queries=2)
        stats.reach(m)
        snapshots.append(stats.counters())
    for start in range(len(snapshots)):
        for end in range(start, len(snapshots)):
            between = snapshots[end] - snapshots[start]
            assert between.largest_m == max(reached[start:end], default=0.0)
    assert (snapshots[8] - snapshots[7] + (snapshots[6] - snapshots[5])).largest_m == 2.0
