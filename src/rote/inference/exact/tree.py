"""Exact inference on a forest by max-sum, from the leaves to the roots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.inference.exact.tables import (
    LONG_RULE,
    Planned,
    Refusal,
    active_tables,
    int_array,
    runs_of,
)
from rote.inference.problem import Problem
from rote.inference.solutions import FoundBy
from rote.kernels.bundles import ForestPlan
from rote.kernels.dp.trees import best_trees, tree_max_marginals
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, offsets_from_counts, readonly


@dataclass(frozen=True)
class Tree(Planned):
    """Exact for factors and rules over two variables that join them into a forest.

    Optimises max_y Σ_v scores_v(y_v) + Σ_{uv} W_uv(y_u, y_v), with W_uv = -inf where a
    rule is broken.
    """

    one_pass = True
    source = FoundBy.TREE
    takes = (
        "takes factors and rules over two variables that join no variable to itself around a cycle"
    )

    def plan(self, space: Space) -> ForestPlan | Refusal:
        return space.once(_plan)

    def best(self, problem: Problem, plan: ForestPlan) -> IntArray:
        return best_trees(problem.questions, plan)

    def max_marginals(self, space: Space, problem: Problem | AnyArray) -> FloatArray:
        """Of shape (m, labels): the value of the best output with this label, -inf without one."""
        problem = Problem.of(space, problem)
        return problem.above_floor(tree_max_marginals(problem.questions, self.required(space)))


def _plan(space: Space) -> ForestPlan | Refusal:
    network = space.network
    if len(network.rows):
        return LONG_RULE
    n = network.variables
    near: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    tables = active_tables(network)
    for b, scope in tables:
        if len(scope) > 2:
            return Refusal(scope, f"is over {len(scope)}")
        u, v = scope
        near[u].append((v, b))
        near[v].append((u, b))
    order, parent, table = _rooted(near)
    for b, scope in tables:
        if b != table[scope[0]] and b != table[scope[1]]:
            return Refusal(scope, "closes a cycle")
    runs, direct = runs_of(network), np.full(n, -1, dtype=np.int64)
    step_parent = np.ones(n, dtype=np.int64)
    step_own = np.ones(n, dtype=np.int64)
    for v, b in enumerate(table):
        if b >= 0:
            first, second = network.strides[network.scope_ptr[b] : network.scope_ptr[b + 1]]
            child_is_second = network.scope[network.scope_ptr[b] + 1] == v
            step_parent[v], step_own[v] = (first, second) if child_is_second else (second, first)
            begin, end = network.table_ptr[b : b + 2]
            if runs.contiguous[b] and network.allowed[begin:end].all():
                direct[v] = begin + runs.moves[b]
    depth, root = np.zeros(n, dtype=np.int64), np.arange(n)
    for v in order:
        if parent[v] < n:
            depth[v], root[v] = depth[parent[v]] + 1, root[parent[v]]
    above = np.array(parent, dtype=np.int64)
    room = [np.diff(network.table_ptr).max(initial=1), network.sizes.max(initial=1)]
    widths = np.concatenate([network.sizes, [1]])[above]
    return ForestPlan(
        all(u == n or u < v for v, u in enumerate(parent)),
        network.sizes,
        network.offsets,
        int_array(order),
        readonly(above),
        readonly(depth),
        readonly(root),
        int_array(table),
        readonly(direct),
        readonly(step_parent),
        readonly(step_own),
        readonly(offsets_from_counts(widths)),
        readonly(offsets_from_counts(np.bincount(above, minlength=n + 1))),
        int_array(np.argsort(above, kind="stable")),
        runs,
        int_array(room),
    )


def _rooted(near: list[list[tuple[int, int]]]) -> tuple[list[int], list[int], list[int]]:
    """Every component hung on its first variable: the order, parents, and tables to them."""
    n = len(near)
    order: list[int] = []
    parent, table, seen = [n] * n, [-1] * n, [False] * n
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        component = [root]
        for u in component:  # which grows
            for v, b in near[u]:
                if not seen[v]:
                    parent[v], table[v], seen[v] = u, b, True
                    component.append(v)
        order += component
    return order, parent, table
