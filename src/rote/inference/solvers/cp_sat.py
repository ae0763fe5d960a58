"""`CpSat`: exact inference by OR-Tools' CP-SAT, on the integer program of a space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rote.inference.exact.tables import once_per_space
from rote.inference.problem import Problem
from rote.inference.solutions import FoundBy
from rote.inference.solvers.child import FREE
from rote.inference.solvers.integer_program import integer_program
from rote.inference.solvers.isolated import Isolated, Question, whole_costs
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class CpSat(Isolated):
    """Constraint programming: any space, exact, anytime, in a process of its own.

    Wants the package ortools. An incumbent of the context is given to it as a hint.

    Parameters
    ----------
    time_limit
        Seconds for one input, above 0; None is no limit. When it is hit, the best output found is
        returned as FEASIBLE with the solver's bound, or TIMED_OUT if there is none.
    """

    kind: ClassVar = "cpsat"
    package: ClassVar = "ortools"
    source: ClassVar = FoundBy.CP_SAT

    def question(self, problem: Problem) -> Question:
        space = problem.space
        program = integer_program(space)
        allowed = np.ones(program.columns, dtype=np.bool_)
        allowed[: program.labels] = ~problem.closed_labels[0]
        own = np.arange(program.labels, program.integers)
        starts = np.concatenate([program.offsets[:-1], own, program.table_ptr])
        whole = whole_costs(program.costs(problem.scores[0]), starts, allowed)
        return Question(_program_arrays(space), whole, {"open": allowed})


@once_per_space
def _program_arrays(space: Space) -> dict[str, AnyArray]:
    program = integer_program(space)
    return {
        "offsets": program.offsets,
        "columns": np.array(program.columns),
        "indptr": program.indptr,
        "indices": program.indices,
        "data": program.data.astype(np.int64),
        "lower": whole_ends(program.lower, FREE),
        "upper": whole_ends(program.upper, -FREE),
    }


def whole_ends(ends: FloatArray, free: int) -> IntArray:
    """Ends of rows as whole numbers, ``free`` where there is none."""
    there = np.isfinite(ends)
    return np.where(there, np.where(there, ends, 0.0).astype(np.int64), free)
