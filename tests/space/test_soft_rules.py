"""Soft rules against all outputs of small spaces, their penalties added by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote import Hamming, k_best
from rote.engines import RGS, Beam, ConstrainedBeam, Exact, Exhaustive, Milp, max_marginals
from rote.errors import RoteError
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.lazy_rows import LazyRows
from rote.inference.problem import Problem
from rote.inference.wrappers.amortized import Amortized
from rote.inference.wrappers.decomposed import Decomposed, HammingBall
from rote.space.losses import F1Loss
from rote.space.reasons import violations
from tests.strategies import Judge, Softened, known_value, soft_spaces

EXACT = {
    "exact": Exact,
    "exhaustive": Exhaustive,
    "branch and bound": BranchAndBound,
    "milp": Milp,
    "lazy rows": lambda: LazyRows(set_limit=1 << 12),
    "amortized": lambda: Amortized(admission="always"),
    "decomposed": lambda: Decomposed(Exact(), HammingBall(1)),
}
APPROXIMATE = {
    "greedy": lambda: RGS(restarts=3),
    "beam": lambda: Beam(width=3),
    "constrained beam": lambda: ConstrainedBeam(width=2),
}


def judged(softened: Softened, scores):
    """All outputs of one input and their values, best first, equals in lexicographic order."""
    found = [
        (known_value(softened.hard, scores, labels) - softened.cost(labels), labels)
        for labels in Judge(softened.hard).outputs
    ]
    return sorted(found, key=lambda one: (-one[0], one[1]))


@st.composite
def questions(draw):
    softened = draw(soft_spaces())
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    scores = rng.normal(size=(2, softened.hard.parts))
    if draw(st.booleans()):
        scores = np.round(scores)  # many ties
    return softened, scores


def wide(softened: Softened, scores):
    """The same scores with zeros where parts of soft rules are."""
    space, found = softened.space, np.zeros((len(scores), softened.space.parts))
    labels, own = softened.hard.labels, len(softened.hard.factors)
    ends = space.factor_offsets[0], space.factor_offsets[own]
    found[:, :labels] = scores[:, :labels]
    found[:, ends[0] : ends[1]] = scores[:, labels:]
    return found


@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
@given(question=questions())
def test_every_exact_engine_adds_what_broken_rules_cost(make, question):
    softened, scores = question
    space = softened.space
    best = [judged(softened, row) for row in scores]
    if not best[0]:
        with pytest.raises(RoteError):
            make().solve(space, scores)
        return
    for given_scores in (scores, wide(softened, scores)):
        found = make().solve(space, given_scores)
        assert found.optimal.all()
        for i, ranked in enumerate(best):
            near = [labels for value, labels in ranked if value >= ranked[0][0] - 1e-10]
            assert tuple(found.labels[i, : space.own]) == min(near)
            assert found.value[i] == pytest.approx(ranked[0][0], abs=1e-9)
        assert (space.value(given_scores, found.labels[:, : space.own]) == found.value).all()


@pytest.mark.parametrize("make", APPROXIMATE.values(), ids=APPROXIMATE)
@given(question=questions())
def test_every_approximate_answer_is_an_output_with_its_value(make, question):
    softened, scores = question
    try:
        found = make().solve(softened.space, scores)
    except RoteError:
        return
    for i in np.flatnonzero(found.status <= 1).tolist():
        labels = tuple(found.labels[i, : softened.space.own].tolist())
        if Judge(softened.hard).outputs.count(labels) == 0:
            assert isinstance(make(), Beam)  # which may break rules
            continue
        value = known_value(softened.hard, scores[i], labels) - softened.cost(labels)
        assert found.value[i] == pytest.approx(value, abs=1e-9)
        assert found.bound[i] >= judged(softened, scores[i])[0][0] - 1e-9


@given(question=questions())
def test_k_best_lists_every_output_once(question):
    softened, scores = question
    ranked = judged(softened, scores[0])
    if not ranked:
        return
    found = k_best(softened.space, scores[:1], len(ranked) + 1)
    outputs = [tuple(one.labels[0, : softened.space.own].tolist()) for one in found[:-1]]
    assert sorted(outputs) == sorted(labels for _, labels in ranked)
    assert [float(one.value[0]) for one in found[:-1]] == pytest.approx([v for v, _ in ranked])
    assert not found[-1].optimal.any()


@given(question=questions())
def test_max_marginals_count_what_is_broken(question):
    softened, scores = question
    ranked = judged(softened, scores[0])
    if not ranked:
        return
    found = max_marginals(softened.space, scores[:1])[0]
    for variable in softened.hard.variables:
        for label in range(len(variable.labels)):
            own = [value for value, labels in ranked if labels[variable.index] == label]
            at = softened.hard.offsets[variable.index] + label
            assert found[at] == pytest.approx(max(own, default=-np.inf), abs=1e-9)


@given(question=questions())
def test_losses_do_not_look_at_what_soft_rules_say(question):
    softened, scores = question
    outputs = Judge(softened.hard).outputs
    if not outputs:
        return
    space, hard = softened.space, softened.hard
    own = np.array(outputs)
    every, gold = space.as_labels(own), np.repeat(own[:1], len(own), axis=0)
    for loss in (Hamming(), Hamming({"a": 2.0}), F1Loss()):
        assert (
            loss.value(space, space.as_labels(gold), every) == loss.value(hard, gold, own)
        ).all()
    problem = Problem(space, scores[:1]).with_loss(F1Loss(), every[:1])
    found = Exhaustive().solve(space, problem)
    values = [
        known_value(hard, scores[0], y)
        - softened.cost(y)
        + F1Loss().value(hard, own[:1], x[None])[0]
        for y, x in zip(outputs, own, strict=True)
    ]
    assert found.value[0] == pytest.approx(max(values))


@given(question=questions())
def test_outputs_by_name_and_pictures(question):
    softened, _ = question
    space, outputs = softened.space, Judge(softened.hard).outputs
    for labels in outputs[:3]:
        named = softened.hard.decode(np.array(labels))
        assert space.decode(space.encode(named)) == named
        broken = [k for k, soft in enumerate(space.soft) if soft in space.broken_soft(labels)]
        assert [v.name for v in violations(space, labels)] == [space.soft[k].cost for k in broken]
        costs = sum(space.soft[k].weight for k in broken)
        assert costs == pytest.approx(softened.cost(labels))
