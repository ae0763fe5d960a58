"""Block-coordinate ascent on the dual of a network.

``theta`` holds reparametrised scores of all entries: labels, then tables. Moving
an amount m(a) from table f to label a of its variable (λ_fj(a) += m(a)) changes no
output's value but may lower the bound Σ_j max θ_j + Σ_f max θ_f + u·rhs. A step at
variable j first collects, from every table f, the max-marginal
m_f(a) = max_{t: t_j = a} θ_f(t), and then hands its labels' scores on to the tables
that reach further in the sweep's direction, in equal shares. Sweeping to and fro is
the sequential scheme of tree-reweighted message passing, for tables of any arity.
A step at a row minimises the bound along its own multiplier, exactly.
The bound never rises.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.structs import Graph
from rote.types import FloatArray


@kernel
def load(source: FloatArray, graph: Graph, theta: FloatArray) -> None:
    """Scores of every entry from a source vector; what is not allowed is -inf."""
    for e in range(theta.shape[0]):
        value = 0.0
        if graph.allowed[e]:
            for g in range(graph.gather_ptr[e], graph.gather_ptr[e + 1]):
                value += source[graph.gather[g]]
        else:
            value = -np.inf
        theta[e] = value


@kernel
def apply_duals(
    graph: Graph, theta: FloatArray, messages: FloatArray, multipliers: FloatArray
) -> None:
    """Reparametrise plain scores by given messages and multipliers."""
    for b in range(graph.table_ptr.shape[0] - 1):
        for k in range(graph.scope_ptr[b], graph.scope_ptr[b + 1]):
            j = graph.scope[k]
            for a in range(graph.sizes[j]):
                theta[graph.offsets[j] + a] += messages[graph.message_ptr[k] + a]
            shift_table(graph, theta, k, messages[graph.message_ptr[k] : graph.message_ptr[k + 1]])
    for r in range(graph.row_lower.shape[0]):
        if multipliers[r] != 0.0:
            for g in range(graph.group_ptr[r], graph.group_ptr[r + 1]):
                for c in range(graph.group_start[g], graph.group_start[g + 1]):
                    theta[graph.column[c]] -= multipliers[r] * graph.coefficient[c]


@kernel
def shift_table(graph: Graph, theta: FloatArray, k: int, amount: FloatArray) -> None:
    """Subtract amount(a) from every entry of place k's table whose label there is a."""
    b = graph.place_table[k]
    inner = graph.strides[k]
    size = graph.sizes[graph.scope[k]]
    at = graph.table_ptr[b]
    stop = graph.table_ptr[b + 1]
    while at < stop:
        for a in range(size):
            value = amount[a]
            if value == -np.inf:
                for e in range(at, at + inner):
                    theta[e] = -np.inf
            else:
                for e in range(at, at + inner):
                    theta[e] -= value
            at += inner


@kernel
def max_marginal(graph: Graph, theta: FloatArray, k: int, marginal: FloatArray) -> None:
    """marginal(a): the best entry of place k's table whose label there is a."""
    b = graph.place_table[k]
    inner = graph.strides[k]
    size = graph.sizes[graph.scope[k]]
    for a in range(size):
        marginal[a] = -np.inf
    at = graph.table_ptr[b]
    stop = graph.table_ptr[b + 1]
    while at < stop:
        for a in range(size):
            top = marginal[a]
            for e in range(at, at + inner):
                if theta[e] > top:
                    top = theta[e]
            marginal[a] = top
            at += inner


@kernel
def visit(
    graph: Graph,
    theta: FloatArray,
    messages: FloatArray,
    j: int,
    forwards: bool,
    last: bool,
    marginals: FloatArray,
) -> None:
    """Collect at variable j, then hand on (unless it is the last visit of all)."""
    size = graph.sizes[j]
    first = graph.offsets[j]
    begin, end = graph.place_ptr[j], graph.place_ptr[j + 1]
    ahead = 0
    behind = 0
    for p in range(begin, end):
        k = graph.places[p]
        b = graph.place_table[k]
        low, high = j, j
        for q in range(graph.scope_ptr[b], graph.scope_ptr[b + 1]):
            low = min(low, graph.scope[q])
            high = max(high, graph.scope[q])
        if high > j:
            ahead += 1
        if low < j:
            behind += 1
        marginal = marginals[(p - begin) * size : (p - begin + 1) * size]
        max_marginal(graph, theta, k, marginal)
        for a in range(size):
            theta[first + a] += marginal[a]
    share = 0.0
    if not last and max(ahead, behind) > 0:
        share = 1.0 / max(ahead, behind)
    given = 0
    for p in range(begin, end):
        k = graph.places[p]
        b = graph.place_table[k]
        reaches = False
        for q in range(graph.scope_ptr[b], graph.scope_ptr[b + 1]):
            if (forwards and graph.scope[q] > j) or (not forwards and graph.scope[q] < j):
                reaches = True
        marginal = marginals[(p - begin) * size : (p - begin + 1) * size]
        if reaches:
            given += 1
        for a in range(size):
            own = theta[first + a]
            if own == -np.inf:
                marginal[a] = -np.inf
            elif reaches:
                marginal[a] -= share * own
        shift_table(graph, theta, k, marginal)
        for a in range(size):
            if marginal[a] != -np.inf:
                messages[graph.message_ptr[k] + a] += marginal[a]
    kept = 1.0 - share * given
    for a in range(size):
        if theta[first + a] != -np.inf:
            theta[first + a] *= kept


