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

``closed`` has one row per input, or no row at all when every label is open.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.types import BoolArray, FloatArray, IntArray


@kernel
def label_scores(
    own: FloatArray, scores: FloatArray, i: int, allowed: BoolArray, closed: BoolArray
) -> None:
    """The score of every label of input i, -inf where it may not be taken."""
    for e in range(own.shape[0]):
        own[e] = scores[i, e] if allowed[e] else -np.inf
    if closed.shape[0] > 0:
        for e in range(own.shape[0]):
            if closed[i, e]:
                own[e] = -np.inf


@kernel
def within_budget(values: FloatArray, budget: float) -> tuple[int, float]:
    """The smallest label that gives up at most ``budget``, and what it gives up."""
    top = -np.inf
    for a in range(values.shape[0]):
        top = max(top, values[a])
    for a in range(values.shape[0]):
        if values[a] >= top - budget:
            return a, top - values[a]
    return -1, 0.0


@kernel
def best_labels(
    scores: FloatArray, closed: BoolArray, ties: FloatArray, offsets: IntArray, allowed: BoolArray
) -> IntArray:
    """The best output when no table joins two variables; -1 where a variable has no label."""
    m = scores.shape[0]
    n = offsets.shape[0] - 1
    labels = np.full((m, n), -1, np.int64)
    own = np.empty(offsets[n])
    for i in range(m):
        label_scores(own, scores, i, allowed, closed)
        feasible = True
        for j in range(n):
            some = False
            for e in range(offsets[j], offsets[j + 1]):
                some |= own[e] > -np.inf
            feasible &= some
        if not feasible:
            continue
        budget = ties[i]
        for j in range(n):
            labels[i, j], lost = within_budget(own[offsets[j] : offsets[j + 1]], budget)
            budget = max(0.0, budget - lost)
    return labels


@kernel
def add_entries(
    line: FloatArray,
    row: FloatArray,
    start: int,
    step: int,
    move: int,
    contiguous: bool,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
) -> None:
    """Add the entries start, start + step, ... of a table to ``line``.

    The entries of a ``contiguous`` table have one source each, at ``entry + move``.
    """
    if contiguous and step == 1:
        parts = row[start + move : start + move + line.shape[0]]
        mask = allowed[start : start + line.shape[0]]
        for a in range(line.shape[0]):
            value = parts[a]  # read in any case: a loop without branches is vectorised
            line[a] += value if mask[a] else -np.inf
    else:
        for a in range(line.shape[0]):
            e = start + a * step
            value = 0.0 if allowed[e] else -np.inf
            for g in range(gather_ptr[e], gather_ptr[e + 1]):
                value += row[gather[g]]
            line[a] += value


@kernel
def window_of(
    window: FloatArray,
    entries: FloatArray,
    row: FloatArray,
    t: int,
    sizes: IntArray,
    low: IntArray,
    states: IntArray,
    table_ptr: IntArray,
    table_of: IntArray,
    steps: IntArray,
    starts: IntArray,
    moves: IntArray,
    contiguous: BoolArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
) -> None:
    """W_t(p, a) for all p and a. ``steps[k, d]`` is what the label of t-d moves table k by.

    A table that has W_t's own layout, which ``steps[k, -1]`` says, needs no spreading.
    """
    width = sizes[t]
    here = window[: states[t] * width]
    here[:] = 0.0
    for k in range(table_ptr[t], table_ptr[t + 1]):
        b = table_of[k]
        if steps[k, -1]:
            add_entries(
                here, row, starts[b], 1, moves[b], contiguous[b], allowed, gather_ptr, gather
            )
            continue
        values = entries[: starts[b + 1] - starts[b]]
        values[:] = 0.0
        add_entries(values, row, starts[b], 1, moves[b], contiguous[b], allowed, gather_ptr, gather)
        step = steps[k, 0]
        for p in range(states[t]):
            at = 0
            rest = p
            for d in range(1, t - low[t] + 1):
                at += steps[k, d] * (rest % sizes[t - d])
                rest //= sizes[t - d]
            for a in range(width):
                here[p * width + a] += values[at + a * step]


