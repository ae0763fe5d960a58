"""Rules: what they mean, how they read, and what is answered to those that mean nothing."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.errors import LabelError, RuleError
from rote.space import (
    SpaceBuilder,
    all_different,
    all_of,
    any_of,
    at_least,
    at_most,
    count,
    exactly,
    language,
    one_of,
)
from rote.space.language import And, Linear, Or, Rule
from rote.space.lowering import lower
from rote.space.reasons import reason
from tests.space.truth import table
from tests.strategies import LETTERS, Judge, holds, rules

# -- meaning ------------------------------------------------------------------------------


def test_truth_tables_of_the_counts(x, y):
    p, q = x["b"], y["b"]
    assert table(at_most(1, p, q), 2, 2) == [1, 1, 1, 0]
    assert table(at_least(1, p, q), 2, 2) == [0, 1, 1, 1]
    assert table(exactly(1, p, q), 2, 2) == [0, 1, 1, 0]
    assert table(2 * p + q <= 2, 2, 2) == [1, 1, 1, 0]
    assert table(2 * p + q >= 2, 2, 2) == [0, 0, 1, 1]
    assert table(2 * p + q == 1, 2, 2) == [0, 1, 0, 0]
    assert table(2 * p + q != 1, 2, 2) == [1, 0, 1, 1]
    assert table(2 * p + q < 2, 2, 2) == [1, 1, 0, 0]
    assert table(2 * p + q > 2, 2, 2) == [0, 0, 0, 1]
    assert table(p - q >= 0, 2, 2) == [1, 0, 1, 1]
    assert table(-(p + q) >= -1, 2, 2) == [1, 1, 1, 0]
    assert table(3 - (p + q) <= 1, 2, 2) == [0, 0, 0, 1]
    assert table(1 - p <= q + 0, 2, 2) == [0, 1, 1, 1]
    assert table(count(p) <= count(q), 2, 2) == [1, 1, 0, 1]
    assert table(1 <= count(p, q), 2, 2) == [0, 1, 1, 1]
    assert table(sum([p, q]) >= 2, 2, 2) == [0, 0, 0, 1]
    assert [table(r, 2) for r in (p <= 0, p >= 1, p < 1, p > 0)] == [[1, 0], [0, 1]] * 2
    assert table(p <= q, 2, 2) == [1, 1, 0, 1]


def test_operators_do_not_nest_what_is_flat(x, y, z):
    assert len((x["a"] & y["a"] & z["a"]).of) == 3
    assert len((x["a"] | y["a"] | z["a"]).of) == 3
    assert (~~x["a"]) == x["a"]


def test_a_rule_knows_its_variables_once_and_in_order(x, y, z):
    rule = (z["a"] | x["a"]) >> at_most(1, x["b"], one_of([y, z], [("a", "a")]))
    assert rule.variables == (x, y, z)
    assert all_of().variables == ()


@given(st.data())
@settings(max_examples=75)
def test_nested_rules_hold_where_a_plain_recursion_says_so(data):
    builder = SpaceBuilder()
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    variables = [builder.variable(f"x{j}", LETTERS[:size]) for j, size in enumerate(sizes)]
    rule = data.draw(rules(variables))
    everything = Judge(builder.build()).everything
    columns = dict(enumerate(np.array(everything).T))
    assert rule.holds(columns).tolist() == [holds(rule, labels) for labels in everything]
    assert (~rule).holds(columns).tolist() == [not holds(rule, labels) for labels in everything]


# -- how rules read -----------------------------------------------------------------------


def test_a_rule_prints_as_it_is_written_with_its_precedence(x, y, z):
    a, b, c = x["a"], y["b"], z["c"]
    assert str(a) == 'x["a"]'
    assert str(~a) == '~x["a"]'
    assert str(a & b | c) == '(x["a"] & y["b"]) | z["c"]'
    assert str(a & (b | c)) == 'x["a"] & (y["b"] | z["c"])'
    assert str(~(a & b)) == '~(x["a"] & y["b"])'
    assert str(a >> (b >> c)) == 'x["a"] >> (y["b"] >> z["c"])'
    assert str((a >> b) >> c) == '(x["a"] >> y["b"]) >> z["c"]'
    assert str(at_most(1, a, b & c)) == 'x["a"] + (y["b"] & z["c"]) <= 1'
    assert str(at_least(1, a, b)) == 'x["a"] + y["b"] >= 1'
    assert str(exactly(1, a, b)) == 'x["a"] + y["b"] == 1'
    assert str(2 * a + b <= 3) == '2*x["a"] + y["b"] <= 3'
    assert str(2 * a + b + 4) == '2*x["a"] + y["b"] + 4'
    assert str(count() <= 0) == "0 <= 0"
    assert str(Linear(((1, a),), 0, 1)) == '0 <= x["a"] <= 1'
    assert str(one_of([x, y], [("a", "a")])) == "one_of([x, y], 1 tuples)"
    assert str(all_of()) == "always"
    assert str(any_of()) == "never"


def nodes_of(rule):
    return itertools.chain([rule], *(nodes_of(inner) for inner in language.children(rule)))


def is_summary(node) -> bool:
    """Not Python: always, never, and == between one rule and a number."""
    if isinstance(node, Linear):
        return len(node.terms) == 1 and node.lower == node.upper
    return isinstance(node, And | Or) and not node.of


@given(st.data())
@settings(max_examples=60)
def test_what_a_rule_prints_reads_back_as_the_same_rule(data):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(3)]
    rule = data.draw(rules(variables))
    printed = str(rule)
    if re.search("tuples|acyclic", printed) or any(is_summary(node) for node in nodes_of(rule)):
        return
    again = eval(printed, {v.name: v for v in variables})  # noqa: S307
    columns = dict(enumerate(np.indices((3, 3, 3)).reshape(3, -1)))
    assert again.holds(columns).tolist() == rule.holds(columns).tolist()


def test_the_set_of_nodes_is_closed_and_the_tests_know_all_of_it():
    nodes = {kind for kind in vars(language).values() if isinstance(kind, type)}
    known = {kind.__name__ for kind in nodes if issubclass(kind, Rule)} - {"Rule"}
    expected = "Is Not And Or Implies Tuples Linear LinearRows Acyclic"
    assert known == set(expected.split())


@pytest.mark.parametrize(
    "ask",
    [
        language.children,
        lambda rule: rule.holds({0: np.zeros(1, dtype=np.int64)}),
        lambda rule: rule.form({}),
        lambda rule: lower([2], [rule]),
        lambda rule: reason(rule, [0]),
    ],
)
def test_a_node_from_outside_is_refused_by_name(ask):
    class Maybe(Rule):
        def __repr__(self):
            return "Maybe()"

    with pytest.raises(RuleError, match=r"Maybe\(\)"):
        ask(Maybe())


# -- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, y: x["a"] and y["a"],
        lambda x, y: not x["a"],
        lambda x, y: 1 <= count(x["a"], y["a"]) <= 2,
    ],
)
def test_the_truth_of_a_rule_is_answered_by_a_sentence_that_teaches(wrong, x, y):
    with pytest.raises(RuleError) as raised:
        wrong(x, y)
    sentence = str(raised.value)
    assert "neither true nor false" in sentence
    assert "join rules with &, |, ~ and >>" in sentence
    assert "1 <= count <= 2" in sentence
    assert "space.holds(labels)" in sentence


def test_the_truth_of_a_count_is_answered_by_a_sentence_that_teaches(x):
    with pytest.raises(RuleError, match="compare it with <=, >= or == to get a rule"):
        bool(x["a"] + 1)


@pytest.mark.parametrize("label", ["c", 0, None, ["a"], ("a", "b")])
def test_a_label_that_does_not_exist_lists_those_that_do(x, label):
    with pytest.raises(LabelError, match=r"'x' has no label .*; its labels are 'a', 'b'"):
        x[label]


def test_of_many_labels_the_first_twenty_are_listed(builder):
    many = builder.variable("many", [f"label{i}" for i in range(25)])
    with pytest.raises(LabelError) as raised:
        many["label25"]
    assert "'label19', …" in str(raised.value)
    assert "label20" not in str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (lambda x, y: x["a"] & y, r"& got the variable 'y'; pick a label: y\['a'\]"),
        (lambda x, y: x & y["a"], r"& got the variable 'x'; pick a label: x\['a'\]"),
        (lambda x, y: x | y["a"], r"\| got the variable 'x'; pick a label"),
        (lambda x, y: x >> y["a"], r">> got the variable 'x'; pick a label"),
        (lambda x, y: ~x, r"~ got the variable 'x'; pick a label"),
        (lambda x, y: x ^ y, r"\^ got the variable 'x'; pick a label"),
        (lambda x, y: 2 * x + y["a"], r"\* got the variable 'x'; pick a label"),
        (lambda x, y: sum([x, y]), r"\+ got the variable 'x'; pick a label"),
        (lambda x, y: x["a"] ^ y["a"], r"write exactly\(1, a, b\)"),
        (lambda x, y: x["a"] | "b", r"\| joins two rules such as variable\['label'\], got 'b'"),
        (lambda x, y: x["a"] >> True, r">> joins two rules .* got True"),
        (lambda x, y: all_of(x), r"got the variable 'x'; pick a label"),
        (lambda x, y: any_of([x["a"], 3]), r"joins two rules .* got 3"),
        (lambda x, y: at_most(1, 5), r"variable\['label'\].*got 5"),
        (lambda x, y: at_most(1, "ab"), r"variable\['label'\].*got 'ab'"),
        (lambda x, y: at_most(x["a"], y["a"]), r"at_most takes a whole number"),
        (lambda x, y: at_least(1.5, x["a"]), r"at_least takes a whole number, got 1\.5; scale"),
        (lambda x, y: at_most(-1, x["a"]), r"at_most takes a whole number of at least 0, got -1"),
        (lambda x, y: at_least(-1, x["a"]), r"at_least takes a whole number of at least 0"),
        (lambda x, y: exactly(-2, x["a"]), r"exactly takes a whole number of at least 0, got -2"),
        (lambda x, y: exactly("1", x["a"]), r"exactly takes a whole number, got '1'"),
        (lambda x, y: exactly(True, x["a"]), r"exactly takes a whole number, got True"),
        (lambda x, y: 0.5 * x["a"], r"multiplied by a whole number, got 0\.5; scale"),
        (lambda x, y: (x["a"] + y["a"]) * 0.5, r"multiplied by a whole number, got 0\.5; scale"),
        (lambda x, y: x["a"] * y["a"], r"multiplied by a whole number"),
        (lambda x, y: x["a"] + 0.5, r"whole number, got 0\.5"),
        (lambda x, y: count(x["a"]) <= 0.5, r"whole number, got 0\.5"),
        (lambda x, y: count(x["a"]) == None, r"whole number, got None"),  # noqa: E711
        (lambda x, y: all_different(x["a"], y["a"]), r"variable"),
        (lambda x, y: all_different([x, 3]), r"all_different takes variables, got 3"),
        (
            lambda x, y: all_different(x, [y, x]),
            r"all_different takes variables, got the same variable twice",
        ),
        (lambda x, y: one_of([x["a"]], ["a"]), r"one_of takes a list of variables first"),
        (lambda x, y: one_of([x, x], ["aa"]), r"the same variable twice; list each variable once"),
        (lambda x, y: one_of([x, y], ["a"]), r"for 2 variables; give one label per variable"),
    ],
)
def test_what_is_not_a_rule_is_refused_with_what_to_do(wrong, match, x, y):
    with pytest.raises(RuleError, match=match):
        wrong(x, y)


def test_numpy_numbers_are_whole_numbers(x, y):
    rule = np.int64(2) * x["b"] + y["b"] <= np.int32(2)
    assert table(rule, 2, 2) == [1, 1, 1, 0]


def test_a_variable_is_not_a_sequence_of_its_labels(x):
    with pytest.raises(TypeError, match=r"its labels are x\.labels"):
        list(x)


def test_counts_cannot_be_keys_because_comparing_them_makes_rules(x):
    with pytest.raises(TypeError, match="unhashable"):
        hash(x["a"] + 0)


@pytest.mark.parametrize("large", [2**53, 2**61, 2**63, 2**64, 10**400])
@pytest.mark.parametrize("sign", [1, -1])
def test_sums_that_do_not_stay_exact_are_refused(large, sign):
    builder = SpaceBuilder()
    a = [builder.variable(f"x{j}", "ab")["a"] for j in range(5)]
    for rule in (
        lambda: sign * large * count(a) <= sign * large,
        lambda: sign * large * a[0] >= 0,
        lambda: count(a) <= sign * large,
        lambda: count(a) == sign * large,
        lambda: sign * (large // 2) * (a[0] + a[1]) <= 0,
        lambda: (large // 2) * a[0] - (large // 2) * a[1] <= 0,
        lambda: Linear(((sign * large, a[0]),), None, 0),
    ):
        with pytest.raises(RuleError, match=r"stay below 2\*\*53 .* divide"):
            rule()


def test_sums_just_below_what_is_exact_are_counted_right():
    builder = SpaceBuilder()
    a = [builder.variable(f"x{j}", "ab")["a"] for j in range(4)]
    large = (2**53 - 1) // 5
    builder.require(large * count(a) <= large)
    outputs = np.array(list(itertools.product(range(2), repeat=4)))
    space = builder.build()
    assert space.holds(outputs).tolist() == ((outputs == 0).sum(axis=1) <= 1).tolist()
    assert space.satisfied(outputs).tolist() == space.holds(outputs).tolist()
