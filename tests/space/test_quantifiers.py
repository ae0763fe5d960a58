"""Rules about many: what they mean, and which nodes they are made of."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rote.errors import LabelError
from rote.space import all_different, all_of, any_of, one_of
from tests.space.truth import table


def test_all_different_forbids_labels_of_the_same_name(x, y, z):
    assert table(all_different(x, y), 2, 2) == [0, 1, 1, 0]
    expected = [len(set(labels)) == 3 for labels in itertools.product(range(2), range(2), range(3))]
    assert table(all_different([x, y, z]), 2, 2, 3) == expected


def test_all_different_goes_by_name_and_not_by_position(builder):
    u, v = builder.variable("u", ["a", "b"]), builder.variable("v", ["b", "c"])
    assert table(all_different(u, v), 2, 2) == [1, 1, 0, 1]  # only u=b, v=b clash


@pytest.mark.parametrize(("labels", "variables"), [("ab", 70), ("abc", 41)])
def test_one_of_takes_more_variables_than_tuples_can_be_numbered(builder, labels, variables):
    chosen = [builder.variable(f"v{j}", labels) for j in range(variables)]
    rule = one_of(chosen, ["a" * variables, "b" * variables])
    rows = np.repeat([[0], [1], [0]], variables, axis=1)
    rows[2, -1] = 1
    columns = {v.index: column for v, column in zip(chosen, rows.T, strict=True)}
    assert rule.holds(columns).tolist() == [True, True, False]


def test_the_empty_forms_are_constants(x):
    assert table(all_of() & x["a"], 2) == table(x["a"], 2)
    assert table(any_of() | x["a"], 2) == table(x["a"], 2)
    assert table(one_of([x], []), 2) == [0, 0]
    assert table(all_of(), 2) == [1, 1]
    assert table(any_of(), 2) == [0, 0]


def test_lists_generators_and_single_rules_mix(x, y):
    expected = table(x["a"] & y["a"], 2, 2)
    assert table(all_of(x["a"], y["a"]), 2, 2) == expected
    assert table(all_of([x["a"], y["a"]]), 2, 2) == expected
    assert table(all_of(v["a"] for v in (x, y)), 2, 2) == expected
    assert table(all_of([x["a"]], y["a"]), 2, 2) == expected


def test_one_of_refuses_a_label_that_does_not_exist(x, y):
    with pytest.raises(LabelError, match="'y' has no label 'q'"):
        one_of([x, y], [("a", "q")])
