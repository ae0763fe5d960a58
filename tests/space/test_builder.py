"""`SpaceBuilder` refuses what cannot be built, and `template` builds each shape once."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rote.errors import InfeasibleSpace, RuleError, SpaceError
from rote.space import SpaceBuilder, all_different, all_of, any_of, count, one_of, template
from rote.tasks.entity_relation import entity_relation_space


def test_a_builder_may_go_on_after_a_space_was_built(builder):
    builder.variable("x", "ab")
    first = builder.build()
    builder.variable("y", "ab")
    assert len(first.variables) == 1
    assert len(builder.build().variables) == 2


def test_factors_and_rules_have_names_that_can_be_chosen(builder, x, y):
    builder.factor(x, y)
    builder.factor(y, x, name="back")
    builder.require(x["a"] >> y["b"])
    builder.require(y["a"] >> x["b"], "the other way")
    space = builder.build()
    assert [f.name for f in space.factors] == ["x-y", "back"]
    assert [r.name for r in space.rules] == ['x["a"] >> y["b"]', "the other way"]


# -- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "labels", "match"),
    [
        ("x", [], "'x' has no labels; give it at least one"),
        ("x", ["a", "b", "b"], "'x' has the label 'b' twice; drop one"),
        ("x", ["a", None], "labels are strings; variable 'x' has None"),
        ("x", [("a",)], "labels are strings; variable 'x' has"),
        ("x", {"a", "b"}, "a list or tuple of strings"),
        ("x", iter("ab"), "a list or tuple of strings"),
        ("y", "cd", "called 'y' already; give this one another name"),
        (3, "ab", "a variable's name is a string, got 3"),
    ],
)
def test_variables_that_cannot_be_are_refused_and_leave_no_trace(builder, name, labels, match):
    builder.variable("y", "ab")
    with pytest.raises(SpaceError, match=match):
        builder.variable(name, labels)
    builder.variable("x", "ab")
    assert len(builder.build().variables) == 2


def test_a_factor_is_over_two_or_more_different_variables(builder, x):
    for wrong in ([], [x], [x, x]):
        with pytest.raises(SpaceError, match="a factor is over two or more different variables"):
            builder.factor(*wrong)


def test_a_factor_twice_over_the_same_variables_is_refused_in_the_same_order_only(builder, x, y):
    builder.factor(x, y)
    builder.factor(y, x)
    with pytest.raises(SpaceError, match=r"over \['x', 'y'\] already; add the scores up instead"):
        builder.factor(x, y)


def test_a_factor_is_over_variables_and_not_over_rules(builder, x, y):
    with pytest.raises(SpaceError, match=r"over variables made by builder\.variable"):
        builder.factor(x, y["a"])


@pytest.mark.parametrize("variables", [32, 64, 65])
def test_a_factor_with_too_many_label_tuples_is_refused(builder, variables):
    chosen = [builder.variable(f"x{j}", "ab") for j in range(variables)]
    with pytest.raises(SpaceError, match=f"over these {variables} variables has more; use global"):
        builder.factor(*chosen)
    builder.factor(*chosen[:31])
    assert builder.build().parts == 2 * variables + 2**31


def test_a_variable_of_another_space_is_refused_even_with_the_same_name(builder, x, y):
    foreign = SpaceBuilder().variable("x", "ab")
    for wrong in (
        foreign["a"] >> y["b"],
        x["a"] & ~foreign["b"],
        count(x["a"], foreign["a"]) <= 1,
        one_of([foreign, y], ["ab"]),
        all_different(x, y, foreign),
    ):
        with pytest.raises(RuleError, match="'x' of another space; use the variables that this"):
            builder.require(wrong)
    with pytest.raises(SpaceError, match="the variable 'x' of another space") as raised:
        builder.factor(foreign, y)
    assert not isinstance(raised.value, RuleError)
    assert builder.build().rules == ()


def test_variables_looked_up_in_a_built_space_belong_to_its_builder(builder):
    builder.variable("x", "ab")
    builder.require(builder.build()["x"]["a"])
    other = SpaceBuilder()
    other.variable("x", "ab")
    with pytest.raises(RuleError, match="of another space"):
        builder.require(other.build()["x"]["a"])
    assert len(builder.build().rules) == 1


@pytest.mark.parametrize(
    "wrong",
    [lambda x: "x", lambda x: None, lambda x: [x["a"]], lambda x: x, lambda x: x["a"] + 0],
)
def test_require_takes_rules_only(builder, wrong):
    x = builder.variable("x", "ab")
    with pytest.raises(RuleError, match=r"require takes a rule such as x\['a'\] >> y\['b'\], got"):
        builder.require(wrong(x))
    with pytest.raises(RuleError, match="== and != compare Python objects, write"):
        builder.require(x["a"] == x["b"])


def test_a_rule_about_nothing_is_left_out_where_it_holds(builder, x):
    for empty in (all_of(), all_different(x), count() <= 0, one_of([], [()]), ~any_of()):
        builder.require(empty)
    assert builder.build().rules == ()


def test_a_rule_about_nothing_that_never_holds_is_answered_at_once(builder):
    for empty in (any_of(), count() >= 1, one_of([], []), ~all_of()):
        with pytest.raises(InfeasibleSpace) as raised:
            builder.require(empty, "the impossible")
        assert raised.value.conflicting_rules == ("the impossible",)


# -- templates ----------------------------------------------------------------------------


def test_a_template_builds_each_shape_once():
    built = []

    @template
    def row(builder: SpaceBuilder, n: int, labels: str = "ab") -> None:
        built.append((n, labels))
        variables = [builder.variable(f"x{j}", labels) for j in range(n)]
        builder.require(all_different(variables))

    assert row(2) is row(2)
    assert row(2, "abc") is row(2, "abc")
    assert row(2) is not row(2, "abc")
    assert row(3).parts == 6
    assert built == [(2, "ab"), (2, "abc"), (3, "ab")]


def test_a_sentence_with_four_entities_builds_in_milliseconds_when_it_is_new():
    def fresh(k):
        return entity_relation_space(4, entity_labels=("Peop", "Loc", "Org", f"Other{k}"))

    fresh(-1)
    times = []
    for k in range(5):
        began = time.perf_counter()
        fresh(k)
        times.append(time.perf_counter() - began)
    assert np.median(times) < 0.1
