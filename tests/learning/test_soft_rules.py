"""Soft rules in learning, against a task that says the same by a variable of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from rote import Hamming, MultiLabel, SpaceBuilder, StructuredSVM, adapter_of, train
from rote.learning import Perceptron
from rote.learning.subgradient import Subgradient
from rote.model import Model
from rote.serve.predictor import Predictor
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot, Task
from tests.small_tasks import TEMPLATES

LABELS = ("sea", "beach", "city")
TAGS = ("N", "V")
OUTPUTS = Hamming({"kept": 0.0, "broken": 0.0})  # the loss of outputs without the variable


def examples(count: int):
    """Noisy labels of which beach needs sea, mostly."""
    rng = np.random.default_rng(3)
    xs = [rng.normal(size=2) for _ in range(count)]
    said = [(a > 0.3, a > 0 and rng.random() < 0.9, b > 0) for a, b in xs]
    ys = [tuple(k for k, on in zip(LABELS, row, strict=True) if on) for row in said]
    return xs, ys


@dataclass(frozen=True)
class Explicit(Task):
    """The same as `soft_task` with the rule as a variable that is part of the output."""

    def frame(self, x):
        return self._frame

    @cached_property
    def _frame(self):
        builder = SpaceBuilder()
        variables = [builder.variable(label, ("off", "on")) for label in LABELS]
        rule = variables[1]["on"] >> variables[0]["on"]
        said = builder.variable("said", ("kept", "broken"))
        builder.require((said["kept"] >> rule) & (said["broken"] >> ~rule))
        slots = [Slot(f"label {label!r}", 0) for label in LABELS]
        return Frame(builder.build(), (*slots, Slot("rule beach needs sea")), ("input",))

    def vectors(self, x):
        return [np.append(x, 1.0)]

    def encode(self, x, y):
        on = [int(label in y) for label in LABELS]
        return [*on, int(on[1] and not on[0])]

    def decode(self, x, labels):
        return tuple(label for label, on in zip(LABELS, labels, strict=False) if on)


def soft_task(rules="beach needs sea: prefer if beach then sea"):
    return MultiLabel(LABELS, pairs="none", rules=rules)


@pytest.mark.parametrize("few", [0, 256], ids=["as a variable", "as a factor"])
@pytest.mark.parametrize(
    "learner",
    [StructuredSVM(loss=OUTPUTS), Perceptron(iterations=5), Subgradient(loss=OUTPUTS)],
    ids=["svm", "perceptron", "subgradient"],
)
def test_learned_weights_are_those_of_an_explicit_variable(learner, few, monkeypatch):
    monkeypatch.setattr("rote.space.builder.FEW_PAIRS", few)
    xs, ys = examples(60)
    judge = train(Explicit(), xs, ys, learner=learner)
    if hasattr(learner, "loss"):
        learner = replace(learner, loss=Hamming())
    own = train(soft_task(), xs, ys, learner=learner)
    for block in judge.layout.blocks:
        weights = own.layout.block(own.weights, block.name)
        assert weights == pytest.approx(judge.layout.block(judge.weights, block.name), abs=1e-9)
    assert own.predict(xs) == judge.predict(xs)
    kept, broken = judge.layout.block(judge.weights, "rule beach needs sea")[0]
    assert own.rule_costs == pytest.approx({"beach needs sea": kept - broken}, abs=1e-9)


def test_given_weights_do_not_move_and_are_paid():
    xs, ys = examples(60)
    model = train(
        soft_task("prefer by 50 if beach then sea"), xs, ys, learner=Perceptron(iterations=3)
    )
    assert model.rule_costs == {}
    assert not any("beach" in y and "sea" not in y for y in model.predict(xs))
    free = Model(soft_task(None), model.layout, model.weights)
    assert any("beach" in y and "sea" not in y for y in free.predict(xs))
    scores = model.layout.block(model.weights, "soft rules of given weight")
    assert not scores.any()


def test_costs_are_read_saved_and_drawn(tmp_path):
    xs, ys = examples(60)
    model = train(soft_task(), xs, ys)
    model.save(tmp_path / "model")
    again = Model.load(tmp_path / "model")
    assert again.rule_costs == model.rule_costs
    assert again.predict(xs) == model.predict(xs)
    broken = next(x for x, y in zip(xs, ys, strict=True) if "beach" in y and "sea" not in y)
    picture = str(model.show(broken, gold=("beach",)))
    assert f"beach needs sea: costs {model.rule_costs['beach needs sea']:.3g}" in picture


def test_rules_of_one_line_share_a_learned_weight():
    task = Tagging(TAGS, TEMPLATES, rules="no two: prefer not (token i is V and token i+1 is V)")
    xs = [tuple((word,) for word in words) for words in (("ran", "off"), ("big", "dog", "ran"))]
    model = train(task, xs * 4, [("V", "N"), ("N", "N", "V")] * 4)
    assert [*model.rule_costs] == ["no two"]
    space = task.frame(xs[1]).space
    assert (len(space.soft), len(space.own_factors)) == (2, 2)
    assert model.without_rules().predict(xs) == model.predict(xs)


def test_a_service_answers_without_what_soft_rules_say():
    xs, ys = examples(40)
    model = train(soft_task("prefer by 0.5 at most 1 label is on\nprefer by 0.1 sea"), xs, ys)
    assert len(model.task.frame(xs[0]).space.variables) > len(LABELS)
    found = Predictor(model, adapter_of(model.task), None).answers([x.tolist() for x in xs[:5]])
    assert [tuple(one.output) for one in found] == model.predict(xs[:5])
