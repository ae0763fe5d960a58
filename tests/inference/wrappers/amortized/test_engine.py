"""`Amortized` answers as the engine underneath does, to the last bit, whatever it remembers."""

from __future__ import annotations

import functools
import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from threading import Barrier
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.datasets import english_sentences
from rote.engines import BranchAndBound, Exact, Exhaustive, FoundBy, Milp, Problem, Status, clamp
from rote.errors import SettingError, UnsupportedSpace
from rote.inference.approximate import RGS, Beam
from rote.inference.engine import Engine, Wrapper, find
from rote.inference.stores import MemoryStore, SqliteStore
from rote.inference.wrappers.amortized import (
    Amortized,
    EqualScores,
    LagrangianCertificate,
    Margin,
    ScoreCondition,
)
from rote.inference.wrappers.amortized.certificates import CERTIFICATES
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.inference.wrappers.decomposed import CustomSets, Decomposed, search
from rote.inference.wrappers.timed import Timed
from rote.learning import Perceptron, StructuredSVM, Subgradient
from rote.model import Model, prepare
from rote.space import SpaceBuilder, at_most
from rote.space.losses import F1Loss
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput, entity_relation_space
from rote.tasks.graphs import Graph, GraphLabelling, grid
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from tests.small_tasks import TAGGING, tagged
from tests.strategies import Judge, rules_as_rows, spaces

FIELDS = ("labels", "value", "bound", "status")
AS_PRINTED = ["algorithm 1", "absolute"]  # which need not tell equal outputs apart
EXACT_ONES = [name for name in CERTIFICATES if name not in ("none", *AS_PRINTED)]
every_certificate = pytest.mark.parametrize("certificate", EXACT_ONES)


def remembering(engine=None, certificate="auto", **settings):
    """An engine that tests every input, whatever the clock says."""
    return Amortized(engine or Exact(), certificate=certificate, admission="always", **settings)


def same_answers(ours, theirs):
    for name in FIELDS:
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name


