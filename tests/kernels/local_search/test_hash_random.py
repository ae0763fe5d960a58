"""Draws: known numbers, naive twins in whole numbers, and how even they are."""

import struct
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.constants import FIRST_FACTOR, GOLDEN, SECOND_FACTOR, WORD
from rote.kernels.local_search.hash_random import (
    draw_starts,
    draw_subsets,
    hash_labels,
    seeds_of,
)
from rote.types import readonly
from tests.kernels.parts import whole


def naive_mixed(state):
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & WORD
    return state ^ (state >> 31)


def naive_seed(scores, seed):
    """Four states take in the scores in turn, and those that are left over go to the first."""
    first = (seed + GOLDEN) & WORD
    states = [first, (first + GOLDEN) & WORD, first ^ FIRST_FACTOR, first ^ SECOND_FACTOR]
    for p, score in enumerate(scores):
        (bits,) = struct.unpack("<Q", struct.pack("<d", score))
        turn = p % 4 if p < len(scores) // 4 * 4 else 0
        state = ((states[turn] ^ bits) * FIRST_FACTOR) & WORD
        states[turn] = state ^ (state >> 32)
    total = 0
    for state in states:
        total = naive_mixed((total + state) & WORD)
    return total


def naive_subsets(scores, gold, k, sample, seed):
    """What is drawn for one input, in Python's whole numbers, which do not run over."""
    state = naive_seed(scores, seed)
    for label in gold:
        state = naive_mixed((state + GOLDEN + label) & WORD)
    drawn = []
    for _ in range(sample):
        taken = set()
        for top in range(len(gold) - k, len(gold)):
            state = (state + GOLDEN) & WORD
            j = ((naive_mixed(state) >> 32) * (top + 1)) >> 32
            taken.add(top if j in taken else j)
        drawn.append(sorted(taken))
    return drawn


def question(m, n, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.integers(3, size=(m, n))
    return readonly(rng.normal(size=(m, 2 * n))), readonly(gold)


def test_the_naive_numbers_are_those_of_splitmix64():
    # The first outputs of the published generator for the seed 1234567.
    known = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [naive_mixed((1234567 + GOLDEN * (i + 1)) & WORD) for i in range(5)] == known


@given(
    n=st.integers(1, 6),
    m=st.integers(0, 3),
    sample=st.integers(1, 4),
    seed=st.integers(0, 2**62),
    data=st.data(),
)
def test_draws_are_those_of_the_naive_twin(n, m, sample, seed, data):
    k = data.draw(st.integers(1, n))
    scores, gold = question(m, n, seed)
    expected = [
        j
        for i in range(m)
        for drawn in naive_subsets(scores[i], gold[i].tolist(), k, sample, seed)
        for j in drawn
    ]
    assert draw_subsets(scores, gold, k, sample, seed).tolist() == expected


@given(st.lists(st.floats(allow_nan=False), max_size=9), st.integers(0, 2**62))
def test_seeds_are_those_of_the_naive_twin(scores, seed):
    row = readonly(np.array([scores], dtype=np.float64).reshape(1, len(scores)))
    expected = [naive_seed(scores, seed)]
    assert seeds_of(row, seed).view(np.uint64).tolist() == expected


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 2), (6, 3), (5, 4), (7, 2)])
def test_all_subsets_are_drawn_equally_often(n, k):
    from scipy.stats import chisquare

    every = dict.fromkeys(combinations(range(n), k), 0)
    # From one question, and one set from each of many questions.
    scores, gold = question(1, n, seed=n)
    many, golds = question(5_000, n, seed=k)
    for drawn in (
        draw_subsets(scores, gold, k, 5_000, 4).reshape(-1, k),
        draw_subsets(many, golds, k, 1, 4).reshape(-1, k),
    ):
        counts = dict(every)
        for one in drawn.tolist():
            counts[tuple(one)] += 1
        assert chisquare(list(counts.values())).pvalue > 1e-3


# -- starts ---------------------------------------------------------------------------------------


def test_starts_keep_the_guess_but_for_so_many_and_draw_evenly():
    n, m = 6, 4000
    scores = readonly(np.random.default_rng(0).normal(size=(m, 3 * n)))
    forbidden = np.zeros((m, 3 * n), dtype=np.bool_)
    forbidden[:, 4] = True  # the second label of the second variable
    initial = whole(np.zeros((m, n)))
    offsets = whole(np.arange(0, 3 * n + 1, 3))
    seeds = readonly(seeds_of(scores, 7))
    for n_resampled in (0, 2, 6):
        seen = np.empty((m, 1), np.int64)
        starts = draw_starts(seeds, readonly(forbidden), initial, offsets, n_resampled, seen, 0)
        assert (starts != 0).sum(axis=1).max() <= n_resampled
        # Each variable is drawn with the same chance, and each label it may have.
        share = n_resampled / n
        for j in range(n):
            counts = np.bincount(starts[:, j], minlength=3) / m
            if j == 1:
                assert counts[1] == 0.0
                assert counts[2] == pytest.approx(share / 2, abs=0.04)
            else:
                assert counts[1:].tolist() == pytest.approx([share / 3] * 2, abs=0.04)


@given(
    st.integers(0, 999), st.integers(1, 6), st.integers(2, 3), st.integers(0, 6), st.integers(1, 12)
)
def test_a_start_that_was_there_is_drawn_again_with_twice_as_many_labels(
    seed, n, size, n_resampled, restarts
):
    n_resampled, m = min(n_resampled, n), 3
    initial = whole(np.random.default_rng(seed).integers(size, size=(m, n)))
    none = readonly(np.zeros((m, n * size), np.bool_))
    given_seeds = readonly(np.random.default_rng(seed).integers(1 << 62, size=m))
    offsets = whole(np.arange(0, n * size + 1, size))
    seen = np.empty((m, restarts), np.int64)
    for restart in range(restarts):
        before = seen.copy()
        arguments = (given_seeds, none, initial, offsets, n_resampled)
        starts = draw_starts(*arguments, seen, restart)
        assert seen[:, :restart].tolist() == before[:, :restart].tolist()
        assert seen[:, restart].tolist() == [hash_labels(start) for start in starts]
        for i in range(m):
            once = draw_starts(*arguments, np.full((m, restarts), -1), restart)[i]
            assert (once != initial[i]).sum() <= n_resampled
            if hash_labels(once) not in seen[i, :restart]:
                assert starts[i].tolist() == once.tolist()
            elif n_resampled == n:  # when all labels are drawn, what comes is taken
                assert starts[i].tolist() == once.tolist()
                assert restart > 0


def test_a_small_share_of_likely_labels_does_not_go_round_in_few_starts():
    n, restarts = 14, 50
    initial, none = whole(np.zeros((1, n))), readonly(np.zeros((1, 2 * n), np.bool_))
    seen = np.empty((1, restarts), np.int64)
    offsets = whole(np.arange(0, 2 * n + 1, 2))
    for restart in range(restarts):
        draw_starts(whole([3]), none, initial, offsets, 1, seen, restart)
    # One label drawn anew makes 15 starts.
    assert len(set(seen[0].tolist())) == restarts


def test_prints_tell_outputs_apart():
    every = [whole(labels) for labels in product(range(3), repeat=6)]
    assert len({hash_labels(labels) for labels in every}) == len(every)
