"""What global features add to an output, and to its gains, for greedy search.

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
    from rote.kernels.bundles import GlobalFeatures, Items


def add_tuples(features: GlobalFeatures, labels: Ints, offsets: Ints, gains: OutFloats) -> float:
    """Add what every label would add to the tuples; what they are worth as they are."""
    value = 0.0
    for t in range(features.origin.shape[0]):
        at = features.origin[t] + value_of(features, t, labels)
        now = features.weights[at]
        value += now
        for p in range(features.ptr[t], features.ptr[t + 1]):
            j, stride = features.variable[p], features.stride[p]
            first = at - stride * labels[j]
            for a in range(offsets[j + 1] - offsets[j]):
                gains[offsets[j] + a] += features.weights[first + stride * a] - now
    return value


def value_of(features: GlobalFeatures, t: Int, labels: Ints) -> int:
    """The value of a tuple."""
    value = 0
    for p in range(features.ptr[t], features.ptr[t + 1]):
        value += features.stride[p] * labels[features.variable[p]]
    return value


def pass_on_tuples(
    features: GlobalFeatures, labels: Ints, offsets: Ints, j: Int, label: Int, gains: OutFloats
) -> None:
    """Tell the other variables of all tuples of j, which has its old label still, of its new one.

    The gains of j itself are left as they are.
    """
    for k in range(features.of_ptr[j], features.of_ptr[j + 1]):
        t = features.of[k]
        old = features.origin[t] + value_of(features, t, labels)
        new = old + features.of_stride[k] * (label - labels[j])
        own = features.weights[new] - features.weights[old]
        for p in range(features.ptr[t], features.ptr[t + 1]):
            i, stride = features.variable[p], features.stride[p]
            if i == j:
                continue
            back = stride * labels[i]
            for a in range(offsets[i + 1] - offsets[i]):
                forth = stride * a - back
                gains[offsets[i] + a] += (
                    features.weights[new + forth] - features.weights[old + forth] - own
                )


def bin_of(count: Int, variables: Int, bins: Int) -> int:
    """The bin of a label that so many variables have: 0 for none, then by their share."""
    if count == 0:
        return 0
    return min(bins - 1, 1 + (count - 1) * (bins - 1) // variables)


def share_worth(features: GlobalFeatures, label: Int, count: Int, variables: Int) -> float:
    """What it is worth that so many variables have a label."""
    return features.weights[
        features.shares + label * features.bins + bin_of(count, variables, features.bins)
    ]


def shares_worth(features: GlobalFeatures, counts: Ints, variables: Int) -> float:
    """What a histogram is worth, given how many variables have each label."""
    value = 0.0
    for a in range(counts.shape[0]):
        value += share_worth(features, a, counts[a], variables)
    return value


def share_changes(
    features: GlobalFeatures, counts: Ints, variables: Int, changes: OutFloats2
) -> None:
    """For every two labels, what it adds that one variable has the second instead of the first."""
    for a in range(counts.shape[0]):
        less = 0.0
        if counts[a] > 0:
            less = share_worth(features, a, counts[a] - 1, variables)
            less -= share_worth(features, a, counts[a], variables)
        for b in range(counts.shape[0]):
            more = share_worth(features, b, min(counts[b] + 1, variables), variables)
            more -= share_worth(features, b, counts[b], variables)
            changes[a, b] = less + more if a != b else 0.0


def no_global_features() -> GlobalFeatures:
    """What kernels are told where there are no global features."""
    none, zero = readonly(np.empty(0, np.int64)), readonly(np.zeros(1, np.int64))
    nobody = no_items()
    return GlobalFeatures(
        readonly(np.empty(0)), none, zero, none, none, none, none, none, 0, 0, nobody
    )


def no_items() -> Items:
    """What kernels are told where there are no items."""
    return Items(0, readonly(np.empty((0, 0), np.int64)), readonly(np.empty(0, np.int64)), 0, 0)