def drifting(space, seed, steps, inputs=6, far=0.3):
    """Batches of scores as a learner asks them: all zero, then whole, then moving less and less."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(inputs, space.parts))
    yield np.zeros_like(scores)
    yield np.round(scores)
    for step in range(steps):
        yield scores.copy()
        scores += far / (1 + step) * rng.normal(size=scores.shape)


def check_caches(engine):
    """What lies in the caches are problems with their best outputs, and margins are no promise
    that is not kept."""
    for cache in engine._state.caches._caches.values():
        space = cache.space
        judge = Judge(space)
        for row in range(cache.count):
            scores = cache.scores[row]
            labels = tuple(cache.outputs[cache.output_of[row]].tolist())
            assert labels == judge.best(scores).labels
            ranked = judge.ranked(scores)
            if len(ranked) > 1 and cache.margins[row] > 0:
                slip = 1e-9 * max(1.0, np.abs(scores).max())
                assert ranked[0].value - ranked[1].value >= cache.margins[row] - slip


# -- the same answers ------------------------------------------------------------------------


@every_certificate
@pytest.mark.parametrize("rows", [None, 4], ids=["tables", "rows"])
def test_answers_to_drifting_scores_are_those_of_the_engine_underneath(certificate, rows):
    @settings(max_examples=20 if rows is None else 8)
    @given(spaces(least=1, most=4), st.integers(0, 2**31))
    def agrees(space, seed):
        if not Judge(space).feasible:
            return
        engine, exact = remembering(certificate=certificate), Exact()
        for scores in drifting(space, seed, steps=3, inputs=4):
            same_answers(engine.solve(space, scores), exact.solve(space, scores))
        check_caches(engine)

    with rules_as_rows(rows):
        agrees()


@every_certificate
def test_closed_labels_are_another_question(certificate):
    space = entity_relation_space(2)
    engine, exact = remembering(certificate=certificate), Exact()
    rng = np.random.default_rng(2)
    for scores in drifting(space, 2, steps=4, inputs=8):
        given_labels = [{"e0": rng.choice(["Peop", "Loc"])} if i % 2 else {} for i in range(8)]
        for asked in (scores, clamp(space, scores, given_labels), scores):
            same_answers(engine.solve(space, asked), exact.solve(space, asked))
    for cache in engine._state.caches._caches.values():
        expected = exact.solve(space, cache.scores[: cache.count])
        assert cache.outputs[cache.output_of[: cache.count]].tolist() == expected.labels.tolist()


@every_certificate
def test_closed_labels_may_leave_nothing_whatever_is_remembered(certificate):
    space = entity_relation_space(2)
    engine, exact = remembering(certificate=certificate), Exact()
    scores = np.random.default_rng(3).normal(size=(3, space.parts))
    engine.solve(space, scores)
    wrong = {"e0": "Loc", "e1": "Loc", "r0_1": "Kill"}
    asked = clamp(space, scores, [{}, wrong, {"e0": "Org"}])
    found = engine.solve(space, asked)
    same_answers(found, exact.solve(space, asked))
    assert found.status.tolist() == [Status.OPTIMAL, Status.INFEASIBLE, Status.OPTIMAL]
    assert found.value[1] == -np.inf
    closed = np.zeros((3, space.labels), dtype=np.bool_)
    closed[0, :4] = True
    asked = Problem(space, scores, closed)
    same_answers(engine.solve(space, asked), exact.solve(space, asked))


def test_what_fails_is_not_counted():
    class Once(Engine):
        def __init__(self):
            self.engines = [Exact()]

        def answer(self, problem, context):
            if not self.engines:
                raise UnsupportedSpace("no")
            return self.engines.pop().answer(problem, context)

    engine = remembering(Once(), "condition")
    engine.solve(SPACE, SCORES[:3])
    with pytest.raises(UnsupportedSpace):
        engine.solve(SPACE, SCORES)  # three answers are known by now
    counters = engine.counters
    assert (counters.queries, counters.solver_calls, counters.hits) == (3, 3, {})


def test_terms_go_straight_to_the_engine_underneath():
    task = MultiLabel(tuple("abcd"), "complete")
    space = task.frame([]).space
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, size=(5, 4))
    engine = remembering(Exhaustive())
    for scores in drifting(space, 5, steps=3, inputs=5):
        asked = Problem(space, scores, loss_term=F1Loss().term(gold))
        same_answers(engine.solve(space, asked), Exhaustive().solve(space, asked))
        same_answers(engine.solve(space, scores), Exhaustive().solve(space, scores))
    assert engine.counters.bypassed == 25  # a term is nothing that a certificate speaks of
    assert engine.counters.queries == 50
    nothing = SpaceBuilder().build()
    asked = Problem(
        nothing, np.zeros((2, 0)), loss_term=F1Loss().term(np.zeros((2, 0), dtype=np.int64))
    )
    same_answers(engine.solve(nothing, asked), Exhaustive().solve(nothing, asked))


@pytest.mark.parametrize("inner", [BranchAndBound(node_limit=1), RGS(restarts=2), Beam(2)], ids=str)
def test_the_same_question_is_one_call_of_an_engine_that_proves_nothing(inner):
    space = hard()
    engine = remembering(inner, certificate=(EqualScores(),))
    scores = np.random.default_rng(6).normal(size=(4, space.parts))
    first = engine.solve(space, scores)
    again = engine.solve(space, scores)
    same_answers(first, inner.solve(space, scores))
    for one, other in zip(first.arrays[:-1], again.arrays[:-1], strict=True):
        assert other.tolist() == one.tolist()
    assert (~again.optimal).any()
    assert (again.source == FoundBy.CACHE).all()
    assert engine.counters.solver_calls == engine.counters.cold == engine.counters.reused == 4


@pytest.mark.parametrize("certificate", AS_PRINTED)
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 5.0])
def test_algorithm_1_gives_outputs_as_good_as_it_says(certificate, epsilon):
    """It stores what it takes as well, and bounds stay bounds along a row of such answers."""

    @settings(max_examples=15)
    @given(spaces(least=1, most=4), st.integers(0, 2**31))
    def holds(space, seed):
        judge = Judge(space)
        if not judge.feasible:
            return
        engine = remembering(certificate=certificate, epsilon=epsilon)
        for scores in drifting(space, seed, steps=6, inputs=4, far=0.3):
            found = engine.solve(space, scores)
            assert space.holds(found.labels).all()
            for i in range(len(scores)):
                best, slip = judge.best(scores[i]), 1e-9 * max(1.0, np.abs(scores[i]).max())
                assert found.bound[i] >= best.value - slip
                if found.status[i] == Status.OPTIMAL:
                    assert found.value[i] >= best.value - slip
            assert epsilon > 0 or found.optimal.all()
        counters = engine.counters
        assert counters.queries == counters.reused + counters.cold
        stored = sum(cache.count for cache in engine._state.caches._caches.values())
        taken = sum(count for name, count in counters.hits.items() if name != "nothing to decide")
        assert stored == counters.solver_calls + taken

    holds()


@functools.cache
def hard():
    """Twelve binary variables, each joined with each, which take at most five times the second."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(12)]
    for j, x in enumerate(variables):
        for y in variables[:j]:
            builder.factor(x, y)
    builder.require(at_most(5, [x["b"] for x in variables]))
    return builder.build()


