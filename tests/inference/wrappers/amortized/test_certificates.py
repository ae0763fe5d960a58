"""Certificates against a list of all outputs: what they take, bound and claim as a margin.

Beside each theorem stands what goes wrong without one of its conditions.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rote import Exact
from rote.inference.asking import _first_asked
from rote.inference.problem import Context, Problem
from rote.inference.wrappers.amortized import certificates
from rote.inference.wrappers.amortized.certificates import (
    Certificate,
    EqualScores,
    LagrangianCertificate,
    Margin,
    Query,
    ScoreCondition,
)
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.space import Space, SpaceBuilder
from tests.inference.wrappers.amortized.caches import put
from tests.strategies import Judge, row_of, rules_as_rows, spaces

seeds = st.integers(0, 2**32 - 1)
EVERY: list[Certificate] = [
    EqualScores(),
    ScoreCondition(),
    ScoreCondition(relative=True),
    Margin(),
    Margin(sweeps=0),
    LagrangianCertificate(),
    LagrangianCertificate(sweeps=0, failures=0),
    LagrangianCertificate(sweeps=1, failures=1),
]
every = pytest.mark.parametrize("certificate", EVERY, ids=repr)


# -- random caches and inputs ------------------------------------------------------------


SCORES = {
    "real": lambda rng, shape: rng.normal(size=shape),
    "eighths": lambda rng, shape: rng.integers(-16, 17, size=shape) / 8,
    "whole": lambda rng, shape: rng.integers(-1, 2, size=shape).astype(np.float64),
    "positive": lambda rng, shape: rng.random(shape),
    "zero": lambda rng, shape: np.zeros(shape),
    "huge": lambda rng, shape: 1e7 * rng.normal(size=shape),
    "tiny": lambda rng, shape: 1e-12 * rng.normal(size=shape),
    "near": lambda rng, shape: 3e-11 * rng.integers(0, 3, size=shape),
}


def in_numbers_asked(space, scores, closed=None):
    """A problem as engines see it: scores that are large beside their differences as losses."""
    return _first_asked(Problem(space, scores, closed), Context()).problem


@dataclass
class Made:
    """A space with all its outputs, a cache with solved problems, and a generator."""

    space: Space
    judge: Judge
    cache: SolutionCache
    rng: np.random.Generator

    def remember(self, scores):
        """Solved problems, with the margins and the room for rounding that the engine leaves."""
        problem = in_numbers_asked(self.space, np.atleast_2d(scores))
        for one, tie in zip(problem.scores, problem.ties, strict=True):
            best = self.judge.best(one)
            rest = [r.value for r in self.judge.valued(one) if r.labels != best.labels]
            margin = best.value - max(rest, default=-np.inf) - 2 * tie
            put(self.cache, best.labels, one, margin, duals=self._duals)

    def _duals(self, shape):
        """Any messages; multipliers of 0 suit every row."""
        return (
            self.rng.normal(size=shape) if shape[1] == self.cache.dual_sizes[0] else np.zeros(shape)
        )

    def per_slot(self, values):
        """A number for each part, the same for all parts of a slot."""
        return np.repeat(values, np.diff(self.cache.space.starts), axis=-1)

    def kin(self, m):
        """New inputs, each like a remembered problem: moved in its favour, or a little, or not."""
        cache = self.cache
        p = self.rng.integers(cache.count, size=m)
        z = np.zeros((m, self.space.parts))
        np.put_along_axis(z, cache.parts[cache.output_of[p]], 1.0, axis=1)
        scores = cache.scores[p].copy()
        size = self.rng.choice([0.0, 1e-12, 0.03125, 0.5], size=(m, 1))
        favour = self.rng.integers(0, 3, size=z.shape) * np.where(z > 0, 1, -1)
        noise = self.rng.integers(-2, 3, size=z.shape)
        constant = self.per_slot(self.rng.integers(-4, 5, size=(m, len(cache.space.starts) - 1)))
        kind = self.rng.random((m, 1))
        return (
            scores
            + size * np.where(kind < 0.5, favour, noise * (kind < 0.9))
            + (constant * (self.rng.random((m, 1)) < 0.3))
        )

    def asked(self, scores, epsilon=0.0, closed=None):
        problem = in_numbers_asked(self.space, scores, closed)
        m = len(problem)
        starts = np.where(
            self.rng.random(m) < 0.5, self.rng.integers(max(self.cache.count, 1), size=m), -1
        )
        starts = np.where(starts < self.cache.count, starts, -1)
        return Query(self.cache, problem, np.full(m, epsilon), starts)


def made(space, seed, kind="real", problems=3):
    rng = np.random.default_rng(seed)
    judge = Judge(space)
    if not judge.feasible:
        assume(False)
    found = Made(space, judge, SolutionCache(space), rng)
    found.remember(SCORES[kind](rng, (problems, space.parts)))
    return found


small = spaces(1, 4, max_rules=2, depth=2)
rows = st.sampled_from([None, None, 1, 4])
kinds = st.sampled_from(list(SCORES))


def checked(found, asked, certificate):
    """What a certificate says, once it is seen to be true: exact answers, bounds and margins."""
    proofs = certificate.test(asked)
    problem = asked.problem
    for i, tie in enumerate(problem.ties):
        scores, allowed = row_of(problem, i)
        ranked = found.judge.ranked(scores, allowed)
        slack = 0.1 * tie
        y = tuple(proofs.labels[i].tolist())
        values = {one.labels: one.value for one in ranked}
        best = max(values.values(), default=-np.inf)
        # An engine's answer may itself be a tie below the best.
        assert proofs.bound[i] >= best - slack - tie * isinstance(certificate, EqualScores)
        if not proofs.taken[i]:
            continue
        value = values.pop(y)  # an output, and open
        lead = value - max(values.values(), default=-np.inf)
        if proofs.margin[i] > 0:
            assert proofs.margin[i] <= lead + slack
        if asked.epsilon[i] == 0:
            valued = found.judge.valued(scores, allowed)
            least = max(one.value for one in valued) - asked.problem.ties[i]
            assert y == next(one.labels for one in valued if one.value >= least)
    return proofs


@every
@given(small, seeds, kinds, rows, st.booleans())
@settings(max_examples=60)
def test_what_is_taken_without_epsilon_is_the_answer_of_every_exact_engine(
    certificate, space, seed, kind, max_entries, closing
):
    with rules_as_rows(max_entries):
        found = made(space, seed, kind)
        scores = np.concatenate([found.kin(4), SCORES[kind](found.rng, (1, space.parts))])
        closed = found.rng.random((5, space.labels)) >= 0.85 if closing else None
        asked = found.asked(scores, 0.0, closed)
        checked(found, asked, certificate)


@every
@given(small, seeds, st.sampled_from(["huge", "real"]), st.sampled_from(["whole", "near", "tiny"]))
@settings(max_examples=30)
def test_problems_of_another_scale_never_make_it_wrong(certificate, space, seed, before, after):
    """Rounding at the scale of what is remembered is far more than a tie of what is asked."""
    found = made(space, seed, before)
    shift = np.repeat(
        found.rng.integers(-9, 10, len(found.cache.space.starts) - 1) * 2.0**22,
        np.diff(found.cache.space.starts),
    )
    near = SCORES[after](found.rng, (2, space.parts))
    found.remember(near + shift)
    asked = found.asked(np.concatenate([near, near + SCORES["near"](found.rng, near.shape)]))
    checked(found, asked, certificate)


@every
def test_an_empty_cache_is_no_trouble(certificate):
    space = pair()
    found = Made(space, Judge(space), SolutionCache(space), np.random.default_rng(0))
    asked = found.asked(np.array([[0.0, 1, 0, 2, 0, 0, 0, 3]]))
    proofs = checked(found, asked, certificate)
    assert proofs.taken[0] == isinstance(certificate, LagrangianCertificate)
    assert proofs.entries.tolist() == [-1]


@every
def test_closed_labels_are_never_taken(certificate):
    """Without looking at what is closed, the best remembered output would be one of these."""
    space = pair()
    found = Made(space, Judge(space), SolutionCache(space), np.random.default_rng(0))
    scores = np.array([[3.0, 0, 3, 0, 0, 0, 0, 0]])
    found.remember(scores)
    asked = found.asked(scores, 0.0, np.array([[True, False, False, False]]))
    proofs = checked(found, asked, certificate)
    assert proofs.taken[0] == isinstance(certificate, LagrangianCertificate)


def pair(labels="ab"):
    builder = SpaceBuilder()
    x, y = builder.variable("x", labels), builder.variable("y", labels)
    builder.factor(x, y)
    return builder.build()


def one(labels="ab"):
    builder = SpaceBuilder()
    builder.variable("x", labels)
    return builder.build()


def without_the_last(labels):
    """Where the last label is the best one, what the answer loses makes the tie."""
    builder = SpaceBuilder()
    x = builder.variable("x", labels)
    builder.require(~x[labels[-1]])
    return builder.build()


def remembered(space, labels, scores, margin):
    """A cache with one entry, true or not, to ask."""
    found = Made(space, Judge(space), SolutionCache(space), np.random.default_rng(0))
    put(found.cache, labels, scores, margin)
    return found


def exact(space, scores):
    return Exact().solve(space, np.atleast_2d(scores)).labels[0].tolist()


# -- eq. (4) ------------------------------------------------------------------------------


@pytest.mark.parametrize("relative", [False, True])
@given(small, seeds)
@settings(max_examples=60)
def test_scores_moved_in_favour_of_the_best_output_keep_it(relative, space, seed):
    """What the condition says, it finds: better where y is, worse elsewhere, a clear margin."""
    found = made(space, seed, "eighths", problems=1)
    assume(found.cache.margins[0] > 1e-6)
    z = np.zeros(space.parts)
    z[found.cache.parts[0]] = 1
    step = found.rng.integers(0, 4, size=space.parts) / 8
    scores = found.cache.scores[0] + np.where(z > 0, step, -step)
    asked = found.asked(scores[None])
    proofs = checked(found, asked, ScoreCondition(relative))
    assert proofs.taken.sum() == 1
    assert proofs.entries.tolist() == [0]


@pytest.mark.parametrize("relative", [False, True])
@given(small, seeds, st.sampled_from(["real", "huge"]))
@settings(max_examples=40)
def test_scores_that_did_not_move_meet_the_condition(relative, space, seed, kind):
    """Rounding must not look like a change."""
    found = made(space, seed, kind, problems=1)
    asked = found.asked(found.cache.scores[:1])
    assume(found.cache.margins[0] > asked.problem.ties[0])
    assert checked(found, asked, ScoreCondition(relative)).taken[0]


@pytest.mark.parametrize("relative", [False, True])
@given(small, seeds, st.sampled_from([0.01, 0.1, 1.0, 10.0]), rows)
@settings(max_examples=50)
def test_theorem_1(relative, space, seed, epsilon, max_entries):
    """f_q(best) <= (1 + M ε) f_q(taken), M being (bound - f_q(taken)) / (ε f_q(taken))."""
    with rules_as_rows(max_entries):
        found = made(space, seed, "positive")
        asked = found.asked(
            np.concatenate([found.kin(4), found.rng.random((2, space.parts))]), epsilon
        )
        proofs = checked(found, asked, ScoreCondition(relative))
        slots = np.split(np.arange(space.parts), found.cache.space.starts[1:-1])
        for i in np.flatnonzero(proofs.taken):
            scores = asked.problem.scores[i]
            own = space.parts_of(proofs.labels[i : i + 1])[0]
            value, best = scores[own].sum(), found.judge.best(scores).value
            if relative:
                zero = np.concatenate(
                    [np.full(len(s), scores[k]) for s, k in zip(slots, own, strict=True)]
                )
                scores = scores - zero
            total = np.abs(scores)[own].sum() + sum(np.abs(scores)[s].max() for s in slots)
            assert proofs.bound[i] == pytest.approx(value + epsilon * total)
            if value > 0:
                m = total / value
                assert best <= (1 + m * epsilon) * value + 1e-9


@given(small, seeds, st.sampled_from([0.0, 0.25, 1.0]))
@settings(max_examples=50)
def test_constants_added_to_a_slot_change_nothing_of_the_relative_condition(space, seed, epsilon):
    found = made(space, seed, "eighths")
    scores = np.round(8 * found.kin(5)) / 8  # eighths have no rounding
    constants = np.repeat(
        found.rng.integers(-8, 9, len(found.cache.space.starts) - 1),
        np.diff(found.cache.space.starts),
    )
    asked = found.asked(scores, epsilon)
    moved = Query(asked.cache, Problem.of(space, scores + constants), asked.epsilon, asked.starts)
    before, after = (ScoreCondition(relative=True).test(each) for each in (asked, moved))
    assert before.taken.tolist() == after.taken.tolist()
    assert before.labels.tolist() == after.labels.tolist()
    assert before.entries.tolist() == after.entries.tolist()


def test_constants_added_to_a_slot_do_change_the_raw_condition():
    found = remembered(one(), [0], [2.0, 0.0], 2.0)
    for scores in ([[1.0, -1.0]], [[3.0, 1.0]]):  # one less, one more everywhere
        asked = found.asked(np.array(scores))
        assert not ScoreCondition().test(asked).taken[0]
        assert ScoreCondition(relative=True).test(asked).taken[0]


@pytest.mark.parametrize("relative", [False, True])
def test_without_the_margin_a_tie_would_have_another_answer_than_exact(relative):
    """Scores elsewhere grow, and with them a tie: what was clear by a little is so no more."""
    before, after = [0.0, 5e-10, 1.0, 0.0, 0.0], [0.0, 5e-10, 1.0, 0.0, -100.0]
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    y = builder.variable("y", "abc")
    builder.require(~y["a"])  # the best output loses something, so that larger losses count
    space = builder.build()
    assert exact(space, before) == [1, 1]
    assert exact(space, after) == [0, 1]
    found = remembered(space, [1, 1], before, 5e-10)
    assert not ScoreCondition(relative).test(found.asked(np.array([after]))).taken[0]
    unsafe = remembered(space, [1, 1], before, np.inf)
    taken = ScoreCondition(relative).test(unsafe.asked(np.array([after]))).labels[0]
    assert taken.tolist() == [1, 1]


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("margin", [0.0, -1.0, -np.inf, 1e-10])
def test_entries_without_a_margin_prove_nothing_without_epsilon(relative, margin):
    found = remembered(one(), [0], [1.0, 1.0], margin)
    scores = np.array([[1.0, 1.0]])
    assert not ScoreCondition(relative).test(found.asked(scores)).taken[0]
    assert ScoreCondition(relative).test(found.asked(scores, 0.1)).taken[0]


@pytest.mark.parametrize("relative", [False, True])
def test_where_one_part_fails_the_condition_another_output_may_be_the_best(relative):
    found = remembered(one("abc"), [0], [2.0, 1.0, 0.0], 1.0)
    scores = np.array([[2.0, 1.0, 3.0]])
    assert exact(found.space, scores) == [2]
    assert not ScoreCondition(relative).test(found.asked(scores)).taken[0]


def test_only_entries_with_the_best_remembered_output_are_compared():
    """A problem whose output is not the best one in the cache cannot be the answer's proof."""
    found = remembered(one(), [0], [1.0, 0.0], 1.0)
    put(found.cache, [1], [0.0, 1.0], 1.0)
    proofs = ScoreCondition().test(found.asked(np.array([[0.0, 2.0], [5.0, 0.0], [0.5, 0.4]])))
    assert proofs.taken.tolist() == [True, True, False]
    assert proofs.entries.tolist() == [1, 0, -1]
    assert proofs.margin.tolist() == [1.0, 1.0, -np.inf]
    assert proofs.bound.tolist() == [2.0, 5.0, np.inf]


