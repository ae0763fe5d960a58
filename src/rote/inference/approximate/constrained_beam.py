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
    first_to_obey,
    fitting,
)
from rote.inference.approximate.beam_plan import Courses, Order
from rote.inference.base import Objective, Solutions, as_objective
from rote.inference.exact.exact import Exact
from rote.kernels.beam.beam import Course
from rote.kernels.beam.propagation import search_consistently
from rote.space.space import Space
from rote.types import AnyArray, FloatArray


@dataclass(frozen=True)
class ConstrainedBeam:
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
    _courses: Courses = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_whole("width", self.width, least=1)
        object.__setattr__(self, "_courses", Courses(self.order))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return ConstrainedBeam, (self.width, self.order, self.proof)

    def solve(self, space: Space, objective: Objective | AnyArray) -> Solutions:
        objective = as_objective(space, objective)
        return obedient(
            space, objective, NO_WEIGHTS, self.width, self._courses.of(space), proof=self.proof
        )


def obedient(
    space: Space,
    objective: Objective,
    weights: FloatArray,
    width: int,
    course: Course,
    *,
    proof: bool,
) -> Solutions:
    """Search that obeys, and `Exact` where it comes to nothing."""
    graph = space.network.graph
    shut = objective.closed_labels(space)
    width = fitting(width, space, len(objective), course)
    nodes = search_consistently(objective.scores, shut, weights, width, course, graph)
    labels, obeys = first_to_obey(space, nodes.labels, nodes.size)
    dead = np.flatnonzero(~obeys)
    labels[dead] = -1
    found = bounded(space, objective, labels, proof=proof)
    if len(dead) == 0:
        return found
    return found.with_rows(dead, Exact().solve(space, objective.rows(dead)))
