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

import numpy as np

from rote.kernels.bundles import ChainPlan, ForestPlan, Questions
from rote.kernels.jit import inlined, kernel, lean
from rote.types import BoolArray, FloatArray, IntArray


@lean
def label_scores(own: FloatArray, questions: Questions, i: int, allowed: BoolArray) -> None:
    """The score of every label of input i, -inf where it may not be taken."""
    scores, closed = questions.scores, questions.closed
    for e in range(own.shape[0]):
        own[e] = scores[i, e] if allowed[e] else -np.inf
    if closed.shape[0] > 0:
        for e in range(own.shape[0]):
            if closed[i, e]:
                own[e] = -np.inf


@lean
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
def best_labels(questions: Questions, offsets: IntArray, allowed: BoolArray) -> IntArray:
    """The best output when no table joins two variables; -1 where a variable has no label."""
    m = questions.scores.shape[0]
    n = offsets.shape[0] - 1
    labels = np.full((m, n), -1, np.int64)
    own = np.empty(offsets[n])
    for i in range(m):
        label_scores(own, questions, i, allowed)
        feasible = True
        for j in range(n):
            some = False
            for e in range(offsets[j], offsets[j + 1]):
                some |= own[e] > -np.inf
            feasible &= some
        if not feasible:
            continue
        budget = questions.ties[i]
        for j in range(n):
            labels[i, j], lost = within_budget(own[offsets[j] : offsets[j + 1]], budget)
            budget = max(0.0, budget - lost)
    return labels


@inlined
def add_entries(
    line: FloatArray, row: FloatArray, plan: ChainPlan | ForestPlan, b: int, start: int, step: int
) -> None:
    """Add the entries start, start + step, ... of table b to ``line``.

    The entries of a contiguous table have one source each, at ``entry + moves[b]``.
    """
    allowed = plan.allowed
    if plan.contiguous[b] and step == 1:
        first = start + plan.moves[b]
        parts = row[first : first + line.shape[0]]
        mask = allowed[start : start + line.shape[0]]
        for a in range(line.shape[0]):
            value = parts[a]  # read in any case: a loop without branches is vectorised
            line[a] += value if mask[a] else -np.inf
    else:
        for a in range(line.shape[0]):
            e = start + a * step
            value = 0.0 if allowed[e] else -np.inf
            for g in range(plan.gather_ptr[e], plan.gather_ptr[e + 1]):
                value += row[plan.gather[g]]
            line[a] += value


@lean
def window_of(
    window: FloatArray, entries: FloatArray, row: FloatArray, t: int, chain: ChainPlan
) -> None:
    """W_t(p, a) for all p and a.

    A table that has W_t's own layout, which ``chain.steps[k, -1]`` says, needs no spreading.
    """
    width = chain.sizes[t]
    here = window[: chain.states[t] * width]
    here[:] = 0.0
    for k in range(chain.table_ptr[t], chain.table_ptr[t + 1]):
        b = chain.table_of[k]
        if chain.steps[k, -1]:
            add_entries(here, row, chain, b, chain.starts[b], 1)
            continue
        values = entries[: chain.starts[b + 1] - chain.starts[b]]
        values[:] = 0.0
        add_entries(values, row, chain, b, chain.starts[b], 1)
        step = chain.steps[k, 0]
        for p in range(chain.states[t]):
            at = 0
            rest = p
            for d in range(1, t - chain.low[t] + 1):
                at += chain.steps[k, d] * (rest % chain.sizes[t - d])
                rest //= chain.sizes[t - d]
            for a in range(width):
                here[p * width + a] += values[at + a * step]


@lean
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


@lean
def look_ahead(
    ahead: FloatArray,
    best: FloatArray,
    window: FloatArray,
    entries: FloatArray,
    own: FloatArray,
    row: FloatArray,
    chain: ChainPlan,
) -> float:
    """Fill ahead_t for every t; returns the value of the best output."""
    n = chain.sizes.shape[0]
    best[0] = 0.0
    for back in range(n):
        t = n - 1 - back
        width = chain.sizes[t]
        beyond = ahead[chain.ahead_ptr[t] : chain.ahead_ptr[t + 1]]
        label = own[chain.offsets[t] : chain.offsets[t + 1]]
        for s in range(chain.kept[t]):
            for a in range(width):
                after = s * width + a if chain.low[t + 1] <= t else 0
                beyond[s * width + a] = label[a] + best[after]
        if chain.direct[t] >= 0:
            here = row[chain.direct[t] : chain.direct[t] + chain.states[t] * width]
            best_of_states(best, here, beyond, chain.states[t], chain.kept[t], width)
        else:
            window_of(window, entries, row, t, chain)
            best_of_states(best, window, beyond, chain.states[t], chain.kept[t], width)
    return float(best[0])


