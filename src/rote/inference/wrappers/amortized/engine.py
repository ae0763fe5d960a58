"""`Amortized`: an engine that remembers, and solves only what it cannot prove from memory.

Inputs of a batch go through the certificates in turn; what none of them settles goes to the inner
engine, and its answers are remembered. With ``epsilon=0`` and an exact inner engine, the answers
are the same as without the wrapper, to the last bit.

A question may have a name (`Context.keys`): learners name the example. Then it is first compared
with its own last answer, before the cache is looked through. Where the inner engine takes duals to
start from (`Engine.warm_starts`), nothing is proved beforehand: it is given the output and the
duals of that answer, or of a similar problem, and proves by itself, in a sweep or two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from rote.inference.engine import ANY_ENGINE, Capability, Engine, Wrapper, rebuilt
from rote.inference.exact.exact import Exact
from rote.inference.problem import Context, Problem
from rote.inference.solutions import Solutions
from rote.inference.stores.base import Store
from rote.inference.wrappers.amortized.admission import Budget
from rote.inference.wrappers.amortized.batch import Batch
from rote.inference.wrappers.amortized.certificates import (
    CERTIFICATES,
    Certificate,
    Query,
    chosen,
)
from rote.inference.wrappers.amortized.counters import AmortizedStats, Counters
from rote.inference.wrappers.amortized.solution_cache import SolutionCache, SolutionCaches
from rote.inference.wrappers.decomposed import Decomposed
from rote.settings import Setting, instance_of, number, one_of, optional, whole
from rote.space.space import Space
from rote.types import FloatArray, IntArray

FEW = 8  # inputs asked at once of an empty cache
LONG = 0.01  # seconds; an answer that took less shows nothing
CHECKS = {
    "inner": instance_of(Engine, ANY_ENGINE),
    "store": Setting(
        "one such as SqliteStore(path), or open_store(address) for an address, or None",
        lambda value: value is None or callable(getattr(value, "read", None)),
    ),
    "certificate": Setting(
        f"one of {', '.join(CERTIFICATES)}, or a list of certificates such as "
        "[LagrangianCertificate(), EqualScores()]",
        lambda value: (
            value in CERTIFICATES
            if isinstance(value, str)
            else all(callable(getattr(one, "test", None)) for one in chosen(value))
        ),
    ),
    "epsilon": number(least=0),
    "exact_period": optional(whole(1)),
    "admission": one_of("adaptive", "always"),
    "max_bytes": whole(1),
}


class State:
    """What engines share that differ in ε or in what they are over; a copy begins with nothing."""

    def __init__(self, store: Store | None, max_bytes: int) -> None:
        self.caches = SolutionCaches(store, max_bytes)
        self.budget = Budget()
        self.stats = AmortizedStats()

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.caches.store, self.caches.max_bytes)


@dataclass(frozen=True, eq=False)
class Amortized(Wrapper):
    """An engine over an engine, whose answers get cheaper with use.

    A deep copy, or one sent to another process, has the same store and an empty memory. Over
    `Decomposed`, in learning, the memory stands between the decomposed engine and its inner one.

    Parameters
    ----------
    inner
        The engine that solves what is not proved.
    store
        Keeps solved problems beyond the process and shares them with others.
    certificate
        One of "auto" (warm starts where the inner engine takes them, and else duals and equal
        scores: the best exact combination), "algorithm 1" and "absolute" (as the papers print
        them), "condition", "relative", "duals", "margin", "none", or certificates of your own
        choice, tried in order.
    epsilon
        Above 0, outputs are taken that may be that much worse, relative to their value (with a
        condition: see Theorem 1).
    exact_period
        Every so many inputs, one is treated as if ``epsilon`` were 0.
    admission
        With "adaptive", inputs are not tested where that takes longer than solving, or the inner
        engine says that it would (`Engine.is_quick`); this changes times and counts, not answers.
        With "always", or ``epsilon`` above 0, all are tested.
    max_bytes
        Of entries in memory; beyond it, those of no use for longest are forgotten.

    >>> from rote import Amortized, Milp, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["a"] >> y["b"])
    >>> space = builder.build()
    >>> engine = Amortized(Milp(), admission="always")
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
    admission: str = "adaptive"
    max_bytes: int = 1 << 29
    _state: State = field(init=False, repr=False)

    transparent = True
    checks: ClassVar = CHECKS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_state", State(self.store, self.max_bytes))

    def at(self, epsilon: float, exact_period: int | None = None) -> Amortized:
        """The same engine, memory and counters with another ε."""
        return self._sharing(epsilon=epsilon, exact_period=exact_period)

    def over(self, inner: Engine) -> Amortized:
        """The same memory and counters over another engine."""
        return self._sharing(inner=inner)

    def _sharing(self, **changes: Any) -> Amortized:
        other = replace(self, **changes)
        object.__setattr__(other, "_state", self._state)
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> Amortized:
        """A copy with the same store, and nothing in memory."""
        return replace(self)

    @property
    def counters(self) -> Counters:
        """What has been done so far."""
        return self._state.stats.counters()

    @property
    def stats(self) -> AmortizedStats:
        """The numbers of `counters`, and those of inputs that were asked."""
        return self._state.stats

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space, m = problem.space, len(problem)
        if context.gold is not None and Capability.GOLD in self.inner.supports:
            return self._around(problem, context)
        if not problem.decomposes or not m:
            return self._untested(problem, context)
        if not space.variables:
            return self._undecided(problem, context)
        if self.epsilon == 0:
            adaptive = self.admission == "adaptive"
            if adaptive and self.inner.is_quick(space):
                return self._untested(problem, context, noted=False)
            if self._starts(space):
                if adaptive and not self._state.caches.start_pays(space):
                    return self._untested(problem, context, noted=False)
                return self._warm(problem, context)
        epsilon = self._epsilons(m)
        if self.admission == "always" or self.epsilon > 0:
            return self._tested(problem, context, epsilon)
        policy, chunks, start = self._state.budget.policy(space), [], 0
        while start < m:
            count, test = policy.next(m - start)
            rows = np.arange(start, start + count)
            part = _rows(problem, context, rows)
            chunks.append(self._tested(*part, epsilon[rows]) if test else self._untested(*part))
            start += count
        return Solutions.joined(chunks)

    def _epsilons(self, m: int) -> FloatArray:
        """ε of each of the inputs that are asked now; they are numbered over all threads."""
        stats = self._state.stats
        with stats.lock:
            first = stats["asked"]
            stats.add(asked=m)
        epsilon = np.full(m, float(self.epsilon))
        if self.exact_period is not None:
            epsilon[(first + np.arange(m)) % self.exact_period == 0] = 0.0
        return epsilon

    def _around(self, problem: Problem, context: Context) -> Solutions:
        """What is best of all says little of what is best around gold.

        So the problems to remember are those that a decomposed engine asks of the one inside it:
        the memory goes between the two, whatever other layers there are.
        """
        around = rebuilt(self.inner, Decomposed, lambda own: own.over(self.over(own.inner)))
        return around.answer(problem, context)

    def _untested(self, problem: Problem, context: Context, *, noted: bool = True) -> Solutions:
        """Straight to the inner engine; the time is ``noted`` for the admission policy."""
        start = perf_counter()
        solutions = self.inner.answer(problem, context)
        took, m, state = perf_counter() - start, len(problem), self._state
        if noted:
            with state.caches.lock:
                state.budget.policy(problem.space).enter_solved(m, took)
        elif took > LONG * m and self._starts(problem.space):  # which this answer has shown
            with state.caches.lock:
                cache = state.caches.warm_starts(problem.space)
                cache.note([None] * m, took)
                cache.remember(problem, context, solutions)
                state.caches.trim(cache)
        state.stats.add(queries=m, cold=m, solver_calls=m, bypassed=m, solving_seconds=took)
        return solutions

    def _starts(self, space: Space) -> bool:
        """Whether the inner engine is given earlier answers to start from."""
        return self.certificate == "auto" and self.inner.warm_starts(space)

    def _undecided(self, problem: Problem, context: Context) -> Solutions:
        """Spaces without variables have one output: this is no call to speak of."""
        if not chosen(self.certificate):
            return self._untested(problem, context)
        solutions = self.inner.answer(problem, context)
        self._state.stats.add(queries=len(problem), cold=len(problem))
        self._state.stats.hit("nothing to decide", len(problem))
        return solutions

    def _warm(self, problem: Problem, context: Context) -> Solutions:
        """What is asked again, from memory; all else by the inner engine, from a warm start."""
        state, begun, m = self._state, perf_counter(), len(problem)
        with state.caches.lock:
            cache = state.caches.warm_starts(problem.space)
            cache.fetch()
            starts = cache.find(problem, context)
            same, known = cache.answers(problem, starts)
        part, asked = problem, context
        if known is not None:
            left = np.setdiff1d(np.arange(m), same)
            if not len(left):
                state.stats.add(queries=m, reused=m, testing_seconds=perf_counter() - begun)
                state.stats.hit("same", m)
                return known
            part, asked = _rows(problem, context, left)
            starts = [starts[i] for i in left.tolist()]
        asked = cache.context(asked, part, starts)
        solving = perf_counter()
        found = self.inner.answer(part, asked)
        solved = perf_counter()
        with state.caches.lock:
            cache.note(starts, solved - solving)
            cache.remember(part, asked, found)
            state.caches.trim(cache)
        count, cold = len(starts), starts.count(None)
        state.stats.add(
            queries=m,
            reused=m - count,
            warm=count - cold,
            cold=cold,
            solver_calls=count,
            testing_seconds=solving - begun + perf_counter() - solved,
            solving_seconds=solved - solving,
        )
        found = Solutions(*found.arrays)  # without its duals
        if known is None:
            return found
        state.stats.hit("same", m - count)
        whole = Solutions.none(problem.space, m).with_rows(same, known)
        return whole.with_rows(left, found)

    def _tested(self, problem: Problem, context: Context, epsilon: FloatArray) -> Solutions:
        """Certificates first. A young cache is asked about few inputs at a time."""
        space, m = problem.space, len(problem)
        certificates, caches = chosen(self.certificate), self._state.caches
        size = m if problem.closed is not None else max(FEW, caches.of(space).count)
        solutions, start = [], 0
        while start < m:
            rows = np.arange(start, min(start + size, m))
            part = _rows(problem, context, rows)
            # Another one, if that of the last batch went.
            cache = caches.of(space)
            solutions.append(self._batch(cache, *part, epsilon[rows], certificates))
            start, size = start + len(rows), 2 * size
        return Solutions.joined(solutions)

    def _batch(
        self,
        cache: SolutionCache,
        problem: Problem,
        context: Context,
        epsilon: FloatArray,
        certificates: tuple[Certificate, ...],
    ) -> Solutions:
        """What certificates prove, and what the inner engine solves; both are remembered."""
        caches, stats, m = self._state.caches, self._state.stats, len(problem)
        begun = perf_counter()
        with caches.lock:
            cache.fetch()
            numbered = cache.forgotten
            starts = np.full(m, -1) if context.keys is None else cache.named(context.keys)
            query = Query(cache, problem, epsilon, starts)
            batch = Batch(query, context, certificates)
            hits = batch.test()
            batch.start(self.inner)
        testing = perf_counter() - begun
        begun = perf_counter()
        batch.solve(self.inner)
        solving = perf_counter() - begun
        begun = perf_counter()
        with caches.lock:
            if cache.forgotten != numbered:  # by another thread: rows have other numbers now
                query.starts, batch.entries = np.full(m, -1), np.full(m, -1)
            numbered = cache.forgotten
            new, searched = batch.remember(self.inner, find_margins=self.epsilon == 0)
            caches.trim(cache)
            testing += perf_counter() - begun
            calls = len(batch.solved)
            self._state.budget.policy(cache.space).enter_tested(m, m - calls, testing, solving)
            reused, warm, cold = np.bincount(batch.reuse, minlength=3).tolist()
            stats.add(
                queries=m,
                reused=reused,
                warm=warm,
                cold=cold,
                solver_calls=calls + searched,
                distinct_outputs=new,
                second_bests=searched,
                testing_seconds=testing,
                solving_seconds=solving,
            )
            for certificate, count in hits.items():
                stats.hit(certificate, count)
            stats.reach(batch.largest_m)
        return batch.solutions


def _rows(problem: Problem, context: Context, rows: IntArray) -> tuple[Problem, Context]:
    """Some of the inputs."""
    if len(rows) == len(problem):
        return problem, context
    return problem.rows(rows), context.rows(rows)
