"""Proofs from duals: each step against its formula, and what is proved against enumeration.

Throughout, scores are real, whole (many ties), all zero, huge, tiny, or about a tie apart; rules
are tables or rows; labels may be closed; and duals are random unless a test says otherwise.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.inference.exact.plans import no_plan, partial_plan
from rote.inference.exact.search import finite_messages
from rote.inference.problem import TIE, Problem
from rote.kernels.bundles import DualRows, Graph
from rote.kernels.dual.ascent import Ascent, apply_duals, ascend, find_tops, sweep
from rote.kernels.dual.certificates import (
    CertificateRoom,
    Proof,
    certify,
    close_losers,
    find_losses,
    gap_of,
    probe,
    settle,
)
from rote.space import Space, SpaceBuilder, exactly
from rote.types import readonly
from tests.kernels import bodies
from tests.kernels.bodies import ascent_of, networks, random_duals
from tests.strategies import Judge, row_of, rules_as_rows, spaces

seeds = st.integers(0, 2**32 - 1)
SCORES = {
    "real": lambda rng, size: rng.normal(size=size),
    "whole": lambda rng, size: rng.integers(-1, 2, size=size).astype(np.float64),
    "zero": lambda rng, size: np.zeros(size),
    "huge": lambda rng, size: 1e6 * rng.normal(size=size),
    "tiny": lambda rng, size: 1e-12 * rng.normal(size=size),
    "near": lambda rng, size: 3e-11 * rng.integers(0, 3, size=size),
}
kinds = st.sampled_from(list(SCORES))


@dataclass(frozen=True, eq=False)
class State:
    """A network whose scores have been reparametrised."""

    graph: Graph
    before: np.ndarray  # entries without duals, -inf where closed
    theta: np.ndarray
    messages: np.ndarray
    multipliers: np.ndarray
    tie: float

    @property
    def bound(self):
        return bodies.bound_of(self.graph, self.theta, self.multipliers)

    @property
    def ascent(self):
        """A copy, whose tops are known."""
        ascent = ascent_of(self.graph, self.theta, self.messages, self.multipliers)
        find_tops(self.graph, ascent.theta, 0.0, ascent.tops)
        return ascent

    def losses(self):
        """losses and marginals, as the kernel finds them."""
        room = CertificateRoom(self.graph)
        find_losses(self.graph, self.ascent, room)
        return room.losses, room.marginals

    def known_value(self, labels):
        return bodies.worth_of(self.graph, self.before, 0 * self.multipliers, labels)

    @cached_property
    def ranked(self):
        """What every output is worth, the best first."""
        every = bodies.feasible(self.graph, self.before)
        return sorted(((self.known_value(y), y) for y in every), reverse=True)


def prepared(found, seed, kind="real", duals=True, sweeps=0):
    space, net = found
    graph = net.graph
    rng = np.random.default_rng(seed)
    scores = SCORES[kind](rng, space.parts)
    scale = max(1.0, np.abs(scores).max(initial=0.0))
    before = bodies.loaded(graph, scores)
    if rng.random() < 0.4:
        before[: graph.offsets[-1]][rng.random(int(graph.offsets[-1])) < 0.15] = -np.inf
    messages, multipliers = (duals * scale * each for each in random_duals(graph, rng))
    ascent = ascent_of(graph, before, messages, multipliers)
    apply_duals(graph, ascent)
    for _ in range(sweeps):
        sweep(graph, ascent, False)
    reached = map(np.asarray, (ascent.theta, ascent.messages, ascent.multipliers))
    return State(graph, before, *reached, TIE * scale)


states = st.builds(
    prepared,
    # With many auxiliary variables, looking at all labellings takes too long.
    networks(least=1).filter(lambda found: np.prod(found[1].sizes.astype(float)) <= 600),
    seeds,
    kinds,
    duals=st.booleans(),
    sweeps=st.sampled_from([0, 0, 2]),
)


# -- steps --------------------------------------------------------------------------------


@given(states)
def test_the_gap_of_an_output_is_bound_less_value_and_infinite_where_it_breaks_a_rule(state):
    """gap = B - value(y)."""
    if state.bound == -np.inf:
        return
    every, ascent = {y: value for value, y in state.ranked}, state.ascent
    for y in list(bodies.labellings(state.graph))[:80]:
        gap = gap_of(state.graph, ascent, np.array(y, dtype=np.int64))
        if y not in every:
            assert gap == np.inf
        else:
            assert gap >= -state.tie
            assert gap == pytest.approx(state.bound - every[y], abs=state.tie)


@given(states)
def test_an_output_with_a_label_is_worth_at_most_the_bound_less_the_label_s_loss(state):
    """value(y) <= B - loss_j(y_j), whatever the duals."""
    if state.bound == -np.inf:
        return
    losses, _ = state.losses()
    assert (losses >= -state.tie).all()
    for value, y in state.ranked:
        for j, a in enumerate(y):
            assert value <= state.bound - losses[state.graph.offsets[j] + a] + state.tie


@given(states, st.sampled_from([0.0, 0.3, 2.0]))
def test_closing_losers_closes_them_alone_and_says_the_least_that_they_lose(state, share):
    """Outputs worth more than B - room keep all their labels."""
    if state.bound == -np.inf:
        return
    losses, _ = state.losses()
    room = share * max(1.0, np.abs(state.before[np.isfinite(state.before)]).max(initial=0.0))
    theta = state.theta.copy()
    least = close_losers(losses, room, theta)
    n = int(state.graph.offsets[-1])
    was_open = np.isfinite(state.theta[:n])
    losers = was_open & (losses > room)
    assert (np.isfinite(theta[:n]) == was_open & ~losers).all()
    assert (theta[n:] == state.theta[n:]).all()
    assert least == losses[losers].min(initial=np.inf)
    for value, y in state.ranked:
        if value > state.bound - room + state.tie:
            assert np.isfinite(theta[bodies.entries_of(state.graph, y)]).all()
        elif np.isinf(theta[state.graph.offsets[:-1] + np.array(y)]).any():
            assert value <= state.bound - least + state.tie


# -- settling -----------------------------------------------------------------------------


class Settled(NamedTuple):
    proof: Proof
    chosen: np.ndarray
    ascent: Ascent
    room: CertificateRoom

    @property
    def theta(self):
        return self.ascent.theta


def set_to(bundle, **fields):
    for name, value in fields.items():
        setattr(bundle, name, value)


def settled(state, *, initial=None, rest=0.0, floor=-np.inf, epsilon=0.0, sweeps=3):
    graph = state.graph
    room = CertificateRoom(graph)
    chosen = np.full(len(graph.sizes), -1) if initial is None else np.array(initial, dtype=np.int64)
    set_to(room.aim, rest=rest, floor=floor, tie=state.tie, epsilon=epsilon, sweeps=sweeps)
    ascent = state.ascent
    settle(graph, ascent, room, chosen, initial is not None, room.aim, room.proof)
    return Settled(room.proof, chosen, ascent, room)


def check_settled(state, found, rest):
    """What `settle` and `probe` promise of an output, its value and all others."""
    ranked = state.ranked
    slack = 0.1 * state.tie
    if found.proof.value == -np.inf:
        return
    y = tuple(found.chosen.tolist())
    others = [value for value, other in ranked if other != y]
    assert y in [other for _, other in ranked]
    assert found.proof.value == pytest.approx(rest + state.known_value(y), abs=slack)
    assert found.proof.runner >= rest + max(others, default=-np.inf) - slack
    assert found.proof.bound >= rest + ranked[0][0] - slack
    for value, other in ranked:
        if np.isinf(found.theta[state.graph.offsets[:-1] + np.array(other)]).any():
            assert rest + value <= found.proof.shut + slack


@given(
    states,
    st.integers(0, 4),
    st.sampled_from([None, "any", "best"]),
    st.sampled_from([0.0, 1.5]),
    st.sampled_from([0.0, 0.05, 1.0]),
)
def test_settling_never_claims_too_much(state, sweeps, start, rest, epsilon):
    """The bound is valid, the value that of the output, and no other is worth more than runner."""
    ranked = state.ranked
    initial = None
    if start == "best" and ranked:
        initial = ranked[0][1]
    elif start == "any":
        initial = np.random.default_rng(sweeps).integers(state.graph.sizes)
    found = settled(state, initial=initial, rest=rest, epsilon=epsilon, sweeps=sweeps)
    assert 0 <= found.proof.sweeps <= sweeps
    if not ranked:
        assert found.proof.value == -np.inf
        return
    assert found.proof.bound >= rest + ranked[0][0] - 0.1 * state.tie
    check_settled(state, found, rest)
    if start == "best":
        assert found.proof.value == pytest.approx(rest + ranked[0][0], abs=state.tie)
    near = found.proof.bound - found.proof.value <= epsilon * abs(found.proof.value)
    if found.proof.value - found.proof.runner > state.tie:
        assert tuple(found.chosen.tolist()) == ranked[0][1]
    elif not (epsilon and near):
        assert found.proof.sweeps == sweeps


@given(states, st.floats(-3, 3), st.integers(0, 4))
def test_settling_stops_below_a_floor_only_where_nothing_reaches_it(state, floor, sweeps):
    found = settled(state, floor=floor, sweeps=sweeps)
    ranked = state.ranked
    if found.proof.bound < floor and ranked:
        assert ranked[0][0] <= found.proof.bound + 0.1 * state.tie
    check_settled(state, found, 0.0)


# -- probing ------------------------------------------------------------------------------


def probed(state, found, rest=0.0, failures=100):
    chosen, room = found.chosen.copy(), found.room
    set_to(room.aim, rest=rest, floor=-np.inf, tie=state.tie, epsilon=0.0, sweeps=0)
    own = found.ascent.theta, found.ascent.messages, found.ascent.multipliers
    ascent = ascent_of(state.graph, *own)
    value, runner = probe(state.graph, ascent, room, chosen, failures)
    # Labels that probes closed are in no output that is worth more than the runner-up.
    proof = Proof()
    set_to(proof, bound=found.proof.bound, value=value, runner=runner, shut=runner)
    return Settled(proof, chosen, ascent, room)


@given(states, st.sampled_from([0.0, 1.5]), st.sampled_from([0, 1, 3]), st.sampled_from([1, 9]))
def test_probing_never_claims_too_much(state, rest, sweeps, failures):
    """As for settling: the value is that of the output, no other is worth more than runner."""
    found = settled(state, rest=rest, sweeps=sweeps)
    if found.proof.value == -np.inf:
        return
    after = probed(state, found, rest, failures)
    assert after.proof.value >= found.proof.value - state.tie
    check_settled(state, after, rest)
    if after.proof.value - after.proof.runner > state.tie:
        assert tuple(after.chosen.tolist()) == state.ranked[0][1]


def pairs(n, labels="ab"):
    """n variables, every two of them under a factor."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for j in range(n):
        for k in range(j):
            builder.factor(variables[k], variables[j])
    return builder.build()


