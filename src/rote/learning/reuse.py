"""Outputs taken again without solving: the caching heuristic of 1-slack SVMs, example by example.

Joachims et al. (2009) make a cutting plane of the best output in a cache where that is violated,
and solve only where it is not. For dual coordinate descent (Chang et al. 2015): if y' is the best
of all outputs found so far for examples with the same space, and its gain is above δ,

    Δ(y_i, y') - w · (φ(x_i, y_i) - φ(x_i, y')) - (Σ_y α_{i,y}) / 2C  >  δ            (eq. 8)

y' becomes a candidate and no inference is made. Nothing says that y' is the worst output, so the
primal of an iteration with such examples is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rote.errors import SettingError
from rote.inference.engine import Engine
from rote.inference.problem import NONE_CLOSED, Problem
from rote.kernels.cache_lookup import best_remembered
from rote.learning.loss_augmented import Violation, max_violated
from rote.model import Batch, Dataset
from rote.space import Space
from rote.space.losses import Loss
from rote.types import AnyArray, FloatArray, IntArray, readonly

SAVED = "outputs."  # how the names of saved arrays begin


class Reuse:
    """The outputs found so far, by space."""

    def __init__(self) -> None:
        self._outputs: dict[Space, IntArray] = {}

    def saved(self, groups: Sequence[Batch]) -> dict[str, AnyArray]:
        """The outputs by the number of a group with their space."""
        spaces = enumerate(group.space for group in groups)
        return {f"{SAVED}{k}": self._outputs[s] for k, s in spaces if s in self._outputs}

    @staticmethod
    def restored(saved: Mapping[str, AnyArray], groups: Sequence[Batch]) -> Reuse:
        """The outputs that were saved with the same groups."""
        reuse = Reuse()
        names = {f"{SAVED}{k}": group.space for k, group in enumerate(groups)}
        reuse._outputs = {space: saved[name] for name, space in names.items() if name in saved}
        return reuse

    def most_violated_of(
        self,
        engine: Engine,
        prepared: Dataset,
        weights: FloatArray,
        loss: Loss,
        group: Batch,
        bars: FloatArray,
    ) -> tuple[Violation, int]:
        """The examples of a group: a remembered output whose slack is above its bar, or the worst.

        Without a remembered output above the bar, the engine looks for the worst one. The number is
        of examples that it was not asked for.
        """
        space, gold = group.space, group.gold
        assert gold is not None
        if group.frame.global_features:
            raise SettingError(
                "reuse looks at parts alone; leave out either reuse or the global features"
            )
        problem = prepared.problem(weights, group, "example")
        known = self._outputs.get(space, readonly(np.empty((0, gold.shape[1]), dtype=np.int64)))
        labels, slacks = self._remembered(problem, gold, loss, known)
        rest = np.flatnonzero(~(slacks > bars))
        if len(rest):
            context = prepared.context(group).rows(rest)
            labels[rest], slacks[rest], _ = max_violated(
                engine, problem.rows(rest), context, loss, "example", group.members[rest]
            )
            self._outputs[space] = np.unique(np.concatenate([known, labels[rest]]), axis=0)
        losses = readonly(loss.value(space, gold, readonly(labels)))
        return Violation(group, readonly(labels), readonly(slacks), losses), len(labels) - len(rest)

    @staticmethod
    def _remembered(
        problem: Problem, gold: IntArray, loss: Loss, known: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """The best of the known outputs under the loss, and its slack; -inf where none is known."""
        space, augmented = problem.space, problem.with_loss(loss, gold)
        if augmented.loss_term is not None:
            raise SettingError("reuse needs a loss that adds up over labels, such as Hamming")
        parts = space.known_parts_of(readonly(known))
        best = best_remembered(augmented.scores, NONE_CLOSED, parts, gold.shape[1])
        if not len(known):
            return np.full_like(gold, -1), np.full(len(gold), -np.inf)
        labels = known[best]
        return labels, augmented.value(readonly(labels)) - problem.value(readonly(gold))
