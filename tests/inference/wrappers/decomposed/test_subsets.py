"""DecL-k: one shared set with at most k changes, or sets drawn for each question."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rote.errors import SettingError
from rote.inference import Problem
from rote.inference.wrappers.decomposed import HammingBall
from rote.inference.wrappers.decomposed.sets import EVERY
from rote.space import SpaceBuilder
from tests.inference.wrappers.decomposed.test_sets import asked, lists_of, space_of


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


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", None], ids=str)
def test_k_that_is_no_whole_number_above_zero_is_refused(wrong):
    with pytest.raises(SettingError, match=r"k is a whole number of at least 1, got"):
        HammingBall(wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2"], ids=str)
def test_a_sample_that_is_no_whole_number_above_zero_is_refused(wrong):
    with pytest.raises(SettingError, match=r"sample is a whole number of at least 1, got"):
        HammingBall(2, sample=wrong)


@pytest.mark.parametrize("wrong", [1.5, "a", None, 2**64], ids=str)
def test_a_seed_that_is_no_whole_number_of_64_bits_is_refused(wrong):
    with pytest.raises(SettingError, match="seed"):
        HammingBall(2, sample=1, seed=wrong)


def test_subsets_are_values():
    assert HammingBall(2) == HammingBall(2, None, 0) != HammingBall(3)
    assert hash(HammingBall(2, sample=4)) == hash(HammingBall(2, sample=4))
    assert pickle.loads(pickle.dumps(HammingBall(2, sample=4, seed=7))) == HammingBall(2, 4, 7)  # noqa: S301
    assert repr(HammingBall(2)) == "HammingBall(k=2, sample=None, seed=0)"
