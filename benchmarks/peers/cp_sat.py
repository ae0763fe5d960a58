"""OR-Tools CP-SAT on the same integer program, its rows as clauses where they are clauses.

With p columns of coefficient 1 and q of coefficient -1, a row Σ >= 1 - q says that one of p
columns and q negated ones holds, and with = instead of >= that exactly one does. All rows of
entity-relation spaces and of factors are of these kinds. Reuse: the model stays, its objective
is replaced. CP-SAT wants whole numbers: scores are multiplied by a power of two that keeps any
total below 2**52, and rounded, which moves the value of an output by less than 1e-9. With one
thread it does far better when told to use linear relaxations as much as it can; so it is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from benchmarks.peers.base import Answer, read_labels
from rote import Space
from rote.inference.solvers.integer_program import Program, integer_program
from rote.types import FloatArray

LARGEST_TOTAL = 52  # as a power of two


@dataclass(frozen=True)
class CpSat:
    """A `Peer`."""

    name: str = "CP-SAT"
    package: str = "ortools"

    def open(self, space: Space) -> CpSatSession:
        return CpSatSession(integer_program(space))

    def close(self) -> None:
        """Sessions hold everything."""


class CpSatSession:
    """A `Session`."""

    def __init__(self, program: Program) -> None:
        from ortools.sat.python import cp_model

        self._program = program
        self._model = cp_model.CpModel()
        most = np.minimum(program.most, 1.0).astype(int).tolist()
        self._columns = [self._model.new_int_var(0, top, "") for top in most]
        for r in range(program.rows):
            self._add_row(r)

    def solve(self, scores: FloatArray, limit: float) -> Answer:
        from ortools.sat.python import cp_model

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 2
        solver.parameters.max_time_in_seconds = limit
        start = perf_counter()
        costs = self._program.costs(scores)
        spare = LARGEST_TOTAL - np.ceil(np.log2(np.abs(costs).sum() + 1.0))
        whole = np.rint(np.ldexp(costs, int(spare))).astype(np.int64)
        total = cp_model.LinearExpr.weighted_sum(self._columns, whole.tolist())
        self._model.maximize(total)
        status = solver.solve(self._model)
        labels = None
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            labels = read_labels(self._program, np.array(solver.response_proto.solution))
        return Answer(labels, perf_counter() - start, status == cp_model.OPTIMAL)

    def close(self) -> None:
        """The garbage collector frees everything."""

    def _add_row(self, r: int) -> None:
        from ortools.sat.python import cp_model

        program, model = self._program, self._model
        span = slice(int(program.indptr[r]), int(program.indptr[r + 1]))
        weights = program.data[span].astype(int).tolist()
        columns = [self._columns[c] for c in program.indices[span].tolist()]
        lower, upper = float(program.lower[r]), float(program.upper[r])
        if {abs(weight) for weight in weights} == {1} and lower == 1 - weights.count(-1):
            pairs = zip(columns, weights, strict=True)
            literals = [column if weight > 0 else column.negated() for column, weight in pairs]
            if upper == lower:
                model.add_exactly_one(literals)
                return
            if upper >= weights.count(1):
                model.add_bool_or(literals)
                return
        total = cp_model.LinearExpr.weighted_sum(columns, weights)
        low = int(lower) if np.isfinite(lower) else cp_model.INT32_MIN
        high = int(upper) if np.isfinite(upper) else cp_model.INT32_MAX
        model.add_linear_constraint(total, low, high)
