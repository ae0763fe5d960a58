"""Sets of a decomposition: what is kept of them, and how they are laid out flat."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.engines import Exact, Problem
from rote.errors import SettingError
from rote.inference.problem import Context
from rote.inference.wrappers.decomposed import (
    CustomSets,
    Decomposed,
    HammingBall,
    SignedComponents,
    Union,
)
from rote.inference.wrappers.decomposed.sets import (
    EVERY,
    as_around,
    normalised,
    of_inputs,
    some_sets,
)
from rote.space import SpaceBuilder
from rote.types import readonly
from tests.bundles import as_arrays


def space_of(n, labels="ab"):
    builder = SpaceBuilder()
    for j in range(n):
        builder.variable(f"x{j}", labels)
    return builder.build()


def asked(space, gold):
    gold = np.array(gold, dtype=np.int64)
    return Problem(space, np.zeros((len(gold), space.parts))), readonly(gold)


def lists_of(around):
    """The sets of each input."""
    around = as_arrays(around)
    return [
        [
            around.members[around.ptr[s] : around.ptr[s + 1]].tolist()
            for s in range(around.begin[i], around.end[i])
        ]
        for i in range(len(around.begin))
    ]


# -- normalised ---------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 5)), max_size=6))
def test_what_is_kept_reaches_all_that_was_reached_and_nothing_is_inside_another(sets):
    kept = normalised(sets, 6)
    assert kept == sorted(kept)
    for one in kept:
        assert list(one) == sorted(set(one))
        assert set(one) in [set(given) for given in sets]
    for one in sets:
        assert not one or any(set(one) <= set(other) for other in kept)
    for one, other in combinations(kept, 2):
        assert not set(one) <= set(other)
        assert not set(other) <= set(one)


def test_sets_may_be_of_any_kind():
    expected = [(0, 1), (2,)]
    assert normalised([{1, 0}, {2}], 3) == expected
    assert normalised([np.array([0, 1]), [np.int32(2)]], 3) == expected
    assert normalised((range(j, j + 2) for j in (0,)), 3) == [(0, 1)]
    assert normalised(((j for j in one) for one in ([1, 1, 0], [2], [2])), 3) == expected
    assert normalised([frozenset(), (0, 1), (1,), (2,)], 3) == expected
    assert normalised([], 3) == normalised([[], ()], 3) == normalised([[]], 0) == []
    found = normalised(np.array([[0, 1], [2, 2]]), 3)
    assert found == expected
    assert all(type(j) is int for one in found for j in one)


@pytest.mark.parametrize("wrong", [3, -1, 1.0, "0", None, np.float64(1)], ids=str)
def test_what_is_no_position_of_a_variable_is_refused(wrong):
    with pytest.raises(
        SettingError, match=r"positions of variables, counted from 0, and there are 3; got"
    ):
        normalised([[0], [1, wrong]], 3)


@pytest.mark.parametrize("wrong", [[0, 1], None, 0], ids=str)
def test_what_is_no_sets_is_refused(wrong):
    with pytest.raises(SettingError, match="set"):
        normalised(wrong, 3)


# -- flat ---------------------------------------------------------------------------------------

flat_sets = st.lists(
    st.lists(st.lists(st.integers(0, 4), unique=True, max_size=4), max_size=3), max_size=4
)


@given(flat_sets, st.data())
def test_flat_sets_and_some_of_them_are_what_they_were(lists, data):
    around = as_around(lists)
    assert around.most == EVERY
    assert lists_of(around) == lists
    flat = as_arrays(around)
    assert all(a.dtype == np.int64 for a in (flat.begin, flat.end, flat.ptr, flat.members))
    inputs = data.draw(st.sets(st.integers(0, len(lists) - 1))) if lists else set()
    chosen = np.array(sorted(inputs), dtype=np.int64)
    assert lists_of(of_inputs(around, chosen)) == [lists[i] for i in chosen]
    which = np.array(
        [data.draw(st.booleans()) for sets in lists for _ in sets], dtype=np.bool_
    ).reshape(-1)
    owner = np.repeat(np.arange(len(lists)), [len(sets) for sets in lists])
    counts = np.bincount(owner[which], minlength=len(lists)).astype(np.int64)
    keep = iter(which.tolist())
    expected = [[one for one in sets if next(keep)] for sets in lists]
    assert lists_of(some_sets(around, which, counts)) == expected


def test_inputs_that_share_one_set_go_on_sharing_it():
    space = space_of(4)
    (around,) = HammingBall(2).split(*asked(space, [[0, 0, 0, 0]] * 3)).sets
    fewer = of_inputs(around, np.array([0, 2]))
    assert lists_of(fewer) == [[[0, 1, 2, 3]]] * 2
    assert fewer.most == 2


# -- decompositions -----------------------------------------------------------------------------


def test_a_function_sees_the_space_and_one_gold_output_at_a_time():
    space, seen = space_of(3), []

    def ones(given, gold):
        seen.append((given, gold.tolist()))
        return [np.flatnonzero(gold), [0]]

    gold = np.array([[0, 1, 1], [0, 0, 0], [1, 1, 0]])
    split = CustomSets(ones).split(*asked(space, gold))
    assert seen == [(space, row) for row in gold.tolist()]
    assert lists_of(split.sets[0]) == [[[0], [1, 2]], [[0]], [[0, 1]]]
    assert split.whole.tolist() == [False] * 3
    assert CustomSets(ones).lists(space, gold) == [[(0,), (1, 2)], [(0,)], [(0, 1)]]


def test_a_function_cannot_change_the_gold_output():
    space = space_of(2)

    def careless(_, gold):
        gold[0] = 1
        return [[0]]

    gold = np.zeros((1, 2), dtype=np.int64)
    with pytest.raises(ValueError, match="read-only"):
        Decomposed(Exact(), careless).solve(space, np.zeros(4), Context(gold=gold))
    assert not gold.any()


@pytest.mark.parametrize("wrong", ["words", None, 3, [[0]]], ids=str)
def test_a_chosen_decomposition_needs_a_function(wrong):
    with pytest.raises(SettingError, match="function is a function of a space"):
        CustomSets(wrong)


def test_a_union_has_all_sets_and_is_whole_where_one_part_is():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    builder.require(x["b"] >> y["b"])
    space = builder.build()
    question = asked(space, [[0, 0], [1, 1], [0, 1]])
    signed = SignedComponents()
    union = Union(HammingBall(1), signed, CustomSets(lambda *_: [[1]])).split(*question)
    alone = signed.split(*question)
    assert len(union.sets) == 3
    assert lists_of(union.sets[1]) == lists_of(alone.sets[0])
    assert lists_of(union.sets[2]) == [[[1]]] * 3
    assert union.whole.tolist() == alone.whole.tolist()
    nested = Union(Union(HammingBall(1)), Union(signed)).split(*question)
    assert len(nested.sets) == 2


def test_a_union_of_nothing_and_of_what_is_none_is_refused():
    with pytest.raises(SettingError, match="at least one"):
        Union()
    for wrong in ("words", HammingBall, None):
        with pytest.raises(SettingError, match="decomposition is one such as"):
            Union(HammingBall(1), wrong)


def test_functions_may_be_parts_of_a_union():
    space = space_of(2)
    split = Union(HammingBall(1), lambda *_: [[0, 1]]).split(*asked(space, [[0, 0]]))
    assert lists_of(split.sets[1]) == [[[0, 1]]]


# -- Hamming balls ------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5, 6, 10**30, np.int64(3)], ids=str)
def test_all_inputs_share_one_set_with_at_most_k_changes(k):
    space = space_of(6)
    split = HammingBall(k).split(*asked(space, np.zeros((3, 6))))
    (around,) = split.sets
    assert lists_of(around) == [[[0, 1, 2, 3, 4, 5]]] * 3
    assert around.most == min(k, 6)
    assert around.ptr.shape == (2,)
    assert split.whole.tolist() == [False] * 3


def test_a_sample_is_of_k_variables_each_for_every_input():
    space = space_of(8)
    problem = Problem(space, np.random.default_rng(0).normal(size=(4, space.parts)))
    gold = np.zeros((4, 8), dtype=np.int64)
    (around,) = HammingBall(3, sample=5).split(problem, gold).sets
    lists = lists_of(around)
    assert around.most == EVERY
    assert [len(sets) for sets in lists] == [5] * 4
    for sets in lists:
        assert all(len(set(one)) == 3 and one == sorted(one) for one in sets)
    assert len({str(sets) for sets in lists}) == 4  # other scores, other sets
    (again,) = HammingBall(3, sample=5).split(problem.rows([2, 0]), gold[:2]).sets
    assert lists_of(again) == [lists[2], lists[0]]
    (other,) = HammingBall(3, sample=5, seed=1).split(problem, gold).sets
    assert lists_of(other) != lists


@pytest.mark.parametrize("k", [4, 5, 10**30])
def test_a_sample_of_all_variables_is_no_sample(k):
    space = space_of(4)
    (around,) = HammingBall(k, sample=3).split(*asked(space, np.zeros((2, 4)))).sets
    assert lists_of(around) == [[[0, 1, 2, 3]]] * 2
    assert around.most == 4


def test_no_input_and_no_variables():
    space, none = space_of(3), SpaceBuilder().build()
    for subsets in (HammingBall(2), HammingBall(2, sample=2)):
        (around,) = subsets.split(*asked(space, np.zeros((0, 3)))).sets
        assert lists_of(around) == []
        split = subsets.split(*asked(none, np.zeros((2, 0))))
        assert lists_of(split.sets[0]) == [[[]], [[]]]
        assert split.whole.tolist() == [False, False]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("k", value) for value in (0, 1.5, "2", None)),
        *(("sample", value) for value in (0, 1.5, "2")),
        *(("seed", value) for value in (1.5, "a", None, 2**64)),
    ],
)
def test_settings_of_a_ball_are_whole_numbers(name, wrong):
    with pytest.raises(SettingError, match=f"{name} is a whole number .*, got"):
        HammingBall(**{"k": 2, name: wrong})
