"""The search over a network, against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.inference.exact.plans import no_plan, partial_plan
from rote.inference.problem import Problem
from rote.kernels.bundles import DualRows
from rote.kernels.search.branch import branch, search
from rote.kernels.search.nodes import Node
from rote.types import readonly
from tests.kernels import bodies
from tests.kernels.bodies import ascent_of, networks, scores_of
from tests.strategies import Judge, problems, row_of, rules_as_rows, spaces

seeds = st.integers(0, 2**32 - 1)
UNLIMITED = 1 << 60


def prepared(found, seed):
    """A graph with random scores, no multipliers and no labels yet."""
    space, net = found
    graph = net.graph
    theta = bodies.loaded(graph, scores_of(space, seed))
    return graph, theta, np.zeros(len(graph.rows.lower)), np.full(len(graph.sizes), -1)


def searched(graph, theta, multipliers, labels, floor=-np.inf, nodes=UNLIMITED, in_order=False):
    ascent, node = ascent_of(graph, theta, multipliers=multipliers), Node(graph)
    return search(graph, ascent, node, floor, 1e-9, nodes, in_order, labels)


def ranked(graph, theta, multipliers):
    """All labellings of a network, best first."""
    every = bodies.feasible(graph, theta)
    valued = [(bodies.worth_of(graph, theta, multipliers, y), y) for y in every]
    return sorted(valued, key=lambda pair: (-pair[0], pair[1]))


@given(networks(least=1), seeds, st.sampled_from([-np.inf, 0.0, 1.0]))
def test_a_search_finds_the_best_above_its_floor_and_knows_the_runner_up(found, seed, floor):
    graph, theta, multipliers, labels = prepared(found, seed)
    value, bound, runner, _ = searched(graph, theta, multipliers, labels, floor)
    order = ranked(graph, theta, multipliers)
    above = [pair for pair in order if pair[0] > floor]
    if not above:
        assert value == floor
        assert bound <= max(floor, -np.inf)
        return
    assert value == pytest.approx(above[0][0], abs=1e-9)
    assert tuple(labels.tolist()) in [y for known_value, y in above if known_value >= value - 1e-9]
    assert bound <= value
    others = [known_value for known_value, y in order if y != tuple(labels.tolist())]
    assert runner >= max(others, default=-np.inf) - 1e-9 or max(others) < value - 1e-6


@given(networks(least=1), seeds, st.sampled_from([-np.inf, 0.0, 1.0]))
def test_a_search_in_order_finds_the_first_above_its_floor(found, seed, floor):
    graph, theta, multipliers, labels = prepared(found, seed)
    value, *_ = searched(graph, theta, multipliers, labels, floor, in_order=True)
    above = sorted(y for known_value, y in ranked(graph, theta, multipliers) if known_value > floor)
    if above:
        assert tuple(labels.tolist()) == above[0]
        assert value > floor
    else:
        assert value == floor


@given(networks(least=2), seeds, st.integers(1, 6))
def test_a_search_that_is_stopped_brackets_the_best(found, seed, nodes):
    graph, theta, multipliers, labels = prepared(found, seed)
    value, bound, _, visited = searched(graph, theta, multipliers, labels, nodes=nodes)
    assert visited <= nodes
    order = ranked(graph, theta, multipliers)
    if order:
        assert value <= order[0][0] + 1e-9
        assert bound >= order[0][0] - 1e-9
        if value > -np.inf:
            reached = bodies.worth_of(graph, theta, multipliers, labels)
            assert reached >= value - 1e-8


# -- whole batches ------------------------------------------------------------------------


def arguments(space, objective, plan):
    objective = Problem.of(space, objective)
    none, floors = readonly(np.empty((0, 0))), readonly(np.full(len(objective), -np.inf))
    start = DualRows(none, none)
    return objective.questions, floors, plan.reduced(space), start, UNLIMITED, False


def check(space, objective, plan):
    labels, bounds, complete, doubtful = branch(*arguments(space, objective, plan))
    assert complete.all()
    judge = Judge(space)
    for i in range(len(objective)):
        best = judge.best(*row_of(objective, i))
        if best is None:
            assert (labels[i] == -1).all()
            continue
        scale = 1e-9 * max(1.0, np.abs(objective.scores[i]).max(initial=0.0))
        reached = space.value(objective.scores[i], labels[i])[0]
        assert reached == pytest.approx(best.value, abs=scale)
        assert bounds[i] == pytest.approx(best.value, abs=scale)
        if not doubtful[i]:
            assert tuple(labels[i].tolist()) == best.labels


@given(problems(spaces(most=4, max_rules=2, depth=2)), st.sampled_from([None, 1]))
def test_batches_are_solved_with_and_without_elimination(problem, max_entries):
    space, objective = problem
    with rules_as_rows(max_entries):
        check(space, objective, partial_plan(space))
        check(space, objective, no_plan(space))
