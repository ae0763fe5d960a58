"""The structured hinge, against enumeration, finite differences and one structure at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import Engine, Exact, Exhaustive, Milp, Problem, Solutions, Status
from rote.errors import (
    LabelError,
    NoSolution,
    ScoreError,
    SettingError,
    UnsupportedSpace,
)
from rote.inference.approximate import RGS
from rote.inference.problem import Context
from rote.inference.wrappers.decomposed import Decomposed, HammingBall
from rote.learning.loss_augmented import max_violated
from rote.space import SpaceBuilder
from rote.space.losses import F1Loss, Hamming, ZeroOne
from rote.tasks.tagging import Tagging
from rote.torch import StructuredHinge
from rote.types import readonly
from tests.strategies import Judge, known_value, spaces

LABELS = ("a", "b", "c")


def chain(length, **options):
    return Tagging(LABELS, list, **options).frame(range(length)).space


def drawn(space, rng, size=1.0, **options):
    options = {"dtype": torch.float64, "requires_grad": True, **options}
    return torch.tensor(size * rng.normal(size=space.parts), **options)


def some_gold(space, rng):
    outputs = Judge(space).outputs
    return outputs[int(rng.integers(len(outputs)))]


def ragged(rng, count=7, **options):
    """Structures of three shapes, in any order."""
    shapes = [chain(n, **options) for n in rng.integers(1, 4, size=count)]
    scores = [drawn(space, rng) for space in shapes]
    return scores, shapes, [some_gold(space, rng) for space in shapes]


def violations(space, scores, gold, loss):
    """score(y) + Δ(gold, y) - score(gold) for every output, by the judge."""
    outputs = Judge(space).outputs
    shape = len(outputs), len(space.variables)
    every = np.array(outputs, dtype=np.int64).reshape(shape)
    golds = np.array([gold] * len(outputs), dtype=np.int64).reshape(shape)
    costs = loss.value(space, golds, every)
    right = known_value(space, scores, gold)
    return outputs, np.array([known_value(space, scores, y) - right for y in outputs]) + costs


def test_a_loss_and_its_gradient_worked_out_by_hand():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    scores = torch.tensor([1.0, 0, 0, 0, 0, 0, 0, 2.5], requires_grad=True)
    loss = StructuredHinge()([scores], [builder.build()], [(0, 0)])
    loss.backward()
    # Both wrong: 2.5 for the pair and 2 for two errors, against the 1 of gold.
    assert loss.item() == 3.5
    assert scores.grad.tolist() == [-1, 1, -1, 1, -1, 0, 0, 1]


@pytest.mark.parametrize(
    ("loss", "engine"),
    [
        (Hamming(), Exact()),
        (Hamming({"b": 3.0}), Exhaustive()),
        (ZeroOne(), Exact()),
        (F1Loss(), Exhaustive()),
    ],
    ids=["Hamming", "weighed", "zero-one", "F1"],
)
@given(space=spaces(most=4), seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.0, 0.3, 3.0]))
@settings(max_examples=20)
def test_the_loss_is_the_largest_violation_of_all_outputs(loss, engine, space, seed, size):
    rng = np.random.default_rng(seed)
    if not Judge(space).feasible:
        return
    scores, gold = drawn(space, rng, size), some_gold(space, rng)
    outputs, each = violations(space, scores.tolist(), gold, loss)
    found = StructuredHinge(engine, loss)([scores], [space], [gold])
    assert found.item() == pytest.approx(max(0.0, each.max()), abs=1e-9)
    found.backward()
    near = [y for y, violation in zip(outputs, each, strict=True) if violation > each.max() - 1e-9]
    steps = []
    for y in near:
        step = np.zeros(space.parts)
        step[space.parts_of(np.array([y], dtype=np.int64).reshape(1, -1))[0]] += 1
        step[space.parts_of(np.array([gold], dtype=np.int64).reshape(1, -1))[0]] -= 1
        steps.append(step.tolist())
    if each.max() <= 1e-9:
        steps.append([0.0] * space.parts)
    assert scores.grad.tolist() in steps


@pytest.mark.parametrize("loss", [Hamming(), Hamming({"b": 3.0})], ids=["Hamming", "weighed"])
@given(space=spaces(least=1, most=4), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_with_unknown_gold_the_loss_is_above_the_best_completion(loss, space, seed):
    rng = np.random.default_rng(seed)
    if not Judge(space).feasible:
        return
    scores, gold = drawn(space, rng), some_gold(space, rng)
    unknown = rng.random(len(gold)) < 0.5
    outputs = np.array(Judge(space).outputs, dtype=np.int64)
    values = np.array([known_value(space, scores.tolist(), y) for y in outputs])
    offsets = loss.offsets(space, np.array([gold]))[0]
    costs = (offsets[space.offsets[:-1] + outputs] * ~unknown).sum(axis=1)
    agrees = ((outputs == gold) | unknown).all(axis=1)
    expected = max(0.0, (values + costs).max() - values[agrees].max())
    given_gold = np.where(unknown, rng.choice([-1, -100], size=len(gold)), gold)
    found = StructuredHinge(loss=loss)([scores], [space], [torch.from_numpy(given_gold)])
    assert found.item() == pytest.approx(expected, abs=1e-9)
    found.backward()
    if expected > 1e-6:  # the gradient leads from one of the best completions to a worst output
        best = outputs[agrees][values[agrees] > values[agrees].max() - 1e-9]
        worst = outputs[values + costs > (values + costs).max() - 1e-9]
        steps = []
        for up, down in itertools.product(worst, best):
            step = np.zeros(space.parts)
            step[space.parts_of(up)[0]] += 1
            step[space.parts_of(down)[0]] -= 1
            steps.append(step.tolist())
        assert scores.grad.tolist() in steps


def test_one_tensor_and_one_space_are_as_many_vectors_and_spaces():
    rng, space = np.random.default_rng(0), chain(3, order=0)
    scores = torch.tensor(rng.normal(size=(5, 3, 3)), requires_grad=True)
    gold = torch.tensor(rng.integers(-1, 3, size=(5, 3)))
    loss = StructuredHinge(reduction="none")
    together, apart = loss(scores, space, gold), loss(list(scores.flatten(1)), [space] * 5, gold)
    assert together.tolist() == apart.tolist()
    assert len(together) == 5
    (gradient,) = torch.autograd.grad(together.sum(), scores)
    assert gradient.shape == scores.shape
    assert gradient.any()
    best = [row.tolist() for row in loss.predict(scores, space)]
    assert best == scores.argmax(dim=2).tolist()


def test_known_gold_that_no_output_has_is_refused():
    space = chain(2, rules=lambda builder, tokens: builder.require(tokens[0]["a"]))
    with pytest.raises(LabelError, match="known gold labels of structure 1 and obeys the rules"):
        StructuredHinge()(torch.zeros(2, space.parts), space, [[0, -1], [1, -1]])
    with pytest.raises(LabelError, match="needs all gold labels"):
        StructuredHinge(loss=ZeroOne())(torch.zeros(1, space.parts), space, [[0, -1]])


@given(space=spaces(least=1, most=4), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_gradients_are_finite_differences_where_the_worst_output_is_unique(space, seed):
    rng = np.random.default_rng(seed)
    if not Judge(space).feasible:
        return
    scores, gold = drawn(space, rng), some_gold(space, rng)
    _, each = violations(space, scores.tolist(), gold, Hamming())
    top = np.sort(np.append(each, 0.0 if each.max() > 0 else -1.0))[::-1]
    if len(top) > 1 and top[0] - top[1] < 1e-3:
        return
    hinge = StructuredHinge()
    assert torch.autograd.gradcheck(lambda one: hinge([one], [space], [gold]), (scores,), eps=1e-5)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gradcheck_of_a_ragged_batch(reduction):
    scores, shapes, gold = ragged(np.random.default_rng(3))
    hinge = StructuredHinge(reduction=reduction)
    weights = torch.linspace(0.5, 2.0, len(scores), dtype=torch.float64)

    def total(*each):
        return (hinge(each, shapes, gold) * weights).sum()

    assert torch.autograd.gradcheck(total, tuple(scores), eps=1e-5)
    assert torch.autograd.gradgradcheck(total, tuple(scores), eps=1e-5)


@pytest.mark.parametrize("options", [{}, {"order": 0}, {"order": 2}], ids=str)
def test_a_ragged_batch_is_its_structures_one_by_one(options):
    scores, shapes, gold = ragged(np.random.default_rng(0), **options)
    each = StructuredHinge(reduction="none")(scores, shapes, gold)
    assert each.shape == (len(scores),)
    for reduction in ("mean", "sum"):
        whole = StructuredHinge(reduction=reduction)(scores, shapes, gold)
        assert whole.item() == pytest.approx(getattr(each, reduction)().item())
    (each * torch.arange(1.0, len(scores) + 1)).sum().backward()
    for k, (own, space, labels) in enumerate(zip(scores, shapes, gold, strict=True)):
        alone = own.detach().clone().requires_grad_()
        loss = StructuredHinge()([alone], [space], [labels])
        loss.backward()
        assert loss.item() == each[k].item()
        assert own.grad.tolist() == [(k + 1) * step for step in alone.grad.tolist()]


def test_structures_of_one_space_are_solved_together():
    class Counting(Engine):
        calls: list[int] = []  # noqa: RUF012

        def answer(self, problem, context):
            self.calls.append(len(problem))
            return Exact().answer(problem, context)

    builders = [SpaceBuilder() for _ in range(3)]
    for k, builder in enumerate(builders):  # equal but for their names
        builder.variable(f"x{k}", "ab")
    shapes = [*(builder.build() for builder in builders), chain(2), chain(2)]
    rng = np.random.default_rng(0)
    scores = [drawn(space, rng) for space in shapes]
    hinge = StructuredHinge(Counting())
    hinge(scores, shapes, [some_gold(space, rng) for space in shapes])
    assert Counting.calls == [3, 2]
    hinge.predict(scores, shapes)
    assert Counting.calls == [3, 2, 3, 2]


def test_slacks_are_those_that_learners_work_with():
    rng = np.random.default_rng(5)
    space = chain(4, bio=False)
    scores = rng.normal(size=(6, space.parts))
    gold = readonly(rng.integers(3, size=(6, 4)))
    _, slacks, _ = max_violated(Exact(), Problem(space, scores), Context(gold=gold), Hamming())
    rows = list(torch.from_numpy(scores))
    found = StructuredHinge(reduction="none")(rows, [space] * 6, gold)
    assert found.tolist() == slacks.tolist()


@pytest.mark.parametrize(
    "engine",
    [RGS(restarts=20), Milp(), Decomposed(Exact(), HammingBall(2))],
    ids=["RGS", "Milp", "Decomposed"],
)
def test_other_engines_will_do(engine):
    scores, shapes, gold = ragged(np.random.default_rng(2))
    best = StructuredHinge(reduction="none")(scores, shapes, gold)
    found = StructuredHinge(engine, reduction="none")(scores, shapes, gold)
    found.sum().backward()
    assert (found <= best + 1e-6).all()
    assert found.sum() > 0
    assert all(one.grad is not None for one in scores)


def test_a_loss_that_does_not_add_up_needs_an_engine_that_takes_terms():
    scores, shapes, gold = ragged(np.random.default_rng(2))
    loss = StructuredHinge(RGS(restarts=20), F1Loss(), "none")(scores, shapes, gold)
    judge = StructuredHinge(Exhaustive(), F1Loss(), "none")(scores, shapes, gold)
    assert loss.tolist() == pytest.approx(judge.tolist())
    with pytest.raises(UnsupportedSpace, match="RGS"):
        StructuredHinge(Exact(), F1Loss())(scores, shapes, gold)


def test_predictions_are_the_best_outputs():
    rng = np.random.default_rng(8)
    scores, shapes, _ = ragged(rng, bio=False)
    found = StructuredHinge().predict(scores, shapes)
    for one, space, labels in zip(scores, shapes, found, strict=True):
        assert tuple(labels.tolist()) == Judge(space).best(one.tolist()).labels
    assert StructuredHinge().predict([], []) == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_any_precision_keeps_its_own(dtype):
    space = chain(2)
    scores = drawn(space, np.random.default_rng(0), dtype=dtype)
    loss = StructuredHinge()([scores], [space], [(0, 1)])
    loss.backward()
    exact = StructuredHinge()([scores.detach().double()], [space], [(0, 1)])
    assert loss.dtype == scores.grad.dtype == dtype
    assert loss.item() == pytest.approx(exact.item(), rel=1e-2)


def test_scores_may_come_from_any_graph():
    space = chain(2)
    table = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    pairs = torch.zeros(9, dtype=torch.float64, requires_grad=True)
    loss = StructuredHinge()([torch.cat([table, table, pairs])], [space], [torch.tensor([2, 2])])
    loss.backward()
    assert loss.item() == 2.0
    assert table.grad.tolist() == [2, 0, -2]
    assert pairs.grad.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, -1]


BIO = Tagging(("B-X", "I-X", "O"), list, bio=True).frame(range(2)).space


@pytest.mark.parametrize(
    ("scores", "gold", "error", "words"),
    [
        ([torch.zeros(14)], [(0, 0)], ScoreError, "structure 0 has scores of the shape"),
        ([torch.zeros(1, 15)], [(0, 0)], ScoreError, "15 parts"),
        ([torch.zeros(15, dtype=torch.int64)], [(0, 0)], ScoreError, "int64"),
        ([np.zeros(15)], [(0, 0)], ScoreError, "ndarray"),
        ([torch.full((15,), torch.nan)], [(0, 0)], ScoreError, "nan at part 0"),
        ([torch.zeros(15)], [(0,)], LabelError, "2 variables"),
        ([torch.zeros(15)], [(0, 3)], LabelError, "beyond"),
        ([torch.zeros(15)], [(0.0, 1.0)], LabelError, "whole numbers"),
        ([torch.zeros(15)], [("B-X", "O")], LabelError, "whole numbers"),
        ([torch.zeros(15)], [(1, 1)], LabelError, "breaks the rule 'no I-X at the start'"),
        ([torch.zeros(15)], [], LabelError, "0 outputs for 1"),
        ([], [(0, 0)], ScoreError, "0 structures, and 1 spaces"),
    ],
    ids=range(12),
)
def test_what_does_not_fit_is_answered_by_a_sentence(scores, gold, error, words):
    with pytest.raises(error, match=words):
        StructuredHinge()(scores, [BIO], gold)


def test_what_else_does_not_fit_is_answered_by_a_sentence():
    with pytest.raises(ScoreError, match="at least one"):
        StructuredHinge()([], [], [])
    with pytest.raises(SettingError, match="reduction is one of mean, sum, none"):
        StructuredHinge(reduction="max")
    scores = [torch.zeros(15), torch.zeros(15)]
    scores[1][4] = -torch.inf
    with pytest.raises(ScoreError, match="structure 1 has -inf at part 4"):
        StructuredHinge()(scores, [BIO, BIO], [(0, 0), (0, 0)])


@pytest.mark.parametrize(
    ("best", "loss"),
    [
        ({}, 2.0),
        ({1: 10.0}, 0.0),  # gold, I-X at the start, outscores all that the rules allow
    ],
)
def test_gold_may_break_rules_where_this_is_said_and_what_keeps_the_margin_is_not_moved(best, loss):
    scores = torch.zeros(15)
    for part, score in best.items():
        scores[part] = score
    scores.requires_grad_()
    found = StructuredHinge(allow_infeasible_gold=True)([scores], [BIO], [(1, 1)])
    found.backward()
    assert found.item() == loss
    assert bool(scores.grad.any()) == (loss > 0)


def test_a_margin_that_is_kept_and_a_structure_without_variables_move_nothing():
    shapes = [chain(3), chain(0), chain(1)]
    scores = [torch.zeros(space.parts) for space in shapes]
    scores[0][torch.from_numpy(shapes[0].parts_of([(0, 1, 2)])[0].copy())] = 5.0
    for own in scores:
        own.requires_grad_()
    each = StructuredHinge(reduction="none")(scores, shapes, [(0, 1, 2), (), (0,)])
    each.sum().backward()
    assert each.tolist() == [0.0, 0.0, 1.0]
    assert not scores[0].grad.any()


def test_a_structure_for_which_an_engine_finds_nothing_is_named():
    class Late(Engine):
        def answer(self, problem, context):
            answers = Exact().answer(problem, context)
            late = np.full(len(answers), Status.TIMED_OUT)
            return Solutions(answers.labels, answers.value, answers.bound, late, answers.source)

    hinge = StructuredHinge(Late())
    with pytest.raises(NoSolution, match=r"^structure 0: "):
        hinge.predict([torch.zeros(15)], [BIO])
    with pytest.raises(NoSolution, match=r"^structure 0: "):
        hinge([torch.zeros(15)], [BIO], [(0, 0)])
