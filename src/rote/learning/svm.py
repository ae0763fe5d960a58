"""The structural SVM by dual coordinate descent, as in Chang et al. (2015).

    min_w  ½ ‖w‖² + C Σ_i ξ_i²      ξ_i = max_y Δ(y_i, y) - w · (φ(x_i, y_i) - φ(x_i, y))

(or C Σ_i ξ_i with plain slacks). An iteration is an inference phase, which finds the worst output
of every example under the same weights and makes it a candidate if its gain is above δ, and an
update phase, which descends over all candidates (`rote.kernels.candidates`). It stops when no
candidate came and no projected gain is above δ.

The primal is worked out from the inference phase, the dual is -D(α) of the duals that gave the
weights, and their gap bounds how far both are from the optimum, if the engine is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rote.inference import Engine
from rote.kernels.candidates import add_candidates, candidates_of, descend, largest_gain
from rote.learning.augmented import Worst, worst_of, worst_outputs
from rote.learning.base import State, check_examples, check_number
from rote.learning.working_set import WorkingSet
from rote.model import Model, Prepared
from rote.space.losses import Hamming, Loss
from rote.types import IntArray, frozen

FEW = 8  # examples that warm up together
WARM_PASSES = 2


@dataclass(frozen=True)
class StructuredSVM:
    """``C`` weighs the slacks, ``delta`` is δ; ``passes`` limits the update phase.

    In the first ``warm_up`` iterations a few examples at a time go through inference and update,
    so that the first candidates are not those of weights that know nothing yet; with 0 this is
    the algorithm of the paper to the letter. A candidate whose dual has been 0 for ``patience``
    iterations is let go.
    """

    C: float = 0.1
    loss: Loss = field(default_factory=Hamming)
    squared: bool = True
    delta: float = 0.1
    iterations: int = 100
    passes: int = 10
    warm_up: int = 2
    patience: int = 5
    seed: int = 0
    n_jobs: int = 1

    def __post_init__(self) -> None:
        check_number("C", self.C, least=0, above=True)
        check_number("delta", self.delta, least=0, above=True)
        check_number("warm_up", self.warm_up, least=0)
        for name in ("iterations", "passes", "patience", "n_jobs"):
            check_number(name, getattr(self, name), least=1)

    def iterate(
        self, model: Model[Any, Any], prepared: Prepared, state: State | None = None
    ) -> Iterator[State]:
        check_examples(prepared)
        run = _Run(self, model.engine, prepared, state)
        first = 1 if state is None else state.iteration + 1
        for iteration in range(first, self.iterations + 1):
            dual = run.dual()
            if iteration <= self.warm_up:
                primal, added, passes = np.nan, run.warm_up(iteration), 1
                done = False
            else:
                primal, added = run.infer()
                done = added == 0 and run.largest_gain() <= self.delta
                passes = 0 if done else run.update(iteration)
            measures = {
                "primal": primal,
                "dual": dual,
                "gap": primal - dual,
                "candidates": run.working.count,
                "added": added,
                "passes": passes,
                "inferences": len(prepared),
            }
            run.working.let_go(self.patience)
            memory = {"weights": run.weights.copy(), **run.working.saved()}
            yield State(iteration, frozen(memory["weights"]), done, measures, memory)
            if done:
                return


class _Run:
    """One training: the weights, the working set, and the two phases that move them."""

    def __init__(
        self, svm: StructuredSVM, engine: Engine, prepared: Prepared, state: State | None
    ) -> None:
        self.svm = svm
        self.engine = engine
        self.prepared = prepared
        size = prepared.layout.size
        if state is None:
            self.weights = np.zeros(size)
            self.working = WorkingSet(len(prepared), size)
        else:
            self.weights = state.memory["weights"].copy()
            self.working = WorkingSet.restored(state.memory, size)
        self.view = frozen(self.weights)  # the same memory, for kernels that only read
        costs = np.zeros(len(prepared))
        for group in prepared.groups:
            costs[group.members] = svm.C * group.importance
        self.costs = frozen(costs)

    def dual(self) -> float:
        return self.working.dual(self.weights, self.costs, squared=self.svm.squared)

    def infer(self) -> tuple[float, int]:
        """The inference phase: the primal, and how many candidates came."""
        slack, added = 0.0, 0
        for worst in worst_outputs(
            self.engine, self.prepared, self.view, self.svm.loss, self.svm.n_jobs
        ):
            slacks = np.maximum(worst.slacks, 0.0)
            own = self.costs[worst.group.members]
            slack += float((own * (slacks**2 if self.svm.squared else slacks)).sum())
            added += self._add(worst)
        return 0.5 * float(self.weights @ self.weights) + slack, added

    def update(self, iteration: int) -> int:
        """The update phase over all candidates; returns the number of passes."""
        return self._descend(np.arange(self.working.count), self.svm.passes, iteration)

    def warm_up(self, iteration: int) -> int:
        """Both phases for a few examples at a time; returns how many candidates came."""
        rng = np.random.default_rng([self.svm.seed, iteration])
        pieces = []
        for group in self.prepared.groups:
            order = rng.permutation(len(group))
            pieces += [group.rows(order[k : k + FEW]) for k in range(0, len(group), FEW)]
        added = 0
        for number in rng.permutation(len(pieces)).tolist():
            piece = pieces[number]
            added += self._add(
                worst_of(self.engine, self.prepared, self.view, self.svm.loss, piece)
            )
            own = candidates_of(self.working.arrays, piece.members)
            self._descend(own, WARM_PASSES, iteration)
        return added

    def largest_gain(self) -> float:
        return largest_gain(
            self.view,
            self.prepared.vectors,
            self.working.arrays,
            self.working.count,
            self.costs,
            self.svm.squared,
        )

    def _add(self, worst: Worst) -> int:
        group, working = worst.group, self.working
        columns = group.columns(worst.labels)
        working.make_room(len(group), int((columns != group.gold_columns).sum()))
        before = working.count
        working.count = add_candidates(
            working.arrays,
            before,
            working.scratch,
            self.view,
            self.prepared.vectors,
            group.slots,
            group.members,
            group.firsts,
            group.gold_columns,
            columns,
            digests(columns),
            worst.losses,
            worst.slacks,
            self.costs,
            self.svm.squared,
            self.svm.delta,
        )
        return working.count - before

    def _descend(self, chosen: IntArray, passes: int, iteration: int) -> int:
        return descend(
            self.weights,
            self.working.scratch,
            self.prepared.vectors,
            self.working.arrays,
            chosen,
            self.costs,
            self.svm.squared,
            passes,
            self.svm.delta,
            self.svm.seed * 1_000_003 + iteration,
        )


def digests(columns: IntArray) -> IntArray:
    """A 63-bit digest of each row: the same for equal outputs, and hardly ever for others."""
    mixed = np.zeros(len(columns), dtype=np.uint64)
    for column in columns.T:
        mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(29)
    return frozen((mixed >> np.uint64(1)).astype(np.int64))
