"""Max-sum along a chain of variables, of any order, and label by label without one.

The *state* before variable t is the labels of the variables ``low[t] .. t-1``, coded
with the last one fastest: what the tables that end at t or later still need to know
of the past. A table belongs to the variable it ends at, and W_t(p, a) is the sum of
those of t, given state p and label a of t. With c_t(a) the score of the label, the
best that can still be had is

    ahead_t(s, a) = c_t(a) + best_{t+1}(state after p, a)
    best_t(p)     = max_a W_t(p, a) + ahead_t(s(p), a)

where s(p) is the part of p that the state after t keeps: p modulo ``kept[t]``. It
is worked out from the last variable to the first, so that labels are read from the
first to the last, each one the smallest that gives up no more than is left of the
tie. That is the lexicographically smallest output within one tie of the best.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import ChainPlan, Questions, TableRuns
    from rote.kernels.inlined import max_plus


def label_scores(own: OutFloats, questions: Questions, i: Int, allowed: Flags) -> None:
    """The score of every label of input i, -inf where it may not be taken."""
    for e in range(own.shape[0]):
        own[e] = questions.scores[i, e] if allowed[e] else -inf
    if questions.closed.shape[0] > 0:
        for e in range(own.shape[0]):
            if questions.closed[i, e]:
                own[e] = -inf


def within_budget(values: Floats, budget: float) -> tuple[int, float]:
    """The smallest label that gives up at most ``budget``, and what it gives up."""
    top = -inf
    for a in range(values.shape[0]):
        top = max(top, values[a])
    for a in range(values.shape[0]):
        if values[a] >= top - budget:
            return a, top - values[a]
    return -1, 0.0


def best_labels(questions: Questions, offsets: Ints, allowed: Flags) -> IntArray:
    """The best output when no table joins two variables; -1 where a variable has no label."""
    questions.fit(0, offsets[offsets.shape[0] - 1])
    expect_least("allowed", "entries", offsets[offsets.shape[0] - 1], allowed.shape[0])
    m, n = questions.scores.shape[0], offsets.shape[0] - 1
    best = np.empty((m, n), np.int64)
    labels: OutInts2 = best
    own = floats(offsets[n])
    with cython.nogil:
        for i in range(m):
            label_scores(own, questions, i, allowed)
            if not all_have_labels(own, offsets):
                for j in range(n):
                    labels[i, j] = -1
                continue
            budget = questions.ties[i]
            for j in range(n):
                labels[i, j], lost = within_budget(own[offsets[j] : offsets[j + 1]], budget)
                budget = max(0.0, budget - lost)
    return best


def all_have_labels(own: Floats, offsets: Ints) -> bool:
    """Whether every variable has a label it may take."""
    for j in range(offsets.shape[0] - 1):
        some: Bool = False
        for e in range(offsets[j], offsets[j + 1]):
            some |= own[e] > -inf
        if not some:
            return False
    return True


def add_entries(
    line: OutFloats, row: Floats, runs: TableRuns, b: Int, start: Int, step: Int
) -> None:
    """Add the entries start, start + step, ... of table b to ``line``.

    The entries of a contiguous table have one source each, at ``entry + moves[b]``.
    """
    if runs.contiguous[b] and step == 1:
        first = start + runs.moves[b]
        for a in range(line.shape[0]):
            value = row[first + a]  # read in any case: a loop without branches is vectorised
            line[a] += value if runs.allowed[start + a] else -inf
    else:
        for a in range(line.shape[0]):
            e = start + a * step
            value = 0.0 if runs.allowed[e] else -inf
            for g in range(runs.gather_ptr[e], runs.gather_ptr[e + 1]):
                value += row[runs.gather[g]]
            line[a] += value


class ChainRoom(Bundle):
    """Room for one input after the other."""

    def __init__(self, chain: ChainPlan) -> None:
        n, states, window, entries = (
            chain.sizes.shape[0],
            chain.room[0],
            chain.room[1],
            chain.room[2],
        )
        labels, ahead, line = chain.offsets[n], chain.ahead_ptr[n], max(states, chain.room[3])
        pool = Pool(labels + ahead + 2 * states + window + entries + line)
        self.own = pool.take(labels)  # their scores
        self.ahead = pool.take(ahead)
        self.best = pool.take(states)
        self.past = pool.take(states)
        self.window = pool.take(window)
        self.entries = pool.take(entries)
        self.line = pool.take(line)


def window_of(room: ChainRoom, row: Floats, t: Int, chain: ChainPlan) -> None:
    """W_t(p, a) for all p and a, in ``room.window``.

    A table that has W_t's own layout, which the last of its steps says, needs no spreading.
    """
    width = chain.sizes[t]
    here: OutFloats = room.window[: chain.states[t] * width]
    fill(here, 0.0)
    for k in range(chain.table_ptr[t], chain.table_ptr[t + 1]):
        b = chain.table_of[k]
        if chain.steps[k, chain.steps.shape[1] - 1]:
            add_entries(here, row, chain.runs, b, chain.runs.starts[b], 1)
            continue
        values: OutFloats = room.entries[: chain.runs.starts[b + 1] - chain.runs.starts[b]]
        fill(values, 0.0)
        add_entries(values, row, chain.runs, b, chain.runs.starts[b], 1)
        step: Int = chain.steps[k, 0]
        for p in range(chain.states[t]):
            at: Int = 0
            rest = p
            for d in range(1, t - chain.low[t] + 1):
                at += chain.steps[k, d] * (rest % chain.sizes[t - d])
                rest //= chain.sizes[t - d]
            for a in range(width):
                here[p * width + a] += values[at + a * step]


def best_of_states(
    best: OutFloats, window: Floats, first: Int, ahead: Floats, states: Int, kept: Int, width: Int
) -> None:
    """best_t(p), given W_t, which begins at ``first``, and ahead_t."""
    for p in range(states):
        best[p] = max_plus(window, first + p * width, ahead, p % kept * width, width)


def look_ahead(room: ChainRoom, row: Floats, chain: ChainPlan) -> float:
    """Fill ahead_t for every t; returns the value of the best output."""
    n = chain.sizes.shape[0]
    room.best[0] = 0.0
    for back in range(n):
        t = n - 1 - back
        width = chain.sizes[t]
        beyond: OutFloats = room.ahead[chain.ahead_ptr[t] : chain.ahead_ptr[t + 1]]
        for s in range(chain.kept[t]):
            for a in range(width):
                after = s * width + a if chain.low[t + 1] <= t else 0
                beyond[s * width + a] = room.own[chain.offsets[t] + a] + room.best[after]
        many, kept, direct = chain.states[t], chain.kept[t], chain.direct[t]
        if direct >= 0:
            best_of_states(room.best, row, direct, beyond, many, kept, width)
        else:
            window_of(room, row, t, chain)
            best_of_states(room.best, room.window, 0, beyond, many, kept, width)
    return room.best[0]


def read_labels(
    labels: OutInts, room: ChainRoom, row: Floats, tie: float, chain: ChainPlan
) -> None:
    """Labels from the first to the last, each the smallest within what is left of the tie."""
    p = 0
    for t in range(labels.shape[0]):
        width = chain.sizes[t]
        here: OutFloats = room.line[:width]
        fill(here, 0.0)
        for k in range(chain.table_ptr[t], chain.table_ptr[t + 1]):
            b = chain.table_of[k]
            start: Int = chain.runs.starts[b]
            rest = p
            for d in range(1, t - chain.low[t] + 1):
                start += chain.steps[k, d] * (rest % chain.sizes[t - d])
                rest //= chain.sizes[t - d]
            add_entries(here, row, chain.runs, b, start, chain.steps[k, 0])
        s = p % chain.kept[t]
        at = chain.ahead_ptr[t] + s * width
        for a in range(width):
            here[a] += room.ahead[at + a]
        chosen, lost = within_budget(here, tie)
        tie = max(0.0, tie - lost)
        labels[t] = chosen
        p = s * width + chosen


def best_chains(questions: Questions, chain: ChainPlan) -> IntArray:
    """The best output of every input; labels are -1 where nothing is feasible."""
    questions.fit(chain.runs.reach, chain.offsets[chain.sizes.shape[0]])
    m, n = questions.scores.shape[0], chain.sizes.shape[0]
    best = np.empty((m, n), np.int64)
    labels: OutInts2 = best
    room = ChainRoom(chain)
    with cython.nogil:
        for i in range(m):
            label_scores(room.own, questions, i, chain.runs.allowed)
            if look_ahead(room, questions.scores[i], chain) > -inf:
                read_labels(labels[i], room, questions.scores[i], questions.ties[i], chain)
            else:
                for j in range(n):
                    labels[i, j] = -1
    return best


def chain_max_marginals(questions: Questions, chain: ChainPlan) -> FloatArray:
    """The value of the best output with each label, -inf where there is none.

    With past_t(p) the best value of what comes before t and ends in state p, it is
    max_p past_t(p) + W_t(p, a) + ahead_t(s(p), a).
    """
    questions.fit(chain.runs.reach, chain.offsets[chain.sizes.shape[0]])
    m, n = questions.scores.shape[0], chain.sizes.shape[0]
    marginals: OutFloats2 = np.full((m, chain.offsets[n]), -inf)
    room = ChainRoom(chain)
    with cython.nogil:
        for i in range(m):
            label_scores(room.own, questions, i, chain.runs.allowed)
            look_ahead(room, questions.scores[i], chain)
            room.past[0] = 0.0
            for t in range(n):
                window_of(room, questions.scores[i], t, chain)
                max_marginals_at(marginals[i], room, t, chain)
    return np.asarray(marginals)


def max_marginals_at(marginals: OutFloats, room: ChainRoom, t: Int, chain: ChainPlan) -> None:
    """The max-marginals of variable t, given past_t, W_t and ahead_t; past_t moves on."""
    width, kept, first = chain.sizes[t], chain.kept[t], chain.offsets[t]
    # after(s, a) = max over the p with s(p) = s of past(p) + W(p, a)
    after: OutFloats = room.line[: kept * width]
    fill(after, -inf)
    for p in range(chain.states[t]):
        s = p % kept
        for a in range(width):
            value = room.past[p] + room.window[p * width + a]
            if value > after[s * width + a]:
                after[s * width + a] = value
    remembered: Bool = chain.low[t + 1] <= t
    room.past[0] = -inf
    for s in range(kept):
        for a in range(width):
            value = after[s * width + a]
            found = value + room.ahead[chain.ahead_ptr[t] + s * width + a]
            marginals[first + a] = max(marginals[first + a], found)
            if remembered:
                room.past[s * width + a] = value + room.own[first + a]
            else:
                room.past[0] = max(room.past[0], value + room.own[first + a])