UNEQUAL = [[0.0, 0.4], [0.3, 0.0], [0.0, 0.15]]  # no two outputs are worth the same


def frustrated(own):
    """Variables of which every two want to differ: with three or more, no relaxation is tight."""
    space = pairs(len(own))
    graph = space.network.graph
    both = np.tile([0.0, 1.0, 1.0, 0.0], len(space.factors))
    theta = bodies.loaded(graph, np.concatenate([np.ravel(own), both]))
    messages = np.zeros(int(graph.flow.message_ptr[-1]))
    return State(graph, theta, theta.copy(), messages, np.zeros(0), TIE)


def test_probing_proves_what_sweeps_cannot():
    state = frustrated(UNEQUAL)
    found = settled(state, sweeps=20)
    assert found.proof.value - found.proof.runner <= state.tie
    assert found.proof.sweeps == 20
    after = probed(state, settled(state, sweeps=0))
    ranked = state.ranked
    assert tuple(after.chosen.tolist()) == ranked[0][1]
    assert 0.01 < after.proof.value - after.proof.runner <= ranked[0][0] - ranked[1][0] + 1e-9


def test_probing_finds_a_better_output_than_the_one_it_begins_with():
    state = frustrated(UNEQUAL)
    ranked = state.ranked
    for value, y in ranked[1:]:
        begin = settled(state, sweeps=0)
        begin.chosen[:] = y
        begin.proof.value = value
        after = probed(state, begin)
        assert tuple(after.chosen.tolist()) == ranked[0][1]
        assert after.proof.value == pytest.approx(ranked[0][0])
        assert ranked[1][0] - 1e-9 <= after.proof.runner < after.proof.value


