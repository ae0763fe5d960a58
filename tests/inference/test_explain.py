"""Explanations, judged by looking at all outputs under all sets of rules."""

from __future__ import annotations

import itertools
from math import inf, isfinite

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote import Exact, SpaceBuilder, all_different, all_of, at_most, clamp, explain, rule_report
from rote.engines import RGS, Amortized, Exhaustive
from rote.errors import LabelError, NoSolution, ScoreError, SettingError
from tests.strategies import flat_rule_spaces, holds, known_value, spaces

TIE = 1e-9


class Enumerated:
    """All outputs of a space with their values, and the rules that each breaks."""

    def __init__(self, space, scores):
        every = itertools.product(*(range(len(v.labels)) for v in space.variables))
        self.space = space
        self.rules = frozenset(range(len(space.each_rule)))
        self.outputs = [
            (
                labels,
                known_value(space, scores, labels),
                frozenset(k for k in self.rules if not holds(space.each_rule[k].rule, labels)),
            )
            for labels in every
        ]

    def best(self, kept, wanted=()):
        """The value of the best output with some labels under some of the rules."""
        return max(
            (
                value
                for labels, value, broken in self.outputs
                if not broken & kept and all(labels[j] == label for j, label in wanted)
            ),
            default=-inf,
        )

    @property
    def subsets(self):
        """All sets of rules, the smallest first."""
        sizes = range(len(self.rules) + 1)
        every = (itertools.combinations(sorted(self.rules), size) for size in sizes)
        return map(frozenset, itertools.chain(*every))

    def minimal(self, is_one):
        """The sets of rules with a property that no smaller set inside has."""
        found = []
        for some in self.subsets:
            if not any(less <= some for less in found) and is_one(some):
                found.append(some)
        return found


