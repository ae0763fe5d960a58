"""`MessagePassing`: exact on spaces of pairs, from any start; what is not settled goes on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import BranchAndBound, Exact, Exhaustive, FoundBy, MessagePassing
from rote.errors import InfeasibleSpace, LabelError, ScoreError, UnsupportedSpace
from rote.inference.exact.duals import Duals, dual_bound
from rote.inference.problem import Context, Problem, WarmStart
from rote.inference.solutions import Status
from rote.space import SpaceBuilder, at_most
from tests.strategies import Judge, pair_spaces, problems, row_of

seeds = st.integers(0, 2**32 - 1)


def check(space, problem, found):
    """Every answer is the first of the best."""
    judge = Judge(space)
    for i in range(len(problem)):
        best = judge.best(*row_of(problem, i))
        if best is None:
            assert found.status[i] == Status.INFEASIBLE
            assert found.labels[i].tolist() == [-1] * len(space.variables)
        else:
            assert found.status[i] == Status.OPTIMAL
            assert found.labels[i].tolist() == list(best.labels)


def starts(space, problem, seed):
    """Messages of all kinds: zero, drawn, huge, of other scores, and some that are no numbers."""
    rng = np.random.default_rng(seed)
    m, size = len(problem), int(space.network.message_ptr[-1])
    scale = 10.0 ** rng.uniform(-3, 3)
    other = Problem(space, rng.normal(size=problem.scores.shape))
    recorded = MessagePassing().solve(space, other, Context(record=True)).duals
    draws = rng.normal(size=(m, size))
    mixed = np.where(rng.random((m, size)) < 0.2, 1e9, draws)
    odd = np.where(rng.random((m, size)) < 0.1, np.nan, draws)
    for messages in (0 * draws, scale * draws, 1e9 * draws, mixed, recorded.messages, odd):
        yield Duals(messages, np.zeros((m, len(space.rows))))


@given(problems(pair_spaces(), inputs=3))
@settings(max_examples=150)
def test_answers_are_those_of_enumeration(problem):
    space, problem = problem
    if problem.closed is None and not Judge(space).feasible:
        with pytest.raises(InfeasibleSpace):
            MessagePassing().solve(space, problem)
        return
    assert MessagePassing().accepts(space)
    check(space, problem, MessagePassing().solve(space, problem))
    check(space, problem, MessagePassing(node_limit=1).solve(space, problem))


@given(problems(pair_spaces()), seeds)
def test_a_start_changes_no_answer(problem, seed):
    space, problem = problem
    if not Judge(space).feasible:
        return
    cold = MessagePassing().solve(space, problem)
    rng = np.random.default_rng(seed)
    anything = rng.integers(-1, 5, size=cold.labels.shape)
    for duals in starts(space, problem, seed):
        for incumbent in (None, cold.labels, anything, np.full_like(anything, -1)):
            warm = WarmStart(incumbent, duals)
            found = MessagePassing().solve(space, problem, Context(warm=warm))
            for mine, other in zip(found.arrays[:4], cold.arrays[:4], strict=True):
                assert np.array_equal(mine, other)


@given(problems(pair_spaces()))
def test_recorded_messages_bound_every_output(problem):
    space, problem = problem
    if not Judge(space).feasible:
        return
    found = MessagePassing().solve(space, problem, Context(record=True))
    bound = dual_bound(space, problem, found.duals)
    assert (bound >= found.value - problem.ties).all()
    assert MessagePassing().solve(space, problem).duals is None


def grid(side, labels, m, seed=0):
    builder = SpaceBuilder()
    names = [str(a) for a in range(labels)]
    cells = [[builder.variable(f"x{i}_{j}", names) for j in range(side)] for i in range(side)]
    for i in range(side):
        for j in range(side):
            if j:
                builder.factor(cells[i][j - 1], cells[i][j])
            if i:
                builder.factor(cells[i][j], cells[i - 1][j])
    space = builder.build()
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(m, space.parts))
    scores[:, : space.labels] *= 2.0
    return space, scores


def test_grids_are_settled_by_messages_and_a_warm_start_is_as_good():
    space, scores = grid(12, 3, 4)
    exact = Exact().solve(space, scores)
    assert (exact.source == FoundBy.MESSAGES).all()
    found = MessagePassing().solve(space, scores, Context(record=True))
    assert np.array_equal(found.labels, exact.labels)
    bound = dual_bound(space, scores, found.duals)
    assert (bound >= found.value - 1e-9).all()
    assert (bound <= found.value + 0.05 * np.abs(found.value)).all()
    moved = scores * (1 + 0.02 * np.random.default_rng(1).normal(size=scores.shape))
    warm = Context(warm=WarmStart(found.labels, found.duals))
    for engine in (Exact(), MessagePassing()):
        cold, started = engine.solve(space, moved), engine.solve(space, moved, warm)
        assert np.array_equal(cold.labels, started.labels)
        assert np.array_equal(cold.value, started.value)


def test_what_is_not_settled_is_handed_on_with_its_open_labels():
    space, scores = grid(7, 3, 6, seed=3)
    scores[:, : space.labels] = 0.0  # ties and gaps
    scores = np.round(scores)
    problem = Problem(space, scores)
    found, left = MessagePassing(node_limit=1).attempt(problem, Context())
    assert len(left.rows)
    best = Exact().solve(space, scores)
    assert (found.bound >= best.value - 1e-9).all()
    assert (found.value <= best.value).all()
    closed = left.problem.closed
    for at, i in enumerate(left.rows):
        if closed is not None:  # the answer is still open
            assert not closed[at, space.offsets[:-1] + best.labels[i]].any()
    assert np.array_equal(MessagePassing(node_limit=1).solve(space, scores).labels, best.labels)


def test_other_spaces_are_refused():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.factor(x, y, z)
    with pytest.raises(UnsupportedSpace, match="two variables alone"):
        MessagePassing().solve(space := builder.build(), np.zeros(space.parts))
    builder = SpaceBuilder()
    many = [builder.variable(f"x{j}", "ab") for j in range(12)]
    builder.require(at_most(3, [x["a"] for x in many]))
    assert not MessagePassing().accepts(builder.build())


def test_a_start_of_another_shape_is_refused():
    space, scores = grid(3, 2, 2)
    few = MessagePassing().solve(space, scores[:1], Context(record=True))
    for warm in (WarmStart(few.labels), WarmStart(np.zeros((2, 9)))):
        with pytest.raises(LabelError, match="an incumbent is a row of whole numbers"):
            MessagePassing().solve(space, scores, Context(warm=warm))
    with pytest.raises(ScoreError, match="messages of this space have the shape"):
        MessagePassing().solve(space, scores, Context(warm=WarmStart(duals=few.duals)))


def test_massive_ties_go_to_the_first_output():
    space, scores = grid(6, 3, 2)
    for some in (0.0 * scores, np.sign(scores), np.round(scores)):
        problem = Problem(space, some)
        expected = BranchAndBound().solve(space, problem)
        assert np.array_equal(MessagePassing().solve(space, problem).labels, expected.labels)


def test_small_batches_agree_with_exhaustive():
    space, scores = grid(3, 3, 20)
    for some in (scores, np.round(scores), 0 * scores):
        expected = Exhaustive().solve(space, some)
        assert np.array_equal(MessagePassing().solve(space, some).labels, expected.labels)
