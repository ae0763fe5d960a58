"""Max-marginals against enumeration, by each of the ways in which they are worked out."""

import itertools
from contextlib import ExitStack
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings

from rote.engines import Chain, Elimination, Exact, Problem, Tree, clamp, max_marginals
from rote.errors import ScoreError
from rote.inference.exact import max_marginals as marginals
from rote.space import SpaceBuilder, at_most
from rote.tasks.entity_relation import entity_relation_space
from tests.inference.outputs import built
from tests.strategies import FAMILIES, Judge, chain_spaces, problems, row_of, rules_as_rows, spaces


def check(space, problem):
    values = max_marginals(space, problem)
    assert values.shape == (len(problem), space.labels)
    assert values.dtype == np.float64
    judge = Judge(space)
    for i in range(len(problem)):
        expected = judge.max_marginals(*row_of(problem, i))
        scale = max(1.0, np.abs(problem.scores[i]).max(initial=0.0))
        assert values[i].tolist() == pytest.approx(expected, abs=1e-9 * scale)


@pytest.mark.parametrize("family", FAMILIES)
def test_max_marginals_are_the_best_outputs_with_each_label(family):
    @settings(max_examples=60)
    @given(problems(FAMILIES[family]))
    def agrees(problem):
        check(*problem)

    agrees()


def test_max_marginals_by_clamping_when_rules_stay_rows():
    @settings(max_examples=60)
    @given(problems(spaces(least=2)))
    def agrees(problem):
        check(*problem)

    with rules_as_rows():
        agrees()


def test_max_marginals_along_chains_of_higher_order():
    """Elimination comes first in the list; without it the chain answers."""

    @settings(max_examples=60)
    @given(problems(chain_spaces()))
    def agrees(problem):
        with mock.patch.object(Elimination, "accepts", return_value=False):
            check(*problem)

    agrees()


def test_which_way_is_taken():
    def way(space):
        ways = ((Elimination, "max_marginals"), (marginals, "_by_clamping"))
        with ExitStack() as stack:
            asked = [stack.enter_context(mock.patch.object(*each)) for each in ways]
            max_marginals(space, np.zeros(space.parts))
            return [name for (_, name), one in zip(ways, asked, strict=True) if one.called]

    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(12)]
    for x, y in itertools.pairwise(variables):
        builder.factor(x, y)
    assert way(builder.build()) == []  # a chain
    builder.factor(variables[0], variables[-1])
    assert way(builder.build()) == ["max_marginals"]
    builder.require(at_most(5, [x["a"] for x in variables]))
    assert way(builder.build()) == ["_by_clamping"]


def test_the_largest_of_a_variable_is_the_optimum():
    space = entity_relation_space(4)
    scores = np.random.default_rng(0).normal(size=(10, space.parts))
    values = max_marginals(space, scores)
    best = Exact().solve(space, scores)
    for j in range(len(space.variables)):
        own = values[:, space.offsets[j] : space.offsets[j + 1]]
        assert own.max(axis=1) == pytest.approx(best.value)
        assert own.argmax(axis=1).tolist() == best.labels[:, j].tolist()


def test_a_label_that_no_output_can_have_is_minus_infinity():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "abc")
    builder.require(x["a"] >> y["b"])
    builder.require(~y["c"])
    space = builder.build()
    values = max_marginals(space, clamp(space, np.zeros(5), {"x": "a"}))
    assert values.tolist() == [[0.0, -np.inf, -np.inf, 0.0, -np.inf]]


def test_an_empty_batch_and_a_space_without_variables():
    space, nothing = built(3, [(0, 1)]), SpaceBuilder().build()
    for engine in (Chain(), Tree(), Elimination()):
        assert engine.max_marginals(space, np.empty((0, space.parts))).shape == (0, space.labels)
        assert engine.max_marginals(nothing, np.empty((3, 0))).shape == (3, 0)


def test_scores_are_checked():
    space = entity_relation_space(2)
    with pytest.raises(ScoreError):
        max_marginals(space, np.full(space.parts, np.inf))
    with pytest.raises(ScoreError):
        max_marginals(
            space,
            Problem(space, np.zeros((1, space.parts)), closed=np.zeros((2, space.labels), bool)),
        )
