"""The structural SVM by dual coordinate descent, as in Chang et al. (2015).

    min_w  ½ ‖w‖² + C Σ_i ξ_i²      ξ_i = max_y Δ(y_i, y) - w · (φ(x_i, y_i) - φ(x_i, y))

(or C Σ_i ξ_i with plain slacks). An iteration is an inference phase, which finds the worst output
of every example under the same weights and makes it a candidate if its gain is above δ, and an
update phase, which descends over all candidates (`rote.kernels.learning.dual_descent`). It stops
when no candidate came and no projected gain is above δ.

The measure ``inferences`` counts the examples an engine was asked for, again where they were looked
at twice, and ``reused`` those whose output was taken without asking.

The primal is worked out from the inference phase, the dual is -D(α) of the duals that gave the
weights, and their gap bounds how far both are from the optimum, if the engine is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rote.errors import SettingError
from rote.inference.engine import Capability, Engine
from rote.kernels.learning.dual_descent import descend, largest_gain
from rote.kernels.learning.working_set import Dual, Offers, add_candidates
from rote.learning.base import (
    LOSS,
    State,
    check_examples,
    expiring,
    half_norm,
    iterations_left,
    mini_batches,
)
from rote.learning.loss_augmented import Violation, most_violated_of, most_violated_outputs
from rote.learning.reuse import Reuse
from rote.learning.working_set import WorkingSet
from rote.model import Dataset, Model
from rote.settings import FLAG, Checked, number, optional, whole
from rote.space.losses import Hamming, Loss
from rote.types import AnyArray, IntArray, readonly

FEW = 8  # examples that warm up together
BATCH_PASSES = 2  # of the update phase, after each batch


@dataclass(frozen=True)
class StructuredSVM(Checked):
    """The structural SVM by dual coordinate descent over a working set of outputs.

    Parameters
    ----------
    C
        How much slacks weigh against large weights, above 0; the larger, the closer the fit.
    loss
        How wrong an output is.
    squared
        Whether slacks are squared.
    delta
        δ: an output becomes a candidate if its gain is larger; above 0.
    iterations
        At most so many passes over the examples, at least 1.
    passes
        Of the update phase over all candidates, at most; at least 1.
    online_epochs
        In so many first iterations a few examples at a time go through inference and update, so
        that the first candidates are not those of zero weights; 0 is the paper to the letter.
    patience
        A candidate whose dual has been 0 for so many iterations is dropped; at least 1.
    seed
        Of the order of examples; a whole number of at least 0.
    n_jobs
        How many threads do inference; the weights are the same.
    reuse
        Whether outputs found before are taken without solving where they will do
        (`rote.learning.reuse`); needs squared slacks, a loss that adds up, and one thread.
    batch
        So many examples of one space at a time go through inference and update in all iterations:
        1 is online learning. The primal is then known only where no candidate came.
    """

    C: float = 0.1
    loss: Loss = field(default_factory=Hamming)
    squared: bool = True
    delta: float = 0.1
    iterations: int = 100
    passes: int = 3
    online_epochs: int = 2
    patience: int = 5
    seed: int = 0
    n_jobs: int = 1
    reuse: bool = False
    batch: int | None = None

    checks: ClassVar = {
        "C": number(above=0),
        "loss": LOSS,
        "squared": FLAG,
        "delta": number(above=0),
        "iterations": whole(1),
        "passes": whole(1),
        "online_epochs": whole(0),
        "patience": whole(1),
        "seed": whole(0),
        "n_jobs": whole(1),
        "reuse": FLAG,
        "batch": optional(whole(1)),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reuse and (not self.squared or self.n_jobs > 1 or self.batch is not None):
            raise SettingError(
                "reuse needs squared slacks, one thread and no batch; leave squared, n_jobs and "
                "batch as they are, or reuse"
            )

    @expiring
    def iterate(
        self, model: Model[Any, Any], prepared: Dataset, state: State | None = None
    ) -> Iterator[State]:
        check_examples(prepared, self.loss)
        run = _Run(self, model.engine, prepared, state)
        for iteration in iterations_left(state, self.iterations):
            dual = run.dual()
            warm, primal, added, passes, done = iteration <= self.online_epochs, np.nan, 0, 1, False
            looked = 0
            if warm or self.batch is not None:
                added = run.in_batches(iteration, FEW if self.batch is None else self.batch)
                looked += len(prepared)
            if not warm:
                if added == 0:
                    primal, added = run.infer()
                    looked += len(prepared)
                    done = added == 0 and run.largest_gain() <= self.delta
                passes = 0 if done else run.update(iteration)
            measures = {
                "primal": primal,
                "dual": dual,
                "gap": primal - dual,
                "candidates": run.working.count,
                "added": added,
                "passes": passes,
                "inferences": looked - run.reused,
            }
            if self.reuse:
                measures["reused"] = run.reused
            run.working.prune(self.patience)
            yield State(iteration, run.weights.copy, done, measures, run.memory)
            if done:
                return


class _Run:
    """One training: the weights, the working set, and the two phases that move them."""

    def __init__(
        self, svm: StructuredSVM, engine: Engine, prepared: Dataset, state: State | None
    ) -> None:
        self.svm, self.engine, self.prepared = svm, engine, prepared
        size = prepared.layout.size
        if state is None:
            self.weights = np.zeros(size)
            self.working = WorkingSet(len(prepared), size)
        else:
            self.weights = state.memory["weights"].copy()
            self.working = WorkingSet.restored(state.memory, len(prepared), size)
        if svm.reuse and Capability.GOLD in engine.supports:
            raise SettingError(
                "reuse takes outputs of other examples, which need not be around an example's own; "
                "leave out either reuse or Decomposed"
            )
        self.reused = 0  # examples of the last inference phase whose output was not solved for
        memory = {} if state is None else state.memory
        self.reuse = Reuse.restored(memory, prepared.groups) if svm.reuse else None
        self.view = readonly(self.weights)  # the same memory, for kernels that only read
        costs = np.zeros(len(prepared))
        for group in prepared.groups:
            costs[group.members] = svm.C * group.sample_weight
        self.costs = readonly(costs)

    def memory(self) -> dict[str, AnyArray]:
        outputs = {} if self.reuse is None else self.reuse.saved(self.prepared.groups)
        return {"weights": self.weights.copy(), **self.working.saved(), **outputs}

    def dual(self) -> float:
        return self.working.dual(self.weights, self.costs, squared=self.svm.squared)

    def infer(self) -> tuple[float, int]:
        """The inference phase: the primal, and how many candidates came."""
        slack, added, self.reused = np.zeros(len(self.prepared)), 0, 0
        for worst in self._worst():
            slack[worst.group.members] = np.maximum(worst.slacks, 0.0)
            added += self._add(worst)
        if self.reused:
            return np.nan, added
        lost = (self.costs * (slack**2 if self.svm.squared else slack)).sum()
        return half_norm(self.weights) + float(lost), added

    def _worst(self) -> Iterator[Violation]:
        engine, prepared, loss = self.engine, self.prepared, self.svm.loss
        if self.reuse is None:
            yield from most_violated_outputs(engine, prepared, self.view, loss, self.svm.n_jobs)
            return
        for group in prepared.groups:
            # The examples with no weight have no bar to be above.
            with np.errstate(divide="ignore", invalid="ignore"):
                bars = self.working.arrays["total"][group.members] / (2 * self.costs[group.members])
            bars = np.where(self.costs[group.members] > 0, bars + self.svm.delta, np.inf)
            found, taken = self.reuse.most_violated_of(
                engine, prepared, self.view, loss, group, bars
            )
            self.reused += taken
            yield found

    def update(self, iteration: int) -> int:
        """The update phase over all candidates; returns the number of passes."""
        return self._descend(np.arange(len(self.prepared)), self.svm.passes, iteration)

    def in_batches(self, iteration: int, most: int) -> int:
        """Both phases for some examples at a time; returns how many candidates came."""
        added = 0
        for batch in mini_batches(self.prepared, most, self.svm.seed, iteration):
            added += self._add(
                most_violated_of(self.engine, self.prepared, self.view, self.svm.loss, batch)
            )
            self._descend(batch.members, BATCH_PASSES, iteration)
        return added

    def largest_gain(self) -> float:
        return largest_gain(self._dual)

    @property
    def _dual(self) -> Dual:
        """What is descended on, for kernels."""
        vectors, candidates, svm = self.prepared.vectors, self.working.candidates, self.svm
        return Dual(self.weights, vectors, candidates, self.costs, svm.squared, float(svm.delta))

    def _add(self, worst: Violation) -> int:
        group, working = worst.group, self.working
        columns = group.columns(worst.labels)
        working.make_room(group.members, int((columns != group.gold_slots).sum()))
        before, gold = working.count, group.gold_slots
        offers = Offers(group.members, group.firsts, gold, columns, worst.losses, worst.slacks)
        working.count, working.atoms = add_candidates(
            self._dual,
            group.slots,
            offers,
            before,
            working.atoms,
            working.scratch,
        )
        return working.count - before

    def _descend(self, examples: IntArray, passes: int, iteration: int) -> int:
        seed = int(np.random.default_rng([self.svm.seed, iteration]).integers(1 << 62))
        return descend(self._dual, readonly(examples), passes, seed)
