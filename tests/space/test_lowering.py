"""Rows hold exactly where rules do, are few where that is easy, and auxiliary columns are rare."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.errors import RuleError
from rote.space import (
    SpaceBuilder,
    all_different,
    all_of,
    any_of,
    at_least,
    at_most,
    count,
    exactly,
    lowering,
    one_of,
)
from rote.space.language import Rule
from rote.space.lowering import lower, lower_as_written
from rote.tasks.entity_relation import entity_relation_space
from tests.strategies import LETTERS, Judge, holds, rules, rules_as_rows, spaces


def variables_of(*sizes, names="xyzuvw"):
    builder = SpaceBuilder()
    return [
        builder.variable(name, LETTERS[:size]) for name, size in zip(names, sizes, strict=False)
    ]


def dense(rows):
    matrix = np.zeros((len(rows), rows.columns))
    for r in range(len(rows)):
        span = slice(rows.indptr[r], rows.indptr[r + 1])
        matrix[r, rows.indices[span]] = rows.data[span]
    return matrix


def columns_of(sizes, labels):
    """The 0/1 columns of one output."""
    return np.concatenate([np.eye(size)[a] for size, a in zip(sizes, labels, strict=True)])


def rows_hold(rows, sizes):
    """A function that says whether some choice of the auxiliary columns satisfies every row."""
    matrix = dense(rows)
    choices = np.array(list(itertools.product([0, 1], repeat=rows.auxiliary)), dtype=np.float64)
    added = choices.reshape(2**rows.auxiliary, rows.auxiliary) @ matrix[:, rows.labels :].T

    def hold(labels) -> bool:
        activity = matrix[:, : rows.labels] @ columns_of(sizes, labels) + added
        return bool(((activity >= rows.lower) & (activity <= rows.upper)).all(axis=1).any())

    return hold


def check(rule_or_rules, variables):
    """Lower rules both ways, compare with the judge on every output, and hand the rows back."""
    given_rules = [rule_or_rules] if isinstance(rule_or_rules, Rule) else list(rule_or_rules)
    sizes = [len(variable.labels) for variable in variables]
    rows = lower(sizes, given_rules)
    hold = rows_hold(rows, sizes)
    hold_too = rows_hold(lower_as_written(sizes, given_rules), sizes)
    for labels in itertools.product(*map(range, sizes)):
        right = all(holds(rule, labels) for rule in given_rules)
        assert hold(labels) == hold_too(labels) == right, labels
    return rows


# -- rows and rules agree -----------------------------------------------------------------


@given(st.data())
@settings(max_examples=100)
def test_rows_hold_exactly_where_nested_rules_do(data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    variables = variables_of(*sizes)
    found = [data.draw(rules(variables)) for _ in range(data.draw(st.integers(1, 2)))]
    if lower(sizes, found).auxiliary <= 8:
        check(found, variables)


@given(spaces(least=1), st.sampled_from([None, 1, 4, 16]))
@settings(max_examples=60)
def test_the_rows_of_a_space_do_not_depend_on_which_rules_become_tables(space, max_entries):
    with rules_as_rows(max_entries):
        rows = space.rows
    if rows.auxiliary > 8:
        return
    judge, hold = Judge(space), rows_hold(rows, space.sizes)
    assert [labels for labels in judge.everything if hold(labels)] == judge.outputs


@pytest.mark.parametrize(
    "make",
    [
        lambda p, q, r: (p >> q) & (q >> p),
        lambda p, q, r: ~exactly(2, p, q, r),
        lambda p, q, r: p >> (exactly(1, q, r)),
        lambda p, q, r: exactly(1, q, r) >> p,
        lambda p, q, r: at_most(1, p, q) | at_least(1, q, r),
        lambda p, q, r: exactly(1, p & q, q & r, p | r),
        lambda p, q, r: at_most(1, ~p, at_least(1, q, r)),
        lambda p, q, r: 2 * (p & q) - 3 * (q | r) >= -1,
        lambda p, q, r: r - (p & q) == 0,
        lambda p, q, r: r - (p | q) <= -1,
        lambda p, q, r: (p & r) - (p | q) == 0,
        lambda p, q, r: -2 * (p & q) == -2 * r,
        lambda p, q, r: all_of(),
        lambda p, q, r: any_of(),
        lambda p, q, r: p & ~p,
        lambda p, q, r: p | ~p,
        lambda p, q, r: count(p, p, p) <= 2,
        lambda p, q, r: 0 * p + q <= 0,
    ],
)
def test_each_operator_by_its_truth_table(make):
    x, y, z = variables = variables_of(2, 3, 2)
    check(make(x["b"], y["c"], z["a"]), variables)


def test_one_of_and_all_different_by_their_truth_tables():
    x, y, z = variables = variables_of(3, 3, 2)
    check(one_of([x, y], ["ab", "ba", "cc"]), variables)
    check(~one_of([x, y, z], ["aba", "bab", "cca"]), variables)
    check(one_of([z, x], []), variables)
    check(all_different(x, y, z), variables)
    check(~all_different(x, y), variables)


def test_a_variable_with_one_label_is_a_constant():
    x, y = variables = variables_of(1, 2)
    assert len(check(x["a"], variables)) == 0
    check(~x["a"], variables)
    check(x["a"] >> y["b"], variables)
    check(exactly(1, x["a"], y["b"]), variables)


# -- tight where it is easy ---------------------------------------------------------------


def test_implications_into_the_same_label_are_one_row():
    builder = SpaceBuilder()
    relation = builder.variable("r", ["none", "Kill", "Live_In", "Work_For", "OrgBased_In"])
    person = builder.variable("e", ["Peop", "Loc", "Org", "Other"])
    rows = lower([5, 4], [relation[name] >> person["Peop"] for name in relation.labels[1:4]])
    assert len(rows) == 1
    assert rows.auxiliary == 0
    # The row is z(Kill) + z(Live_In) + z(Work_For) <= z(Peop): a third of each and half a
    # Peop break it, though they obey each implication by itself.
    shares = np.array([0, 1 / 3, 1 / 3, 1 / 3, 0, 0.5, 0.5, 0, 0])
    activity = dense(rows)[0] @ shares
    assert activity < rows.lower[0] - 0.1 or activity > rows.upper[0] + 0.1
    shares[5:7] = [1.0, 0.0]
    assert rows.lower[0] - 1e-9 <= dense(rows)[0] @ shares <= rows.upper[0] + 1e-9


def test_an_entity_relation_sentence_has_six_rows_per_relation_and_one_per_pair():
    # First arguments: {Kill, Live_In, Work_For} need Peop, OrgBased_In Org, Located_In Loc.
    # Second ones: Kill needs Peop, Work_For Org, {Live_In, OrgBased_In, Located_In} Loc.
    for n in (2, 3):
        rows = entity_relation_space(n).rows
        assert len(rows) == 6 * n * (n - 1) + n * (n - 1) // 2
        assert rows.auxiliary == 0


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x, y, z: x["a"] | y["b"] | ~z["c"], 1),
        (lambda x, y, z: x["a"] >> y["b"], 1),
        (lambda x, y, z: (x["a"] & y["b"]) >> z["c"], 1),
        (lambda x, y, z: x["a"] >> (y["b"] & z["c"]), 2),
        (lambda x, y, z: (x["a"] | x["b"]) >> y["b"], 1),
        (lambda x, y, z: x["a"] >> (y["a"] | y["b"]), 1),
        (lambda x, y, z: (x["a"] & y["a"]) | (y["b"] & z["b"]), 4),
        (lambda x, y, z: at_most(1, x["a"], y["a"], z["a"]), 1),
        (lambda x, y, z: at_least(2, x["a"], y["a"], ~z["a"]), 1),
        (lambda x, y, z: exactly(2, x["a"] | x["b"], y["a"], z["a"]), 1),
        (lambda x, y, z: 2 * x["a"] - 3 * y["a"] + z["a"] <= 1, 1),
        (lambda x, y, z: x["a"] >> at_most(1, y["a"], z["a"]), 1),
        (lambda x, y, z: x["a"] >> exactly(1, y["a"], z["a"]), 2),
        (all_different, 3),
        (lambda x, y, z: at_most(1, x["a"], x["b"], x["c"]), None),
        (lambda x, y, z: one_of([x, y], ["aa", "bb", "cc"]), 3),
    ],
)
def test_no_auxiliary_column_where_none_is_needed(make, expected):
    variables = variables_of(3, 3, 3)
    rows = check(make(*variables), variables)
    assert rows.auxiliary == 0
    assert expected is None or len(rows) == expected


def test_what_is_always_true_needs_no_row():
    x, y, _z = variables = variables_of(3, 3, 3)
    for rule in (all_of(), x["a"] | ~x["a"], any_of(x[a] for a in "abc"), y["a"] >> y["a"]):
        assert len(check(rule, variables)) == 0
    assert len(lower([2, 2], [])) == 0


def test_what_is_never_true_is_a_row_that_cannot_be_met():
    x, y = variables_of(3, 2)
    for rule in (any_of(), x["a"] & x["b"], all_of(~x[a] for a in "abc"), x["a"] & ~x["a"]):
        rows = check(rule, [x, y])
        assert len(rows) >= 1


def test_the_same_rule_twice_is_written_once():
    x, y = variables = variables_of(3, 3)
    once = check([x["a"] >> y["b"]], variables)
    twice = check([x["a"] >> y["b"], ~y["b"] >> ~x["a"]], variables)
    assert len(once) == len(twice) == 1
    counted = check([at_most(1, x["a"], y["a"])] * 2, variables)
    assert len(counted) == 1


def test_rules_that_leave_a_clause_no_label_rest_on_the_others():
    x, y = variables = variables_of(3, 3)
    rows = check([x["a"] >> y["a"], x["a"] >> y["b"]], variables)
    assert len(rows) == 1
    assert rows.indices.tolist() == [0]  # x is not a: y drops out


def test_the_room_given_to_a_conditional_count_is_the_least_that_is_safe():
    x, y, z, u = variables = variables_of(2, 2, 2, 2)
    rows = check(x["a"] >> at_most(1, y["a"], z["a"], u["a"]), variables)
    assert len(rows) == 1
    # y + z + u <= 1 + 2 · [x is not a]: the row is met with equality on both sides.
    values = [
        (dense(rows)[0] @ columns_of([2] * 4, labels), labels[0])
        for labels in itertools.product(range(2), repeat=4)
    ]
    assert max(value for value, first in values if first == 1) == rows.upper[0]
    assert max(value for value, first in values if first == 0) > rows.upper[0]


# -- auxiliary columns --------------------------------------------------------------------


def test_a_count_of_what_is_no_label_takes_one_column_each():
    x, y, z, u = variables = variables_of(2, 2, 2, 2)
    pairs = [x["a"] & y["a"], y["a"] & z["a"], z["a"] & u["a"]]
    upper = check(at_most(1, pairs), variables)
    assert upper.auxiliary == 3
    assert len(upper) == 3 + 1  # counting too little is all that could help
    least = check(at_least(2, pairs), variables)
    assert least.auxiliary == 3
    assert len(least) == 6 + 1  # counting too much is all that could help
    both = check(exactly(1, pairs), variables)
    assert both.auxiliary == 3
    assert len(both) == 9 + 1


def test_the_same_formula_counted_twice_shares_its_column():
    x, y, z = variables = variables_of(2, 2, 2)
    pair = x["a"] & y["a"]
    rows = check([at_most(1, pair, z["a"]), at_most(0, pair, z["b"])], variables)
    assert rows.auxiliary == 1


def test_two_counts_joined_by_or_take_a_column():
    x, y, z = variables = variables_of(2, 2, 2)
    rows = check(
        at_most(1, x["a"], y["a"], z["a"]) | at_least(3, x["a"], y["a"], z["a"]), variables
    )
    assert rows.auxiliary == 1


def test_columns_come_in_only_where_clauses_would_multiply(monkeypatch):
    names = [f"x{j}" for j in range(6)]
    variables = variables_of(*[2] * 6, names=names)
    pairs = [all_of(x["a"], y["b"]) for x, y in itertools.pairwise(variables)]
    few = check(any_of(pairs[:4]), variables)
    assert few.auxiliary == 0
    assert len(few) <= 16
    many = check(any_of(pairs), variables)
    assert 0 < many.auxiliary <= 2
    assert len(many) <= lowering.MAX_CLAUSES + 2 * many.auxiliary
    monkeypatch.setattr(lowering, "MAX_CLAUSES", 1000)
    assert check(any_of(pairs), variables).auxiliary == 0


def test_a_long_conjunction_alone_takes_no_column(monkeypatch):
    monkeypatch.setattr(lowering, "MAX_CLAUSES", 2)
    variables = variables_of(*[3] * 6, names=[f"x{j}" for j in range(6)])
    rows = check(variables[0]["a"] >> all_of([~v["a"] for v in variables[1:]]), variables)
    assert rows.auxiliary == 0


# -- what engines rely on -----------------------------------------------------------------


@given(st.data())
@settings(max_examples=75)
def test_columns_of_a_row_are_sorted_different_and_not_zero(data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    variables = variables_of(*sizes)
    rows = lower(sizes, [data.draw(rules(variables)) for _ in range(2)])
    assert rows.labels == sum(sizes)
    assert rows.columns == rows.labels + rows.auxiliary
    assert len(rows.indptr) == len(rows) + 1
    for r in range(len(rows)):
        span = slice(rows.indptr[r], rows.indptr[r + 1])
        assert (np.diff(rows.indices[span]) > 0).all()
        assert (rows.data[span] != 0).all()
    assert ((rows.indices >= 0) & (rows.indices < rows.columns)).all()
    assert np.array_equal(rows.data, np.rint(rows.data))
    assert (rows.lower <= rows.upper).all()
    assert (np.isfinite(rows.lower) | np.isfinite(rows.upper)).all()


def test_a_rule_that_says_nothing_leaves_no_auxiliary_column():
    variables = variables_of(2, 2, 2)
    always = [at_least(0, [v[label] for v in variables]) for label in "ab"]
    rows = check(variables[0]["a"] | (count(always) >= 0), variables)
    assert len(rows) == 0
    assert rows.auxiliary == 0


def test_clauses_that_become_equal_by_merging_are_one_clause():
    x, y, z = variables = variables_of(4, 2, 2)
    check(at_most(0, one_of([z, x, y], ["aaa", "abb", "bbb"])), variables)


def test_a_row_is_divided_by_what_divides_its_coefficients():
    x, y, z = variables = variables_of(2, 2, 2)
    large = 10**8
    rows = check(4 * large * x["a"] + 6 * large * y["a"] <= 7 * large, variables)
    assert (rows.data.tolist(), rows.upper.tolist()) == ([2, 3], [3])
    rows = check(6 * x["a"] - 4 * z["a"] >= -3, variables)
    assert (rows.data.tolist(), rows.lower.tolist()) == ([3, -2], [-1])
    rows = check(2 * y["a"] + 2 * z["a"] == 3, variables)  # never: its ends stay in order
    assert (rows.data.tolist(), rows.lower.tolist(), rows.upper.tolist()) == ([2, 2], [3], [3])


def test_rows_whose_room_is_too_large_to_count_exactly_are_refused():
    x, y, z, u = variables_of(3, 3, 3, 3)
    large = 2**51
    rule = (x["a"] & y["a"] & z["a"]) >> (large * u["a"] - large * u["b"] <= -large)
    with pytest.raises(RuleError, match=r"stay below 2\*\*53"):
        lower([3] * 4, [rule])


def test_clauses_and_counts_of_labels_are_rows_as_they_stand():
    x, y, z = variables_of(2, 3, 2)
    found = [x["a"] >> (y["b"] & ~z["a"]), at_most(1, x["a"], ~y["c"], z["b"])]
    rows = lower_as_written([2, 3, 2], found)
    assert dense(rows).tolist() == [
        [-1, 0, 0, 1, 0, 0, 0],
        [-1, 0, 0, 0, 0, -1, 0],
        [1, 0, 0, 0, -1, 0, 1],
    ]
    assert rows.lower.tolist() == [0, -1, -np.inf]
    assert rows.upper.tolist() == [np.inf, np.inf, 0]
    assert rows.auxiliary == 0
