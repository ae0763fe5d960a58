"""`Space`: its parts, its meaning, its names, its fingerprint, and that it stays as it is."""

from __future__ import annotations

import dataclasses
import itertools
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings

from rote.errors import LabelError, ScoreError
from rote.inference.exact.exact import Exact
from rote.space import SpaceBuilder, at_most, one_of
from tests.strategies import Judge, holds, known_value, spaces


def small(rename=str, labels=("a", "b")):
    """Two variables of different sizes, a factor each way round, two rules."""
    builder = SpaceBuilder()
    x = builder.variable(rename("x"), labels)
    y = builder.variable(rename("y"), ["a", "b", "c"])
    builder.factor(x, y, name=rename("xy"))
    builder.factor(y, x, name=rename("yx"))
    builder.require(x["a"] >> y["c"], rename("implied"))
    builder.require(at_most(1, x["b"], y["b"]), rename("counted"))
    return builder.build()


@pytest.fixture
def space():
    return small()


# -- parts --------------------------------------------------------------------------------


def test_parts_are_numbered_labels_first_then_factors_last_variable_fastest(space):
    assert space.sizes.tolist() == [2, 3]
    assert space.offsets.tolist() == [0, 2, 5]
    assert space.factor_offsets.tolist() == [5, 11, 17]
    assert (space.labels, space.parts, space.outputs) == (5, 17, 6.0)
    assert space.part("x", "b") == 1
    assert space.part("y", "a") == 2
    assert space.part(["x", "y"], ["b", "a"]) == 5 + 3
    assert space.part(["y", "x"], ["c", "a"]) == 11 + 4


def test_labels_have_the_same_state_where_their_names_are_the_same():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    builder.variable("y", "cba")
    built = builder.build()
    assert built.label_names == ["a", "b", "c", "b", "a"]
    assert built.states.tolist() == [0, 1, 2, 1, 0]
    assert SpaceBuilder().build().states.shape == (0,)


def test_the_number_of_outputs_may_be_huge():
    builder = SpaceBuilder()
    for j in range(2000):
        builder.variable(f"x{j}", "ab")
    assert builder.build().outputs == np.inf


@given(spaces(least=1))
@settings(max_examples=60)
def test_an_output_has_one_part_per_variable_and_factor_and_is_worth_their_sum(space):
    rng = np.random.default_rng(space.parts)
    everything = Judge(space).everything
    batch = np.array(everything)
    parts = space.parts_of(batch)
    assert parts.shape == (len(batch), len(space.variables) + len(space.factors))
    scores = rng.normal(size=(len(batch), space.parts))
    values = space.value(scores, batch)
    for row, labels, value, own in zip(scores, everything, values, parts, strict=True):
        assert value == pytest.approx(known_value(space, row, labels), abs=1e-12)
        assert row[own].sum() == pytest.approx(value, abs=1e-12)


def test_one_row_of_scores_serves_all_outputs(space):
    scores = np.arange(17.0)
    batch = np.array([[0, 2], [1, 0]])
    assert space.value(scores, batch).tolist() == [
        known_value(space, scores, (0, 2)),
        1 + 2 + 8 + 12,
    ]
    assert space.value(scores[None], batch).shape == (2,)


@pytest.mark.parametrize("shape", [(16,), (18,), (3, 17), (2, 16), (0, 17), (2, 1, 17)])
def test_scores_that_do_not_fit_the_outputs_are_refused(space, shape):
    with pytest.raises(ScoreError, match=r"the shape \(2, 17\)"):
        space.value(np.zeros(shape), np.array([[0, 2], [1, 0]]))


# -- meaning ------------------------------------------------------------------------------


@given(spaces())
@settings(max_examples=60)
def test_holds_is_that_every_rule_holds(space):
    judge = Judge(space)
    result = space.holds(judge.everything_as_array)
    assert result.dtype == np.bool_
    was_feasible = set(judge.outputs)
    assert result.tolist() == [labels in was_feasible for labels in judge.everything]


@given(spaces(least=1))
@settings(max_examples=60)
def test_broken_lists_the_rules_that_one_output_breaks(space):
    for labels in Judge(space).everything[:5]:
        expected = tuple(named for named in space.each_rule if not holds(named.rule, labels))
        assert space.broken(np.array(labels)) == expected


def test_broken_looks_at_one_output(space):
    with pytest.raises(LabelError, match="broken looks at one output, got 2; index the batch"):
        space.broken(np.array([[0, 0], [0, 1]]))