@every_certificate
def test_problems_with_a_loose_relaxation_are_answered_the_same(certificate):
    space = hard()
    engine = remembering(BranchAndBound(), certificate=certificate)
    for scores in drifting(space, 7, steps=4, inputs=4, far=0.01):
        same_answers(engine.solve(space, scores), BranchAndBound().solve(space, scores))


# -- the same weights ------------------------------------------------------------------------


@functools.cache
def data(name, seed=0):
    """A task and a few examples of it."""
    rng = np.random.default_rng(seed)
    if name == "entities and relations":
        xs = [s for s in english_sentences(40, seed=seed) if len(s.entities) <= 4][:12]
        task, ys = EntityRelation(), [EntityRelationOutput.of(x) for x in xs]
    elif name == "labels with pairs":
        xs = [rng.normal(size=4) for _ in range(14)]
        task = MultiLabel(tuple("abcde"), "complete")
        truth = rng.normal(size=(4, 5))
        ys = [(x @ truth + rng.normal(size=5) > 0).astype(int) for x in xs]
    elif name == "tags":
        task, (xs, ys) = TAGGING, tagged(14, seed)
    elif name == "classes":
        xs = [rng.normal(size=3) for _ in range(16)]
        task, ys = Multiclass(tuple("abc")), [str(rng.choice(list("abc"))) for _ in xs]
    else:
        task = GraphLabelling(tuple("abc"))
        shapes = [(2, 3), (2, 2), (3, 3)]
        xs = [
            Graph(rng.normal(size=(r * c, 2)), grid(r, c))
            for r, c in (shapes[k % 3] for k in range(8))
        ]
        ys = [(x.nodes @ [[1, -1, 0.5], [0, 1, -1]]).argmax(axis=1) for x in xs]
    return task, prepare(task, xs, ys)


def trajectory(learner, task, prepared, engine):
    """What a learner has after every iteration: weights, and what it measures."""
    model = Model(task, prepared.layout, prepared.layout.zeros(), engine)
    return [
        (state.iteration, state.done, state.weights.tobytes(), repr(dict(state.measures)))
        for state in learner.iterate(model, prepared)
    ]


