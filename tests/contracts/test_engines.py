"""One contract for every engine, every wrapper, and every wrapper around every engine.

Engines are found, not listed: every concrete class that derives from `Engine` anywhere inside
`rote.inference` is held to this, and has an entry below that says how to make one. Exact ones are
judged by enumeration; the others by what is true of any answer.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import importlib.util
import inspect
import pickle
import pkgutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations, pairwise
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rote
import rote.inference
from rote.engines import (
    BranchAndBound,
    Chain,
    Elimination,
    Exact,
    Exhaustive,
    FoundBy,
    Independent,
    MessagePassing,
    Milp,
    Problem,
    Solutions,
    Status,
    Tree,
    clamp,
)
from rote.errors import InfeasibleSpace, LabelError, RoteError, ScoreError, UnsupportedSpace
from rote.inference.approximate import RGS, Beam, ConstrainedBeam, LearnedBeam, LearnedRestarts
from rote.inference.engine import Capability, Engine, layers, persistent
from rote.inference.exact.duals import zero_duals
from rote.inference.exact.lazy_rows import LazyRows
from rote.inference.problem import NO_CONTEXT, Context, FeatureRows, WarmStart
from rote.inference.solvers.cp_sat import CpSat
from rote.inference.solvers.toulbar2 import Toulbar2
from rote.inference.wrappers.amortized import Amortized
from rote.inference.wrappers.decomposed import Decomposed, HammingBall, SignedComponents
from rote.inference.wrappers.periodic import Periodic
from rote.inference.wrappers.timed import Timed
from rote.kernels.bundles import Slots, Vectors
from rote.space import SpaceBuilder, all_different, at_least, at_most, count
from rote.space.global_features import GlobalFeatureScores, GlobalFeatureSet, LabelCounts
from rote.space.losses import ZeroOne
from rote.tasks.entity_relation import entity_relation_space
from rote.types import readonly
from tests.inference.approximate.truth import check_truth
from tests.strategies import (
    Judge,
    chain_spaces,
    forget_compiled,
    problems,
    row_of,
    rules_as_rows,
    separable_spaces,
    spaces,
    tree_spaces,
)


def by_score(space, labels, so_far):
    return so_far


# -- every engine there is ----------------------------------------------------------------

# How to make each of them afresh, alone or around another one.
ALONE = {
    "BranchAndBound": BranchAndBound,
    "Chain": Chain,
    "Elimination": Elimination,
    "Exact": Exact,
    "Exhaustive": Exhaustive,
    "Milp": Milp,
    "CpSat": CpSat,
    "Toulbar2": Toulbar2,
    "Independent": Independent,
    "LazyRows": lambda: LazyRows(set_limit=1 << 16),
    "MessagePassing": MessagePassing,
    "Tree": Tree,
    "Beam": lambda: Beam(width=3),
    "ConstrainedBeam": lambda: ConstrainedBeam(width=2, proof=True),
    "RGS": lambda: RGS(restarts=4),
    "LearnedRestarts": lambda: LearnedRestarts(RGS(restarts=4)),
}
AROUND = {
    "Amortized": lambda inner: Amortized(inner, admission="always"),
    "Decomposed": lambda inner: Decomposed(inner, HammingBall(1)),
    "Periodic": lambda inner: Periodic(inner, every=2),
    "LearnedBeam": lambda inner: LearnedBeam(inner, width=2, share=0.3),
    "Timed": Timed,
}
# Further ways of using them.
VARIANTS = {
    "BranchAndBound(eliminate=False)": lambda: BranchAndBound(eliminate=False),
    "BranchAndBound(time_limit)": lambda: BranchAndBound(time_limit=60.0),
    "Chain(order=1)": lambda: Chain(order=1),
    "Chain(order=2)": lambda: Chain(order=2),
    "Exact(time_limit)": lambda: Exact(time_limit=60.0),
    "Amortized(adaptive)": Amortized,
    "Amortized(condition)": lambda: Amortized(
        Exhaustive(), certificate="condition", admission="always"
    ),
    "Amortized(relative)": lambda: Amortized(
        BranchAndBound(), certificate="relative", admission="always"
    ),
    "Amortized(duals)": lambda: Amortized(Milp(), certificate="duals", admission="always"),
    "Amortized(margin)": lambda: Amortized(certificate="margin", admission="always"),
    "Decomposed(signed)": lambda: Decomposed(
        Amortized(admission="always"), SignedComponents(fallback=False)
    ),
    "Beam(proof)": lambda: Beam(width=2, proof=True),
    "Beam(priority)": lambda: Beam(priority=by_score),
    "LearnedBeam(theta)": lambda: LearnedBeam(theta=0.1, proof=True),
}
if importlib.util.find_spec("gurobipy"):
    VARIANTS["Milp('gurobi')"] = lambda: Milp("gurobi")

# A question to these costs milliseconds: they are inside the wrappers named in TRIPLES alone.
APART = {"CpSat": CpSat, "Toulbar2": Toulbar2}
INSIDE = {name: make for name, make in ALONE.items() if name not in APART}
INSIDE |= {name: partial(around, Exact()) for name, around in AROUND.items()}
PAIRS = {
    f"{outer}({inner})": partial(lambda around, alone: around(alone()), around, alone)
    for outer, around in AROUND.items()
    for inner, alone in INSIDE.items()
}
TRIPLES = {
    "Amortized(CpSat)": lambda: Amortized(CpSat(), admission="always"),
    "Decomposed(Timed(Toulbar2))": lambda: Decomposed(Timed(Toulbar2())),
    "Timed(Amortized(Timed(Decomposed(Exact))))": lambda: Timed(
        Amortized(Timed(Decomposed(Exact())), admission="always")
    ),
    "Amortized(Decomposed(Periodic(RGS)))": lambda: Amortized(
        Decomposed(Periodic(RGS(restarts=4), 3)), admission="always"
    ),
    "Decomposed(Amortized(Timed(Milp)))": lambda: Decomposed(
        Amortized(Timed(Milp()), admission="always")
    ),
    "Periodic(LearnedBeam(Amortized(Exact)))": lambda: Periodic(
        LearnedBeam(Amortized(admission="always"), share=0.5), 3
    ),
}
MAKE = {**ALONE, **VARIANTS, **PAIRS, **TRIPLES}
MISSING = {name for name, kind in APART.items() if not kind.installed()}
LEARNING = {"LearnedRestarts", "LearnedBeam"}  # answers get better with use
REMEMBERING = {"Amortized", "Periodic"}  # what was asked before may change them


def kinds_of(engine) -> set[str]:
    return {type(layer).__name__ for layer in layers(engine)}


def is_exact(engine) -> bool:
    return not kinds_of(engine) & {"RGS", "Beam", "ConstrainedBeam", *LEARNING}


EXACT = {name: make for name, make in MAKE.items() if is_exact(make())}
EXACT_ALONE = {name: make for name, make in EXACT.items() if name in {**ALONE, **VARIANTS}}


def each_of(makes):
    """One test for each; skipped where the package of a solver is not installed."""
    params = []
    for name, make in makes.items():
        lacks = kinds_of(make()) & MISSING
        skip = pytest.mark.skipif(bool(lacks), reason=f"the package of {lacks} is not installed")
        params.append(pytest.param(make, id=name, marks=skip))
    return pytest.mark.parametrize("make", params)


every_engine = each_of(MAKE)
every_kind = each_of({**ALONE, **{outer: PAIRS[f"{outer}(Exact)"] for outer in AROUND}})
every_exact = each_of(EXACT_ALONE)


def engine_classes() -> set[type[Engine]]:
    """Every concrete class of engines inside `rote.inference`."""
    found = set()
    for module in pkgutil.walk_packages(rote.inference.__path__, "rote.inference."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, Engine) and not inspect.isabstract(kind):
                found.add(kind)
    return found


@pytest.mark.parametrize("kind", sorted(engine_classes(), key=lambda kind: kind.__name__))
def test_every_engine_is_in_the_suite(kind):
    name = kind.__name__
    assert name in {**ALONE, **AROUND}, (
        f"{kind.__module__}.{name} is an engine that the contract does not know; say how to make "
        "one in ALONE, or in AROUND if it has an inner one, of tests/contracts/test_engines.py"
    )
    made = ALONE[name]() if name in ALONE else AROUND[name](Exact())
    assert type(made) is kind
    assert (name in AROUND) == (made.inner is not None and name != "LearnedRestarts")


def test_every_public_engine_is_one_of_them():
    public = {getattr(rote, name) for name in rote.__all__}
    public = {kind for kind in public if inspect.isclass(kind) and issubclass(kind, Engine)}
    assert {kind for kind in public if not inspect.isabstract(kind)} <= engine_classes()
    assert {kind.__name__ for kind in engine_classes()} == {*ALONE, *AROUND}


# -- what they are asked ------------------------------------------------------------------


def features_of(problem: Problem) -> FeatureRows:
    """One weight for each part, and one vector for all inputs: enough for engines that learn."""
    space = problem.space
    slots = len(space.variables) + len(space.factors)
    starts = np.concatenate([space.offsets[:-1], space.factor_offsets]).astype(np.int64)
    vectors = Vectors(*map(readonly, (np.array([0, 1]), np.array([0]), np.ones(1))))
    each = (np.full(slots, -1), starts[:-1], np.full(slots, space.parts), np.zeros(slots, bool))
    bundle = Slots(*map(readonly, (*each, np.full(slots, -1), starts, np.zeros(0, np.int64))))
    return FeatureRows(vectors, bundle, readonly(np.zeros(len(problem), np.int64)), 1 << 10)


def solve(engine, problem: Problem, context: Context = NO_CONTEXT, **options) -> Solutions:
    """The answers; engines that want feature vectors get some."""
    if "LearnedRestarts" in kinds_of(engine):
        context = dataclasses.replace(context, features=features_of(problem))
    return engine.solve(problem.space, problem, context, **options)


def same(one: Solutions, other: Solutions, *more: str) -> bool:
    names = ("labels", "value", "status", *more)
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def home(engine):
    """Two variables and a rule; joined by a factor and a rule where the engine takes it."""
    builder = SpaceBuilder()
    x, y = builder.variable("x", ["a", "b"]), builder.variable("y", ["a", "b", "c"])
    builder.require(~y["b"], "y is not b")
    if "Independent" not in kinds_of(engine):
        builder.factor(x, y)
        builder.require(x["a"] >> y["c"], "a needs c")
    space = builder.build()
    assert engine.accepts(space)
    return space


def at_home(engine, m=6, seed=0, whole=False) -> Problem:
    space, rng = home(engine), np.random.default_rng(seed)
    shape = (m, space.parts)
    return Problem(space, rng.integers(-1, 2, size=shape) if whole else rng.normal(size=shape))


# -- the contract -------------------------------------------------------------------------


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
    assert {field.name for field in dataclasses.fields(solutions)} == {*expected, "duals"}
    for name, (shape, dtype) in expected.items():
        array = getattr(solutions, name)
        assert array.shape == shape
        assert array.dtype == dtype
        assert not array.flags.writeable
    assert len(solutions) == m


def check_conflict(space, names) -> None:
    """The rules named conflict, and without any one of them the others do not."""
    named = [rule for rule in space.each_rule if rule.name in names]
    assert len(named) == len(names) == len(set(names)) > 0
    assert not Judge(type(space)(space.variables, (), tuple(named))).feasible
    for one in named:
        rest = tuple(rule for rule in named if rule is not one)
        assert Judge(type(space)(space.variables, (), rest)).feasible


def check(engine, space, problem, judge=None) -> bool:
    """Hold an engine to its contract on one space; False where it refused the space."""
    if not engine.accepts(space):
        with pytest.raises(UnsupportedSpace, match="use "):
            solve(engine, problem)
        return False
    judge = judge or Judge(space)
    exact = is_exact(engine)
    try:
        found = solve(engine, problem)
    except InfeasibleSpace as error:
        assert not judge.feasible
        assert problem.closed is None
        check_conflict(space, error.conflicting_rules)
        return True
    assert judge.feasible or problem.closed is not None or not exact
    check_shape(found, space, len(problem))
    check_truth(space, problem, found, () if exact else (Status.TIMED_OUT,))
    for i in np.flatnonzero(found.status <= Status.FEASIBLE):
        assert found.value[i] == space.value(problem.scores[i], found.labels[i])[0]
        assert found.bound[i] >= found.value[i]
        assert found.status[i] != Status.OPTIMAL or found.bound[i] == found.value[i]
        if exact:
            assert tuple(found.labels[i].tolist()) == judge.best(*row_of(problem, i)).labels
            assert found.status[i] == Status.OPTIMAL
            assert found.source[i] in sources_of(engine)
            assert found.source[i] != FoundBy.ARGMAX or not space.factors
    return True


# What an engine may say it did. Some see that the best labels are the answer by themselves.
SOURCES = {
    Exhaustive: {FoundBy.ENUMERATION},
    Independent: {FoundBy.ARGMAX},
    Chain: {FoundBy.CHAIN},
    Tree: {FoundBy.TREE},
    Elimination: {FoundBy.ELIMINATION},
    BranchAndBound: {FoundBy.BRANCH},
    Milp: {FoundBy.MILP},
    CpSat: {FoundBy.CP_SAT},
    Toulbar2: {FoundBy.TOULBAR2},
    LazyRows: {FoundBy.ELIMINATION, FoundBy.BRANCH},
}


def sources_of(engine) -> set[FoundBy]:
    remembered = {FoundBy.CACHE, FoundBy.CERTIFICATE}
    *_, innermost = layers(engine)
    found = SOURCES.get(type(innermost), set(FoundBy) - remembered - {FoundBy.NEIGHBOUR})
    if "Periodic" in kinds_of(engine):
        found = found | sources_of(Exact())
    return found | remembered if "Amortized" in kinds_of(engine) else found


# Kinds of spaces, and how many of each every exact engine is asked about.
FAMILIES = {
    "any": (spaces(), 60),
    "larger": (spaces(least=4, most=5, max_rules=2), 20),
    "separable": (separable_spaces(), 15),
    "chain": (chain_spaces(), 40),
    "tree": (tree_spaces(), 40),
}
# What an engine is made for: there it may not refuse.
HOMES = {
    "Independent": ["separable"],
    "Chain": ["separable", "chain"],
    "Tree": ["separable", "tree"],
    "MessagePassing": ["separable", "tree"],
}


def is_home(engine, family: str) -> bool:
    if isinstance(engine, Chain) and engine.order is not None:
        return family == "separable"
    return family in HOMES.get(type(engine).__name__, list(FAMILIES))


@every_exact
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_of_exact_engines_are_those_of_enumeration(make, family):
    strategy, examples = FAMILIES[family]
    engine, taken = make(), []

    @settings(max_examples=examples // 2 if make in VARIANTS.values() else examples)
    @given(problems(strategy))
    def agrees(problem):
        taken.append(check(engine, *problem))

    agrees()
    assert all(taken) or not is_home(engine, family)


@pytest.mark.parametrize("family", ["any", "chain", "tree", "separable"])
def test_answers_of_wrappers_and_approximate_engines_are_true(family):
    engines = {name: make() for name, make in MAKE.items() if name not in EXACT_ALONE}
    engines = {name: engine for name, engine in engines.items() if not kinds_of(engine) & MISSING}

    @settings(max_examples=12)
    @given(problems(FAMILIES[family][0]))
    def agrees(problem):
        judge = Judge(problem[0])
        for name, engine in engines.items():
            try:
                check(engine, *problem, judge)
            except AssertionError as error:
                error.add_note(name)
                raise

    agrees()


@every_exact
@pytest.mark.parametrize("max_entries", [1, 8])
def test_answers_are_the_same_when_rules_stay_rows(make, max_entries):
    engine = make()

    @settings(max_examples=15)
    @given(problems(spaces(least=3, max_rules=4, depth=2), inputs=4))
    def agrees(problem):
        check(engine, *problem)

    with rules_as_rows(max_entries):
        agrees()


@every_engine
def test_the_answer_to_a_batch_is_that_to_each_input_and_the_same_every_time(make):
    for whole in (False, True):
        engine = make()
        problem = at_home(engine, whole=whole)
        together = solve(engine, problem)
        assert same(together, solve(make(), problem), "bound", "source")
        if not kinds_of(engine) & {*LEARNING, *REMEMBERING}:
            assert same(together, solve(engine, problem), "bound", "source")
        elif is_exact(engine):
            assert same(together, solve(engine, problem), "bound")
        if kinds_of(engine) & {*LEARNING, "Periodic"} and not is_exact(engine):
            continue  # what comes first changes what comes later, or which engine is asked
        for i in range(len(problem)):
            assert same(together.rows(i), solve(make(), problem.rows(i)), "bound")


# -- threads ------------------------------------------------------------------------------


def for_threads(engine):
    """A space nobody has asked about yet, so large that threads meet inside of kernels."""
    for kind in ("loops", "tree", "chain", "separable"):
        builder = SpaceBuilder()
        xs = [builder.variable(f"x{j}", "abc") for j in range(8)]
        edges = {"tree": [(0, 1), (0, 2), (2, 3), (2, 4), (4, 5), (4, 6), (6, 7)], "separable": []}
        for i, j in edges.get(kind, list(pairwise(range(8)))):
            builder.factor(xs[i], xs[j])
        if kind == "loops":
            builder.factor(xs[0], xs[7])
            builder.require(at_most(2, [x["a"] for x in xs]), "few")
            builder.require(xs[1]["b"] >> xs[6]["c"], "far")
        space = builder.build()
        if engine.accepts(space):
            forget_compiled()
            return space
    raise AssertionError(engine)


def has_share(engine) -> bool:
    return isinstance(engine, LearnedBeam) and engine.share > 0


THREADED = {
    **ALONE,
    **VARIANTS,
    **{outer: PAIRS[f"{outer}(Exact)"] for outer in AROUND},
    "LearnedBeam": lambda: LearnedBeam(width=2),
    **TRIPLES,
}


@pytest.mark.parametrize("make", THREADED.values(), ids=THREADED)
def test_threads_that_share_a_space_and_an_engine_answer_as_one_does(make):
    """From the first use of the space on, which all of them begin with at once."""
    threads, rng, switch = 4, np.random.default_rng(3), sys.getswitchinterval()
    engine = make()
    space = for_threads(engine)
    batches = [rng.normal(size=(m, space.parts)) for m in (1, 4, 2, 9, 3, 1, 6, 5)]
    batches[2:5] = [rng.integers(-1, 2, size=batch.shape) for batch in batches[2:5]]
    ready = Barrier(threads, timeout=20)

    def work(first: int) -> list[Solutions]:
        ready.wait()
        return [solve(engine, Problem(space, batch)) for batch in batches[first::threads]]

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(work, range(threads)))
    finally:
        sys.setswitchinterval(switch)
    forget_compiled()
    alone = make()
    learns = any(isinstance(own, LearnedRestarts) or has_share(own) for own in layers(engine))
    for k, batch in enumerate(batches):
        problem, answers = Problem(space, batch), found[k % threads][k // threads]
        there = answers.status <= Status.FEASIBLE
        assert there.all() or not is_exact(engine)
        assert space.holds(answers.labels[there]).all()
        assert answers.value.tolist() == problem.value(answers.labels).tolist()
        if is_exact(engine) or not (learns or kinds_of(engine) & REMEMBERING):
            more = () if kinds_of(engine) & REMEMBERING else ("source",)
            assert same(answers, solve(alone, problem), "bound", *more)
            assert same(answers, solve(make(), problem, n_jobs=3), "bound", *more)
    assert engine.stats.now().get("inputs", 0) in {0, sum(map(len, batches))}


# -- capabilities -------------------------------------------------------------------------


def with_term(problem: Problem) -> Problem:
    term = ZeroOne().term(np.zeros((len(problem), len(problem.space.variables)), np.int64))
    return dataclasses.replace(problem, loss_term=term)


def with_global_features(problem: Problem) -> Problem:
    n = len(problem.space.variables)
    family = LabelCounts("shares", 3, 2)
    weights = readonly(np.random.default_rng(0).normal(size=family.width))
    origins = readonly(np.zeros(family.count, np.int64))
    global_features = GlobalFeatureScores(GlobalFeatureSet((family,), n), origins, weights)
    return dataclasses.replace(problem, global_scores=global_features)


@every_engine
def test_what_it_supports_works_and_all_else_is_refused_in_one_sentence(make):
    engine = make()
    problem = at_home(engine, 3)
    more = {
        Capability.LOSS_TERMS: (with_term, "a loss that is no sum over parts"),
        Capability.GLOBAL_FEATURES: (with_global_features, "global features of whole outputs"),
    }
    lacks = []
    for capability, (extended, said) in more.items():
        if capability in engine.supports:
            asked = extended(problem)
            gold = Context(gold=np.tile([1, 0], (3, 1)))
            # Without a gold output, what is inside has to take it.
            around = [layer for layer in layers(engine) if type(layer) is Decomposed]
            if not around or capability in around[-1].inner.supports:
                gold = NO_CONTEXT
            found = solve(make(), asked, gold)
            there = found.status <= Status.FEASIBLE
            assert problem.space.holds(found.labels[there]).all()
            assert found.value[there] == pytest.approx(asked.value(found.labels)[there])
            if gold is NO_CONTEXT:
                best = Exhaustive().solve(problem.space, asked)
                assert (found.bound >= best.value - 1e-9).all()
        else:
            lacks.append(said)
            with pytest.raises(UnsupportedSpace, match=said):
                solve(engine, extended(problem))
    if lacks:
        with pytest.raises(UnsupportedSpace) as raised:
            solve(engine, with_term(with_global_features(problem)))
        assert all(said in str(raised.value) for said in lacks)
        assert str(raised.value).startswith(f"{type(engine).__name__} cannot solve this: ")


@every_engine
def test_a_space_it_refuses_is_refused_with_the_reason_and_what_to_do(make):
    engine = make()
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(24)]
    for x, y in combinations(variables, 2):
        builder.factor(x, y)
    space = builder.build()
    if engine.accepts(space):
        return  # left to the tests of anytime engines: this space is hard
    assert engine.refuses(space)
    with pytest.raises(UnsupportedSpace, match="use ") as raised:
        solve(engine, with_term(Problem(space, np.zeros((1, space.parts)))))
    assert isinstance(raised.value, RoteError)
    if Capability.LOSS_TERMS not in engine.supports:  # both are said
        assert "no sum over parts" in str(raised.value)


@every_engine
def test_a_warm_start_changes_nothing(make):
    engine = make()
    problem = at_home(engine, whole=True)
    m, space = len(problem), problem.space
    warm = WarmStart(Exhaustive().solve(space, problem).labels, zero_duals(space, m))
    assert same(solve(engine, problem, Context(warm=warm)), solve(make(), problem), "bound")


@every_engine
def test_gold_outputs_change_nothing_unless_it_says_so(make):
    engine = make()
    problem = at_home(engine)
    gold = np.tile([1, 0], (len(problem), 1))
    found = solve(engine, problem, Context(gold=gold))
    check_shape(found, problem.space, len(problem))
    if Capability.GOLD in engine.supports:
        changed = (found.labels != gold).sum(axis=1)
        assert (changed <= 1).mean() >= 0.5 or "Decomposed(Exact())" not in repr(engine)
    else:
        assert same(found, solve(make(), problem), "bound")


# -- what an engine is --------------------------------------------------------------------


@every_engine
def test_layers_go_to_the_innermost_and_only_transparent_ones_are_left_out(make):
    engine = make()
    every = [*layers(engine)]
    assert every[0] is engine
    assert all(outer.inner is inner for outer, inner in pairwise(every))
    assert every[-1].inner is None
    kept = [type(layer) for layer in layers(persistent(engine))]
    assert kept == [type(layer) for layer in every if not layer.transparent]


@every_engine
def test_copies_answer_alike(make):
    engine = make()
    problem = at_home(engine)
    fresh = [copy.deepcopy(engine), pickle.loads(pickle.dumps(engine))]  # noqa: S301
    expected = solve(engine, problem)
    for other in fresh:
        assert [type(layer) for layer in layers(other)] == [type(layer) for layer in layers(engine)]
        assert same(solve(other, problem), expected, "bound", "source")


@every_engine
def test_what_was_saved_is_restored(make):
    engine = persistent(make())
    problem = at_home(engine)
    solve(engine, problem)
    settings_, arrays = engine.saved()
    again = type(engine).restored(settings_, arrays)
    assert [type(layer) for layer in layers(again)] == [type(layer) for layer in layers(engine)]
    if not LEARNING & kinds_of(engine):
        assert same(solve(again, problem), solve(engine, problem), "bound", "source")
    settings_, arrays = again.saved()
    third = type(engine).restored(settings_, arrays)
    assert same(solve(again, problem), solve(third, problem), "bound", "source")


@every_engine
def test_counts_only_grow(make):
    engine = make()
    problem, before = at_home(engine), [layer.stats.now() for layer in layers(engine)]
    for _ in range(2):
        solve(engine, problem)
        now = [layer.stats.now() for layer in layers(engine)]
        for earlier, later in zip(before, now, strict=True):
            assert earlier.keys() <= later.keys()
            assert all(later[name] >= count for name, count in earlier.items())
        before = now
    if engine.stats.now():
        assert any(engine.stats.now().values()) or type(engine) is Decomposed


@every_kind
def test_an_engine_is_a_frozen_value(make):
    engine = make()
    assert dataclasses.is_dataclass(engine)
    # With a memory, knowledge or counts of its own, which makes it another.
    if kinds_of(engine) & {*AROUND, *LEARNING}:
        assert dataclasses.replace(engine) != engine == engine
    else:
        assert dataclasses.replace(engine) == engine
        assert hash(dataclasses.replace(engine)) == hash(engine)
    for field in dataclasses.fields(engine):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(engine, field.name, None)


# -- what is checked first ----------------------------------------------------------------


@every_engine
def test_an_empty_batch_has_no_answers(make):
    engine = make()
    for space in (home(engine), SpaceBuilder().build()):
        check_shape(solve(engine, Problem(space, np.empty((0, space.parts)))), space, 0)


@every_engine
def test_a_space_without_variables_has_one_empty_output(make):
    space = SpaceBuilder().build()
    solutions = solve(make(), Problem(space, np.empty((3, 0))))
    check_shape(solutions, space, 3)
    assert (solutions.status <= Status.FEASIBLE).all()
    assert solutions.value.tolist() == [0.0] * 3


@every_kind
def test_scores_of_any_real_type_and_layout_will_do(make):
    engine = make()
    if "LearnedRestarts" in kinds_of(engine):
        return  # wants feature vectors with them
    space = home(engine)
    whole = np.random.default_rng(1).integers(-5, 6, size=(4, space.parts))
    expected = make().solve(space, whole.astype(np.float64)).labels.tolist()
    spaced = np.zeros((8, 2 * space.parts))
    spaced[::2, ::2] = whole
    read_only = readonly(whole.astype(np.float64))
    for given_scores in (
        whole,
        whole.astype(np.float32),
        whole.tolist(),
        np.asfortranarray(whole.astype(np.float64)),
        spaced[::2, ::2],
        read_only,
        Problem(space, whole),
        Problem(space, whole, np.zeros((4, space.labels), dtype=np.bool_)),
    ):
        assert make().solve(space, given_scores).labels.tolist() == expected
    one = make().solve(space, whole[0])
    check_shape(one, space, 1)
    assert one.labels.tolist() == make().solve(space, whole[:1]).labels.tolist()


@every_kind
def test_the_callers_arrays_stay_as_they_were(make):
    engine = make()
    space = home(engine)
    scores = np.random.default_rng(2).normal(size=(3, space.parts))
    closed = np.zeros((3, space.labels), dtype=np.bool_)
    closed[0, 0] = True
    before = scores.copy(), closed.copy()
    solve(engine, Problem(space, scores, closed))
    solve(engine, Problem(space, scores))
    assert scores.flags.writeable
    assert closed.flags.writeable
    assert np.array_equal(scores, before[0])
    assert np.array_equal(closed, before[1])


WRONG_SCORES = ["text", None, ["a"], [[1.0, 2.0], [1.0]], {}, [1j], object(), np.zeros(2, complex)]


@every_kind
def test_scores_that_are_none_are_refused_with_their_place(make):
    engine = make()
    space = home(engine)
    wrong_numbers = (np.nan, "for label 'c' of 'y'"), (np.inf, "for label"), (1e302, "at part")
    for wrong, said in wrong_numbers:
        scores = np.zeros((3, space.parts))
        scores[1, 4] = wrong
        with pytest.raises(ScoreError, match=f"input 1: .* got .* {said}"):
            engine.solve(space, scores)
    for shape in ((), (space.parts + 1,), (2, space.parts - 1), (1, 1, space.parts), (0,)):
        with pytest.raises(ScoreError, match=rf"the shape \(m, {space.parts}\)"):
            engine.solve(space, np.zeros(shape))
    for scores in WRONG_SCORES:
        with pytest.raises(ScoreError):
            engine.solve(space, scores)
    for gold in (np.zeros((3, 2), np.int64), np.array([[0, 7], [0, 0]])):
        with pytest.raises(LabelError):
            engine.solve(space, np.zeros((2, space.parts)), Context(gold=gold))


@pytest.mark.parametrize(
    ("closed", "match"),
    [
        (np.ones((1, 5), dtype=np.bool_), r"the shape \(2, 5\)"),
        (np.ones((2, 6), dtype=np.bool_), r"the shape \(2, 5\)"),
        (np.ones((2, 5)), "True and False, got float64"),
        (np.ones((2, 5), dtype=np.int64), "True and False, got int64"),
    ],
)
def test_closed_labels_of_the_wrong_shape_or_type_are_refused(closed, match):
    space = home(Exact())
    with pytest.raises(ScoreError, match=match):
        Problem(space, np.zeros((2, space.parts)), closed)


# -- closed labels, rules and ties --------------------------------------------------------


@every_engine
def test_given_labels_are_kept_and_those_against_the_rules_are_infeasible_by_themselves(make):
    engine = make()
    space = home(engine)
    scores = np.random.default_rng(3).normal(size=(5, space.parts))
    given_labels = [{"x": "a"}, {"y": "a"}, {}, {"y": "b"}, {"x": "b"}]
    solutions = solve(engine, clamp(space, scores, given_labels))
    check_shape(solutions, space, 5)
    for i, labels in enumerate(given_labels):
        if solutions.status[i] <= Status.FEASIBLE:
            output = space.decode(solutions.labels[i : i + 1])[0]
            assert labels.items() <= output.items()
            assert i != 3
        elif i != 3:
            assert not is_exact(engine)
    assert solutions.status[3] in (Status.INFEASIBLE, Status.TIMED_OUT)
    assert solutions.labels[3].tolist() == [-1, -1]
    closed = np.zeros((2, space.labels), dtype=np.bool_)
    closed[1, :2] = True
    solutions = solve(make(), Problem(space, np.zeros((2, space.parts)), closed))
    assert solutions.status[1] == Status.INFEASIBLE
    assert solutions.value[1] == solutions.bound[1] == -np.inf


@every_engine
def test_what_minus_infinity_forbids_is_in_no_answer(make):
    engine = make()
    space, rng = home(engine), np.random.default_rng(5)
    scores = rng.normal(size=(12, space.parts))
    scores[rng.random(scores.shape) < 0.4] = -np.inf
    solutions = solve(engine, Problem(space, scores))
    check_shape(solutions, space, len(scores))
    judge = Judge(space)
    for i, row in enumerate(scores):
        possible = [best for best in judge.valued(row) if best.value > -np.inf]
        status = solutions.status[i]
        if status > Status.FEASIBLE:
            assert solutions.labels[i].tolist() == [-1, -1]
            assert status == Status.TIMED_OUT if possible else not is_exact(engine) or status == 2
            continue
        best = max(possible, key=lambda one: one.value)
        assert solutions.value[i] == space.value(row, solutions.labels[i])[0] > -np.inf
        assert solutions.bound[i] >= best.value - 1e-9
        if is_exact(engine):
            assert tuple(solutions.labels[i].tolist()) == best.labels
            assert status == Status.OPTIMAL


@every_exact
@given(problems(), st.sampled_from([0.1, 0.25, 0.5]))
@settings(max_examples=25)
def test_forbidden_tuples_are_as_if_rules_forbade_them(make, drawn, share):
    space, problem = drawn
    wrong = np.random.default_rng(space.parts).random(problem.scores.shape) < share
    scores = np.where(wrong, -np.inf, problem.scores)
    engine, judge = make(), Judge(space)
    if not engine.accepts(space) or not judge.feasible:
        return
    found = solve(engine, Problem(space, scores, problem.closed))
    for i, row in enumerate(scores):
        valued = judge.valued(row, row_of(problem, i)[1])
        possible = [best for best in valued if best.value > -np.inf]
        if not possible:
            assert found.status[i] == Status.INFEASIBLE
            assert found.labels[i].tolist() == [-1] * len(space.variables)
            continue
        size = np.abs(row[np.isfinite(row)]).max(initial=0.0)
        top = max(best.value for best in possible) - 1e-9 * size
        equal = [best.labels for best in possible if best.value >= top]
        labels = tuple(found.labels[i].tolist())
        assert labels in equal
        assert labels == equal[0] or (row[np.isfinite(row)] % 1).any()
        assert found.status[i] == Status.OPTIMAL


@every_engine
def test_rules_that_cannot_be_obeyed_are_named(make):
    builder = SpaceBuilder()
    x, y = builder.variable("x", "abc"), builder.variable("y", "ab")
    builder.require(~y["a"], "beside the point")
    builder.require(~x["a"], "not a")
    builder.require(~x["b"], "not b")
    builder.require(x["a"] | x["b"], "a or b")
    space = builder.build()
    with pytest.raises(InfeasibleSpace) as raised:
        solve(make(), Problem(space, np.zeros((2, space.parts))))
    assert raised.value.conflicting_rules == ("not a", "not b", "a or b")
    for name in raised.value.conflicting_rules:
        assert f"- {name}" in str(raised.value)


@every_exact
def test_ties_go_to_the_first_output_that_obeys_the_rules(make):
    engine = make()
    space = home(engine)
    first = Judge(space).outputs[0]
    for score in (0.0, 1.0, -7.5):
        solutions = engine.solve(space, np.full(space.parts, score))
        assert tuple(solutions.labels[0].tolist()) == first
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    y = builder.variable("y", "ab")
    free = builder.build()
    builder.require(~y["a"])
    for size in (1e-9, 1.0, 1e6):  # less than a tie is a tie, and more is not
        scores = np.array([[0, 3e-11, 1, 0], [0, 3e-10, 1, 0]]) * size
        assert engine.solve(builder.build(), scores).labels.tolist() == [[0, 1], [1, 1]]
        assert engine.solve(free, scores).labels.tolist() == [[1, 0], [1, 0]]  # nothing is lost


@every_exact
def test_very_large_and_very_small_scores_are_solved_in_any_order(make):
    engine = make()
    problem = at_home(engine)
    for size in (1e-8, 1e12):
        check(engine, problem.space, problem.scaled(size))
    whole = at_home(engine, 20, 5, whole=True)
    back = engine.solve(whole.space, whole.rows(slice(None, None, -1)))
    assert back.labels[::-1].tolist() == make().solve(whole.space, whole).labels.tolist()


@every_engine
def test_variables_with_one_label_and_long_rules_that_say_nothing(make):
    engine = make()
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", ["only"]) for j in range(3)]
    if "Independent" not in kinds_of(engine):
        builder.factor(variables[1], variables[0])
    space = builder.build()
    solutions = solve(engine, Problem(space, np.full((2, space.parts), 1.5)))
    assert solutions.labels.tolist() == [[0, 0, 0]] * 2
    assert solutions.value.tolist() == [1.5 * space.parts] * 2
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
    always = [at_least(0, [x[label] for x in variables]) for label in "ab"]
    builder.require(variables[0]["a"] | (count(always) >= 0))
    space = builder.build()
    assert engine.accepts(space)
    scores = np.random.default_rng(9).normal(size=(3, space.parts))
    solutions = solve(engine, Problem(space, scores))
    assert solutions.labels.tolist() == scores.reshape(3, 10, 2).argmax(axis=2).tolist()


# -- spaces beyond the judge --------------------------------------------------------------


def entity_relations():
    return entity_relation_space(4), [Elimination()]


def dense():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
    for x, y in combinations(variables, 2):
        builder.factor(x, y)
    return builder.build(), [Exhaustive(), Elimination()]


def long_rules():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(9)]
    for x, y in pairwise(variables):
        builder.factor(x, y)
    builder.require(at_most(3, [x["a"] for x in variables]))
    builder.require(at_least(2, [x["c"] for x in variables]))
    builder.require(all_different(variables[:3]))
    space = builder.build()
    assert len(space.network.rows) == 2
    return space, [Exhaustive()]


@pytest.mark.parametrize("made", [entity_relations, dense, long_rules])
@pytest.mark.parametrize("whole", [False, True])
def test_general_engines_agree_on_larger_spaces(made, whole):
    space, more = made()
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(3, space.parts))
    if whole:
        scores = rng.integers(-1, 2, size=scores.shape).astype(np.float64)
    general = (BranchAndBound(), BranchAndBound(eliminate=False), Milp(), Exact())
    general += tuple(kind() for kind in APART.values() if kind.installed())
    answers = [engine.solve(space, scores) for engine in (*general, *more)]
    for solutions in answers:
        assert solutions.optimal.all()
        assert space.holds(solutions.labels).all()
        assert same(solutions, answers[0], "bound")