# -- margins ------------------------------------------------------------------------------


@given(small, seeds, rows)
@settings(max_examples=50)
def test_scores_that_move_less_than_the_margin_keep_the_best_output(space, seed, max_entries):
    """B - d·z(y_p) < m: with d below m / (2 slots) in every part, whatever the relaxation."""
    with rules_as_rows(max_entries):
        found = made(space, seed, "real", problems=1)
        margin = found.cache.margins[0]
        assume(margin > 1e-6)
        most = min(margin, 1.0) / (2.5 * found.cache.parts.shape[1])
        moved = found.rng.uniform(-most, most, size=(3, space.parts))
        asked = found.asked(found.cache.scores[0] + moved)
        proofs = checked(found, asked, Margin(sweeps=0))
        assert proofs.taken.sum() == 3
        assert (proofs.margin > 0).all()


@pytest.mark.parametrize("margin", [0.0, -1.0, -np.inf])
def test_a_margin_that_is_not_positive_proves_nothing(margin):
    found = remembered(one(), [1], [1.0, 1.0], margin)
    scores = np.array([[1.0, 1.0]])
    assert exact(found.space, scores) == [0]
    assert not Margin().test(found.asked(scores)).taken[0]
    unsafe = remembered(one(), [1], [1.0, 1.0], 1.0)
    assert Margin().test(unsafe.asked(scores)).labels[0].tolist() == [1]


