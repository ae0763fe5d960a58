"""Exact inference by eliminating every variable (`rote.inference.exact.plans`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rote.inference.exact.plans import MAX_CANDIDATES, Plan, full_plan
from rote.inference.exact.tables import Planned
from rote.inference.problem import Problem
from rote.inference.solutions import FoundBy
from rote.kernels.dp.elimination import eliminate, max_marginals
from rote.settings import whole
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class Elimination(Planned):
    """Exact by full variable elimination; refuses a space whose tables would grow too large.

    Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules.

    Parameters
    ----------
    max_candidates
        How many pairs of a table's entry and a label all steps may list together, at least 1; the
        time for an input grows with it.
    """

    max_candidates: int = MAX_CANDIDATES

    checks: ClassVar = {"max_candidates": whole(1)}
    source = FoundBy.ELIMINATION

    def plan(self, space: Space) -> Plan | None:
        return full_plan(space, self.max_candidates)

    def refuses(self, space: Space) -> str | None:
        if self.plan(space) is not None:
            return None
        return (
            f"eliminating the variables of {space!r} needs more than {self.max_candidates} "
            "candidates, or a rule is too long for a table; use Exact or BranchAndBound"
        )

    def best(self, problem: Problem, plan: Plan) -> IntArray:
        space = problem.space
        return eliminate(problem.questions, space.sizes, space.offsets, plan.steps)[0]

    def max_marginals(self, space: Space, problem: Problem | AnyArray) -> FloatArray:
        """Of shape (m, labels): the value of the best output with this label, -inf without one."""
        problem, plan = Problem.of(space, problem), self.required(space)
        values = max_marginals(problem.questions, space.labels, plan.steps)
        return problem.above_floor(values)
