"""Steps of large neighbourhood search: some variables are freed, and get their best labels.

Variables are freed around one that is drawn. Either they hang together as they come, or each one
touches just one of those before it: they are a tree, and may be many. The others keep their labels,
and the free ones are eliminated (`rote.kernels.dp.runtime_elimination`).
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Questions, Reduced
    from rote.kernels.constants import GOLDEN, WORD
    from rote.kernels.dp.elimination import Eliminated
    from rote.kernels.dp.runtime_elimination import PartRoom, eliminate_part
    from rote.kernels.dual.ascent import begin, complete
    from rote.kernels.inlined import below, mixed

    MOST_ENTRIES = 1 << 14  # of all tables of a step
    MOST_TABLES = 64  # or as many as so many of the largest have
    MOST_FREE = 1 << 8  # variables of a tree: looking for the next one takes their square


class Joined(Bundle):
    """The variables that each variable shares a table or a row with."""

    def __init__(self, ptr: Ints, other: Ints) -> None:
        self.ptr, self.other = ptr, other


class Climber(Bundle):
    """Where a search stands between its steps."""

    def __init__(self, variables: Int, seed: Int, size: float) -> None:
        self.state = mixed(cython.cast(Word, seed))
        self.size = size  # of the free variables around one of them
        self.idle = 0  # steps without gain
        self.part, self.border = ints(variables), ints(variables)  # part: 0 of the free ones, or -1


def free_some(climber: Climber, joined: Joined, size: Int, is_tree: Bool) -> None:
    """Free as many variables around one that is drawn, in ``climber.part``."""
    n = joined.ptr.shape[0] - 1
    fill(climber.part, -1)
    state = (climber.state + GOLDEN) & WORD
    climber.border[0] = below(state, n)
    climber.part[climber.border[0]] = 0
    head, end = 0, 1
    while head < end < size:
        state = (state + GOLDEN) & WORD
        if mixed(state) & 1:  # not always the one that has waited longest
            state = (state + GOLDEN) & WORD
            other = head + below(state, end - head)
            j = climber.border[other]
            climber.border[other] = climber.border[head]
            climber.border[head] = j
        j = climber.border[head]
        head += 1
        first = joined.ptr[j]
        count = joined.ptr[j + 1] - first
        state = (state + GOLDEN) & WORD
        turn = below(state, max(count, 1))
        for step in range(count):
            k = joined.other[first + (turn + step) % count]
            touches = 0
            if climber.part[k] < 0 and is_tree:
                for at in range(joined.ptr[k], joined.ptr[k + 1]):
                    touches += climber.part[joined.other[at]] + 1
            if climber.part[k] < 0 and touches < 2 and end < size:
                climber.part[k] = 0
                climber.border[end] = k
                end += 1
    climber.state = state


def draw_free(climber: Climber, joined: Joined, size: Int, is_tree: Bool) -> BoolArray:
    """Which variables are free in a step."""
    expect("joined", "variables", climber.part.shape[0], joined.ptr.shape[0] - 1)
    free_some(climber, joined, size, is_tree)
    return np.asarray(climber.part) == 0


def climb(
    questions: Questions,
    reduced: Reduced,
    joined: Joined,
    climber: Climber,
    labels: OutInts,
    steps: Int,
) -> None:
    """So many steps from the ``labels`` of one input, in place; one that gains is the last one.

    No variable of ``reduced`` is in a row.
    """
    graph, n = reduced.graph, reduced.graph.sizes.shape[0]
    expect("labels", "entries", reduced.variables, labels.shape[0])
    expect("joined", "variables", n, joined.ptr.shape[0] - 1)
    expect("climber", "variables", n, climber.part.shape[0])
    expect_least("scores", "columns", reduced.steps.parts, questions.scores.shape[1])
    memory = Eliminated(questions.scores.shape[1], reduced.steps)
    theta = floats(graph.tables.ptr[graph.tables.ptr.shape[0] - 1])
    found, room, tie = ints(n), PartRoom(), questions.ties[0]
    most = MOST_ENTRIES
    for b in range(graph.tables.ptr.shape[0] - 1):
        most = max(most, MOST_TABLES * (graph.tables.ptr[b + 1] - graph.tables.ptr[b]))
    with cython.nogil:
        begin(questions, 0, reduced, memory, theta)
        for j in range(n):
            found[j] = labels[reduced.core[j]]
        for _step in range(steps if n > 0 else 0):  # none where all was eliminated
            climber.state = (climber.state + GOLDEN) & WORD
            is_tree: Bool = mixed(climber.state) & 3 == 0
            size = cython.cast(Int, climber.size)
            free_some(climber, joined, min(4 * size, MOST_FREE) if is_tree else size, is_tree)
            done, gain, _margin = eliminate_part(graph, theta, climber.part, 0, most, room, found)
            climber.idle += 1
            if not is_tree:
                climber.size = min(climber.size + 0.3, n) if done else max(1.0, 0.97 * climber.size)
            if done and gain > tie:
                climber.idle = 0
                break
        complete(reduced, memory, found, labels)
