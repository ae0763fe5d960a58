"""`Amortized`: an engine that remembers, and solves only what it cannot prove from memory.

Inputs of a batch go through the certificates in turn; what none of them settles goes to the engine
underneath, and its answers are remembered. With ``epsilon=0`` and an exact engine underneath, the
answers are the same as without the wrapper, to the last bit.

Learners ask about the same examples again and again, in the same order. So when a batch has as
many inputs as the one before it on a shelf, each input is first compared with what came in its
place then, before the whole shelf is looked through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Final

import numpy as np

from rote.errors import SettingError, check_number, check_whole
from rote.inference.engine import Capability, Engine, Wrapper, check_engine, rebuilt
from rote.inference.exact.exact import Exact
from rote.inference.exact.kbest import bound_of_others
from rote.inference.problem import Context, Problem
from rote.inference.solutions import Solutions, Status
from rote.inference.stores.base import Store
from rote.inference.wrappers.amortized.admission import AdmissionPolicy
from rote.inference.wrappers.amortized.answers import Answers
from rote.inference.wrappers.amortized.certificates import (
    Certificate,
    EqualScores,
    LagrangianCertificate,
    Margin,
    Query,
    ScoreCondition,
)
from rote.inference.wrappers.amortized.counters import Counters
from rote.inference.wrappers.amortized.memory import Memory
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.inference.wrappers.decomposed import Decomposed
from rote.types import FloatArray, IntArray, readonly

LIMIT = 1 << 29  # bytes of entries in memory, where nothing else is said
FEW = 8  # inputs asked at once of an empty shelf
CERTIFICATES: Final[dict[str, tuple[Certificate, ...]]] = {
    "auto": (LagrangianCertificate(), EqualScores()),
    "condition": (ScoreCondition(), EqualScores()),
    "relative": (ScoreCondition(relative=True), EqualScores()),
    "duals": (LagrangianCertificate(),),
    "margin": (Margin(), EqualScores()),
    "none": (),
}


@dataclass(frozen=True, eq=False)
class Amortized(Wrapper):
    """An engine over an engine, whose answers get cheaper with use.

    ``certificate`` is one of "auto" (duals, then equal scores: the best exact combination),
    "condition", "relative", "duals", "margin", "none", or certificates of your own choice, tried
    in order. ``epsilon`` above 0 takes outputs that may be that much worse, relative to their
    value (with a condition: see Theorem 1); every ``exact_period``-th input is then treated as if
    it were 0.

    Entries are kept in memory up to ``limit`` bytes, beyond which those that have been of no use
    for longest are forgotten. A ``store`` keeps solved problems beyond the process and shares them
    with others; a copy of an engine, or one sent to another process, has the same store and an
    empty memory. ``thrifty`` engines do not test where that takes longer than solving; it changes
    times and counts, not answers, and has no say when ``epsilon`` is above 0. Over `Decomposed`, in
    learning, it stands between the decomposed engine and the one underneath.

    >>> from rote import Amortized, Milp, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["a"] >> y["b"])
    >>> space = builder.build()
    >>> engine = Amortized(Milp(), thrifty=False)
    >>> scores = [[2.0, 0.0, 1.0, 0.0], [2.1, 0.0, 1.3, 0.0]]
    >>> space.decode(engine.solve(space, scores).labels)
    [{'x': 'a', 'y': 'b'}, {'x': 'a', 'y': 'b'}]
    >>> engine.counters.queries, engine.counters.solver_calls
    (2, 0)
    """

    inner: Engine = field(default_factory=Exact)
    store: Store | None = None
    certificate: str | Certificate | Sequence[Certificate] = "auto"
    epsilon: float = 0.0
    exact_period: int | None = None
    thrifty: bool = True
    limit: int = LIMIT
    _memory: Memory = field(init=False, repr=False)
    _certificates: tuple[Certificate, ...] = field(init=False, repr=False)

    transparent = True

    def __post_init__(self) -> None:
        check_engine("the inner engine", self.inner)
        if self.store is not None and not callable(getattr(self.store, "read", None)):
            raise SettingError(
                "store is one such as SqliteStore(path), or open_store(address) for an address; "
                f"got {self.store!r}"
            )
        check_number("epsilon", self.epsilon, least=0)
        check_whole("limit", self.limit, least=1)
        if self.exact_period is not None:
            check_whole("exact_period", self.exact_period, least=1)
        object.__setattr__(self, "_certificates", _chosen(self.certificate))
        object.__setattr__(self, "_memory", Memory(self.store, self.limit))

    def at(self, epsilon: float, exact_period: int | None = None) -> Amortized:
        """The same engine, memory and counters with another ε."""
        return self._sharing(replace(self, epsilon=epsilon, exact_period=exact_period))

    def over(self, inner: Engine) -> Amortized:
        """The same memory and counters over another engine."""
        return self._sharing(replace(self, inner=inner))

    def _sharing(self, other: Amortized) -> Amortized:
        object.__setattr__(other, "_memory", self._memory)
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> Amortized:
        """A copy with the same store, and nothing in memory."""
        return Amortized(*self._settings)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # To another process goes what the engine is, not what it remembers.
        return Amortized, self._settings

    @property
    def _settings(self) -> tuple[Any, ...]:
        return (
            self.inner,
            self.store,
            self.certificate,
            self.epsilon,
            self.exact_period,
            self.thrifty,
            self.limit,
        )

    @property
    def counters(self) -> Counters:
        """What has been done so far."""
        return self._memory.tally.counters()

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        if context.gold is not None and Capability.GOLD in self.inner.supports:
            return self._around(problem, context)
        epsilon = self._epsilons(len(problem))
        if not problem.decomposes or not len(problem.scores):
            return self._untested(problem, context)
        if not space.variables:
            return self._undecided(problem, context)
        if not self.thrifty or self.epsilon > 0:
            return self._tested(problem, context, epsilon)
        admission, m = self._memory.admission(space), len(problem.scores)
        count, test = admission.next(m)
        if count == m:
            if test:
                return self._tested(problem, context, epsilon)
            return self._untested(problem, context, admission)
        chunks, start = [], 0
        while start < m:
            rows = np.arange(start, start + count)
            part = problem.rows(rows), context.rows(rows)
            chunks.append(self._tested(*part, epsilon[rows]) if test else self._untested(*part))
            start += count
            count, test = admission.next(m - start)
        return Solutions.joined(chunks)

    def _around(self, problem: Problem, context: Context) -> Solutions:
        """What is best of all says little of what is best around gold.

        So the problems to remember are those that a decomposed engine asks of the one inside it:
        the memory goes between the two, whatever other layers there are.
        """
        around = rebuilt(self.inner, Decomposed, lambda own: own.over(self.over(own.inner)))
        return around.answer(problem, context)

    def _untested(
        self, problem: Problem, context: Context, admission: AdmissionPolicy | None = None
    ) -> Solutions:
        """Straight to the engine underneath."""
        start = perf_counter()
        solutions = self.inner.answer(problem, context)
        took = perf_counter() - start
        memory, m = self._memory, len(problem.scores)
        admission, tally = admission or memory.admission(problem.space), memory.tally
        with memory.lock:
            admission.enter_solved(m, took)
            tally.queries += m
            tally.solver_calls += m
            tally.bypassed += m
            tally.solving_seconds += took
        return solutions

    def _undecided(self, problem: Problem, context: Context) -> Solutions:
        """Spaces without variables have one output: this is no call to speak of."""
        if not self._certificates:
            return self._untested(problem, context)
        solutions = self.inner.answer(problem, context)
        with self._memory.lock:
            self._memory.tally.queries += len(problem)
            self._memory.tally.hit("nothing to decide", len(problem))
        return solutions

    def _tested(self, problem: Problem, context: Context, epsilon: FloatArray) -> Solutions:
        """Certificates first. A young shelf is asked about few inputs at a time."""
        space, m = problem.space, len(problem)
        shelf = self._memory.shelf(space)
        asked = shelf.asked
        if len(asked) != m:
            asked = np.full(m, -1, dtype=np.int64)
        size = m if problem.closed is not None else max(FEW, shelf.count)
        solutions, entries, start = [], [], 0
        while start < m:
            rows = np.arange(start, min(start + size, m))
            part = (
                (problem, context) if len(rows) == m else (problem.rows(rows), context.rows(rows))
            )
            shelf = self._memory.shelf(space)  # another one, if that of the last batch went
            found, now = self._batch(shelf, *part, epsilon[rows], asked[rows])
            solutions.append(found)
            entries.append(now)
            start, size = start + len(rows), 2 * size
        shelf.asked = np.concatenate(entries)
        return Solutions.joined(solutions)

    def _batch(
        self,
        shelf: SolutionCache,
        problem: Problem,
        context: Context,
        epsilon: FloatArray,
        starts: IntArray,
    ) -> tuple[Solutions, IntArray]:
        """Answers, and the entry that each input now has on the shelf, or -1."""
        memory, m = self._memory, len(problem)
        begun = perf_counter()
        answers = Answers(shelf, m)
        with memory.lock:
            memory.fetch(shelf)
            numbered = shelf.forgotten
            starts = np.where(starts < shelf.count, starts, -1)
            hits = self._test(Query(shelf, problem, epsilon, starts), answers)
        testing = perf_counter() - begun
        begun = perf_counter()
        solved = self._solve(problem, context, answers, np.flatnonzero(~answers.taken))
        solving = perf_counter() - begun
        begun = perf_counter()
        with memory.lock:
            if shelf.forgotten != numbered:  # by another thread: rows have other numbers now
                starts, answers.entries = np.full(m, -1), np.full(m, -1)
            entries, new, searched = self._remember(
                shelf, problem, context, answers, starts, solved
            )
            testing += perf_counter() - begun
            calls, admission, tally = len(solved), memory.admission(shelf.space), memory.tally
            admission.enter_tested(m, m - calls, testing, solving)
            tally.queries += m
            tally.solver_calls += calls + searched
            tally.distinct_outputs += new
            tally.second_bests += searched
            tally.testing_seconds += testing
            tally.solving_seconds += solving
            for certificate, count in hits.items():
                tally.hit(certificate, count)
            tally.reach(answers.largest_m)
        return answers.solutions(), entries

    def _epsilons(self, m: int) -> FloatArray:
        """ε of each of the inputs that are asked now."""
        epsilon = np.full(m, float(self.epsilon))
        number = self._memory.number(m)
        if self.exact_period is not None:
            epsilon[number % self.exact_period == 0] = 0.0
        return epsilon

    def _test(self, asked: Query, answers: Answers) -> dict[str, int]:
        """How many inputs each certificate has answered."""
        hits: dict[str, int] = {}
        for certificate in self._certificates:
            left = np.flatnonzero(~answers.taken)
            if not len(left):
                break
            part = asked if len(left) == len(asked) else asked.rows(left)
            count = answers.test(left, certificate, part)
            if count:
                hits[certificate.name] = hits.get(certificate.name, 0) + count
        return hits

    def _solve(
        self, problem: Problem, context: Context, answers: Answers, left: IntArray
    ) -> IntArray:
        """Enter the engine's answers. Equal questions are asked once; returns those asked."""
        if not len(left):
            return left
        if len(left) == len(problem):
            rest, own = problem, context
        else:
            rest, own = problem.rows(left), context.rows(left)
        if rest.closed is None and self._certificates and len(left) > 1:
            _, first, place = np.unique(rest.scores, axis=0, return_index=True, return_inverse=True)
            if len(first) < len(left):
                found = self.inner.answer(rest.rows(first), own.rows(first))
                answers.solved(left, found.rows(place))
                return left[first]
        answers.solved(left, self.inner.answer(rest, own))
        return left

    def _remember(
        self,
        shelf: SolutionCache,
        problem: Problem,
        context: Context,
        answers: Answers,
        starts: IntArray,
        solved: IntArray,
    ) -> tuple[IntArray, int, int]:
        """Put what is proved on the shelf.

        Returns entries, how many outputs are new, how many margins were sought, and how often the
        engine was asked about them.

        Problems with closed labels are of another feasible set, and are not remembered.
        """
        before = shelf.forgotten
        entries = np.where(answers.new, -1, answers.entries)
        found = np.flatnonzero(answers.labels[:, 0] >= 0)
        numbers = np.full(len(problem), -1, dtype=np.int64)
        new = searched = 0
        if len(found):
            numbers[found], new = shelf.numbers(readonly(answers.labels[found]))
        if problem.closed is None and self._certificates:
            solved = solved[answers.status[solved] == Status.OPTIMAL]
            searched = self._find_margins(shelf, problem, context, answers, solved)
            by_engine = np.zeros(len(problem), dtype=np.bool_)
            by_engine[solved] = True
            rows = np.flatnonzero(by_engine | answers.new)
            entries[rows] = shelf.put(
                # Duals are best when they are new; of scores, the more are known the better.
                np.where(self._look_at_scores, -1, starts[rows]),
                numbers[rows],
                problem.scores[rows],
                answers.messages[rows],
                answers.multipliers[rows],
                # Margins are known up to a tie; less two of them, they are safe to compare.
                answers.margin[rows] - 2 * problem.ties[rows],
                by_engine=by_engine[rows],
            )
            self._memory.keep(shelf, entries[solved])
        self._memory.keep_within_limit()
        if shelf.forgotten != before:
            entries[:] = -1
        return entries, new, searched

    @property
    def _look_at_scores(self) -> bool:
        """Whether a certificate compares scores, and does not look at duals alone."""
        return any(isinstance(each, ScoreCondition | Margin) for each in self._certificates)

    def _find_margins(
        self,
        shelf: SolutionCache,
        problem: Problem,
        context: Context,
        answers: Answers,
        solved: IntArray,
    ) -> int:
        """Margins of solved problems, where a certificate asks for them; how many were searched.

        Duals prove most of them; what other outputs are worth at most, by the inner engine, tells
        the others. Each of those counts as one more call.
        """
        if not self._look_at_scores or self.epsilon > 0 or not len(solved):
            return 0
        part = problem.rows(solved)
        asked = Query(shelf, part, np.zeros(len(solved)), np.full(len(solved), -1))
        answers.margin[solved] = LagrangianCertificate().test(asked).margin
        hard = solved[~(answers.margin[solved] > part.ties)]
        best = readonly(answers.labels[hard])
        others = bound_of_others(problem.rows(hard), best, self.inner, context.rows(hard))
        answers.margin[hard] = answers.value[hard] - others
        return len(hard)


def _chosen(certificate: str | Certificate | Sequence[Certificate]) -> tuple[Certificate, ...]:
    """The certificates that a setting names."""
    if isinstance(certificate, str) and certificate in CERTIFICATES:
        return CERTIFICATES[certificate]
    each = certificate if isinstance(certificate, list | tuple) else (certificate,)
    if not all(callable(getattr(one, "test", None)) for one in each):
        raise SettingError(
            f"certificate is one of {', '.join(CERTIFICATES)}, or a list of certificates such as "
            f"[LagrangianCertificate(), Same()]; got {certificate!r}"
        )
    return tuple(each)
