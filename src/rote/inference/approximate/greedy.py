"""`RGS`: randomised greedy search, Algorithm 1 of Ma et al. (2019).

    for each restart:   start  = α of the variables as the classifier says, the others at random;
                                 more at random, if that start was there before
                        climb  = the best single change, again and again, while one is better
    answer the best output that was climbed to

It takes any space, any score and any loss term, and proves nothing of its answers beyond the bound
that every part by itself gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rote.errors import SettingError
from rote.inference.approximate.greedy_any_score import search_any_score
from rote.inference.approximate.initial import (
    CLASSIFIER,
    Initializer,
    UnaryClassifier,
    checked_initial,
    unary_argmax,
)
from rote.inference.approximate.search_trace import (
    Best,
    HillClimber,
    RestartResult,
    RestartSampler,
    compiled_terms,
    is_paired,
)
from rote.inference.engine import Capability, Engine
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.local_search.binary_pairs import search_pairs
from rote.kernels.local_search.greedy import Restarts, search_greedily
from rote.settings import FRACTION, SEED, whole
from rote.space.space import Space
from rote.types import FloatArray, IntArray, readonly


@dataclass(frozen=True)
class RGS(Engine):
    """Greedy search from many starts; any answer obeys the rules.

    Draws are a function of the seed and the scores, so the same problem has the same answer,
    whatever it is solved together with. Where every climb ends at an output that breaks a rule,
    there is no answer (`Status.TIMED_OUT`); more restarts, or a larger alpha, may find one.

    Parameters
    ----------
    alpha
        The share of a start's variables that are as the classifier says, from 0 to 1; the others
        are drawn uniformly.
    restarts
        How many starts are climbed from, at least 1; time grows with it.
    classifier
        What starts are made of, as `fit_unary_classifier` gives; needed where alpha is above 0.
    seed
        Of the draws; a whole number of at least 0.

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
    classifier: Initializer | None = None
    seed: int = 0

    capabilities = frozenset(
        {Capability.LOSS_TERMS, Capability.GLOBAL_FEATURES, Capability.FEATURES}
    )

    checks: ClassVar = {
        "alpha": FRACTION,
        "restarts": whole(1),
        "seed": SEED,
        "classifier": CLASSIFIER,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.classifier is None and self.alpha > 0:
            raise SettingError(
                "alpha is above 0, and there is no classifier to start from; give one, such as "
                "fit_unary_classifier(prepared), or take alpha=0"
            )

    def saved(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        settings, arrays = super().saved()
        if isinstance(self.classifier, UnaryClassifier):
            arrays = {"classifier": settings.pop("classifier").weights}
        return settings, arrays

    @classmethod
    def restored(cls, settings: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> Engine:
        learned = {name: UnaryClassifier(weights) for name, weights in arrays.items()}
        return cls(**{**settings, **learned})

    def answer(self, problem: Problem, context: Context) -> Solutions:
        return self.searched(problem, context)[0]

    def searched(self, problem: Problem, context: Context) -> tuple[Solutions, IntArray]:
        """The answers, and how many restarts each of them needed; 0 where there is none."""
        initial = self.initials(problem, context)
        labels, needed, bound = self._search(problem, initial)
        infeasible = initial.min(axis=1, initial=0) < 0
        status = np.where(needed > 0, Status.FEASIBLE, Status.TIMED_OUT)
        status[infeasible] = Status.INFEASIBLE
        if problem.global_scores is not None:
            bound = bound + problem.global_scores.most
        if problem.loss_term is None:  # a bound that is reached is a proof
            best = problem.value(labels)
            status[(needed > 0) & (best >= bound - problem.ties)] = Status.OPTIMAL
        found = Solutions.of(problem, labels, FoundBy.GREEDY, bound=bound, status=status)
        return found, needed

    def rounds(self, problem: Problem, context: Context) -> Iterator[RestartResult]:
        """Restart after restart, with all that lies on the way; slower than asking for answers."""
        initial = self.initials(problem, context)
        best, n_resampled = Best(*initial.shape), self.n_resampled(problem.space)
        active = np.flatnonzero(initial.min(axis=1, initial=0) >= 0)
        part, own = problem.rows(active), readonly(initial[active])
        restarts = self.restarts if n_resampled else 1
        starts, climber = RestartSampler(part, int(self.seed), restarts), HillClimber(part)
        for _ in range(restarts):
            paths = climber.climb(starts.drawn(own, n_resampled))
            best.take(active, paths, part.value(paths.ends), part.ties)
            yield best.now(active, paths)

    def n_resampled(self, space: Space) -> int:
        """How many variables of a start are drawn."""
        n = len(space.variables)
        return n - round(self.alpha * n)

    def initials(self, problem: Problem, context: Context) -> IntArray:
        """Where starts are drawn from; -1 where a variable has no label that it may have."""
        if self.classifier is None:
            return unary_argmax(problem)
        initial = self.classifier.initial(problem, context)
        own = isinstance(self.classifier, UnaryClassifier)
        return initial if own else checked_initial(problem, initial)

    def _search(self, problem: Problem, initial: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        n_resampled = self.n_resampled(problem.space)
        # All starts are the same when nothing is drawn.
        restarts = self.restarts if n_resampled else 1
        known = compiled_terms(problem)
        if known is None:
            return search_any_score(problem, initial, n_resampled, restarts, self.seed)
        kind, gold, features = known
        gold = initial if gold is None else gold
        apart = problem.space.network.per_factor_tables
        graph, again = apart.graph, Restarts(n_resampled, restarts, int(self.seed))
        plain = problem.closed is None and problem.global_scores is None
        if is_paired(apart) and not apart.rows and plain:
            return search_pairs(problem.questions, initial, gold, kind, graph, again)
        return search_greedily(problem.questions, initial, gold, kind, features, graph, again)
