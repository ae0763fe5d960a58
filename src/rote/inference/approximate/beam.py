"""`Beam`: variables get labels one after the other, and the best few partial outputs are kept.

Rules are looked at when outputs are whole: the answer is the best output of the last beam that
obeys them. Where none does there is no answer (`Status.TIMED_OUT`); `ConstrainedBeam` obeys on the
way, and `LearnedBeam` learns to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rote.errors import SettingError, check_whole
from rote.inference.approximate.beam_plan import BeamPlans, Order
from rote.inference.engine import Engine
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.duals import dual_bound
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.beam.beam import BeamPlan, search_beam
from rote.kernels.outputs import best_parts, first_feasible_output
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

Priority = Callable[[Space, IntArray, FloatArray], AnyArray]
NO_WEIGHTS = readonly(np.empty(0))
MAX_BYTES = 1 << 34  # of the beams of one batch


@dataclass(frozen=True)
class Beam(Engine):
    """``width`` partial outputs are kept, those that score most.

    A ``priority`` of your own says what partial outputs are worth instead: it is given the space,
    labels of shape (k, variables) with -1 where there is none yet, and their scores so far. It is
    asked in Python, once for each step of each input. ``order`` says for a space in which order its
    variables get labels; as they stand, if it is not given. With ``proof``, dual ascent bounds how
    good outputs can be: an answer that reaches its bound is optimal.

    >>> from rote import Beam, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["b"] >> y["b"])
    >>> space = builder.build()
    >>> found = Beam(width=4).solve(space, space.scores({"x": {"b": 2.0}, "y": {"b": -1.0}}))
    >>> space.decode(found.labels), found.value.tolist()
    ([{'x': 'b', 'y': 'b'}], [1.0])
    """

    width: int = 4
    priority: Priority | None = None
    order: Order | None = None
    proof: bool = False
    _courses: BeamPlans = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_whole("width", self.width, least=1)
        object.__setattr__(self, "_courses", BeamPlans(self.order))

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        shut = problem.closed_labels
        if self.priority is None:
            course = self._courses.of(space)
            width = fitting(self.width, space, len(problem), course)
            nodes, _ = search_beam(problem.scores, shut, NO_WEIGHTS, width, np.inf, course)
            outputs, size = nodes.labels, nodes.size
        else:
            outputs, size = self._slowly(space, problem, shut, self.priority)
        labels, is_feasible = first_feasible(space, outputs, size)
        labels[~is_feasible] = -1
        return bounded(problem, labels, proof=self.proof)

    def _slowly(
        self, space: Space, problem: Problem, shut: BoolArray, priority: Priority
    ) -> tuple[IntArray, IntArray]:
        m, n = len(problem), len(space.variables)
        course = self._courses.of(space)
        order, width = course.order.tolist(), fitting(self.width, space, m, course)
        outputs = np.full((m, width, n), -1)
        size = np.zeros(m, dtype=np.int64)
        for i in range(m):
            beam = np.full((1, n), -1)
            for j in order:
                labels = np.flatnonzero(~shut[i, space.offsets[j] : space.offsets[j + 1]])
                beam, parents = np.repeat(beam, len(labels), axis=0), len(beam)
                if len(beam) == 0:
                    break
                beam[:, j] = np.tile(labels, parents)
                scores = partial_scores(space, problem.scores[i], beam)
                ranks = np.asarray(priority(space, readonly(beam), scores), dtype=np.float64)
                if ranks.shape != (len(beam),):
                    raise SettingError(
                        f"a priority is one number for each of {len(beam)} partial outputs; got "
                        f"the shape {ranks.shape}"
                    )
                beam = beam[np.argsort(-ranks, kind="stable")[:width]]
            size[i] = len(beam)
            outputs[i, : len(beam)] = beam
        return outputs, size


def fitting(width: int, space: Space, inputs: int, course: BeamPlan) -> int:
    """The width of beams: no more than there are outputs, and refused if memory is too small."""
    most = int(min(width, space.outputs))
    labels = int(max(space.sizes, default=0))
    size = 8 * most * (inputs * (len(space.variables) + course.counters + 2) + 6 * labels)
    if size > MAX_BYTES:
        raise SettingError(
            f"width is {width}, and beams of {most} outputs for {inputs} inputs at once take "
            f"{size >> 30} GB, more than {MAX_BYTES >> 30}; take a smaller width, or "
            "fewer inputs at once"
        )
    return most


def partial_scores(space: Space, scores: FloatArray, labels: IntArray) -> FloatArray:
    """What the parts score that lie in partial outputs of shape (k, variables)."""
    found = np.zeros(len(labels))
    for j in range(len(space.variables)):
        there = labels[:, j] >= 0
        found[there] += scores[space.offsets[j] + labels[there, j]]
    for f, factor in enumerate(space.factors):
        own = labels[:, list(factor.variables)]
        there = np.asarray((own >= 0).all(axis=1))
        shape = tuple(space.sizes[list(factor.variables)].tolist())
        place = np.ravel_multi_index(tuple(own[there].T), shape)
        found[there] += scores[space.factor_offsets[f] + place]
    return found


def first_feasible(space: Space, outputs: IntArray, size: IntArray) -> tuple[IntArray, BoolArray]:
    """Of every beam, of shape (m, width, variables), the first output that obeys the rules.

    Where none does, that is the first of all, and it is said so.
    """
    network = space.network
    if network.variables == network.own:
        return first_feasible_output(
            readonly(outputs), readonly(size), network.masks, network.graph.rows
        )
    m, width, n = outputs.shape
    is_feasible = space.holds(np.maximum(outputs, 0).reshape(m * width, n)).reshape(m, width)
    is_feasible &= np.arange(width) < size[:, None]
    return outputs[np.arange(m), is_feasible.argmax(axis=1)], np.asarray(is_feasible.any(axis=1))


def bounded(problem: Problem, labels: IntArray, *, proof: bool) -> Solutions:
    """Answers with a bound: by duals, or that of all parts by themselves.

    Labels are -1 where no output was found.
    """
    space = problem.space
    if proof:
        bound = dual_bound(space, problem, BranchAndBound().duals(space, problem))
    else:
        bound = bound_by_parts(problem)
    value = space.known_value(problem.scores, labels)
    reached = value >= bound - problem.ties
    status = np.where(reached, np.int64(Status.OPTIMAL), np.int64(Status.FEASIBLE))
    missing = value == -np.inf
    if missing.any():
        none = bound[missing] == -np.inf
        status[missing] = np.where(none, Status.INFEASIBLE, Status.TIMED_OUT)
    return Solutions.of(problem, labels, FoundBy.BEAM, bound=bound, status=status)


def bound_by_parts(problem: Problem) -> FloatArray:
    """The best open label of every variable and the best tuple of every factor, whatever fits."""
    best = best_parts(problem.scores, problem.closed_labels, problem.space.starts)
    found: FloatArray = best.sum(axis=1)
    return found
