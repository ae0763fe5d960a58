"""Broken rows and the halves around an output, against all outputs of small random rows."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.bundles import Questions
from rote.kernels.search.rows import broken_rows, halves
from rote.space.lowering import Rows
from rote.space.network import group_rows
from rote.types import offsets_from_counts, readonly


@st.composite
def cases(draw):
    """Sizes, dense rows with whole weights, their ends, scores, and closed labels."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.integers(-2, 3, size=(draw(st.integers(1, 3)), sum(sizes))).astype(float)
    lower = rng.integers(-2, 2, size=len(weights)).astype(float)
    upper = lower + rng.integers(0, 3, size=len(weights))
    for end, far in ((lower, -np.inf), (upper, np.inf)):
        end[rng.random(len(end)) < 0.3] = far
    return sizes, weights, lower, upper, rng.normal(size=sum(sizes)), rng.random(sum(sizes)) < 0.2


def sparse(weights, lower, upper):
    where = [np.flatnonzero(row) for row in weights]
    indices = np.concatenate(where)
    data = np.concatenate([row[at] for row, at in zip(weights, where, strict=True)])
    counts = offsets_from_counts(list(map(len, where)))
    arrays = counts, indices, data, lower, upper
    return Rows(*map(readonly, arrays), weights.shape[1], 0)


@given(cases())
def test_halves_share_what_obeys_and_lose_at_least_what_they_say(case):
    sizes, weights, lower, upper, scores, closed = case
    offsets = offsets_from_counts(sizes)
    rows = group_rows(sparse(weights, lower, upper), np.array(sizes))
    every = np.array(list(product(*map(range, sizes))))
    parts = offsets[:-1] + every
    activity = weights[:, parts].sum(axis=2).T
    missed = np.maximum(0.0, np.maximum(activity - upper, lower - activity))
    broken, total = broken_rows(readonly(every), readonly(offsets), rows)
    assert total.tolist() == missed.sum(axis=1).tolist()
    assert (broken < 0).tolist() == (total == 0).tolist()
    bad = np.flatnonzero(broken >= 0)
    assert (missed[bad, broken[bad]] == missed[bad].max(axis=1)).all()

    is_open = ~closed[parts].any(axis=1)
    values = scores[parts].sum(axis=1)
    if not is_open.any():
        return
    top = np.flatnonzero(is_open)[np.argmax(values[is_open])]
    if broken[top] < 0:
        return
    # Without tables, the best output with a label gives up what its variable does.
    best = values[top] - np.repeat(scores[parts[top]], sizes) + scores
    questions = Questions(readonly(best[None]), readonly(closed[None]), np.zeros(1))
    one = readonly(every[[top]]), readonly(broken[[top]])
    shut, losses = halves(questions, *one, readonly(offsets), rows)
    obeys = is_open & (total == 0)
    inside = np.array([~half[parts].any(axis=1) for half in shut]) & (losses < np.inf)[:, None]
    assert inside[:, obeys].sum(axis=0).tolist() == [1] * obeys.sum()
    assert not inside[:, ~is_open].any()
    for half, loss in zip(inside, losses, strict=True):
        kept = half & obeys
        if kept.any():
            assert values[kept].max() <= values[top] - loss + 1e-9


def test_an_input_without_an_output_breaks_nothing():
    rows = group_rows(sparse(np.ones((1, 2)), np.array([2.0]), np.array([2.0])), np.array([1, 1]))
    labels = readonly(np.array([[-1, -1], [0, 0]]))
    broken, missed = broken_rows(labels, readonly(np.array([0, 1, 2])), rows)
    assert (broken.tolist(), missed.tolist()) == ([-1, -1], [0.0, 0.0])