# -- whole batches ------------------------------------------------------------------------


class Question(NamedTuple):
    """A space, an objective for it, and how to begin."""

    space: Space
    objective: Problem
    initials: np.ndarray
    epsilon: np.ndarray
    sweeps: int
    failures: int
    max_entries: int | None  # of a rule that is a table; see rules_as_rows
    cheap: bool  # eliminate cheap variables first
    seed: int


@st.composite
def questions(draw):
    space = draw(spaces(1, 4, max_rules=2, depth=2))
    seed = draw(seeds)
    rng = np.random.default_rng(seed)
    scores = np.stack([SCORES[draw(kinds)](rng, space.parts) for _ in range(2)])
    allowed = rng.random((2, space.labels)) < 0.85 if draw(st.booleans()) else None
    initials = rng.integers(space.sizes, size=(2, len(space.variables)))
    initials[rng.random(2) < 0.4] = -1
    return Question(
        space,
        Problem(space, scores, None if allowed is None else ~allowed),
        initials,
        np.array([0.0, draw(st.sampled_from([0.0, 0.05, 1.0]))]),
        draw(st.sampled_from([0, 1, 2, 6])),
        draw(st.sampled_from([0, 1, 4])),
        draw(st.sampled_from([None, None, 1, 4])),
        draw(st.booleans()),
        seed,
    )


