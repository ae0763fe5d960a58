"""Networks to run kernels on, and what they mean in plain words.

Kernels are run as they are imported: compiled, or with ``ROTE_PLAIN_KERNELS=1`` as plain Python.
"""

import itertools

import numpy as np
from hypothesis import strategies as st

from rote.kernels.bundles import Questions
from rote.kernels.dual.ascent import Ascent
from rote.types import readonly
from tests.strategies import rules_as_rows, spaces


@st.composite
def networks(draw, least=0, most=4):
    """A space and its network; rules are tables, or rows, or some of each."""
    space = draw(spaces(least, most, max_rules=2, depth=2))
    with rules_as_rows(draw(st.sampled_from([None, None, 1, 4]))):
        return space, space.network


def asked(scores, closed=None, ties=1e-10):
    """Questions that close nothing, and whose ties are all the same, where not told otherwise."""
    scores = readonly(np.asarray(scores, dtype=np.float64))
    closed = np.empty((0, 0), np.bool_) if closed is None else closed
    ties = np.broadcast_to(np.asarray(ties, dtype=np.float64), len(scores))
    return Questions(scores, readonly(closed), readonly(ties))


def scores_of(space, seed, m=None):
    rng = np.random.default_rng(seed)
    return rng.normal(size=space.parts if m is None else (m, space.parts))


def ascent_of(graph, theta, messages=0.0, multipliers=0.0):
    """Dual ascent that stands at these scores and duals."""
    ascent = Ascent(graph)
    ascent.theta[:] = theta
    ascent.messages[:] = messages
    ascent.multipliers[:] = multipliers
    return ascent


# -- a network in plain words -------------------------------------------------------------


def entry_of(graph, b, labels) -> int:
    """The entry of table b that these labels choose."""
    tables = graph.tables
    places = range(tables.scope_ptr[b], tables.scope_ptr[b + 1])
    return int(tables.ptr[b] + sum(tables.strides[k] * labels[tables.scope[k]] for k in places))


def entries_of(graph, labels) -> list[int]:
    """The entries of a labelling of all variables: its labels, then one per table."""
    own = [int(graph.offsets[j]) + int(a) for j, a in enumerate(labels)]
    return own + [entry_of(graph, b, labels) for b in range(len(graph.tables.ptr) - 1)]


def activities(graph, labels) -> np.ndarray:
    """What each row adds up to under a labelling of all variables."""
    rows = graph.rows
    chosen = {int(graph.offsets[j]) + int(a) for j, a in enumerate(labels)}
    totals = np.zeros(len(rows.lower))
    for g, r in enumerate(rows.row):
        for c in range(rows.start[g], rows.start[g + 1]):
            if int(rows.column[c]) in chosen:
                totals[r] += rows.coefficient[c]
    return totals


def labellings(graph):
    """Every labelling of all variables of a network, the auxiliary ones too."""
    return itertools.product(*map(range, graph.sizes))


def feasible(graph, theta) -> list[tuple[int, ...]]:
    """The labellings inside domains, tables (where theta is finite) and rows."""
    found = []
    for labels in labellings(graph):
        if np.isinf(theta[entries_of(graph, labels)]).any():
            continue
        totals = activities(graph, labels)
        if ((totals >= graph.rows.lower) & (totals <= graph.rows.upper)).all():
            found.append(labels)
    return found


def worth_of(graph, theta, multipliers, labels) -> float:
    """A labelling's value under reparametrised scores: the multipliers' share is given back."""
    return float(theta[entries_of(graph, labels)].sum() + multipliers @ activities(graph, labels))


def constant_of(graph, multipliers) -> float:
    ends = np.where(multipliers > 0, graph.rows.upper, graph.rows.lower)
    used = multipliers != 0
    return float(multipliers[used] @ ends[used])


def bound_of(graph, theta, multipliers) -> float:
    """Σ_j max θ_j + Σ_f max θ_f + u·rhs."""
    total = constant_of(graph, multipliers)
    for j in range(len(graph.sizes)):
        total += theta[graph.offsets[j] : graph.offsets[j + 1]].max()
    for b in range(len(graph.tables.ptr) - 1):
        total += theta[graph.tables.ptr[b] : graph.tables.ptr[b + 1]].max()
    return float(total)


def loaded(graph, scores) -> np.ndarray:
    """The scores of every entry."""
    source, gather = graph.source, graph.source.gather
    return np.array(
        [
            scores[gather[source.ptr[e] : source.ptr[e + 1]]].sum() if is_open else -np.inf
            for e, is_open in enumerate(source.allowed)
        ]
    )


def random_duals(graph, rng):
    """Any messages, and multipliers with the signs that their rows allow."""
    messages = rng.normal(size=int(graph.flow.message_ptr[-1]))
    multipliers = rng.normal(size=len(graph.rows.lower))
    multipliers[(multipliers > 0) & np.isinf(graph.rows.upper)] = 0.0
    multipliers[(multipliers < 0) & np.isinf(graph.rows.lower)] = 0.0
    return messages, multipliers


# -- around a given output ----------------------------------------------------------------


def naive_neighbours(graph, theta, gold, sets, most):
    """Value by labels of all possible outputs around gold; theta is -inf where forbidden."""
    found = {}
    gold = tuple(int(a) for a in gold)
    for labels in labellings(graph):
        differ = {j for j, (a, b) in enumerate(zip(labels, gold, strict=True)) if a != b}
        if differ and not any(differ <= set(one) and len(differ) <= most for one in sets):
            continue
        value = theta[entries_of(graph, labels)].sum()
        totals = activities(graph, labels)
        is_feasible = ((totals >= graph.rows.lower) & (totals <= graph.rows.upper)).all()
        if value > -np.inf and is_feasible:
            found[labels] = value
    return found


def numbers(rng, kind, shape):
    if kind == "whole":
        return rng.integers(-1, 2, size=shape).astype(np.float64)
    if kind == "near":
        return 3e-11 * rng.integers(0, 4, size=shape)
    return rng.normal(size=shape)
