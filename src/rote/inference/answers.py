"""From labels to `Solutions` and back: values, statuses, and an error where there is no output.

Values are added up by one function for all engines, so that equal labels have equal values
to the last bit.
"""

from __future__ import annotations

import numpy as np

from rote.errors import InfeasibleSpace, NoOutput, say_about
from rote.inference.base import Objective, Solutions, Source, Status
from rote.inference.infeasibility import find_conflict
from rote.kernels.outputs import best_by_themselves
from rote.space.space import Space
from rote.types import FloatArray, IntArray, frozen


def answered(
    space: Space,
    objective: Objective,
    labels: IntArray,
    source: Source,
    *,
    bound: FloatArray | None = None,
    status: IntArray | None = None,
) -> Solutions:
    """`Solutions` for labels; a row of -1 has none and is infeasible.

    Raises `InfeasibleSpace` when the space itself, with no label closed, has no output.
    """
    value = objective.worth(space, labels)
    missing = value.min(initial=0.0) == -np.inf
    if status is None:
        status = np.zeros(len(labels), dtype=np.int64)  # OPTIMAL
        if missing:
            status[value == -np.inf] = Status.INFEASIBLE
    if missing and objective.allowed is None and (status == Status.INFEASIBLE).any():
        raise InfeasibleSpace([rule.name for rule in find_conflict(space)])
    if bound is None:
        bound = value
    else:
        bound = np.where(status == Status.OPTIMAL, value, np.maximum(bound, value))
    return Solutions(
        frozen(labels),
        frozen(value),
        frozen(bound),
        frozen(status),
        frozen(np.full(len(labels), source.value)),
    )


def found(solutions: Solutions, what: str = "input", numbers: IntArray | None = None) -> IntArray:
    """The labels of answers all of which have an output; `NoOutput` says whose has none.

    It is called by its place among the answers, or by the number that it has there.
    """
    # Often there is one answer, whose status is quicker in a list.
    if max(solutions.status.tolist(), default=0) > Status.FEASIBLE:
        raise _missing(solutions, what, numbers)
    return solutions.labels


ADVICE = {
    Source.GREEDY: "raise restarts, or use Exact",
    Source.BEAM: "widen the beam, or use ConstrainedBeam or Exact",
}


def _missing(solutions: Solutions, what: str, numbers: IntArray | None) -> NoOutput:
    place = int(np.argmax(solutions.status > Status.FEASIBLE))
    advice = "relax a rule, or open a label"
    if solutions.status[place] == Status.TIMED_OUT:
        advice = ADVICE.get(Source(int(solutions.source[place])), "raise the limit of the engine")
    error = NoOutput(f"{solutions.proof(place)}; {advice}")
    say_about(error, what, place if numbers is None else int(numbers[place]))
    return error


def at_sight(space: Space, objective: Objective) -> tuple[Solutions, IntArray]:
    """Answers that need no search, and the inputs that do, whose answers say nothing.

    Where nothing but labels is scored, and there are no rows, the best labels are the answer if
    they stay inside every table.
    """
    labels, value, easy = best_by_themselves(objective.questions, space.network.masks)
    status = np.full(len(labels), Status.OPTIMAL.value)
    source = np.full(len(labels), Source.ARGMAX.value)
    seen = Solutions(frozen(labels), frozen(value), frozen(value), frozen(status), frozen(source))
    return seen, np.flatnonzero(~easy)
