"""The best output around each gold one, for the sets of some decomposition.

Sets with few labellings are enumerated (`rote.kernels.neighbours`). Larger ones go through max-sum
with the labels around them fixed, where they hang together as trees (`rote.kernels.forests`); the
labels it finds are the best of the set if they obey the rules. What is left goes to the engine
underneath, with the other variables closed but for their gold labels, best bound first, and only
as long as it could still be better than what has been found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rote.inference.base import Engine, Objective, Status
from rote.inference.decomposed.listed import best_listed
from rote.inference.decomposed.sets import EVERY, some_sets
from rote.kernels.forests import DOUBTFUL, LOOP, NONE, SURE, best_forests
from rote.kernels.neighbours import best_neighbours, take_better
from rote.kernels.structs import Around
from rote.space.space import Space
from rote.types import BoolArray, FloatArray, IntArray, frozen

FEW = 1 << 12  # labellings of a set that are enumerated
SETTLED = (Status.OPTIMAL, Status.INFEASIBLE)


class Search:
    """The best outputs found so far; labels are -1 and values -inf where there is none yet.

    Where an answer is ``doubtful``, others may be within a tie of it.
    """

    def __init__(self, engine: Engine, space: Space, objective: Objective) -> None:
        assert objective.gold is not None
        self.engine, self.space, self.objective = engine, space, objective
        self.gold = objective.gold
        self.labels = np.full(self.gold.shape, -1, dtype=np.int64)
        self.values = np.full(len(self.gold), -np.inf)
        self.doubtful = np.zeros(len(self.gold), dtype=np.bool_)
        self.bounds = np.full(len(self.gold), -np.inf)  # of sets that the engine did not settle
        self.sets = 0  # that were too large to be enumerated
        self.calls = 0  # of the engine

    @property
    def found(self) -> BoolArray:
        """For which inputs there is an output at all."""
        return np.asarray((self.labels >= 0).all(axis=1))

    def look(self, sets: Sequence[Around]) -> None:
        """Look into all sets."""
        few: list[Around] = []
        many: list[tuple[Around, IntArray]] = []
        for around in sets:
            if around.most < EVERY:
                few.append(around)
                continue
            owner = np.repeat(np.arange(len(self.gold)), around.end - around.begin)
            small = _labellings(self.space, around) <= FEW
            counts = np.bincount(owner[small], minlength=len(self.gold))
            # Gold itself is around as well, and this is where it is looked at.
            few.append(some_sets(around, small, counts))
            if not small.all():
                rest = some_sets(around, ~small, around.end - around.begin - counts)
                many.append((rest, frozen(owner[~small])))
        network = self.space.network
        if self.objective.term is not None or network.variables > network.own:
            self._take(*best_listed(self.space, self.objective, few, settle=not many))
        else:
            for around in few:
                self._enumerate(around, settle=len(few) == 1 and not many)
        for around, owner in many:
            self._pass_messages(around, owner)

    def _enumerate(self, around: Around, *, settle: bool) -> None:
        objective = self.objective
        found = best_neighbours(
            objective.scores,
            objective.closed,
            objective.ties,
            self.gold,
            self.space.network.graph,
            around,
            settle,
        )
        self._take(*found)

    def _take(self, labels: IntArray, doubtful: BoolArray) -> None:
        """Offer one output for every input that has one."""
        rows = np.flatnonzero((labels >= 0).all(axis=1))
        self._offer(rows, labels[rows], doubtful[rows])

    def _pass_messages(self, around: Around, owner: IntArray) -> None:
        space, objective = self.space, self.objective
        self.sets += len(owner)
        labels, known = best_forests(
            objective.scores,
            objective.closed,
            objective.ties,
            self.gold,
            space.network.graph,
            owner,
            around.ptr,
            around.members,
        )
        if objective.term is not None:  # tables do not tell
            known[:] = LOOP
        right = ((known == SURE) | (known == DOUBTFUL)) & self._obeys(owner, frozen(labels))
        self._offer(owner[right], labels[right], known[right] == DOUBTFUL)
        bounds = space.worth(frozen(objective.scores[owner]), frozen(labels))
        bounds[known == LOOP] = np.inf
        bounds[right | (known == NONE)] = -np.inf
        self._ask(around, owner, bounds)

    def _obeys(self, owner: IntArray, labels: IntArray) -> BoolArray:
        obeys = self.space.obeyed(labels)
        if self.objective.allowed is not None:
            parts = self.space.offsets[:-1] + labels
            obeys = obeys & self.objective.allowed[owner[:, None], parts].all(axis=1)
        return obeys

    def _ask(self, around: Around, owner: IntArray, bounds: FloatArray) -> None:
        """Ask the engine, for one set of each input at a time, that with the best bound."""
        while True:
            floor = self.values[owner] - self.objective.ties[owner]
            left = np.flatnonzero((bounds > -np.inf) & (bounds >= floor))
            if not len(left):
                return
            order = left[np.lexsort((-bounds[left], owner[left]))]
            first = order[np.unique(owner[order], return_index=True)[1]]
            bounds[first] = -np.inf
            narrowed = self._narrowed(owner[first], around, first)
            solutions = self.engine.solve(self.space, narrowed)
            self.calls += len(first)
            inputs, settled = owner[first], np.isin(solutions.status, SETTLED)
            np.maximum.at(self.bounds, inputs[~settled], solutions.bound[~settled])
            there = (solutions.labels >= 0).all(axis=1)
            labels = solutions.labels[there]
            self._offer(inputs[there], labels, np.zeros(len(labels), dtype=np.bool_))

    def _narrowed(self, inputs: IntArray, around: Around, sets: IntArray) -> Objective:
        """One objective per set, with all labels outside closed but for the gold ones."""
        part, offsets = self.objective.rows(inputs), self.space.offsets
        shape = (len(inputs), self.space.labels)
        given = np.ones(shape, np.bool_) if part.allowed is None else part.allowed
        allowed = np.zeros(shape, dtype=np.bool_)
        row, gold = np.arange(len(inputs))[:, None], offsets[:-1] + self.gold[inputs]
        allowed[row, gold] = given[row, gold]
        for k, s in enumerate(sets.tolist()):
            for j in around.members[around.ptr[s] : around.ptr[s + 1]].tolist():
                allowed[k, offsets[j] : offsets[j + 1]] = given[k, offsets[j] : offsets[j + 1]]
        return replace(part, allowed=frozen(allowed), gold=None)

    def _offer(self, owner: IntArray, labels: IntArray, doubtful: BoolArray) -> None:
        part = self.objective.rows(owner)
        worth = self.space.worth(part.scores, frozen(labels))
        if part.term is not None:
            worth = worth + part.term.value(labels[:, None, :])[:, 0]
        take_better(
            self.labels,
            self.values,
            self.doubtful,
            self.objective.ties,
            frozen(owner),
            frozen(labels),
            frozen(worth),
            frozen(doubtful),
        )


def _labellings(space: Space, around: Around) -> FloatArray:
    """How many labellings each set has, nearly."""
    sets = len(around.ptr) - 1
    owner = np.repeat(np.arange(sets), np.diff(around.ptr))
    logs = np.bincount(owner, weights=np.log(space.sizes[around.members]), minlength=sets)
    return np.asarray(np.exp(np.minimum(logs, 100.0)) * (1 - 1e-9))
