"""How sets are looked into: enumerated, by messages, or by the engine; best bound first."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.engines import Exact, Exhaustive, Problem
from rote.errors import UnsupportedSpace
from rote.inference.engine import Wrapper
from rote.inference.problem import Context
from rote.inference.wrappers.decomposed import Decomposed, HammingBall, search
from rote.inference.wrappers.decomposed.search import FEW, Search, best_listed, neighbours
from rote.inference.wrappers.decomposed.sets import as_around
from rote.kernels.bundles import VariableSets
from rote.kernels.neighbourhood.neighbours import best_neighbours
from rote.space import SpaceBuilder, at_most
from rote.space.losses import F1Loss
from rote.types import readonly
from tests.inference.wrappers.decomposed.around import best_around, neighbourhood
from tests.inference.wrappers.decomposed.test_sets import space_of
from tests.strategies import Judge, known_value, problems_of, row_of, rules_as_rows, spaces


class Query(Wrapper):
    """An engine that remembers what it was asked."""

    def __init__(self, engine=None):
        self.inner, self.asked = engine or Exact(), []

    def answer(self, problem, context):
        assert context.gold is None
        self.asked.append(problem)
        return self.inner.answer(problem, context)


def loop_of(n, labels="ab", rules=(), factors=None):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for j in range(n if factors is None else factors):
        builder.factor(variables[j], variables[(j + 1) % n])
    for rule in rules:
        builder.require(rule(variables))
    return builder.build()


def chain_of(n, labels="ab", rules=()):
    return loop_of(n, labels, rules, n - 1)


def at_most_one(variables):
    return at_most(1, [x["b"] for x in variables])


def looked(space, lists, few=FEW, engine=None, seed=0, scores=None, gold=None, **options):
    """A search that has looked into these sets, and the engine it asked."""
    rng = np.random.default_rng(seed)
    m = len(lists)
    scores = rng.normal(size=(m, space.parts)) if scores is None else scores
    gold = np.zeros((m, len(space.variables)), np.int64) if gold is None else np.array(gold)
    problem = Problem(space, scores, **options)
    asked = Query(engine)
    found = Search(asked, problem, Context(gold=gold))
    with mock.patch.object(search, "FEW", few):
        found.look([as_around(lists)])
    return found, asked, problem


def test_loops_with_few_labellings_are_enumerated_and_those_with_many_are_not():
    # 2^12 labellings are few, 2^13 are many.
    assert FEW == 1 << 12
    for n, calls in ((12, 0), (13, 1)):
        found, asked, problem = looked(loop_of(n), [[range(n)]])
        assert (found.sets, found.calls, len(asked.asked)) == (1, calls, calls)
        best = Exact().solve(loop_of(n), problem)
        assert found.labels.tolist() == best.labels.tolist()
        assert found.values == pytest.approx(best.value)


def test_sets_that_are_trees_need_no_engine_and_loops_do():
    for space, calls in ((chain_of(4), 0), (loop_of(4), 1)):
        found, asked, problem = looked(space, [[range(4)]], few=1)
        assert (found.sets, found.calls, len(asked.asked)) == (1, calls, calls)
        best = best_around(space, problem.scores[0], [0] * 4, [range(4)])
        assert tuple(found.labels[0].tolist()) == best.labels
        assert found.values[0] == pytest.approx(best.value)
    # A loop with one variable fixed is none.
    found, _, _ = looked(loop_of(4), [[range(3)]], few=1)
    assert (found.sets, found.calls) == (1, 0)


def test_rows_are_searched_with_trees_and_the_engine_is_asked_when_nodes_run_out():
    with rules_as_rows(1):
        space = chain_of(6, rules=[at_most_one])
    scores = np.zeros((1, space.parts))
    scores[0, 1:12:2] = [3.0, 3.5, 3.2, 3.1, 3.3, 3.4]
    for nodes, calls in ((search.NODES, 0), (3, 1)):
        with mock.patch.object(search, "NODES", nodes):
            found, asked, _ = looked(space, [[range(6)]], scores=scores)
        assert found.labels.tolist() == [[0, 1, 0, 0, 0, 0]]
        assert found.calls == len(asked.asked) == calls


def test_the_engine_sees_gold_labels_only_outside_of_a_set():
    gold = [[1, 0, 1, 0]]
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(4)]
    for j, k in ((0, 1), (1, 2), (2, 0), (2, 3)):
        builder.factor(variables[j], variables[k])
    space = builder.build()
    _, asked, _ = looked(space, [[[0, 1, 2]]], few=1, gold=gold)
    (problem,) = asked.asked
    assert problem.closed.tolist() == [[False] * 7 + [True]]
    closed = np.zeros((1, 8), dtype=np.bool_)
    closed[0, [0, 6]] = True
    _, asked, _ = looked(space, [[[0, 1, 2]]], few=1, gold=gold, closed=closed)
    for problem in asked.asked:
        assert problem.closed.tolist() == [[True] + [False] * 5 + [True, True]]


@mock.patch.object(search, "NODES", 0)
def test_sets_whose_bound_is_too_low_are_not_asked():
    # Two chains under a rule; the best labels of both break it, by far and by little.
    with rules_as_rows(1):
        space = chain_of(6, rules=[at_most_one])
        scores = np.zeros((1, space.parts))
        scores[0, [1, 3]] = 5.0, 4.0  # x0, x1: bound 9, best 5
        scores[0, [9, 11]] = 2.0, 1.0  # x4, x5: bound 3
        found, asked, _ = looked(space, [[[0, 1], [4, 5]]], few=1, scores=scores)
    assert found.labels.tolist() == [[1, 0, 0, 0, 0, 0]]
    assert (found.sets, found.calls) == (2, 1)
    assert len(asked.asked) == 1


@mock.patch.object(search, "NODES", 0)
def test_one_set_of_every_input_is_asked_at_a_time():
    with rules_as_rows(1):
        space = chain_of(6, rules=[at_most_one])
        scores = np.zeros((2, space.parts))
        scores[:, [1, 3, 9, 11]] = 2.0, 1.9, 2.2, 2.1
        found, asked, _ = looked(space, [[[0, 1], [4, 5]]] * 2, few=1, scores=scores)
    assert found.labels.tolist() == [[0, 0, 0, 0, 1, 0]] * 2
    assert [len(problem) for problem in asked.asked] == [2, 2]
    assert found.calls == 4


def test_terms_go_to_the_engine_where_sets_are_large():
    space, gold = space_of(3), np.array([[1, 1, 0]])
    term = F1Loss().term(gold)
    found, asked, _ = looked(
        space,
        [[range(3)]],
        few=1,
        engine=Exhaustive(),
        gold=gold,
        loss_term=term,
        scores=np.zeros(6),
    )
    assert found.values.tolist() == [1.0]
    assert found.labels.tolist() in ([[0, 0, 0]], [[0, 0, 1]])
    assert (found.sets, found.calls) == (1, 1)
    assert asked.asked[0].loss_term is not None
    found, asked, _ = looked(space, [[range(3)]], gold=gold, loss_term=term, scores=np.zeros(6))
    assert found.labels.tolist() == [[0, 0, 0]]
    assert asked.asked == []


@given(st.data(), st.sampled_from([1, 4, FEW]), st.sampled_from([None, 1]), st.integers(0, 40))
def test_every_way_leads_to_a_best_output_and_doubts_where_there_are_equals(
    data, few, as_rows, nodes
):
    with rules_as_rows(as_rows), mock.patch.object(search, "NODES", nodes):
        space = data.draw(spaces(least=1, most=4))
        drawn = data.draw(problems_of(space))
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        n = len(space.variables)
        gold = [[rng.integers(size) for size in space.sizes] for _ in range(2)]
        lists = [[rng.permutation(n)[: 1 + rng.integers(n)].tolist() for _ in range(3)]] * 2
        found, _, problem = looked(
            space, lists, few, scores=drawn.scores, gold=gold, closed=drawn.closed
        )
    for i in range(2):
        _, allowed = row_of(problem, i)
        best = best_around(space, problem.scores[i], gold[i], lists[i], allowed)
        assert found.found[i] == (best is not None)
        if best is None:
            assert (found.labels[i] == -1).all()
            assert found.values[i] == -np.inf
            continue
        tie = problem.ties[i]
        assert found.values[i] == pytest.approx(best.value, abs=1.01 * tie)
        assert found.values[i] == pytest.approx(
            known_value(space, problem.scores[i], found.labels[i]), abs=1e-5 * tie
        )
        if not found.doubtful[i]:
            assert tuple(found.labels[i].tolist()) == best.labels


def test_sets_of_many_variables_do_not_run_over():
    # 3^200 labellings: more than any number of 64 bits.
    space = chain_of(200, "abc")
    found, _, problem = looked(space, [[range(200)]])
    assert (found.sets, found.calls) == (1, 0)
    best = Exact().solve(space, problem)
    assert found.labels.tolist() == best.labels.tolist()
    assert found.values == pytest.approx(best.value)


def test_several_decompositions_are_looked_into_together():
    space = space_of(3)
    scores = np.array([[0, 1.0, 0, 2.0, 0, 4.0]])
    problem, gold = Problem(space, scores), np.zeros((1, 3), np.int64)
    found = Search(Exact(), problem, Context(gold=gold))
    (pairs,) = HammingBall(1).split(problem, gold).sets
    found.look([pairs, as_around([[[0, 1]]])])
    assert found.labels.tolist() == [[0, 0, 1]]
    found.look([as_around([[[1, 2]]])])
    assert found.labels.tolist() == [[0, 1, 1]]
    assert found.values.tolist() == [6.0]


@st.composite
def questions(draw):
    space = draw(spaces(least=1, most=4))
    problem = draw(problems_of(space))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = len(space.variables)
    gold = np.array([[rng.integers(size) for size in space.sizes] for _ in range(2)])
    lists = [
        [rng.permutation(n)[: rng.integers(n + 1)].tolist() for _ in range(rng.integers(4))]
        for _ in range(2)
    ]
    return problem, gold, lists


@given(questions(), st.sampled_from([1, 2, 1 << 62]))
def test_all_outputs_around_gold_are_listed_and_no_others(found, most):
    problem, golds, lists = found
    space = problem.space
    flat = as_around(lists)
    around = VariableSets(flat.begin, flat.end, flat.ptr, flat.members, most)
    for i, (gold, sets) in enumerate(zip(golds, lists, strict=True)):
        listed = neighbours(space, gold, around, i)
        expected = {
            labels
            for labels in Judge(space).everything
            if (labels == gold).all()
            or any(
                {j for j, a in enumerate(labels) if a != gold[j]} <= set(one)
                and (labels != gold).sum() <= most
                for one in sets
            )
        }
        assert {tuple(labels) for labels in listed.tolist()} == expected


@given(questions(), st.booleans())
def test_the_best_of_a_list_is_the_best_around_gold(found, settle):
    problem, golds, lists = found
    space = problem.space
    answers, doubts = best_listed(problem, golds, [as_around(lists)], settle=settle)
    for i, gold in enumerate(golds):
        _, allowed = row_of(problem, i)
        best = best_around(space, problem.scores[i], gold, lists[i], allowed)
        if best is None:
            assert (answers[i] == -1).all()
            assert not doubts[i]
        elif settle or not doubts[i]:
            assert tuple(answers[i].tolist()) == best.labels
            assert not doubts[i]
        else:
            value = known_value(space, problem.scores[i], answers[i])
            assert value == pytest.approx(best.value, abs=1e-9 * problem.ties[i] / 1e-10)


@given(questions())
def test_the_list_and_the_kernel_say_the_same(found):
    problem, golds, lists = found
    network = problem.space.network
    assert network.variables == network.own
    around = as_around(lists)
    listed, _ = best_listed(problem, golds, [around], settle=True)
    searched, _ = best_neighbours(problem.questions, readonly(golds), network.graph, around, True)
    assert listed.tolist() == searched.tolist()


def test_a_term_adds_to_what_outputs_are_worth():
    space, gold = space_of(3), np.array([[1, 1, 0], [0, 0, 0]])
    problem = Problem(space, np.zeros((2, 6)), loss_term=F1Loss().term(gold))
    around = as_around([[[0], [1], [2]], [[0, 1, 2]]])
    answers, doubts = best_listed(problem, gold, [around], settle=True)
    # Taking one of two off leaves F1 = 2/3; one more on leaves 4/5. From nothing, all is wrong.
    assert answers.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert not doubts.any()
    _, doubts = best_listed(problem, gold, [around], settle=False)
    assert doubts.all()


def test_rules_that_only_the_rules_themselves_can_check_are_checked():
    with rules_as_rows(1):
        builder = SpaceBuilder()
        x, y, z = (builder.variable(name, "ab") for name in "xyz")
        builder.require(at_most(1, [x["a"] & y["a"], z["b"] & y["a"]]))
        space = builder.build()
        assert space.network.variables > space.network.own
        rng = np.random.default_rng(0)
        scores, gold = rng.normal(size=(20, 6)), rng.integers(2, size=(20, 3))
        lists = [[[0, 1], [2]]] * 20
        answers, _ = best_listed(Problem(space, scores), gold, [as_around(lists)], settle=True)
        for i in range(20):
            best = best_around(space, scores[i], gold[i], lists[i])
            assert tuple(answers[i].tolist()) == (best.labels if best else (-1, -1, -1))
        assert any(len(neighbourhood(space, row, [[0, 1], [2]])) < 5 for row in gold)


def test_what_would_not_fit_into_memory_is_refused():
    builder = SpaceBuilder()
    for j in range(40):
        builder.variable(str(j), "abcdefgh")
    space = builder.build()
    gold = np.zeros((1, 40), dtype=np.int64)
    term = F1Loss().term(gold)
    problem = Problem(space, np.zeros((1, space.parts)), loss_term=term)
    engine = Decomposed(Exact(), HammingBall(5))
    with pytest.raises(UnsupportedSpace, match="take smaller sets, or sample some"):
        engine.solve(space, problem, Context(gold=gold))
