"""Exact inference on a forest by max-sum, from the leaves to the roots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.engine import Engine
from rote.inference.exact.tables import Refusal, active_tables, runs_of
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions
from rote.kernels.bundles import ForestPlan
from rote.kernels.dp.trees import best_trees, tree_max_marginals
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, offsets_from_counts, readonly


@dataclass(frozen=True)
class Tree(Engine):
    """Exact for factors and rules over two variables that join them into a forest.

    Optimises max_y Σ_v scores_v(y_v) + Σ_{uv} W_uv(y_u, y_v), with W_uv = -inf where a
    rule is broken.
    """

    one_pass = True

    def refuses(self, space: Space) -> str | None:
        program = space.once(_program)
        if isinstance(program, ForestPlan):
            return None
        return (
            "Tree takes factors and rules over two variables that join no variable to itself "
            f"around a cycle, but {program.described(space)}; use Exact"
        )

    def answer(self, problem: Problem, context: Context) -> Solutions:
        labels = best_trees(problem.questions, _checked(problem.space))
        return Solutions.of(problem, labels, FoundBy.TREE)

    def max_marginals(self, space: Space, problem: Problem | AnyArray) -> FloatArray:
        """Of shape (m, labels): the value of the best output with this label, -inf without one."""
        problem = Problem.of(space, problem)
        return tree_max_marginals(problem.questions, _checked(space))


def _checked(space: Space) -> ForestPlan:
    program = space.once(_program)
    if isinstance(program, Refusal):
        raise UnsupportedSpace(str(Tree().refuses(space)))
    return program


def _program(space: Space) -> ForestPlan | Refusal:
    network = space.network
    if len(network.rows):
        return Refusal(None, "joins too many labels for a table")
    n = network.variables
    near: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    group = list(range(n))  # by union-find: one variable stands for all that are joined to it
    for b, scope in active_tables(network):
        if len(scope) > 2:
            return Refusal(scope, f"is over {len(scope)}")
        u, v = scope
        first, second = _standing(group, u), _standing(group, v)
        if first == second:
            return Refusal(scope, "closes a cycle")
        group[first] = second
        near[u].append((v, b))
        near[v].append((u, b))
    order, parent, table = _rooted(near)
    step_parent = np.ones(n, dtype=np.int64)
    step_own = np.ones(n, dtype=np.int64)
    for v, b in enumerate(table):
        if b >= 0:
            first, second = network.strides[network.scope_ptr[b] : network.scope_ptr[b + 1]]
            child_is_second = network.scope[network.scope_ptr[b] + 1] == v
            step_parent[v], step_own[v] = (first, second) if child_is_second else (second, first)
    depth, root = np.zeros(n, dtype=np.int64), np.arange(n)
    for v in order:
        if parent[v] < n:
            depth[v], root[v] = depth[parent[v]] + 1, root[parent[v]]
    above = np.array(parent, dtype=np.int64)
    room = [np.diff(network.table_ptr).max(initial=1), network.sizes.max(initial=1)]
    widths = np.concatenate([network.sizes, [1]])[above]
    layout = runs_of(network)
    return ForestPlan(
        all(u == n or u < v for v, u in enumerate(parent)),
        network.sizes,
        network.offsets,
        readonly(np.array(order, dtype=np.int64)),
        readonly(above),
        readonly(depth),
        readonly(root),
        readonly(np.array(table, dtype=np.int64)),
        readonly(step_parent),
        readonly(step_own),
        readonly(offsets_from_counts(widths)),
        readonly(offsets_from_counts(np.bincount(above, minlength=n + 1))),
        readonly(np.argsort(above, kind="stable").astype(np.int64)),
        layout.starts,
        layout.moves,
        layout.contiguous,
        network.allowed,
        network.gather_ptr,
        network.gather,
        readonly(np.array(room, dtype=np.int64)),
    )


def _standing(group: list[int], v: int) -> int:
    while group[v] != v:
        group[v] = group[group[v]]
        v = group[v]
    return v


def _rooted(near: list[list[tuple[int, int]]]) -> tuple[list[int], list[int], list[int]]:
    """Every component hung on its first variable: the order, parents, and tables to them."""
    n = len(near)
    order: list[int] = []
    parent, table, seen = [n] * n, [-1] * n, [False] * n
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        order.append(root)
        at = len(order) - 1
        while at < len(order):
            u = order[at]
            at += 1
            for v, b in near[u]:
                if not seen[v]:
                    seen[v] = True
                    parent[v], table[v] = u, b
                    order.append(v)
    return order, parent, table
