"""What rules change over many inputs, judged by looking at all outputs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote import (
    Exact,
    Perceptron,
    Problem,
    SpaceBuilder,
    Tagging,
    Templates,
    at_most,
    rule_report,
    train,
)
from rote.engines import Exhaustive
from rote.errors import LabelError, SettingError
from rote.inference.rule_report import kind_of
from tests.inference.test_explain import TIE, Enumerated, assert_close
from tests.strategies import flat_rule_spaces, holds, spaces


@st.composite
def corpora(draw):
    """A space, scores of three inputs, and gold outputs that may break rules."""
    space = draw(st.one_of(spaces(least=1, most=4, max_rules=5, depth=1), flat_rule_spaces(most=4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.normal(size=(3, space.parts))
    if draw(st.booleans()):
        scores = rng.integers(-1, 2, size=scores.shape).astype(np.float64)
    return space, scores, rng.integers(0, space.sizes, size=(3, len(space.variables)))


@given(corpora(), st.sampled_from([None, Exhaustive()]))
@settings(max_examples=50)
def test_effects_are_those_of_enumeration(corpus, engine):
    space, scores, gold = corpus
    report = rule_report(space, scores, gold, engine=engine, most=2)
    judges = [Enumerated(space, row) for row in scores]
    number = {rule.name: k for k, rule in enumerate(space.each_rule)}
    every = frozenset(number.values())

    def gained(judge, left_out):
        with_all, without = judge.best(every), judge.best(every - left_out)
        return without > with_all + TIE, without - with_all if with_all > -np.inf else 0.0

    binding = {}  # minimal sets of rules by the inputs in which they bind
    for i, judge in enumerate(judges):
        for rules in judge.minimal(lambda rules, judge=judge: gained(judge, rules)[0]):
            binding.setdefault(rules, []).append(i)
    found = {frozenset(map(number.get, each.rules)): each for each in report.rules}
    assert found.keys() == {frozenset([k]) for k in every}
    found |= {frozenset(map(number.get, each.rules)): each for each in report.together}
    assert len(found) == len(report.rules) + len(report.together)
    assert {r for r, e in found.items() if e.changed} == {r for r in binding if len(r) <= 2}
    for rules, effect in found.items():
        assert list(effect.changed) == binding.get(rules, [])
        assert_close(effect.cost, sum(gained(judges[i], rules)[1] for i in effect.changed))
        broken = [any(not holds(space.each_rule[k].rule, tuple(y)) for k in rules) for y in gold]
        assert effect.broken_by_gold == sum(broken)
        assert (effect.accuracy is None) == (not effect.changed)
        if effect.accuracy is not None:
            kept = space.with_rules(every - rules)
            share = shares(
                kept, scores, gold, effect.changed, shares(space, scores, gold, range(3))
            )
            assert effect.accuracy.second == pytest.approx(share.mean())
    if report.complete:
        assert max(map(len, binding), default=0) <= 2
        assert {space.each_rule[k].name for k in every.difference(*binding)} == set(report.never)
    assert report.changed == sum(gained(judge, every)[0] for judge in judges)
    json.dumps(report.record())
    assert str(report)


def shares(space, scores, gold, members, otherwise=None):
    """The share of right labels of each input, as exhaustive search says; 0 without an output."""
    found = np.zeros(3) if otherwise is None else otherwise.copy()
    for i in members:
        nothing_closed = np.zeros((1, space.labels), dtype=np.bool_)
        answer = Exhaustive().solve(space, Problem(space, scores[i], nothing_closed))
        found[i] = (answer.labels[0] == gold[i]).mean()
    return found


def test_two_rules_that_forbid_the_same_bind_only_together():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(~x["b"], "no b")
    builder.require(x["b"] >> y["b"], "b needs b")
    builder.require(x["a"] | y["a"], "one a at least")
    builder.require(~x["b"] | y["a"], "the same in other words")
    builder.require(x["a"] | x["b"], "says nothing")
    space = builder.build()
    report = rule_report(space, np.array([[0, 2.0, 0, 1.0], [1.0, 0, 0, 2.0]]), most=3)
    assert [each.rules for each in report.rules if each.changed] == []
    together = [each.rules for each in report.together]
    assert together == [
        ("no b", "b needs b"),
        ("no b", "one a at least", "the same in other words"),
    ]
    assert report.never == ("says nothing",)
    assert [each.cost for each in report.together] == [1.0, 2.0]


def test_a_rule_that_hurts_is_told_with_how_sure_that_is():
    builder = SpaceBuilder()
    variables = [builder.variable(name, ["off", "on"]) for name in "xyz"]
    builder.require(at_most(1, [variable["on"] for variable in variables]), "at most one")
    builder.require(variables[0]["off"] | variables[1]["off"], "not both")
    space = builder.build()
    gold = np.array([[1, 0, 1]] * 12 + [[0, 1, 0]] * 4)
    scores = np.zeros((16, space.parts))
    scores[:, 1::2] = np.where(gold == 1, 1.0, -1.0)
    report = rule_report(space, scores, gold)
    (hurts,) = report.hurting
    assert (hurts.rules, hurts.changed, hurts.broken_by_gold) == (
        ("at most one",),
        (*range(12),),
        12,
    )
    assert hurts.accuracy.difference == pytest.approx(12 / 48)
    assert hurts.accuracy.low > 0
    assert report.accuracy.second == 1.0
    assert report.never == ("not both",)
    said = str(report)
    assert "at most one      16       12    12              12   +0.2500" in said
    assert "hurts accuracy: at most one" in said
    assert "never binds: not both" in said
    few = rule_report(space, scores[:3], gold[:3])
    assert (few.rules[0].accuracy.difference > 0, few.hurting) == (True, ())


def test_rules_of_one_kind_are_one_over_inputs_of_all_shapes():
    xs = [[["the"], ["dog"]], [["a"], ["dog"], ["runs"]], [["dog"]]]
    ys = [["B", "I"], ["B", "I", "O"], ["B"]]
    task = Tagging(("B-N", "I-N", "O"), Templates(("word",), ("word[0]",)), bio=True)
    ys = [[{"B": "B-N", "I": "I-N"}.get(label, label) for label in y] for y in ys]
    model = train(task, xs * 3, ys * 3, learner=Perceptron(iterations=4)).with_engine(Exact())
    asked = [[["dog"], ["dog"]], [["dog"]], [["runs"], ["dog"], ["dog"]]]
    report = model.rule_report(asked)
    kinds = {("no I-N at the start",), ("I-N at # goes on",)}
    assert {each.rules for each in report.rules} == kinds
    alone = []
    for x in asked:
        prepared = model.prepare([x])
        problem = prepared.problem(model.weights, prepared.groups[0])
        alone.append(rule_report(problem.space, problem, by=kind_of))
    for effect in report.rules:
        same = [each for one in alone for each in one.rules if each.rules == effect.rules]
        assert effect.cost == pytest.approx(sum(each.cost for each in same))
        assert effect.inputs == len(same)
        assert len(effect.changed) == sum(len(each.changed) for each in same)
        assert (effect.broken_by_gold, effect.accuracy) == (None, None)
    assert report.changed == sum(one.changed for one in alone) > 0
    by_name = model.rule_report(asked, by=str)
    assert ("I-N at 2 goes on",) in {each.rules for each in by_name.rules}
    assert model.rule_report(asked, [["O", "O"], ["I-N"], ["O", "I-N", "O"]]).rules[0].inputs == 3


def test_what_cannot_be_reported_on_is_refused():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    space = builder.build()
    with pytest.raises(LabelError, match="gold has 1 outputs, and there are 2 inputs"):
        rule_report(space, np.zeros((2, 2)), [[0]])
    for wrong in ({"most": 0}, {"limit": 0}):
        with pytest.raises(SettingError, match="whole number"):
            rule_report(space, np.zeros((2, 2)), **wrong)
    nothing = rule_report(space, np.zeros((0, 2)))
    assert (nothing.rules, nothing.inputs, nothing.accuracy) == ((), 0, None)