TASKS = ["entities and relations", "labels with pairs", "tags", "classes", "graphs"]
LEARNERS = {
    "svm": StructuredSVM(C=0.3, iterations=5, online_epochs=0, seed=1),
    "svm that warms up": StructuredSVM(C=1.0, iterations=4, online_epochs=2, seed=2),
    "svm with plain slacks": StructuredSVM(C=0.2, squared=False, iterations=5, online_epochs=0),
    "perceptron": Perceptron(iterations=2, average=False),
    "averaged perceptron": Perceptron(iterations=2, update="largest", seed=3),
    "subgradient": Subgradient(C=0.3, iterations=3, batch=4, seed=4),
}
ENGINES = {
    **{name: {"certificate": name, "admission": "always"} for name in ["none", *EXACT_ONES]},
    "auto, adaptive": {},
    "condition, adaptive": {"certificate": "condition"},
    "all": {
        "certificate": (
            EqualScores(),
            ScoreCondition(),
            ScoreCondition(relative=True),
            Margin(),
            LagrangianCertificate(2, 1),
        ),
        "admission": "always",
    },
    "little room": {"certificate": "auto", "admission": "always", "max_bytes": 20_000},
}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS.keys())
@pytest.mark.parametrize("name", TASKS)
def test_weights_are_bit_for_bit_the_same_in_every_iteration(name, learner):
    task, prepared = data(name)
    expected = trajectory(learner, task, prepared, Exact())
    for how, options in ENGINES.items():
        assert trajectory(learner, task, prepared, Amortized(**options)) == expected, how


@pytest.mark.parametrize("name", ["entities and relations", "tags"])
@every_certificate
def test_threads_that_share_an_engine_change_no_weight(name, certificate):
    task, prepared = data(name)
    one = trajectory(StructuredSVM(iterations=4, online_epochs=0), task, prepared, Exact())
    threaded = StructuredSVM(iterations=4, online_epochs=0, n_jobs=2)
    engine = remembering(certificate=certificate)
    found = trajectory(threaded, task, prepared, engine)
    assert [state[2] for state in found] == [state[2] for state in one]
    assert engine.counters.queries == 4 * len(prepared)


# -- what an answer says of itself -----------------------------------------------------------


@pytest.mark.parametrize(
    "certificate", [*EXACT_ONES, (ScoreCondition(True), LagrangianCertificate(1, 0))], ids=str
)
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 10.0])
def test_with_epsilon_the_bound_still_holds_and_only_what_is_proved_is_optimal(
    certificate, epsilon
):
    @settings(max_examples=8)
    @given(spaces(least=1, most=4), st.integers(0, 2**31))
    def holds(space, seed):
        judge = Judge(space)
        if not judge.feasible:
            return
        engine = remembering(certificate=certificate, epsilon=epsilon)
        for scores in drifting(space, seed, steps=3, inputs=4):
            found = engine.solve(space, scores)
            assert space.holds(found.labels).all()
            assert found.value.tolist() == space.known_value(scores, found.labels).tolist()
            for i in range(len(scores)):
                best, slip = judge.best(scores[i]), 1e-9 * max(1.0, np.abs(scores[i]).max())
                assert found.bound[i] >= best.value - slip
                assert found.bound[i] >= found.value[i]
                if found.status[i] == Status.OPTIMAL:
                    assert tuple(found.labels[i].tolist()) == best.labels
                else:
                    assert found.status[i] == Status.FEASIBLE
                    if found.source[i] == FoundBy.CERTIFICATE:
                        gap = found.bound[i] - found.value[i]
                        assert gap <= epsilon * abs(found.value[i]) + slip
        check_caches(engine)

    holds()


@pytest.mark.parametrize("every", [1, 3, 5])
def test_every_so_many_inputs_one_is_exact(every):
    space = entity_relation_space(3)
    engine = remembering(certificate="condition", epsilon=100.0, exact_period=every)
    exact, asked = Exact(), 0
    for scores in drifting(space, 9, steps=6, inputs=7, far=2.0):
        found, expected = engine.solve(space, scores), exact.solve(space, scores)
        for i in range(7):
            if asked % every == 0:
                assert found.status[i] == Status.OPTIMAL
                assert found.labels[i].tolist() == expected.labels[i].tolist()
            asked += 1
    assert asked == engine.counters.queries
    assert engine.counters.solver_calls < asked or every == 1


