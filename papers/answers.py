"""The answers of a model that was never told of rules, to examples that have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from rote import Model, Solutions
from rote.model import Batch, Dataset

Answer: TypeAlias = Callable[[Model[Any, Any], Dataset], list[tuple[Batch, Solutions]]]


def answers_without_rules(
    model: Model[Any, Any], prepared: Dataset
) -> list[tuple[Batch, Solutions]]:
    """The best outputs, rules or not, group by group; the spaces of the groups say who obeys."""
    found = []
    for group in prepared.groups:
        free = group.space.without_rules()
        problem = prepared.problem(model.weights, group).with_space(free)
        context = prepared.context(group).without_gold()
        found.append((group, model.engine.solve(free, problem, context)))
    return found
