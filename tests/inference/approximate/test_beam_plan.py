"""Patterns: what is tied, what shares weights, and that digests are the same everywhere."""

import gc
import os
import re
import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import SettingError
from rote.inference.approximate.beam_plan import (
    BeamPlans,
    HeuristicFeatures,
    WeightIndex,
    beam_plan_of,
    in_order,
)
from rote.kernels.beam.beam import search_beam
from rote.kernels.beam.heuristic_learning import Learned, learn_beam
from rote.space import SpaceBuilder
from rote.tasks.entity_relation import entity_relation_space
from rote.types import readonly
from tests.kernels.bodies import networks


def chain(n, labels="abc", names="x"):
    builder = SpaceBuilder()
    variables = [builder.variable(f"{names}{j}", labels) for j in range(n)]
    for x, y in pairwise(variables):
        builder.factor(x, y)
    return builder.build()


def counted(n, most=2, times=1):
    """A rule too long for a table."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(n)]
    builder.require(sum(times * x["a"] for x in variables) <= most)
    space = builder.build()
    assert len(space.network.rows) == 1
    return space


def seen(space, ledger, patterns=None):
    """The course, as the variables of each step's patterns."""
    course = beam_plan_of(space, in_order, patterns or HeuristicFeatures(), ledger)
    spans = pairwise(course.pattern_ptr.tolist())
    return course, [
        sorted(tuple(sorted(int(k) for k in course.other[p] if k >= 0)) for p in range(*span))
        for span in spans
    ]


def heuristic(space, course, weights, labels):
    """h of one output: all other labels are closed."""
    shut = np.ones((1, space.labels), np.bool_)
    shut[0, space.offsets[:-1] + np.array(labels)] = False
    scores = readonly(np.zeros((1, space.parts)))
    nodes, _ = search_beam(scores, readonly(shut), readonly(weights), 1, np.inf, course)
    assert nodes.labels[0, 0].tolist() == list(labels)
    return float(nodes.heuristic[0, 0])


def test_neighbours_in_a_chain_share_one_family_of_pairs():
    ledger = WeightIndex()
    course, partners = seen(chain(4), ledger)
    assert partners == [[], [(0,)], [(1,)], [(2,)]]
    assert len(set(course.origin.tolist())) == 1
    assert ledger.size == 9
    for n in (2, 7):
        seen(chain(n), ledger)
    assert ledger.size == 9
    seen(chain(3, "abd"), ledger)  # other labels
    assert ledger.size == 18


def test_entities_and_relations_have_the_pairs_and_triples_of_the_paper():
    ledger = WeightIndex()
    _, partners = seen(entity_relation_space(2), ledger)  # e0, e1, r0_1, r1_0
    assert partners == [
        [],
        [],
        [(0,), (0, 1), (1,)],
        [(0,), (0, 1), (0, 2), (1,), (1, 2), (2,)],
    ]
    # r with its source, its target and its inverse, and each two of them.
    assert ledger.size == 6 * (4 + 4 + 6) + 6 * (4 * 4 + 4 * 6 + 4 * 6)


def test_triples_and_tallies_can_be_left_out():
    ledger = WeightIndex()
    _, partners = seen(entity_relation_space(2), ledger, HeuristicFeatures(triples=False))
    assert partners == [[], [], [(0,), (1,)], [(0,), (1,), (2,)]]
    ledger = WeightIndex()
    course, _ = seen(counted(9), ledger, HeuristicFeatures(tallies=False))
    assert (ledger.size, course.counters, len(course.tally)) == (0, 0, 0)


def test_a_variable_with_many_partners_has_pairs_alone():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(6)]
    for x in variables[:5]:
        builder.factor(x, variables[5])
    _, partners = seen(builder.build(), WeightIndex())
    assert partners[5] == [(0,), (1,), (2,), (3,), (4,)]


def test_variables_that_a_rule_leaves_free_are_not_tied_by_it():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(z["a"] >> (x["a"] & y["a"]))
    _, partners = seen(builder.build(), WeightIndex())
    assert partners == [[], [], [(0,), (0, 1), (1,)]]


def test_a_rule_that_leaves_every_pair_free_is_seen_in_triples():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(~(x["a"] & y["a"] & z["a"]))
    space, ledger = builder.build(), WeightIndex()
    course, partners = seen(space, ledger)
    assert (0, 1) in partners[2]
    # What breaks it can have an h of its own.
    weights = np.random.default_rng(0).normal(size=ledger.size)
    heuristics = [
        heuristic(space, course, weights, labels) for labels in product(range(2), repeat=3)
    ]
    assert len({round(value, 9) for value in heuristics}) == 8


def test_by_name_every_variable_has_weights_of_its_own():
    ledger = WeightIndex()
    seen(chain(4), ledger, HeuristicFeatures(by_name=True))
    assert ledger.size == 3 * 9
    seen(chain(3), ledger, HeuristicFeatures(by_name=True))  # the same names
    assert ledger.size == 3 * 9
    seen(chain(3, names="y"), ledger, HeuristicFeatures(by_name=True))
    assert ledger.size == 5 * 9
    seen(chain(3, "abd"), ledger, HeuristicFeatures(by_name=True))  # other labels
    assert ledger.size == 7 * 9


def test_spaces_that_differ_in_names_alone_have_courses_of_their_own():
    courses = BeamPlans(lambda space: range(2) if space.variables[0].name[0] == "y" else (1, 0))
    assert chain(2) == chain(2, names="y")
    assert list(courses.of(chain(2)).order) == [1, 0]
    assert list(courses.of(chain(2, names="y")).order) == [0, 1]


