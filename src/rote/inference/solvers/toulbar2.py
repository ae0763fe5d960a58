"""`Toulbar2`: exact inference by toulbar2, on the tables and rows of a space's network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rote.inference.exact.tables import once_per_space
from rote.inference.problem import Problem
from rote.inference.solutions import FoundBy
from rote.inference.solvers.child import FORBIDDEN, FREE
from rote.inference.solvers.cp_sat import whole_ends
from rote.inference.solvers.isolated import Isolated, Question, whole_costs
from rote.space.space import Space
from rote.types import AnyArray


@dataclass(frozen=True)
class Toulbar2(Isolated):
    """Branch and bound with soft local consistency: any space, exact, anytime, in its own process.

    Wants the package pytoulbar2. An incumbent of the context is its first upper bound.

    Parameters
    ----------
    time_limit
        Seconds for one input, above 0; None is no limit. When it is hit, the best output found is
        returned as FEASIBLE with the solver's bound, or TIMED_OUT if there is none.
    """

    kind: ClassVar = "toulbar2"
    package: ClassVar = "pytoulbar2"
    source: ClassVar = FoundBy.TOULBAR2

    def question(self, problem: Problem) -> Question:
        network = problem.space.network
        allowed = network.allowed.copy()
        allowed[: problem.space.labels] = ~problem.closed_labels[0]
        counts = np.diff(network.gather_ptr)
        owner = np.repeat(np.arange(len(counts)), counts)
        gathered = problem.scores[0][network.gather]
        scores = np.bincount(owner, gathered, len(counts)).astype(np.float64)
        starts = np.concatenate([network.offsets[:-1], network.table_ptr[:-1]])
        whole = whole_costs(scores, starts, allowed)
        costs = np.where(allowed, whole.costs, FORBIDDEN)
        return Question(_network_arrays(problem.space), whole._replace(costs=costs), {})


@once_per_space
def _network_arrays(space: Space) -> dict[str, AnyArray]:
    network = space.network
    rows, variable = network.rows, network.label_variable[network.rows.indices]
    ends = [whole_ends(rows.lower, FREE), whole_ends(rows.upper, -FREE)]
    return {
        "own": np.array(network.own),
        "sizes": network.sizes,
        "offsets": network.offsets,
        "scope_ptr": network.scope_ptr,
        "scope": network.scope,
        "table_ptr": network.table_ptr,
        "row_ptr": rows.indptr,
        "row_variable": variable,
        "row_label": rows.indices - network.offsets[variable],
        "row_data": rows.data.astype(np.int64),
        "row_ends": np.stack(ends, axis=1),
    }