@kernel
def slope(graph: Graph, theta: FloatArray, r: int, step: float, rhs: float) -> float:
    """Derivative of the bound along row r's multiplier, ``step`` further on."""
    total = rhs
    for g in range(graph.group_ptr[r], graph.group_ptr[r + 1]):
        j = graph.group_variable[g]
        at = graph.group_start[g]
        stop = graph.group_start[g + 1]
        top = -np.inf
        weight = 0.0
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            coefficient = 0.0
            if at < stop and graph.column[at] == e:
                coefficient = graph.coefficient[at]
                at += 1
            value = theta[e] - step * coefficient
            # Of equal labels take the one with the larger coefficient: the slope to the left.
            if value > top or (value == top and coefficient > weight):
                top = value
                weight = coefficient
        total -= weight
    return total


@kernel
def visit_row(graph: Graph, theta: FloatArray, multipliers: FloatArray, r: int) -> None:
    """Move row r's multiplier to where the bound is least along it, by bisection."""
    lower, upper = graph.row_lower[r], graph.row_upper[r]
    u = multipliers[r]
    # Where the multiplier changes sign the right-hand side changes from lower to upper.
    low, high = -np.inf, np.inf
    if upper == np.inf:
        high = 0.0
    if lower == -np.inf:
        low = 0.0
    rhs_at = upper if u > 0 or lower == -np.inf else lower
    rhs = rhs_at
    width = 1.0
    if slope(graph, theta, r, 0.0, rhs) < 0:
        left = u
        right = u
        while True:
            right = min(left + width, high)
            rhs = upper if right > 0 or lower == -np.inf else lower
            if right == high or width > 1e12:
                break
            if slope(graph, theta, r, right - u, rhs) >= 0:
                break
            left = right
            width *= 4.0
    else:
        right = u
        left = u
        while True:
            left = max(right - width, low)
            rhs = upper if left > 0 or lower == -np.inf else lower
            if left == low or width > 1e12:
                break
            if slope(graph, theta, r, left - u, rhs) < 0:
                break
            right = left
            width *= 4.0
    for _ in range(60):
        middle = 0.5 * (left + right)
        if middle <= left or middle >= right:
            break
        rhs = upper if middle > 0 or lower == -np.inf else lower
        if slope(graph, theta, r, middle - u, rhs) < 0:
            left = middle
        else:
            right = middle
    best = 0.5 * (left + right)
    if abs(best) < 1e-12:
        best = 0.0
    if abs(best) > 1e11:
        return
    before = row_part(graph, theta, r, 0.0, u)
    if row_part(graph, theta, r, best - u, best) > before:
        return
    for g in range(graph.group_ptr[r], graph.group_ptr[r + 1]):
        for c in range(graph.group_start[g], graph.group_start[g + 1]):
            theta[graph.column[c]] -= (best - u) * graph.coefficient[c]
    multipliers[r] = best


@kernel
def row_part(graph: Graph, theta: FloatArray, r: int, step: float, u: float) -> float:
    """The part of the bound that row r's multiplier u touches."""
    total = 0.0
    if u > 0:
        total = u * graph.row_upper[r]
    elif u < 0:
        total = u * graph.row_lower[r]
    for g in range(graph.group_ptr[r], graph.group_ptr[r + 1]):
        j = graph.group_variable[g]
        at = graph.group_start[g]
        stop = graph.group_start[g + 1]
        top = -np.inf
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            value = theta[e]
            if at < stop and graph.column[at] == e:
                value -= step * graph.coefficient[at]
                at += 1
            top = max(top, value)
        total += top
    return total


@kernel
def sweep(
    graph: Graph,
    theta: FloatArray,
    messages: FloatArray,
    multipliers: FloatArray,
    marginals: FloatArray,
) -> None:
    """Once forwards and once backwards through variables and rows."""
    n = graph.sizes.shape[0]
    for j in range(n):
        visit(graph, theta, messages, j, True, False, marginals)
    for r in range(graph.row_lower.shape[0]):
        visit_row(graph, theta, multipliers, r)
    for back in range(n):
        visit(graph, theta, messages, n - 1 - back, False, False, marginals)


@kernel
def settle(
    graph: Graph, theta: FloatArray, messages: FloatArray, marginals: FloatArray
) -> None:
    """Leave at the labels what the tables can spare, so that labels tell good from bad."""
    for j in range(graph.sizes.shape[0]):
        visit(graph, theta, messages, j, True, True, marginals)


@kernel
def row_constant(graph: Graph, multipliers: FloatArray) -> float:
    """What the rows' right-hand sides add to the bound."""
    total = 0.0
    for r in range(graph.row_lower.shape[0]):
        u = multipliers[r]
        if u > 0:
            total += u * graph.row_upper[r]
        elif u < 0:
            total += u * graph.row_lower[r]
    return total


@kernel
def bound_of(graph: Graph, theta: FloatArray, multipliers: FloatArray) -> float:
    """The bound that reparametrised scores and multipliers give."""
    total = row_constant(graph, multipliers)
    for j in range(graph.sizes.shape[0]):
        top = -np.inf
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            top = max(top, theta[e])
        total += top
    for b in range(graph.table_ptr.shape[0] - 1):
        top = -np.inf
        for e in range(graph.table_ptr[b], graph.table_ptr[b + 1]):
            top = max(top, theta[e])
        total += top
    return total
