"""Answers to a batch as they come in, from certificates and from the engine underneath."""

from __future__ import annotations

import numpy as np

from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.wrappers.amortized.certificates import (
    Certificate,
    EqualScores,
    LagrangianCertificate,
    Query,
    ScoreCondition,
)
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.types import BoolArray, IntArray, readonly


class Answers:
    """One answer per input; ``taken`` says which are there."""

    def __init__(self, shelf: SolutionCache, m: int) -> None:
        self.space = shelf.space
        self.taken: BoolArray = np.zeros(m, dtype=np.bool_)
        self.labels = np.full((m, len(shelf.space.variables)), -1, dtype=np.int64)
        self.value = np.full(m, -np.inf)
        self.bound = np.full(m, np.inf)
        self.status = np.full(m, Status.TIMED_OUT.value)
        self.source = np.full(m, FoundBy.CACHE.value)
        self.margin = np.full(m, -np.inf)  # every other output is worth less by so much
        self.messages = np.zeros((m, shelf.wide[0]))
        self.multipliers = np.zeros((m, shelf.wide[1]))
        self.entries = np.full(m, -1, dtype=np.int64)  # what was of use
        self.new: BoolArray = np.zeros(m, dtype=np.bool_)  # worth an entry of its own
        self.largest_m = 0.0

    def test(self, rows: IntArray, certificate: Certificate, asked: Query) -> int:
        """Enter what a certificate says of some inputs; returns how many it answers."""
        proofs = certificate.test(asked)
        if proofs.messages is not None and proofs.multipliers is not None:
            self.messages[rows] = proofs.messages
            self.multipliers[rows] = proofs.multipliers
        hit = np.flatnonzero(proofs.taken)
        if not len(hit):
            return 0
        where, epsilon = rows[hit], asked.epsilon[hit]
        value = self.space.known_value(asked.problem.scores, proofs.labels)[hit]
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
        asked.shelf.use(used[used >= 0])
        # What equal scores or a margin prove, the entry proves that has them.
        self.new[where] = sure & isinstance(certificate, ScoreCondition | LagrangianCertificate)
        if isinstance(certificate, LagrangianCertificate):
            self.source[where] = FoundBy.CERTIFICATE
        elif isinstance(certificate, ScoreCondition):
            off = ~sure & (value > 0)
            theirs = (bound - value)[off] / epsilon[off] / value[off]  # M of Theorem 1
            self.largest_m = max(self.largest_m, float(theirs.max(initial=0.0)))
        return len(hit)

    def solved(self, rows: IntArray, solutions: Solutions) -> None:
        """Enter the engine's answers to some inputs."""
        self.labels[rows] = solutions.labels
        self.value[rows] = solutions.value
        self.bound[rows] = solutions.bound
        self.status[rows] = solutions.status
        self.source[rows] = solutions.source

    def solutions(self) -> Solutions:
        return Solutions(
            readonly(self.labels),
            readonly(self.value),
            readonly(self.bound),
            readonly(self.status),
            readonly(self.source),
        )
