"""The kernels of trees, against naive twins."""

from itertools import product

import numpy as np
import pytest

from rote.kernels.bundles import ForestPlan, TableRuns
from rote.kernels.dp.trees import best_trees, tree_max_marginals
from tests.kernels.bodies import asked


def offsets_from_counts(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


class Forest:
    """A forest by its parents; the table of each other variable is parent by child."""

    def __init__(self, sizes, parent, mask=None):
        n = len(sizes)
        self.sizes, self.parent = sizes, parent
        self.joined = [v for v in range(n) if parent[v] < n]
        self.starts = sum(sizes) + offsets_from_counts(
            [sizes[parent[v]] * sizes[v] for v in self.joined]
        )
        self.entries = int(self.starts[-1])
        self.mask = np.ones(self.entries, np.bool_) if mask is None else mask

    def plan(self):
        n, sizes, parent = len(self.sizes), np.array(self.sizes), np.array(self.parent)
        depth, root = np.zeros(n, np.int64), np.arange(n)
        for v in range(n):
            while parent[root[v]] < n:
                depth[v] += 1
                root[v] = parent[root[v]]
        table = np.full(n, -1, np.int64)
        table[self.joined] = np.arange(len(self.joined))
        direct = np.full(n, -1, np.int64)
        for k, v in enumerate(self.joined):
            if self.mask[self.starts[k] : self.starts[k + 1]].all():
                direct[v] = self.starts[k]
        above = np.concatenate([sizes, [1]])[parent]
        room = np.array([np.diff(self.starts).max(initial=1), sizes.max()])
        return ForestPlan(
            natural=bool(((parent == n) | (parent < np.arange(n))).all()),
            sizes=sizes,
            offsets=offsets_from_counts(sizes),
            order=np.argsort(depth, kind="stable"),
            parent=parent,
            depth=depth,
            root=root,
            table=table,
            direct=direct,
            step_parent=sizes,
            step_own=np.ones(n, np.int64),
            up_ptr=offsets_from_counts(above),
            child_ptr=offsets_from_counts(np.bincount(parent, minlength=n + 1)),
            children=np.argsort(parent, kind="stable"),
            runs=TableRuns(
                self.starts,
                np.zeros(len(self.joined), np.int64),
                np.ones(len(self.joined), np.bool_),
                self.mask,
                np.arange(self.entries + 1),
                np.arange(self.entries),
            ),
            room=room,
        )

    def outputs(self, row, closed):
        """Every output and its value."""
        offsets = offsets_from_counts(self.sizes)
        open_ = self.mask & ~np.pad(closed, (0, self.entries - len(closed)))
        for labels in product(*(range(size) for size in self.sizes)):
            parts = [offsets[v] + a for v, a in enumerate(labels)]
            for k, v in enumerate(self.joined):
                parts.append(self.starts[k] + labels[self.parent[v]] * self.sizes[v] + labels[v])
            yield labels, row[parts].sum() if open_[parts].all() else -np.inf


def best(forest, scores, closed=None):
    return best_trees(asked(scores, closed), forest.plan())


def marginals(forest, scores, closed=None):
    return tree_max_marginals(asked(scores, closed), forest.plan())


SHAPES = {
    "one variable": ([4], [1]),
    "one label": ([1, 1, 1], [3, 0, 1]),
    "chain in order": ([2, 3, 2, 2], [4, 0, 1, 2]),
    "chain out of order": ([2, 3, 2, 2], [4, 3, 0, 2]),
    "star out of order": ([3, 2, 2, 3], [4, 3, 3, 0]),
    "two trees and a loner": ([2, 2, 3, 2, 2, 2], [6, 6, 4, 1, 0, 6]),
}
shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@shapes
@pytest.mark.parametrize("whole", [False, True])
def test_labels_are_the_first_of_the_best(shape, whole):
    rng = np.random.default_rng(1)
    for _ in range(15):
        mask = rng.random(Forest(*shape).entries) < (0.9 if rng.random() < 0.5 else 1.0)
        forest = Forest(*shape, mask)
        scores = rng.normal(size=(4, forest.entries))
        if whole:
            scores = np.rint(scores)
        closed = rng.random((4, sum(forest.sizes))) < 0.1
        labels = best(forest, scores, closed)
        for i in range(4):
            outputs = list(forest.outputs(scores[i], closed[i]))
            top = max(value for _, value in outputs)
            first = next(y for y, value in outputs if value >= top - 1e-10)
            assert tuple(labels[i]) == (first if top > -np.inf else (-1,) * len(first))


@shapes
def test_max_marginals_are_the_best_values_label_by_label(shape):
    rng = np.random.default_rng(2)
    mask = rng.random(Forest(*shape).entries) < 0.9
    forest = Forest(*shape, mask)
    scores = rng.normal(size=(4, forest.entries))
    closed = rng.random((4, sum(forest.sizes))) < 0.1
    found = marginals(forest, scores, closed)
    expected = np.full(found.shape, -np.inf)
    for i in range(4):
        for labels, value in forest.outputs(scores[i], closed[i]):
            at = offsets_from_counts(forest.sizes)[:-1] + labels
            expected[i, at] = np.maximum(expected[i, at], value)
    np.testing.assert_allclose(found, expected, atol=1e-12)
