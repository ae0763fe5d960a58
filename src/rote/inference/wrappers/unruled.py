"""A wrapper that leaves the rules out: the best output of a space that had none.

Its outputs may break any rule of the space, and no other engine's may. It is there to predict
as a model does that was never told of rules, so that one can see what rules are worth.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rote.inference.base import (
    Engine,
    Objective,
    Solutions,
    as_objective,
    check_engine,
    checked_for,
)
from rote.inference.exact.exact import Exact
from rote.space.space import Space
from rote.types import AnyArray


@dataclass(frozen=True)
class Unruled:
    """``engine`` solves the same variables and factors, scored alike, without the rules.

    Values and bounds are those of the outputs it returns, which need not be outputs of the
    space: check them with ``space.holds``. Labels that the objective closes stay closed.
    """

    engine: Engine = field(default_factory=Exact)

    def __post_init__(self) -> None:
        check_engine("the engine underneath", self.engine)

    def solve(self, space: Space, objective: Objective | AnyArray) -> Solutions:
        given = as_objective(space, objective, terms=True)
        free = space.without_rules()
        return self.engine.solve(free, checked_for(free, replace(given)))