def test_scores_that_move_as_much_as_the_margin_make_a_tie():
    """Without "more than a tie", an output would be taken that only equals the first."""
    found = remembered(without_the_last("abc"), [1], [0.0, 1.0, 2.0], 1.0)
    moved = {0.5: True, 1 - 2e-10: True, 1 - 5e-11: False, 1.0: False, 1.5: False}
    for gained, taken in moved.items():
        asked = found.asked(np.array([[gained, 1.0, 2.0]]))
        proofs = checked(found, asked, Margin())
        assert proofs.taken[0] == taken
    assert proofs.margin[0] == pytest.approx(-0.5)
    assert proofs.bound[0] == pytest.approx(1.5)


@given(small, seeds, st.sampled_from([0.01, 0.3, 2.0]))
@settings(max_examples=60)
def test_with_epsilon_a_margin_takes_what_is_worse_by_so_much_at_most(space, seed, epsilon):
    found = made(space, seed)
    asked = found.asked(found.kin(5), epsilon)
    proofs = checked(found, asked, Margin())
    check_gap(found, asked, proofs, epsilon)


def check_gap(found, asked, proofs, epsilon):
    """best - value <= ε |value| wherever an output is taken, within a tie."""
    value = found.space.known_value(asked.problem.scores, proofs.labels)
    for i in np.flatnonzero(proofs.taken):
        best = found.judge.best(*row_of(asked.problem, i)).value
        assert best - value[i] <= epsilon * abs(value[i]) + asked.problem.ties[i]


