"""`Beam` and `ConstrainedBeam`: variables get labels one by one, the best partial outputs are kept.

A plain beam looks at rules when outputs are complete: the answer is the best output of the last
beam that is feasible, and where none is there is no answer (`Status.TIMED_OUT`). A constrained one
removes labels that rules no longer allow after every step (`rote.kernels.beam.propagation`). Where
it dies all the same, `Exact` is asked: so there is an output for every input that has any, and
proof that the others have none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from rote.errors import SettingError
from rote.inference.approximate.beam_plan import ORDER, BeamPlans, Order
from rote.inference.engine import Engine
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.duals import dual_bound
from rote.inference.exact.exact import Exact
from rote.inference.problem import NO_CONTEXT, Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.beam.beam import BeamPlan, search_beam
from rote.kernels.beam.propagation import search_consistently
from rote.kernels.outputs import best_parts, first_feasible_output
from rote.settings import FLAG, whole
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

Priority = Callable[[Space, IntArray, FloatArray], AnyArray]
NO_WEIGHTS = readonly(np.empty(0))
MAX_BYTES = 1 << 34  # of the beams of one batch


class _Planned(Engine):
    """A plan for each space, in the order that an engine has."""

    order: Order | None
    checks: ClassVar = {"width": whole(1), "order": ORDER, "proof": FLAG}

    @cached_property
    def _plans(self) -> BeamPlans:
        return BeamPlans(self.order)


@dataclass(frozen=True)
class Beam(_Planned):
    """Beam search by scores; an answer may be missing, and is optimal where it meets its bound.

    Parameters
    ----------
    width
        How many partial outputs are kept, at least 1; time and memory grow with it.
    priority
        Ranks partial outputs instead of their scores: it is given the space, labels of shape
        (k, variables) with -1 where there is none yet, and the scores so far. It is called in
        Python, once per step of each input.
    order
        The order in which the variables of a space get labels; None for that of the space.
    proof
        Whether dual ascent bounds the values; slower, and proves more answers optimal.

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

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space, closed, plan = problem.space, problem.closed_labels, self._plans.of(problem.space)
        width = beam_width(self.width, space, len(problem), plan)
        if self.priority is None:
            nodes, _ = search_beam(problem.scores, closed, NO_WEIGHTS, width, np.inf, plan)
            outputs, size = nodes.labels, nodes.size
        else:
            outputs = np.full((len(problem), width, len(space.variables)), -1)
            size = np.zeros(len(problem), dtype=np.int64)
            for i in range(len(problem)):
                beam = self._ranked(space, problem.scores[i], closed[i], plan, width)
                size[i], outputs[i, : len(beam)] = len(beam), beam
        labels, is_feasible = first_feasible(space, outputs, size)
        labels[~is_feasible] = -1
        return bounded(problem, labels, proof=self.proof)

    def _ranked(
        self, space: Space, scores: FloatArray, closed: BoolArray, plan: BeamPlan, width: int
    ) -> IntArray:
        """The last beam of one input, ranked by the priority."""
        assert self.priority is not None
        beam = np.full((1, len(space.variables)), -1)
        for j in plan.order.tolist():
            labels = np.flatnonzero(~closed[space.offsets[j] : space.offsets[j + 1]])
            beam, parents = np.repeat(beam, len(labels), axis=0), len(beam)
            if len(beam) == 0:
                break
            beam[:, j] = np.tile(labels, parents)
            so_far = partial_scores(space, scores, beam)
            ranks = np.asarray(self.priority(space, readonly(beam), so_far), dtype=np.float64)
            if ranks.shape != (len(beam),):
                raise SettingError(
                    f"a priority is one number for each of {len(beam)} partial outputs; got "
                    f"the shape {ranks.shape}"
                )
            beam = beam[np.argsort(-ranks, kind="stable")[:width]]
        return beam


@dataclass(frozen=True)
class ConstrainedBeam(_Planned):
    """As `Beam`, and every answer is feasible.

    Parameters
    ----------
    width, order, proof
        As those of `Beam`.

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

    def answer(self, problem: Problem, context: Context) -> Solutions:
        plan = self._plans.of(problem.space)
        return search_feasible(problem, NO_WEIGHTS, self.width, plan, proof=self.proof)


def search_feasible(
    problem: Problem, weights: FloatArray, width: int, plan: BeamPlan, *, proof: bool
) -> Solutions:
    """Beam search that obeys the rules on the way, and `Exact` where it comes to nothing."""
    space, closed = problem.space, problem.closed_labels
    width = beam_width(width, space, len(problem), plan)
    nodes = search_consistently(problem.scores, closed, weights, width, plan, space.network.graph)
    labels, is_feasible = first_feasible(space, nodes.labels, nodes.size)
    dead = np.flatnonzero(~is_feasible)
    labels[dead] = -1
    found = bounded(problem, labels, proof=proof)
    if len(dead) == 0:
        return found
    return found.with_rows(dead, Exact().answer(problem.rows(dead), NO_CONTEXT))


def beam_width(width: int, space: Space, inputs: int, plan: BeamPlan) -> int:
    """The width of beams: no more than there are outputs, and refused if memory is too small."""
    most = int(min(width, space.outputs))
    labels = int(max(space.sizes, default=0))
    size = 8 * most * (inputs * (len(space.variables) + plan.counters + 2) + 6 * labels)
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
    """Of every beam, of shape (m, width, variables), the first feasible output, or the first."""
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
    """Answers with a bound, by duals or by the best of all parts; labels are -1 where none are."""
    space = problem.space
    if proof:
        bound = dual_bound(space, problem, BranchAndBound().duals(space, problem))
    else:
        bound = best_parts(problem.scores, problem.closed_labels, space.starts).sum(axis=1)
    value = space.known_value(problem.scores, labels)
    reached = value >= bound - problem.ties
    status = np.where(reached, np.int64(Status.OPTIMAL), np.int64(Status.FEASIBLE))
    missing = value == -np.inf
    if missing.any():
        none = bound[missing] == -np.inf
        status[missing] = np.where(none, Status.INFEASIBLE, Status.TIMED_OUT)
    return Solutions.of(problem, labels, FoundBy.BEAM, bound=bound, status=status)
