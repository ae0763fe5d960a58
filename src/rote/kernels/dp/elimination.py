"""Run a compiled variable elimination, one input after the other.

The program (see `rote.inference.exact.elimination`) is a list of steps. A step fills one
table of *entries*; an entry is the best of its *candidates*, and a candidate's
value is the sum of a few positions of the working memory:

    work[parts + e] = max_k Σ_i work[gather[k, i]]

The working memory starts with the part scores; a closed label scores -inf. The
best candidate of every entry is remembered, and read backwards it gives the
labels. The second best output leaves the best one's path at exactly one entry and
is best from there on, so the *margin*, best minus second best, is the least gap
between best and second candidate over the entries on the path.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import EliminationPlan, Questions
    from rote.kernels.outputs import read_scores


def forward(work: OutFloats, best: OutInts, steps: EliminationPlan) -> None:
    """Fill the entries of every step, given part scores in ``work[:parts]``."""
    for s in range(steps.width.shape[0]):
        wide = steps.width[s]
        at = steps.gather_ptr[s]
        for e in range(steps.entry_ptr[s], steps.entry_ptr[s + 1]):
            top = -inf
            chosen = -1
            for k in range(steps.candidate_ptr[e], steps.candidate_ptr[e + 1]):
                value = work[steps.gather[at]]
                for i in range(1, wide):
                    value += work[steps.gather[at + i]]
                at += wide
                if value > top:
                    top = value
                    chosen = k
            work[steps.parts + e] = top
            best[e] = chosen


def backward(labels: OutInts, work: Floats, best: Ints, steps: EliminationPlan) -> float:
    """Read the labels of the eliminated variables off; returns the margin."""
    margin = inf
    for back in range(steps.width.shape[0]):
        s = steps.width.shape[0] - 1 - back
        e = steps.entry_ptr[s]
        for k in range(steps.scope_ptr[s], steps.scope_ptr[s + 1]):
            e += steps.strides[k] * labels[steps.scope[k]]
        chosen = best[e]
        labels[steps.variable[s]] = steps.candidate_label[chosen]
        wide = steps.width[s]
        first = steps.candidate_ptr[e]
        base = steps.gather_ptr[s] + (first - steps.candidate_ptr[steps.entry_ptr[s]]) * wide
        top = -inf
        second = -inf
        for k in range(first, steps.candidate_ptr[e + 1]):
            value = 0.0
            for i in range(wide):
                value += work[steps.gather[base + (k - first) * wide + i]]
            if k == chosen:
                top = value
            elif value > second:
                second = value
        margin = min(margin, top - second)
    return margin


def total(work: Floats, steps: EliminationPlan) -> float:
    """The optimum, when nothing is left over."""
    value = 0.0
    for r in range(steps.roots.shape[0]):
        value += work[steps.roots[r]]
    return value


class Eliminated(Bundle):
    """Working memory of an elimination: values of positions, and best candidates of entries."""

    def __init__(self, parts: Int, steps: EliminationPlan) -> None:
        entries = steps.entry_ptr[steps.entry_ptr.shape[0] - 1]
        self.work = floats(parts + entries)
        self.best = ints(entries)


def eliminate(
    questions: Questions, sizes: Ints, offsets: Ints, steps: EliminationPlan
) -> tuple[IntArray, FloatArray]:
    """Labels and margins of a batch when every variable is eliminated.

    Labels are -1 where nothing is feasible.
    """
    expect("scores", "columns", steps.parts, questions.scores.shape[1])
    m, n = questions.scores.shape[0], sizes.shape[0]
    best, lead = np.empty((m, n), np.int64), np.empty(m)
    labels: OutInts2 = best
    margins: OutFloats = lead
    memory = Eliminated(questions.scores.shape[1], steps)
    trial = ints(n)
    with cython.nogil:
        for i in range(m):
            read_scores(questions, i, memory.work)
            forward(memory.work, memory.best, steps)
            top = total(memory.work, steps)
            if top == -inf:
                margins[i] = inf
                for j in range(n):
                    labels[i, j] = -1
                continue
            margins[i] = backward(labels[i], memory.work, memory.best, steps)
            if margins[i] <= questions.ties[i]:
                least = top - questions.ties[i]
                take_first(labels[i], memory, trial, least, sizes, offsets, steps)
    return best, lead


def take_first(
    found: OutInts,
    memory: Eliminated,
    trial: OutInts,
    least: float,
    sizes: Ints,
    offsets: Ints,
    steps: EliminationPlan,
) -> None:
    """Make labels lexicographically smallest among the outputs worth ``least``.

    Variable by variable, by asking for the best output that is smaller here and the same before.
    """
    work: OutFloats = memory.work
    for j in range(found.shape[0]):
        first = offsets[j]
        while found[j] > 0:
            own = work[first + found[j]]
            for a in range(found[j], sizes[j]):
                work[first + a] = -inf
            forward(work, memory.best, steps)
            if not total(work, steps) >= least:
                work[first + found[j]] = own
                break
            backward(trial, work, memory.best, steps)
            copy_into(found, trial)
        for a in range(sizes[j]):
            if a != found[j]:
                work[first + a] = -inf


def max_marginals(questions: Questions, labels: Int, steps: EliminationPlan) -> FloatArray:
    """For every input and label, the value of the best output that has this label.

    After the forward pass, the *outside* of a position is the best value of everything
    that goes with it. It flows from the roots back to the part scores: a position gets
    the outside of an entry plus the other positions of the candidate they meet in.
    """
    expect("scores", "columns", steps.parts, questions.scores.shape[1])
    m = questions.scores.shape[0]
    marginals: OutFloats2 = np.full((m, labels), -inf)
    memory = Eliminated(questions.scores.shape[1], steps)
    outside = floats(memory.work.shape[0])
    with cython.nogil:
        for i in range(m):
            read_scores(questions, i, memory.work)
            forward(memory.work, memory.best, steps)
            whole = total(memory.work, steps)
            if whole == -inf:
                continue
            find_outsides(outside, memory.work, whole, steps)
            for p in range(labels):
                marginals[i, p] = memory.work[p] + outside[p]
    return np.asarray(marginals)


def find_outsides(outside: OutFloats, work: Floats, whole: float, steps: EliminationPlan) -> None:
    """What `max_marginals` calls the outside of every position."""
    fill(outside, -inf)
    for r in range(steps.roots.shape[0]):
        outside[steps.roots[r]] = whole - work[steps.roots[r]]
    for back in range(steps.width.shape[0]):
        s = steps.width.shape[0] - 1 - back
        wide = steps.width[s]
        at: Int = steps.gather_ptr[s]
        for e in range(steps.entry_ptr[s], steps.entry_ptr[s + 1]):
            given = outside[steps.parts + e]
            for _ in range(steps.candidate_ptr[e], steps.candidate_ptr[e + 1]):
                for own in range(wide):
                    value: float = given
                    for other in range(wide):
                        if other != own:
                            value += work[steps.gather[at + other]]
                    place = steps.gather[at + own]
                    if value > outside[place]:
                        outside[place] = value
                at += wide
