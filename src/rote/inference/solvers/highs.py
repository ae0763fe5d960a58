"""`Program`s on HiGHS: one relaxation that stays warm, and a fresh model per whole program.

A HiGHS model with whole columns gains nothing from having been solved before, so it is
made anew each time; this also makes its answers independent of earlier inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rote.inference.solutions import Status
from rote.inference.solvers.integer_program import Outcome, Program, status_of
from rote.space.lowering import Rows
from rote.types import FloatArray

if TYPE_CHECKING:
    import highspy

# By the name of the HighsModelStatus. What is missing here is an error of the solver.
PROVED: Mapping[str, Status] = {
    "kOptimal": Status.OPTIMAL,
    "kModelEmpty": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    # Every column is bounded by the rows, so it cannot be the other.
    "kUnboundedOrInfeasible": Status.INFEASIBLE,
}
STOPPED = ("Limit", "Interrupt", "kUnknown")

# Tolerances stay as they come: with a mip_feasibility_tolerance of 1e-10, HiGHS 1.14 calls
# outputs optimal that are not. Scores are scaled instead, see `rote.inference.solvers.milp`.
OPTIONS: Mapping[str, bool | float | str] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "mip_abs_gap": 1e-6,
}


class HighsSession:
    """HiGHS with one program loaded; scores and closed columns change, and rows are added."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._most = program.most
        self._every = np.arange(program.columns, dtype=np.int32)
        self._relaxed = _model(program, np.zeros(program.columns), program.most, whole=False)

    def relaxation(self, costs: FloatArray, most: FloatArray, seconds: float) -> Outcome:
        """The best of all z, whole or not; starts from where the one before ended."""
        model, every = self._relaxed, self._every
        model.changeColsCost(len(every), every, costs)
        if (most != self._most).any():
            model.changeColsBounds(len(every), every, np.zeros(len(every)), most)
            self._most = most
        # HiGHS counts the time of all runs of a model without whole columns together.
        model.setOptionValue("time_limit", model.getRunTime() + seconds)
        status = _run(model)
        if status != Status.OPTIMAL:
            return Outcome(status)
        solution = model.getSolution()
        return Outcome(status, np.array(solution.col_value), np.array(solution.row_dual))

    def whole(
        self, costs: FloatArray, most: FloatArray, offset: float, seconds: float, gap: float
    ) -> Outcome:
        """The best z with whole labels and auxiliary columns, or one within ``gap`` of it.

        Values, and so the outcome's bound and the gap, are c·z + offset.
        """
        model = _model(self.program, costs, np.minimum(most, 1.0), whole=True)
        model.changeObjectiveOffset(offset)
        model.setOptionValue("mip_rel_gap", gap)
        model.setOptionValue("time_limit", seconds)
        status = _run(model)
        if status == Status.INFEASIBLE:
            return Outcome(status, bound=-np.inf)
        info = model.getInfo()
        found = info.primal_solution_status == 2  # kSolutionStatusFeasible
        columns = np.array(model.getSolution().col_value) if found else None
        return Outcome(status, columns, bound=float(info.mip_dual_bound))

    def add(self, rows: Rows) -> None:
        """Rows that hold from now on."""
        self.program = self.program.with_rows(rows)
        starts, columns = (part.astype(np.int32) for part in (rows.indptr[:-1], rows.indices))
        ends = (rows.lower, rows.upper)
        self._relaxed.addRows(len(rows), *ends, len(columns), starts, columns, rows.data)

    def close(self) -> None:
        """Nothing is held that the garbage collector does not free."""


def _model(program: Program, costs: FloatArray, most: FloatArray, *, whole: bool) -> highspy.Highs:
    import highspy

    model = highspy.Highs()
    for name, value in OPTIONS.items():
        model.setOptionValue(name, value)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = program.columns, program.rows
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = costs, np.zeros(program.columns), most
    lp.row_lower_, lp.row_upper_ = program.lower, program.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.indptr.astype(np.int32)
    lp.a_matrix_.index_ = program.indices.astype(np.int32)
    lp.a_matrix_.value_ = program.data
    if whole:
        kinds, rest = highspy.HighsVarType, program.columns - program.integers
        lp.integrality_ = [kinds.kInteger] * program.integers + [kinds.kContinuous] * rest
    model.passModel(lp)
    return model


def _run(model: highspy.Highs) -> Status:
    import highspy

    if model.run() == highspy.HighsStatus.kError:
        # All models of a process share one pool of threads, and HiGHS refuses to run with
        # another number of them: whoever used it first has chosen, so take theirs.
        model.setOptionValue("threads", 0)
        model.run()
    return status_of("HiGHS", model.getModelStatus().name, PROVED, STOPPED)
