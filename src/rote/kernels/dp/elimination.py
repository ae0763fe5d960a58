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

import numpy as np

from rote.kernels.bundles import EliminationPlan, Questions
from rote.kernels.jit import kernel, lean
from rote.kernels.outputs import read_scores
from rote.types import FloatArray, IntArray


@lean
def forward(work: FloatArray, best: IntArray, steps: EliminationPlan) -> None:
    """Fill the entries of every step, given part scores in ``work[:parts]``."""
    gather = steps.gather
    candidate_ptr = steps.candidate_ptr
    for s in range(steps.width.shape[0]):
        wide = steps.width[s]
        at = steps.gather_ptr[s]
        for e in range(steps.entry_ptr[s], steps.entry_ptr[s + 1]):
            top = -np.inf
            chosen = -1
            for k in range(candidate_ptr[e], candidate_ptr[e + 1]):
                value = work[gather[at]]
                for i in range(1, wide):
                    value += work[gather[at + i]]
                at += wide
                if value > top:
                    top = value
                    chosen = k
            work[steps.parts + e] = top
            best[e] = chosen


@lean
def backward(labels: IntArray, work: FloatArray, best: IntArray, steps: EliminationPlan) -> float:
    """Read the labels of the eliminated variables off; returns the margin."""
    margin = np.inf
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
        top = -np.inf
        second = -np.inf
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


@lean
def total(work: FloatArray, steps: EliminationPlan) -> float:
    """The optimum, when nothing is left over."""
    value = 0.0
    for r in range(steps.roots.shape[0]):
        value += work[steps.roots[r]]
    return value


@kernel
def eliminate(
    questions: Questions, sizes: IntArray, offsets: IntArray, steps: EliminationPlan
) -> tuple[IntArray, FloatArray]:
    """Labels and margins of a batch when every variable is eliminated.

    Labels are -1 where nothing is feasible.
    """
    scores, ties = questions.scores, questions.ties
    m, parts = scores.shape
    n = sizes.shape[0]
    work = np.empty(parts + steps.entry_ptr[-1])
    best = np.empty(steps.entry_ptr[-1], np.int64)
    labels = np.full((m, n), -1, np.int64)
    margins = np.full(m, np.inf)
    trial = np.empty(n, np.int64)
    for i in range(m):
        read_scores(questions, i, work)
        forward(work, best, steps)
        top = total(work, steps)
        if top == -np.inf:
            continue
        found = labels[i]
        margins[i] = backward(found, work, best, steps)
        if margins[i] > ties[i]:
            continue
        # A tie: make the labels lexicographically smallest, variable by variable, by
        # asking for the best output that is smaller here and the same before.
        for j in range(n):
            first = offsets[j]
            while found[j] > 0:
                for a in range(found[j], sizes[j]):
                    work[first + a] = -np.inf
                forward(work, best, steps)
                if not total(work, steps) >= top - ties[i]:
                    break
                backward(trial, work, best, steps)
                found[:] = trial
            for a in range(sizes[j]):
                work[first + a] = -np.inf
            work[first + found[j]] = scores[i, first + found[j]]
    return labels, margins


@kernel
def max_marginals(questions: Questions, labels: int, steps: EliminationPlan) -> FloatArray:
    """For every input and label, the value of the best output that has this label.

    After the forward pass, the *outside* of a position is the best value of everything
    that goes with it. It flows from the roots back to the part scores: a position gets
    the outside of an entry plus the other positions of the candidate they meet in.
    """
    m, parts = questions.scores.shape
    size = parts + steps.entry_ptr[-1]
    work = np.empty(size)
    outside = np.empty(size)
    best = np.empty(steps.entry_ptr[-1], np.int64)
    marginals = np.full((m, labels), -np.inf)
    for i in range(m):
        read_scores(questions, i, work)
        forward(work, best, steps)
        whole = total(work, steps)
        if whole == -np.inf:
            continue
        outside[:] = -np.inf
        for r in range(steps.roots.shape[0]):
            outside[steps.roots[r]] = whole - work[steps.roots[r]]
        for back in range(steps.width.shape[0]):
            s = steps.width.shape[0] - 1 - back
            wide = steps.width[s]
            at = steps.gather_ptr[s]
            for e in range(steps.entry_ptr[s], steps.entry_ptr[s + 1]):
                given = outside[parts + e]
                for _ in range(steps.candidate_ptr[e], steps.candidate_ptr[e + 1]):
                    for own in range(wide):
                        value = given
                        for other in range(wide):
                            if other != own:
                                value += work[steps.gather[at + other]]
                        place = steps.gather[at + own]
                        if value > outside[place]:
                            outside[place] = value
                    at += wide
        for p in range(labels):
            marginals[i, p] = work[p] + outside[p]
    return marginals
