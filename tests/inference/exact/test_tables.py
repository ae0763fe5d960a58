"""Tables of a network: which are at work, where their scores lie, and which are in the way."""

from __future__ import annotations

from rote.inference.exact.tables import Refusal, active_tables, runs_of
from rote.space import SpaceBuilder, any_of, at_most


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
        builder.require(at_most(3, [v["a"] for v in variables]), name=f"{name} long rule")
        space = builder.build()
        said = [Refusal(scope, "is there").described(space) for scope in ((0, 1), (1, 2), None)]
        assert said == [
            f"the factor '{name} factor' is there",
            f"the rule '{name} rule' is there",
            f"the rule '{name} long rule' is there",
        ]


def test_scores_lie_in_one_run_where_a_factor_alone_stands_behind_a_table():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.factor(x, y)
    builder.factor(y, z)
    builder.factor(z, y)  # one table for both
    builder.require(x["a"] >> z["b"])  # without scores
    space = builder.build()
    runs = runs_of(space.network)
    found = {
        scope: (bool(runs.contiguous[b]), int(runs.starts[b] + runs.moves[b]))
        for b, scope in active_tables(space.network)
    }
    firsts = space.factor_offsets.tolist()
    assert found[0, 1] == (True, firsts[0])
    assert not found[1, 2][0]
    assert not found[0, 2][0]
