"""A space as an integer program, and what dual values prove about it.

    maximise c·z   subject to   lower <= A z <= upper,   0 <= z <= most

Columns: every label of the space, then the auxiliary columns of ``space.rows``, then
every allowed entry of every table of ``space.network`` that has scores. Rows:

1. per variable j: Σ_a z_ja = 1;
2. the rules, ``space.rows``. Tables without scores need no columns: their rules are here;
3. per table f, variable j of f and label a: Σ_{t: t_j = a} z_ft - z_ja = 0.

Only labels and auxiliary columns must be whole. Where the labels are, rows 3 leave each
table the one entry that agrees with them.

The dual value of a row 3 is the message λ_fj(a) of `rote.inference.exact.duals`, and that of a
row 2 is the multiplier u_r.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rote.errors import SolverError, UnsupportedSpace
from rote.inference.exact.tables import once_per_space
from rote.inference.problem import Problem
from rote.inference.solutions import Status
from rote.space.lowering import Rows
from rote.space.network import Network
from rote.space.space import Space
from rote.types import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    joined,
    offsets_from_counts,
    readonly,
)

WHOLE = 1e-6  # how far from a whole number a column may be
# Where the coefficients of a rule add up to more, that much of each column adds up to half of a
# whole number: solvers then take outputs that break the rule, and miss others that obey it.
SAFE = 0.5 / WHOLE


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a solver says of one integer program or of its relaxation."""

    status: Status  # OPTIMAL (within the gap asked for), INFEASIBLE, or TIMED_OUT: stopped early
    columns: FloatArray | None = None  # the best found, if any
    duals: FloatArray | None = None  # per row; of a solved relaxation
    bound: float = np.inf  # an upper bound on the value of every solution


def status_of(
    solver: str, ended: str, proved: Mapping[str, Status], stopped: tuple[str, ...]
) -> Status:
    """What a solver's word for its end means: a proof, or by its last letters an early stop."""
    if ended in proved:
        return proved[ended]
    if ended.endswith(stopped):
        return Status.TIMED_OUT
    raise UnsupportedSpace(
        f"{solver} stopped with {ended}; check that the scores are of moderate size, or try the "
        "other solver of Milp, or another engine"
    )


def check_outputs(solver: str, problem: Problem, labels: IntArray) -> None:
    """Refuse outputs that break a rule as it is written, or have a label that is closed."""
    rows = np.flatnonzero(labels.min(axis=1, initial=0) >= 0)
    space = problem.space
    known = (labels[rows] < space.sizes).all(axis=1)
    rows = rows[known]
    right = space.holds(labels[rows])
    if problem.closed is not None:
        right &= ~np.take_along_axis(
            problem.closed[rows], space.offsets[:-1] + labels[rows], axis=1
        ).any(axis=1)
    if not known.all():
        raise SolverError(f"{solver} returned a label that there is not; use another engine")
    if not right.all():
        broken = space.broken(labels[rows[np.argmin(right)]])
        what = f"the rule {broken[0].name!r}" if broken else "a label that is closed"
        raise SolverError(
            f"{solver} returned an output against {what}: this is an error of the solver; use "
            "another engine, such as BranchAndBound()"
        )


@dataclass(frozen=True, eq=False)
class Proof:
    """What dual values prove about every output.

    None has a value above ``bound``, and none that takes label a of variable j one above
    ``bound - slack[ja]``.
    """

    bound: float
    slack: FloatArray  # per label; inf where closed