@lean
def read_labels(
    labels: IntArray, line: FloatArray, ahead: FloatArray, row: FloatArray, tie: float,
    chain: ChainPlan,
) -> None:  # fmt: skip
    """Labels from the first to the last, each the smallest within what is left of the tie."""
    p = 0
    for t in range(labels.shape[0]):
        width = chain.sizes[t]
        here = line[:width]
        here[:] = 0.0
        for k in range(chain.table_ptr[t], chain.table_ptr[t + 1]):
            b = chain.table_of[k]
            start = chain.starts[b]
            rest = p
            for d in range(1, t - chain.low[t] + 1):
                start += chain.steps[k, d] * (rest % chain.sizes[t - d])
                rest //= chain.sizes[t - d]
            add_entries(here, row, chain, b, start, chain.steps[k, 0])
        s = p % chain.kept[t]
        at = chain.ahead_ptr[t] + s * width
        for a in range(width):
            here[a] += ahead[at + a]
        chosen, lost = within_budget(here, tie)
        tie = max(0.0, tie - lost)
        labels[t] = chosen
        p = s * width + chosen


@kernel
def best_chains(questions: Questions, chain: ChainPlan) -> IntArray:
    """The best output of every input; labels are -1 where nothing is feasible."""
    m, n = questions.scores.shape[0], chain.sizes.shape[0]
    labels = np.full((m, n), -1, np.int64)
    own = np.empty(chain.offsets[n])
    ahead = np.empty(chain.ahead_ptr[n])
    best = np.empty(chain.room[0])
    window = np.empty(chain.room[1])
    entries = np.empty(chain.room[2])
    line = np.empty(chain.room[3])
    for i in range(m):
        row = questions.scores[i]
        label_scores(own, questions, i, chain.allowed)
        if look_ahead(ahead, best, window, entries, own, row, chain) > -np.inf:
            read_labels(labels[i], line, ahead, row, questions.ties[i], chain)
    return labels


@kernel
def chain_max_marginals(questions: Questions, chain: ChainPlan) -> FloatArray:
    """The value of the best output with each label, -inf where there is none.

    With past_t(p) the best value of what comes before t and ends in state p, it is
    max_p past_t(p) + W_t(p, a) + ahead_t(s(p), a).
    """
    m = questions.scores.shape[0]
    n = chain.sizes.shape[0]
    marginals = np.full((m, chain.offsets[n]), -np.inf)
    own = np.empty(chain.offsets[n])
    ahead = np.empty(chain.ahead_ptr[n])
    best = np.empty(chain.room[0])
    past = np.empty(chain.room[0])
    window = np.empty(chain.room[1])
    entries = np.empty(chain.room[2])
    after = np.empty(max(chain.room[0], chain.room[3]))
    for i in range(m):
        row = questions.scores[i]
        label_scores(own, questions, i, chain.allowed)
        look_ahead(ahead, best, window, entries, own, row, chain)
        past[0] = 0.0
        for t in range(n):
            width = chain.sizes[t]
            window_of(window, entries, row, t, chain)
            # after(s, a) = max over the p with s(p) = s of past(p) + W(p, a)
            after[: chain.kept[t] * width] = -np.inf
            for dropped in range(chain.states[t] // chain.kept[t]):
                for s in range(chain.kept[t]):
                    p = dropped * chain.kept[t] + s
                    for a in range(width):
                        value = past[p] + window[p * width + a]
                        if value > after[s * width + a]:
                            after[s * width + a] = value
            found = marginals[i, chain.offsets[t] : chain.offsets[t + 1]]
            label = own[chain.offsets[t] : chain.offsets[t + 1]]
            remembered = chain.low[t + 1] <= t
            past[0] = -np.inf
            for s in range(chain.kept[t]):
                for a in range(width):
                    value = after[s * width + a]
                    found[a] = max(found[a], value + ahead[chain.ahead_ptr[t] + s * width + a])
                    if remembered:
                        past[s * width + a] = value + label[a]
                    else:
                        past[0] = max(past[0], value + label[a])
    return marginals
