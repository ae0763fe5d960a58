"""`RGS`: randomised greedy search, Algorithm 1 of Ma et al. (2019).

    for each restart:   start  = α of the variables as the classifier says, the others at random;
                                 more at random, if that start was there before
                        climb  = the best single change, again and again, while one is better
    answer the best output that was climbed to

It takes any space, any score and any term, and proves nothing of its answers beyond the bound that
every part by itself gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rote.errors import SettingError, check_whole, is_number
from rote.inference.approximate.greedy_any_score import search_slowly
from rote.inference.approximate.initial import (
    IID,
    Guesses,
    check_classifier,
    checked_guess,
    likely_labels,
)
from rote.inference.approximate.search_trace import (
    Best,
    Climber,
    Round,
    Starts,
    is_paired,
    known_to_kernels,
)
from rote.inference.engine import Capability, Engine
from rote.inference.problem import Context, Problem
from rote.inference.solutions import Solutions, Source, Status
from rote.kernels.local_search.binary_pairs import search_pairs
from rote.kernels.local_search.greedy import Restarts, search_greedily
from rote.space.space import Space
from rote.types import FloatArray, IntArray, frozen


@dataclass(frozen=True)
class RGS(Engine):
    """Greedy search from many starts; any answer obeys the rules.

    A start has a share ``alpha`` of its variables as the ``classifier`` says, and the others drawn
    uniformly; alpha=0 needs no classifier. Draws are a function of ``seed`` and the scores, so the
    same question has the same answer, whatever it is asked together with. Where every climb ends
    at an output that breaks a rule, there is no answer (`Status.TIMED_OUT`); more restarts, or a
    larger alpha, may find one.

    >>> from rote import RGS, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["b"] >> y["b"])
    >>> space = builder.build()
    >>> found = RGS(restarts=5).solve(space, space.scores({"x": {"b": 2.0}, "y": {"b": -1.0}}))
    >>> space.decode(found.labels), found.value.tolist(), found.bound.tolist()
    ([{'x': 'b', 'y': 'b'}], [1.0], [2.0])
    """

    alpha: float = 0.0
    restarts: int = 50
    classifier: Guesses | None = None
    seed: int = 0

    capabilities = frozenset(
        {Capability.LOSS_TERMS, Capability.GLOBAL_FEATURES, Capability.FEATURES}
    )

    def __post_init__(self) -> None:
        if not is_number(self.alpha) or not 0 <= self.alpha <= 1:
            raise SettingError(f"alpha is a share from 0 to 1, got {self.alpha!r}")
        check_whole("restarts", self.restarts, least=1)
        check_whole("seed", self.seed, least=0, most=(1 << 63) - 1)
        if self.classifier is not None:
            check_classifier(self.classifier)
        elif self.alpha > 0:
            raise SettingError(
                "alpha is above 0, and there is no classifier to start from; give one, such as "
                "fit_iid(prepared), or take alpha=0"
            )

    def saved(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        settings, arrays = super().saved()
        if isinstance(self.classifier, IID):
            arrays = {"classifier": settings.pop("classifier").weights}
        return settings, arrays

    @classmethod
    def restored(cls, settings: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> Engine:
        learned = {name: IID(weights) for name, weights in arrays.items()}
        return cls(**{**settings, **learned})

    def answer(self, problem: Problem, context: Context) -> Solutions:
        return self.searched(problem, context)[0]

    def searched(self, problem: Problem, context: Context) -> tuple[Solutions, IntArray]:
        """The answers, and how many restarts each of them needed; 0 where there is none."""
        guess = self.guesses(problem, context)
        labels, needed, bound = self._search(problem, guess)
        infeasible = guess.min(axis=1, initial=0) < 0
        status = np.where(needed > 0, Status.FEASIBLE, Status.TIMED_OUT)
        status[infeasible] = Status.INFEASIBLE
        if problem.global_scores is not None:
            bound = bound + problem.global_scores.most
        if problem.loss_term is None:  # a bound that is reached is a proof
            best = problem.value(labels)
            status[(needed > 0) & (best >= bound - problem.ties)] = Status.OPTIMAL
        found = Solutions.of(problem, labels, Source.GREEDY, bound=bound, status=status)
        return found, needed

    def rounds(self, problem: Problem, context: Context) -> Iterator[Round]:
        """Restart after restart, with all that lies on the way; slower than asking for answers."""
        guess = self.guesses(problem, context)
        best, redrawn = Best(*guess.shape), self.redrawn(problem.space)
        active = np.flatnonzero(guess.min(axis=1, initial=0) >= 0)
        part, own = problem.rows(active), frozen(guess[active])
        restarts = self.restarts if redrawn else 1
        starts, climber = Starts(part, int(self.seed), restarts), Climber(part)
        for _ in range(restarts):
            paths = climber.climb(starts.drawn(own, redrawn))
            best.take(active, paths, part.value(paths.ends), part.ties)
            yield best.now(active, paths)

    def redrawn(self, space: Space) -> int:
        """How many variables of a start are drawn."""
        n = len(space.variables)
        return n - round(self.alpha * n)

    def guesses(self, problem: Problem, context: Context) -> IntArray:
        """Where starts are drawn from; -1 where a variable has no label that it may have."""
        if self.classifier is None:
            return likely_labels(problem)
        guess = self.classifier.guess(problem, context)
        return guess if isinstance(self.classifier, IID) else checked_guess(problem, guess)

    def _search(self, problem: Problem, guess: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        redrawn = self.redrawn(problem.space)
        # All starts are the same when nothing is drawn.
        restarts = self.restarts if redrawn else 1
        known = known_to_kernels(problem)
        if known is None:
            return search_slowly(problem, guess, redrawn, restarts, self.seed)
        kind, gold, wide = known
        gold = guess if gold is None else gold
        apart, again = problem.space.network.unmerged, Restarts(redrawn, restarts, int(self.seed))
        if (
            is_paired(apart)
            and not apart.rows
            and problem.closed is None
            and problem.global_scores is None
        ):
            return search_pairs(problem.questions, guess, gold, kind, apart.graph, again)
        return search_greedily(problem.questions, guess, gold, kind, wide, apart.graph, again)
