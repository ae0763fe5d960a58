"""Networks: what is forbidden, what is constant, and the file's own number."""

from pathlib import Path

import numpy as np
import pytest

from rote.io.networks.table import Measure, cost_network, numbered, probability_network

PATH = Path("folder/small.cfn")
TWO = numbered(2)


def build(costs, scopes, top, measure=Measure.COST):
    arrays = [np.array(table, dtype=float) for table in costs]
    names = [f"f{t}" for t in range(len(costs))]
    labels = [TWO] * (1 + max((j for scope in scopes for j in scope), default=0))
    return cost_network(PATH, None, labels, scopes, arrays, names, top, measure)


def test_costs_become_scores_and_top_is_forbidden():
    network = build([[3, 10], [[0, 12], [1, 2]]], [(0,), (0, 1)], top=10)
    assert network.source == "small.cfn"
    assert network.names == ("x0", "x1")
    assert [mask.tolist() for mask in network.allowed] == [
        [True, False],
        [[True, False], [True, True]],
    ]
    # A forbidden entry holds the least allowed score.
    assert network.tables[0].tolist() == [-3, -3]
    assert network.tables[1].tolist() == [[0, -2], [-1, -2]]
    assert network.floor == -10
    assert network.cost(-4.0) == 4.0


def test_an_entry_below_top_is_allowed_though_the_others_will_lift_it_there():
    # 6 + 4 is at top, but no table says so by itself; the floor does.
    network = build([4, [6, 0], [4, 5]], [(), (0,), (1,)], top=10)
    assert all(mask.all() for mask in network.allowed)
    assert (network.constant, network.floor) == (-4, -10)
    assert network.table_names == ("f1", "f2")


@pytest.mark.parametrize(("least", "allowed"), [(-5, True), (-2, False), (0, False), (3, False)])
def test_a_cost_above_top_is_allowed_where_negative_costs_can_pay_for_it(least, allowed):
    network = build([[12, 3], [least, 4]], [(0,), (1,)], top=10)
    assert network.allowed[0].tolist() == [allowed, True]


def test_gains_are_kept_as_scores():
    network = build([2, [1, -8]], [(), (0,)], top=-6, measure=Measure.GAIN)
    assert network.constant == 2
    assert network.tables[0].tolist() == [1, 1]
    assert network.allowed[0].tolist() == [True, False]  # 2 - 8 is not above -6
    assert network.floor == -6
    assert network.cost(-5.0) == -5.0


def test_a_cost_of_nothing_is_not_negative_zero():
    assert str(build([[0, 1]], [(0,)], top=5).cost(0.0)) == "0.0"


def test_probabilities_become_logarithms_and_zero_is_forbidden():
    tables = [np.array([[0.5, 0.0], [2.0, 1.0]]), np.array(0.25)]
    network = probability_network(Path("a.uai"), [2, 2], [(0, 1), ()], tables)
    assert network.measure is Measure.PROBABILITY
    assert network.tables[0] == pytest.approx(np.log([[0.5, 0.5], [2.0, 1.0]]))
    assert network.allowed[0].tolist() == [[True, False], [True, True]]
    assert network.constant == pytest.approx(np.log(0.25))
    assert network.cost(-1.0) is None
    assert network.floor == -np.inf


def test_a_constant_probability_of_zero_stays_as_a_table_that_forbids_everything():
    network = probability_network(Path("a.uai"), [2], [(), (0,)], [np.array(0.0), np.ones(2)])
    assert network.scopes[0] == ()
    assert network.allowed[0].shape == ()
    assert not network.allowed[0]


def test_evidence_closes_the_other_labels():
    network = probability_network(Path("a.uai"), [3], [(0,)], [np.ones(3)], [(0, 1)])
    assert network.table_names == ("table 0", "the evidence on x0")
    assert network.allowed[1].tolist() == [False, True, False]


def test_arrays_cannot_be_changed():
    network = build([[3, 10], [[0, 12], [1, 2]]], [(0,), (0, 1)], top=10)
    for array in (*network.tables, *network.allowed):
        assert not array.flags.writeable
