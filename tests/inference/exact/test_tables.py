"""Tables of a network, and what engines that compile a space to a plan share: ties, refusals."""

from itertools import combinations

import numpy as np
import pytest

from rote.engines import Chain, Elimination, Exhaustive, Independent, Tree
from rote.errors import UnsupportedSpace
from rote.inference.exact.tables import Refusal, active_tables, runs_of
from rote.inference.problem import NO_CONTEXT, Problem
from rote.space import SpaceBuilder, any_of, at_most
from rote.types import readonly
from tests.inference.outputs import built, few


def test_tables_at_work_score_or_forbid_something():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.factor(x, y)
    builder.require(y["a"] >> z["b"])
    builder.require(any_of(x["a"], x["b"], z["a"]))  # whatever they are
    assert [scope for _, scope in active_tables(builder.build().network)] == [(0, 1), (1, 2)]


def test_what_is_in_the_way_is_named_as_this_space_calls_it():
    for name in ("one", "other"):
        builder = SpaceBuilder()
        variables = [builder.variable(f"x{j}", "ab") for j in range(12)]
        builder.factor(variables[1], variables[0], name=f"{name} factor")
        builder.require(variables[1]["a"] >> variables[2]["b"], name=f"{name} rule")
        builder.require(few(variables), name=f"{name} long rule")
        space = builder.build()
        said = [Refusal(scope, "is there").described(space) for scope in ((0, 1), (1, 2), None)]
        assert said == [
            f"the factor '{name} factor' is there",
            f"the rule '{name} rule' is there",
            f"the rule '{name} long rule' is there",
        ]


def test_scores_lie_in_one_run_where_a_factor_alone_stands_behind_a_table():
    # The second and the third have one table for both, and that of the rule has no scores.
    space = built(3, [(0, 1), (1, 2), (2, 1)], [lambda v: v[0]["a"] >> v[2]["b"]])
    runs = runs_of(space.network)
    found = {
        scope: (bool(runs.contiguous[b]), int(runs.starts[b] + runs.moves[b]))
        for b, scope in active_tables(space.network)
    }
    assert found[0, 1] == (True, space.factor_offsets[0])
    assert not found[1, 2][0]
    assert not found[0, 2][0]


@pytest.mark.parametrize(
    ("engine", "n", "scopes"),
    [
        (Independent(), 3, ()),
        (Chain(), 3, [(0, 1), (1, 2)]),
        (Tree(), 4, [(0, 3), (1, 3), (2, 3)]),  # a star that is not in order
        (Elimination(), 3, [(0, 1), (1, 2), (0, 2)]),
    ],
)
def test_the_tie_is_spent_once_not_once_per_variable(engine, n, scopes):
    space = built(n, scopes)
    scores = np.zeros(space.parts)
    scores[:6] = [0, 0.6e-10] * 3
    problem = Problem(space, scores).changed(ties=readonly(np.array([1e-10])))
    assert engine.answer(problem, NO_CONTEXT).labels[0, :3].tolist() == [0, 1, 1]


def far(variables):
    return variables[0]["a"] >> variables[9]["b"]


@pytest.mark.parametrize(
    ("engine", "space", "match"),
    [
        (Independent(), built(2, [(0, 1)]), "by itself, but the factor 'x0-x1' joins variables"),
        (Independent(), built(10, rules=[far]), "the rule 'x0.* joins variables"),
        (Independent(), built(12, rules=[few]), "the rule .* joins too many labels for a table"),
        (Chain(1), built(3, [(0, 2), (0, 1)]), "most 2 consecutive .* 'x0-x2' spans 3; use Exact"),
        (Chain(), built(12, rules=[far]), "the rule 'x0.* spans 10"),
        (Chain(), built(12, rules=[far, few]), "the rule .* joins too many labels for a table"),
        (Tree(), built(3, [(0, 1), (1, 2), (2, 0)]), "the factor 'x1-x2' closes a cycle"),
        (Tree(), built(3, rules=[lambda v: at_most(1, [x["a"] for x in v])]), "is over 3"),
        (Tree(), built(12, rules=[few]), "the rule .* joins too many labels for a table"),
        # The first step alone lists 2 ** 6 candidates.
        (Elimination(63), built(6, combinations(range(6), 2)), "more than 63 cand.*use Exact"),
        (Elimination(), built(12, rules=[few]), "too long for a table"),
        (Exhaustive(1023), built(10), "has 1024 outputs .*or raise max_outputs"),
    ],
    ids=str,
)
def test_what_is_in_the_way_of_an_engine_is_said(engine, space, match):
    assert not engine.accepts(space)
    for ask in {"solve", "max_marginals"} & set(dir(engine)):
        with pytest.raises(UnsupportedSpace, match=match):
            getattr(engine, ask)(space, np.zeros(space.parts))


@pytest.mark.parametrize(
    ("engine", "space"),
    [
        (Independent(), built(2, rules=[lambda v: any_of(v[0]["a"], v[0]["b"], v[1]["a"])])),
        (Chain(2), built(3, [(0, 2), (0, 1)])),
        (Tree(), built(3, [(0, 1), (1, 2)])),
        (Elimination(), built(6, combinations(range(6), 2))),
        (Exhaustive(1024), built(10)),
    ],
    ids=str,
)
def test_what_is_not_in_the_way_is_taken(engine, space):
    assert engine.accepts(space)
