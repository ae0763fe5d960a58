"""`ConstrainedBeam`: beam search whose partial outputs obey, and lead to outputs that do.

Labels that rules no longer allow are taken out after every step (`rote.kernels.beam.propagation`).
Where a beam dies all the same, `Exact` is asked: so there is an output for every input that has
any, and proof that the others have none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rote.errors import check_whole
from rote.inference.approximate.beam import (
    NO_WEIGHTS,
    bounded,
    first_feasible,
    fitting,
)
from rote.inference.approximate.beam_plan import BeamPlans, Order
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.problem import NO_CONTEXT, Context, Problem
from rote.inference.solutions import Solutions
from rote.kernels.beam.beam import BeamPlan
from rote.kernels.beam.propagation import search_consistently
from rote.types import FloatArray


@dataclass(frozen=True)
class ConstrainedBeam(Engine):
    """As `Beam`, and every answer obeys the rules.

    >>> from rote import ConstrainedBeam, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["b"] >> y["b"])
    >>> space = builder.build()
    >>> found = ConstrainedBeam(width=1).solve(space, space.scores({"x": {"b": 2.0}}))
    >>> space.decode(found.labels)
    [{'x': 'b', 'y': 'b'}]
    """

    width: int = 4
    order: Order | None = None
    proof: bool = False
    _courses: BeamPlans = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_whole("width", self.width, least=1)
        object.__setattr__(self, "_courses", BeamPlans(self.order))

    def answer(self, problem: Problem, context: Context) -> Solutions:
        course = self._courses.of(problem.space)
        return search_feasible(problem, NO_WEIGHTS, self.width, course, proof=self.proof)


def search_feasible(
    problem: Problem,
    weights: FloatArray,
    width: int,
    course: BeamPlan,
    *,
    proof: bool,
) -> Solutions:
    """Search that obeys, and `Exact` where it comes to nothing."""
    space, shut = problem.space, problem.closed_labels
    width = fitting(width, space, len(problem), course)
    nodes = search_consistently(problem.scores, shut, weights, width, course, space.network.graph)
    labels, is_feasible = first_feasible(space, nodes.labels, nodes.size)
    dead = np.flatnonzero(~is_feasible)
    labels[dead] = -1
    found = bounded(problem, labels, proof=proof)
    if len(dead) == 0:
        return found
    return found.with_rows(dead, Exact().answer(problem.rows(dead), NO_CONTEXT))
