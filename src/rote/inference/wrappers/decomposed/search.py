"""The best output around each gold one, for the sets of some decomposition.

Where few variables may differ at once, all outputs are looked at
(`rote.kernels.neighbourhood.neighbours`). Sets that may differ as a whole are searched with the
labels around them fixed, where they hang together as trees (`rote.kernels.neighbourhood.forests`),
and enumerated where they do not but have few labellings. What is left goes to the engine
underneath, with the other variables closed but for their gold labels, best bound first, and only as
long as it could still be better than what has been found.

Problems with a loss term or global features, and rules that only `Space.holds` can check, have
their neighbourhoods enumerated output by output: slow, and plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.engine import Engine
from rote.inference.problem import Context, Problem
from rote.inference.solutions import Status
from rote.inference.wrappers.decomposed.sets import EVERY, sets_per_input, some_sets
from rote.kernels.bundles import VariableSets
from rote.kernels.dp.enumeration import outputs_between
from rote.kernels.neighbourhood.forests import best_forests
from rote.kernels.neighbourhood.neighbours import best_neighbours, take_better
from rote.space.space import Space
from rote.types import BoolArray, FloatArray, IntArray, offsets_from_counts, readonly

FEW = 1 << 12  # labellings of a set that are enumerated
NODES = 1 << 14  # labels that are tried in a set before the engine is asked
SETTLED = (Status.OPTIMAL, Status.INFEASIBLE)


class Search:
    """The best outputs found so far; labels are -1 and values -inf where there is none yet.

    Where an answer is ``doubtful``, others may be within a tie of it.
    """

    def __init__(self, engine: Engine, problem: Problem, context: Context) -> None:
        assert context.gold is not None
        self.engine, self.space, self.problem = engine, problem.space, problem
        self.context, self.gold = context, context.gold
        self.labels = np.full(self.gold.shape, -1, dtype=np.int64)
        self.values = np.full(len(self.gold), -np.inf)
        self.doubtful = np.zeros(len(self.gold), dtype=np.bool_)
        self.bounds = np.full(len(self.gold), -np.inf)  # of sets that the engine did not settle
        self.sets = 0  # searched as a whole
        self.calls = 0  # of the engine

    @property
    def found(self) -> BoolArray:
        """For which inputs there is an output at all."""
        return np.asarray((self.labels >= 0).all(axis=1))

    def look(self, sets: Sequence[VariableSets]) -> None:
        """Look into all sets."""
        few = [around for around in sets if around.most < EVERY]
        large = [around for around in sets if around.most == EVERY]
        network = self.space.network
        if self.problem.decomposes and network.variables == network.own:
            for around in few:
                self._enumerate(around, settle=len(sets) == 1)
            for around in large:
                self._search(around)
            return
        # Neither tables nor rows tell all there is to know.
        for k, around in enumerate(large):
            small = _labellings(self.space, around) <= FEW
            few.append(_chosen(around, small))
            large[k] = _chosen(around, ~small)
        settle = all(len(around.members) == 0 for around in large)
        self._take(*best_listed(self.problem, self.gold, few, settle=settle))
        for around in large:
            self.sets += len(around.ptr) - 1
            self._ask(around, np.full(len(around.ptr) - 1, np.inf))

    def _enumerate(self, around: VariableSets, *, settle: bool) -> None:
        graph = self.space.network.per_factor_tables.graph
        questions = self.problem.questions
        self._take(*best_neighbours(questions, self.gold, graph, around, settle))

    def _search(self, around: VariableSets) -> None:
        """All sets as forests, and those that are none in another way."""
        labels, doubtful, bounds = best_forests(
            self.problem.questions,
            self.gold,
            self.space.network.per_factor_tables.graph,
            around,
            self.values,
            NODES,
        )
        self.sets += len(bounds)
        self._take(labels, doubtful)
        if bounds.max(initial=-np.inf) == -np.inf:
            return
        loops = (bounds == np.inf) & (_labellings(self.space, around) <= FEW)
        if loops.any():
            self._enumerate(_chosen(around, loops), settle=False)
            bounds[loops] = -np.inf
        self._ask(around, bounds)

    def _take(self, labels: IntArray, doubtful: BoolArray) -> None:
        """Offer one output for every input that has one; others may be as good as what is known."""
        rows = np.arange(len(labels))
        if len(labels.T) and labels[:, 0].min(initial=0) < 0:
            self.doubtful |= doubtful & (labels[:, 0] < 0)
            rows = np.flatnonzero(labels[:, 0] >= 0)
        self._offer(rows, labels[rows], doubtful[rows])

    def _ask(self, around: VariableSets, bounds: FloatArray) -> None:
        """Ask the engine, for one set of each input at a time, that with the best bound."""
        owner = np.repeat(np.arange(len(self.gold)), sets_per_input(around))
        while True:
            floor = self.values[owner] - self.problem.ties[owner]
            left = np.flatnonzero((bounds > -np.inf) & (bounds >= floor))
            if not len(left):
                return
            order = left[np.lexsort((-bounds[left], owner[left]))]
            first = order[np.unique(owner[order], return_index=True)[1]]
            bounds[first] = -np.inf
            narrowed = self._narrowed(owner[first], around, first)
            context = self.context.without_gold().rows(owner[first])
            solutions = self.engine.solve(self.space, narrowed, context)
            self.calls += len(first)
            inputs, settled = owner[first], np.isin(solutions.status, SETTLED)
            np.maximum.at(self.bounds, inputs[~settled], solutions.bound[~settled])
            there = (solutions.labels >= 0).all(axis=1)
            labels = solutions.labels[there]
            self._offer(inputs[there], labels, np.zeros(len(labels), dtype=np.bool_))

    def _narrowed(self, inputs: IntArray, around: VariableSets, sets: IntArray) -> Problem:
        """One problem per set, with all labels outside closed but for the gold ones."""
        part, offsets = self.problem.rows(inputs), self.space.offsets
        given = part.open_labels()
        allowed = np.zeros_like(given)
        row, gold = np.arange(len(inputs))[:, None], offsets[:-1] + self.gold[inputs]
        allowed[row, gold] = given[row, gold]
        members = around.members
        for k, s in enumerate(sets.tolist()):
            for j in members[around.ptr[s] : around.ptr[s + 1]].tolist():
                allowed[k, offsets[j] : offsets[j + 1]] = given[k, offsets[j] : offsets[j + 1]]
        return part.with_open(allowed)

    def _offer(self, owner: IntArray, labels: IntArray, doubtful: BoolArray) -> None:
        part = self.problem.rows(owner)
        values = part.value(readonly(labels))
        take_better(
            self.labels,
            self.values,
            self.doubtful,
            self.problem.ties,
            readonly(owner),
            readonly(labels),
            readonly(values),
            readonly(doubtful),
        )


def _chosen(around: VariableSets, which: BoolArray) -> VariableSets:
    """Some of the sets, with the inputs as they are."""
    before = offsets_from_counts(which)
    return some_sets(around, which, np.diff(before[[around.begin, around.end]], axis=0)[0])


def _labellings(space: Space, around: VariableSets) -> FloatArray:
    """How many labellings each set has, nearly."""
    sets = len(around.ptr) - 1
    owner = np.repeat(np.arange(sets), np.diff(around.ptr))
    labels = space.sizes[around.members]
    logs = np.bincount(owner, weights=np.log(labels), minlength=sets)
    return np.asarray(np.exp(np.minimum(logs, 100.0)) * (1 - 1e-9))


MOST = 1 << 21  # outputs of one input


def best_listed(
    problem: Problem, golds: IntArray, sets: Sequence[VariableSets], *, settle: bool
) -> tuple[IntArray, BoolArray]:
    """What `rote.kernels.neighbourhood.neighbours.best_neighbours` does, for all sets at once."""
    space = problem.space
    answers = np.full(golds.shape, -1, dtype=np.int64)
    doubtful = np.zeros(len(answers), dtype=np.bool_)
    for i, gold in enumerate(golds):
        outputs = np.concatenate([neighbours(space, gold, around, i) for around in sets])
        values = _values(problem.rows(np.array([i])), outputs)
        best = values.max(initial=-np.inf)
        if best > -np.inf:
            equal = np.unique(outputs[values >= best - problem.ties[i]], axis=0)
            answers[i] = equal[0] if settle else outputs[values.argmax()]
            doubtful[i] = len(equal) > 1 and not settle
    return answers, doubtful


def neighbours(space: Space, gold: IntArray, around: VariableSets, i: int) -> IntArray:
    """All outputs that differ from the gold one of input i inside one of its sets.

    They may break rules, and some may be there more than once.
    """
    found = [gold[None]]
    everything = around.members
    sets = [
        everything[around.ptr[s] : around.ptr[s + 1]].tolist()
        for s in range(around.begin[i], around.end[i])
    ]
    _check_count(space, sets, around.most)
    for one in sets:
        for members in combinations(one, min(around.most, len(one))):
            sizes = readonly(space.sizes[list(members)])
            labels = outputs_between(0, int(np.prod(sizes)), sizes)
            outputs = np.repeat(gold[None], len(labels), axis=0)
            outputs[:, list(members)] = labels
            found.append(outputs)
    return readonly(np.concatenate(found))


def _check_count(space: Space, sets: Sequence[Sequence[int]], most: int) -> None:
    """Refuse to write out more than fits into memory."""
    largest = float(space.sizes.max(initial=1))
    count = sum(comb(len(one), k) * largest**k for one in sets if (k := min(most, len(one))))
    if count > MOST:
        raise UnsupportedSpace(
            f"there are up to {count:.2g} outputs around a gold one, and no more than {MOST} are "
            "written out, as has to be done for loss terms, global features, and rules with "
            "auxiliary columns; take smaller sets, or sample some"
        )


def _values(problem: Problem, outputs: IntArray) -> FloatArray:
    """The values of outputs for one input; -inf for those that are infeasible."""
    space = problem.space
    scores = readonly(np.broadcast_to(problem.scores, (len(outputs), space.parts)))
    values = space.known_value(scores, outputs)
    if not problem.decomposes:
        values = values + problem.global_value(outputs[None])[0]
    possible = space.holds(outputs)
    if problem.closed is not None:
        possible &= ~problem.closed[0][space.offsets[:-1] + outputs].any(axis=1)
    return np.where(possible, values, -np.inf)
