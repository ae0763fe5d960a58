"""Neighbourhoods written out, beside the kernel that searches them and beside the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.errors import UnsupportedSpace
from rote.inference import Exact, Problem
from rote.inference.problem import Context
from rote.inference.wrappers.decomposed import Decomposed, HammingBall
from rote.inference.wrappers.decomposed.listed import best_listed, neighbours
from rote.inference.wrappers.decomposed.sets import as_around
from rote.kernels.neighbourhood.neighbours import best_neighbours
from rote.space import SpaceBuilder, at_most
from rote.space.losses import F1Loss
from rote.types import readonly
from tests.inference.wrappers.decomposed.around import best_around, neighbourhood
from tests.inference.wrappers.decomposed.test_sets import space_of
from tests.strategies import Judge, known_value, problems_of, row_of, rules_as_rows, spaces


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
@settings(max_examples=60)
def test_all_outputs_around_gold_are_listed_and_no_others(found, most):
    problem, golds, lists = found
    space = problem.space
    around = as_around(lists)._replace(most=most)
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
@settings(max_examples=50)
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
@settings(max_examples=50)
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
