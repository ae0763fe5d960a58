"""The dual bound, by its formula over dense arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.inference.problem import Problem
from rote.kernels.bundles import DualRows, SparseRows
from rote.kernels.dual.bounds import dual_bounds
from rote.types import readonly
from tests.kernels.bodies import networks
from tests.strategies import Judge, problems_of, row_of


def formula(space, net, scores, allowed, messages, multipliers):
    """g(λ, u) of one input, term by term as in the documentation of rote.inference.exact.duals."""
    rows = space.rows
    matrix = np.zeros((len(rows), rows.columns))
    for r in range(len(rows)):
        span = slice(rows.indptr[r], rows.indptr[r + 1])
        matrix[r, rows.indices[span]] = rows.data[span]
    ends = np.where(multipliers > 0, rows.upper, rows.lower)
    used = multipliers != 0
    total = float(multipliers[used] @ ends[used])
    column = -(matrix.T @ multipliers)
    column[: space.labels] += scores[: space.labels]
    tables = net.tables()
    place = 0
    rest = 0.0
    is_open = net.allowed[: space.labels] & (True if allowed is None else allowed)
    for table in tables:
        values = np.where(table.allowed, 0.0, -np.inf)
        for source in table.sources:
            values = values + scores[source]
        for axis, j in enumerate(table.scope):
            first = int(net.message_ptr[place])
            own = slice(int(net.offsets[j]), int(net.offsets[j + 1]))
            sent = messages[first : first + table.allowed.shape[axis]]
            column[own] += sent
            shape = [-1 if k == axis else 1 for k in range(len(table.scope))]
            values = values - sent.reshape(shape)
            values = np.where(is_open[own].reshape(shape), values, -np.inf)
            place += 1
        rest += values.max()
    for j in range(len(space.variables)):
        own = slice(int(space.offsets[j]), int(space.offsets[j + 1]))
        total += np.where(is_open[own], column[own], -np.inf).max()
    return total + np.maximum(column[space.labels :], 0.0).sum() + rest


@given(st.data())
def test_the_bound_is_what_the_formula_says(data):
    space, net = data.draw(networks())
    objective = Problem.of(space, data.draw(problems_of(space)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    m = len(objective)
    messages = rng.normal(size=(m, int(net.message_ptr[-1])))
    multipliers = rng.normal(size=(m, len(space.rows)))
    multipliers[(multipliers > 0) & np.isinf(space.rows.upper)] = 0.0
    multipliers[(multipliers < 0) & np.isinf(space.rows.lower)] = 0.0
    rows = space.rows
    bounds = dual_bounds(
        objective.questions,
        DualRows(readonly(messages), readonly(multipliers)),
        net.graph,
        SparseRows(
            rows.indptr,
            rows.indices,
            rows.data,
            rows.lower,
            rows.upper,
            rows.labels,
            rows.auxiliary,
        ),
        net.own,
    )
    judge = Judge(space)
    for i in range(m):
        scores, allowed = row_of(objective, i)
        scale = 1e-9 * (1.0 + np.abs(scores).max(initial=0.0))
        expected = formula(space, net, scores, allowed, messages[i], multipliers[i])
        assert bounds[i] == pytest.approx(expected, abs=scale)
        best = judge.best(scores, allowed)
        assert best is None or bounds[i] >= best.value - scale
