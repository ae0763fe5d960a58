"""Presolve: what no answer needs is taken away, and what is left goes straight to the search.

`rote.kernels.presolve.reductions` says what it closes and why the answer stays the same, ties
included. What is left of an input is a graph of its own (`rote.kernels.presolve.remainder`), which
a short branch and bound solves without a plan for the space. An input that takes longer is handed
on, its labels closed as far as presolve came. So a space that is used once is lowered once, and
nothing else is compiled for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rote.inference.exact.search import NO_DUALS, NODES_IN_ORDER
from rote.inference.exact.tables import strides_of
from rote.inference.problem import NONE_CLOSED, TIE, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.bundles import EliminationPlan, Graph, Questions, Reduced
from rote.kernels.bundles import FoundBy as ScoresOf
from rote.kernels.constants import MOST, WIDE
from rote.kernels.presolve.linking import linked
from rote.kernels.presolve.reductions import presolve
from rote.kernels.presolve.remainder import remainder, worth
from rote.kernels.search.branch import branch
from rote.space.builder import SpaceBuilder
from rote.space.lowering import Rows, lower_as_written
from rote.space.network import sparse, two_valued
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, offsets_from_counts, readonly

MOST_NODES = 1 << 10  # of the short branch and bound
FINER = 1 << 16  # so many parts of a tie, of one of which the best value is known
NONE = readonly(np.empty(0, dtype=np.int64))
ZERO = readonly(np.zeros(1, dtype=np.int64))
NO_SCORES = ScoresOf(readonly(np.empty(0, dtype=np.bool_)), ZERO, NONE)
NO_STEPS = EliminationPlan(0, ZERO, ZERO, NONE, ZERO, NONE, NONE, NONE, ZERO, NONE, NONE, NONE)
NO_FLOOR = readonly(np.full(1, -np.inf))


def graph_of_rules(space: Space) -> Graph:
    """All rules as rows, and a table per factor that begins at its first part."""
    sizes, offsets = space.sizes, space.offsets
    rows = lower_as_written(sizes.tolist(), [named.rule for named in space.rules])
    if rows.auxiliary:
        sizes = np.concatenate([sizes, np.full(rows.auxiliary, 2, dtype=np.int64)])
        offsets = offsets_from_counts(sizes)
        rows = two_valued(rows, sizes)
    return linked(
        sizes,
        offsets,
        space.scope_ptr,
        space.scope,
        strides_of((f.variables for f in space.factors), sizes) if space.factors else NONE,
        space.factor_offsets,
        NO_SCORES,
        sparse(rows),
    )


def answer_at_once(rows: Rows, scores: FloatArray) -> IntArray | None:
    """The labels of the best output of options under rows; None where that takes a longer search.

    For a question that is asked once, of yes/no variables of which "yes" alone has a score. The
    same answer as that of a space with these rows, which is never made. Scores of very different
    sizes are left to those who look at them with more care.
    """
    alone, sizes = scores[None], np.abs(scores[scores != 0])
    largest = float(sizes.max(initial=0.0))
    if not 0.0 < largest < min(MOST, WIDE * float(sizes.min(initial=np.inf))):
        return None
    ties = np.array([TIE * largest])
    sizes = np.full(len(scores) // 2, 2, dtype=np.int64)
    offsets = np.arange(0, len(scores) + 1, 2)
    graph = linked(sizes, offsets, ZERO, NONE, NONE, offsets[-1:], NO_SCORES, sparse(rows))
    found = presolve(Questions(alone, NONE_CLOSED, ties), graph, len(scores))
    return searched(graph, scores, len(scores), ties, *(each[0] for each in found))


def searched(
    graph: Graph,
    scores: FloatArray,
    own: int,
    ties: FloatArray,
    labels: IntArray,
    left: int,
    is_open: BoolArray,
    live: BoolArray,
) -> IntArray | None:
    """The answer to an input that is presolved; None where a short search does not find it."""
    if not left:
        return labels
    graph, theta, variable, label = remainder(graph, scores, own, is_open, live)
    n = len(variable)
    reduced = Reduced(NO_STEPS, graph, np.arange(n), n)

    def best(ties: FloatArray, floor: FloatArray, in_order: bool = False) -> list[AnyArray]:
        """An output or -1, whether the search was complete, and whether it may have equals."""
        asked = Questions(theta[None], NONE_CLOSED, ties)
        most = NODES_IN_ORDER + 8 * n if in_order else MOST_NODES
        found, _, *more = branch(asked, floor, reduced, NO_DUALS, most, in_order)
        return [each[0] for each in (found, *more)]

    found, complete, doubtful = best(ties, NO_FLOOR)
    if complete and doubtful and found[0] >= 0:
        # The search is right up to a part of a tie: the best value to less than that, and then
        # the first output in order that is within a tie of it.
        found, complete, _ = best(ties / FINER, NO_FLOOR)
        if complete:
            floor = worth(graph, theta, found) - ties * (1 + 1 / FINER)
            found, *_ = best(ties, floor, in_order=True)
            complete = found[0] >= 0
    if not complete:
        return None
    if found[0] < 0:
        return np.full_like(labels, -1)
    labels[variable] = label[np.asarray(graph.offsets)[:-1] + found]
    return labels


@dataclass(frozen=True, eq=False)
class Presolved:
    """What presolve finds of each input of a problem."""

    problem: Problem
    graph: Graph
    labels: IntArray  # the first open one of each variable, auxiliary ones last; -1: no output
    left: IntArray  # how many variables have more than one open label
    is_open: BoolArray
    live: BoolArray  # which rows may bind

    @classmethod
    def of(cls, problem: Problem, graph: Graph) -> Presolved:
        """Presolve every input, given the graph of its space's rules."""
        return cls(problem, graph, *presolve(problem.questions, graph, problem.space.labels))

    def solved(self, i: int) -> IntArray | None:
        """The answer to one input; None where a short search does not find it."""
        problem, found = self.problem, (self.labels, self.left, self.is_open, self.live)
        ties = problem.ties[i : i + 1]
        return searched(
            self.graph, problem.scores[i], problem.space.labels, ties, *(each[i] for each in found)
        )

    def answers(self, further: Callable[[Problem], Solutions], *, anew: bool = False) -> Solutions:
        """All answers; those that a short search does not find are asked for ``further``.

        With ``anew``, one input that a search does not find is asked for by a space of its own.
        """
        problem = self.problem
        found = [self.solved(i) for i in range(len(problem))]
        solved = [i for i, labels in enumerate(found) if labels is not None]
        if anew and not solved:
            return self._asked_anew(further)
        if not solved:
            return self._asked(problem, slice(None), further)
        labels = np.array([found[i] for i in solved])[:, : len(problem.space.variables)]
        if len(solved) == len(problem):
            return self._found(problem, self.left, labels)
        rows = np.array(solved)
        rest = np.setdiff1d(np.arange(len(problem)), rows)
        every = Solutions.none(problem.space, len(problem))
        every = every.with_rows(rows, self._found(problem.rows(rows), self.left[rows], labels))
        return every.with_rows(rest, self._asked(problem.rows(rest), rest, further))

    def _asked_anew(self, further: Callable[[Problem], Solutions]) -> Solutions:
        """The answer to the one input by what is left of it, where nothing but labels has scores.

        That takes less to compile than the space it came from.
        """
        problem, is_open, rows = self.problem, self.is_open[0], self.graph.rows
        sizes = np.asarray(self.graph.sizes)
        owner, starts = np.repeat(np.arange(len(sizes)), sizes), offsets_from_counts(sizes)
        counts = np.bincount(owner[is_open])
        free = np.flatnonzero(counts > 1)
        kept = np.flatnonzero(is_open & (counts > 1)[owner])
        builder = SpaceBuilder()
        for j in free.tolist():
            builder.variable(str(j), list(map(str, range(counts[j]))))
        number = np.full(len(owner), -1)
        number[kept] = np.arange(len(kept))
        ptr = np.asarray(rows.start)[np.asarray(rows.ptr)]
        row, column = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), np.asarray(rows.column)
        weight = np.asarray(rows.coefficient).astype(np.int64)
        fixed = is_open[column] & (counts == 1)[owner[column]]
        added = np.bincount(row[fixed], weight[fixed], minlength=len(ptr) - 1)
        stays = self.live[0][row] & (number[column] >= 0)
        found, sizes = np.unique(row[stays], return_counts=True)
        labels, weights = number[column[stays]], weight[stays]
        ends = offsets_from_counts(sizes)[:-1]
        builder.require_rows(
            labels,
            weights,
            ends,
            at_least=np.asarray(rows.lower)[found] - added[found],
            at_most=np.asarray(rows.upper)[found] - added[found],
        )
        scores = np.concatenate([problem.scores[0], np.zeros(len(owner) - problem.space.labels)])
        # One variable more loses as much as any did, so that ties are as they were.
        builder.variable("largest", ["kept", "lost"])
        asked = np.append(scores[kept], [problem.ties[0] / TIE, 0.0])
        space = builder.build()
        answer = further(Problem.of(space, asked).with_open(np.ones((1, space.labels), np.bool_)))
        if answer.labels[0, 0] < 0:
            every = np.full((1, len(problem.space.variables)), -1)
        else:
            every = self.labels.copy()
            every[0, free] = kept[space.offsets[: len(free)] + answer.labels[0, :-1]] - starts[free]
            every = every[:, : len(problem.space.variables)]
        bound = answer.bound + problem.value(every) - answer.value
        by = FoundBy(int(answer.source[0]))
        return Solutions.of(problem, every, by, bound=bound, status=answer.status)

    def _found(self, problem: Problem, left: IntArray, labels: IntArray) -> Solutions:
        if len(problem) == 1:
            return Solutions.of(problem, labels, FoundBy.BRANCH if left[0] else FoundBy.PRESOLVE)
        source = np.where(left, FoundBy.BRANCH.value, FoundBy.PRESOLVE.value)
        answers = Solutions.of(problem, labels, FoundBy.BRANCH)
        return replace(answers, source=readonly(source))

    def _asked(
        self, problem: Problem, rows: IntArray | slice, further: Callable[[Problem], Solutions]
    ) -> Solutions:
        narrow = problem.with_open(self.is_open[rows, : problem.space.labels])
        answers = further(narrow)
        if problem.closed is None and (answers.status == Status.INFEASIBLE).any():
            Solutions.of(problem, answers.labels, FoundBy.BRANCH)  # raises, and says why
        return answers
