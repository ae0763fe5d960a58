"""`ConstrainedBeam`: every answer obeys, whatever the rules, and what has none is infeasible."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.errors import InfeasibleSpace, SettingError
from rote.inference import Exact, FoundBy, Problem, Status, clamp
from rote.inference.approximate import Beam, ConstrainedBeam
from rote.space import SpaceBuilder, at_least, at_most
from rote.tasks.entity_relation import entity_relation_space
from tests.inference.approximate.truth import check_truth
from tests.strategies import Judge, problems, rules_as_rows, spaces


@pytest.mark.parametrize("as_rows", [None, 1, 4])
@given(problems(spaces(max_rules=4)), st.sampled_from([1, 3]), st.booleans())
@settings(max_examples=40)
def test_every_answer_obeys_and_what_has_none_is_infeasible(as_rows, problem, width, proof):
    space, problem = problem
    with rules_as_rows(as_rows):
        try:
            found = ConstrainedBeam(width, proof=proof).solve(space, problem)
        except InfeasibleSpace:
            assert not Judge(space).feasible
            assert problem.closed is None
            return
    check_truth(space, problem, found)


@given(problems(spaces(max_rules=0)), st.sampled_from([1, 2, 5]))
@settings(max_examples=20)
def test_without_rules_it_is_a_plain_beam(problem, width):
    space, problem = problem
    plain, found = (kind(width).solve(space, problem) for kind in (Beam, ConstrainedBeam))
    for name in ("labels", "value", "status"):
        assert getattr(found, name).tolist() == getattr(plain, name).tolist()


def test_rules_are_obeyed_on_the_way():
    """By hand: a beam of one goes for a and is lost; a constrained one sees that a is no way."""
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(x["a"] >> y["b"])
    builder.require(y["b"] >> z["b"])
    space = builder.build()
    scores = np.array([1.0, 0, 2.0, 0, 3.0, 0])
    assert Beam(1).solve(space, scores).status.tolist() == [Status.TIMED_OUT]
    found = ConstrainedBeam(1).solve(space, scores)
    assert found.labels.tolist() == [[0, 1, 1]]
    assert found.status.tolist() == [Status.FEASIBLE]
    assert found.source.tolist() == [FoundBy.BEAM]
    wide = ConstrainedBeam(2, proof=True).solve(space, scores)
    assert wide.labels.tolist() == [[1, 0, 0]]
    assert (wide.value[0], wide.bound[0]) == (5.0, 5.0)
    backwards = ConstrainedBeam(1, order=lambda space: [2, 1, 0]).solve(space, scores)
    assert backwards.labels.tolist() == [[1, 0, 0]]


def triangle():
    """With w: a, two labels for three that all differ: no pair of labels shows that it is wrong."""
    builder = SpaceBuilder()
    w = builder.variable("w", "ab")
    corners = [builder.variable(name, "abc") for name in "xyz"]
    for k, x in enumerate(corners):
        builder.require(w["a"] >> ~x["c"])
        for y in corners[:k]:
            for label in "abc":
                builder.require(~(x[label] & y[label]))
    return builder.build()


def test_where_a_beam_dies_the_answer_is_exact():
    space = triangle()
    scores = np.zeros((3, space.parts))
    scores[:2, 0] = 5.0
    scores[0, 4] = 1.0
    scores[2, 1] = 5.0
    found, best = ConstrainedBeam(1).solve(space, scores), Exact().solve(space, scores)
    for i in (0, 1):
        assert found.labels[i].tolist() == best.labels[i].tolist()
        assert found.status[i] == Status.OPTIMAL
        assert found.source[i] == best.source[i] != FoundBy.BEAM
        assert found.bound[i] == found.value[i] == best.value[i]
    assert found.source[2] == FoundBy.BEAM
    assert space.holds(found.labels).all()


def test_a_beam_that_dies_for_want_of_outputs_is_infeasible():
    space = triangle()
    problem = clamp(space, np.zeros((2, space.parts)), [{"w": "a"}, {"w": "b"}])
    for proof in (False, True):
        found = ConstrainedBeam(2, proof=proof).solve(space, problem)
        assert found.status[0] == Status.INFEASIBLE
        assert found.labels[0].tolist() == [-1] * 4
        assert found.value[0] == found.bound[0] == -np.inf
        assert space.holds(found.labels[1:]).all()


def test_long_rules_are_obeyed():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(10)]
    builder.require(at_most(3, [x["a"] for x in variables]))
    builder.require(at_least(4, [x["c"] for x in variables]))
    # An auxiliary column: what the rule is about is a whole rule itself.
    builder.require(
        at_most(2, [x["a"] for x in variables[:5]]) | at_least(3, [x["b"] for x in variables[5:]])
    )
    space = builder.build()
    assert len(space.network.rows) > 2
    assert space.network.variables > space.network.own
    scores = np.random.default_rng(0).normal(size=(30, space.parts))
    scores[:, space.offsets[:-1]] += 1.0
    found, best = ConstrainedBeam(2).solve(space, scores), Exact().solve(space, scores)
    assert space.holds(found.labels).all()
    assert (found.value <= best.value + 1e-9).all()
    assert (found.bound >= best.value - 1e-9).all()
    assert found.value.mean() > 0.8 * best.value.mean()


def test_sentences_get_outputs_that_obey():
    space = entity_relation_space(4)
    scores = np.random.default_rng(1).normal(size=(20, space.parts))
    found, best = (engine.solve(space, scores) for engine in (ConstrainedBeam(4), Exact()))
    assert space.holds(found.labels).all()
    assert (found.source == FoundBy.BEAM).all()  # arc consistency is enough here
    assert (found.value <= best.value + 1e-9).all()
    proved = ConstrainedBeam(4, proof=True).solve(space, scores)
    assert proved.labels.tolist() == found.labels.tolist()
    reached = proved.optimal
    assert proved.value[reached] == pytest.approx(best.value[reached])
    assert (proved.bound >= best.value - 1e-9).all()
    assert (proved.bound <= found.bound + 1e-9).all()


@pytest.mark.parametrize("proof", [False, True])
def test_labels_that_are_given_are_kept(proof):
    space = triangle()
    problem = clamp(space, np.zeros(space.parts), {"x": "c", "y": "a"})
    found = ConstrainedBeam(1, proof=proof).solve(space, problem)
    assert space.decode(found.labels) == [{"w": "b", "x": "c", "y": "a", "z": "b"}]
    allowed = np.ones((1, space.labels), np.bool_)
    allowed[0, 2:5] = False
    found = ConstrainedBeam(1, proof=proof).solve(
        space, Problem(space, np.zeros((1, space.parts)), closed=~allowed)
    )
    assert found.status.tolist() == [Status.INFEASIBLE]


def test_a_width_is_a_whole_number_above_zero():
    with pytest.raises(SettingError, match="width is a whole number of at least 1"):
        ConstrainedBeam(0)


def test_a_copy_in_another_process_is_the_same_engine():
    engine = ConstrainedBeam(3, proof=True)
    engine.solve(triangle(), np.zeros(triangle().parts))
    again = pickle.loads(pickle.dumps(engine))  # noqa: S301
    assert again == engine
    assert hash(again) == hash(engine)