def test_a_course_is_made_once_and_goes_with_its_space():
    courses, space = BeamPlans(None), chain(2)
    course = courses.of(space)
    assert courses.of(space) is course
    assert courses.of(chain(2)) is course
    del space
    gc.collect()
    assert courses.of(chain(2)) is not course


def test_a_long_rule_is_counted():
    """By hand: the first a costs 1, the second 10, the third 100, each one more 1000."""
    ledger, space = WeightIndex(), counted(9)
    course, partners = seen(space, ledger)
    assert partners == [[]] * 9
    assert ledger.size == 4
    assert course.counters == 1
    assert course.counted.tolist() == [[True, False, False]] * 9
    weights = np.array([1.0, 10.0, 100.0, 1000.0])
    for labels, expected in (
        ([1, 2, 1, 2, 1, 2, 1, 2, 1], 0.0),
        ([1, 2, 1, 2, 1, 2, 1, 2, 0], 1.0),
        ([0, 2, 1, 0, 1, 2, 1, 2, 1], 11.0),
        ([0, 0, 0, 0, 1, 0, 1, 2, 1], 2111.0),
    ):
        assert heuristic(space, course, weights, labels) == expected
    seen(counted(12), ledger)  # of any length
    assert ledger.size == 4
    seen(counted(9, most=3), ledger)  # other rules
    seen(counted(9, most=3, times=2), ledger)
    assert ledger.size == 12


@given(networks(1), st.integers(0, 2**32 - 1))
def test_patterns_are_of_variables_labelled_before_and_never_leave_their_family(network, seed):
    space, _ = network
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(space.variables)).tolist()
    ledger = WeightIndex()
    course = beam_plan_of(space, lambda _: order, HeuristicFeatures(), ledger)
    ends = sorted([*ledger.origins.values(), ledger.size])
    for t, j in enumerate(order):
        for p in range(course.pattern_ptr[t], course.pattern_ptr[t + 1]):
            others = [int(k) for k in course.other[p] if k >= 0]
            assert set(others) <= set(order[:t])
            places = {
                int(course.origin[p] + label)
                + sum(
                    int(s) * a for s, a in zip(course.other_stride[p], given_labels, strict=False)
                )
                for label in range(space.sizes[j])
                for given_labels in product(*(range(space.sizes[k]) for k in others))
            }
            # One weight for each label tuple, and they are the whole family.
            count = int(space.sizes[j] * np.prod(space.sizes[others]))
            begin = int(course.origin[p])
            assert places == set(range(begin, begin + count))
            assert begin + count == next(end for end in ends if end > begin)
    every = sorted(f for t in range(len(order)) for f in range(*course.factor_ptr[t : t + 2]))
    assert every == list(range(len(space.factors)))
    scopes, others = course.scope, course.other
    for t in range(len(order)):
        for f in range(course.factor_ptr[t], course.factor_ptr[t + 1]):
            scope = set(course.scope[course.scope_ptr[f] : course.scope_ptr[f + 1]].tolist())
            assert order[t] in scope <= set(order[: t + 1])
        read = course.read[course.read_ptr[t] : course.read_ptr[t + 1]].tolist()
        looked_at = set(course.other[slice(*course.pattern_ptr[t : t + 2])].ravel().tolist())
        for f in range(*course.factor_ptr[t : t + 2]):
            looked_at.update(scopes[slice(*course.scope_ptr[f : f + 2])].tolist())
        assert read == sorted(looked_at - {-1, order[t]})


def test_what_is_learned_in_one_space_is_known_in_a_larger_one():
    ledger = WeightIndex()
    small, large = entity_relation_space(3), entity_relation_space(4)
    courses = [
        beam_plan_of(space, in_order, HeuristicFeatures(), ledger) for space in (small, large)
    ]
    learned = Learned(np.zeros(ledger.size), np.zeros(ledger.size), np.zeros(1))
    rng = np.random.default_rng(0)
    gold = readonly(np.zeros((20, len(small.variables)), np.int64))
    scores = rng.normal(size=(20, small.parts))
    scores[:, small.offsets[:3]] += 10.0  # entities are right
    scores = readonly(scores)
    shut = readonly(np.zeros((20, small.labels), np.bool_))
    assert learn_beam(scores, shut, gold, learned, 1, 1.0, courses[0]).any()
    none, some = np.zeros(len(large.variables), int), np.zeros(len(large.variables), int)
    some[-1] = 3  # a relation between the last two
    values = [heuristic(large, courses[1], learned.weights, labels) for labels in (none, some)]
    assert values[0] > values[1]


SCRIPT = """
from rote.inference.approximate.beam_plan import WeightIndex, HeuristicFeatures
from rote.inference.approximate.beam_plan import beam_plan_of, in_order
from rote.space import SpaceBuilder, at_most
from rote.tasks.entity_relation import entity_relation_space
builder = SpaceBuilder()
variables = [builder.variable(f"x{j}", "abc") for j in range(9)]
builder.require(at_most(2, [x["a"] for x in variables] + [x["b"] for x in variables[::2]]))
builder.factor(variables[3], variables[1])
for patterns in (HeuristicFeatures(), HeuristicFeatures(by_name=True)):
    ledger = WeightIndex()
    for space in (entity_relation_space(3), builder.build()):
        beam_plan_of(space, in_order, patterns, ledger)
    print(sorted(ledger.origins.items()))
"""


def test_families_are_the_same_in_every_process():
    printed = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert printed.pop().count("(") > 10


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [1, 2, 3], [0, 1, 2, 2]])
def test_an_order_names_every_variable_once(order):
    message = re.escape(f"each of the 3 variables once, by number; got {order}")
    with pytest.raises(SettingError, match=message):
        beam_plan_of(chain(3), lambda _: order, None, WeightIndex())
