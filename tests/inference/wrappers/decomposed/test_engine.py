"""`Decomposed` against the definition: every output that differs from gold inside one set."""

from itertools import combinations
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.engines import Exact, Exhaustive, FoundBy, Problem, Solutions, Status, k_best
from rote.errors import InfeasibleSpace, SettingError
from rote.inference.engine import Engine
from rote.inference.problem import Context
from rote.inference.wrappers.decomposed import (
    CustomSets,
    Decomposed,
    HammingBall,
    Sign,
    SignedComponents,
    Union,
    search,
)
from rote.learning.loss_augmented import max_violated
from rote.space import SpaceBuilder
from rote.space.losses import F1Loss, JaccardLoss, ZeroOne
from tests.inference.wrappers.decomposed.around import best_around, neighbourhood
from tests.strategies import (
    Judge,
    chain_spaces,
    known_value,
    problems_of,
    row_of,
    rules_as_rows,
    spaces,
    tree_spaces,
)


@st.composite
def questions(draw, family=None):
    """A problem and gold outputs, which may break rules."""
    space = draw(spaces(least=1) if family is None else family)
    problem = draw(problems_of(space))
    gold = [
        [draw(st.integers(0, len(v.labels) - 1)) for v in space.variables]
        for _ in range(len(problem))
    ]
    if draw(st.booleans()):
        possible = Judge(space).outputs
        if possible:
            gold = [draw(st.sampled_from(possible)) for _ in gold]
    gold = np.array(gold, dtype=np.int64).reshape(len(problem), len(space.variables))
    return space, problem, Context(gold=gold)


def check(engine, space, problem, context, sets_of):
    """The best of each neighbourhood; where there is none, the best of all."""
    try:
        found = engine.solve(space, problem, context)
    except InfeasibleSpace:
        assert not Judge(space).feasible
        return
    everything = range(len(space.variables))
    for i, gold in enumerate(context.gold):
        _, allowed = row_of(problem, i)
        scores = problem.scores[i]
        best = best_around(space, scores, gold, sets_of(gold), allowed)
        near = best is not None
        if not near and allowed is None:
            best = best_around(space, scores, gold, [everything])
        if best is None:
            assert found.status[i] == Status.INFEASIBLE
            continue
        assert tuple(found.labels[i].tolist()) == best.labels
        assert found.value[i] == pytest.approx(best.value)
        assert found.status[i] == Status.OPTIMAL
        assert near == (found.source[i] == FoundBy.NEIGHBOUR)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@given(found=questions(), as_rows=st.sampled_from([None, 1]))
def test_subsets_are_all_outputs_with_so_many_changes(k, found, as_rows):
    space = found[0]
    everything = range(len(space.variables))
    with rules_as_rows(as_rows):
        check(
            Decomposed(Exact(), HammingBall(k)),
            *found,
            lambda _: list(combinations(everything, min(k, len(space.variables)))),
        )


@pytest.mark.parametrize("family", [spaces(least=1), chain_spaces(), tree_spaces()])
@given(data=st.data(), few=st.sampled_from([1, 6, 1 << 12]), as_rows=st.sampled_from([None, 1]))
def test_sets_of_any_kind(family, data, few, as_rows):
    asked = data.draw(questions(family))
    n = len(asked[0].variables)
    sets = data.draw(st.lists(st.sets(st.integers(0, n - 1)), max_size=4)) if n else [set()]
    with rules_as_rows(as_rows), mock.patch.object(search, "FEW", few):
        check(Decomposed(Exact(), lambda *_: sets), *asked, lambda _: sets)


