"""One contract for every engine: the best output, the same among equals, proved, and nothing else.

Engines are found, not listed: whatever `rote.inference` or a room of wrappers inside it exports
with a ``solve`` is held to all of this on every kind of space, or must refuse the space with
`UnsupportedSpace`.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rote.inference
import rote.inference.approximate
import rote.inference.wrappers.amortized
import rote.inference.wrappers.decomposed
from rote.errors import InfeasibleSpace, LabelError, RoteError, ScoreError, UnsupportedSpace
from rote.inference import (
    BranchAndBound,
    Chain,
    Elimination,
    Exact,
    Exhaustive,
    Milp,
    Problem,
    Separable,
    Solutions,
    Source,
    Status,
    Tree,
    clamp,
)
from rote.inference.wrappers.amortized import Amortized
from rote.inference.wrappers.decomposed import Decomposed, SignedComponents
from rote.space import SpaceBuilder, all_different, at_least, at_most, count
from rote.tasks.entity_relation import entity_relation_space
from tests.strategies import (
    Judge,
    chain_spaces,
    problems,
    row_of,
    rules_as_rows,
    separable_spaces,
    spaces,
    tree_spaces,
)

# -- every engine there is ----------------------------------------------------------------


ROOMS = (rote.inference, rote.inference.wrappers.amortized, rote.inference.wrappers.decomposed)


def exported_engines() -> dict[str, type]:
    """What the rooms promise that has a ``solve``, but for the protocol itself."""
    found = {name: getattr(room, name) for room in ROOMS for name in room.__all__}
    return {
        name: kind
        for name, kind in found.items()
        if inspect.isclass(kind) and hasattr(kind, "solve") and not is_protocol(kind)
    }


def is_protocol(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


# An engine made with no argument is tested without being named here. Add a line for every
# further way of using it.
VARIANTS = {
    "BranchAndBound(eliminate=False)": BranchAndBound(eliminate=False),
    "BranchAndBound(time_limit)": BranchAndBound(time_limit=60.0),
    "Chain(order=1)": Chain(order=1),
    "Chain(order=2)": Chain(order=2),
    "Exact(time_limit)": Exact(time_limit=60.0),
    "Amortized(Exact)": Amortized(thrifty=False),
    "Amortized(Exhaustive, condition)": Amortized(
        Exhaustive(), certificate="condition", thrifty=False
    ),
    "Amortized(BranchAndBound, relative)": Amortized(
        BranchAndBound(), certificate="relative", thrifty=False
    ),
    "Amortized(Milp, duals)": Amortized(Milp(), certificate="duals", thrifty=False),
    "Amortized(Exact, margin)": Amortized(certificate="margin", thrifty=False),
    "Amortized(Decomposed)": Amortized(Decomposed(), thrifty=False),
    "Decomposed(Amortized, signed)": Decomposed(Amortized(thrifty=False), SignedComponents()),
}
if importlib.util.find_spec("gurobipy"):
    VARIANTS["Milp('gurobi')"] = Milp("gurobi")


def all_engines() -> dict[str, object]:
    plain = {}
    for name, kind in exported_engines().items():
        try:
            plain[name] = kind()
        except TypeError:
            continue  # reported by the test below
    return {**plain, **VARIANTS}


ENGINES = all_engines()
every_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES.keys())


def test_every_exported_engine_is_in_the_suite():
    tested = {type(engine).__name__ for engine in ENGINES.values()}
    missing = set(exported_engines()) - tested
    assert not missing, (
        f"{sorted(missing)} cannot be made without arguments; "
        "add one of each to VARIANTS in tests/contracts/test_engines.py"
    )


def test_the_suite_knows_the_engines_of_the_first_release():
    assert set(exported_engines()) >= {
        "Amortized",
        "BranchAndBound",
        "Chain",
        "Decomposed",
        "Elimination",
        "Exact",
        "Exhaustive",
        "Milp",
        "Separable",
        "Tree",
    }


def test_an_engine_of_the_public_package_is_one_of_the_rooms():
    public = {name for name in rote.__all__ if hasattr(getattr(rote, name), "solve")}
    # They prove nothing by themselves: what they promise is in tests of their own.
    approximate = {"RGS", "AmortizedRGS", "Beam", "ConstrainedBeam", "Speedup"}
    assert public - {"Engine", "ExactEvery"} - approximate <= set(exported_engines())
    assert approximate <= set(rote.inference.approximate.__all__)


# What an engine may say it did. Some see that the best labels are the answer by themselves.
SOURCES = {
    Exhaustive: {Source.ENUMERATION},
    Separable: {Source.ARGMAX},
    Chain: {Source.CHAIN},
    Tree: {Source.TREE},
    Elimination: {Source.ELIMINATION},
    BranchAndBound: {Source.BRANCH},
    Milp: {Source.MILP},
}


def sources_of(engine) -> set[Source]:
    if isinstance(engine, Amortized):
        return sources_of(engine.engine) | {Source.CACHE, Source.CERTIFICATE}
    if isinstance(engine, Decomposed):  # without gold outputs, it is its engine
        return sources_of(engine.engine)
    learning = {Source.CACHE, Source.CERTIFICATE, Source.NEIGHBOUR}
    return SOURCES.get(type(engine), set(Source) - learning)


def remembers(engine) -> bool:
    """Whether it is, or asks, an engine with a memory."""
    return isinstance(engine, Amortized) or remembers_below(engine)


def remembers_below(engine) -> bool:
    return isinstance(engine, Decomposed) and remembers(engine.engine)


def afresh(engine):
    """The same engine without what it remembers."""
    if remembers_below(engine):
        return dataclasses.replace(engine, engine=afresh(engine.engine))
    return dataclasses.replace(engine)


# -- the contract -------------------------------------------------------------------------


def accepts(engine, space) -> bool:
    return engine.accepts(space) if hasattr(engine, "accepts") else True


def check_shape(solutions: Solutions, space, m: int) -> None:
    """Every answer has the same fields of the same types, and none can be written."""
    assert type(solutions) is Solutions
    expected = {
        "labels": ((m, len(space.variables)), np.int64),
        "value": ((m,), np.float64),
        "bound": ((m,), np.float64),
        "status": ((m,), np.int64),
        "source": ((m,), np.int64),
    }
    assert {field.name for field in dataclasses.fields(solutions)} == set(expected)
    for name, (shape, dtype) in expected.items():
        array = getattr(solutions, name)
        assert array.shape == shape
        assert array.dtype == dtype
        assert not array.flags.writeable
    assert len(solutions) == m


def check_conflict(space, names) -> None:
    """The rules named conflict, and without any one of them the others do not."""
    named = [rule for rule in space.rules if rule.name in names]
    assert len(named) == len(names) == len(set(names)) > 0
    assert not Judge(type(space)(space.variables, (), tuple(named))).feasible
    for one in named:
        rest = tuple(rule for rule in named if rule is not one)
        assert Judge(type(space)(space.variables, (), rest)).feasible


def check(engine, space, problem) -> bool:
    """Hold an engine to its contract on one space; False where it refused the space."""
    if not accepts(engine, space):
        with pytest.raises(UnsupportedSpace, match="use "):
            engine.solve(space, problem)
        return False
    judge = Judge(space)
    if not judge.feasible and problem.allowed is None:
        with pytest.raises(InfeasibleSpace) as raised:
            engine.solve(space, problem)
        check_conflict(space, raised.value.conflicting_rules)
        return True
    solutions = engine.solve(space, problem)
    check_shape(solutions, space, len(problem))
    for i in range(len(problem)):
        expected = judge.best(*row_of(problem, i))
        if expected is None:
            assert solutions.status[i] == Status.INFEASIBLE
            assert (solutions.labels[i] == -1).all()
            assert solutions.value[i] == solutions.bound[i] == -np.inf
            continue
        scale = max(1.0, float(np.abs(problem.scores[i]).max(initial=0.0)))
        assert solutions.status[i] == Status.OPTIMAL
        assert tuple(solutions.labels[i].tolist()) == expected.labels
        assert solutions.value[i] == pytest.approx(expected.value, abs=1e-12 * scale)
        assert solutions.value[i] == space.value(problem.scores[i], solutions.labels[i])[0]
        assert solutions.bound[i] == solutions.value[i]
        assert solutions.source[i] in sources_of(engine)
        assert solutions.source[i] != Source.ARGMAX or not space.factors
    return True


# Kinds of spaces, and how many of each every engine is asked about.
FAMILIES = {
    "any": (spaces(), 100),
    "larger": (spaces(least=4, most=5, most_rules=2), 50),
    "separable": (separable_spaces(), 30),
    "chain": (chain_spaces(), 50),
    "tree": (tree_spaces(), 50),
}
# What an engine is made for: there it may not refuse.
HOMES = {
    "Separable": ["separable"],
    "Chain": ["separable", "chain"],
    "Tree": ["separable", "tree"],
}


def is_home(engine, family: str) -> bool:
    if isinstance(engine, Chain) and engine.order is not None:
        return family == "separable"
    return family in HOMES.get(type(engine).__name__, list(FAMILIES))


@every_engine
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_those_of_exhaustive_search(engine, family):
    strategy, examples = FAMILIES[family]
    taken = []

    @settings(max_examples=examples // 2 if engine in VARIANTS.values() else examples)
    @given(problems(strategy))
    def agrees(problem):
        taken.append(check(engine, *problem))

    agrees()
    assert all(taken) or not is_home(engine, family)


@every_engine
@pytest.mark.parametrize("most_entries", [1, 8])
def test_answers_are_the_same_when_rules_stay_rows(engine, most_entries):
    @settings(max_examples=40)
    @given(problems(spaces(least=3, most_rules=4, depth=2), inputs=4))
    def agrees(problem):
        check(engine, *problem)

    engine = afresh(engine)  # what is remembered of a space was made for its tables
    with rules_as_rows(most_entries):
        agrees()


@every_engine
def test_the_answer_to_a_batch_is_that_to_each_input(engine):
    # What is found once may be remembered the next time.
    source = () if remembers(engine) else ("source",)

    @settings(max_examples=15)
    @given(st.one_of(problems(chain_spaces(order=1), 4), problems(separable_spaces(), 4)))
    def agrees(problem):
        space, problem = problem
        if not accepts(engine, space) or not Judge(space).feasible:
            return
        together = engine.solve(space, problem)
        again = engine.solve(space, problem)
        for i in range(len(problem)):
            alone = engine.solve(space, problem.rows(np.array([i])))
            for name in ("labels", "value", "bound", "status", *source):
                assert getattr(together, name)[i].tolist() == getattr(alone, name)[0].tolist()
                assert getattr(together, name)[i].tolist() == getattr(again, name)[i].tolist()

    agrees()


# -- a space for every engine -------------------------------------------------------------


def home(engine):
    """Two variables and one rule; joined by a factor and a rule where the engine takes it."""
    builder = SpaceBuilder()
    x, y = builder.variable("x", ["a", "b"]), builder.variable("y", ["a", "b", "c"])
    builder.require(~y["b"], "y is not b")
    if not isinstance(engine, Separable):
        builder.factor(x, y)
        builder.require(x["a"] >> y["c"], "a needs c")
    space = builder.build()
    assert accepts(engine, space)
    return space


def empty(engine):
    return SpaceBuilder().build()


@every_engine
def test_an_engine_is_a_frozen_value(engine):
    assert dataclasses.is_dataclass(engine)
    # With a memory or counts of its own, which makes it another.
    if isinstance(engine, Amortized | Decomposed):
        assert dataclasses.replace(engine) != engine == engine
    else:
        assert dataclasses.replace(engine) == engine
        assert hash(dataclasses.replace(engine)) == hash(engine)
    for field in dataclasses.fields(engine):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(engine, field.name, None)


@every_engine
def test_an_empty_batch_has_no_answers(engine):
    for space in (home(engine), empty(engine)):
        check_shape(engine.solve(space, np.empty((0, space.parts))), space, 0)


@every_engine
def test_one_input_may_be_a_vector(engine):
    space = home(engine)
    scores = np.random.default_rng(0).normal(size=space.parts)
    alone, batch = engine.solve(space, scores), engine.solve(space, scores[None])
    check_shape(alone, space, 1)
    assert alone.labels.tolist() == batch.labels.tolist()
    assert alone.value.tolist() == batch.value.tolist()


@every_engine
def test_scores_of_any_real_type_and_layout_will_do(engine):
    space = home(engine)
    whole = np.random.default_rng(1).integers(-5, 6, size=(4, space.parts))
    expected = engine.solve(space, whole.astype(np.float64)).labels.tolist()
    spaced = np.zeros((8, 2 * space.parts))
    spaced[::2, ::2] = whole
    for given_scores in (
        whole,
        whole.astype(np.float32),
        whole.tolist(),
        np.asfortranarray(whole.astype(np.float64)),
        spaced[::2, ::2],
        Problem(space, whole.astype(np.float64)),
        Problem(space, whole, closed=~(np.ones((4, space.labels), dtype=np.bool_))),
    ):
        assert engine.solve(space, given_scores).labels.tolist() == expected


@every_engine
def test_the_callers_arrays_stay_as_they_were(engine):
    space = home(engine)
    scores = np.random.default_rng(2).normal(size=(3, space.parts))
    allowed = np.ones((3, space.labels), dtype=np.bool_)
    allowed[0, 0] = False
    before = scores.copy(), allowed.copy()
    engine.solve(space, Problem(space, scores, closed=~allowed))
    engine.solve(space, scores)
    assert scores.flags.writeable
    assert allowed.flags.writeable
    assert np.array_equal(scores, before[0])
    assert np.array_equal(allowed, before[1])


@every_engine
def test_read_only_scores_will_do(engine):
    space = home(engine)
    scores = np.zeros((2, space.parts))
    scores.setflags(write=False)
    assert engine.solve(space, scores).optimal.all()


@every_engine
def test_a_space_without_variables_has_one_empty_output(engine):
    space = empty(engine)
    solutions = engine.solve(space, np.empty((3, 0)))
    check_shape(solutions, space, 3)
    assert solutions.status.tolist() == [Status.OPTIMAL] * 3
    assert solutions.value.tolist() == solutions.bound.tolist() == [0.0] * 3


@every_engine
def test_variables_with_one_label_take_it(engine):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", ["only"]) for j in range(3)]
    if not isinstance(engine, Separable):
        builder.factor(variables[1], variables[0])
    space = builder.build()
    solutions = engine.solve(space, np.full((2, space.parts), 1.5))
    assert solutions.labels.tolist() == [[0, 0, 0]] * 2
    assert solutions.value.tolist() == [1.5 * space.parts] * 2


@every_engine
def test_a_long_rule_that_says_nothing_changes_nothing(engine):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
    always = [at_least(0, [x[label] for x in variables]) for label in "ab"]
    builder.require(variables[0]["a"] | (count(always) >= 0))
    space = builder.build()
    assert accepts(engine, space)
    scores = np.random.default_rng(9).normal(size=(3, space.parts))
    solutions = engine.solve(space, scores)
    assert solutions.optimal.all()
    assert solutions.labels.tolist() == scores.reshape(3, 10, 2).argmax(axis=2).tolist()


@every_engine
def test_equal_scores_give_the_first_output_that_obeys_the_rules(engine):
    space = home(engine)
    first = Judge(space).outputs[0]
    for score in (0.0, 1.0, -7.5):
        solutions = engine.solve(space, np.full(space.parts, score))
        assert tuple(solutions.labels[0].tolist()) == first


@every_engine
def test_less_than_a_tie_is_a_tie_and_more_is_not(engine):
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    builder.variable("y", "ab")
    space = builder.build()
    for size in (1.0, 1e6):
        scores = np.array([[0, 3e-11, -1, 0], [0, 3e-10, -1, 0]]) * size
        assert engine.solve(space, scores).labels.tolist() == [[0, 1], [1, 1]]


@every_engine
def test_given_labels_are_kept(engine):
    space = home(engine)
    scores = np.random.default_rng(3).normal(size=(3, space.parts))
    given_labels = [{"x": "a"}, {"y": "a"}, {}]
    problem = clamp(space, scores, given_labels)
    solutions = engine.solve(space, problem)
    for i, (output, labels) in enumerate(
        zip(space.decode(solutions.labels), given_labels, strict=True)
    ):
        assert labels.items() <= output.items()
        best = Judge(space).best(*row_of(problem, i))
        assert best is not None
        assert tuple(solutions.labels[i].tolist()) == best.labels


@every_engine
def test_given_labels_against_the_rules_are_infeasible_for_that_input_only(engine):
    space = home(engine)
    wrong = {"y": "b"}
    problem = clamp(space, np.zeros((3, space.parts)), [{}, wrong, {"x": "b"}])
    solutions = engine.solve(space, problem)
    check_shape(solutions, space, 3)
    assert solutions.status.tolist() == [Status.OPTIMAL, Status.INFEASIBLE, Status.OPTIMAL]
    assert solutions.labels[1].tolist() == [-1, -1]
    assert solutions.value[1] == solutions.bound[1] == -np.inf


@every_engine
def test_closing_every_label_of_a_variable_is_infeasible(engine):
    space = home(engine)
    allowed = np.ones((2, space.labels), dtype=np.bool_)
    allowed[1, :2] = False
    solutions = engine.solve(space, Problem(space, np.zeros((2, space.parts)), closed=~allowed))
    assert solutions.status.tolist() == [Status.OPTIMAL, Status.INFEASIBLE]


@every_engine
def test_rules_that_cannot_be_obeyed_are_named(engine):
    builder = SpaceBuilder()
    x, y = builder.variable("x", "abc"), builder.variable("y", "ab")
    builder.require(~y["a"], "beside the point")
    builder.require(~x["a"], "not a")
    builder.require(~x["b"], "not b")
    builder.require(x["a"] | x["b"], "a or b")
    space = builder.build()
    with pytest.raises(InfeasibleSpace) as raised:
        engine.solve(space, np.zeros((2, space.parts)))
    assert raised.value.conflicting_rules == ("not a", "not b", "a or b")
    for name in raised.value.conflicting_rules:
        assert f"- {name}" in str(raised.value)


@every_engine
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_refused_with_their_place(engine, wrong):
    space = home(engine)
    scores = np.zeros((3, space.parts))
    scores[1, 4] = wrong
    for given_scores in (scores, Problem(space, scores)):
        with pytest.raises(ScoreError, match=r"input 1: .* at part 4; forbid a label with a rule"):
            engine.solve(space, given_scores)


@every_engine
def test_scores_of_the_wrong_shape_are_refused(engine):
    space = home(engine)
    for shape in ((), (space.parts + 1,), (2, space.parts - 1), (1, 1, space.parts), (0,)):
        with pytest.raises(ScoreError, match=rf"the shape \(m, {space.parts}\)"):
            engine.solve(space, np.zeros(shape))


@every_engine
@pytest.mark.parametrize(
    "scores",
    ["text", None, ["a"], [[1.0, 2.0], [1.0]], {}, [1j], object()],
    ids=["text", "None", "words", "ragged", "a dict", "complex", "an object"],
)
def test_what_is_no_array_of_numbers_is_refused(engine, scores):
    space = home(engine)
    with pytest.raises(ScoreError):
        engine.solve(space, scores)


@every_engine
def test_complex_scores_are_refused(engine):
    space = home(engine)
    with pytest.raises(ScoreError):
        engine.solve(space, np.zeros(space.parts, dtype=complex))


@every_engine
def test_allowed_labels_of_the_wrong_shape_or_type_are_refused(engine):
    space = home(engine)
    scores = np.zeros((2, space.parts))
    for allowed, match in (
        (np.ones((1, space.labels), dtype=np.bool_), rf"the shape \(2, {space.labels}\)"),
        (np.ones((2, space.labels + 1), dtype=np.bool_), rf"the shape \(2, {space.labels}\)"),
        (np.ones((2, space.labels)), "True and False, got float64"),
        (np.ones((2, space.labels), dtype=np.int64), "True and False, got int64"),
    ):
        with pytest.raises(ScoreError, match=match):
            engine.solve(space, Problem(space, scores, closed=~allowed))


@every_engine
def test_clamping_to_what_does_not_exist_is_refused(engine):
    space = home(engine)
    scores = np.zeros(space.parts)
    for given_labels in ({"q": "a"}, {"x": "q"}, [{}, {}]):
        with pytest.raises(LabelError):
            engine.solve(space, clamp(space, scores, given_labels))


@every_engine
def test_very_large_and_very_small_scores_are_solved(engine):
    space = home(engine)
    rng = np.random.default_rng(4)
    for size in (1e-8, 1e12):
        scores = size * rng.normal(size=(5, space.parts))
        check(engine, space, Problem(engine, scores))


@every_engine
def test_the_order_of_the_inputs_does_not_matter(engine):
    space = home(engine)
    scores = np.random.default_rng(5).integers(-1, 2, size=(20, space.parts)).astype(np.float64)
    forth = engine.solve(space, scores)
    back = engine.solve(space, scores[::-1])
    assert back.labels[::-1].tolist() == forth.labels.tolist()


@every_engine
def test_an_unsupported_space_is_refused_with_the_reason_and_what_to_do(engine):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(24)]
    for x, y in combinations(variables, 2):
        builder.factor(x, y)
    space = builder.build()
    if accepts(engine, space):
        return  # left to the tests of anytime engines: this space is hard
    with pytest.raises(UnsupportedSpace, match="use ") as raised:
        engine.solve(space, np.zeros(space.parts))
    assert isinstance(raised.value, RoteError)


# -- spaces beyond the judge --------------------------------------------------------------


def general_engines():
    """The engines that take every one of the spaces below."""
    names = ["BranchAndBound", "BranchAndBound(eliminate=False)", "Milp", "Exact"]
    return [ENGINES[name] for name in names]


def agree(space, scores, more=()) -> None:
    answers = [engine.solve(space, scores) for engine in (*general_engines(), *more)]
    for solutions in answers:
        assert solutions.optimal.all()
        assert space.holds(solutions.labels).all()
        assert solutions.labels.tolist() == answers[0].labels.tolist()
        assert solutions.value.tolist() == answers[0].value.tolist()


@pytest.mark.parametrize("kind", ["real", "whole"])
def test_engines_agree_on_entity_relation_sentences(kind):
    rng = np.random.default_rng(6)
    for n in (3, 4):
        space = entity_relation_space(n)
        scores = rng.normal(size=(6, space.parts))
        if kind == "whole":
            scores = rng.integers(-2, 3, size=scores.shape).astype(np.float64)
        agree(space, scores, [Elimination()])


@pytest.mark.parametrize("kind", ["real", "whole"])
def test_engines_agree_on_dense_models(kind):
    rng = np.random.default_rng(7)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
    for x, y in combinations(variables, 2):
        builder.factor(x, y)
    space = builder.build()
    scores = rng.normal(size=(3, space.parts))
    if kind == "whole":
        scores = rng.integers(-1, 2, size=scores.shape).astype(np.float64)
    agree(space, scores, [Exhaustive(), Elimination()])


@pytest.mark.parametrize("kind", ["real", "whole"])
def test_engines_agree_under_rules_over_many_variables(kind):
    rng = np.random.default_rng(8)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(9)]
    for x, y in pairwise(variables):
        builder.factor(x, y)
    builder.require(at_most(3, [x["a"] for x in variables]))
    builder.require(at_least(2, [x["c"] for x in variables]))
    builder.require(all_different(variables[:3]))
    space = builder.build()
    assert len(space.network.rows) == 2
    scores = rng.normal(size=(3, space.parts))
    if kind == "whole":
        scores = rng.integers(-1, 2, size=scores.shape).astype(np.float64)
    agree(space, scores, [Exhaustive()])
