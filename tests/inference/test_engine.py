"""Engines and wrappers: capabilities, layers, counts, refusals, and who may look at a class.

What every engine and wrapper promises is in `tests.contracts.test_engines`.
"""

import ast
import copy
import importlib
import pickle
import pkgutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import rote
import rote.inference
from rote import (
    Amortized,
    BranchAndBound,
    Chain,
    Decomposed,
    Elimination,
    Exact,
    Exhaustive,
    LearnedBeam,
    LearnedRestarts,
    Milp,
    Periodic,
)
from rote.errors import ScoreError, SettingError
from rote.inference.approximate import RGS
from rote.inference.engine import Engine, Stats, find, layers, persistent, rebuilt
from rote.inference.solutions import FoundBy, Solutions
from rote.inference.wrappers.timed import Timed
from rote.space import SpaceBuilder

SOURCE = Path(rote.__file__).parent
LAYERED = Timed(Amortized(Timed(Decomposed(Periodic(RGS())))))


@dataclass(frozen=True)
class First(Engine):
    """The first label everywhere: an engine of a user's own."""

    bonus: float = 1.0

    def answer(self, problem, context):
        labels = np.zeros((len(problem), len(problem.space.variables)), np.int64)
        bound = problem.value(labels) + self.bonus
        return Solutions.of(
            problem, labels, FoundBy.GREEDY, bound=bound, status=np.ones(len(problem), np.int64)
        )


# -- an engine of one's own ---------------------------------------------------------------


def test_an_engine_is_a_class_with_an_answer(space):
    engine = First(2.0)
    found = engine.solve(space, np.zeros((2, 11)))
    assert found.labels.tolist() == [[0, 0]] * 2
    assert found.bound.tolist() == [2.0, 2.0]
    assert engine.supports == frozenset()
    assert engine.accepts(space)
    assert engine.chain(space) is None
    assert engine.stats.now() == {}
    assert engine.saved() == ({"bonus": 2.0}, {})
    assert First.restored(*engine.saved()) == engine
    with pytest.raises(TypeError, match="abstract"):
        Engine()


# -- layers -------------------------------------------------------------------------------


def test_the_outermost_layer_of_a_kind_is_found():
    assert find(LAYERED, Timed) is LAYERED
    assert find(LAYERED.inner, Timed) is LAYERED.inner.inner
    assert find(LAYERED, RGS) == RGS()
    assert find(LAYERED, Milp) is None


def test_a_layer_is_changed_and_those_around_it_count_on(space):
    changed = rebuilt(LAYERED, Periodic, lambda own: Exact())
    assert [type(layer) for layer in layers(changed)] == [
        Timed, Amortized, Timed, Decomposed, Exact,
    ]  # fmt: skip
    assert changed.stats is LAYERED.stats
    assert changed.inner.inner.inner.stats is LAYERED.inner.inner.inner.stats
    assert isinstance(LAYERED.inner.inner.inner.inner, Periodic)
    assert rebuilt(LAYERED, Milp, lambda own: Exact()).solve(space, np.zeros(11)).labels.size == 2


def test_what_a_persistent_engine_has_learned_stays():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["b"] >> y["b"])
    space, scores = builder.build(), np.random.default_rng(0).normal(size=(30, 4))
    speedup = LearnedBeam(Timed(), width=1)
    speedup.learn(space, scores)
    assert persistent(speedup).knowledge[1].tolist() == speedup.knowledge[1].tolist() != []


# -- counts -------------------------------------------------------------------------------


def test_counts_are_of_all_threads_and_a_copy_begins_anew():
    stats = Stats("inputs")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: stats.add(inputs=1, other=0.5), range(500)))
    assert stats.now() == {"inputs": 500, "other": 250.0}
    assert repr(stats) == "Stats(inputs=500, other=250.0)"
    for other in (copy.deepcopy(stats), pickle.loads(pickle.dumps(stats))):  # noqa: S301
        assert other.now() == {"inputs": 0, "other": 0}
        other.add(inputs=1)
    assert stats["inputs"] == 500


# -- settings -----------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", [Amortized, Decomposed, LearnedBeam, Periodic, Timed])
@pytest.mark.parametrize("engine", [Exact, "exact", None])
def test_a_wrapper_wants_an_engine_and_not_its_class(wrapper, engine):
    with pytest.raises(SettingError, match=r"is one such as Exact\(\), or a class of your own"):
        wrapper(engine)