@dataclass(frozen=True, eq=False)
class Program:
    """See the module's docstring. Rows are stored sparse, as in `rote.space.lowering.Rows`."""

    offsets: IntArray  # where each variable's labels start; one more entry ends the last
    integers: int  # labels and auxiliary columns, which come first
    indptr: IntArray
    indices: IntArray
    data: FloatArray
    lower: FloatArray
    upper: FloatArray
    allowed: BoolArray  # per label: not taken out of its domain by the rules
    most: FloatArray  # per column, when no label is closed
    rule_rows: slice
    message_rows: slice
    message_at: IntArray  # where each message row's λ stands in `Duals.messages`
    gather_ptr: IntArray  # per entry column: the parts whose scores it adds up
    gather: IntArray
    table_ptr: IntArray  # per table with columns: its first one

    @property
    def labels(self) -> int:
        return int(self.offsets[-1])

    @property
    def columns(self) -> int:
        return len(self.most)

    @property
    def rows(self) -> int:
        return len(self.lower)

    def with_rows(self, rows: Rows) -> Program:
        """The same with more rows over labels."""
        ends = [(self.lower, rows.lower), (self.upper, rows.upper), (self.data, rows.data)]
        lower, upper, data = (readonly(np.concatenate(both)) for both in ends)
        return replace(
            self,
            indptr=readonly(np.append(self.indptr, rows.indptr[1:] + self.indptr[-1])),
            indices=readonly(np.append(self.indices, rows.indices)),
            data=data,
            lower=lower,
            upper=upper,
        )

    def costs(self, scores: FloatArray) -> FloatArray:
        """c for one input's part scores."""
        costs = np.zeros(self.columns)
        costs[: self.labels] = scores[: self.labels]
        if len(self.gather):
            costs[self.integers :] = np.add.reduceat(scores[self.gather], self.gather_ptr)
        return costs

    def limits(self, open_labels: BoolArray) -> FloatArray:
        """``most`` with only these labels open."""
        most = self.most.copy()
        most[: self.labels][~open_labels] = 0.0
        return most

    def read(self, columns: FloatArray) -> IntArray | None:
        """The labels, if every variable has one whole label; else None."""
        shares = columns[: self.labels]
        taken = shares > 0.5
        if (np.abs(shares - taken) > WHOLE).any():
            return None
        return np.flatnonzero(taken) - self.offsets[:-1]

    def chosen(self, labels: IntArray) -> IntArray:
        """The label columns that an output sets to 1."""
        return self.offsets[:-1] + labels

    def spread(self, per_variable: AnyArray) -> AnyArray:
        """One value per variable, repeated for each of its labels."""
        return np.repeat(per_variable, np.diff(self.offsets))

    def admissible(self, duals: FloatArray) -> FloatArray:
        """Dual values with 0 where a solver's tolerance let one push against an open end."""
        return np.where(np.isfinite(np.where(duals > 0, self.upper, self.lower)), duals, 0.0)

    def proof(self, costs: FloatArray, open_labels: BoolArray, duals: FloatArray) -> Proof:
        """The bound g of `rote.inference.exact.duals`, and how far below it each label stays.

        Let d = c - Aᵀy over rows 2 and 3 with admissible duals y. Any output z has
        c·z = y·Az + d·z, and d·z is at most d at its label, for each variable, plus
        max(0, d_k), for each auxiliary column, plus max_t d_ft, for each table. So an
        output has a value of at most g, and at most g - (max_b d_jb - d_ja) if it takes label a
        of variable j. This holds for any y whatever: no tolerance of a solver enters.
        """
        y = self.admissible(duals)
        y[: self.rule_rows.start] = 0.0
        reduced = costs - np.bincount(self.indices, y[self._row] * self.data, self.columns)
        ends = np.where(y > 0, self.upper, self.lower)
        bound = float(y @ np.where(y == 0, 0.0, ends))
        bound += float(np.maximum(reduced[self.labels : self.integers], 0.0).sum())
        if len(self.table_ptr):
            bound += float(np.maximum.reduceat(reduced, self.table_ptr).sum())
        own = np.where(open_labels, reduced[: self.labels], -np.inf)
        top = np.maximum.reduceat(own, self.offsets[:-1])
        bound += float(top.sum())
        if bound == -np.inf:
            return Proof(bound, np.full(self.labels, np.inf))
        return Proof(bound, self.spread(top) - own)

    @cached_property
    def trusted(self) -> bool:
        """Whether a solver's tolerance is too small to break a rule, or to miss an output."""
        return bool((np.bincount(self._row, np.abs(self.data), self.rows) <= SAFE).all())

    @cached_property
    def _row(self) -> IntArray:
        """The row of each stored coefficient."""
        return np.repeat(np.arange(self.rows), np.diff(self.indptr))