# -- memory ----------------------------------------------------------------------------------


def test_another_epsilon_shares_memory_and_counters():
    space = entity_relation_space(2)
    scores = np.random.default_rng(10).normal(size=(4, space.parts))
    rough = remembering(certificate=(EqualScores(),), epsilon=0.5)
    fine = rough.at(0.0, exact_period=3)
    assert (fine.epsilon, fine.exact_period, rough.epsilon) == (0.0, 3, 0.5)
    assert (fine.certificate, fine.admission) == (rough.certificate, rough.admission)
    rough.solve(space, scores)
    same_answers(fine.solve(space, scores), Exact().solve(space, scores))
    assert fine.counters == rough.counters
    assert (fine.counters.queries, fine.counters.solver_calls) == (8, 4)


@pytest.mark.parametrize("limit", [1, 3_000, 40_000])
@pytest.mark.parametrize("certificate", ["auto", "condition", "margin"])
def test_memory_keeps_to_its_limit_and_answers_stay_right(certificate, limit):
    spaces_asked = [entity_relation_space(n) for n in (1, 2)]
    engine, exact = remembering(certificate=certificate, max_bytes=limit), Exact()
    largest = max(8 * (space.parts + 200) for space in spaces_asked)
    for seed in range(4):
        for space in spaces_asked:
            for scores in drifting(space, seed, steps=3, inputs=9):
                same_answers(engine.solve(space, scores), exact.solve(space, scores))
                held = sum(cache.size for cache in engine._state.caches._caches.values())
                assert held <= max(limit, 2 * largest)


def test_what_is_forgotten_while_the_engine_solves_is_not_written_to():
    """Another thread may let a cache forget while this one waits for the engine underneath."""

    class Forgetful(Engine):
        def answer(self, problem, context):
            cache = engine._state.caches.of(problem.space)
            while cache.count:
                cache.forget()
            return Exact().answer(problem, context)

    space = entity_relation_space(2)
    for certificate in EXACT_ONES:
        engine = remembering(Forgetful(), certificate)
        for scores in drifting(space, 18, steps=4, inputs=9, far=1.0):
            scores[::3] = np.round(scores[::3])  # ties, which have to be solved
            same_answers(engine.solve(space, scores), Exact().solve(space, scores))
        for cache in engine._state.caches._caches.values():
            expected = Exact().solve(space, cache.scores[: cache.count]).labels.tolist()
            assert cache.outputs[cache.output_of[: cache.count]].tolist() == expected


@pytest.mark.parametrize("closing", [True, False])
def test_outputs_without_entries_are_not_kept_for_ever(closing):
    builder = SpaceBuilder()
    for j in range(8):
        builder.variable(f"x{j}", "abc")
    space = builder.build()
    engine = remembering(certificate="auto" if closing else "none", max_bytes=20_000)
    rng = np.random.default_rng(12)
    for _ in range(40):
        scores = rng.normal(size=(20, space.parts))
        closed = np.zeros((20, space.labels), dtype=np.bool_) if closing else None
        engine.solve(space, Problem(space, scores, closed))
    assert sum(cache.size for cache in engine._state.caches._caches.values()) <= 20_000


def pickled(engine):
    return pickle.loads(pickle.dumps(engine))  # noqa: S301


@pytest.mark.parametrize("copied", [deepcopy, pickled])
def test_a_copy_has_the_settings_and_an_empty_memory(copied):
    space = entity_relation_space(2)
    engine = remembering(Milp(), "margin", epsilon=0.5, exact_period=7, max_bytes=1234)
    engine.solve(space, np.zeros((1, space.parts)))
    other = copied(engine)
    for name in (
        "inner",
        "store",
        "certificate",
        "epsilon",
        "exact_period",
        "admission",
        "max_bytes",
    ):
        assert getattr(other, name) == getattr(engine, name)
    assert other.counters.queries == 0 < engine.counters.queries


