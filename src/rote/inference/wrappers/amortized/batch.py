"""A batch: inputs of one space, tested, solved where no proof is found, and remembered."""

from __future__ import annotations

import numpy as np

from rote.inference.engine import Engine
from rote.inference.exact.kbest import bound_of_others
from rote.inference.problem import Context
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.wrappers.amortized.certificates import (
    Certificate,
    EqualScores,
    LagrangianCertificate,
    Margin,
    Query,
    ScoreCondition,
)
from rote.types import AnyArray, BoolArray, IntArray, readonly


class Batch:
    """Inputs that are answered together, and their answers as they come in.

    ``taken`` says which a certificate has answered, and ``solved`` are those that the inner engine
    was asked. ``entries`` are those of the cache that were of use or hold the answer, or -1.
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
        self.messages = np.zeros((m, cache.dual_sizes[0]))
        self.multipliers = np.zeros((m, cache.dual_sizes[1]))
        self.entries = np.full(m, -1, dtype=np.int64)
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
        if proofs.messages is not None and proofs.multipliers is not None:
            self.messages[rows] = proofs.messages
            self.multipliers[rows] = proofs.multipliers
        hit = np.flatnonzero(proofs.taken)
        if not len(hit):
            return 0
        where, epsilon = rows[hit], asked.epsilon[hit]
        value = asked.cache.space.known_value(asked.problem.scores, proofs.labels)[hit]
        bound = proofs.bound[hit]
        sure = (proofs.margin > asked.problem.ties)[hit] | (epsilon == 0)
        sure |= isinstance(certificate, EqualScores)
        self.taken[where] = True
        self.labels[where] = proofs.labels[hit]
        self.value[where] = value
        self.bound[where] = np.where(sure, value, np.maximum(bound, value))
        self.status[where] = np.where(sure, Status.OPTIMAL, Status.FEASIBLE)
        self.margin[where] = proofs.margin[hit]
        self.entries[where] = used = proofs.entries[hit]
        asked.cache.use(used[used >= 0])
        # What equal scores or a margin prove, the entry proves that has them.
        self.new[where] = sure & isinstance(certificate, ScoreCondition | LagrangianCertificate)
        if isinstance(certificate, LagrangianCertificate):
            self.source[where] = FoundBy.CERTIFICATE
        elif isinstance(certificate, ScoreCondition):
            off = ~sure & (value > 0)
            theirs = (bound - value)[off] / epsilon[off] / value[off]  # M of Theorem 1
            self.largest_m = max(self.largest_m, float(theirs.max(initial=0.0)))
        return len(hit)

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

    def remember(self, inner: Engine, *, find_margins: bool) -> tuple[int, int]:
        """Put what is proved into the cache; how many outputs are new, and margins were sought.

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
            solved = self.solved[self.status[self.solved] == Status.OPTIMAL]
            compares = any(isinstance(each, ScoreCondition | Margin) for each in self.certificates)
            if compares and find_margins and len(solved):
                searched = self._find_margins(inner, solved)
            by_engine = np.zeros(len(problem), dtype=np.bool_)
            by_engine[solved] = True
            rows = np.flatnonzero(by_engine | self.new)
            entries[rows] = cache.put(
                # Duals are best when they are new; of scores, the more are known the better.
                np.where(compares, -1, self.query.starts[rows]),
                numbers[rows],
                problem.scores[rows],
                self.messages[rows],
                self.multipliers[rows],
                # Margins are known up to a tie; less two of them, they are safe to compare.
                self.margin[rows] - 2 * problem.ties[rows],
                by_engine=by_engine[rows],
            )
            cache.keep(entries[solved])
        self.entries = entries
        return new, searched

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
