"""Every variable by itself: exact where nothing joins two of them."""

from __future__ import annotations

from dataclasses import dataclass

from rote.inference.exact.tables import LONG_RULE, Planned, Refusal, active_tables
from rote.inference.problem import Problem
from rote.inference.solutions import FoundBy, Solutions
from rote.kernels.dp.chains import best_labels
from rote.kernels.outputs import best_by_themselves
from rote.space.network import Network
from rote.space.space import Space
from rote.types import IntArray


@dataclass(frozen=True)
class Independent(Planned):
    """Exact for spaces whose variables have nothing to do with each other.

    Optimises Σ_j max_a scores_j(a) over the labels that rules over one variable allow.
    """

    one_pass = True
    source = FoundBy.ARGMAX
    takes = "decides every variable by itself"

    def plan(self, space: Space) -> Network | Refusal:
        return space.once(_plan)

    def best(self, problem: Problem, plan: Network) -> IntArray:
        return best_labels(problem.questions, plan.offsets, plan.allowed)


def _plan(space: Space) -> Network | Refusal:
    if len(space.network.rows):
        return LONG_RULE
    joined = active_tables(space.network)
    return Refusal(joined[0][1], "joins variables") if joined else space.network


def argmax_presolve(problem: Problem) -> tuple[Solutions | None, IntArray]:
    """Answers that need no search, and the inputs that do, whose answers say nothing.

    Where nothing but labels is scored, and there are no rows, the best labels are the answer if
    they stay inside every table. Where all inputs need a search there are no answers.
    """
    labels, easy = best_by_themselves(problem.questions, problem.space.network.masks)
    (hard,) = (~easy).nonzero()
    if 0 < len(hard) == len(problem):
        return None, hard
    return Solutions.of(problem, labels, FoundBy.ARGMAX), hard