# -- honest counts ---------------------------------------------------------------------------


class Watched(Wrapper):
    """An engine that keeps what it was asked."""

    def __init__(self, inner):
        self.inner, self.asked = inner, []

    def answer(self, problem, context):
        self.asked.append((len(problem), problem.closed is not None))
        return self.inner.answer(problem, context)


@pytest.mark.parametrize("inner", [Exact(), Milp(), BranchAndBound(node_limit=1)])
@pytest.mark.parametrize("certificate", ["margin", "condition", "relative"])
def test_margins_are_found_by_the_engine_underneath_and_counted(certificate, inner):
    beneath = Watched(inner)
    engine = remembering(beneath, certificate)
    for scores in drifting(SPACE, 21, steps=3):
        engine.solve(SPACE, scores)
    assert any(closed for _, closed in beneath.asked)  # other outputs than the best one
    counters = engine.counters
    whole = sum(count for count, closed in beneath.asked if not closed)
    assert counters.solver_calls == whole + counters.second_bests
    assert 0 < counters.second_bests
    check_caches(engine)


def test_of_so_many_inputs_in_a_row_one_is_exact_whoever_asks_at_once():
    """Batches that wait for one another in the engine have had other numbers all the same."""
    every, threads = 4, 3
    waiting = Barrier(threads, timeout=20)
    epsilons = []

    @dataclass(frozen=True)
    class Noting:
        name: str = "noting"

        def test(self, asked):
            epsilons.extend(asked.epsilon.tolist())
            return EqualScores().test(asked)

    class Waits(Engine):
        def answer(self, problem, context):
            waiting.wait()
            return Exact().answer(problem, context)

    engine = remembering(Waits(), Noting(), epsilon=0.5, exact_period=every)
    batches = np.random.default_rng(22).normal(size=(threads, every - 1, SPACE.parts))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda scores: engine.solve(SPACE, scores), batches))
    exact = np.array(epsilons).reshape(threads, every - 1) == 0
    assert sorted(exact.tolist()) == [  # of nine inputs, the first, the fifth and the ninth
        [False, False, True],
        [False, True, False],
        [True, False, False],
    ]


@pytest.mark.parametrize(
    "layered",
    [
        lambda near: Amortized(near, admission="always"),
        lambda near: Amortized(Timed(near), admission="always"),
        lambda near: Timed(Amortized(Timed(Timed(near)), admission="always")),
    ],
    ids=["Amortized", "Amortized(Timed)", "Timed(Amortized(Timed(Timed)))"],
)
def test_learning_around_gold_uses_the_memory_whatever_lies_between(layered):
    task, prepared = data("entities and relations")
    near = Decomposed(Exact(), CustomSets(lambda space, _: [range(len(space.variables))]))
    with mock.patch.object(search, "FEW", 1), mock.patch.object(search, "NODES", 0):
        engine = layered(near)
        expected = trajectory(StructuredSVM(iterations=4), task, prepared, near)
        assert trajectory(StructuredSVM(iterations=4), task, prepared, engine) == expected
    counters = find(engine, Amortized).counters
    assert counters.queries > 0
    assert counters.bypassed < counters.queries


# -- stores ----------------------------------------------------------------------------------

SPACE = entity_relation_space(2)
SCORES = np.random.default_rng(13).normal(size=(5, SPACE.parts))
CHILD = """
import json, sys
import numpy as np
from rote.inference.wrappers.amortized import Amortized, EqualScores
from rote.inference.stores import SqliteStore
from rote.tasks.entity_relation import entity_relation_space

space = entity_relation_space(2)
scores = np.random.default_rng(13).normal(size=(5, space.parts))
with SqliteStore(sys.argv[1]) as store:
    engine = Amortized(store=store, certificate=(EqualScores(),), admission="always")
    labels = engine.solve(space, scores).labels.tolist()
    engine.solve(space, scores[:1] + 1.0)
print(json.dumps([labels, engine.counters.solver_calls, dict(engine.counters.hits)]))
"""


