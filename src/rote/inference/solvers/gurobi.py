"""`Program`s on Gurobi: a relaxation and a whole model, both reused from input to input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rote.errors import MissingDependency, UnsupportedSpace
from rote.inference.solutions import Status
from rote.inference.solvers.integer_program import Outcome, Program, status_of
from rote.space.lowering import Rows
from rote.types import FloatArray

if TYPE_CHECKING:
    import gurobipy

# By the name in gurobipy.GRB.Status. What is missing here is an error of the solver.
PROVED: Mapping[str, Status] = {
    "OPTIMAL": Status.OPTIMAL,
    "INFEASIBLE": Status.INFEASIBLE,
    # Every column is bounded by the rows, so it cannot be the other.
    "INF_OR_UNBD": Status.INFEASIBLE,
}
STOPPED = ("_LIMIT", "INTERRUPTED", "NUMERIC", "SUBOPTIMAL")
PARAMETERS: Mapping[str, float] = {
    "OutputFlag": 0,
    "Threads": 1,
    "FeasibilityTol": 1e-9,
    "IntFeasTol": 1e-9,
    "MIPGapAbs": 1e-6,
}


class GurobiSession:
    """Gurobi with one program loaded; its methods are those of `HighsSession`."""

    def __init__(self, program: Program) -> None:
        try:
            import gurobipy
        except ImportError as error:
            raise MissingDependency(
                "Milp(solver='gurobi') needs the package gurobipy, which is not installed; "
                "run: pip install '.[gurobi]' in a checkout of rote, or use Milp(solver='highs')"
            ) from error
        self.program = program
        with _licensed(program):
            self._environment = gurobipy.Env(params=dict(PARAMETERS))
            self._relaxed = _Model(program, self._environment, whole=False)
        self._whole: _Model | None = None

    def relaxation(self, costs: FloatArray, most: FloatArray, seconds: float) -> Outcome:
        model = self._relaxed
        with _licensed(self.program):
            status = model.run(costs, most, seconds)
        if status != Status.OPTIMAL:
            return Outcome(status)
        return Outcome(status, model.values(), model.duals())

    def whole(
        self, costs: FloatArray, most: FloatArray, offset: float, seconds: float, gap: float
    ) -> Outcome:
        with _licensed(self.program):
            if self._whole is None:
                self._whole = _Model(self.program, self._environment, whole=True)
            model = self._whole
            model.model.ObjCon = offset
            model.model.Params.MIPGap = gap
            status = model.run(costs, np.minimum(most, 1.0), seconds)
        if status == Status.INFEASIBLE:
            return Outcome(status, bound=-np.inf)
        columns = model.values() if model.model.SolCount else None
        return Outcome(status, columns, bound=float(model.model.ObjBound))

    def add(self, rows: Rows) -> None:
        """Rows that hold from now on."""
        self.program = self.program.with_rows(rows)
        with _licensed(self.program):
            for model in (self._relaxed, self._whole):
                if model is not None:
                    model.model.dispose()
            self._relaxed = _Model(self.program, self._environment, whole=False)
        self._whole = None

    def close(self) -> None:
        """Give the licence back."""
        self._relaxed.model.dispose()
        if self._whole is not None:
            self._whole.model.dispose()
        self._environment.dispose()


class _Model:
    """A gurobipy model and its columns; a row with two ends is two rows of Gurobi's."""

    def __init__(self, program: Program, environment: gurobipy.Env, *, whole: bool) -> None:
        import gurobipy
        from scipy.sparse import csr_array

        self.model = gurobipy.Model(env=environment)
        self.model.ModelSense = gurobipy.GRB.MAXIMIZE
        self.columns = self.model.addMVar(program.columns, lb=0.0, ub=program.most)
        if whole:
            self.columns[: program.integers].VType = gurobipy.GRB.BINARY
        rows, senses, ends = [], [], []
        for r, (low, up) in enumerate(zip(program.lower, program.upper, strict=True)):
            for sense, end in (("=", low),) if low == up else ((">", low), ("<", up)):
                if np.isfinite(end):
                    rows.append(r)
                    senses.append(sense)
                    ends.append(end)
        shape = program.rows, program.columns
        matrix = csr_array((program.data, program.indices, program.indptr), shape=shape)
        self._row_of = np.array(rows, dtype=np.int64)
        self.model.addMConstr(matrix[self._row_of], self.columns, np.array(senses), np.array(ends))
        self.model.update()
        self._constraints = self.model.getConstrs()
        self._rows = program.rows
        self._most = program.most

    def run(self, costs: FloatArray, most: FloatArray, seconds: float) -> Status:
        import gurobipy

        self.columns.setAttr("Obj", costs)
        if (most != self._most).any():
            self.columns.setAttr("UB", most)
            self._most = most
        self.model.Params.TimeLimit = seconds
        self.model.optimize()
        names = {code: name for name, code in vars(type(gurobipy.GRB.Status)).items()}
        return status_of("Gurobi", names[self.model.Status], PROVED, STOPPED)

    def values(self) -> FloatArray:
        return np.asarray(self.columns.getAttr("X"), dtype=np.float64)

    def duals(self) -> FloatArray:
        values = np.array(self.model.getAttr("Pi", self._constraints), dtype=np.float64)
        return np.bincount(self._row_of, values, self._rows).astype(np.float64)


@contextmanager
def _licensed(program: Program) -> Iterator[None]:
    """Say in our words what a licence does not allow."""
    import gurobipy

    try:
        yield
    except gurobipy.GurobiError as error:
        sentences = {
            gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED: (
                f"this space has {program.columns} columns and {program.rows} rows, more than "
                "the Gurobi licence found here allows (the trial licence of the package stops at "
                "2000 of each); install a full licence"
            ),
            gurobipy.GRB.Error.NO_LICENSE: (
                f"Gurobi found no valid licence ({error}); install one (gurobi.com has free "
                "academic ones)"
            ),
        }
        if error.errno not in sentences:
            raise
        sentence = sentences[error.errno]
        raise UnsupportedSpace(f"{sentence}, or use Milp(solver='highs')") from error