@pytest.mark.parametrize(
    ("engine", "setting", "values", "wanted"),
    [
        (Exhaustive, "max_outputs", ["a", 0, 0.5, 1e6], "a whole number of at least 1, got"),
        (Elimination, "max_candidates", ["a", 0, 0.5], "a whole number of at least 1, got"),
        (BranchAndBound, "node_limit", [0, 1.5, True], "a whole number of at least 1, or None"),
        (BranchAndBound, "tie_limit", [0], "a whole number of at least 1, or None"),
        (BranchAndBound, "time_limit", [0.0, np.nan], "a number above 0, or None"),
        (BranchAndBound, "eliminate", [1], "True or False"),
        (Chain, "order", [0, 4, "1", True], "a whole number from 1 to 3, or None"),
        (Exact, "time_limit", [0.0, -1.0, np.nan, True, "1"], "a number above 0, or None"),
        (Milp, "solver", ["cplex", None], "one of highs, gurobi"),
        (Milp, "time_limit", [0.0, np.nan], "a number above 0, or None"),
        (Milp, "gap", [-0.1, np.inf], "a number of at least 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(engine, setting, values, wanted):
    for value in values:
        with pytest.raises(SettingError, match=f"{setting} is {wanted}"):
            engine(**{setting: value})


def test_what_is_searched_amortized_is_an_rgs():
    with pytest.raises(SettingError, match=r"inner is one such as RGS\(restarts=10\)"):
        LearnedRestarts(Exact())


def test_an_address_is_no_store():
    with pytest.raises(
        SettingError, match=r"open_store\(address\) for an address, or None, got 'a.sqlite'"
    ):
        Amortized(Exact(), store="a.sqlite")


@pytest.mark.parametrize("engine", [Exact(), Exhaustive(), BranchAndBound(), Milp()])
def test_scores_whose_sum_overflows_are_refused(engine):
    builder = SpaceBuilder()
    for name in "xyz":
        builder.variable(name, "ab")
    space = builder.build()
    with pytest.raises(ScoreError, match=r"input 1: scores are finite and below 2\*\*1000"):
        engine.solve(space, np.array([np.zeros(6), np.full(6, -1e308)]))
    assert engine.solve(space, np.full(6, -1e300)).optimal.all()


# -- nobody probes ------------------------------------------------------------------------


def engine_classes() -> set[str]:
    """The names of every class of engines there is."""
    for module in pkgutil.walk_packages(rote.inference.__path__, "rote.inference."):
        importlib.import_module(module.name)
    found, left = set(), [Engine]
    while left:
        kind = left.pop()
        found.add(kind)
        left += kind.__subclasses__()
    return {kind.__name__ for kind in found if kind.__module__.startswith("rote.")}


def names_in(node: ast.AST) -> set[str]:
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    }


def last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def probes(tree: ast.AST, engines: set[str]) -> list[str]:
    """Where a module asks what class an engine is of, or whether it has something."""
    holders = {"engine", "inner", "exact", "layer", "wrapper", "choice"}
    selves = {
        id(node.args[0])
        for kind in ast.walk(tree)
        if isinstance(kind, ast.ClassDef) and names_in(ast.Tuple(kind.bases)) & engines
        for node in ast.walk(kind)
        if isinstance(node, ast.Call) and node.args and last_name(node.args[0]) == "self"
    }
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name("isinstance" | "issubclass"), args=[_, kinds]):
                wrong = bool(names_in(kinds) & engines)
            case ast.Call(func=ast.Name("getattr" | "hasattr" | "callable"), args=[of, *_]):
                wrong = last_name(of).strip("_") in holders or id(of) in selves
            case ast.Compare(left=ast.Call(func=ast.Name("type"))):
                wrong = bool(names_in(ast.Tuple(node.comparators)) & engines)
            case ast.MatchClass(cls=kind):
                wrong = last_name(kind) in engines
            case _:
                wrong = False
        if wrong:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("room", ["inference", "model", "learning", "serve"])
def test_nobody_probes_an_engine(room):
    engines = engine_classes()
    assert {"Engine", "Wrapper", "Exact", "Amortized", "RGS", "LearnedBeam"} <= engines
    for path in sorted((SOURCE / room).rglob("*.py")):
        if path != SOURCE / "inference" / "engine.py":
            found = probes(ast.parse(path.read_text(encoding="utf-8")), engines)
            where, what = path.relative_to(SOURCE), "; ".join(found)
            assert not found, f"{where} probes an engine; use find, layers or supports: {what}"


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(x, Exact)",
        "isinstance(x, int | wrappers.Timed)",
        "type(engine) is Milp",
        "hasattr(self.inner, 'duals')",
        "getattr(engine, 'accepts', None)",
        "class Own(Engine):\n    def f(self):\n        return getattr(self, 'x')",
        "match x:\n    case RGS():\n        pass",
    ],
)
def test_probing_an_engine_is_seen(text):
    assert len(probes(ast.parse(text), engine_classes())) == 1
    assert not probes(ast.parse("isinstance(x, int) and hasattr(task, 'y')"), engine_classes())