@st.composite
def questions(draw):
    """A space, scores with and without ties, and up to two wanted labels."""
    space = draw(st.one_of(spaces(least=1, most=4, max_rules=5, depth=2), flat_rule_spaces(most=4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.normal(size=space.parts)
    if draw(st.booleans()):
        scores = rng.integers(-1, 2, size=space.parts).astype(np.float64)
    over = rng.permutation(len(space.variables))[: draw(st.integers(0, 2))].tolist()
    return space, scores, {j: int(rng.integers(space.sizes[j])) for j in over}


@st.composite
def contests(draw):
    """Five things that everybody wants, and ten rules against having two or three together.

    What leaving out some rules does to one label depends much on what it does to the others.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    builder = SpaceBuilder()
    variables = [builder.variable(name, ["no", "yes"]) for name in "vwxyz"]
    for k in range(10):
        over = rng.choice(variables, size=rng.choice([2, 2, 3]), replace=False)
        together = all_of(variable[rng.choice(["no", "yes", "yes"])] for variable in over)
        builder.require(~together, f"rule {k}")
    space = builder.build()
    scores = np.zeros(space.parts)
    scores[1::2] = 1 + np.abs(rng.normal(size=5))
    return space, scores, {0: 1}


@given(questions(), st.sampled_from([None, Exhaustive(), Amortized(Exact())]))
@settings(max_examples=120)
def test_costs_and_minimal_sets_are_those_of_enumeration(asked, engine):
    check_explanation(asked, engine)


@given(contests())
@settings(max_examples=100)
def test_minimal_sets_are_those_of_enumeration_where_rules_hold_others_back(asked):
    check_explanation(asked, None)


def check_explanation(asked, engine):
    space, scores, labels = asked
    wanted = {space.names[j]: space.variables[j].labels[label] for j, label in labels.items()}
    judge, pairs = Enumerated(space, scores), tuple(labels.items())
    why = explain(space, scores, wanted, engine=engine, limit=1000)
    value, instead = judge.best(judge.rules), judge.best(judge.rules, pairs)
    assert why.complete
    assert_close(why.value, value)
    assert_close(why.instead_value, instead)
    assert_close(why.value_without_rules, judge.best(frozenset(), pairs))
    assert_close(why.cost, inf if instead == -inf else value - instead)

    def wins(kept):
        if instead == -inf:  # any output with the labels will do
            return judge.best(kept, pairs) > -inf
        if not pairs:
            return judge.best(kept) > value + TIE
        return judge.best(kept, pairs) > judge.best(kept) - TIE

    conflicts, relaxations = [], []
    if not wins(judge.rules):
        won = [kept for kept in judge.subsets if wins(kept)]
        conflicts = judge.minimal(lambda rules: not any(rules <= kept for kept in won))
        relaxations = judge.minimal(lambda rules: judge.rules - rules in won)
    assert numbers(space, why.conflicts) == set(conflicts)
    assert numbers(space, [each.rules for each in why.relaxations]) == set(relaxations)
    sizes = [len(each.rules) for each in why.relaxations]
    assert sizes == sorted(sizes)
    for each in why.relaxations:
        (left_out,) = numbers(space, [each.rules])
        assert_close(each.value, judge.best(judge.rules - left_out, pairs))
        assert_close(each.best, judge.best(judge.rules - left_out))
    if why.instead is not None:
        (found,) = space.encode([why.instead])
        assert space.holds(found).all()
        assert all(found[j] == label for j, label in pairs)
        assert_close(known_value(space, scores, found), instead)
    assert str(why).count("\n") >= len(conflicts) + len(relaxations) - 1


def numbers(space, sets):
    """Sets of names as sets of numbers; the rules of these spaces have different names."""
    number = {rule.name: k for k, rule in enumerate(space.each_rule)}
    assert len(number) == len(space.each_rule)
    found = [frozenset(map(number.__getitem__, names)) for names in sets]
    assert len(set(found)) == len(found)
    return set(found)


def assert_close(one, other):
    assert one == pytest.approx(other, abs=TIE) if isfinite(other) else one == other


@pytest.fixture
def twice():
    """Two rules each forbid b for x; a third one says nothing about it."""
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(x["a"] | y["a"], "x or y is a")
    builder.require(x["b"] >> z["b"], "b needs b")
    builder.require(at_most(2, [x["b"], y["b"], z["b"]]), "at most two b")
    return builder.build()


def test_a_label_that_two_rules_forbid_takes_two_rules_to_have(twice):
    scores = twice.scores({"x": {"b": 1.0}, "y": {"b": 3.0}, "z": {"a": 4.0}})
    why = explain(twice, scores, {"x": "b"})
    assert why.answer == {"x": "a", "y": "b", "z": "a"}
    assert (why.value, why.instead_value, why.value_without_rules) == (7.0, 1.0, 8.0)
    assert why.conflicts == (("x or y is a",), ("b needs b",))
    (only,) = why.relaxations
    assert (only.rules, only.value, only.best) == (("x or y is a", "b needs b"), 8.0, 8.0)
    assert [rule.name for rule in why.broken] == ["x or y is a", "b needs b"]
    assert (why.cost, why.cost_of_rules) == (6.0, 7.0)


def test_a_label_that_nothing_has_is_explained_as_well_and_a_better_answer():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(all_different([x, y]), "x is not y")
    builder.require(all_different([y, z]), "y is not z")
    builder.require(x["a"] | z["a"], "x or z is a")
    space = builder.build()
    scores = space.scores({"x": {"b": 1.0}, "z": {"b": 1.0}, "y": {"b": 5.0}})
    why = explain(space, scores, {"x": "b", "z": "b"})
    assert why.instead is None
    assert (why.cost, why.cost_of_rules, why.record()["cost"]) == (inf, inf, None)
    assert why.conflicts == (("x or z is a",),)
    assert [each.rules for each in why.relaxations] == [("x or z is a",)]
    assert why.relaxations[0].value == 2.0  # y is not b then
    assert why.relaxations[0].best == 5.0
    better = explain(space, scores)
    assert better.conflicts == (("x is not y", "y is not z"),)
    assert [each.rules for each in better.relaxations] == [("x is not y",), ("y is not z",)]


def test_a_label_that_the_answer_has_or_that_scores_forbid_has_no_rules_to_blame(twice):
    scores = twice.scores({"x": {"b": 1.0}, "y": {"b": 3.0}})
    why = explain(twice, scores, {"y": "b"})
    assert (why.cost, why.conflicts, why.relaxations, why.complete) == (0.0, (), (), True)
    why = explain(twice, scores, {"y": "a"})
    assert (why.conflicts, why.relaxations) == (((),), ())
    assert "no rule is to blame, whichever are left out" in why.sentences()
    closed = explain(twice, clamp(twice, scores, {"y": "a"}), {"y": "b"})
    assert (closed.conflicts, closed.cost) == (((),), inf)
    assert closed.sentences()[-1] == "labels of every output with y = b are closed"


def test_a_space_without_an_output_is_explained_by_its_conflicts():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    for k, rule in enumerate([x["a"] >> y["a"], x["a"], y["b"], x["a"] | y["b"]]):
        builder.require(rule, f"rule {k}")
    space = builder.build()
    why = explain(space, space.scores({"y": {"b": 2.0}}))
    assert (why.answer, why.conflicts) == (None, (("rule 0", "rule 1", "rule 2"),))
    assert [each.rules for each in why.relaxations] == [(f"rule {k}",) for k in range(3)]
    assert str(why).startswith("no output obeys the rules\n")


def test_a_limit_is_told():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    for k, rule in enumerate([x["b"] >> y["b"], x["b"] >> y["a"], x["b"] >> y["b"]]):
        builder.require(rule, f"rule {k}")
    space = builder.build()
    why = explain(space, np.zeros(4), {"x": "b"}, limit=1)
    assert [each.rules for each in why.relaxations] == [("rule 1",)]
    assert (why.conflicts, why.complete) == ((), False)
    assert why.sentences()[-1] == "there may be more of these; raise the limit"
    why = explain(space, np.zeros(4), {"x": "b"}, limit=2)
    assert (len(why.relaxations), len(why.conflicts), why.complete) == (2, 2, True)


def test_what_cannot_be_explained_is_refused(twice):
    scores = twice.scores({"x": {"b": 1.0}, "y": {"b": 3.0}})
    with pytest.raises(NoSolution, match="rests on answers that are proved, got value"):
        explain(twice, scores, {"x": "b"}, engine=RGS())
    with pytest.raises(ScoreError, match=r"looks at one input, got 2; take problem.rows\(i\)"):
        explain(twice, [scores, scores], {"x": "b"})
    with pytest.raises(LabelError, match="no variable is called 'w'"):
        explain(twice, scores, {"w": "b"})
    with pytest.raises(SettingError, match="limit"):
        explain(twice, scores, {"x": "b"}, limit=0)


def test_a_picture_shows_what_changes_and_what_is_broken_if_nothing_else_does(twice):
    scores = twice.scores({"x": {"b": 1.0}, "y": {"b": 3.0}, "z": {"a": 4.0}})
    why = explain(twice, scores, {"x": "b"})
    expected = """\
x a → b ✗1,2   y b → a ✗1     z a → b ✗2

the answer is worth 7
the best output with x = b is worth 1: it costs 6
without rules the best with x = b is worth 8
kept from being best by: x or y is a
kept from being best by: b needs b
best without: x or y is a; b needs b (worth 8)
✗1 broken if nothing else changes: x or y is a
✗2 broken if nothing else changes: b needs b"""
    assert str(why) == expected
    assert why._repr_html_().startswith("<svg")
    assert why.show().title == "Why not x = b"


def test_soft_rules_are_part_of_the_cost_and_are_never_left_out():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.prefer(at_most(2, [x["b"], y["b"], z["b"]]), 2.0, "two at most")
    builder.prefer(z["a"], 0.25, "z is a")
    builder.require(~(x["b"] & y["b"]), "not x and y")
    builder.require(~(y["b"] & z["b"]), "not y and z")
    space = builder.build()
    scores = space.scores({"x": {"b": 1.0}, "y": {"b": 1.5}, "z": {"b": 1.0}})
    why = explain(space, scores, {"y": "b"})
    assert (why.answer, why.value) == ({"x": "b", "y": "a", "z": "b"}, 1.75)
    assert (why.instead, why.cost) == ({"x": "a", "y": "b", "z": "a"}, 0.25)
    assert why.value_without_rules == 2.5  # all three are worth 1.25
    broken = [rule.name for rule in why.broken]
    assert broken == ["not x and y", "not y and z", "two at most: broken, costs 2"]
    assert why.conflicts == (("not x and y", "not y and z"),)
    found = [(each.rules, each.value) for each in why.relaxations]
    assert found == [(("not x and y",), 2.5), (("not y and z",), 2.25)]
    report = rule_report(space, [scores, scores], [[1, 0, 1], [1, 1, 0]])
    assert [each.rules for each in report.rules] == [("not x and y",), ("not y and z",)]
    assert (report.accuracy.first, report.accuracy.second) == (4 / 6, 4 / 6)
