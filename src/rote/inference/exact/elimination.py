"""Exact inference by eliminating every variable (`rote.inference.exact.plans`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rote.errors import UnsupportedSpace
from rote.inference.engine import Engine
from rote.inference.exact.plans import MAX_CANDIDATES, full_plan
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions
from rote.kernels.dp.elimination import eliminate
from rote.settings import whole
from rote.space.space import Space


@dataclass(frozen=True)
class Elimination(Engine):
    """Exact by full variable elimination; refuses a space whose tables would grow too large.

    Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules.
    """

    max_candidates: int = MAX_CANDIDATES

    checks: ClassVar = {"max_candidates": whole(1)}

    def refuses(self, space: Space) -> str | None:
        if full_plan(space, self.max_candidates) is not None:
            return None
        return (
            f"eliminating the variables of {space!r} needs more than {self.max_candidates} "
            "candidates, or a rule is too long for a table; use Exact or BranchAndBound"
        )

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        plan = full_plan(space, self.max_candidates)
        if plan is None:
            raise UnsupportedSpace(str(self.refuses(space)))
        labels, _ = eliminate(problem.questions, space.sizes, space.offsets, plan.steps)
        return Solutions.of(problem, labels, FoundBy.ELIMINATION)
