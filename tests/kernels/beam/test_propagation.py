"""Arc consistency and the search that keeps it, against lists of all outputs."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from rote.inference.approximate.beam_plan import HeuristicFeatures, WeightIndex, beam_plan_of
from rote.kernels.beam.propagation import (
    Domains,
    close_in_row,
    close_in_table,
    make_consistent,
    search_consistently,
)
from rote.space import SpaceBuilder
from rote.types import readonly
from tests.kernels.beams import Case, as_node
from tests.kernels.bodies import activities, entries_of, labellings, networks
from tests.strategies import Judge, known_value

seeds = st.integers(0, 2**32 - 1)


def search_feasible(graph, is_open):
    """The labellings of all variables that rules and open labels leave."""
    found = []
    for labels in labellings(graph):
        entries = entries_of(graph, labels)
        own = [int(graph.offsets[j]) + a for j, a in enumerate(labels)]
        if not is_open[own].all() or not graph.source.allowed[entries].all():
            continue
        totals = activities(graph, labels)
        if ((totals >= graph.rows.lower) & (totals <= graph.rows.upper)).all():
            found.append(labels)
    return found


def domains_of(graph, is_open):
    """One node with these labels open, and a view of them."""
    domains = Domains(graph, 1)
    view = domains.open[0]
    view[:] = is_open
    return domains, view


def drawn(graph, seed, share=0.15):
    rng = np.random.default_rng(seed)
    return rng.random(int(graph.offsets[-1])) >= share


@given(networks(1), seeds)
def test_no_label_is_closed_that_an_output_has(network, seed):
    graph = network[1].graph
    before = drawn(graph, seed)
    domains, is_open = domains_of(graph, before)
    alive = make_consistent(graph, domains, 0, -1)
    outputs = search_feasible(graph, before)
    assert alive or not outputs
    assert not (is_open & ~before).any()
    for labels in outputs:
        assert is_open[graph.offsets[:-1] + np.array(labels)].all()


@given(networks(1), seeds)
def test_where_it_ends_nothing_more_can_be_closed(network, seed):
    graph = network[1].graph
    domains, is_open = domains_of(graph, drawn(graph, seed))
    if not make_consistent(graph, domains, 0, -1):
        return
    before = is_open.copy()
    assert make_consistent(graph, domains, 0, -1)
    assert is_open.tolist() == before.tolist()
    for b in range(len(graph.tables.ptr) - 1):
        assert close_in_table(graph, domains, 0, b) == 0
        for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
            check_supported(graph, b, k, is_open)
    for r in range(len(graph.rows.lower)):
        assert close_in_row(graph, domains, 0, r) == 0


@given(networks(1), seeds)
def test_after_a_label_only_what_it_touches_is_looked_at_and_nothing_is_missed(network, seed):
    graph, rng = network[1].graph, np.random.default_rng(seed)
    domains, is_open = domains_of(graph, drawn(graph, seed))
    if not make_consistent(graph, domains, 0, -1):
        return
    j = int(rng.integers(len(graph.sizes)))
    own = np.arange(graph.offsets[j], graph.offsets[j + 1])
    assume(is_open[own].any())
    is_open[own] = own == rng.choice(own[is_open[own]])
    whole, expected = domains_of(graph, is_open)
    alive = make_consistent(graph, whole, 0, -1)
    assert make_consistent(graph, domains, 0, j) == alive
    assert not alive or is_open.tolist() == expected.tolist()


def check_supported(graph, b, k, is_open):
    """Every open label at a place of a table has an allowed entry of open labels."""
    tables, j = graph.tables, graph.tables.scope[k]
    scope = tables.scope[tables.scope_ptr[b] : tables.scope_ptr[b + 1]]
    shape = graph.sizes[scope]
    allowed = graph.source.allowed[tables.ptr[b] : tables.ptr[b + 1]].reshape(shape)
    supported = {
        int(entry[k - tables.scope_ptr[b]])
        for entry in np.argwhere(allowed)
        if is_open[graph.offsets[scope] + entry].all()
    }
    open_labels = np.flatnonzero(is_open[graph.offsets[j] : graph.offsets[j + 1]])
    assert set(open_labels.tolist()) <= supported


@given(networks(), seeds, st.sampled_from([1, 2, 5]))
def test_what_is_left_in_a_beam_is_consistent_and_scored_as_it_should(network, seed, width):
    space, _ = network
    case = Case(space, seed, closed=0.05)
    graph = network[1].graph
    nodes = search_consistently(case.scores, case.shut, case.weights, width, case.course, graph)
    outcome = nodes.labels
    judge = Judge(space)
    for i in range(len(case.scores)):
        count = int(nodes.size[i])
        outputs = judge.open_outputs(~case.shut[i])
        ranks = []
        for k in range(count):
            labels = tuple(outcome[i, k].tolist())
            assert not case.shut[i][space.offsets[:-1] + outcome[i, k]].any()
            if network[1].variables == network[1].own:  # else auxiliary columns may be open
                assert labels in outputs
            node = as_node(labels)
            assert nodes.score[i, k] == known_value(space, case.scores[i], labels)
            assert nodes.heuristic[i, k] == case.input(i).h(node)
            ranks.append(nodes.score[i, k] + nodes.heuristic[i, k])
        assert ranks == sorted(ranks, reverse=True)
        assert outputs or network[1].variables > network[1].own or count == 0


def test_a_greedy_search_steps_over_what_would_be_a_dead_end():
    """By hand: the best first label leads nowhere, and is never taken."""
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["a"])
    builder.require(~y["a"])
    space = builder.build()
    course = beam_plan_of(space, lambda _: [0, 1], HeuristicFeatures(), ledger := WeightIndex())
    scores, shut = np.array([[5.0, 0, 0, 0]]), np.zeros((1, 4), np.bool_)
    weights = readonly(np.zeros(ledger.size))
    nodes = search_consistently(
        readonly(scores), readonly(shut), weights, 1, course, space.network.graph
    )
    assert list(nodes.labels[0, 0]) == [1, 1]
    shut[0, 1] = True
    nodes = search_consistently(
        readonly(scores), readonly(shut), weights, 1, course, space.network.graph
    )
    assert list(nodes.size) == [0]
