"""Every variable by itself: exact where nothing joins two of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.inference.engine import Engine
from rote.inference.exact.tables import Refusal, active_tables
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.dp.chains import best_labels
from rote.kernels.outputs import best_by_themselves
from rote.space.space import Space
from rote.types import IntArray, readonly


@dataclass(frozen=True)
class Independent(Engine):
    """Exact for spaces whose variables have nothing to do with each other.

    Optimises Σ_j max_a scores_j(a) over the labels that rules over one variable allow.
    """

    one_pass = True

    def refuses(self, space: Space) -> str | None:
        obstacle = space.once(_obstacle)
        if obstacle is None:
            return None
        return (
            f"Independent decides every variable by itself, but {obstacle.described(space)}; "
            "use Exact"
        )

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        network = space.network
        labels = best_labels(problem.questions, network.offsets, network.allowed)
        return Solutions.of(problem, labels, FoundBy.ARGMAX)


def _obstacle(space: Space) -> Refusal | None:
    if len(space.network.rows):
        return Refusal(None, "joins too many labels for a table")
    joined = active_tables(space.network)
    return Refusal(joined[0][1], "joins variables") if joined else None


def argmax_presolve(problem: Problem) -> tuple[Solutions, IntArray]:
    """Answers that need no search, and the inputs that do, whose answers say nothing.

    Where nothing but labels is scored, and there are no rows, the best labels are the answer if
    they stay inside every table.
    """
    labels, value, easy = best_by_themselves(problem.questions, problem.space.network.masks)
    status = np.full(len(labels), Status.OPTIMAL.value)
    source = np.full(len(labels), FoundBy.ARGMAX.value)
    seen = Solutions(
        readonly(labels), readonly(value), readonly(value), readonly(status), readonly(source)
    )
    return seen, np.flatnonzero(~easy)
