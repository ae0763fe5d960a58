"""Which rules conflict when nothing is feasible.

`find_conflict` is QuickXplain: it splits the rules in halves and keeps only what is
needed for infeasibility, with one feasibility question per step. Feasibility is a
search with all scores zero that stops at the first output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rote.inference.exact.plans import no_plan
from rote.inference.exact.search import UNLIMITED, search
from rote.inference.problem import Problem
from rote.space.space import NamedRule, Space
from rote.types import readonly


def is_feasible(space: Space) -> bool:
    """Whether any output obeys all rules."""
    problem = Problem.built(space, readonly(np.zeros((1, space.parts))))
    floor = np.array([-1.0])
    found = search(no_plan(space), problem, floor, None, UNLIMITED, in_order=True)
    return bool((found.labels >= 0).all())


def find_conflict(space: Space) -> tuple[NamedRule, ...]:
    """A minimal set of rules that cannot be obeyed together; empty when there is none.

    Parameters
    ----------
    space
        The space whose rules are looked at, with about log2 as many searches for one output as it
        has rules, for each rule of the conflict.
    """
    if is_feasible(space):
        return ()

    def conflict(rules: Sequence[NamedRule]) -> bool:
        return not is_feasible(Space(space.variables, (), tuple(rules)))

    def explain(kept: list[NamedRule], added: bool, rules: list[NamedRule]) -> list[NamedRule]:
        """A minimal part of ``rules`` that conflicts together with ``kept``."""
        if added and conflict(kept):
            return []
        if len(rules) == 1:
            return rules
        half = len(rules) // 2
        second = explain([*kept, *rules[:half]], True, rules[half:])
        first = explain([*kept, *second], bool(second), rules[:half])
        return [*first, *second]

    needed = {id(rule) for rule in explain([], False, list(space.each_rule))}
    return tuple(rule for rule in space.each_rule if id(rule) in needed)