def test_an_empty_batch_has_empty_answers(space):
    none = np.empty((0, 2), dtype=np.int64)
    assert space.holds(none).shape == (0,)
    assert space.satisfied(none).shape == (0,)
    assert space.parts_of(none).shape == (0, 4)
    assert space.value(np.empty((0, 17)), none).shape == (0,)
    assert space.decode(none) == []
    assert space.encode([]).shape == (0, 2)


def test_one_output_may_be_a_vector(space):
    assert space.holds(np.array([0, 2])).tolist() == [True]
    assert space.holds(np.array([0, 0])).tolist() == [False]
    assert space.value(np.ones(17), np.array([0, 2])).tolist() == [4.0]


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (np.zeros((1, 3), dtype=int), r"the shape \(m, 2\), one column per variable; got \(1, 3\)"),
        (np.zeros((1, 1, 2), dtype=int), r"the shape \(m, 2\)"),
        (np.array([[0, 3]]), "beyond its variable's last label"),
        (np.array([[-1, 0]]), "a label is below 0"),
        (np.array([[0.0, 1.0]]), "labels are whole numbers, got float64; use space.encode"),
        (np.array([["a", "b"]]), "labels are whole numbers, got .*; use space.encode for names"),
    ],
)
def test_labels_that_do_not_fit_are_refused(space, labels, match):
    for question in (space.holds, space.satisfied, space.parts_of, space.decode, space.broken):
        with pytest.raises(LabelError, match=match):
            question(labels)


def test_a_label_that_does_not_exist_is_named_with_its_output_and_variable(space):
    with pytest.raises(LabelError, match=r"^output 1: .* 3 is no position of 3 labels.* of 'y'$"):
        space.holds(np.array([[0, 0], [0, 3]]))


def test_an_answer_without_output_cannot_be_decoded_and_is_named(space):
    for labels in (np.array([[0, 2], [-1, -1]]), [[0, 2], [-1, -1]]):
        with pytest.raises(LabelError, match="input 1 has no output: its status is INFEASIBLE"):
            space.decode(labels)
    with pytest.raises(LabelError, match="the shape"):
        space.decode([])


# -- names --------------------------------------------------------------------------------


def test_outputs_by_name_and_by_position_are_the_same(space):
    named = [{"x": "a", "y": "c"}, {"y": "a", "x": "b"}]
    assert space.encode(named).tolist() == [[0, 2], [1, 0]]
    assert space.decode(space.encode(named)) == [{"x": "a", "y": "c"}, {"x": "b", "y": "a"}]


@pytest.mark.parametrize(
    ("output", "match"),
    [
        ({"x": "a"}, r"missing \['y'\], unknown \[\]"),
        ({"x": "a", "z": "a"}, r"missing \['y'\], unknown \['z'\]"),
        ({"x": "a", "y": "a", "z": "a"}, r"missing \[\], unknown \['z'\]"),
        ({"x": "a", "y": "q"}, "'y' has no label 'q'; its labels are 'a', 'b', 'c'"),
    ],
)
def test_outputs_that_do_not_fit_the_space_are_refused(space, output, match):
    with pytest.raises(LabelError, match=match):
        space.encode([output])


def test_an_output_by_itself_is_no_list_of_outputs(space):
    with pytest.raises(LabelError, match=r"encode takes a list of outputs.*put it into a list"):
        space.encode({"x": "a", "y": "c"})


def test_scores_by_name_are_zero_where_nothing_is_said(space):
    scores = space.scores({"y": {"c": 2.5}, "x": {"a": -1.0}})
    assert scores.shape == (17,)
    assert scores[space.part("y", "c")] == 2.5
    assert scores[space.part("x", "a")] == -1.0
    assert np.count_nonzero(scores) == 2
    assert np.count_nonzero(space.scores()) == 0


def test_names_that_do_not_exist_are_refused(space):
    for wrong in (
        lambda: space["q"],
        lambda: space.part("q", "a"),
        lambda: space.scores({"q": {"a": 1.0}}),
    ):
        with pytest.raises(LabelError, match="no variable is called 'q'; there are 'x', 'y'"):
            wrong()
    for wrong in (lambda: space.part("x", "q"), lambda: space.scores({"x": {"q": 1.0}})):
        with pytest.raises(LabelError, match="'x' has no label 'q'"):
            wrong()


