"""A network says the same as its space: tables, rows, domains, and where scores come from."""

from __future__ import annotations

import gc
import itertools
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.space import SpaceBuilder, any_of, at_least, at_most, exactly, network, one_of
from rote.space.network import NUMBERS, Table, assemble, split, spread
from tests.bundles import as_arrays
from tests.strategies import Judge, known_value, rules_as_rows, spaces


def chain(n, labels="ab"):
    builder = SpaceBuilder()
    return builder, [builder.variable(f"x{j}", labels) for j in range(n)]


def domains(space):
    net = space.network
    return [net.allowed[net.offsets[j] : net.offsets[j + 1]].tolist() for j in range(net.variables)]


def entry_of(net, b, labels):
    """The entry of table b that these labels choose."""
    places = range(net.scope_ptr[b], net.scope_ptr[b + 1])
    return int(net.table_ptr[b] + sum(net.strides[k] * labels[net.scope[k]] for k in places))


def was_feasible(net, labels) -> bool:
    """Whether labels of all variables, auxiliary ones too, stay inside domains, tables, rows."""
    if not all(net.allowed[net.offsets[j] + a] for j, a in enumerate(labels)):
        return False
    if not all(net.allowed[entry_of(net, b, labels)] for b in range(net.blocks)):
        return False
    columns = {int(net.offsets[j]) + a for j, a in enumerate(labels)}
    rows = net.rows
    for r in range(len(rows)):
        span = range(rows.indptr[r], rows.indptr[r + 1])
        total = sum(rows.data[k] for k in span if int(rows.indices[k]) in columns)
        if not rows.lower[r] <= total <= rows.upper[r]:
            return False
    return True


@given(spaces(), st.sampled_from([None, 1, 4, 16]))
@settings(max_examples=75)
def test_tables_and_rows_together_allow_what_the_rules_allow(space, max_entries):
    with rules_as_rows(max_entries):
        network = space.network
    extra = network.variables - network.own
    if extra > 6:
        return
    judge, ends = Judge(space), list(itertools.product(range(2), repeat=extra))
    for net in (network, network.per_factor_tables):
        found = [
            labels
            for labels in judge.everything
            if any(was_feasible(net, labels + more) for more in ends)
        ]
        assert found == judge.outputs


@given(spaces(), st.sampled_from([None, 1]))
@settings(max_examples=75)
def test_satisfied_says_what_holds_says(space, max_entries):
    everything = Judge(space).everything_as_array
    with rules_as_rows(max_entries):
        assert space.satisfied(everything).tolist() == space.holds(everything).tolist()


@given(spaces(least=1), st.sampled_from([None, 1]))
@settings(max_examples=75)
def test_gathered_scores_of_an_output_add_up_to_its_value(space, max_entries):
    with rules_as_rows(max_entries):
        together, apart = space.network, space.network.per_factor_tables
    scores = np.random.default_rng(space.parts).normal(size=space.parts)
    for net, labels in itertools.product((together, apart), Judge(space).outputs[:20]):
        more = labels + (0,) * (net.variables - net.own)
        entries = [int(net.offsets[j]) + a for j, a in enumerate(more)]
        entries += [entry_of(net, b, more) for b in range(net.blocks)]
        gathered = [net.gather[net.gather_ptr[e] : net.gather_ptr[e + 1]] for e in entries]
        assert scores[np.concatenate(gathered)].sum() == pytest.approx(
            known_value(space, scores, labels)
        )


@given(spaces(least=1))
@settings(max_examples=75)
def test_a_label_out_of_its_domain_is_in_no_output(space):
    taken = {(j, a) for labels in Judge(space).outputs for j, a in enumerate(labels)}
    for j, domain in enumerate(domains(space)):
        for a, is_open in enumerate(domain):
            assert is_open or (j, a) not in taken


def test_a_rule_over_one_variable_closes_labels_and_makes_no_table():
    builder, (x, _) = chain(2, "abc")
    builder.require(x["a"] | x["c"])
    space = builder.build()
    assert domains(space) == [[True, False, True], [True] * 3]
    assert space.network.blocks == 0
    assert len(space.network.rows) == 0


def test_labels_without_support_are_closed_all_along_a_chain_of_rules():
    builder, variables = chain(4)
    builder.require(variables[0]["a"])
    for x, y in itertools.pairwise(variables):
        builder.require(x["a"] >> y["a"])
    assert domains(builder.build()) == [[True, False]] * 4


