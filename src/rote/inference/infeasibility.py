"""Which rules conflict when nothing is feasible.

Feasibility is a search with all scores zero that stops at the first output; rules that it breaks
join those that are asked about, until a conflict is among them (`rote.inference.minimal_sets`).
"""

from __future__ import annotations

import numpy as np

from rote.inference.exact.plans import no_plan
from rote.inference.exact.search import UNLIMITED, search
from rote.inference.minimal_sets import Rules, Search, minimal_conflict, run
from rote.inference.problem import Problem
from rote.space.space import NamedRule, Space
from rote.types import IntArray, readonly


def is_feasible(space: Space) -> bool:
    """Whether any output obeys all rules."""
    return bool((first_output(space) >= 0).all())


def first_output(space: Space) -> IntArray:
    """An output of shape (1, variables) that obeys all rules; -1 where there is none."""
    problem = Problem.built(space, readonly(np.zeros((1, space.parts))))
    floor = np.array([-1.0])
    found = search(no_plan(space), problem, floor, None, UNLIMITED, in_order=True)
    return found.labels


def find_conflict(space: Space) -> tuple[NamedRule, ...]:
    """A minimal set of rules that cannot be obeyed together; empty when there is none.

    Parameters
    ----------
    space
        The space whose rules are looked at, a few at a time: more are added while an output that
        obeys those breaks others.
    """
    alone = Space(space.variables, (), space.rules)

    def ask(kept: Rules) -> Search[Rules | None]:
        broken: Rules | None = yield kept
        return broken

    def answer(kept: Rules) -> Rules | None:
        labels = first_output(alone.with_rules(kept))
        return alone.broken_by(labels)[0] if (labels >= 0).all() else None

    found = run(minimal_conflict(frozenset(range(len(space.each_rule))), ask), answer)
    return tuple(space.each_rule[k] for k in sorted(found or ()))
