"""Which rules conflict: a minimal set, found in reasonable time, with its names in the error."""

import time

import pytest
from hypothesis import given

from rote.engines import Exact, find_conflict
from rote.errors import InfeasibleSpace
from rote.inference.infeasibility import is_feasible
from rote.space import Space, SpaceBuilder, all_different, at_least, at_most
from rote.tasks.entity_relation import ARGUMENTS, ENTITY_LABELS, RELATION_LABELS, pairs
from tests.strategies import Judge, rules_as_rows, spaces


@given(spaces(max_rules=6, depth=1))
def test_a_conflict_is_empty_or_minimal(space):
    check_conflict(space)


@given(spaces(max_rules=5, depth=2))
def test_a_conflict_is_empty_or_minimal_when_rules_stay_rows(space):
    with rules_as_rows():
        check_conflict(space)


def check_conflict(space):
    feasible = Judge(space).feasible
    assert is_feasible(space) == feasible
    conflict = find_conflict(space)
    if feasible:
        assert conflict == ()
        return
    assert conflict
    assert not Judge(Space(space.variables, (), conflict)).feasible
    for one in conflict:
        rest = tuple(rule for rule in conflict if rule is not one)
        assert Judge(Space(space.variables, (), rest)).feasible
    # In the order in which they were required.
    assert list(conflict) == [rule for rule in space.each_rule if rule in conflict]


def test_one_rule_may_conflict_with_itself():
    builder = SpaceBuilder()
    x = builder.variable("x", "ab")
    builder.require(x["a"], "fine")
    builder.require(x["a"] & x["b"], "impossible")
    assert [rule.name for rule in find_conflict(builder.build())] == ["impossible"]


def test_a_pigeon_too_many_is_one_rule_and_needs_no_other():
    builder = SpaceBuilder()
    pigeons = [builder.variable(f"pigeon{k}", ["left", "right"]) for k in range(3)]
    builder.require(pigeons[0]["left"], "the first sits left")
    builder.require(all_different(pigeons), "one each")
    assert [rule.name for rule in find_conflict(builder.build())] == ["one each"]


def test_rules_without_a_name_are_named_by_their_text():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["a"])
    builder.require(x["a"])
    builder.require(y["b"])
    with pytest.raises(InfeasibleSpace) as raised:
        Exact().solve(builder.build(), [0.0] * 4)
    assert raised.value.conflicting_rules == ('x["a"] >> y["a"]', 'x["a"]', 'y["b"]')
    assert str(raised.value).endswith('  - x["a"] >> y["a"]\n  - x["a"]\n  - y["b"]')


def sentence(n, *, also):
    """An entity-relation sentence, with further rules between those of the task."""
    builder = SpaceBuilder()
    entity = [builder.variable(f"e{i}", ENTITY_LABELS) for i in range(n)]
    relation = {(i, j): builder.variable(f"r{i}_{j}", RELATION_LABELS) for i, j in pairs(n)}
    for k, ((i, j), variable) in enumerate(relation.items()):
        for label, (first, second) in ARGUMENTS.items():
            builder.require(variable[label] >> (entity[i][first] & entity[j][second]))
        if i < j:
            builder.require(variable["none"] | relation[j, i]["none"])
        if k in also:
            name, rule = also[k]
            builder.require(rule(entity, relation), name)
    return builder.build()


def test_three_contradictory_rules_are_found_among_hundreds():
    space = sentence(
        6,
        also={
            2: ("no people at the ends", lambda e, r: ~e[0]["Peop"] & ~e[5]["Peop"]),
            14: ("one of them is a person", lambda e, r: e[0]["Peop"] | e[3]["Peop"]),
            20: ("few organisations", lambda e, r: at_most(5, [x["Org"] for x in e])),
            27: ("the fourth is a place", lambda e, r: e[3]["Loc"]),
        },
    )
    assert len(space.rules) > 160
    began = time.perf_counter()
    names = [rule.name for rule in find_conflict(space)]
    assert time.perf_counter() - began < 20
    assert names == ["no people at the ends", "one of them is a person", "the fourth is a place"]


def test_a_conflict_runs_through_the_rules_of_the_task_where_it_must():
    space = sentence(
        4,
        also={
            3: ("a killing", lambda e, r: r[0, 1]["Kill"]),
            7: ("nobody", lambda e, r: at_least(4, [~x["Peop"] for x in e])),
        },
    )
    names = [rule.name for rule in find_conflict(space)]
    assert names == ['r0_1["Kill"] >> (e0["Peop"] & e1["Peop"])', "a killing", "nobody"]