@kernel
def best_of_states(
    best: FloatArray, window: FloatArray, ahead: FloatArray, states: int, kept: int, width: int
) -> None:
    """best_t(p), given W_t and ahead_t."""
    for dropped in range(states // kept):
        for s in range(kept):
            p = dropped * kept + s
            here = window[p * width : (p + 1) * width]
            beyond = ahead[s * width : (s + 1) * width]
            top = -np.inf
            for a in range(width):
                value = here[a] + beyond[a]
                if value > top:
                    top = value
            best[p] = top


@kernel
def look_ahead(
    ahead: FloatArray,
    best: FloatArray,
    window: FloatArray,
    entries: FloatArray,
    own: FloatArray,
    row: FloatArray,
    sizes: IntArray,
    offsets: IntArray,
    low: IntArray,
    states: IntArray,
    kept: IntArray,
    ahead_ptr: IntArray,
    direct: IntArray,
    table_ptr: IntArray,
    table_of: IntArray,
    steps: IntArray,
    starts: IntArray,
    moves: IntArray,
    contiguous: BoolArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
) -> float:
    """Fill ahead_t for every t; returns the value of the best output.

    ``direct[t]`` is the part from which on all of W_t lies as it is, or -1.
    """
    n = sizes.shape[0]
    best[0] = 0.0
    for back in range(n):
        t = n - 1 - back
        width = sizes[t]
        beyond = ahead[ahead_ptr[t] : ahead_ptr[t + 1]]
        label = own[offsets[t] : offsets[t + 1]]
        for s in range(kept[t]):
            for a in range(width):
                after = s * width + a if low[t + 1] <= t else 0
                beyond[s * width + a] = label[a] + best[after]
        if direct[t] >= 0:
            here = row[direct[t] : direct[t] + states[t] * width]
            best_of_states(best, here, beyond, states[t], kept[t], width)
        else:
            window_of(
                window, entries, row, t, sizes, low, states, table_ptr, table_of, steps, starts,
                moves, contiguous, allowed, gather_ptr, gather,
            )  # fmt: skip
            best_of_states(best, window, beyond, states[t], kept[t], width)
    return float(best[0])


@kernel
def best_chains(
    scores: FloatArray,
    closed: BoolArray,
    ties: FloatArray,
    sizes: IntArray,
    offsets: IntArray,
    low: IntArray,
    states: IntArray,
    kept: IntArray,
    ahead_ptr: IntArray,
    direct: IntArray,
    table_ptr: IntArray,
    table_of: IntArray,
    steps: IntArray,
    starts: IntArray,
    moves: IntArray,
    contiguous: BoolArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
    room: IntArray,
) -> IntArray:
    """The best output of every input; labels are -1 where nothing is feasible.

    ``room`` is the most states, the most numbers in a W_t, in a table, in a variable.
    """
    m = scores.shape[0]
    n = sizes.shape[0]
    labels = np.full((m, n), -1, np.int64)
    own = np.empty(offsets[n])
    ahead = np.empty(ahead_ptr[n])
    best = np.empty(room[0])
    window = np.empty(room[1])
    entries = np.empty(room[2])
    line = np.empty(room[3])
    for i in range(m):
        row = scores[i]
        label_scores(own, scores, i, allowed, closed)
        value = look_ahead(
            ahead, best, window, entries, own, row, sizes, offsets, low, states, kept, ahead_ptr,
            direct, table_ptr, table_of, steps, starts, moves, contiguous, allowed, gather_ptr,
            gather,
        )  # fmt: skip
        if value == -np.inf:
            continue
        budget = ties[i]
        p = 0
        for t in range(n):
            width = sizes[t]
            here = line[:width]
            here[:] = 0.0
            for k in range(table_ptr[t], table_ptr[t + 1]):
                b = table_of[k]
                start = starts[b]
                rest = p
                for d in range(1, t - low[t] + 1):
                    start += steps[k, d] * (rest % sizes[t - d])
                    rest //= sizes[t - d]
                add_entries(
                    here, row, start, steps[k, 0], moves[b], contiguous[b], allowed, gather_ptr,
                    gather,
                )  # fmt: skip
            s = p % kept[t]
            at = ahead_ptr[t] + s * width
            for a in range(width):
                here[a] += ahead[at + a]
            chosen, lost = within_budget(here, budget)
            budget = max(0.0, budget - lost)
            labels[i, t] = chosen
            p = s * width + chosen
    return labels


@kernel
def chain_max_marginals(
    scores: FloatArray,
    closed: BoolArray,
    sizes: IntArray,
    offsets: IntArray,
    low: IntArray,
    states: IntArray,
    kept: IntArray,
    ahead_ptr: IntArray,
    direct: IntArray,
    table_ptr: IntArray,
    table_of: IntArray,
    steps: IntArray,
    starts: IntArray,
    moves: IntArray,
    contiguous: BoolArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
    room: IntArray,
) -> FloatArray:
    """The value of the best output with each label, -inf where there is none.

    With past_t(p) the best value of what comes before t and ends in state p, it is
    max_p past_t(p) + W_t(p, a) + ahead_t(s(p), a).
    """
    m = scores.shape[0]
    n = sizes.shape[0]
    marginals = np.full((m, offsets[n]), -np.inf)
    own = np.empty(offsets[n])
    ahead = np.empty(ahead_ptr[n])
    best = np.empty(room[0])
    past = np.empty(room[0])
    window = np.empty(room[1])
    entries = np.empty(room[2])
    after = np.empty(max(room[0], room[3]))
    for i in range(m):
        row = scores[i]
        label_scores(own, scores, i, allowed, closed)
        look_ahead(
            ahead, best, window, entries, own, row, sizes, offsets, low, states, kept, ahead_ptr,
            direct, table_ptr, table_of, steps, starts, moves, contiguous, allowed, gather_ptr,
            gather,
        )  # fmt: skip
        past[0] = 0.0
        for t in range(n):
            width = sizes[t]
            window_of(
                window, entries, row, t, sizes, low, states, table_ptr, table_of, steps, starts,
                moves, contiguous, allowed, gather_ptr, gather,
            )  # fmt: skip
            # after(s, a) = max over the p with s(p) = s of past(p) + W(p, a)
            after[: kept[t] * width] = -np.inf
            for dropped in range(states[t] // kept[t]):
                for s in range(kept[t]):
                    p = dropped * kept[t] + s
                    for a in range(width):
                        value = past[p] + window[p * width + a]
                        if value > after[s * width + a]:
                            after[s * width + a] = value
            found = marginals[i, offsets[t] : offsets[t + 1]]
            label = own[offsets[t] : offsets[t + 1]]
            remembered = low[t + 1] <= t
            past[0] = -np.inf
            for s in range(kept[t]):
                for a in range(width):
                    value = after[s * width + a]
                    found[a] = max(found[a], value + ahead[ahead_ptr[t] + s * width + a])
                    if remembered:
                        past[s * width + a] = value + label[a]
                    else:
                        past[0] = max(past[0], value + label[a])
    return marginals