def certified(question, duals=None, **changed):
    """What a kernel says; ``duals`` makes a row of each for every input, from a graph."""
    space, objective, initials, epsilon, sweeps, failures, _, cheap, _ = question._replace(
        **changed
    )
    plan = partial_plan(space) if cheap else no_plan(space)
    graph = plan.core.network.graph
    m = len(objective)
    messages = np.zeros((0, int(graph.flow.message_ptr[-1])))
    multipliers = np.zeros((0, len(graph.rows.lower)))
    starts = np.full(m, -1)
    if duals is not None:
        both = [duals(graph, i) for i in range(m)]
        messages = np.stack([each[0] for each in both])[::-1]
        multipliers = np.stack([each[1] for each in both])[::-1]
        starts = np.arange(m)[::-1]
    return certify(
        objective.questions,
        readonly(initials),
        readonly(starts),
        DualRows(readonly(messages), readonly(multipliers)),
        plan.reduced(space),
        readonly(epsilon),
        sweeps,
        failures,
    )


def check_certified(question, found):
    """The promises of `certify`, all of them against a list of all outputs."""
    space, objective = question.space, question.objective
    labels, bounds, margins, made, _ = found
    judge = Judge(space)
    assert (made >= 0).all()
    assert (made <= question.sweeps).all()
    for i, tie in enumerate(objective.ties):
        ranked = judge.ranked(*row_of(objective, i))
        if not ranked:
            assert (labels[i] == -1).all()
            assert margins[i] == -np.inf
            continue
        slack = 0.1 * tie
        best, others = judge.best(*row_of(objective, i)), {one.labels: one for one in ranked}
        assert bounds[i] >= ranked[0].value - slack
        y = tuple(labels[i].tolist())
        if y[0] < 0:
            assert (labels[i] == -1).all()
            assert margins[i] == -np.inf
            continue
        value = others.pop(y).value
        if margins[i] > tie:
            assert y == best.labels
        if margins[i] > 0:
            lead = value - max((one.value for one in others.values()), default=-np.inf)
            assert margins[i] <= lead + slack
        if question.epsilon[i] > 0 and made[i] < question.sweeps and margins[i] <= tie:
            assert bounds[i] - value <= question.epsilon[i] * abs(value) + slack


