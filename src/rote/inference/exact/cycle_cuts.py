"""Cuts for `acyclic`: rows against the cycles that an answer closes, found when it is there.

Engines that know no rows for paths solve a space without its rules against cycles. What comes out
may close one; then the row Σ arcs of the cycle <= their number - 1 is added to what the engine has,
which is asked again. A relaxation is cut as well: a cycle is violated where Σ (1 - z) over its arcs
is below 1, which a shortest path finds.
"""

from __future__ import annotations

from collections.abc import Collection
from heapq import heappop, heappush

import numpy as np

from rote.inference.exact.tables import once_per_space
from rote.space.language import Acyclic, Rule
from rote.space.lowering import Rows, stacked
from rote.space.network import split
from rote.space.space import Space
from rote.types import FloatArray, IntArray, offsets_from_counts, readonly

VIOLATED = 1e-4  # by how much at least
PER_ARC = 1e-9  # of two cycles that are violated as much, the shorter one


@once_per_space
def cut_rules(space: Space) -> tuple[Acyclic, ...]:
    """The rules against cycles that are too long for a table."""
    rules = [named.rule for named in space.rules if isinstance(named.rule, Acyclic)]
    return tuple(rule for rule in split(space.sizes, rules)[1] if isinstance(rule, Acyclic))


@once_per_space
def without_cuts(space: Space) -> Space:
    """The space without these rules."""
    return without(space, cut_rules(space))


def without(space: Space, rules: Collection[Rule]) -> Space:
    """The space without some of its rules."""
    if not rules:
        return space
    gone = set(map(id, rules))
    rest = tuple(named for named in space.each_rule if id(named.rule) not in gone)
    return Space(space.variables, space.factors, rest)


def violated_rows(rules: Collection[Acyclic], space: Space, shares: FloatArray) -> Rows | None:
    """Rows that a relaxation or an output violates, given the share of each label; else None."""
    found = None
    for rule in rules:
        column = np.array([space.offsets[a.variable.index] + a.label for a in rule.arcs])
        cycles = [np.unique(column[cycle]) for cycle in violated_cycles(rule, shares[column])]
        if cycles:
            rows = _against(cycles, space.labels)
            found = rows if found is None else stacked(found, rows)
    return found


def violated_cycles(rule: Acyclic, shares: FloatArray) -> list[list[int]]:
    """Cycles that share no arc and are violated, each by its arcs."""
    leaving = dict[int, list[tuple[float, int]]]()
    order = np.argsort(-shares, kind="stable").tolist()
    for arc in order:
        if shares[arc] > VIOLATED:
            cost = max(0.0, 1.0 - float(shares[arc])) + PER_ARC
            leaving.setdefault(rule.nodes[arc][0], []).append((cost, arc))
    found: list[list[int]] = []
    used = set[int]()
    for arc in order:
        limit = float(shares[arc]) - VIOLATED
        if limit <= 0.0:
            break
        if arc in used:
            continue
        first, last = rule.nodes[arc]
        back = _path(rule, leaving, last, first, limit, used)
        if back is not None:
            found.append([arc, *back])
            used.update(found[-1])
    return found


def _path(
    rule: Acyclic,
    leaving: dict[int, list[tuple[float, int]]],
    start: int,
    end: int,
    limit: float,
    used: set[int],
) -> list[int] | None:
    """The arcs of a cheapest path between two nodes, if it costs less than a limit."""
    came = dict[int, int | None]()
    heap: list[tuple[float, int, int | None]] = [(0.0, start, None)]
    while heap:
        cost, node, by = heappop(heap)
        if node in came:
            continue
        came[node] = by
        if node == end:
            path: list[int] = []
            while (arc := came[node]) is not None:
                path.append(arc)
                node = rule.nodes[arc][0]
            return path
        for more, arc in leaving.get(node, ()):
            ahead = rule.nodes[arc][1]
            if cost + more < limit and arc not in used and ahead not in came:
                heappush(heap, (cost + more, ahead, arc))
    return None


def _against(cycles: list[IntArray], labels: int) -> Rows:
    """At least one label of each cycle is not taken."""
    counts = [len(cycle) for cycle in cycles]
    return Rows(
        readonly(offsets_from_counts(counts)),
        readonly(np.concatenate(cycles)),
        readonly(np.ones(sum(counts))),
        readonly(np.full(len(cycles), -np.inf)),
        readonly(np.array(counts, dtype=np.float64) - 1.0),
        labels,
        0,
    )
