"""Gurobi on the integer program of `rote.inference.solvers.integer_program`, without rote.

The program is tight: argument rules are added up per entity type, and factors have
marginalisation rows. Reuse: the model stays, and each problem only changes its objective, so
Gurobi starts from the last problem's solution. Optimal means optimal: no gap is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.peers.base import Answer, Unfit, read_labels
from rote import Space
from rote.inference.solvers.integer_program import Program, integer_program
from rote.types import FloatArray

PARAMETERS = {"OutputFlag": 0, "Threads": 1, "MIPGap": 0.0, "MIPGapAbs": 0.0}


@dataclass(frozen=True)
class Gurobi:
    """A `Peer`."""

    name: str = "Gurobi"
    package: str = "gurobipy"

    def open(self, space: Space) -> GurobiSession:
        return GurobiSession(integer_program(space))

    def close(self) -> None:
        """Sessions hold everything."""


class GurobiSession:
    """A `Session`."""

    def __init__(self, program: Program) -> None:
        import gurobipy

        self._program = program
        self._environment = gurobipy.Env(params=PARAMETERS)
        self._model = gurobipy.Model(env=self._environment)
        self._model.ModelSense = gurobipy.GRB.MAXIMIZE
        most = np.minimum(program.most, 1.0)
        self._columns = self._model.addMVar(program.columns, lb=0.0, ub=most)
        self._columns[: program.integers].VType = gurobipy.GRB.BINARY
        self._columns.setAttr("UB", most)
        single = self._columns.tolist()
        for r in range(program.rows):
            span = slice(int(program.indptr[r]), int(program.indptr[r + 1]))
            picked = [single[c] for c in program.indices[span].tolist()]
            total = gurobipy.LinExpr(program.data[span].tolist(), picked)
            lower, upper = float(program.lower[r]), float(program.upper[r])
            if lower == upper:
                self._model.addLConstr(total, "=", lower)
                continue
            if np.isfinite(lower):
                self._model.addLConstr(total, ">", lower)
            if np.isfinite(upper):
                self._model.addLConstr(total, "<", upper)
        self._model.update()

    def solve(self, scores: FloatArray, limit: float) -> Answer:
        import gurobipy

        if limit != self._model.Params.TimeLimit:
            self._model.Params.TimeLimit = limit
        start = perf_counter()
        self._columns.setAttr("Obj", self._program.costs(scores))
        try:
            self._model.optimize()
        except gurobipy.GurobiError as error:
            raise _unfit(error) from error
        found: Any = self._columns.getAttr("X") if self._model.SolCount else None
        labels = None if found is None else read_labels(self._program, found)
        proved = self._model.Status == gurobipy.GRB.OPTIMAL
        return Answer(labels, perf_counter() - start, proved)

    def close(self) -> None:
        self._model.dispose()
        self._environment.dispose()


def _unfit(error: Exception) -> Exception:
    import gurobipy

    code = getattr(error, "errno", None)
    if code == gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED:
        return Unfit("does not fit the trial licence")
    if code == gurobipy.GRB.Error.NO_LICENSE:
        return Unfit("found no licence")
    return error