def test_a_margin_needs_an_entry_that_has_the_output_still():
    """Rows may be written over: an output then remembers an entry that is another's."""
    found = remembered(one("abc"), [0], [1.0, 0.0, 0.0], 1.0)
    put(found.cache, [1], [0.0, 1.0, 0.0], 1.0, rows=[0])
    cache = found.cache
    cache.by_engine[:] = False
    put(cache, [2], [0.0, 0.0, 1.0], 1.0, rows=[0], by_engine=False)
    assert cache.entry_of_output[0] == 0
    assert cache.output_of[0] == 2
    asked = Query(
        cache, Problem.of(found.space, np.array([[1.0, 0.0, 0.0]])), np.zeros(1), np.array([-1])
    )
    proofs = Margin().test(asked)
    assert not proofs.taken[0]


# -- duals --------------------------------------------------------------------------------


@given(small, seeds, kinds, st.sampled_from([0.001, 0.05, 0.5]), rows, st.booleans())
@settings(max_examples=60)
def test_with_epsilon_duals_take_on_the_true_gap(space, seed, kind, epsilon, max_entries, closing):
    """best - value <= ε |value|, and bound >= best."""
    with rules_as_rows(max_entries):
        found = made(space, seed, kind)
        closed = found.rng.random((4, space.labels)) >= 0.85 if closing else None
        asked = found.asked(found.kin(4), epsilon, closed)
        for certificate in (LagrangianCertificate(), LagrangianCertificate(sweeps=0, failures=0)):
            proofs = checked(found, asked, certificate)
            check_gap(found, asked, proofs, epsilon)
            taken = proofs.taken & ~(proofs.margin > asked.problem.ties)
            value = space.known_value(asked.problem.scores, proofs.labels)[taken]
            assert (proofs.bound[taken] - value <= epsilon * np.abs(value)).all()


