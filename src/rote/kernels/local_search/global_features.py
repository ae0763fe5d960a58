"""What traits add to an output, and to its gains, for greedy search.

Label tuples are looked up in the weights; no table is written out. When variable j changes from a
to b, what label c instead of its own label d is worth to another variable of a tuple moves by

    (w[b, c] - w[b, d]) - (w[a, c] - w[a, d])

A histogram looks at how many variables have each label, so that what a change adds to it depends on
the two labels alone.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import readonly

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Items, Wide


def add_tuples(wide: Wide, labels: Ints, offsets: Ints, gains: OutFloats) -> float:
    """Add what every label would add to the tuples; what they are worth as they are."""
    known_value = 0.0
    for t in range(wide.origin.shape[0]):
        at = wide.origin[t] + value_of(wide, t, labels)
        now = wide.weights[at]
        known_value += now
        for p in range(wide.ptr[t], wide.ptr[t + 1]):
            j, stride = wide.variable[p], wide.stride[p]
            first = at - stride * labels[j]
            for a in range(offsets[j + 1] - offsets[j]):
                gains[offsets[j] + a] += wide.weights[first + stride * a] - now
    return known_value


def value_of(wide: Wide, t: Int, labels: Ints) -> int:
    """The value of a tuple."""
    value = 0
    for p in range(wide.ptr[t], wide.ptr[t + 1]):
        value += wide.stride[p] * labels[wide.variable[p]]
    return value


def pass_on_tuples(
    wide: Wide, labels: Ints, offsets: Ints, j: Int, label: Int, gains: OutFloats
) -> None:
    """Tell the other variables of all tuples of j, which has its old label still, of its new one.

    The gains of j itself are left as they are.
    """
    for k in range(wide.of_ptr[j], wide.of_ptr[j + 1]):
        t = wide.of[k]
        old = wide.origin[t] + value_of(wide, t, labels)
        new = old + wide.of_stride[k] * (label - labels[j])
        own = wide.weights[new] - wide.weights[old]
        for p in range(wide.ptr[t], wide.ptr[t + 1]):
            i, stride = wide.variable[p], wide.stride[p]
            if i == j:
                continue
            back = stride * labels[i]
            for a in range(offsets[i + 1] - offsets[i]):
                forth = stride * a - back
                gains[offsets[i] + a] += wide.weights[new + forth] - wide.weights[old + forth] - own


def bin_of(count: Int, variables: Int, bins: Int) -> int:
    """The bin of a label that so many variables have: 0 for none, then by their share."""
    if count == 0:
        return 0
    return min(bins - 1, 1 + (count - 1) * (bins - 1) // variables)


def share_worth(wide: Wide, label: Int, count: Int, variables: Int) -> float:
    """What it is worth that so many variables have a label."""
    return wide.weights[wide.shares + label * wide.bins + bin_of(count, variables, wide.bins)]


def shares_worth(wide: Wide, counts: Ints, variables: Int) -> float:
    """What a histogram is worth, given how many variables have each label."""
    known_value = 0.0
    for a in range(counts.shape[0]):
        known_value += share_worth(wide, a, counts[a], variables)
    return known_value


def share_changes(wide: Wide, counts: Ints, variables: Int, changes: OutFloats2) -> None:
    """For every two labels, what it adds that one variable has the second instead of the first."""
    for a in range(counts.shape[0]):
        less = 0.0
        if counts[a] > 0:
            less = share_worth(wide, a, counts[a] - 1, variables)
            less -= share_worth(wide, a, counts[a], variables)
        for b in range(counts.shape[0]):
            more = share_worth(wide, b, min(counts[b] + 1, variables), variables)
            more -= share_worth(wide, b, counts[b], variables)
            changes[a, b] = less + more if a != b else 0.0


def no_traits() -> Wide:
    """What kernels are told where there are no traits."""
    none, zero = readonly(np.empty(0, np.int64)), readonly(np.zeros(1, np.int64))
    nobody = no_items()
    return Wide(readonly(np.empty(0)), none, zero, none, none, none, none, none, 0, 0, nobody)


def no_items() -> Items:
    """What kernels are told where there are no items."""
    return Items(0, readonly(np.empty((0, 0), np.int64)), readonly(np.empty(0, np.int64)), 0, 0)
