"""Neighbourhoods written out, beside the kernel that searches them and beside the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rote.inference.base import as_objective

from rote.errors import UnsupportedSpace
from rote.inference import Exact, Objective
from rote.inference.wrappers.decomposed import Decomposed, Subsets
from rote.inference.wrappers.decomposed.listed import best_listed, neighbours
from rote.inference.wrappers.decomposed.sets import as_around
from rote.kernels.neighbourhood.neighbours import best_neighbours
from rote.space import SpaceBuilder, at_most
from rote.space.losses import OneMinusF1
from tests.inference.wrappers.decomposed.around import best_around, neighbourhood
from tests.inference.wrappers.decomposed.test_sets import space_of
from tests.strategies import Judge, objectives, rules_as_rows, spaces, worth


@st.composite
def questions(draw):
    space = draw(spaces(least=1, most=4))
    objective = draw(objectives(space))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = len(space.variables)
    gold = np.array([[rng.integers(size) for size in space.sizes] for _ in range(2)])
    lists = [
        [rng.permutation(n)[: rng.integers(n + 1)].tolist() for _ in range(rng.integers(4))]
        for _ in range(2)
    ]
    return space, Objective(objective.scores, objective.allowed, gold=gold), lists


@given(questions(), st.sampled_from([1, 2, 1 << 62]))
@settings(max_examples=60)
def test_all_outputs_around_gold_are_listed_and_no_others(found, most):
    space, objective, lists = found
    around = as_around(lists)._replace(most=most)
    for i, (gold, sets) in enumerate(zip(objective.gold, lists, strict=True)):
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
    space, objective, lists = found
    objective = as_objective(space, objective)
    answers, doubts = best_listed(space, objective, [as_around(lists)], settle=settle)
    for i, gold in enumerate(objective.gold):
        allowed = None if objective.allowed is None else objective.allowed[i]
        best = best_around(space, objective.scores[i], gold, lists[i], allowed)
        if best is None:
            assert (answers[i] == -1).all()
            assert not doubts[i]
        elif settle or not doubts[i]:
            assert tuple(answers[i].tolist()) == best.labels
            assert not doubts[i]
        else:
            value = worth(space, objective.scores[i], answers[i])
            assert value == pytest.approx(best.value, abs=1e-9 * objective.ties[i] / 1e-10)


@given(questions())
@settings(max_examples=50)
def test_the_list_and_the_kernel_say_the_same(found):
    space, objective, lists = found
    objective, network = as_objective(space, objective), space.network
    assert network.variables == network.own
    around = as_around(lists)
    listed, _ = best_listed(space, objective, [around], settle=True)
    searched, _ = best_neighbours(
        objective.scores,
        objective.closed,
        objective.ties,
        objective.gold,
        network.graph,
        around,
        True,
    )
    assert listed.tolist() == searched.tolist()


def test_all_decompositions_are_listed_together():
    space, gold = space_of(3), np.zeros((1, 3), dtype=np.int64)
    objective = as_objective(space, Objective(np.array([[0, 1, 0, 2, 0, 4.0]]), gold=gold))
    one, two = as_around([[[0, 1]]]), as_around([[[2], [1]]])
    assert best_listed(space, objective, [one, two], settle=True)[0].tolist() == [[0, 0, 1]]
    assert best_listed(space, objective, [one], settle=True)[0].tolist() == [[1, 1, 0]]


def test_a_term_adds_to_what_outputs_are_worth():
    space, gold = space_of(3), np.array([[1, 1, 0], [0, 0, 0]])
    objective = as_objective(
        space, Objective(np.zeros((2, 6)), term=OneMinusF1().term(gold), gold=gold), terms=True
    )
    around = as_around([[[0], [1], [2]], [[0, 1, 2]]])
    answers, doubts = best_listed(space, objective, [around], settle=True)
    # Taking one of two off leaves F1 = 2/3; one more on leaves 4/5. From nothing, all is wrong.
    assert answers.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert not doubts.any()
    _, doubts = best_listed(space, objective, [around], settle=False)
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
        objective = as_objective(space, Objective(scores, gold=gold))
        answers, _ = best_listed(space, objective, [as_around(lists)], settle=True)
        for i in range(20):
            best = best_around(space, scores[i], gold[i], lists[i])
            assert tuple(answers[i].tolist()) == (best.labels if best else (-1, -1, -1))
        assert any(len(neighbourhood(space, row, [[0, 1], [2]])) < 5 for row in gold)


def test_no_input_no_variables_and_no_sets():
    none = SpaceBuilder().build()
    empty = as_objective(none, Objective(np.empty((2, 0)), gold=np.empty((2, 0), np.int64)))
    answers, doubts = best_listed(none, empty, [as_around([[], []])], settle=True)
    assert answers.shape == (2, 0)
    assert not doubts.any()
    space = space_of(2)
    objective = as_objective(space, Objective(np.eye(4)[:2], gold=np.array([[1, 1], [1, 0]])))
    answers, _ = best_listed(space, objective, [as_around([[], []])], settle=True)
    assert answers.tolist() == [[1, 1], [1, 0]]
    nothing = objective.rows(np.zeros(0, np.int64))
    answers, _ = best_listed(space, nothing, [as_around([])], settle=True)
    assert answers.shape == (0, 2)


def test_what_would_not_fit_into_memory_is_refused():
    builder = SpaceBuilder()
    for j in range(40):
        builder.variable(str(j), "abcdefgh")
    space = builder.build()
    gold = np.zeros((1, 40), dtype=np.int64)
    term = OneMinusF1().term(gold)
    objective = Objective(np.zeros((1, space.parts)), term=term, gold=gold)
    engine = Decomposed(Exact(), Subsets(5))
    with pytest.raises(UnsupportedSpace, match="take smaller sets, or sample some"):
        engine.solve(space, objective)