def test_a_file_carries_what_was_solved_to_another_process_and_back(tmp_path):
    path = tmp_path / "cache.sqlite"
    with SqliteStore(path) as store:
        engine = remembering(store=store, certificate=(EqualScores(),))
        mine = engine.solve(SPACE, SCORES)
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(path)], check=True, capture_output=True, text=True
        )
        labels, calls, hits = json.loads(done.stdout)
        assert labels == mine.labels.tolist()
        assert (calls, hits) == (1, {"same": 5})
        # What the other process has solved since is found here.
        engine.solve(SPACE, SCORES[:1] + 1.0)
        assert engine.counters.solver_calls == 5
        assert engine.counters.hits == {"same": 1}


@pytest.mark.parametrize("certificate", ["condition", "margin", (EqualScores(),)], ids=str)
def test_engines_that_share_a_store_share_what_they_solved(certificate):
    store = MemoryStore()
    # Margins of ties are of no use, so that nothing but equal scores proves the second answer.
    scores = np.zeros((1, SPACE.parts))
    first, second = (remembering(store=store, certificate=certificate) for _ in range(2))
    same_answers(first.solve(SPACE, scores), second.solve(SPACE, scores))
    assert second.counters.solver_calls == 0 < first.counters.solver_calls
    assert second.counters.hits == {"same": 1}
    assert store.info()[log_name(SPACE)].blobs == 1


def log_name(space):
    return SolutionCache.prefix + space.fingerprint


def entry_of(scores, space=SPACE):
    """What is put into a store when a problem is solved."""
    store = MemoryStore()
    remembering(store=store, certificate="condition").solve(space, scores)
    return store.read(log_name(space))[0]


@every_certificate
def test_damaged_blobs_change_no_answer(certificate):
    rng = np.random.default_rng(15)
    good = entry_of(SCORES)
    blobs = [b"", b"rote", bytes(100), *good[:1]]
    for whole in good[1:]:
        bad = bytearray(whole)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        blobs += [bytes(bad), whole[:-1], whole[1:], whole + b"\0", whole + whole]
    store = MemoryStore()
    store.append(log_name(SPACE), blobs)
    engine = remembering(store=store, certificate=certificate)
    same_answers(engine.solve(SPACE, SCORES), Exact().solve(SPACE, SCORES))
    if certificate in ("condition", "relative", "margin"):
        assert sum(engine.counters.hits.values()) == 1


# -- settings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"inner": Exact}, r"inner is one such as Exact\(\)"),
        ({"store": "cache.sqlite"}, r"store is one such as SqliteStore.*got 'cache.sqlite'"),
        ({"certificate": "best"}, "certificate is one of auto, condition, .*got 'best'"),
        ({"certificate": None}, "certificate is one of"),
        ({"certificate": [1]}, r"\[LagrangianCertificate\(\), EqualScores\(\)\], got \[1\]"),
        *(
            ({"epsilon": bad}, f"epsilon is a number of at least 0, got {bad!r}")
            for bad in (-0.1, np.nan, np.inf, "small", None)
        ),
        ({"exact_period": 0}, "exact_period is a whole number of at least 1, or None, got 0"),
        ({"exact_period": 2.5}, "exact_period is a whole number"),
        ({"admission": False}, "admission is one of adaptive, always, got False"),
        ({"max_bytes": 0}, "max_bytes is a whole number of at least 1, got 0"),
        ({"max_bytes": None}, "max_bytes is a whole number"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(wrong, message):
    with pytest.raises(SettingError, match=message):
        Amortized(**wrong)