def test_of_equals_duals_take_the_first():
    """Every output is worth the same; the one remembered is not the first."""
    space = pair()
    found = remembered(space, [1, 1], np.zeros(8), 0.0)
    asked = Query(found.cache, Problem.of(space, np.zeros((1, 8))), np.zeros(1), np.array([0]))
    proofs = LagrangianCertificate().test(asked)
    assert proofs.taken[0]
    assert proofs.labels[0].tolist() == exact(space, np.zeros(8)) == [0, 0]
    assert proofs.margin[0] == -np.inf


def test_of_labels_within_a_tie_duals_take_the_first():
    found = remembered(without_the_last("abc"), [1], [0.0, 1.0, 0.0], 1.0)
    for lead, label in ((0.9e-10, 0), (1.1e-10, 1)):
        scores = np.array([[0.0, lead, 1.0]])  # what is lost is the tie's measure
        proofs = checked(found, found.asked(scores), LagrangianCertificate())
        assert proofs.taken[0]
        assert proofs.labels[0].tolist() == [label] == exact(found.space, scores)


def test_ties_that_take_long_to_settle_are_left_to_the_engine(monkeypatch):
    monkeypatch.setattr(certificates, "first_of_equals", lambda _, labels: 0 * labels - 1)
    found = remembered(pair(), [1, 1], np.zeros(8), 0.0)
    proofs = checked(found, found.asked(np.zeros((1, 8))), LagrangianCertificate())
    assert not proofs.taken[0]


