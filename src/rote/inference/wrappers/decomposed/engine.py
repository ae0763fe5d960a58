"""`Decomposed`: the best output around the gold one, for learning; anywhere else, the best of all.

    max_{s ∈ S, y_s}  score(y_s, gold_{-s})        over those that obey the rules     (their eq. 4)

How it looks there is in `rote.inference.wrappers.decomposed.search`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np

from rote.inference.engine import ANY_ENGINE, Capability, Engine, Stats, Wrapper
from rote.inference.exact.exact import Exact
from rote.inference.exact.tie_breaking import lexicographic_first
from rote.inference.problem import Context, LazyProblem, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.wrappers.decomposed.search import Search
from rote.inference.wrappers.decomposed.sets import (
    DECOMPOSITION,
    Decomposition,
    Function,
    HammingBall,
    of_inputs,
)
from rote.settings import instance_of
from rote.types import FloatArray, IntArray, readonly


@dataclass(frozen=True, eq=False)
class Decomposed(Wrapper):
    """Inference over the neighbourhood of the gold output, for learning.

    For a problem with gold outputs, values, bounds and statuses speak of their neighbourhoods. An
    input with nothing feasible around its gold output (which breaks a rule then, unless labels are
    closed), and a problem without gold outputs, as in prediction, go to the inner engine.

    Parameters
    ----------
    inner
        Solves what is too large to enumerate, and what has no gold output.
    decomposition
        What the neighbourhood is: `HammingBall`, `SignedComponents`, `CustomSets`, a `Union` of
        several, or a function from a space and a gold output to sets of positions.

    >>> from rote import Context, Decomposed, Exact, SpaceBuilder, HammingBall
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["b"] >> y["b"])
    >>> space, engine = builder.build(), Decomposed(Exact(), HammingBall(1))
    >>> scores = space.scores({"x": {"b": 2.0}, "y": {"b": -1.0}})[None]
    >>> space.decode(engine.solve(space, scores, Context(gold=np.array([[0, 0]]))).labels)
    [{'x': 'a', 'y': 'a'}]
    >>> space.decode(engine.solve(space, scores).labels)
    [{'x': 'b', 'y': 'b'}]
    """

    inner: Engine = field(default_factory=Exact)
    decomposition: Decomposition | Function = field(default_factory=lambda: HammingBall(2))
    _stats: Stats = field(
        default_factory=lambda: Stats("inputs", "whole", "sets", "calls"), init=False, repr=False
    )

    transparent = True
    passes = frozenset(Capability)
    adds = frozenset({Capability.LOSS_TERMS, Capability.GLOBAL_FEATURES, Capability.GOLD})

    checks: ClassVar = {
        "inner": instance_of(Engine, ANY_ENGINE),
        "decomposition": DECOMPOSITION,
    }

    @property
    def stats(self) -> Stats:
        """Inputs with a gold output, and what was looked at for them.

        ``whole`` are inputs for which all outputs were looked at, ``sets`` were searched as a
        whole, and ``calls`` are those of the inner engine: whole inputs, and sets that needed it.
        """
        return self._stats

    def over(self, inner: Engine) -> Decomposed:
        """The same over another engine; they count together."""
        other = replace(self, inner=inner)
        object.__setattr__(other, "_stats", self._stats)
        return other

    def answer(self, problem: Problem, context: Context) -> Solutions:
        if context.gold is None:
            return self._inside(problem, context)
        split = self._decomposition.split(problem, context.gold)
        near = np.flatnonzero(~split.whole)
        search = Search(self.inner, problem.rows(near), context.rows(near))
        search.look([of_inputs(sets, near) for sets in split.sets])
        # Where labels are closed, it may be that nothing is left around gold.
        kept = np.flatnonzero(search.found | (problem.closed is not None))
        around = np.zeros(len(problem), dtype=np.bool_)
        around[near[kept]] = True
        whole = np.flatnonzero(~around)
        calls = search.calls + len(whole)
        self._stats.add(inputs=len(problem), whole=len(whole), sets=search.sets, calls=calls)
        if not len(kept):
            return self._inside(problem, context)
        answers = self._answers(problem.rows(near), search, kept)
        if not len(whole):
            return answers
        place = np.zeros(len(problem), dtype=np.int64)
        place[near[kept]] = np.arange(len(kept))
        others = self._inside(problem.rows(whole), context.rows(whole))
        return answers.rows(place).with_rows(whole, others)

    def answer_all(self, pairs: Sequence[tuple[Problem, Context]]) -> Iterator[Solutions]:
        if all(isinstance(p, LazyProblem) and context.gold is None for p, context in pairs):
            return self.inner.answer_all(pairs)
        return super().answer_all(pairs)

    def _inside(self, problem: Problem, context: Context) -> Solutions:
        """All outputs, by the inner engine, which may not take what this one does."""
        return self.inner.solve(problem.space, problem, context.without_gold())

    def _answers(self, problem: Problem, search: Search, kept: IntArray) -> Solutions:
        """What was found around gold, ties broken."""
        labels = search.labels
        # Ties are seen in sums of scores, which loss terms and global features do not enter.
        if search.doubtful.any() and problem.decomposes:
            better = partial(self._some_best, search.context)
            labels = lexicographic_first(problem, labels, search.doubtful, better)
        unsettled = search.bounds > search.values + problem.ties
        status = np.where(
            search.found,
            np.where(unsettled, Status.FEASIBLE, Status.OPTIMAL),
            np.where(unsettled, Status.TIMED_OUT, Status.INFEASIBLE),
        )
        return Solutions.of(
            problem.rows(kept),
            readonly(labels[kept]),
            FoundBy.NEIGHBOUR,
            bound=search.bounds[kept],
            status=status[kept],
        )

    def _some_best(
        self, context: Context, problem: Problem, floor: FloatArray, rows: IntArray
    ) -> IntArray:
        """Some best output around each gold one, ties or not."""
        own = context.rows(rows)
        assert own.gold is not None
        split = self._decomposition.split(problem, own.gold)
        search = Search(self.inner, problem, own)
        search.look(split.sets)
        self._stats.add(sets=search.sets, calls=search.calls)
        return search.labels

    @property
    def _decomposition(self) -> Decomposition:
        return self.decomposition  # type: ignore[return-value]  # functions are wrapped
