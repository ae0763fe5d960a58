"""A batch: inputs of one space, tested, solved where no proof is found, and remembered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rote.inference.engine import Capability, Engine
from rote.inference.exact.duals import Duals
from rote.inference.exact.kbest import bound_of_others
from rote.inference.problem import Context, WarmStart
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.wrappers.amortized.certificates import (
    Algorithm1,
    Certificate,
    EqualScores,
    LagrangianCertificate,
    Margin,
    Query,
    Reuse,
    ScoreCondition,
)
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly


class Batch:
    """Inputs that are answered together, and their answers as they come in.

    ``taken`` says which a certificate has answered, and ``solved`` are those that the inner engine
    was asked. ``entries`` are those of the cache that were of use or hold the answer, or -1.
    ``reuse`` says what memory did for each.
    """

    def __init__(
        self, query: Query, context: Context, certificates: tuple[Certificate, ...]
    ) -> None:
        cache, m = query.cache, len(query)
        self.query = query
        self.context = context
        self.certificates = certificates
        self.taken: BoolArray = np.zeros(m, dtype=np.bool_)
        self.solved: IntArray = np.empty(0, dtype=np.int64)
        self.labels = np.full((m, len(cache.space.variables)), -1, dtype=np.int64)
        self.value = np.full(m, -np.inf)
        self.bound = np.full(m, np.inf)
        self.status = np.full(m, Status.TIMED_OUT.value)
        self.source = np.full(m, FoundBy.CACHE.value)
        self.margin = np.full(m, -np.inf)  # the value of every other output is less by so much
        self.duals: Duals | None = None
        self.incumbents: IntArray | None = None  # the best outputs that certificates came to
        self.entries = np.full(m, -1, dtype=np.int64)
        self.reuse = np.full(m, Reuse.COLD.value)
        self.new: BoolArray = np.zeros(m, dtype=np.bool_)  # worth an entry of its own
        self.largest_m = 0.0

    @property
    def _columns(self) -> tuple[AnyArray, ...]:
        return self.labels, self.value, self.bound, self.status, self.source

    @property
    def solutions(self) -> Solutions:
        return Solutions(*map(readonly, self._columns))

    def test(self) -> dict[str, int]:
        """Ask the certificates in turn; how many inputs each has answered."""
        hits: dict[str, int] = {}
        for certificate in self.certificates:
            left = np.flatnonzero(~self.taken)
            if not len(left):
                break
            asked = self.query if len(left) == len(self.query) else self.query.rows(left)
            if count := self.test_one(left, certificate, asked):
                hits[certificate.name] = hits.get(certificate.name, 0) + count
        return hits

    def test_one(self, rows: IntArray, certificate: Certificate, asked: Query) -> int:
        """Enter what a certificate says of some inputs; returns how many it answers."""
        proofs = certificate.test(asked)
        if proofs.duals is not None:
            self._enter_duals(rows, proofs.duals)
            if self.incumbents is None:
                self.incumbents = np.full_like(self.labels, -1)
            self.incumbents[rows] = proofs.labels
        if not proofs.taken.any():
            return 0
        value = asked.cache.space.known_value(asked.problem.scores, proofs.labels)
        hit = np.flatnonzero(proofs.taken & (value >= asked.problem.floor))
        where, used = rows[hit], proofs.entries[hit]
        bound, epsilon, gap = proofs.bound[hit], asked.epsilon[hit], np.zeros(len(hit))
        value = value[hit]
        sure = (proofs.margin > asked.problem.ties)[hit] | (epsilon == 0)
        if isinstance(certificate, EqualScores | Algorithm1):
            gap = asked.cache.gaps[used]
            sure = (gap == 0) & ((epsilon == 0) | isinstance(certificate, EqualScores))
        self.taken[where] = True
        self.labels[where] = proofs.labels[hit]
        self.value[where] = value
        self.bound[where] = np.where(sure, value, np.maximum(bound, value))
        self.status[where] = np.where(sure, Status.OPTIMAL, Status.FEASIBLE)
        self.margin[where] = proofs.margin[hit]
        self.entries[where] = used
        self.reuse[where] = Reuse.REUSED if proofs.reuse is None else proofs.reuse[hit]
        asked.cache.use(used[used >= 0])
        # What equal scores or a margin prove, the entry proves that has them.
        self.new[where] = sure & isinstance(certificate, ScoreCondition | LagrangianCertificate)
        if isinstance(certificate, LagrangianCertificate):
            self.source[where] = FoundBy.CERTIFICATE
        elif isinstance(certificate, ScoreCondition | Algorithm1):
            self.new[where] |= isinstance(certificate, Algorithm1)
            off = ~sure & (value > 0) & (epsilon > 0)
            theirs = (bound - value - gap)[off] / epsilon[off] / value[off]  # M of Theorem 1
            self.largest_m = max(self.largest_m, float(theirs.max(initial=0.0)))
        return len(hit)

    def _enter_duals(self, rows: IntArray, duals: Duals) -> None:
        if self.duals is None:
            messages, multipliers = self.query.cache.dual_sizes
            m = len(self.query)
            self.duals = Duals(np.zeros((m, messages)), np.zeros((m, multipliers)))
        self.duals.messages[rows] = duals.messages
        self.duals.multipliers[rows] = duals.multipliers

    def solve(self, inner: Engine) -> None:
        """Ask the inner engine for what is left; equal questions once."""
        self.solved = left = np.flatnonzero(~self.taken)
        if not len(left):
            return
        problem, context, first = self.query.problem, self.context, left
        if len(left) < len(problem):
            problem, context = problem.rows(left), context.rows(left)
        if problem.closed is None and self.certificates and len(left) > 1:
            _, first, place = np.unique(
                problem.scores, axis=0, return_index=True, return_inverse=True
            )
        if len(first) < len(left):
            self.solved = left[first]
            found = inner.answer(problem.rows(first), context.rows(first)).rows(place)
        else:
            found = inner.answer(problem, context)
        for column, theirs in zip(self._columns, found.arrays, strict=True):
            column[left] = theirs

    def start(self, inner: Engine) -> None:
        """Give the inner engine outputs to start from, where it takes some."""
        if self.incumbents is None or Capability.WARM_STARTS not in inner.supports:
            return
        incumbents = readonly(self.incumbents)
        self.context = replace(self.context, warm=WarmStart(incumbents))
        remembered = (self.query.starts >= 0) & (incumbents[:, 0] >= 0)
        self.reuse[remembered & ~self.taken] = Reuse.WARM

    def remember(self, inner: Engine, *, find_margins: bool) -> tuple[int, int]:
        """Put what is known into the cache; how many outputs are new, and margins were sought.

        Problems with closed labels are of another feasible set, and are not remembered.
        """
        cache, problem = self.query.cache, self.query.problem
        entries = np.where(self.new, -1, self.entries)
        found = np.flatnonzero(self.labels[:, 0] >= 0)
        numbers = np.full(len(problem), -1, dtype=np.int64)
        new = searched = 0
        if len(found):
            numbers[found], new = cache.numbers(readonly(self.labels[found]))
        if problem.closed is None and self.certificates:
            solved = self.solved[self.labels[self.solved, 0] >= 0]
            best = solved[self.status[solved] == Status.OPTIMAL]
            compares = any(isinstance(each, ScoreCondition | Margin) for each in self.certificates)
            if compares and find_margins and len(best):
                searched = self._find_margins(inner, best)
            by_engine = np.zeros(len(problem), dtype=np.bool_)
            by_engine[solved] = True
            rows = np.flatnonzero(by_engine | self.new)
            duals = self.duals or Duals(*(np.zeros((len(problem), n)) for n in cache.dual_sizes))
            gaps: FloatArray = np.maximum(self.bound - self.value, np.finfo(float).tiny)
            gaps[self.status == Status.OPTIMAL] = 0.0
            entries[rows] = cache.put(
                self._places(rows, by_engine[rows], compares),
                numbers[rows],
                problem.scores[rows],
                duals.messages[rows],
                duals.multipliers[rows],
                # Margins are known up to a tie; less two of them, they are safe to compare.
                self.margin[rows] - 2 * problem.ties[rows],
                gaps[rows],
                by_engine=by_engine[rows],
            )
            cache.keep(entries[solved])
        self.entries = entries
        if self.context.keys is not None:
            cache.name(self.context.keys, entries)
        return new, searched

    def _places(self, rows: IntArray, by_engine: BoolArray, compares: bool) -> IntArray:
        """The rows of the cache that answers are written to; -1 is a new one.

        Duals are best when they are new, and of scores the more are known the better. What an
        engine has answered is not written over.
        """
        cache, own = self.query.cache, self.query.starts[rows]
        free = (own >= 0) & ~by_engine & (not compares)
        free[free] = ~cache.by_engine[own[free]]
        return np.where(free, own, -1)

    def _find_margins(self, inner: Engine, solved: IntArray) -> int:
        """Margins of solved problems; how many were searched for.

        Duals prove most of them; a bound on the value of other outputs, by the inner engine, tells
        the others. Each of those counts as one more call.
        """
        cache, problem = self.query.cache, self.query.problem
        part = problem.rows(solved)
        asked = Query(cache, part, np.zeros(len(solved)), np.full(len(solved), -1))
        self.margin[solved] = LagrangianCertificate().test(asked).margin
        hard = solved[~(self.margin[solved] > part.ties)]
        best = readonly(self.labels[hard])
        others = bound_of_others(problem.rows(hard), best, inner, self.context.rows(hard))
        self.margin[hard] = self.value[hard] - others
        return len(hard)
