"""Exact inference by eliminating every variable (`rote.inference.exact.plans`)."""

from __future__ import annotations

from dataclasses import dataclass

from rote.errors import UnsupportedSpace, check_whole
from rote.inference.answers import answered
from rote.inference.base import Objective, Solutions, Source, as_objective
from rote.inference.exact.plans import MOST_CANDIDATES, full_plan
from rote.kernels.dp.elimination import eliminate
from rote.space.space import Space
from rote.types import AnyArray


@dataclass(frozen=True)
class Elimination:
    """Exact by full variable elimination; refuses a space whose tables would grow too large.

    Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules.
    """

    most_candidates: int = MOST_CANDIDATES

    def __post_init__(self) -> None:
        check_whole("most_candidates", self.most_candidates, least=1)

    def accepts(self, space: Space) -> bool:
        return full_plan(space, self.most_candidates) is not None

    def solve(self, space: Space, objective: Objective | AnyArray) -> Solutions:
        objective = as_objective(space, objective)
        plan = full_plan(space, self.most_candidates)
        if plan is None:
            raise UnsupportedSpace(
                f"eliminating the variables of {space!r} needs more than {self.most_candidates} "
                "candidates, or a rule is too long for a table; use Exact or BranchAndBound"
            )
        labels, _ = eliminate(objective.questions, space.sizes, space.offsets, plan.steps)
        return answered(space, objective, labels, Source.ELIMINATION)