def test_a_rule_goes_into_the_table_of_a_factor_that_covers_it():
    builder, (x, y, z) = chain(3)
    builder.factor(z, x, y)
    builder.require(x["a"] >> y["b"])
    builder.require(z["a"] | x["b"])
    net = builder.build().network
    assert net.blocks == 1
    (table,) = net.tables()
    assert table.scope == (2, 0, 1)
    for c, a, b in itertools.product(range(2), repeat=3):
        assert table.allowed[c, a, b] == ((a == 1 or b == 1) and (c == 0 or a == 1))
    assert len(table.sources) == 1


def test_taken_apart_a_factor_and_a_rule_have_a_table_each():
    builder, (x, y, z) = chain(3)
    builder.factor(x, y)
    builder.require(at_most(2, x["a"], y["a"], z["a"]))
    network = builder.build().network
    assert [table.scope for table in network.tables()] == [(0, 1, 2)]
    assert [table.scope for table in network.per_factor_tables.tables()] == [(0, 1), (0, 1, 2)]
    assert [len(table.sources) for table in network.per_factor_tables.tables()] == [1, 0]
    assert network.per_factor_tables.rows is network.rows
    # Where nothing was merged there is nothing to take apart.
    assert network.per_factor_tables.per_factor_tables is network.per_factor_tables


@pytest.mark.parametrize(
    ("variables", "labels", "tabled"),
    [(2, 512, True), (2, 513, False), (4, 11, True), (4, 12, False), (8, 2, True), (9, 2, False)],
)
def test_a_rule_with_few_joint_labellings_is_a_table_and_others_stay_rows(
    variables, labels, tabled
):
    builder = SpaceBuilder()
    names = [str(a) for a in range(labels)]
    chosen = [builder.variable(f"x{j}", names) for j in range(variables)]
    rule = at_most(1, [x["0"] for x in chosen])
    assert split(builder.build().sizes, [rule]) == (([rule], []) if tabled else ([], [rule]))


def test_long_rules_are_the_last_rows_of_the_space():
    builder, variables = chain(10)
    builder.require(at_most(4, [x["a"] for x in variables]))
    builder.require(variables[0]["a"] >> variables[1]["b"])
    builder.require(at_least(2, [x["b"] for x in variables]))
    space = builder.build()
    assert len(space.rows) == 3
    assert len(space.network.rows) == 2
    assert space.rows.lower[1:].tolist() == space.network.rows.lower.tolist()
    assert space.rows.upper[1:].tolist() == space.network.rows.upper.tolist()
    assert space.network.blocks == 1


def test_an_auxiliary_column_becomes_a_variable_with_two_labels():
    builder, variables = chain(10)
    pairs = [x["a"] & y["a"] for x, y in itertools.pairwise(variables)]
    builder.require(exactly(2, pairs))
    space = builder.build()
    net = space.network
    assert net.own == 10
    assert net.variables == 10 + space.rows.auxiliary == 19
    assert net.sizes.tolist() == [2] * 19
    assert net.rows.auxiliary == 0
    assert net.rows.labels == net.labels == 38
    own = net.rows.indices[net.rows.indices >= space.labels]
    assert (own % 2 == 1).all()  # the second label stands for 1


def test_networks_of_spaces_without_variables_and_without_anything_to_join():
    assert SpaceBuilder().build().network.variables == 0
    builder, _ = chain(3)
    net = builder.build().network
    assert (net.blocks, len(net.rows), net.labels) == (0, 0, 6)
    assert list(net.message_ptr) == [0]


def test_messages_have_one_number_per_label_of_each_place():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "abc")
    z = builder.variable("z", "abcd")
    builder.factor(x, y)
    builder.factor(z, x, y)
    builder.factor(z, y)
    net = builder.build().network
    assert net.blocks == 1  # the larger factor takes the others in
    assert list(net.message_ptr) == [0, 4, 6, 9]


def arrays_in(bundle):
    """The arrays of a bundle, and of the bundles inside it."""
    values = vars(as_arrays(bundle) if not isinstance(bundle, SimpleNamespace) else bundle).values()
    found = [value for value in values if isinstance(value, np.ndarray)]
    inner = [value for value in values if isinstance(value, SimpleNamespace)]
    return found + [array for value in inner for array in arrays_in(value)]


def test_the_arrays_of_a_network_cannot_be_written():
    builder, variables = chain(10)
    builder.factor(variables[0], variables[1])
    builder.require(at_most(4, [x["a"] for x in variables]))
    net = builder.build().network
    arrays = [value for value in vars(net).values() if isinstance(value, np.ndarray)]
    arrays += arrays_in(net.graph.source)
    arrays += [net.rows.indices, net.rows.data, net.label_variable]
    assert len(arrays) > 14
    assert [a for a in arrays if a.flags.writeable] == []