@once_per_space
def integer_program(space: Space) -> Program:
    """The program of a space, compiled once."""
    network, rules = space.network, space.rows
    n, labels = len(space.variables), space.labels
    scored = np.flatnonzero(np.diff(network.gather_ptr[network.table_ptr])).tolist()
    places = [k for b in scored for k in _places(network, b)]
    message_at = joined(np.arange(*network.message_ptr[k : k + 2]) for k in places)
    first_row = n + len(rules)
    row_of = np.full(int(network.message_ptr[-1]), -1, dtype=np.int64)
    row_of[message_at] = first_row + np.arange(len(message_at))

    # Rows 3 as (row, column, coefficient): the label first, then the entries that have it.
    label_at = joined(np.arange(*network.offsets[j : j + 2]) for j in network.scope[places])
    at_rows, at_columns = [row_of[message_at]], [label_at]
    kept: list[IntArray] = []
    starts: list[int] = []
    column = labels + rules.auxiliary
    for b in scored:
        first, last = int(network.table_ptr[b]), int(network.table_ptr[b + 1])
        codes = np.flatnonzero(network.allowed[first:last])
        if len(codes):
            starts.append(column)
        for k in _places(network, b):
            label = codes // network.strides[k] % network.sizes[network.scope[k]]
            at_rows.append(row_of[network.message_ptr[k] + label])
            at_columns.append(column + np.arange(len(codes)))
        kept.append(first + codes)
        column += len(codes)
    rows = joined(at_rows)
    coefficients = np.where(np.arange(len(rows)) < len(label_at), -1.0, 1.0)
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows - first_row, minlength=len(message_at))
    entries = joined(kept)
    gathers = np.diff(network.gather_ptr)[entries]
    gather_ptr = offsets_from_counts(gathers)
    gather_at = np.repeat(network.gather_ptr[entries] - gather_ptr[:-1], gathers)
    per_row = joined([np.diff(space.offsets), np.diff(rules.indptr), counts])

    allowed = network.allowed[:labels]
    # Rows 1 and 3 keep labels and entries below 1; saying it twice slows the simplex down.
    most = np.full(column, np.inf)
    most[:labels][~allowed] = 0.0
    most[labels : labels + rules.auxiliary] = 1.0
    return Program(
        offsets=space.offsets,
        integers=labels + rules.auxiliary,
        indptr=readonly(offsets_from_counts(per_row)),
        indices=readonly(joined([np.arange(labels), rules.indices, joined(at_columns)[order]])),
        data=readonly(np.concatenate([np.ones(labels), rules.data, coefficients[order]])),
        lower=readonly(np.concatenate([np.ones(n), rules.lower, np.zeros(len(message_at))])),
        upper=readonly(np.concatenate([np.ones(n), rules.upper, np.zeros(len(message_at))])),
        allowed=readonly(allowed),
        most=readonly(most),
        rule_rows=slice(n, first_row),
        message_rows=slice(first_row, first_row + len(message_at)),
        message_at=readonly(message_at),
        gather_ptr=readonly(gather_ptr[:-1]),
        gather=readonly(network.gather[gather_at + np.arange(len(gather_at))]),
        table_ptr=readonly(np.array(starts, dtype=np.int64)),
    )


def _places(network: Network, block: int) -> range:
    return range(int(network.scope_ptr[block]), int(network.scope_ptr[block + 1]))
