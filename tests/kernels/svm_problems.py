"""Candidates of a small structural SVM, and what they mean as dense directions."""

from types import SimpleNamespace

import numpy as np
import pytest

from rote.kernels.learning.dual_descent import Desk, descend, gains_of, largest_gain
from rote.kernels.learning.working_set import (
    ATOM_FIELDS,
    STEP,
    WORK_FIELDS,
    Candidates,
    Dual,
    Offers,
    add_candidates,
)
from rote.types import readonly
from tests.kernels.parts import phi, random_columns, random_parts, whole

SLACKS = pytest.mark.parametrize("squared", [True, False], ids=["squared", "plain slacks"])
EXAMPLES = 3
REAL = ("dual", "loss", "products", "total")
PER_EXAMPLE = ("last", "last_atom", "size", "total")
OTHERS = ("example", "dual", "loss", "rank", "previous", "atom_ptr", "product_ptr", "atoms")


def empty(examples=EXAMPLES, room=512):
    """The arrays of candidates, as arrays, and the candidates themselves."""
    arrays = {
        name: np.zeros(
            examples if name in PER_EXAMPLE else room, np.float64 if name in REAL else np.int64
        )
        for name in (*OTHERS, "products", *PER_EXAMPLE)
    }
    arrays["atom"] = np.zeros((room, ATOM_FIELDS), np.int64)
    arrays["work"] = np.zeros((room, WORK_FIELDS))
    arrays["last"][:] = arrays["last_atom"][:] = -1
    return SimpleNamespace(**arrays), Candidates(**arrays)


class Problem:
    """Candidates of three examples, and their dense directions."""

    def __init__(self, seed, *, squared, rounds=3, delta=-100.0):
        self.squared = squared
        self.vectors, self.slots, self.firsts, self.size = random_parts(seed)
        self.rng = np.random.default_rng(seed)
        self.weights, self.scratch = np.zeros(self.size), np.zeros(self.size)
        self.costs = readonly(np.array([1.0, 0.3, 2.0]))
        self.arrays, self.candidates = empty()
        self.count, self.atoms = 0, 0
        self.gold = random_columns(self.rng, self.slots, EXAMPLES)
        self.outputs, self.losses = [], []
        for _ in range(rounds):
            self.add(self.others(), delta)

    def others(self):
        return random_columns(self.rng, self.slots, EXAMPLES)

    def add(self, found, delta):
        losses = (found != self.gold).sum(axis=1).astype(np.float64)
        along = [self.weights @ self.direction(i, y) for i, y in enumerate(found)]
        before = self.count
        self.count, self.atoms = add_candidates(
            self.dual(delta),
            self.slots,
            Offers(
                whole(range(EXAMPLES)),
                self.firsts,
                self.gold,
                found,
                readonly(losses),
                readonly(losses - along),
            ),
            before,
            self.atoms,
            self.scratch,
        )
        for c in range(before, self.count):
            example = int(self.arrays.example[c])
            self.outputs.append((example, tuple(found[example].tolist())))
            self.losses.append(losses[example])
        return self.count - before

    def direction(self, i, y):
        right = phi(self.vectors, self.slots, self.firsts[i], self.gold[i], self.size)
        return right - phi(self.vectors, self.slots, self.firsts[i], y, self.size)

    @property
    def directions(self):
        return np.array([self.direction(i, y) for i, y in self.outputs])

    @property
    def duals(self):
        return self.arrays.dual[: self.count]

    def gains(self):
        return np.array(self.losses) - self.directions @ self.weights

    def cost(self):
        """D(α), from the duals alone."""
        weights = self.duals @ self.directions
        value = 0.5 * weights @ weights - self.duals @ np.array(self.losses)
        if self.squared:
            value += (self.totals() ** 2 / (4 * self.costs)).sum()
        return value

    def totals(self):
        examples = [i for i, _ in self.outputs]
        return np.bincount(examples, self.duals, minlength=EXAMPLES)

    def own(self, example):
        """The candidates of an example, in the order they came."""
        return [c for c, (i, _) in enumerate(self.outputs) if i == example]

    def descend(self, passes=1, delta=1e-9, seed=0):
        return descend(self.dual(delta), whole(range(EXAMPLES)), passes, seed)

    def dual(self, delta=0.0, weights=None):
        weights = self.weights if weights is None else weights
        return Dual(weights, self.vectors, self.candidates, self.costs, self.squared, delta)

    def largest_gain(self):
        return largest_gain(self.dual())

    def check_books(self):
        """Everything that is kept beside the duals is what the duals and outputs say."""
        arrays, directions = self.arrays, self.directions
        assert (self.duals >= 0).all()
        np.testing.assert_allclose(self.weights, self.duals @ directions, atol=1e-9)
        np.testing.assert_allclose(arrays.total, self.totals(), atol=1e-9)
        assert arrays.loss[: self.count].tolist() == self.losses
        assert not self.scratch.any()
        assert not arrays.work[: self.atoms, STEP].any()
        for example in range(EXAMPLES):
            own = self.own(example)
            assert arrays.size[example] == len(own)
            assert arrays.rank[own].tolist() == list(range(len(own)))
            chain, c = [], arrays.last[example]
            while c >= 0:
                chain.append(int(c))
                c = arrays.previous[c]
            assert chain == own[::-1]
            products = directions[own] @ directions[own].T
            for r, c in enumerate(own):
                begin, end = arrays.product_ptr[c : c + 2]
                assert arrays.products[begin:end] == pytest.approx(products[r, : r + 1], abs=1e-9)


def gains_of_all(problem, weights, example):
    desk = Desk(problem.candidates, whole(range(EXAMPLES)))
    size = gains_of(problem.dual(weights=weights), example, desk)
    return desk.ids[:size].tolist(), desk.gains[:size]
