"""Large neighbourhood search: an output gets better by solving small parts of it exactly.

    free = some variables; all others keep their labels
    give the free ones their best labels; then free others

Free variables are those around one of them, as many as can be settled, or a tree, which is large
and always can. Elimination settles them, or a short branch and bound where rules are rows or tables
large.

A faint noise, half of the time, chooses among outputs that are worth the same. Where nothing helped
for a while the output is shaken: for a few steps it is made the best under scores with more noise,
so that it still obeys the rules. What this leads to is kept if it is better in the end. Every
output on the way obeys the rules, since the first one does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np

from rote.inference.exact.plans import Plan, partial_plan
from rote.inference.exact.search import search
from rote.inference.exact.tables import once_per_space
from rote.inference.problem import Problem
from rote.kernels.local_search.large_neighbourhood import Climber, Joined, climb, draw_free
from rote.space.network import Network
from rote.space.space import Space
from rote.types import IntArray, offsets_from_counts, readonly

NODES = 1 << 8  # of each search
FIRST_SIZE = 20  # of the free variables around one of them
LEAST_SIZE = 8  # with fewer free variables elimination leads nowhere
STEPS = 64  # at most, until the clock is looked at
PATIENCE = 60  # steps without gain before the output is shaken
SHAKES = 4  # steps under noise
NOISE = 1.0  # its standard deviation, in those of the scores
FAINT = 1e-5  # the same where it only chooses among outputs that are worth the same
FAINTLY = 1e-3  # of the standard deviation: what it may cost


def joined_in(network: Network) -> Joined:
    """The variables that share a table or a row with each variable."""
    found: list[set[int]] = [set() for _ in range(network.variables)]
    rows = network.rows
    in_rows = np.split(network.label_variable[rows.indices], rows.indptr[1:-1])
    for scope in (*np.split(network.scope, network.scope_ptr[1:-1]), *in_rows):
        for j in scope.tolist():
            found[j].update(scope.tolist())
    others = [sorted(each - {j}) for j, each in enumerate(found)]
    flat = [k for each in others for k in each]
    ptr = offsets_from_counts([len(each) for each in others])
    return Joined(readonly(ptr), readonly(np.array(flat, dtype=np.int64)))


class Neighbours(NamedTuple):
    """What a search needs of a space."""

    plan: Plan
    by_elimination: bool  # of the free variables; or by branch and bound, where there are rows
    joined: Joined  # of what elimination leaves
    all_joined: Joined


@once_per_space
def neighbours_of(space: Space) -> Neighbours:
    """Of what is left by the cheap part of elimination, where there are no rows."""
    plan, has_rows = partial_plan(space), len(space.network.rows) > 0
    return Neighbours(plan, not has_rows, joined_in(plan.core.network), joined_in(space.network))


@dataclass(eq=False)
class Climb:
    """A search from an output of one input, which obeys the rules; it can be stopped and go on."""

    problem: Problem
    now: IntArray
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __post_init__(self) -> None:
        self.start_from(self.now)
        self.around = neighbours_of(self.problem.space)
        seed = int(self.rng.integers(1 << 62))
        self.climber, self.searcher = (
            Climber(len(joined.ptr) - 1, seed, FIRST_SIZE)
            for joined in (self.around.joined, self.around.all_joined)
        )
        self.open = ~self.problem.closed_labels[0]
        self.tie = float(self.problem.ties[0])
        self.deviation = float(np.std(self.problem.scores)) or 1.0

    def run(self, seconds: float, watch: Callable[[IntArray], None]) -> None:
        """Go on for so many seconds; ``watch`` sees every output that is better than all before."""
        end = perf_counter() + seconds
        while perf_counter() < end:
            if self.step():
                watch(self.best)

    def start_from(self, labels: IntArray) -> None:
        """Go on from another output, which somebody else has found."""
        self.now = self.best = labels
        self.value = self.best_value = self.value_of(labels)

    def value_of(self, labels: IntArray) -> float:
        return float(self.problem.space.known_value(self.problem.scores, labels[None])[0])

    def step(self) -> bool:
        """Some neighbourhoods; whether the best output known is a better one now."""
        if self.climber.idle >= PATIENCE:
            self.shake()
        is_noisy = bool(self.rng.random() < 0.5)
        found = self.moved(self.noisy(FAINT) if is_noisy else self.problem, STEPS)
        value = self.value_of(found)
        if value < self.value - (FAINTLY * self.deviation if is_noisy else self.tie):
            return False
        if value > self.value + self.tie:
            self.climber.idle = 0
        self.now, self.value = found, value
        if value <= self.best_value + self.tie:
            return False
        self.best, self.best_value = found, value
        return True

    def noisy(self, scale: float) -> Problem:
        """The problem with noise on its scores."""
        noise = self.rng.normal(scale=scale * self.deviation, size=self.problem.scores.shape)
        ties = np.maximum(self.problem.ties, FAINTLY * self.deviation)
        return self.problem.changed(scores=readonly(self.problem.scores + noise), ties=ties)

    def moved(self, problem: Problem, steps: int) -> IntArray:
        """The output after some steps under the scores of a problem: those up to one that gains."""
        around = self.around
        if around.by_elimination and self.climber.size >= LEAST_SIZE:
            labels = self.now.copy()
            reduced = around.plan.reduced(problem.space)
            climb(problem.questions, reduced, around.joined, self.climber, labels, steps)
            return labels
        return self.searched(problem)

    def searched(self, problem: Problem) -> IntArray:
        """One step by branch and bound."""
        space, climber = problem.space, self.searcher
        is_tree = bool(self.rng.random() < 0.25)
        size = int(climber.size) * (4 if is_tree else 1)
        free = draw_free(climber, self.around.all_joined, size, is_tree)[: len(space.variables)]
        open_labels = np.repeat(free, space.sizes) & self.open
        open_labels[space.offsets[:-1] + self.now] = True
        floor = space.known_value(problem.scores, self.now[None]) - 4.0 * self.tie
        found = search(self.around.plan, problem.with_open(open_labels[None]), floor, None, NODES)
        self.climber.idle += 1
        if not is_tree:
            n = len(self.around.all_joined.ptr) - 1
            climber.size = min(climber.size + 0.3, n) if found.complete[0] else 0.97 * climber.size
        labels = found.labels[0]
        return labels if (labels >= 0).all() else self.now

    def shake(self) -> None:
        """Some steps under noise, from the best output known, or now and then from this one."""
        if self.rng.random() < 0.8:
            self.now = self.best
        noisy = self.noisy(NOISE)
        for _ in range(int(self.rng.integers(1, SHAKES + 1))):
            self.now = self.moved(noisy, 1)
        self.value, self.climber.idle = self.value_of(self.now), 0
