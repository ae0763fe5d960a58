"""The search that begins with an output, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.inference.exact.plans import no_plan, partial_plan
from rote.kernels.dual.ascent import bound_of, sweep
from rote.kernels.dual.restart import (
    Incumbent,
    branch_from,
    collect,
    consider,
    single_changes,
    value_of,
)
from rote.types import readonly
from tests.kernels import bodies
from tests.kernels.bodies import ascent_of, scores_of
from tests.strategies import Judge, problems, row_of, spaces

seeds = st.integers(0, 2**32 - 1)
UNLIMITED = 1 << 60


@given(problems(inputs=3), seeds, st.sampled_from([1, 20, UNLIMITED]), st.booleans())
@settings(max_examples=150)
def test_from_any_output_the_best_is_found_with_true_bounds(problem, seed, nodes, eliminating):
    space, problem = problem
    judge = Judge(space)
    plan = partial_plan(space) if eliminating else no_plan(space)
    if not judge.feasible or len(plan.core.network.rows):
        return
    rng = np.random.default_rng(seed)
    n = len(space.variables)
    starts = [rng.integers(-2, 6, size=n)]  # which may be no output at all
    starts += [judge.outputs[k] for k in rng.integers(len(judge.outputs), size=2)]
    incumbents = readonly(np.array(starts, dtype=np.int64).reshape(3, n))
    reduced = plan.reduced(space)
    labels, bounds, complete, doubtful = branch_from(problem.questions, incumbents, reduced, nodes)
    for i in range(3):
        valued = sorted(v.value for v in judge.valued(*row_of(problem, i)))
        tie = problem.ties[i]
        if not valued:
            assert (labels[i] == -1).all()
            continue
        if (labels[i] >= 0).all():
            assert tuple(labels[i]) in judge.open_outputs(row_of(problem, i)[1])
        assert bounds[i] >= valued[-1] - 0.1 * tie
        if complete[i]:
            reached = space.known_value(problem.scores[i : i + 1], labels[i : i + 1])[0]
            assert reached >= valued[-1] - tie
            near = len(valued) > 1 and valued[-2] >= valued[-1] - 0.9 * tie
            assert doubtful[i] or not near
        else:
            assert nodes < UNLIMITED


@given(spaces(least=1, most=4), seeds)
@settings(max_examples=100)
def test_losses_hold_and_single_changes_never_lose(space, seed):
    graph = space.network.graph
    theta = bodies.loaded(graph, scores_of(space, seed))
    outputs = bodies.feasible(graph, theta)
    if not outputs or len(graph.rows.lower):
        return
    worth = {tuple(y): theta[bodies.entries_of(graph, y)].sum() for y in outputs}
    room, ascent = Incumbent(graph), ascent_of(graph, theta)
    start = outputs[seed % len(outputs)]
    room.trial[:] = start
    assert value_of(graph, theta, room.trial) == pytest.approx(worth[tuple(start)])
    single_changes(graph, theta, room, False)
    assert value_of(graph, theta, room.trial) >= worth[tuple(start)] - 1e-12
    value = consider(graph, theta, room, -np.inf)
    assert worth[tuple(room.found.tolist())] == pytest.approx(value)
    sweep(graph, ascent, False)
    bound = bound_of(graph, ascent)
    collect(graph, ascent, room.losses)
    assert bound_of(graph, ascent) <= bound + 1e-9
    for labels, own in worth.items():
        for j, a in enumerate(labels):
            assert own <= bound - room.losses[graph.offsets[j] + a] + 1e-9
        reparametrised = np.asarray(ascent.theta)[bodies.entries_of(graph, labels)].sum()
        assert reparametrised == pytest.approx(own, abs=1e-9)


@given(spaces(least=1, most=4), seeds)
@settings(max_examples=50)
def test_decoding_gives_each_variable_what_fits_those_before_it(space, seed):
    graph = space.network.graph
    theta = bodies.loaded(graph, scores_of(space, seed))
    room = Incumbent(graph)
    room.trial[:] = 0
    single_changes(graph, theta, room, True)
    labels = room.trial.tolist()
    for j in range(len(graph.sizes)):
        tables = graph.tables
        known = [
            b
            for b in range(len(tables.ptr) - 1)
            if max(tables.scope[tables.scope_ptr[b] : tables.scope_ptr[b + 1]]) == j
        ]

        def gain(a, j=j, known=known):
            tried = [*labels[:j], a, *labels[j + 1 :]]
            own = theta[graph.offsets[j] + a]
            return own + sum(theta[bodies.entry_of(graph, b, tried)] for b in known)

        assert gain(labels[j]) == max(gain(a) for a in range(graph.sizes[j]))
