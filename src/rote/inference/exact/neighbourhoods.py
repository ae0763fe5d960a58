"""Large neighbourhood search: an output gets better by solving small parts of it exactly.

    free   = some variables; all others keep their labels
    search = branch and bound over the labels of the free ones, within few nodes
    take what it finds, if it is not worse; then free others

Free variables are those around one of them, as many as the search can settle, or a random forest:
variables of which no two are joined in more than one way, which elimination settles at once. The
kind that has helped more of late is taken more often.

Where nothing helped for a while the output is shaken: for a few steps it is made the best under
scores with noise, so that it still obeys the rules. What this leads to is kept if it is better in
the end. Every output on the way obeys the rules, since the first one does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from rote.inference.exact.plans import Plan, partial_plan
from rote.inference.exact.search import search
from rote.inference.exact.tables import once_per_space
from rote.inference.problem import Problem
from rote.space.space import Space
from rote.types import BoolArray, IntArray, readonly

NODES = 1 << 8  # of each search
FIRST_SIZE = 20  # of the free variables around one of them
PATIENCE = 60  # steps without gain before the output is shaken
SHAKES = 4  # steps under noise
NOISE = 1.0  # its standard deviation, in those of the scores
FADE = 0.97  # what a step leaves of the record of those before


@once_per_space
def neighbours_of(space: Space) -> tuple[tuple[int, ...], ...]:
    """The variables that share a table or a row with each variable, the space's own alone."""
    network = space.network
    found: list[set[int]] = [set() for _ in range(network.variables)]
    for scope in np.split(network.scope, network.scope_ptr[1:-1]):
        for j in scope.tolist():
            found[j].update(scope.tolist())
    rows = network.rows
    for columns in np.split(rows.indices, rows.indptr[1:-1]):
        scope = np.unique(network.label_variable[columns])
        for j in scope.tolist():
            found[j].update(scope.tolist())
    own = range(len(space.variables))
    return tuple(tuple(sorted(k for k in found[j] if k != j and k < len(own))) for j in own)


@dataclass(eq=False)
class Climb:
    """A search from an output of one input, which obeys the rules; it can be stopped and go on."""

    problem: Problem
    now: IntArray
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    size: float = FIRST_SIZE
    idle: int = 0  # steps without gain
    gained: list[float] = field(default_factory=lambda: [1.0, 1.0])  # by ball, by forest; fading
    spent: list[float] = field(default_factory=lambda: [1e-2, 1e-2])  # seconds, fading as well

    def __post_init__(self) -> None:
        space = self.problem.space
        self.start_from(self.now)
        self.plan: Plan = partial_plan(space)
        self.joined = neighbours_of(space)
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
        """One neighbourhood; whether the best output known is a better one now."""
        if self.idle >= PATIENCE:
            self.shake()
        rates = [gain / time for gain, time in zip(self.gained, self.spent, strict=True)]
        kind = int(self.rng.random() * sum(rates) < 0.1 * rates[0] + 0.9 * rates[1])
        began = perf_counter()
        found, complete = self.solved(self.problem, self.forest() if kind else self.ball())
        self.gained[kind] *= FADE
        self.spent[kind] = FADE * self.spent[kind] + perf_counter() - began
        if not kind:
            self.size = min(self.size + 0.3, len(self.joined)) if complete else 0.97 * self.size
        value = -np.inf if found is None else self.value_of(found)
        self.idle += 1
        if found is None or value < self.value - self.tie:
            return False
        if value > self.value + self.tie:
            self.idle = 0
            self.gained[kind] += 1.0
        self.now, self.value = found, value
        if value <= self.best_value + self.tie:
            return False
        self.best, self.best_value = found, value
        return True

    def solved(self, problem: Problem, free: BoolArray) -> tuple[IntArray | None, bool]:
        """The best labels of the free variables, all others as they are."""
        space = problem.space
        open_labels = np.repeat(free, space.sizes) & self.open
        open_labels[space.offsets[:-1] + self.now] = True
        floor = space.known_value(problem.scores, self.now[None]) - 4.0 * self.tie
        found = search(self.plan, problem.with_open(open_labels[None]), floor, None, NODES)
        labels = found.labels[0]
        return (labels if (labels >= 0).all() else None), bool(found.complete[0])

    def shake(self) -> None:
        """Some steps under noise, from the best output known, or now and then from this one."""
        if self.rng.random() < 0.8:
            self.now = self.best
        noise = self.rng.normal(scale=NOISE * self.deviation, size=self.problem.scores.shape)
        noisy = self.problem.changed(scores=readonly(self.problem.scores + noise))
        for _ in range(int(self.rng.integers(1, SHAKES + 1))):
            found, _ = self.solved(noisy, self.ball())
            self.now = self.now if found is None else found
        self.value, self.idle = self.value_of(self.now), 0

    def ball(self) -> BoolArray:
        """Variables around one of them."""
        n, rng, joined = len(self.joined), self.rng, self.joined
        free = np.zeros(n, dtype=np.bool_)
        border = [int(rng.integers(n))]
        free[border] = True
        left = int(self.size) - 1
        while left > 0 and border:
            j = border.pop(int(rng.integers(len(border))) if rng.random() < 0.5 else 0)
            for k in rng.permutation(joined[j]).tolist():
                if left > 0 and not free[k]:
                    free[k] = True
                    border.append(k)
                    left -= 1
        return free

    def forest(self) -> BoolArray:
        """As many variables as come by at random, none of which closes a loop."""
        n = len(self.joined)
        root = [-1] * n  # of those that are free

        def root_of(j: int) -> int:
            while root[j] != j:
                root[j] = j = root[root[j]]
            return j

        for j in self.rng.permutation(n).tolist():
            roots = [root_of(k) for k in self.joined[j] if root[k] >= 0]
            if len(set(roots)) == len(roots):
                root[j] = j
                for each in roots:
                    root[each] = j
        return np.array(root) >= 0
