"""Small problems for learners, dense feature vectors, and objectives by enumeration."""

from functools import cache

import numpy as np

from rote.engines import Exact
from rote.model import Model, prepare
from rote.space import SpaceBuilder
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot, Task
from tests.strategies import Judge

LABELS = ("a", "b", "c")


def as_given(x):
    """An input that is a sequence of vectors already."""
    return list(x)


def chains(seed, count=8, longest=3, labels=LABELS, order=1, features=3, noise=0.3, **options):
    """A tagging task, and sequences whose labels follow from arrays of features, nearly."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(features, len(labels)))
    xs = [rng.normal(size=(int(rng.integers(1, longest + 1)), features)) for _ in range(count)]
    ys = [
        tuple(labels[a] for a in (x @ truth + noise * rng.normal(size=(len(x), 1))).argmax(axis=1))
        for x in xs
    ]
    if noise:
        for k in range(0, count, 4):  # some that nothing can explain
            ys[k] = tuple(labels[int(a)] for a in rng.integers(len(labels), size=len(xs[k])))
    return Tagging(labels, as_given, order=order, **options), xs, ys


def start(task, xs, ys, engine=None, **options):
    """A model with zero weights, and its examples made ready."""
    prepared = prepare(task, xs, ys, **options)
    return Model(task, prepared.layout, prepared.layout.zeros(), engine or Exact()), prepared


def phi(task, layout, x, labels):
    """φ(x, y) as a dense array, slot by slot, whatever the kernels do."""
    frame, vectors = task.frame(x), task.vectors(x)
    numbers = np.arange(layout.size)
    space = frame.space
    chosen = list(labels)
    for factor in space.factors:
        shape = [len(space.variables[j].labels) for j in factor.variables]
        chosen.append(int(np.ravel_multi_index([labels[j] for j in factor.variables], shape)))
    dense = np.zeros(layout.size)
    for slot, label in zip(frame.slots, chosen, strict=True):
        places = layout.block(numbers, slot.block)
        column, vector = (0, slot.vector + label) if slot.each else (label, slot.vector)
        for feature, value in _entries(layout, frame, vectors, vector):
            dense[places[feature, column]] += value
    for family in frame.global_features:
        for value in family.values(np.array([labels]))[0].tolist():
            dense[layout.block(numbers, family.block)[0, value]] += 1
    return dense


def _entries(layout, frame, vectors, vector):
    if vector is None:
        return [(0, 1.0)]
    features = vectors[vector]
    if isinstance(features, np.ndarray):
        return list(enumerate(features.tolist()))
    index = layout.indices[frame.kinds[vector]]
    pairs = features.items() if isinstance(features, dict) else [(name, 1.0) for name in features]
    return [(index.column(name), value) for name, value in pairs if index.column(name) >= 0]


class Links(Task):
    """One variable per item, whose labels have a vector each: which earlier item it refers to."""

    @staticmethod
    @cache
    def _frame(n):
        builder = SpaceBuilder()
        slots, first = [], 0
        for t in range(n):
            builder.variable(f"m{t}", tuple(map(str, range(t + 1))))
            slots.append(Slot("link", first, each=True))
            first += t + 1
        return Frame(builder.build(), tuple(slots), ("pair",) * first)

    def frame(self, x):
        return self._frame(len(x))

    def vectors(self, x):
        return [np.concatenate([x[s], x[t]]) for t in range(len(x)) for s in range(t + 1)]

    def encode(self, x, y):
        return y

    def decode(self, x, labels):
        return tuple(labels)


class Everything:
    """All directions φ(x, gold) - φ(x, y) and losses of all examples, for tiny problems."""

    def __init__(self, task, layout, xs, ys, loss, cost, sample_weight=None):
        self.directions, self.losses = [], []
        for x, y in zip(xs, ys, strict=True):
            space = task.frame(x).space
            gold = tuple(task.encode(x, y))
            outputs = [labels for labels in Judge(space).outputs if labels != gold]
            right = phi(task, layout, x, gold)
            self.directions.append(
                np.array([right - phi(task, layout, x, labels) for labels in outputs]).reshape(
                    len(outputs), layout.size
                )
            )
            golds = np.array([gold] * len(outputs), dtype=np.int64).reshape(len(outputs), len(gold))
            labels = np.array(outputs, dtype=np.int64).reshape(golds.shape)
            self.losses.append(loss.value(space, golds, labels))
        self.costs = cost * (np.ones(len(self.losses)) if sample_weight is None else sample_weight)

    def slacks(self, weights):
        return np.array(
            [
                max(0.0, *(losses - directions @ weights))
                for directions, losses in zip(self.directions, self.losses, strict=True)
            ]
        )

    def primal(self, weights, *, squared):
        slacks = self.slacks(weights)
        each = slacks**2 if squared else slacks
        return 0.5 * float(weights @ weights) + float(self.costs @ each)

    def optimum(self, *, squared):
        """The least primal value and its weights, by SciPy's SLSQP on weights and slacks."""
        from scipy.optimize import minimize

        count, size = len(self.losses), self.directions[0].shape[1]
        A = np.concatenate(self.directions)
        which = np.repeat(np.arange(count), [len(losses) for losses in self.losses])
        rows = np.concatenate([A, np.eye(count)[which]], axis=1)
        b = np.concatenate(self.losses)

        def value(z):
            w, slack = z[:size], z[size:]
            if squared:
                slope = 2 * self.costs * slack
                return 0.5 * w @ w + self.costs @ slack**2, np.concatenate([w, slope])
            return 0.5 * w @ w + self.costs @ slack, np.concatenate([w, self.costs])

        z = np.concatenate([np.zeros(size), [max(0.0, *losses) for losses in self.losses]])
        found = minimize(
            value,
            z,
            jac=True,
            method="SLSQP",
            bounds=[(None, None)] * size + [(0, None)] * count,
            constraints={"type": "ineq", "fun": lambda z: rows @ z - b, "jac": lambda z: rows},
            options={"ftol": 1e-12, "maxiter": 1000},
        )
        assert found.success, found.message
        return float(found.fun), found.x[:size]
