"""`Solutions`: every answer is a proof.

It has its labels, its ``value``, an upper ``bound`` on what any output could reach, a ``status``,
and the ``source`` that found it. Values are added up by one function for all engines, so that equal
labels have equal values to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from rote.errors import InfeasibleSpace, NoSolution, locate
from rote.inference.problem import Index, Problem
from rote.kernels.outputs import all_finite
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

if TYPE_CHECKING:
    from rote.inference.exact.duals import Duals
    from rote.viz import Picture


class Status(IntEnum):
    """What is known of an answer."""

    OPTIMAL = 0  # no output is better
    FEASIBLE = 1  # obeys the rules; something better may exist
    INFEASIBLE = 2  # nothing obeys the rules and the given labels
    TIMED_OUT = 3  # a limit was hit before any output was found


class FoundBy(IntEnum):
    """What found an answer."""

    ENUMERATION = 0
    ARGMAX = 1
    CHAIN = 2
    TREE = 3
    ELIMINATION = 4
    BRANCH = 5
    MILP = 6
    CACHE = 7  # an output remembered, proved from what is known of its problem
    CERTIFICATE = 8  # an output proved by duals
    NEIGHBOUR = 9  # the best of the outputs around the gold one
    GREEDY = 10  # the best of those that a greedy search came to
    BEAM = 11  # the best of those that were left in a beam
    MESSAGES = 12  # message passing, where its bound is reached or little is left to search
    SHARED_TREE = 13  # one branch and bound tree for a batch whose pair tables are equal
    CP_SAT = 14
    TOULBAR2 = 15
    PRESOLVE = 16  # presolve left one output


ADVICE = {
    FoundBy.GREEDY: "raise restarts, or use Exact",
    FoundBy.BEAM: "widen the beam, or use ConstrainedBeam or Exact",
}


@dataclass(frozen=True, eq=False)
class Solutions:
    """One answer per input. Infeasible inputs have labels -1 and value -inf.

    A value is nan, and its bound inf, where a search left out scores that it is a sum of.

    Parameters
    ----------
    labels
        The output of each input, of shape (m, variables).
    value
        Its value, of shape (m,).
    bound
        No output has a value above this; of shape (m,).
    status
        What is known of it: codes of `Status`, of shape (m,).
    source
        What found it: codes of `FoundBy`, of shape (m,).
    duals
        Where a search for the same question under other scores may start; only where the context
        asks for it (`Context.record`) and the engine has them.
    """

    labels: IntArray
    value: FloatArray
    bound: FloatArray
    status: IntArray
    source: IntArray
    duals: Duals | None = field(default=None, kw_only=True, repr=False)

    @classmethod
    def of(
        cls,
        problem: Problem,
        labels: IntArray,
        source: FoundBy,
        *,
        bound: FloatArray | None = None,
        status: IntArray | None = None,
        duals: Duals | None = None,
    ) -> Solutions:
        """Answers for labels; a row of -1 has none and is infeasible.

        Raises `InfeasibleSpace` when the space itself, with no label closed, has no output.
        """
        value = problem.above_floor(problem.value(labels))
        if problem.floor > -np.inf:
            forbidden = value == -np.inf  # with a label tuple whose score was
            labels = np.where(forbidden[:, None], -1, labels)
            if status is not None:  # what was proved optimal is proved not to be there
                dropped = forbidden & (status <= Status.FEASIBLE)
                status = np.where(dropped, status + Status.INFEASIBLE, status)
        missing = not all_finite(value)
        if status is None:
            status = np.zeros(len(labels), dtype=np.int64)  # OPTIMAL
            if missing:
                status[value == -np.inf] = Status.INFEASIBLE
        if missing and problem.closed is None and (status == Status.INFEASIBLE).any():
            from rote.inference.infeasibility import find_conflict  # which solves problems itself

            raise InfeasibleSpace([rule.name for rule in find_conflict(problem.space)])
        if bound is None:
            bound = value
        else:
            settled = (status == Status.OPTIMAL) | (status == Status.INFEASIBLE)
            bound = np.where(settled, value, np.maximum(bound, value))
        found: AnyArray = np.empty(len(labels), dtype=np.int64)
        found.fill(source)
        return cls(*map(readonly, (labels, value, bound, status, found)), duals=duals)

    @classmethod
    def none(cls, space: Space, m: int) -> Solutions:
        """No output for any of m inputs."""
        low: FloatArray = np.full(m, -np.inf)
        labels = np.full((m, len(space.variables)), -1, dtype=np.int64)
        status, source = np.full(m, int(Status.INFEASIBLE)), np.zeros(m, dtype=np.int64)
        return cls(*map(readonly, (labels, low, low, status, source)))

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, index: Index) -> Solutions:
        """The answers to some of the inputs."""
        rows = np.atleast_1d(np.arange(len(self))[index])
        duals = None if self.duals is None else self.duals.rows(rows)
        return Solutions(*(readonly(array[rows]) for array in self.arrays), duals=duals)

    @staticmethod
    def joined(parts: Sequence[Solutions]) -> Solutions:
        """The answers of several batches of one space, one after the other."""
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part.arrays for part in parts), strict=True)
        answers = Solutions(*(readonly(np.concatenate(arrays)) for arrays in columns))
        start = 0
        for part in parts:
            answers = answers.with_duals(np.arange(start, start + len(part)), part.duals)
            start += len(part)
        return answers

    def with_rows(self, index: IntArray, answers: Solutions) -> Solutions:
        """The same with other answers to some of the inputs."""
        arrays = [array.copy() for array in self.arrays]
        for array, new in zip(arrays, answers.arrays, strict=True):
            array[index] = new
        changed = Solutions(*map(readonly, arrays), duals=self.duals)
        return changed.with_duals(index, answers.duals)

    def with_duals(self, index: IntArray, duals: Duals | None) -> Solutions:
        """The same with other duals of some of the inputs; unknown ones are zero."""
        if duals is None:
            return self
        own = self.duals
        messages = np.zeros((len(self), duals.messages.shape[1]))
        multipliers = np.zeros((len(self), duals.multipliers.shape[1]))
        if own is not None:
            messages[:], multipliers[:] = own.messages, own.multipliers
        messages[index], multipliers[index] = duals.messages, duals.multipliers
        return replace(self, duals=type(duals)(readonly(messages), readonly(multipliers)))

    def improved(self, problem: Problem, other: Solutions) -> Solutions:
        """The better of two answers to each input, and both bounds, where these prove nothing."""
        settled = np.isin(other.status, (Status.OPTIMAL, Status.INFEASIBLE))
        rows = np.flatnonzero(settled | (other.value > self.value))
        best = self.with_rows(rows, other.rows(rows))
        bound = np.where(settled, other.bound, np.minimum(self.bound, other.bound))
        reached = (best.value > -np.inf) & (bound <= best.value + problem.ties)
        return replace(
            best,
            bound=readonly(np.where(reached, best.value, bound)),
            status=readonly(np.where(reached, Status.OPTIMAL.value, best.status)),
        )

    @property
    def unsettled(self) -> IntArray:
        """The inputs whose answer is neither proved best nor proved not to be there."""
        status = self.status
        return np.flatnonzero((status != Status.OPTIMAL) & (status != Status.INFEASIBLE))

    def require_outputs(self, what: str = "input", numbers: IntArray | None = None) -> IntArray:
        """The labels of answers all of which have an output; `NoSolution` says whose has none.

        It is called by its place among the answers, or by the number that it has there.
        """
        # Often there is one answer, whose status is quicker in a list.
        if max(self.status.tolist(), default=0) > Status.FEASIBLE:
            raise self._missing(what, numbers)
        return self.labels

    def _missing(self, what: str, numbers: IntArray | None) -> NoSolution:
        place = int(np.argmax(self.status > Status.FEASIBLE))
        advice = "relax a rule, or open a label"
        if self.status[place] == Status.TIMED_OUT:
            advice = ADVICE.get(FoundBy(int(self.source[place])), "raise the limit of the engine")
        error = NoSolution(f"{self.proof(place)}; {advice}")
        locate(error, what, place if numbers is None else int(numbers[place]))
        return error

    @property
    def arrays(self) -> tuple[AnyArray, ...]:
        """Labels, value, bound, status and source, in this order."""
        return self.labels, self.value, self.bound, self.status, self.source

    @property
    def optimal(self) -> BoolArray:
        """Which answers are proved optimal."""
        return np.asarray(self.status == Status.OPTIMAL, dtype=np.bool_)

    @property
    def gap(self) -> FloatArray:
        """bound - value: how much better any output could be."""
        with np.errstate(invalid="ignore"):
            gap = self.bound - self.value
        gap[self.bound == self.value] = 0.0
        return np.where(np.isnan(gap), np.inf, gap)

    def proof(self, i: int = 0) -> str:
        """What is known of the answer to one input, as a sentence."""
        source = FoundBy(int(self.source[i])).name.lower()
        match Status(int(self.status[i])):
            case Status.INFEASIBLE:
                return "infeasible: no output obeys the rules and the given labels"
            case Status.TIMED_OUT:
                return f"timed out: no output was found, by {source}"
            case status:
                value, bound = float(self.value[i]), float(self.bound[i])
                if np.isnan(value):
                    return f"value not worked out: {status.name.lower()}, by {source}"
                return f"value {value:.6g}, bound {bound:.6g}: {status.name.lower()}, by {source}"

    def show(self, space: Space, i: int = 0) -> Picture:
        """The answer to one input, to look at in a notebook or a terminal."""
        from rote.viz import Picture, picture_of_labels
        from rote.viz.listing import Listing

        if Status(int(self.status[i])) in (Status.INFEASIBLE, Status.TIMED_OUT):
            return Picture("No output", Listing(()), (), (self.proof(i),))
        return picture_of_labels(space, self.labels[i], facts=(self.proof(i),))

    def __repr__(self) -> str:
        statuses = _tally(self.status, Status)
        return f"Solutions({len(self)}: {statuses}; by {_tally(self.source, FoundBy)})"


def _tally(codes: IntArray, names: type[Status] | type[FoundBy]) -> str:
    counts = {name: int((codes == name).sum()) for name in names}
    return ", ".join(f"{count} {name.name.lower()}" for name, count in counts.items() if count)
