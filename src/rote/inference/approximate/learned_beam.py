"""`LearnedBeam`: beam search that learns to mimic an engine, as in Pan and Srikumar (2018).

    rank(v) = g(v) + h(v),     h(v) = w · φ(v)

The weights w of features (`rote.inference.approximate.beam_plan`) are learned from the engine's own
answers, which needs no gold outputs: wherever the search leaves the way to the engine's answer, w
moves (`rote.kernels.beam.heuristic_learning.learn_beam`). What rules forbid is soon unlikely, and
the search comes to feasible outputs without looking at a rule.

With a ``theta``, h decides alone where it is ahead by more than that. If the gap is larger
than what scores could change, the beam is the same (Theorem 2); and the feature vectors of such a
decision need not be worked out at all: a model asks for those of the others alone.

Beyond the paper: where the best labels are feasible, each chosen by itself, nothing is searched,
since they are the best output; an infeasible output is searched for again by a constrained beam, so
that every answer is feasible; with ``proof`` every answer has a dual bound; and ``share`` of the
inputs are given to the engine as well, so that learning goes on in service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, TypeGuard

import numpy as np

from rote.inference.approximate.beam import beam_width, bounded, first_feasible, search_feasible
from rote.inference.approximate.beam_plan import (
    ORDER,
    BeamPlans,
    HeuristicFeatures,
    Order,
    WeightIndex,
)
from rote.inference.engine import ANY_ENGINE, Capability, Engine, Locked, Stats
from rote.inference.exact.exact import Exact
from rote.inference.exact.independent import argmax_presolve
from rote.inference.problem import Context, LazyProblem, LazyScores, Problem, Wanted
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.beam.beam import BeamPlan, Nodes, Progress, proceed, search_beam
from rote.kernels.beam.heuristic_learning import Learned, learn_beam
from rote.kernels.local_search.hash_random import seeds_of
from rote.settings import FLAG, FRACTION, instance_of, number, optional, whole
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly


class BeamResult(NamedTuple):
    """The best outputs that a search came to, before rules are looked at."""

    labels: IntArray  # (m, variables)
    is_feasible: BoolArray  # (m,)
    skipped: IntArray  # (m,): decisions by h alone


class Knowledge(NamedTuple):
    """All that a `LearnedBeam` has learned, and needs to learn on as if it had never stopped."""

    origins: Mapping[str, int]  # of each family of features: the place of its first weight
    weights: FloatArray  # as they are now
    sums: FloatArray  # their average is weights - sums / clock
    clock: FloatArray  # one number: inputs learned from
    asked: FloatArray  # one number: inputs that came without scores


class Heuristic(Locked):
    """What is learned, under a lock: the weights of features, and where those of each begin."""

    def __init__(
        self, order: Order | None, features: HeuristicFeatures, known: Knowledge | None
    ) -> None:
        super().__init__()
        empty = np.zeros(0), np.zeros(0), np.zeros(1), np.zeros(1)
        origins, *arrays = known or ({}, *empty)
        weights, sums, clock, asked = (np.array(array, dtype=np.float64) for array in arrays)
        self.index = WeightIndex(origins, min(len(weights), len(sums)))
        self.plans = BeamPlans(order, features, self.index)
        self.arrays = weights, sums, clock
        self.asked = int(asked[0])

    def plan(self, space: Space) -> BeamPlan:
        """The plan of a space; there are weights for all of its features then."""
        plan = self.plans.of(space)
        weights, sums, clock = self.arrays
        more = self.index.size - len(weights)
        if more > 0:
            self.arrays = np.pad(weights, (0, more)), np.pad(sums, (0, more)), clock
        return plan

    def weights(self, *, average: bool) -> FloatArray:
        """The weights as they are, or their mean so far."""
        weights, sums, clock = self.arrays
        return readonly(weights - sums / max(1.0, clock[0]) if average else weights.copy())


@dataclass(frozen=True, eq=False)
class LearnedBeam(Engine):
    """Beam search that learns from another engine; every answer is feasible.

    Parameters
    ----------
    inner
        The engine to learn from.
    width
        How many partial outputs are kept, at least 1; time and memory grow with it.
    theta
        How far h must be ahead to decide without scores, at least 0; the smaller, the faster and
        the less exact. None looks at all scores.
    features
        Which features h has.
    order
        The order in which the variables of a space get labels; None for that of the space.
    step
        By how much a mistake moves w, above 0: where that is large beside scores, h overrules them.
    average
        Whether h is the mean of all w so far, which changes less from one mistake to the next.
    share
        The share of inputs that the inner engine answers, to learn from, from 0 to 1.
    proof
        Whether dual ascent bounds the values; slower, and proves more answers optimal.
    learned
        The `knowledge` of another one, to go on from.

    >>> import numpy as np
    >>> from rote import Exact, LearnedBeam, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["b"] >> y["b"])
    >>> space = builder.build()
    >>> scores = np.random.default_rng(0).normal(size=(200, space.parts))
    >>> speedup = LearnedBeam(Exact(), width=2)
    >>> speedup.learn(space, scores) > 0
    True
    >>> bool(speedup.searched(space, scores).is_feasible.mean() > 0.9)
    True
    """

    inner: Engine = field(default_factory=Exact)
    width: int = 8
    theta: float | None = None
    features: HeuristicFeatures = field(default_factory=HeuristicFeatures)
    order: Order | None = None
    step: float = 0.01
    average: bool = True
    share: float = 0.0
    proof: bool = False
    learned: Knowledge | None = field(default=None, repr=False)
    _heuristic: Heuristic = field(init=False, repr=False)
    _stats: Stats = field(
        default_factory=lambda: Stats("inputs", "broken", "taught", "mistakes", "steps", "skipped"),
        init=False,
        repr=False,
    )

    checks: ClassVar = {
        "inner": instance_of(Engine, ANY_ENGINE),
        "width": whole(1),
        "theta": optional(number(least=0)),
        "order": ORDER,
        "step": number(above=0),
        "average": FLAG,
        "share": FRACTION,
        "proof": FLAG,
        "learned": optional(instance_of(Knowledge, "the knowledge of another LearnedBeam")),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        heuristic = Heuristic(self.order, self.features, self.learned)
        object.__setattr__(self, "_heuristic", heuristic)

    @property
    def supports(self) -> frozenset[Capability]:
        # A teacher may look at all features.
        whole = self.share > 0 and Capability.FEATURES in self.inner.supports
        return frozenset() if self.theta is None or whole else frozenset({Capability.LAZY_SCORES})

    def refuses(self, space: Space) -> str | None:
        return self.inner.refuses(space) if self.share > 0 else None

    @property
    def stats(self) -> Stats:
        """Inputs answered, and how.

        ``broken`` are inputs whose output broke a rule and was searched for again, ``taught`` those
        that the inner engine solved, to learn from, and ``mistakes`` those that were learned from.
        ``steps`` are decisions, and ``skipped`` those by h alone.
        """
        return self._stats

    @property
    def knowledge(self) -> Knowledge:
        """What has been learned so far."""
        own = self._heuristic
        with own.lock:
            arrays = (*own.arrays, np.array([float(own.asked)]))
            return Knowledge(dict(own.index.origins), *(readonly(a.copy()) for a in arrays))

    @property
    def weights(self) -> FloatArray:
        """The weights of h."""
        with self._heuristic.lock:
            return self._heuristic.weights(average=self.average)

    def saved(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        settings, _ = super().saved()
        known = self.knowledge._asdict()
        return {**settings, "learned": known.pop("origins")}, known

    @classmethod
    def restored(cls, settings: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> Engine:
        return cls(**{**settings, "learned": Knowledge(dict(settings["learned"]), **arrays)})

    @property
    def _gap(self) -> float:
        return np.inf if self.theta is None else float(self.theta)

    def with_theta(self, theta: float | None) -> LearnedBeam:
        """One that knows as much and has another threshold."""
        return replace(self, theta=theta, learned=self.knowledge)

    def learn(self, space: Space, scores: Problem | AnyArray) -> int:
        """Learn from inputs by the engine's answers to them; how many mistakes there were."""
        problem = Problem.of(space, scores)
        return self._learn(problem, self.inner.solve(space, problem))

    def answer_all(self, pairs: Sequence[tuple[Problem, Context]]) -> Iterator[Solutions]:
        lazy = [(problem, context) for problem, context in pairs if self._is_lazy(problem)]
        if len(lazy) < len(pairs):
            yield from super().answer_all(pairs)
            return
        searched = self.searched_lazily([problem for problem, _ in lazy])
        for (problem, context), found in zip(lazy, searched, strict=True):
            yield self._answered_lazily(problem, context, found)

    def _is_lazy(self, problem: Problem) -> TypeGuard[LazyProblem]:
        return isinstance(problem, LazyProblem) and Capability.LAZY_SCORES in self.supports

    def answer(self, problem: Problem, context: Context) -> Solutions:
        if self._is_lazy(problem):
            (solutions,) = self.answer_all([(problem, context)])
            return solutions
        taught = self._to_teach(problem)
        if not taught.any():
            return self._answered(problem)
        rows = np.flatnonzero(taught), np.flatnonzero(~taught)
        solved = self._taught(problem.rows(rows[0]), context.rows(rows[0]))
        parts = [solved, self._answered(problem.rows(rows[1]))]
        return Solutions.joined(parts).rows(np.argsort(np.concatenate(rows)))

    def _taught(self, problem: Problem, context: Context) -> Solutions:
        """The engine's own answers, which are learned from."""
        solved = self.inner.solve(problem.space, problem, context)
        self._learn(problem, solved)
        return solved

    def next_taught(self, count: int) -> IntArray:
        """Which of the next inputs are for the engine, where no scores are there to say so.

        They are as many as ``share`` says, one after so many others.
        """
        with self._heuristic.lock:
            first = self._heuristic.asked
            self._heuristic.asked += count
        due = np.floor(np.arange(first, first + count + 1) * float(self.share))
        return np.flatnonzero(np.diff(due) > 0)

    def searched(self, space: Space, scores: Problem | AnyArray) -> BeamResult:
        """What the search alone comes to, feasible or not."""
        problem = Problem.of(space, scores)
        with self._heuristic.lock:
            plan, weights = self._heuristic.plan(space), self.weights
        closed, width = problem.closed_labels, beam_width(self.width, space, len(problem), plan)
        nodes, skipped = search_beam(problem.scores, closed, weights, width, self._gap, plan)
        labels, is_feasible = first_feasible(space, nodes.labels, nodes.size)
        self.stats.add(inputs=len(labels), steps=labels.size, skipped=int(skipped.sum()))
        return BeamResult(readonly(labels), readonly(is_feasible), readonly(skipped))

    def searched_lazily(self, problems: Sequence[LazyProblem]) -> list[BeamResult]:
        """As `searched` for several problems; and few scores are looked at.

        Only those that decide something are asked for: what all inputs need to go on, again and
        again until all have come to an end.
        """
        with self._heuristic.lock:
            plans = [self._heuristic.plan(problem.space) for problem in problems]
            weights = self.weights
        walks = [
            _Walk(problem.lazy, plan, beam_width(self.width, problem.space, len(problem), plan))
            for problem, plan in zip(problems, plans, strict=True)
        ]
        going = walks
        while going:
            wanted = {walk: walk.on(weights, self._gap) for walk in going}
            going = [walk for walk, own in wanted.items() if len(own.inputs)]
            if going:
                going[0].lazy.fill([wanted[walk] for walk in going])
        found = [walk.beams() for walk in walks]
        for own in found:
            skipped = int(own.skipped.sum())
            self.stats.add(inputs=len(own.labels), steps=own.labels.size, skipped=skipped)
        return found

    def _answered_lazily(
        self, problem: LazyProblem, context: Context, found: BeamResult
    ) -> Solutions:
        """What a search came to, repaired; values are not known where it left out some scores.

        A proof looks at all scores in the end.
        """
        m = len(problem)
        broken, taught = np.flatnonzero(~found.is_feasible), self.next_taught(m)
        again = np.arange(m) if self.proof else np.union1d(broken, taught)
        problem.lazy.rows(again)  # read together
        known = np.flatnonzero(problem.lazy.known.all(axis=1) & found.is_feasible)
        answers = Solutions(
            found.labels,
            readonly(np.full(m, np.nan)),
            readonly(np.full(m, np.inf)),
            readonly(np.full(m, int(Status.FEASIBLE))),
            readonly(np.full(m, int(FoundBy.BEAM))),
        )
        if len(known):
            valued = bounded(problem.rows(known), readonly(found.labels[known]), proof=self.proof)
            answers = answers.with_rows(known, valued)
        if len(broken):
            answers = answers.with_rows(broken, self._repaired(problem.rows(broken)))
        if len(taught):
            solved = self._taught(problem.rows(taught), context.rows(taught))
            answers = answers.with_rows(taught, solved)
        return answers

    def _answered(self, problem: Problem) -> Solutions:
        space = problem.space
        if self.theta is not None or space.factors or len(space.network.rows):
            return self._by_search(problem)
        seen, hard = argmax_presolve(problem)
        if seen is None:
            return self._by_search(problem)
        easy = len(problem) - len(hard)
        self.stats.add(inputs=easy, steps=easy * len(space.variables))
        if not len(hard):
            return seen
        return seen.with_rows(hard, self._by_search(problem.rows(hard)))

    def _by_search(self, problem: Problem) -> Solutions:
        found = self.searched(problem.space, problem)
        labels = found.labels.copy()
        broken = np.flatnonzero(~found.is_feasible)
        labels[broken] = -1
        answers = bounded(problem, labels, proof=self.proof)
        if len(broken) == 0:
            return answers
        return answers.with_rows(broken, self._repaired(problem.rows(broken)))

    def _repaired(self, problem: Problem) -> Solutions:
        """Feasible outputs where the search came to none."""
        with self._heuristic.lock:
            plan, weights = self._heuristic.plan(problem.space), self.weights
        self.stats.add(broken=len(problem))
        return search_feasible(problem, weights, self.width, plan, proof=self.proof)

    def _to_teach(self, problem: Problem) -> BoolArray:
        """Which inputs the engine is given; a function of their scores."""
        if self.share == 0:
            return np.zeros(len(problem), dtype=np.bool_)
        place = seeds_of(problem.scores, 0).view(np.uint64) >> np.uint64(40)
        return np.asarray(place < self.share * float(1 << 24))

    def _learn(self, problem: Problem, solved: Solutions) -> int:
        there = np.flatnonzero(solved.labels.min(axis=1, initial=0) >= 0)
        part = problem.rows(there)
        with self._heuristic.lock:
            plan = self._heuristic.plan(problem.space)
            wrong = learn_beam(
                part.scores,
                part.closed_labels,
                readonly(solved.labels[there]),
                Learned(*self._heuristic.arrays),
                beam_width(self.width, problem.space, len(part), plan),
                float(self.step),
                plan,
            )
        self.stats.add(taught=len(problem), mistakes=int(wrong.sum()))
        return int(wrong.sum())


