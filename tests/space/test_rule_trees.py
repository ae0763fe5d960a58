"""Rules as kernels evaluate them say of every output what the rules themselves say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rote import SpaceBuilder, one_of
from rote.kernels.outputs import first_that_breaks
from rote.space.rule_trees import MAX_TABLE, rule_trees
from tests.strategies import Judge, spaces


@given(st.data())
def test_trees_hold_where_rules_do(data):
    space = data.draw(spaces())
    rules = [named.rule for named in space.rules]
    trees, left = rule_trees(rules)
    for number in left.tolist():
        rules[number] = None
    outputs = Judge(space).everything_as_array
    columns = dict(enumerate(outputs.T))
    holds = np.ones(len(outputs), dtype=bool)
    for rule in rules:
        holds &= True if rule is None else rule.holds(columns)
    broken, at = [], first_that_breaks(outputs, trees, 0)
    while at < len(outputs):
        broken.append(at)
        at = first_that_breaks(outputs, trees, at + 1)
    assert broken == np.flatnonzero(~holds).tolist()
    assert [space.obeys(output[None]) for output in outputs] == space.holds(outputs).tolist()


def test_tables_that_are_too_large_and_rules_in_bulk_are_left_to_the_rules_themselves():
    builder = SpaceBuilder()
    letters = [chr(97 + k) for k in range(26)]
    many = [builder.variable(f"x{j}", letters) for j in range(5)]
    assert len(letters) ** len(many) > MAX_TABLE
    builder.require(one_of(many, ["aaaaa", "abcde"]))
    builder.require_counts([[many[0]["a"], many[1]["b"]]], at_least=2)
    space = builder.build()
    trees, left = rule_trees([named.rule for named in space.rules])
    assert left.tolist() == [0, 1]
    assert len(trees.kind) == 0
    outputs = space.encode(
        [dict(zip(space.names, word, strict=True)) for word in ("aaaaa", "abcde")]
    )
    assert [space.obeys(output[None]) for output in outputs] == [False, True]
