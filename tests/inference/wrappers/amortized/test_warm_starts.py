"""Warm starts: questions with names and without, equal questions, limits, stores, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rote.engines import BranchAndBound, Exact, FoundBy, Status, clamp
from rote.inference.engine import Capability, Engine
from rote.inference.exact import exact
from rote.inference.exact.branch import restarts
from rote.inference.exact.hardness import LONG_SEARCH, memory_of
from rote.inference.problem import Context, Problem, WarmStart
from rote.inference.stores import MemoryStore, SqliteStore
from rote.inference.wrappers.amortized import Amortized
from rote.inference.wrappers.amortized.warm_starts import Start, WarmStarts
from rote.space import SpaceBuilder
from tests.strategies import Judge, problems


@dataclass(frozen=True)
class Started(Engine):
    """Branch and bound that notes what it was given to start from, and records duals."""

    seen: list = field(default_factory=list)

    capabilities = frozenset({Capability.WARM_STARTS})

    def warm_starts(self, space):
        return True

    def answer(self, problem, context):
        self.seen.append(context)
        found = BranchAndBound().answer(problem, replace(context, warm=None))
        if not context.record:
            return found
        return replace(found, duals=BranchAndBound().duals(problem.space, problem))


@pytest.fixture(scope="module")
def space():
    """A grid of three by three."""
    builder = SpaceBuilder()
    x = {(i, j): builder.variable(f"x{i}{j}", "abc") for i in range(3) for j in range(3)}
    for (i, j), own in x.items():
        for other in (x.get((i + 1, j)), x.get((i, j + 1))):
            if other is not None:
                builder.factor(own, other)
    return builder.build()


def drawn(space, m=3, seed=0):
    return np.random.default_rng(seed).normal(size=(m, space.parts))


def same(ours, theirs):
    for one, other in zip(ours.arrays[:4], theirs.arrays[:4], strict=True):
        assert one.tolist() == other.tolist()


def test_a_named_question_starts_from_its_own_last_answer(space):
    engine = Amortized(Started())
    keys = ["x", "y", "z"]
    first, scores = {}, drawn(space)
    for step in range(3):
        moved = scores + 0.01 * step * drawn(space, seed=step)
        order = np.random.default_rng(step).permutation(3)
        named = Context(keys=[keys[k] for k in order])
        found = engine.solve(space, moved[order], named)
        same(found, Exact().solve(space, moved[order]))
        assert found.duals is None
        warm = engine.inner.seen[-1].warm
        if step:
            assert [labels.tolist() for labels in warm.incumbent] == [first[k] for k in order]
            assert warm.duals.messages.any(axis=1).all()
        else:
            assert warm is None
        first = dict(zip(order, found.labels.tolist(), strict=True))
    counters = engine.counters
    assert (counters.reused, counters.warm, counters.cold) == (0, 6, 3)
    assert counters.queries == 9


def test_one_without_a_name_starts_from_the_output_that_is_best_for_it(space):
    engine, scores = Amortized(Started()), drawn(space, 5)
    answers = engine.solve(space, scores)
    engine.solve(space, scores[[3, 1]] + 1e-3)
    (start,) = (context.warm for context in engine.inner.seen[1:])
    assert start.incumbent.tolist() == answers.labels[[3, 1]].tolist()
    assert engine.counters.warm == 2


def test_the_same_question_again_is_answered_from_memory(space):
    engine, scores = Amortized(Started()), drawn(space)
    for context in (Context(keys=[1, 2, 3]), Context()):
        first = engine.solve(space, scores, context)
        calls = len(engine.inner.seen)
        again = engine.solve(space, scores, context)
        same(again, first)
        assert len(engine.inner.seen) == calls
        assert (again.source == FoundBy.CACHE).all()
    mixed = np.concatenate([scores[:2], scores[2:] + 1.0])
    found = engine.solve(space, mixed, Context(keys=[1, 2, 3]))
    same(found, Exact().solve(space, mixed))
    assert found.source.tolist()[:2] == [FoundBy.CACHE] * 2
    assert len(engine.inner.seen[-1].warm.incumbent) == 1


def test_closed_labels_are_another_question_and_not_remembered(space):
    engine, scores = Amortized(Started()), drawn(space)
    engine.solve(space, scores, Context(keys=[1, 2, 3]))
    names = [variable.name for variable in space.variables]
    asked = clamp(space, scores, {names[0]: "b"})
    for _ in range(2):
        found = engine.solve(space, asked, Context(keys=[1, 2, 3]))
        same(found, Exact().solve(space, asked))
        assert not engine.inner.seen[-1].record
    assert len(engine.inner.seen) == 3
    assert (
        engine.solve(space, scores, Context(keys=[1, 2, 3])).source.tolist() == [FoundBy.CACHE] * 3
    )


def test_answers_without_a_proof_come_back_with_their_bound(space):
    class Unproved(Started):
        def answer(self, problem, context):
            found = super().answer(problem, context)
            return replace(
                found, bound=found.value + 0.5, status=np.full(len(problem), Status.FEASIBLE)
            )

    engine, scores = Amortized(Unproved()), drawn(space)
    first, again = (engine.solve(space, scores, Context(keys=[1, 2, 3])) for _ in range(2))
    same(again, first)
    assert engine.counters.reused == 3


def test_what_is_remembered_is_within_the_limit(space):
    one = 8 * (3 * space.parts + 500)
    engine = Amortized(Started(), max_bytes=4 * one)
    for step in range(20):
        scores = drawn(space, 4, step)
        found = engine.solve(space, scores, Context(keys=[f"{step}-{k}" for k in range(4)]))
        same(found, Exact().solve(space, scores))
        assert engine._state.caches._size <= engine.max_bytes
        (cache,) = engine._state.caches._caches.values()
        assert engine._state.caches._size == cache.size
    assert 0 < len(cache.starts) < 80


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_others_start_from_what_is_in_the_store(space, kind, tmp_path):
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "store.sqlite")
    one, other = (Amortized(Started(), store) for _ in range(2))
    scores = drawn(space)
    found = one.solve(space, scores, Context(keys=[1, 2, 3]))
    assert (other.solve(space, scores).source == FoundBy.CACHE).all()
    other.solve(space, scores + 1e-3)
    assert other.inner.seen[-1].warm.incumbent.tolist() == found.labels.tolist()


def test_damaged_and_hostile_entries_are_passed_over(space):
    store = MemoryStore()
    one = Amortized(Started(), store)
    scores = drawn(space)
    one.solve(space, scores)
    ((log, _),) = store.info().items()
    blobs = store.read(log)[0]
    worse = [b"", blobs[0][:-3], blobs[0][::-1], bytes(len(blobs[0])), b"\xff" * 4096]
    store.append(log, worse)
    other = Amortized(Started(), store)
    same(other.solve(space, scores + 0.1), Exact().solve(space, scores + 0.1))
    (cache,) = other._state.caches._caches.values()
    assert len(cache.starts) == 6


def test_threads_share_one_memory(space):
    engine, exact = Amortized(Started()), Exact()
    batches = [(drawn(space, 4, seed), range(seed % 3, seed % 3 + 4)) for seed in range(12)]

    def solved(batch):
        return engine.solve(space, batch[0], Context(keys=batch[1]))

    with ThreadPoolExecutor(4) as pool:
        for (scores, _), found in zip(batches, pool.map(solved, batches), strict=True):
            same(found, exact.solve(space, scores))
    assert engine.counters.queries == 48


def test_an_input_without_an_output_is_not_remembered(space):
    engine = Amortized(Started())
    closed = np.zeros((2, space.labels), dtype=np.bool_)
    closed[0, : len(space.variables[0].labels)] = True
    asked = Problem(space, drawn(space, 2), closed)
    assert engine.solve(space, asked).status.tolist() == [Status.INFEASIBLE, Status.OPTIMAL]
    assert not engine.counters.reused


def test_scores_that_change_are_kept_once_they_stay(space):
    engine, (one, other) = Amortized(Started()), drawn(space, 2)
    named = Context(keys=["x"])
    reused = []
    for scores in (one, one, other, other, other, one, one, one):
        same(engine.solve(space, scores, named), Exact().solve(space, scores))
        reused.append(engine.counters.reused)
    assert reused == [0, 1, 1, 1, 2, 2, 2, 3]
    (cache,) = engine._state.caches._caches.values()
    assert cache.size == sum(start.size for start in cache.starts.values())


# -- spaces that are searched: what took long is remembered -----------------------------------


@pytest.fixture
def searching(monkeypatch):
    """`Exact` searches every space, all are hard, and to start from an answer pays."""
    monkeypatch.setattr(exact, "route_of", lambda _: exact.Route(None, False, None, False, False))
    monkeypatch.setattr(exact, "_is_hard", lambda _: True)
    monkeypatch.setattr(WarmStarts, "pays", True)


@given(problems(inputs=3), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-3, 1.0]))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_search_from_the_last_answer_gives_the_same_to_the_bit(searching, problem, seed, moved):
    space, problem = problem
    if not space.variables or not Judge(space).feasible:
        return
    rng = np.random.default_rng(seed)
    engine, alone = Amortized(Exact()), Exact()
    for step in range(3):
        order = rng.permutation(3)
        scores = problem.scores[order] * (1 + step * moved * rng.normal(size=(3, space.parts)))
        closed = None if problem.closed is None else problem.closed[order]
        asked = Problem(space, scores, closed if step else None)
        context = Context(keys=order.tolist()) if seed % 2 else Context()
        same(engine.solve(space, asked, context), alone.solve(space, asked))
        if step == 1 and restarts(space) and problem.closed is None:
            assert engine.counters.warm + engine.counters.reused


@given(problems(inputs=3), st.integers(0, 2**32 - 1))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_incumbent_does_harm(searching, problem, seed):
    space, problem = problem
    if not space.variables or not Judge(space).feasible:
        return
    shape = 3, len(space.variables)
    incumbent = np.random.default_rng(seed).integers(-1, 1 << (1 + seed % 40), size=shape)
    found = Exact().solve(space, problem, Context(warm=WarmStart(incumbent)))
    same(found, Exact().solve(space, problem))


def test_starts_are_given_while_they_save_time(space):
    cache = WarmStarts(space)
    assert cache.pays
    cache.note([None, None], 2.0)
    some = Start.of(np.zeros((1, 9), np.int64), b"", None, None, 0.0)
    cache.note([some, None], 100.0)  # says nothing of either
    cache.note([some], 0.5)
    assert cache.pays
    for _ in range(10):
        cache.note([some], 1.5)
    assert not cache.pays
    engine = Amortized(Started())
    engine._state.caches._caches[(WarmStarts, space)] = cache
    assert not engine._state.caches.start_pays(space)
    for _ in range(2):
        engine.solve(space, drawn(space), Context(keys=[1, 2, 3]))
    assert engine.counters.warm + engine.counters.reused == 0


def test_answers_to_hard_questions_are_remembered_and_shared(searching, space, tmp_path):
    store = SqliteStore(tmp_path / "store.sqlite")
    one, other = (Amortized(Exact(), store) for _ in range(2))
    scores = drawn(space, 2)
    for step in range(3):
        asked, named = scores * (1 + 0.01 * step), Context(keys=[1, 2])
        same(one.solve(space, asked, named), Exact().solve(space, asked))
    assert (one.counters.cold, one.counters.warm) == (2, 4)
    asked = 1.02 * scores
    same(other.solve(space, asked), Exact().solve(space, asked))
    assert (other.counters.cold, other.counters.reused) == (0, 2)
    ((log, _),) = store.info().items()
    blobs = store.read(log)[0]
    store.append(log, [b"", blobs[0][:-8], blobs[0][::-1], bytes(len(blobs[0])), b"\x7f" * 999])
    for step in range(3):
        asked = drawn(space, 2, step)
        same(other.solve(space, asked), Exact().solve(space, asked))


def test_a_space_is_hard_once_its_search_was_long(monkeypatch):
    builder = SpaceBuilder()
    x = [builder.variable(f"x{j}", "abc") for j in range(5)]
    builder.factor(*x[:3])
    builder.factor(*x[2:])
    space = builder.build()
    monkeypatch.setattr(exact, "route_of", lambda _: exact.Route(None, False, None, False, False))
    engine = Amortized(Exact())
    scores = drawn(space, 1)

    def counts(step):
        asked = scores * (1 + 0.01 * step)
        same(engine.solve(space, asked, Context(keys=["x"])), Exact().solve(space, asked))
        return engine.counters.cold, engine.counters.warm

    assert counts(0) == (1, 0)
    assert counts(1) == (2, 0)
    memory_of(space).note(LONG_SEARCH, 0.0)
    assert counts(2) == (3, 0)  # its answer is the first that is remembered
    assert counts(3) == (3, 1)
    memory_of(space).note(0, 0.0)
