"""HiGHS on the same integer program as Gurobi, without rote around it.

Two rows: a model passed anew for each problem, and one model whose costs are changed, which
is all the reuse that HiGHS has for programs with whole columns. Passing the model is part of
the time where it is passed anew. No gap is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.peers.base import Answer, read_labels
from rote import Space
from rote.inference.solvers.integer_program import Program, integer_program
from rote.types import FloatArray

OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
}


@dataclass(frozen=True)
class Highs:
    """A `Peer`."""

    reuse: bool
    package: str = "highspy"

    @property
    def name(self) -> str:
        return "HiGHS, reused" if self.reuse else "HiGHS, fresh"

    def open(self, space: Space) -> HighsSession:
        return HighsSession(integer_program(space), reuse=self.reuse)

    def close(self) -> None:
        """Sessions hold everything."""


class HighsSession:
    """A `Session`."""

    def __init__(self, program: Program, *, reuse: bool) -> None:
        self._program = program
        self._every = np.arange(program.columns, dtype=np.int32)
        self._lp = _lp(program)
        self._model: Any = self._passed() if reuse else None

    def solve(self, scores: FloatArray, limit: float) -> Answer:
        import highspy

        start = perf_counter()
        costs = self._program.costs(scores)
        if self._model is None:
            self._lp.col_cost_ = costs
            model = self._passed()
        else:
            model = self._model
            model.changeColsCost(len(costs), self._every, costs)
        model.setOptionValue("time_limit", limit)
        model.run()
        found = (
            model.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        )
        columns = np.array(model.getSolution().col_value) if found else None
        labels = None if columns is None else read_labels(self._program, columns)
        proved = model.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return Answer(labels, perf_counter() - start, proved)

    def close(self) -> None:
        """The garbage collector frees everything."""

    def _passed(self) -> Any:
        import highspy

        model = highspy.Highs()
        for name, value in OPTIONS.items():
            model.setOptionValue(name, value)
        model.passModel(self._lp)
        return model


def _lp(program: Program) -> Any:
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = program.columns, program.rows
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = np.zeros(program.columns)
    lp.col_lower_, lp.col_upper_ = np.zeros(program.columns), np.minimum(program.most, 1.0)
    lp.row_lower_, lp.row_upper_ = program.lower, program.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.indptr.astype(np.int32)
    lp.a_matrix_.index_ = program.indices.astype(np.int32)
    lp.a_matrix_.value_ = program.data
    whole, rest = program.integers, program.columns - program.integers
    kinds = highspy.HighsVarType
    lp.integrality_ = [kinds.kInteger] * whole + [kinds.kContinuous] * rest
    return lp