class _Walk:
    """A search that stands still where scores are needed."""

    def __init__(self, lazy: LazyScores, plan: BeamPlan, width: int) -> None:
        space = lazy.space
        m, n = len(lazy), len(space.variables)
        self.lazy, self.plan = lazy, plan
        self.closed = readonly(np.tile(~space.network.allowed[: space.labels], (m, 1)))
        self.nodes, self.there = Nodes(m, width, plan), np.zeros((m, n), dtype=np.bool_)
        self.steps, self.skipped = np.zeros((2, m), dtype=np.int64)
        # A step needs the scores of its variable, and of the factors that are whole after it.
        ptr, order = plan.factor_ptr, plan.order
        factors = n + np.searchsorted(space.factor_offsets, plan.factor_part)
        self.slots = np.insert(factors, ptr[:-1], order)
        self.firsts = ptr[:-1] + np.arange(n)
        self.counts = 1 + np.diff(ptr)

    def on(self, weights: FloatArray, theta: float) -> Wanted:
        """Go on as far as scores go; which inputs then wait for those of which slots."""
        wanted = proceed(
            readonly(self.lazy.array),
            self.closed,
            weights,
            theta,
            self.plan,
            Progress(self.nodes, self.there, self.steps, self.skipped),
        )
        self.there |= wanted
        inputs, steps = np.nonzero(wanted)
        counts = self.counts[steps]
        firsts = self.firsts[steps]
        before = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(firsts - before, counts)
        return Wanted(self.lazy, np.repeat(inputs, counts), self.slots[places])

    def beams(self) -> BeamResult:
        """What the search came to."""
        labels, is_feasible = first_feasible(self.lazy.space, self.nodes.labels, self.nodes.size)
        return BeamResult(readonly(labels), readonly(is_feasible), readonly(self.skipped))
