"""The kernels of chains, against naive twins."""

from itertools import pairwise, product

import numpy as np
import pytest

from rote.kernels.bundles import ChainPlan, TableRuns
from rote.kernels.dp.chains import (
    add_entries,
    best_chains,
    best_labels,
    chain_max_marginals,
    within_budget,
)
from tests.kernels.bodies import asked


def offsets_from_counts(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def first_order(sizes, mask=None, straight=True):
    """A chain of first order, its tables one after the other behind the labels.

    Without ``straight``, the kernels must go the long way through masks and gathers.
    """
    sizes = np.array(sizes, dtype=np.int64)
    n = len(sizes)
    offsets = offsets_from_counts(sizes)
    tables = sizes[:-1] * sizes[1:]
    starts = offsets[-1] + offsets_from_counts(tables)
    entries = int(starts[-1])
    allowed = np.ones(entries, np.bool_) if mask is None else mask
    steps = np.zeros((n - 1, 5), np.int64)
    steps[:, 0], steps[:, 1], steps[:, -1] = 1, sizes[1:], straight
    direct = np.full(n, -1, np.int64)
    if straight and mask is None:
        direct[1:] = starts[:-1]
    states = np.concatenate([[1], sizes[:-1]])
    room = [states.max(), (states * sizes).max(), tables.max(initial=1), sizes.max()]
    return ChainPlan(
        sizes,
        offsets,
        np.concatenate([[0], np.arange(n - 1), [n]]),
        states,
        np.ones(n, np.int64),
        offsets,
        direct,
        np.concatenate([[0], np.arange(n)]),
        np.arange(n - 1),
        steps,
        TableRuns(
            starts,
            np.zeros(n - 1, np.int64),
            np.full(n - 1, straight),
            allowed,
            np.arange(entries + 1),
            np.arange(entries),
        ),
        np.array(room, dtype=np.int64),
    )


def plain_viterbi(scores, sizes):
    """The best labels of each row of scores, ties not looked at."""
    offsets = offsets_from_counts(sizes)
    found = []
    for row in scores:
        at = offsets[-1]
        value = row[: sizes[0]]
        back = []
        for t in range(1, len(sizes)):
            shape = (sizes[t - 1], sizes[t])
            joint = value[:, None] + row[at : at + np.prod(shape)].reshape(shape)
            at += np.prod(shape)
            back.append(joint.argmax(axis=0))
            value = joint.max(axis=0) + row[offsets[t] : offsets[t + 1]]
        labels = [int(value.argmax())]
        for choice in reversed(back):
            labels.append(int(choice[labels[-1]]))
        found.append(labels[::-1])
    return np.array(found)


def values_of(row, sizes, mask):
    """Every output and its value."""
    offsets, starts = (
        offsets_from_counts(sizes),
        sum(sizes) + offsets_from_counts(np.multiply(sizes[:-1], sizes[1:])),
    )
    for labels in product(*(range(size) for size in sizes)):
        parts = [offsets[t] + a for t, a in enumerate(labels)]
        for t in range(len(sizes) - 1):
            parts.append(starts[t] + labels[t] * sizes[t + 1] + labels[t + 1])
        yield labels, row[parts].sum() if mask[parts].all() else -np.inf


@pytest.mark.parametrize("straight", [True, False])
@pytest.mark.parametrize("sizes", [[3, 2, 4, 3], [5], [1, 1, 1], [45] * 4, [2, 1, 3]])
def test_a_chain_of_first_order_is_what_viterbi_finds(sizes, straight):
    chain = first_order(sizes, straight=straight)
    scores = np.random.default_rng(1).normal(size=(6, chain.runs.starts[-1]))
    labels = best_chains(asked(scores), chain)
    assert labels.tolist() == plain_viterbi(scores, sizes).tolist()


@pytest.mark.parametrize("straight", [True, False])
def test_masks_and_closed_labels_are_kept_and_ties_go_to_the_first(straight):
    rng = np.random.default_rng(2)
    sizes = [3, 2, 4]
    for _ in range(30):
        mask = rng.random(first_order(sizes).runs.starts[-1]) < 0.8
        chain = first_order(sizes, mask, straight)
        scores = rng.integers(-1, 2, size=(4, len(mask))).astype(float)
        closed = rng.random((4, 9)) < 0.2
        labels = best_chains(asked(scores, closed), chain)
        for i in range(4):
            open_ = mask & ~np.pad(closed[i], (0, len(mask) - 9))
            outputs = list(values_of(scores[i], sizes, open_))
            best = max(value for _, value in outputs)
            first = next(y for y, value in outputs if value == best)
            assert tuple(labels[i]) == (first if best > -np.inf else (-1, -1, -1))


@pytest.mark.parametrize("sizes", [[3, 2, 4], [3], [1, 2]])
def test_max_marginals_are_the_best_values_label_by_label(sizes):
    rng = np.random.default_rng(3)
    mask = rng.random(first_order(sizes).runs.starts[-1]) < 0.85
    chain = first_order(sizes, mask)
    scores = rng.normal(size=(5, len(mask)))
    found = chain_max_marginals(asked(scores), chain)
    expected = np.full(found.shape, -np.inf)
    for i in range(5):
        for labels, value in values_of(scores[i], sizes, mask):
            at = offsets_from_counts(sizes)[:-1] + labels
            expected[i, at] = np.maximum(expected[i, at], value)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_labels_by_themselves_are_the_first_of_the_best():
    rng = np.random.default_rng(4)
    offsets = offsets_from_counts([3, 1, 4])
    scores = rng.integers(-2, 3, size=(20, 8)).astype(float)
    allowed = np.array([True] * 7 + [False])
    labels = best_labels(asked(scores), offsets, allowed)
    masked = np.where(allowed, scores, -np.inf)
    spans = [slice(a, b) for a, b in pairwise(offsets)]
    assert labels.tolist() == np.array([masked[:, s].argmax(axis=1) for s in spans]).T.tolist()


def test_an_input_with_a_variable_that_has_no_label_left_has_no_labels():
    closed = np.array([[False, False, True], [False, False, False]])
    questions = asked(np.zeros((2, 3)), closed)
    labels = best_labels(questions, offsets_from_counts([2, 1]), np.ones(3, np.bool_))
    assert labels.tolist() == [[-1, -1], [0, 0]]


@pytest.mark.parametrize(
    ("budget", "expected"), [(0.0, (2, 0.0)), (0.5, (1, 0.5)), (9.0, (0, 3.0))]
)
def test_the_smallest_label_within_the_budget_is_taken(budget, expected):
    values = np.array([0.0, 2.5, 3.0, 3.0])
    assert within_budget(values, budget) == expected


def test_no_label_is_within_any_budget_when_all_values_are_not_numbers():
    assert within_budget(np.array([np.nan]), 1.0)[0] == -1


@pytest.mark.parametrize("step", [1, 2])
def test_entries_are_added_by_their_gathers_or_from_one_run_of_parts(step):
    row = np.arange(10.0)
    allowed = np.array([True, True, False, True, True, True])
    starts, moves = np.array([0, 6]), np.full(1, 4)
    run = TableRuns(starts, moves, np.ones(1, np.bool_), allowed, np.arange(7), np.arange(4, 10))
    line = np.ones(3)
    add_entries(line, row, run, 0, 0, step)
    expected = np.where(allowed, row[4:], -np.inf)[: 3 * step : step] + 1
    assert line.tolist() == expected.tolist()
    several = np.zeros(2)
    gather = np.array([0, 2, 2]), np.array([3, 4])
    run = TableRuns(starts, moves, np.zeros(1, np.bool_), allowed, *gather)
    add_entries(several, row, run, 0, 0, 1)
    assert several.tolist() == [7.0, 0.0]
