"""Greedy search for what kernels do not know: loss terms and global features of your own.

The same for rules with auxiliary columns. The starts and the steps are those of
`rote.kernels.local_search.greedy`; every step looks at all outputs that differ in one label, asks
the loss term for their values, and `Space.rules` which of them are feasible.
"""

from __future__ import annotations

import numpy as np

from rote.inference.approximate.search_trace import RestartSampler
from rote.inference.problem import Problem
from rote.kernels.local_search.state import gains_of
from rote.space.space import Space
from rote.types import BoolArray, FloatArray, IntArray, readonly


def search_any_score(
    problem: Problem, initial: IntArray, n_resampled: int, restarts: int, seed: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """What `rote.kernels.local_search.greedy.search_greedily` does; the bounds say nothing."""
    labels = np.full(initial.shape, -1, dtype=np.int64)
    needed = np.zeros(len(initial), dtype=np.int64)
    best = np.full(len(initial), -np.inf)
    possible = np.flatnonzero(initial.min(axis=1, initial=0) >= 0)
    part, closed = problem.rows(possible), problem.closed_labels[possible]
    drawn, own = RestartSampler(part, int(seed), restarts), readonly(initial[possible])
    for restart in range(restarts):
        starts = drawn.drawn(own, n_resampled)
        for k, i in enumerate(possible.tolist()):
            one = part.rows(np.array([k]))
            end, wrong = _climbed(one, closed[k], starts[k])
            value = float(one.value(readonly(end[None]))[0])
            if wrong == 0 and value > best[i] + problem.ties[i]:
                labels[i], best[i], needed[i] = end, value, restart + 1
    return labels, needed, np.full(len(initial), np.inf)


def _climbed(one: Problem, closed: BoolArray, start: IntArray) -> tuple[IntArray, int]:
    """Where the best changes lead, and how much is wrong there."""
    space, labels, tie = one.space, start, float(one.ties[0])
    wrong = int(_wrong(space, closed, labels[None])[0])
    owner = np.repeat(np.arange(len(space.variables)), space.sizes)
    own = np.arange(space.labels) - space.offsets[:-1][owner]
    while True:
        successors = np.repeat(labels[None], space.labels, axis=0)
        successors[np.arange(space.labels), owner] = own
        left = _wrong(space, closed, successors)
        gains = _gains(one, labels, successors)
        gains[own == labels[owner]] = -np.inf
        fewest = min(int(left[gains > -np.inf].min(initial=wrong)), wrong)
        if wrong == 0:
            gains[(left > 0) | (gains <= tie)] = -np.inf
        else:
            gains[(left > fewest) | (left >= wrong)] = -np.inf
        chosen = int(gains.argmax()) if len(gains) else 0
        if not len(gains) or gains[chosen] == -np.inf:
            return labels, wrong
        labels, wrong = successors[chosen], int(left[chosen])


def _gains(one: Problem, labels: IntArray, successors: IntArray) -> FloatArray:
    """What each change would add to the value."""
    graph, more = one.space.network.per_factor_tables.graph, one.global_scores
    gains = gains_of(one.scores, readonly(labels[None]), graph)[0]
    if more is not None:
        gains = gains + more.known_value(successors) - more.known_value(labels[None])
    if one.loss_term is None:
        return np.asarray(gains)
    if hasattr(one.loss_term, "changes"):
        return np.asarray(gains + one.loss_term.changes(labels[None])[0])
    now = one.loss_term.value(labels[None, None])[0, 0]
    return np.asarray(gains + one.loss_term.value(successors[None])[0] - now)


def _wrong(space: Space, closed: BoolArray, labels: IntArray) -> IntArray:
    """How many rules outputs break, and how many labels they may not have."""
    count = closed[space.offsets[:-1] + labels].sum(axis=1)
    columns = {j: labels[:, j] for j in range(labels.shape[1])}
    for named in space.each_rule:
        count = count + ~np.broadcast_to(named.rule.holds(columns), len(labels))
    return np.asarray(count, dtype=np.int64)