def joined(n, labels):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for one, other in itertools.combinations(variables, 2):
        builder.factor(one, other)
    return builder.build()


def test_duals_prove_nearly_all_of_some_problems_that_no_relaxation_is_tight_for():
    space = joined(4, "abc")
    found = Made(space, Judge(space), SolutionCache(space), np.random.default_rng(1))
    scores = found.rng.normal(size=(60, space.parts))
    found.remember(scores[:5])
    asked = found.asked(scores)
    proofs = checked(found, asked, LagrangianCertificate())
    assert proofs.taken.sum() >= 55
    fewer = checked(found, asked, LagrangianCertificate(sweeps=2, failures=0))
    assert fewer.taken.sum() < proofs.taken.sum()


@given(seeds)
@settings(max_examples=30)
def test_an_entry_to_begin_with_changes_no_answer(seed):
    space = joined(4, "ab")
    found = made(space, seed, "whole", problems=4)
    scores = SCORES["whole"](found.rng, (6, space.parts))
    for start in range(-1, 4):
        asked = Query(found.cache, Problem.of(space, scores), np.zeros(6), np.full(6, start))
        checked(found, asked, LagrangianCertificate(sweeps=3))


# -- equal scores -------------------------------------------------------------------------


@given(small, seeds, kinds)
@settings(max_examples=60)
def test_only_equal_scores_are_the_same(space, seed, kind):
    found = made(space, seed, kind)
    scores = np.concatenate([found.cache.scores[:3], found.kin(3)])
    asked = found.asked(scores)
    proofs = checked(found, asked, EqualScores())
    for i, row in enumerate(asked.problem.scores):
        equal = (found.cache.scores[:3] == row).all(axis=1)
        assert proofs.taken[i] == equal.any()
        if proofs.taken[i]:
            assert equal[proofs.entries[i]]
            assert proofs.bound[i] == space.known_value(row[None], proofs.labels[i : i + 1])[0]


# -- what is asked ------------------------------------------------------------------------


@every
def test_inputs_are_independent_of_each_other(certificate):
    found = made(joined(4, "ab"), 5, "real")
    asked = found.asked(found.kin(6))
    whole = certificate.test(asked)
    for i in range(6):
        alone = certificate.test(asked.rows(np.array([i])))
        assert alone.taken[0] == whole.taken[i]
        assert alone.labels[0].tolist() == whole.labels[i].tolist()
        assert alone.entries[0] == whole.entries[i]
