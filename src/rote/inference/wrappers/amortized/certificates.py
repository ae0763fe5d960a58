"""Certificates: proofs, from what is remembered, that an output is the best one for new scores.

Throughout, p is a remembered problem with scores c_p and best output y_p, q the new one with
scores c_q, and z(y) the 0/1 vector of an output's parts. With ε = 0 an output is taken only if it
is proved better than any other by more than a tie, or the first of those within a tie of the best,
so that it is the one every exact engine returns. With ε > 0 an output is taken that may be worse
than the best by a stated amount.

*Same.* c_q = c_p: engines answer the same question in the same way. The answer of an approximate
engine comes back with what was known of it.

*Condition* (eq. 4 of Chang et al. 2015). If (2 z_p - 1)(c_p - c_q) <= ε |c_q| in every part, then
for any y, summing over the parts in which y and y_p differ,

    c_q·z(y) - c_q·z(y_p) <= c_p·z(y) - c_p·z(y_p) + ε Σ (|c_q| at y + |c_q| at y_p)

and the first difference on the right is at most minus the margin of p. With S = Σ_slots
(|c_q(y_p)| + max |c_q|), no value is above c_q·z(y_p) + ε S; with M = S / c_q·z(y_p),
y_p is a 1 / (1 + M ε)-approximation (Theorem 1).

Algorithm 1 of the paper takes y_p without asking for its margin, so of outputs with equal values
it may give another than the engine would; and it stores what it takes as if it had been solved.
Here an entry also has a gap, by which y_p may be below the best of p: it is added to the bound for
q, and so no guarantee is lost along a row of such answers. Srikumar et al. (2012) compare with ε
itself in place of ε |c_q|; then S is twice the number of slots.

*Relative condition.* Adding a constant to all labels of a variable (or all tuples of a factor)
changes no comparison between outputs, and so the same holds for scores less that of y_p's own part
in the same slot: c̃(a) = c(a) - c(y_p). The condition becomes c̃_q - c̃_p <= ε |c̃_q|.

*Duals.* Every reparametrisation bounds the value of all outputs, whatever problem it was made for
(`rote.inference.exact.duals`); `rote.kernels.dual.certificates` says how this proves an output the
best one. Beginning with those of a similar problem, a few sweeps of dual ascent, and then supposing
labels one by one, prove most. Where no output is better but some may be equal, the first of them is
looked for in lexicographic order; a tight bound makes this search short. With ε > 0, an output is
taken when bound - value <= ε |value|: on the true gap.

*Margin.* With d = c_q - c_p, B any bound on d·z(y) over outputs, and m the margin of p, every
y ≠ y_p has c_q·z(y) <= c_p·z(y_p) - m + B. So y_p is the best for q when B - d·z(y_p) < m. This
needs no tight relaxation of p or q, only one of d.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import numpy as np

from rote.inference.exact.duals import Duals
from rote.inference.exact.search import first_of_equals
from rote.inference.problem import Problem
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.kernels.bundles import DualRows, Questions
from rote.kernels.cache_lookup import Memory, best_remembered, first_that_holds
from rote.kernels.dual.certificates import certify
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

ROUNDING = 0.01  # of a tie: what bounds and values may differ by where they are the same


class Reuse(IntEnum):
    """What memory did for an answer."""

    REUSED = 0  # proved by one pass over what is remembered
    WARM = 1  # finished from a remembered start
    COLD = 2  # solved from nothing, by whatever code


@dataclass
class Query:
    """Some inputs of one space, and the solved problems to compare them with."""

    cache: SolutionCache
    problem: Problem
    epsilon: FloatArray
    starts: IntArray  # an entry each that may be similar, or -1

    def __len__(self) -> int:
        return len(self.problem)

    def rows(self, index: IntArray) -> Query:
        part = Query(self.cache, self.problem.rows(index), self.epsilon[index], self.starts[index])
        if "remembered" in self.__dict__:
            part.__dict__["remembered"] = self.remembered[index]
        return part

    @property
    def initials(self) -> IntArray:
        """The outputs of entries that may be similar; -1 without one, or if labels are closed."""
        starts = self.starts
        numbers = np.where(starts >= 0, self.cache.output_of[starts], -1)
        return _allowed(self, _outputs(self.cache, numbers))

    @cached_property
    def remembered(self) -> IntArray:
        """The best output in the cache for each input, by number (eq. 9); -1 where none is."""
        return best_remembered(
            self.problem.scores,
            self.problem.closed_rows,
            self.cache.parts,
            len(self.cache.space.variables),
        )


class CertificateResult(NamedTuple):
    """What a certificate says of the inputs asked."""

    taken: BoolArray  # the output may be returned
    labels: IntArray  # -1 where there is no output
    bound: FloatArray
    margin: FloatArray  # the value of every other output is less by so much at least
    entries: IntArray  # what was of use, or -1
    duals: Duals | None = None
    reuse: IntArray | None = None  # codes of `Reuse`; None: all from memory

    @property
    def arrays(self) -> list[AnyArray]:
        """All that there are."""
        duals = () if self.duals is None else (self.duals.messages, self.duals.multipliers)
        return [array for array in (*self[:5], *duals, self.reuse) if array is not None]


class Certificate(Protocol):
    """Proves outputs of the cache, or outputs made from them, the best for new scores."""

    @property
    def name(self) -> str: ...

    def test(self, asked: Query) -> CertificateResult: ...


@dataclass(frozen=True)
class EqualScores:
    """The same scores again."""

    name: ClassVar[str] = "same"

    def test(self, asked: Query) -> CertificateResult:
        cache = asked.cache
        if asked.problem.closed is not None or not cache.count:
            return _none(asked)
        rows = cache.same(asked.problem.scores)
        labels = _outputs(cache, np.where(rows >= 0, cache.output_of[rows], -1))
        value = cache.space.known_value(asked.problem.scores, labels)
        known = rows >= 0
        margin = np.where(known, cache.margins[rows], -np.inf)
        bound = value + np.where(known, cache.gaps[rows], 0.0)
        return CertificateResult(known, labels, np.where(known, bound, np.inf), margin, rows)


@dataclass(frozen=True)
class ScoreCondition:
    """Eq. (4) of Chang et al. (2015): no score moved against the remembered output.

    Parameters
    ----------
    relative
        Compare scores relative to those of the remembered output's own parts.
    """

    relative: bool = False

    @property
    def name(self) -> str:
        return "relative condition" if self.relative else "condition"

    def test(self, asked: Query) -> CertificateResult:
        return _condition(asked, asked.cache.margins, relative=self.relative)


@dataclass(frozen=True)
class Algorithm1:
    """Algorithm 1 of Chang et al. (2015): eq. (9), then eq. (4), and every answer is stored.

    Of outputs with equal values it may return another than the engine inside would.

    Parameters
    ----------
    absolute
        Compare scores with ε itself, as Srikumar et al. (2012) do, in place of ε |score|.
    """

    absolute: bool = False

    @property
    def name(self) -> str:
        return "absolute condition" if self.absolute else "algorithm 1"

    def test(self, asked: Query) -> CertificateResult:
        any_margin = np.full(len(asked.cache.margins), np.inf)
        return _condition(asked, any_margin, absolute=self.absolute)


def _condition(
    asked: Query, margins: FloatArray, *, relative: bool = False, absolute: bool = False
) -> CertificateResult:
    """What eq. (4) says, with the best remembered output."""
    cache, scores = asked.cache, asked.problem.scores
    if not cache.count:
        return _none(asked)
    memory = Memory(
        cache.parts, cache.space.starts, readonly(cache.scores), readonly(margins), *cache.groups
    )
    entries, sums = first_that_holds(
        scores,
        readonly(asked.remembered),
        memory,
        asked.problem.ties,
        readonly(asked.epsilon),
        relative,
        absolute,
    )
    taken = entries >= 0
    labels = _outputs(cache, np.where(taken, asked.remembered, -1))
    value = cache.space.known_value(scores, labels)
    bound = value + asked.epsilon * sums + np.where(taken, cache.gaps[entries], 0.0)
    exact = taken & (asked.epsilon == 0)
    margin = np.where(exact, cache.margins[entries], -np.inf)
    return CertificateResult(taken, labels, np.where(taken, bound, np.inf), margin, entries)


@dataclass(frozen=True)
class LagrangianCertificate:
    """Duals of a similar problem, improved by dual ascent; then the same beginning with zero.

    Parameters
    ----------
    sweeps
        Of ascent, at most.
    failures
        Where duals do not settle it, labels are supposed one by one, and a label with which nothing
        can be the best is closed, until so many suppositions have come to nothing.
    """

    sweeps: int = 20
    failures: int = 8
    name: ClassVar[str] = "duals"

    def test(self, asked: Query) -> CertificateResult:
        starts, initials = self._begin(asked)
        found = self._from(asked, starts, initials)
        # What similar duals do not prove, those that begin with nothing sometimes do.
        left = np.flatnonzero(~found.taken & (starts >= 0))
        if len(left):
            again = self._from(asked.rows(left), np.full(len(left), -1), readonly(initials[left]))
            proved = left[again.taken]
            for old, new in zip(found.arrays, again.arrays, strict=True):
                old[proved] = new[again.taken]
        return found._replace(labels=readonly(found.labels))

    def _from(self, asked: Query, starts: IntArray, initials: IntArray) -> CertificateResult:
        """What is proved beginning with the duals of some entries, or with none."""
        cache, problem = asked.cache, asked.problem
        labels, bound, margin, sweeps, duals = certify(
            problem.questions,
            initials,
            readonly(starts),
            DualRows(readonly(cache.messages), readonly(cache.multipliers)),
            cache.plan.reduced(cache.space),
            readonly(asked.epsilon),
            self.sweeps,
            self.failures,
        )
        value = cache.space.known_value(problem.scores, readonly(labels))
        taken = margin > problem.ties
        with np.errstate(invalid="ignore"):  # of inputs without any output
            gap = np.where(value > -np.inf, bound - value, np.inf)
            taken |= (gap <= asked.epsilon * np.abs(value)) & (asked.epsilon > 0) & (gap < np.inf)
        none_better = np.minimum(gap, -margin) <= ROUNDING * problem.ties
        equal = np.flatnonzero(none_better & ~taken & (asked.epsilon == 0))
        if len(equal):
            first = first_of_equals(problem.rows(equal), readonly(labels[equal]))
            found = (first >= 0).all(axis=1)
            taken[equal] = found
            labels[equal[found]] = first[found]
            margin[equal[found]] = -np.inf  # it was that of another output
        reuse = np.where(starts < 0, Reuse.COLD, np.where(sweeps > 0, Reuse.WARM, Reuse.REUSED))
        known = Duals(duals.messages, duals.multipliers)
        return CertificateResult(taken, labels, bound, margin, starts.copy(), known, reuse)

    @staticmethod
    def _begin(asked: Query) -> tuple[IntArray, IntArray]:
        """Entries to begin with: those named, or one whose output is the best in the cache."""
        cache, starts = asked.cache, asked.starts
        if not cache.count:
            return np.full(len(asked), -1), _outputs(cache, np.full(len(asked), -1))
        unnamed = np.flatnonzero(starts < 0)
        if len(unnamed):
            starts = starts.copy()
            best = asked.rows(unnamed).remembered
            starts[unnamed] = np.where(best >= 0, cache.entry_of_output[best], -1)
        return starts, replace(asked, starts=starts).initials


@dataclass(frozen=True)
class Margin:
    """The margin of a remembered problem against how far scores have moved since.

    Parameters
    ----------
    sweeps
        Of dual ascent, to bound how far they have moved.
    """

    sweeps: int = 2
    name: ClassVar[str] = "margin"

    def test(self, asked: Query) -> CertificateResult:
        cache, problem = asked.cache, asked.problem
        if not cache.count:
            return _none(asked)
        best = asked.remembered
        named = (asked.starts >= 0) & (cache.output_of[asked.starts] == best)
        entries = np.where(named, asked.starts, cache.entry_of_output[best])
        entries[(best < 0) | (cache.output_of[entries] != best)] = -1
        entries[~(cache.margins[entries] > 0)] = -1
        rows = np.flatnonzero(entries >= 0)
        if not len(rows):
            return _none(asked)
        p, part = entries[rows], problem.rows(rows)
        own = _outputs(cache, best[rows])
        moved = readonly(part.scores - cache.scores[p])
        nothing = np.full(len(rows), -1, dtype=np.int64)
        _, most, _, _, _ = certify(
            Questions(moved, part.closed_rows, part.ties),
            own,
            readonly(nothing),
            DualRows(readonly(cache.messages[:0]), readonly(cache.multipliers[:0])),
            cache.plan.reduced(cache.space),
            readonly(np.zeros(len(rows))),
            self.sweeps,
            0,
        )
        value = cache.space.known_value(part.scores, own)
        # The largest gain of any other output over this one.
        gain = most - cache.space.known_value(moved, own) - cache.margins[p]
        found = _none(asked)
        taken = (gain < -part.ties) | (gain <= asked.epsilon[rows] * np.abs(value)) & (
            asked.epsilon[rows] > 0
        )
        found.taken[rows] = taken
        labels = found.labels.copy()
        labels[rows[taken]] = own[taken]
        found.bound[rows] = value + np.maximum(gain, 0.0)
        found.margin[rows] = -gain
        found.entries[rows] = p
        return found._replace(labels=readonly(labels))


CERTIFICATES: Final[dict[str, tuple[Certificate, ...]]] = {
    "auto": (LagrangianCertificate(), EqualScores()),
    "condition": (ScoreCondition(), EqualScores()),
    "algorithm 1": (Algorithm1(),),
    "absolute": (Algorithm1(absolute=True),),
    "relative": (ScoreCondition(relative=True), EqualScores()),
    "duals": (LagrangianCertificate(),),
    "margin": (Margin(), EqualScores()),
    "none": (),
}


def chosen(certificate: Any) -> tuple[Certificate, ...]:
    """The certificates that a setting names."""
    if isinstance(certificate, str):
        return CERTIFICATES[certificate]
    return tuple(certificate) if isinstance(certificate, list | tuple) else (certificate,)


def _outputs(cache: SolutionCache, numbers: IntArray) -> IntArray:
    """The outputs with these numbers; -1 in all places where the number is -1."""
    if not len(cache.outputs):
        return readonly(np.full((len(numbers), len(cache.space.variables)), -1, dtype=np.int64))
    return readonly(np.where((numbers >= 0)[:, None], cache.outputs[numbers], -1))


def _allowed(asked: Query, labels: IntArray) -> IntArray:
    """Outputs without those that have a closed label."""
    closed = asked.problem.closed
    if closed is None:
        return labels
    offsets = asked.cache.space.offsets[:-1]
    own = np.take_along_axis(closed, offsets + np.maximum(labels, 0), axis=1)
    return readonly(np.where(np.asarray(own.any(axis=1))[:, None], -1, labels))


def _none(asked: Query) -> CertificateResult:
    m = len(asked)
    return CertificateResult(
        np.zeros(m, dtype=np.bool_),
        _outputs(asked.cache, np.full(m, -1)),
        np.full(m, np.inf),
        np.full(m, -np.inf),
        np.full(m, -1, dtype=np.int64),
    )
