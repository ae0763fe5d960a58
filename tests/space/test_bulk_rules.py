"""Rules in bulk: equal to rule objects said one by one, and named row by row in errors."""

from __future__ import annotations

import json
from operator import invert

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote import Exact, InfeasibleSpace, LabelError, RuleError, SpaceBuilder, SpaceError
from rote.engines import BranchAndBound, Exhaustive
from rote.space import NamedRule, Space, all_of, at_most, language
from rote.space.reasons import reason, violations
from tests.space.truth import table
from tests.strategies import LETTERS, Judge, rules_as_rows, said_twice


@pytest.fixture
def builder():
    return SpaceBuilder()


@given(st.data())
@settings(max_examples=100)
def test_rules_in_bulk_are_the_rules_said_one_by_one(data):
    """The same outputs, the same answers, and row by row the same rules."""
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    builders = SpaceBuilder(), SpaceBuilder()
    for builder in builders:
        for j, size in enumerate(sizes):
            builder.variable(f"x{j}", LETTERS[:size])
    said_twice(data.draw, *builders, builders[0].build().variables)
    bulk, single = (builder.build() for builder in builders)
    judge = Judge(single)
    assert Judge(bulk).outputs == judge.outputs
    everything = judge.everything_as_array
    expected = single.holds(everything)
    np.testing.assert_array_equal(bulk.holds(everything), expected)
    np.testing.assert_array_equal(bulk.satisfied(everything), expected)
    for labels in judge.everything:
        assert {v.name for v in violations(bulk, labels)} == {n.name for n in bulk.broken(labels)}
        assert all(reason(n.rule, labels).holds for n in bulk.rules) == (labels in judge.outputs)
    if not judge.feasible:
        with pytest.raises(InfeasibleSpace):
            Exact().solve(bulk, np.zeros(bulk.parts))
        return
    scores = np.array(
        data.draw(st.lists(st.integers(-2, 2), min_size=bulk.parts, max_size=bulk.parts))
    )
    best = judge.best(scores.astype(float))
    for engine in (Exact(), Exact(), Exhaustive(), BranchAndBound()):
        found = engine.solve(bulk, scores)
        assert tuple(found.labels[0]) == best.labels
    with rules_as_rows():
        assert tuple(BranchAndBound().solve(bulk, scores).labels[0]) == best.labels


def test_an_option_is_a_rule_and_its_variable_says_no_or_yes(builder):
    wine, (soup, cake) = builder.option("wine"), builder.options(["soup", "cake"])
    builder.require(cake >> (soup & ~wine))
    builder.require(at_most(2, wine, soup, cake))
    space = builder.build()
    assert [v.labels for v in space.variables] == [("no", "yes")] * 3
    assert space.decode([[0, 1, 1]]) == [{"wine": "no", "soup": "yes", "cake": "yes"}]
    assert table(cake >> (soup & ~wine), 2, 2, 2) == [1, 0, 1, 1, 1, 0, 1, 0]


def test_options_are_a_sequence_with_positions(builder):
    builder.variable("x", "abc")
    options = builder.options("pqrs")
    assert options.positions.tolist() == [4, 6, 8, 10]
    assert list(options[1:]) == [options[k] for k in (1, 2, 3)] == list(options)[1:]
    assert options[2:].positions.tolist() == [8, 10]
    assert builder.option("t").variable.index == 5
    assert len(builder.options([])) == 0


def test_labels_are_given_by_position_or_as_rules(builder):
    x, options = builder.variable("x", "abc"), builder.options("pq")
    builder.require_implications([x["c"], options[0]], [4, 6])
    builder.require_counts(np.array([[0, 4], [1, 6]]), at_most=1)
    spelled = [str(named.rule) for named in builder.build().each_rule]
    assert spelled[:2] == ['x["c"] >> p["yes"]', 'p["yes"] >> q["yes"]']
    assert spelled[2:] == ['x["a"] + p["yes"] <= 1', 'x["b"] + q["yes"] <= 1']


def test_a_table_reads_as_its_first_rows_and_travels_as_json(builder):
    options = builder.options("pqrst").positions
    builder.require_implications(options[:-1], options[1:])
    rows = builder.build().rules[0].rule
    assert str(rows).startswith('4 rows: p["yes"] >> q["yes"]; q["yes"] >> r["yes"]; ')
    assert str(rows).endswith("; …")
    form = rows.form({j: j for j in range(5)})
    assert json.loads(json.dumps(form)) == [list(x) if isinstance(x, tuple) else x for x in form]
    assert rows.variables == builder.build().variables


