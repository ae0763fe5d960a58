"""Losses: how wrong an output is, for evaluation and for loss-augmented inference.

A loss Δ(gold, y) that adds up over variables becomes an offset per label, so that
loss-augmented inference, max_y score(y) + Δ(gold, y), is inference on scores plus offsets.
A loss that does not add up becomes a *term* of the objective, which only some engines take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from rote.errors import SettingError
from rote.kernels.constants import F1, JACCARD, WRONG
from rote.settings import check, number
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, readonly


class LossTerm(Protocol):
    """Something an objective adds to the score of an output that no sum over parts can say.

    A term may also have ``changes(labels)``, for outputs of shape (m, variables): what it would add
    with one label changed, for every label of every variable, of shape (m, labels). Greedy search
    asks for it at every step, and works it out from ``value`` where a term has none.
    """

    def __len__(self) -> int:
        """For how many inputs it speaks."""
        ...

    def rows(self, index: AnyArray) -> LossTerm:
        """The term of some of the inputs."""
        ...

    def value(self, labels: IntArray) -> FloatArray:
        """What it adds to outputs of shape (m, k, variables), k for each input: (m, k)."""
        ...


class Loss(Protocol):
    """How wrong outputs are."""

    def value(self, space: Space, gold: IntArray, labels: IntArray) -> FloatArray:
        """The loss of each output of a batch, of shape (m,)."""
        ...

    def offsets(self, space: Space, gold: IntArray) -> FloatArray | None:
        """The loss of each label, of shape (m, labels), or None where it does not add up."""
        ...

    def term(self, gold: IntArray) -> LossTerm:
        """The loss as a term."""
        ...


@dataclass(frozen=True)
class Hamming:
    """The number of wrong labels, or the sum of what they cost.

    Parameters
    ----------
    weights
        What a wrong label costs, by the right label it misses: numbers of at least 0, as a mapping
        or as pairs. A label that is not named costs 1.

    >>> Hamming({"B-NP": 2.0})
    Hamming(weights=(('B-NP', 2.0),))
    """

    weights: Mapping[str, float] | tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        pairs = tuple(dict(self.weights).items())  # can be hashed
        object.__setattr__(self, "weights", pairs)
        for label, weight in pairs:
            check(f"the weight of {label!r}", weight, number(least=0))

    def value(self, space: Space, gold: IntArray, labels: IntArray) -> FloatArray:
        return np.asarray(((gold != labels) * self._costs(space, gold)).sum(axis=1))

    def offsets(self, space: Space, gold: IntArray) -> FloatArray:
        costs = np.repeat(self._costs(space, gold), space.sizes, axis=1)
        costs[np.arange(len(gold))[:, None], space.offsets[:-1] + gold] = 0.0
        return readonly(costs)

    def term(self, gold: IntArray) -> LossTerm:
        raise SettingError("the Hamming loss adds up over labels; it needs no term")

    def _costs(self, space: Space, gold: IntArray) -> FloatArray:
        costs = np.ones(gold.shape)
        if self.weights:
            weights = dict(self.weights)
            table = np.array([weights.get(a, 1.0) for v in space.variables for a in v.labels])
            costs = table[space.offsets[:-1] + gold]
        costs[:, space.own :] = 0.0  # what soft rules say is not part of the output
        return np.asarray(costs)


class TermLoss:
    """A loss that does not add up over variables: a term of a ``kind`` that kernels know."""

    kind: ClassVar[int]

    def value(self, space: Space, gold: IntArray, labels: IntArray) -> FloatArray:
        own = slice(space.own)
        return np.asarray(self.term(gold[:, own]).value(labels[:, None, own])[:, 0])

    def offsets(self, space: Space, gold: IntArray) -> None:
        return None

    def term(self, gold: IntArray) -> LossTerm:
        return KnownTerm(gold, self.kind)


@dataclass(frozen=True)
class ZeroOne(TermLoss):
    """1 for every output but the right one."""

    kind = WRONG


@dataclass(frozen=True)
class F1Loss(TermLoss):
    """1 - F1 over the pairs of a variable and its label, first labels aside, input by input.

    With labels (off, on) this is the example F1 of multi-label classification. F1 is 1 when
    nothing is on, neither in gold nor in the output.
    """

    kind = F1


@dataclass(frozen=True)
class JaccardLoss(TermLoss):
    """1 - |gold ∩ y| / |gold ∪ y| over pairs of a variable and its label, first labels aside."""

    kind = JACCARD


@dataclass(frozen=True, eq=False)
class OwnTerm:
    """A loss term that looks at the first variables of outputs, without those of soft rules."""

    term: LossTerm
    own: int

    def __len__(self) -> int:
        return len(self.term)

    def rows(self, index: AnyArray) -> OwnTerm:
        return OwnTerm(self.term.rows(index), self.own)

    def value(self, labels: IntArray) -> FloatArray:
        return self.term.value(labels[..., : self.own])


@dataclass(frozen=True, eq=False)
class KnownTerm:
    """A loss term that kernels know by its kind: `WRONG`, `F1` or `JACCARD`."""

    gold: IntArray
    kind: int

    def __len__(self) -> int:
        return len(self.gold)

    def rows(self, index: AnyArray) -> KnownTerm:
        return KnownTerm(readonly(self.gold[index]), self.kind)

    def value(self, labels: IntArray) -> FloatArray:
        gold = self.gold[:, None, :]
        if self.kind == WRONG:
            return np.asarray((labels != gold).any(axis=2), dtype=np.float64)
        right = ((labels == gold) & (gold > 0)).sum(axis=2)
        on, predicted = (gold > 0).sum(axis=2), (labels > 0).sum(axis=2)
        if self.kind == JACCARD:
            over, under = right, on + predicted - right
        else:
            over, under = 2 * right, on + predicted
        return np.asarray(1.0 - np.where(under == 0, 1.0, over / np.maximum(under, 1)))