def test_a_part_of_a_factor_that_is_not_there_is_refused():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    space = builder.build()
    with pytest.raises(LabelError, match=r"no factor is over \(y, x\) in this order"):
        space.part(["y", "x"], ["a", "a"])
    with pytest.raises(LabelError, match="2 variables take 2 labels"):
        space.part(["x", "y"], ["a"])


# -- frozen -------------------------------------------------------------------------------


def test_a_space_cannot_be_changed(space):
    with pytest.raises(dataclasses.FrozenInstanceError):
        space.rules = ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        space.factors[0].name = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        space.rules[0].rule = None
    for name in ("sizes", "offsets", "factor_offsets"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(space, name)[0] = 7
    for array in (space.rows.data, space.rows.indices, space.network.allowed, space.network.sizes):
        assert not array.flags.writeable


# -- fingerprint --------------------------------------------------------------------------

# A change of this literal breaks every store that holds answers under fingerprints: raise
# FINGERPRINT_VERSION and say so in the changelog.
PINNED = "af7528949692e727ee6f07ec9f33a84be30446914d2bdd2fb3e39702b1087a6b"

OTHER_PROCESS = """
from tests.space.test_space import small
print(small().fingerprint)
"""


def test_the_fingerprint_of_a_known_space_is_pinned(space):
    assert space.fingerprint == PINNED


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_fingerprint_is_the_same_in_every_process(space, seed):
    found = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout.strip() == space.fingerprint


def test_names_do_not_enter_the_fingerprint(space):
    renamed = small(lambda name: f"another {name}")
    assert renamed.fingerprint == space.fingerprint
    assert renamed == space
    assert hash(renamed) == hash(space)
    assert {space: 1}[renamed] == 1


def test_spaces_are_equal_to_spaces_only(space):
    assert space != "space"
    assert space != small(labels=("a", "c", "b"))


def test_factors_rules_and_what_they_say_enter_the_fingerprint():
    def built(factor=None, rule=None, second=None):
        builder = SpaceBuilder()
        x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
        if factor:
            builder.factor(*([x, y] if factor == "xy" else [y, x]))
        for made in (rule, second):
            if made:
                builder.require(made(x, y))
        return builder.build().fingerprint

    prints = [
        built(),
        built("xy"),
        built("yx"),
        built(rule=lambda x, y: x["a"] >> y["a"]),
        built(rule=lambda x, y: y["a"] >> x["a"]),
        built(rule=lambda x, y: x["a"] >> y["b"]),
        built(rule=lambda x, y: at_most(1, x["a"], y["a"])),
        built(rule=lambda x, y: at_most(0, x["a"], y["a"])),
        built(rule=lambda x, y: x["a"] + y["a"] >= 1),
        built(rule=lambda x, y: 2 * x["a"] + y["a"] >= 1),
        built(rule=lambda x, y: one_of([x, y], ["ab"])),
        built(rule=lambda x, y: one_of([x, y], ["ab", "ba"])),
        built(rule=lambda x, y: one_of([y, x], ["ab"])),
        built(rule=lambda x, y: x["a"], second=lambda x, y: y["a"]),
    ]
    assert len(set(prints)) == len(prints)


def test_the_order_in_which_tuples_are_listed_does_not_matter():
    def built(tuples):
        builder = SpaceBuilder()
        x, y = builder.variable("x", "abc"), builder.variable("y", "abc")
        builder.require(one_of([x, y], tuples))
        return builder.build()

    assert built(["ab", "bc", "ca"]) == built(["ca", "ab", "bc", "ab"])


# -- size ---------------------------------------------------------------------------------


def test_a_million_parts_are_built_and_solved_in_seconds():
    began = time.perf_counter()
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "0123456789") for j in range(9100)]
    for x, y in itertools.pairwise(variables):
        builder.factor(x, y)
    space = builder.build()
    assert space.parts > 1_000_000
    scores = np.random.default_rng(0).normal(size=space.parts)
    assert Exact().solve(space, scores).optimal.all()
    assert time.perf_counter() - began < 20


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ([{"x": {"a": 1.0}}], r"scores by name are .* for one input; got"),
        (3.0, r"scores by name are .* for one input; got"),
        ({"x": [1.0, 2.0]}, r"the scores of variable 'x' are .*label.*score.*, got"),
    ],
)
def test_scores_by_name_are_for_one_input_and_name_labels(space, given, match):
    with pytest.raises(ScoreError, match=match):
        space.scores(given)