@given(found=questions(), few=st.sampled_from([1, 1 << 12]))
def test_a_union_is_all_sets_of_its_parts(found, few):
    n = len(found[0].variables)
    engine = Decomposed(Exact(), Union(HammingBall(1), CustomSets(lambda *_: [range(n // 2)])))
    with mock.patch.object(search, "FEW", few):
        check(engine, *found, lambda _: [*([j] for j in range(n)), range(n // 2)])


# -- losses and ranks ------------------------------------------------------------------------------


def subsets_of(n, k):
    return list(combinations(range(n), min(k, n)))


@pytest.mark.parametrize("loss", [F1Loss(), JaccardLoss()], ids=["F1", "Jaccard"])
@given(found=questions(), k=st.sampled_from([1, 2, 5]), few=st.sampled_from([1, 1 << 12]))
def test_terms_are_part_of_what_is_best_around_gold(loss, found, k, few):
    space, problem, context = found
    n = len(space.variables)
    term = loss.term(context.gold)
    problem = Problem(space, problem.scores, problem.closed, term)
    sets = subsets_of(n, k)
    for engine in (
        Decomposed(Exhaustive(), HammingBall(k)),
        Decomposed(Exhaustive(), CustomSets(lambda *_: sets)),
    ):
        with mock.patch.object(search, "FEW", few):
            try:
                solutions = engine.solve(space, problem, context)
            except InfeasibleSpace:
                assert not Judge(space).feasible
                continue
        for i, gold in enumerate(context.gold):
            _, allowed = row_of(problem, i)
            around = neighbourhood(space, gold, sets, allowed)
            if not around:
                continue
            own = term.rows(np.array([i])).value(np.array(around).reshape(1, len(around), n))[0]
            value = [
                known_value(space, problem.scores[i], labels) + extra
                for labels, extra in zip(around, own.tolist(), strict=True)
            ]
            assert solutions.value[i] == pytest.approx(max(value))
            answer = around.index(tuple(solutions.labels[i].tolist()))
            assert value[answer] == pytest.approx(max(value))


@given(found=questions(), k=st.sampled_from([1, 2]))
def test_the_k_best_around_gold_are_around_gold(found, k):
    space, problem, context = found
    sets = subsets_of(len(space.variables), k)
    around = [
        neighbourhood(space, gold, sets, row_of(problem, i)[1])
        for i, gold in enumerate(context.gold)
    ]
    if not all(around):
        return
    ranks = k_best(space, problem, 4, Decomposed(Exact(), HammingBall(k)), context)
    for i, outputs in enumerate(around):
        values = sorted((known_value(space, problem.scores[i], y) for y in outputs), reverse=True)
        answers = [tuple(rank.labels[i].tolist()) for rank in ranks]
        known = min(4, len(outputs))
        assert len(set(answers[:known])) == known
        assert set(answers[:known]) <= set(outputs)
        tie = 4e-10 * max(1.0, float(np.abs(problem.scores[i]).max(initial=0.0)))
        for rank, value in zip(ranks, values, strict=False):
            assert rank.value[i] == pytest.approx(value, abs=tie)
        assert all(rank.status[i] == Status.INFEASIBLE for rank in ranks[known:])


@given(found=questions(), k=st.sampled_from([1, 2]))
def test_under_zero_one_loss_the_worst_output_is_around_gold(found, k):
    space, problem, context = found
    sets = subsets_of(len(space.variables), k)
    judge = Judge(space)
    if not all(tuple(gold) in set(judge.outputs) for gold in context.gold.tolist()):
        return
    labels, slacks, losses = max_violated(
        Decomposed(Exact(), HammingBall(k)), Problem(space, problem.scores), context, ZeroOne()
    )
    for i, gold in enumerate(context.gold.tolist()):
        right = known_value(space, problem.scores[i], gold)
        lead = [
            known_value(space, problem.scores[i], y) - right + float(y != tuple(gold))
            for y in neighbourhood(space, gold, sets)
        ]
        assert tuple(labels[i].tolist()) in neighbourhood(space, gold, sets)
        assert losses[i] == float(labels[i].tolist() != gold)
        assert slacks[i] == pytest.approx(max(lead), abs=1e-3)


# -- what is counted -------------------------------------------------------------------------------


def loop_under_a_rule(n=3):
    """A loop of variables; the first two are b together or not at all."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(n)]
    for j in range(n):
        builder.factor(variables[j], variables[(j + 1) % n])
    x, y, *_ = variables
    builder.require((x["b"] >> y["b"]) & (y["b"] >> x["b"]))
    return builder.build()


def asked(space, gold, seed=0):
    gold = np.array(gold)
    scores = np.random.default_rng(seed).normal(size=(len(gold), space.parts))
    return space, Problem(space, scores), Context(gold=gold)


def looked(**counts):
    return {"inputs": 0, "whole": 0, "sets": 0, "calls": 0, **counts}


def test_inputs_are_counted_and_prediction_is_not():
    space, engine = loop_under_a_rule(), Decomposed(Exact(), HammingBall(2))
    engine.solve(space, np.zeros(space.parts))
    assert engine.stats.now() == looked()
    engine.solve(*asked(space, [[0, 0, 0], [1, 1, 0]]))
    assert engine.stats.now() == looked(inputs=2)
    engine.solve(*asked(space, np.empty((0, 3), dtype=np.int64)))
    assert engine.stats.now() == looked(inputs=2)


def test_inputs_with_nothing_around_them_are_whole():
    space, engine = loop_under_a_rule(), Decomposed(Exact(), CustomSets(lambda *_: [[2]]))
    found = engine.solve(*asked(space, [[0, 1, 0], [0, 0, 0], [1, 0, 1]]))
    assert engine.stats.now() == looked(inputs=3, whole=2, sets=3, calls=2)
    assert (found.source == FoundBy.NEIGHBOUR).tolist() == [False, True, False]
    engine.solve(*asked(space, [[0, 1, 0]]))
    assert engine.stats.now() == looked(inputs=4, whole=3, sets=4, calls=3)


def test_inputs_for_which_theory_asks_are_whole():
    space = loop_under_a_rule()
    engine = Decomposed(Exact(), SignedComponents(Sign.DIFFERENT))
    question = asked(space, [[0, 0, 1], [0, 0, 0]])
    found = engine.solve(*question)
    # From a a b, all hangs together; from a a a, nothing does, and x0, x1 only move together.
    assert engine.stats.now() == looked(inputs=2, whole=1, sets=1, calls=1)
    assert found.labels[1].tolist() == Exact().solve(*question[:2]).labels[1].tolist()
    bold = Decomposed(Exact(), SignedComponents(Sign.DIFFERENT, fallback=False))
    bold.solve(*question)
    assert bold.stats.now() == looked(inputs=2, sets=4)


def test_large_sets_are_counted_and_so_are_the_calls_they_need():
    space = loop_under_a_rule()
    engine = Decomposed(Exact(), CustomSets(lambda *_: [[0, 1, 2]]))
    with mock.patch.object(search, "FEW", 1):
        engine.solve(*asked(space, [[0, 0, 0], [0, 0, 1]]))
        assert engine.stats.now() == looked(inputs=2, whole=0, sets=2, calls=2)
        free = Decomposed(Exact(), CustomSets(lambda *_: [[1, 2]]))
        builder = SpaceBuilder()
        x, y, z = (builder.variable(name, "ab") for name in "xyz")
        builder.factor(x, y)
        builder.factor(y, z)
        chain = builder.build()
        free.solve(*asked(chain, [[0, 0, 0]]))
        assert free.stats.now() == looked(inputs=1, whole=0, sets=1, calls=0)


# -- engines that stop early -----------------------------------------------------------------------


class Stopped(Engine):
    """An engine that stops at a limit: with an output and a bound one above it, or with nothing."""

    def __init__(self, status):
        self.status = status

    def answer(self, problem, context):
        solutions = Exact().answer(problem, context)
        labels, value = solutions.labels.copy(), solutions.value.copy()
        if self.status == Status.TIMED_OUT:
            labels[:], value[:] = -1, -np.inf
        status = np.full(len(labels), int(self.status))
        return Solutions(labels, value, solutions.bound + 1.0, status, solutions.source)


def test_what_the_engine_could_not_prove_is_not_called_optimal():
    space = loop_under_a_rule()
    space, problem, context = asked(space, [[0, 0, 0]])
    best = best_around(space, problem.scores[0], [0, 0, 0], [range(3)])
    with mock.patch.object(search, "FEW", 1):
        engine = Decomposed(Stopped(Status.FEASIBLE), CustomSets(lambda *_: [[0, 1, 2]]))
        found = engine.solve(space, problem, context)
        assert found.status.tolist() == [Status.FEASIBLE]
        assert found.value[0] == pytest.approx(best.value)
        assert found.bound[0] == pytest.approx(best.value + 1.0)
        engine = Decomposed(Stopped(Status.TIMED_OUT), CustomSets(lambda *_: [[0, 1, 2]]))
        found = engine.solve(space, problem, context)
        assert found.status.tolist() == [Status.FEASIBLE]  # gold is there
        assert found.labels.tolist() == [[0, 0, 0]]
        assert found.bound[0] == pytest.approx(best.value + 1.0)


# -- odd questions ---------------------------------------------------------------------------------


def two_free():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    builder.variable("y", "ab")
    return builder.build()


EVERY_KIND = {
    "subsets": HammingBall(1),
    "more than there are": HammingBall(10**9),
    "sampled": HammingBall(1, sample=2),
    "signed": SignedComponents(),
    "no sets": CustomSets(lambda *_: []),
    "empty sets": CustomSets(lambda *_: [[], ()]),
    "everything": CustomSets(lambda space, _: [range(len(space.variables))]),
    "a union": Union(HammingBall(1), SignedComponents(Sign.ABSENT), HammingBall(2)),
}
every_kind = pytest.mark.parametrize("kind", EVERY_KIND.values(), ids=EVERY_KIND.keys())


@every_kind
def test_a_space_without_variables_has_one_output_around_its_gold_one(kind):
    space = SpaceBuilder().build()
    gold = np.empty((3, 0), dtype=np.int64)
    found = Decomposed(Exact(), kind).solve(space, np.empty((3, 0)), Context(gold=gold))
    assert found.labels.shape == (3, 0)
    assert found.status.tolist() == [Status.OPTIMAL] * 3
    assert found.value.tolist() == found.bound.tolist() == [0.0] * 3


# -- samples ---------------------------------------------------------------------------------------


def test_scores_a_little_different_are_looked_at_through_other_sets():
    builder = SpaceBuilder()
    for j in range(12):
        builder.variable(f"x{j}", "ab")
    space = builder.build()
    gold, engine = np.zeros((1, 12), dtype=np.int64), Decomposed(Exact(), HammingBall(2, sample=1))
    changed = set()
    for step in range(40):
        scores = np.tile([0.0, 1.0], 12)[None] + 1e-6 * step
        labels = engine.solve(space, scores, Context(gold=gold)).labels[0]
        assert labels.sum() == 2  # both labels of the set are better than gold
        changed.add(tuple(np.flatnonzero(labels)))
    assert len(changed) > 20


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decomposition", [None, 2, "words", [[0]], HammingBall, SignedComponents, Exact()], ids=str
)
def test_what_is_no_decomposition_is_refused(decomposition):
    with pytest.raises(SettingError, match="decomposition is one such as"):
        Decomposed(Exact(), decomposition)


def test_the_same_over_another_engine_counts_together():
    space, engine = loop_under_a_rule(), Decomposed(Exact(), HammingBall(1))
    other = engine.over(Exhaustive())
    assert isinstance(other.inner, Exhaustive)
    assert other.decomposition is engine.decomposition
    other.solve(*asked(space, [[0, 0, 0]]))
    engine.solve(*asked(space, [[0, 0, 0]]))
    assert engine.stats.now() == other.stats.now() == looked(inputs=2)