def test_groups_of_a_row_know_the_least_and_the_most_their_variable_adds():
    builder = SpaceBuilder()
    names = [str(a) for a in range(300)]
    x, y = builder.variable("x", names), builder.variable("y", names)
    z = builder.variable("z", "ab")
    rule = 2 * x["0"] - 3 * x["1"] + 4 * y["7"] + z["a"] + 5 * z["b"] <= 6
    builder.require(rule)
    with rules_as_rows():
        rows = as_arrays(builder.build().network.graph.rows)
    assert rows.variable.tolist() == [0, 1, 2]
    assert rows.least.tolist() == [-3.0, 0.0, 1.0]  # z takes one of its labels
    assert rows.most.tolist() == [2.0, 4.0, 5.0]
    assert rows.ptr.tolist() == [0, 3]


def test_a_rule_of_one_form_is_worked_out_once_for_all_its_variables(monkeypatch):
    builder, variables = chain(20, "abcd")
    for x, y in itertools.pairwise(variables):
        builder.require(one_of([x, y], ["aa", "ab", "cd"]))
    asked = []
    holds = network.Rule.holds
    monkeypatch.setattr(
        network.Rule, "holds", lambda rule, columns: asked.append(rule) or holds(rule, columns)
    )
    assert builder.build().network.blocks == 19
    assert len(asked) == 1


# -- pieces -------------------------------------------------------------------------------


def test_spread_puts_axes_where_a_larger_scope_has_them():
    array = np.arange(6).reshape(2, 3)  # over (4, 1)
    placed = spread(array, (4, 1), (1, 3, 4))
    assert placed.shape == (3, 1, 2)
    for a, b in itertools.product(range(2), range(3)):
        assert placed[b, 0, a] == array[a, b]


# -- what networks share ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "scopes"),
    [
        ((3, 2, 4), ()),
        ((3, 2, 4), ((0, 1), (1, 2))),
        ((2, 3, 2, 2), ((2, 0, 1), (3, 1, 0))),
        ((), ()),
    ],
)
def test_the_network_of_factors_alone_is_laid_out_as_any_other(sizes, scopes):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abcd"[:size]) for j, size in enumerate(sizes)]
    for scope in scopes:
        builder.factor(*(variables[j] for j in scope))
    space = builder.build()
    found = space.network
    tables = []
    for scope, first, end in zip(
        scopes, space.factor_offsets[:-1], space.factor_offsets[1:], strict=True
    ):
        shape = tuple(sizes[j] for j in scope)
        parts = np.arange(first, end).reshape(shape)
        tables.append(Table(scope, np.ones(shape, dtype=np.bool_), (parts,)))
    expected = assemble(
        space.sizes,
        len(sizes),
        [np.ones(size, dtype=np.bool_) for size in sizes],
        [[np.arange(space.offsets[j], space.offsets[j + 1])] for j in range(len(sizes))],
        tables,
        found.rows,
    )
    assert found.is_plain
    assert expected.is_plain
    for name in ("sizes", "offsets", "scope_ptr", "scope", "strides", "table_ptr"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
        assert getattr(found, name).dtype == np.int64
    for name in ("allowed", "gather_ptr", "gather"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
        assert not getattr(found, name).flags.writeable


def test_networks_that_merge_tables_or_forbid_something_are_not_plain():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    plain = builder.build()
    builder.factor(y, x)
    twice = builder.build()
    builder.require(x["a"] >> y["b"])
    ruled = builder.build()
    assert [space.network.is_plain for space in (plain, twice, ruled)] == [True, False, False]


def test_a_rule_that_widens_a_scope_by_one_label_keeps_scope_and_strides_together():
    builder = SpaceBuilder()
    x, y, z = (
        builder.variable(name, labels)
        for name, labels in zip("xyz", ["ab", "a", "abc"], strict=True)
    )
    builder.factor(x, z)
    builder.require(any_of([x["a"], x["b"], y["a"] & z["a"]]))  # says nothing, over all three
    network = builder.build().network
    assert network.scope.tolist() == [0, 1, 2]
    assert network.strides.tolist() == [3, 3, 1]
    assert network.scope_ptr.tolist() == [0, 3]


def test_prefixes_are_shared_and_go_when_nobody_holds_one():
    short, long = NUMBERS(10), NUMBERS(1000)
    assert short.tolist() == list(range(10))
    assert np.shares_memory(short, long)
    more = NUMBERS(1 << 21)
    assert more[-1] == (1 << 21) - 1
    assert NUMBERS.instead_of(np.arange(5))[1]
    assert not NUMBERS.instead_of(np.array([0, 1, 3]))[1]
    whole = weakref.ref(more.base)
    del more
    gc.collect()
    assert whole() is None
