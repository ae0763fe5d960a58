"""Dual ascent: no output's value changes, the bound never rises, rows are met where it is least."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.dual.ascent import (
    apply_duals,
    ascend,
    sweep,
    visit_row,
)
from tests.kernels import bodies
from tests.kernels.bodies import ascent_of, asked, networks, random_duals, scores_of

seeds = st.integers(0, 2**32 - 1)


def prepared(found, seed, duals=True):
    """A network, and dual ascent on it."""
    space, net = found
    graph = net.graph
    rng = np.random.default_rng(seed)
    theta = bodies.loaded(graph, scores_of(space, seed))
    messages, multipliers = random_duals(graph, rng)
    if not duals:
        messages, multipliers = 0 * messages, 0 * multipliers
    ascent = ascent_of(graph, theta, messages, multipliers)
    apply_duals(graph, ascent)
    return graph, ascent


def same_worth(graph, before, after, *multipliers):
    """The values of all feasible labellings, before and after, are the same."""
    for labels in bodies.feasible(graph, before):
        was = bodies.worth_of(graph, before, multipliers[0], labels)
        now = bodies.worth_of(graph, after, multipliers[-1], labels)
        assert now == pytest.approx(was, abs=1e-9)


@given(networks(least=1), seeds)
def test_duals_change_the_value_of_no_output(found, seed):
    space, _net = found
    graph, ascent = prepared(found, seed)
    theta, multipliers = ascent.theta, ascent.multipliers
    before = bodies.loaded(graph, scores_of(space, seed))
    same_worth(graph, before, theta, 0 * multipliers, multipliers)


@given(networks(least=1), seeds, st.booleans())
def test_a_sweep_changes_no_value_and_never_raises_the_bound(found, seed, settling):
    space, _ = found
    graph, ascent = prepared(found, seed)
    theta, multipliers = ascent.theta, ascent.multipliers
    for _ in range(3):
        before, was = theta.copy(), multipliers.copy()
        sweep(graph, ascent, settling)
        same_worth(graph, before, theta, was, multipliers)
        lower = bodies.bound_of(graph, theta, multipliers)
        assert lower <= bodies.bound_of(graph, before, was) + 1e-9
        for labels in bodies.feasible(graph, theta):
            assert lower >= bodies.worth_of(graph, theta, multipliers, labels) - 1e-9
    # What was written down leads to where the scores are now.
    scores = bodies.loaded(graph, scores_of(space, seed))
    again = ascent_of(graph, scores, ascent.messages, multipliers)
    apply_duals(graph, again)
    left = np.isfinite(theta)
    assert theta[left].tolist() == pytest.approx(again.theta[left], abs=1e-8)


def settled(graph, theta):
    """Every variable in turn takes from its tables, taken together, what they can spare."""
    result, tables = theta.copy(), graph.tables
    for j in range(len(graph.sizes)):
        own = slice(int(graph.offsets[j]), int(graph.offsets[j + 1]))
        spared = {}
        for k in np.flatnonzero(tables.scope == j):
            entries = np.arange(
                tables.ptr[tables.place_table[k]], tables.ptr[tables.place_table[k] + 1]
            )
            label = (entries - entries[0]) // tables.strides[k] % graph.sizes[j]
            best = [result[entries[label == a]].max() for a in range(graph.sizes[j])]
            spared[int(k)] = entries, label, np.array(best)
            result[own] += best
        for entries, label, best in spared.values():
            closed = np.isinf(result[own])[label]
            result[entries] = np.where(
                closed, -np.inf, result[entries] - np.where(closed, 0, best[label])
            )
    return result


@given(networks(least=1), seeds)
def test_settling_leaves_at_the_labels_what_tables_can_spare(found, seed):
    graph, ascent = prepared(found, seed)
    theta = ascent.theta
    if not bodies.feasible(graph, theta):
        return
    expected = settled(graph, theta)
    sweep(graph, ascent, True)
    np.testing.assert_allclose(theta, expected, atol=1e-9)
    for b in range(len(graph.tables.ptr) - 1):
        table = theta[graph.tables.ptr[b] : graph.tables.ptr[b + 1]]
        assert table.max() == pytest.approx(0.0, abs=1e-9)


@given(networks(least=1), seeds)
def test_entries_closed_by_a_sweep_are_in_no_output(found, seed):
    graph, ascent = prepared(found, seed)
    theta = ascent.theta
    possible = {e for y in bodies.feasible(graph, theta) for e in bodies.entries_of(graph, y)}
    sweep(graph, ascent, False)
    assert not possible & set(np.flatnonzero(np.isinf(theta)).tolist())


# -- rows ---------------------------------------------------------------------------------


def legal_steps(graph, r, rng):
    """Multipliers that the ends of row r allow."""
    grid = np.concatenate([[0.0], rng.normal(size=40), 5 * rng.normal(size=10)])
    if np.isinf(graph.rows.upper[r]):
        grid = grid[grid <= 0]
    if np.isinf(graph.rows.lower[r]):
        grid = grid[grid >= 0]
    return grid


def moved(graph, theta, r, step):
    """theta with the multiplier of row r further on by ``step``."""
    result, rows = theta.copy(), graph.rows
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        for c in range(rows.start[g], rows.start[g + 1]):
            result[rows.column[c]] -= step * rows.coefficient[c]
    return result


@given(networks(least=2), seeds)
def test_a_row_moves_its_multiplier_to_where_the_bound_is_least(found, seed):
    graph, ascent = prepared(found, seed)
    theta, multipliers = ascent.theta, ascent.multipliers
    rng = np.random.default_rng(seed)
    for r in range(len(graph.rows.lower)):
        before, was = theta.copy(), multipliers.copy()
        visit_row(graph.offsets, graph.rows, theta, multipliers, r)
        same_worth(graph, before, theta, was, multipliers)
        reached = bodies.bound_of(graph, theta, multipliers)
        if reached == -np.inf:
            return
        assert reached <= bodies.bound_of(graph, before, was) + 1e-9
        # A bound that falls for ever shows that nothing is feasible; the step then stops.
        tried = legal_steps(graph, r, rng)[::2] if bodies.feasible(graph, before) else []
        for u in tried:
            other = was.copy()
            other[r] = u
            assert reached <= 1e-6 + bodies.bound_of(
                graph, moved(graph, before, r, u - was[r]), other
            )
        assert multipliers[r] <= 0 or np.isfinite(graph.rows.upper[r])
        assert multipliers[r] >= 0 or np.isfinite(graph.rows.lower[r])


# -- the whole ----------------------------------------------------------------------------


@given(networks(), seeds, st.sampled_from([0, 1, 4]), st.booleans())
def test_ascending_a_batch_is_sweeping_each_input(found, seed, sweeps, closing):
    space, net = found
    graph = net.graph
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(2, space.parts))
    closed = np.empty((0, 0), dtype=np.bool_)
    if closing:
        closed = rng.random((2, space.labels)) < 0.15
    starts = [random_duals(graph, rng) for _ in range(2)]
    messages = np.array([start[0] for start in starts])
    multipliers = np.array([start[1] for start in starts])
    at, u = messages.copy(), multipliers.copy()
    bounds = ascend(asked(scores, closed), graph, at, u, sweeps)
    for i in range(2):
        source = scores[i].copy()
        if closing:
            source[: space.labels][closed[i]] = -np.inf
        ascent = ascent_of(graph, bodies.loaded(graph, source), messages[i], multipliers[i])
        apply_duals(graph, ascent)
        for _ in range(sweeps):
            sweep(graph, ascent, False)
        theta, own = ascent.theta, ascent.multipliers
        assert bounds[i] == pytest.approx(bodies.bound_of(graph, theta, own), abs=1e-9)
        assert at[i].tolist() == pytest.approx(ascent.messages.tolist(), abs=1e-9)
        assert u[i].tolist() == pytest.approx(own.tolist(), abs=1e-9)