def test_spaces_are_equal_when_their_tables_are():
    def space(limit):
        builder = SpaceBuilder()
        options = builder.options(f"{limit}{k}" for k in range(4)).positions
        builder.require_counts([options[:3], options[1:]], at_least=1, at_most=limit)
        return builder.build()

    assert space(1) == space(1)
    assert space(1) != space(2)


def test_a_conflict_names_rows(builder):
    a, b, c = options = builder.options("abc")
    builder.require_implications([a, b], [b, c], name="needs")
    builder.require_counts([[a, b], [a, c]], at_most=1)
    builder.require(a, "a is there")
    with pytest.raises(InfeasibleSpace) as raised:
        Exact().solve(builder.build(), np.zeros(6))
    assert raised.value.conflicting_rules == (
        'needs, row 0: a["yes"] >> b["yes"]',
        'a["yes"] + b["yes"] <= 1',
        "a is there",
    )
    assert len(options) == 3


@pytest.mark.parametrize("nested", [invert, lambda rows: rows >> rows.row(1), all_of])
def test_a_table_can_stand_inside_another_rule(builder, nested):
    options = builder.options("abc").positions
    builder.require_implications(options[:2], options[1:])
    free = builder.build()
    rule = nested(free.rules[0].rule)
    space = Space(free.variables, (), (NamedRule(None, rule),))
    judge = Judge(space)
    assert 0 < len(judge.outputs)
    everything = judge.everything_as_array
    for found in (space.holds(everything), space.satisfied(everything)):
        assert list(map(tuple, everything[found].tolist())) == judge.outputs
    for labels in judge.everything:
        assert reason(rule, labels).holds == (labels in judge.outputs)


def test_thousands_of_rows_are_looked_at_in_pieces(builder, monkeypatch):
    positions = builder.options(map(str, range(20))).positions
    builder.require_implications(np.repeat(positions, 20), np.tile(positions, 20))
    space = builder.build()
    labels = np.random.default_rng(0).integers(0, 2, (50, 20))
    labels[::7] = 1
    whole = space.holds(labels)
    monkeypatch.setattr(language, "MOST_AT_ONCE", 1)
    np.testing.assert_array_equal(space.holds(labels), whole)
    np.testing.assert_array_equal(whole, labels.min(axis=1) == labels.max(axis=1))


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda b: b.options(["a", 3]), SpaceError, "a string, got 3"),
        (lambda b: b.options("xyx"), SpaceError, "called 'x' already"),
        (lambda b: b.options(["p"]), SpaceError, "called 'p' already"),
        (lambda b: b.option("p"), SpaceError, "called 'p' already"),
        (lambda b: b.require_implications([0, 1], [1]), RuleError, "2 labels and 1"),
        (lambda b: b.require_implications(["p"], [1]), RuleError, "by its position"),
        (lambda b: b.require_implications([9], [1]), LabelError, "9 is the position of no label"),
        (lambda b: b.require_counts(np.zeros((1, 2))), RuleError, "array of float64"),
        (lambda b: b.require_counts([[0]], at_most=0.5), RuleError, "a whole number"),
        (lambda b: b.require_counts([[0]], at_most=[1, 2]), RuleError, "each of 1 groups"),
        (lambda b: b.require_counts([[0]], at_most=2**60), RuleError, "below 2"),
        (lambda b: b.require_rows([0, 1], [1], [0]), RuleError, "each of their 2 labels"),
        (lambda b: b.require_rows([0, 1], [0.5, 1], [0]), RuleError, "a whole number"),
        (lambda b: b.require_rows([0, 1], [1, 1], [1]), RuleError, "starts at 0"),
        (lambda b: b.require_rows([0, 1], [1, 1], [0, 2, 1]), RuleError, "others behind"),
        (lambda b: b.require_counts([[0], []], at_least=1), InfeasibleSpace, "0 >= 1"),
        (
            lambda b: b.require_counts([[SpaceBuilder().option("z")]], at_most=1),
            RuleError,
            "of another space",
        ),
    ],
)
def test_what_is_wrong_is_said_where_it_is_said(builder, wrong, error, says):
    builder.options("pq")
    with pytest.raises(error, match=says):
        wrong(builder)