@given(questions())
def test_what_is_certified_is_the_answer_of_every_exact_engine(question):
    """margin > tie: the canonical answer; margin <= best - second best; bound >= best."""
    with rules_as_rows(question.max_entries):
        check_certified(question, certified(question))


@given(questions(), seeds, kinds)
def test_duals_of_another_problem_never_make_it_wrong(question, seed, kind):
    rng = np.random.default_rng(seed)
    scores = readonly(SCORES[kind](rng, (2, question.space.parts)))
    with rules_as_rows(question.max_entries):
        other = certified(question, objective=Problem.of(question.space, scores))
        messages = finite_messages(other[4].messages)
        multipliers = other[4].multipliers
        check_certified(question, certified(question, lambda _, i: (messages[i], multipliers[i])))


@given(questions())
def test_duals_handed_back_bound_every_output(question):
    """They are of use to others as they are, though labels were closed on the way."""
    with rules_as_rows(question.max_entries):
        *_, duals = certified(question, cheap=False)
        objective = question.objective
        graph = no_plan(question.space).core.network.graph
        bounds = ascend(
            objective.questions, graph, finite_messages(duals.messages), duals.multipliers, 0
        )
        judge = Judge(question.space)
        for i, tie in enumerate(objective.ties):
            best = judge.best(*row_of(objective, i))
            assert best is None or bounds[i] >= best.value - tie


def test_without_anything_to_search_an_elimination_is_certified_by_its_own_margin():
    builder = SpaceBuilder()
    for name in "xy":
        builder.variable(name, "abc")
    space = builder.build()
    objective = Problem.of(space, np.array([[0.0, 3, 1, 5, 0, 4.5], [1.0, 1, 0, 0, 0, 0]]))
    question = Question(
        space, objective, np.full((2, 2), -1), np.zeros(2), 0, 0, None, cheap=True, seed=0
    )
    labels, bounds, margins, made, _ = certified(question)
    assert labels[0].tolist() == [1, 0]
    assert bounds.tolist() == [8.0, 1.0]
    assert margins.tolist() == [0.5, 0.0]
    assert made.tolist() == [0, 0]


def test_a_margin_is_not_forgotten_when_sweeps_give_way_to_probes():
    """Labels that sweeps closed are in outputs that count for the margin, too."""
    space = pairs(4, "abc")
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(150, space.parts))
    question = Question(
        space,
        Problem.of(space, scores),
        np.full((150, 4), -1),
        np.zeros(150),
        20,
        4,
        None,
        cheap=True,
        seed=0,
    )
    check_certified(question, certified(question))


def test_auxiliary_variables_are_no_part_of_what_is_certified():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(f"x{j}", "ab")["b"] for j in range(3))
    builder.require(exactly(1, [x & y, z]))
    space = builder.build()
    with rules_as_rows():
        assert space.network.variables > len(space.variables)
        question = Question(
            space,
            Problem.of(space, np.array([[0.0, 1.1, 0.0, -1.2, 0.0, 1.3]])),
            np.array([[1, 1, 1]]),
            np.zeros(1),
            20,
            4,
            1,
            cheap=True,
            seed=0,
        )
        found = certified(question)
        check_certified(question, found)
        assert found[0].tolist() == [[1, 0, 1]]
        assert found[2][0] > 0.1
