"""Rules as kernels evaluate them: as they were written, with nothing lowered or merged.

Every answer is checked by them, whatever an engine made of the rules.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rote.kernels.bundles import RuleTrees
from rote.kernels.constants import LABEL, SUM, TABLE
from rote.space.language import EXACT, And, Implies, Is, Linear, Not, Or, Rule, Tuples
from rote.types import BoolArray, IntArray, readonly

MAX_TABLE = 1 << 20  # entries of the table of one rule


class _NotInKernelsError(Exception):
    """A rule that kernels cannot evaluate."""


class _Writer:
    def __init__(self) -> None:
        self.parts: list[tuple[int, int, int]] = []  # kind, lower, upper
        self.ptr, self.child, self.coefficient = [0], list[int](), list[int]()
        self.tables: list[BoolArray] = []
        self.start = 0  # of the next table
        self.labels: dict[tuple[int, int], int] = {}

    def part(
        self, kind: int, children: Iterable[int], coefficients: Iterable[int], low: int, high: int
    ) -> int:
        self.child += children
        self.coefficient += coefficients
        self.ptr.append(len(self.child))
        self.parts.append((kind, low, high))
        return len(self.parts) - 1

    def sum(self, rules: tuple[Rule, ...], low: int, high: int) -> int:
        return self.part(SUM, [self.write(rule) for rule in rules], [1] * len(rules), low, high)

    def write(self, rule: Rule) -> int:
        """The number of the part that says what a rule says."""
        match rule:
            case Is(variable=variable, label=label):
                at = variable.index, label
                if at not in self.labels:
                    self.labels[at] = self.part(LABEL, at[:1], [1], label, 0)
                return self.labels[at]
            case Not(of=inner):
                return self.sum((inner,), 0, 0)
            case And(of=rules):
                return self.sum(rules, len(rules), len(rules))
            case Or(of=rules):
                return self.sum(rules, 1, len(rules))
            case Implies(first=first, then=then):
                parts = self.write(first), self.write(then)
                return self.part(SUM, parts, (-1, 1), 0, 1)
            case Linear(terms=terms, lower=lower, upper=upper):
                each = [self.write(term) for _, term in terms]
                low, high = -EXACT if lower is None else lower, EXACT if upper is None else upper
                return self.part(SUM, each, [number for number, _ in terms], low, high)
            case Tuples(over=over, allowed=allowed):
                return self.table([v.index for v in over], [len(v.labels) for v in over], allowed)
            case _:
                raise _NotInKernelsError

    def table(self, over: list[int], sizes: list[int], allowed: Iterable[tuple[int, ...]]) -> int:
        if np.prod(np.array(sizes, dtype=np.float64)) > MAX_TABLE:
            raise _NotInKernelsError
        table = np.zeros(sizes, dtype=np.bool_)
        for labels in allowed:
            table[labels] = True
        strides = np.cumprod([1, *sizes[:0:-1]])[::-1].tolist() if sizes else []
        self.tables.append(table.ravel())
        self.start += table.size
        return self.part(TABLE, over, strides, self.start - table.size, 0)


def rule_trees(rules: Iterable[Rule]) -> tuple[RuleTrees, IntArray]:
    """All rules for kernels, and the numbers of those that kernels cannot evaluate."""
    writer = _Writer()
    whole, left = list[int](), list[int]()
    for number, rule in enumerate(rules):
        try:
            whole.append(writer.write(rule))
        except _NotInKernelsError:
            left.append(number)
    parts = np.array(writer.parts, dtype=np.int64).reshape(-1, 3).T.copy()
    is_rule = np.zeros(parts.shape[1], dtype=np.bool_)
    is_rule[whole] = True
    kind, lower, upper, ptr, child, coefficient = (
        readonly(np.asarray(numbers, dtype=np.int64))
        for numbers in (*parts, writer.ptr, writer.child, writer.coefficient)
    )
    allowed = np.concatenate([np.empty(0, np.bool_), *writer.tables])
    of_labels = np.repeat(kind != SUM, np.diff(ptr))
    reach = 1 + int(child[of_labels].max(initial=-1))
    trees = RuleTrees(
        kind, readonly(is_rule), lower, upper, ptr, child, coefficient, readonly(allowed), reach
    )
    return trees, readonly(np.array(left, dtype=np.int64))
