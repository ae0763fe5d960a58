"""Outputs of the library on made-up data, kept as arrays that later versions must equal to the bit.

    python -m tools.golden save              write tests/golden/arrays.npz and versions.json
    python -m tools.golden check [NAME ...]  work all arrays out again, or those of some groups
    ROTE_PLAIN_KERNELS=1 python -m tools.golden check --small   those quick enough without compiling

Every group of `GROUPS` is a function without arguments that returns named arrays. Data are drawn
from seeds, nothing is fitted by another library, and nothing looks at the clock. An array
that is large is kept as a digest and a sample. The names of arrays do not follow those of
classes: when the library renames something, only the imports and calls of this file change.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rote import (
    RGS,
    Amortized,
    Beam,
    BranchAndBound,
    Chain,
    ConstrainedBeam,
    Context,
    Coreference,
    Decomposed,
    Elimination,
    Engine,
    EntityRelation,
    EntityRelationOutput,
    EpsilonSchedule,
    EpsilonStage,
    Exact,
    Exhaustive,
    F1Loss,
    GraphLabelling,
    Hamming,
    HammingBall,
    HeuristicFeatures,
    Independent,
    IndependentPerceptron,
    InfeasibleSpace,
    JaccardLoss,
    LearnedBeam,
    LearnedRestarts,
    Milp,
    Model,
    Multiclass,
    MultiLabel,
    Perceptron,
    Periodic,
    Problem,
    SignedComponents,
    Solutions,
    Space,
    SpaceBuilder,
    StructuredSVM,
    Subgradient,
    Tagging,
    Templates,
    Tree,
    UnsupportedSpace,
    WithoutRules,
    ZeroOne,
    adaptive_schedule,
    all_different,
    any_of,
    at_least,
    at_most,
    clamp,
    count,
    cross_validate,
    distill,
    dual_bound,
    exactly,
    k_best,
    max_marginals,
    one_of,
    prepare,
    train,
)
from rote.datasets import english_sentences
from rote.engines import zero_duals
from rote.inference.approximate.initial import UnaryClassifier
from rote.inference.problem import WarmStart
from rote.inference.stores import MemoryStore
from rote.inference.wrappers.decomposed import Sign, Union, estimate_signs
from rote.learning.epsilon_schedule import exact_at_times, geometric
from rote.model import Dataset
from rote.tasks.coreference import Document, Mention, ParsedSentence
from rote.tasks.entity_relation import entity_relation_space
from rote.tasks.graphs import Graph, grid

Array = NDArray[Any]
Arrays = dict[str, Array]

FOLDER = Path(__file__).parent.parent / "tests" / "golden"
ARRAYS, VERSIONS = FOLDER / "arrays.npz", FOLDER / "versions.json"
LARGE = {"f": 1000, "i": 20_000}  # larger arrays are kept as a digest and a sample
SAMPLE = 300
DIGEST = "/digest"


@dataclass(frozen=True)
class Batch:
    """What a group works out, and whether it takes too long for the tests, or for plain kernels."""

    arrays: Callable[[], Arrays]
    tool_only: bool = False
    small: bool = False


# -- examples -----------------------------------------------------------------------------


class Examples(NamedTuple):
    """Examples of a task."""

    task: Any
    xs: Sequence[Any]
    ys: Sequence[Any]
    hashed: Mapping[str, int] | None = None


def as_given(x: Array) -> list[Array]:
    """An input that is a sequence of vectors already."""
    return list(x)


def english(examples: int = 24, bits: int | None = 7) -> Examples:
    sentences = english_sentences(examples, seed=3)
    hashed = None if bits is None else {"entity": bits, "pair": bits}
    return Examples(
        EntityRelation(), sentences, [EntityRelationOutput.of(s) for s in sentences], hashed
    )


def sequences(order: int = 1, examples: int = 24, wide: int = 0) -> Examples:
    """Sequences of arrays whose labels follow from them, nearly."""
    rng, labels = np.random.default_rng([1, order]), ("a", "b", "c", "d")
    truth = rng.normal(size=(5, len(labels)))
    xs = [rng.normal(size=(int(rng.integers(1, 8)), 5)) for _ in range(examples)]
    best = [(x @ truth + 0.7 * rng.normal(size=(len(x), 4))).argmax(axis=1) for x in xs]
    ys = [tuple(labels[k] for k in row) for row in best]
    return Examples(Tagging(labels, as_given, order=order, max_ngram=wide), xs, ys)


SPAN_TEMPLATES = Templates(
    ("word", "pos"),
    ("word[0]", "pos[-1]|pos[0]", "shape(word[0])", "suffix2(word[0])", "is_title(word[0])"),
)


def spans(order: int = 1, examples: int = 24) -> Examples:
    """Sequences of words, in which spans of two kinds begin with B- and go on with I-."""
    rng = np.random.default_rng([2, order])
    labels = ("B-NP", "I-NP", "B-VP", "I-VP", "O")
    after = {"B-NP": "I-NP", "I-NP": "I-NP", "B-VP": "I-VP", "I-VP": "I-VP"}
    xs, ys = [], []
    for _ in range(examples):
        y: list[str] = []
        for _ in range(int(rng.integers(2, 9))):
            goes_on = y and y[-1] in after and rng.random() < 0.4
            y.append(after[y[-1]] if goes_on else ("B-NP", "B-VP", "O")[rng.integers(3)])
        kinds = [labels.index(label) if rng.random() < 0.8 else rng.integers(5) for label in y]
        words = [("Word", "word", "Runs", "run", "so")[k] + "stu"[rng.integers(3)] for k in kinds]
        xs.append([(word, "NVX"[rng.integers(3)]) for word in words])
        ys.append(tuple(y))
    return Examples(Tagging(labels, SPAN_TEMPLATES, order=order, bio=True), xs, ys)


def label_sets(examples: int = 30) -> Examples:
    rng, labels = np.random.default_rng(3), tuple("pqrstu")
    xs = rng.normal(size=(examples, 4))
    known_value = xs @ rng.normal(size=(4, len(labels))) + 0.5 * rng.normal(
        size=(examples, len(labels))
    )
    known_value[:, 1::2] += 0.7 * known_value[:, ::2]
    ys = [tuple(np.array(labels)[row > 0.4].tolist()) for row in known_value]
    return Examples(MultiLabel(labels), list(xs), ys)


def graphs(examples: int = 12, **options: Any) -> Examples:
    rng, labels = np.random.default_rng(4), ("x", "y", "z")
    xs, ys = [], []
    for number in range(examples):
        edges = grid(3, 3) if number % 2 else np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4]])
        size = int(edges.max()) + 1
        y = rng.integers(3, size=size)
        nodes = np.eye(3)[y] + 0.8 * rng.normal(size=(size, 3))
        xs.append(Graph(nodes, edges, rng.normal(size=(len(edges), 2))))
        ys.append(y)
    return Examples(GraphLabelling(labels, **options), xs, ys)


def documents(*, entities: bool = False) -> Examples:
    rng, words = np.random.default_rng(5), ("he", "She", "Anna", "the king", "Tom", "it", "they")
    xs, ys = [], []
    for number in range(8):
        drawn = [words[k].split() for k in rng.integers(len(words), size=6)]
        said = ParsedSentence(tuple(word for each in drawn for word in (*each, "saw")))
        mentions, at = [], 0
        for each in drawn:
            mentions.append(Mention(0, at, at + len(each), "person"))
            at += len(each) + 1
        xs.append(Document(str(number), "news", (said,), tuple(mentions)))
        home = [" ".join(each) for each in drawn]
        ys.append([{i for i, own in enumerate(home) if own == one} for one in dict.fromkeys(home)])
    return Examples(Coreference(max_antecedents=4, entities=entities), xs, ys)


def classes(examples: int = 30) -> Examples:
    rng, labels = np.random.default_rng(6), ("ham", "spam", "eggs")
    xs = rng.normal(size=(examples, 4))
    best = (xs @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(examples, 3))).argmax(axis=1)
    return Examples(Multiclass(labels), list(xs), [labels[k] for k in best])


EXAMPLES: dict[str, Callable[[], Examples]] = {
    "english": english,
    "tagging": sequences,
    "tagging_order2": partial(sequences, 2),
    "tagging_wide": partial(sequences, wide=3),
    "bio": spans,
    "bio_order2": partial(spans, 2),
    "multilabel": label_sets,
    "graphs": graphs,
    "graphs_potts": partial(graphs, potts=True, scores_per_label=True),
    "graphs_histogram": partial(graphs, histogram=3),
    "coreference": documents,
    "coreference_entities": partial(documents, entities=True),
    "multiclass": classes,
}


@cache
def examples_of(name: str) -> Examples:
    return EXAMPLES[name]()


@cache
def prepared_of(name: str) -> Dataset:
    task, xs, ys, hashed = examples_of(name)
    return prepare(task, xs, ys, hashed=hashed)


def model_of(name: str, engine: Any = None, weights: Array | None = None) -> Model[Any, Any]:
    layout = prepared_of(name).layout
    weights = layout.zeros() if weights is None else weights
    return Model(examples_of(name).task, layout, weights, engine or Exact())


@cache
def weights_of(name: str) -> Array:
    """Some weights that are not zero: a perceptron of single decisions, and noise."""
    *_, last = IndependentPerceptron(iterations=3).iterate(model_of(name), prepared_of(name))
    return last.weights + 0.8 * np.random.default_rng(7).normal(size=last.weights.shape)


# -- what was found, as arrays ------------------------------------------------------------


def flat(arrays: Iterable[Any]) -> Array:
    found = [np.asarray(array).ravel() for array in arrays]
    return np.concatenate(found) if found else np.zeros(0)


def told(solutions: Sequence[Solutions]) -> Arrays:
    """Batches of answers one after the other."""
    return {
        "labels": flat(each.labels for each in solutions),
        "value": flat(each.value for each in solutions),
        "bound": flat(each.bound for each in solutions),
        "status": flat(each.status for each in solutions),
    }


def answers(model: Model[Any, Any], prepared: Dataset) -> Arrays:
    return told([solutions for _, solutions in model.answers(prepared)])


def encoded(task: Any, xs: Sequence[Any], ys: Sequence[Any]) -> Array:
    """Outputs as labels."""
    return flat(task.encode(x, y) for x, y in zip(xs, ys, strict=True))


def counts_of(engine: Amortized) -> Array:
    """What an amortized engine did, times aside; hits in the order of their certificates' names."""
    now = engine.counters
    numbers = (now.queries, now.solver_calls, now.bypassed, now.distinct_outputs, now.second_bests)
    return np.array([*numbers, *(now.hits[name] for name in sorted(now.hits))])


def counted(engine: Engine, *names: str) -> Array:
    return np.array([engine.stats[name] for name in names])


SERVED = ("inputs", "broken", "taught", "mistakes", "steps", "skipped")
MEASURES = ("candidates", "added", "passes", "inferences", "mistakes", "reused")


def learned(
    name: str,
    learner: Any,
    engine: Callable[[], Any] | None = None,
    sample_weight: Sequence[float] | None = None,
    rules: bool = True,
) -> Arrays:
    """The last weights, what each iteration counted, and what the model then predicts."""
    made = None if engine is None else engine()
    task, xs, ys, hashed = examples_of(name)
    prepared = prepared_of(name)
    if sample_weight is not None:
        weighed = np.resize(sample_weight, len(prepared))
        prepared = prepare(task, xs, ys, hashed=hashed, sample_weight=weighed)
    model, measures, weights = model_of(name, made), [], []
    if not rules:
        model, prepared = model.without_rules(), prepare(WithoutRules(task), xs, ys, hashed=hashed)
    for state in learner.iterate(model, prepared):
        measures.append([state.measures.get(one, -1) for one in MEASURES])
        weights.append(state.weights)
    found = {"first": weights[0], "weights": weights[-1], "measures": np.array(measures)}
    if isinstance(made, Amortized):
        found["counts"] = counts_of(made)
    if isinstance(made, Decomposed):
        found["looked"] = counted(made, "inputs", "whole", "sets", "calls")
    judge = model_of(name, made if prepared.groups[0].frame.global_features else None, weights[-1])
    found["predicted"] = encoded(task, xs, judge.predict(xs))
    return found


# -- spaces -------------------------------------------------------------------------------


def pick(rng: np.random.Generator, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def some(rng: np.random.Generator, options: Sequence[Any], most: int) -> list[Any]:
    """One or more different options, in any order."""
    size = int(rng.integers(1, min(most, len(options)) + 1))
    return [options[k] for k in rng.permutation(len(options))[:size]]


def random_rule(rng: np.random.Generator, variables: Sequence[Any], depth: int) -> Any:
    simple = ("is", "is", "set", "one of", "different")
    nested = ("not", "and", "or", "implies", "linear", "most", "least", "exactly")
    kind = pick(rng, (*simple, *nested) if depth else simple)
    variable = pick(rng, variables)
    if kind == "is":
        return variable[pick(rng, variable.labels)]
    if kind == "set":
        return any_of(variable[pick(rng, variable.labels)] for _ in range(2))
    if kind == "one of":
        over = some(rng, variables, 3)
        tuples = [[pick(rng, v.labels) for v in over] for _ in range(int(rng.integers(1, 7)))]
        return one_of(over, tuples)
    if kind == "different":
        over = some(rng, variables, 3)
        return all_different(over) if len(over) > 1 else ~variable[variable.labels[-1]]
    inner = [random_rule(rng, variables, depth - 1) for _ in range(int(rng.integers(1, 4)))]
    limit = int(rng.integers(3))
    match kind:
        case "not":
            return ~inner[0]
        case "and":
            return inner[0] & inner[-1]
        case "or":
            return inner[0] | inner[-1]
        case "implies":
            return inner[0] >> inner[-1]
        case "most":
            return at_most(limit, inner)
        case "least":
            return at_least(limit, inner)
        case "exactly":
            return exactly(limit, inner)
        case _:
            total = sum((int(rng.integers(-2, 4)) * rule for rule in inner), start=count())
            return pick(rng, (total <= limit, total >= limit, total == limit))


def random_space(rng: np.random.Generator, family: str, order: int = 2) -> Space:
    """A small space: anything, a chain, a forest, or variables by themselves."""
    builder = SpaceBuilder()
    sizes = rng.integers(1, 5 if family == "any" else 4, size=int(rng.integers(1, 7)))
    variables = [builder.variable(f"x{j}", "abcd"[:size]) for j, size in enumerate(sizes)]
    scopes: list[list[Any]] = []
    if family == "any":
        scopes = [some(rng, variables, 4) for _ in range(int(rng.integers(5)))]
        for k in range(int(rng.integers(4))):
            builder.require(random_rule(rng, variables, 3), f"rule {k}")
    elif family == "alone":
        for variable in variables:
            if rng.random() < 0.3:
                builder.require(random_rule(rng, [variable], 2), f"about {variable.name}")
    elif family == "chain":
        for end in range(1, len(variables)):
            window = variables[max(0, end - order) : end + 1]
            scopes += [some(rng, window, order + 1) for _ in range(int(rng.integers(3)))]
            if rng.random() < 0.3:
                builder.require(random_rule(rng, window, 2), f"up to {end}")
    else:
        mixed = [variables[k] for k in rng.permutation(len(variables))]
        for k in range(1, len(mixed)):
            pair = [mixed[k], mixed[int(rng.integers(k))]]
            scopes += [pair] if rng.random() < 0.8 else []
            if rng.random() < 0.3:
                builder.require(random_rule(rng, pair, 2), f"edge {k}")
    for scope in {tuple(v.index for v in scope): scope for scope in scopes}.values():
        if len(scope) > 1:
            builder.factor(*scope)
    return builder.build()


def random_problem(rng: np.random.Generator, space: Space, kind: str, inputs: int) -> Problem:
    """Real scores, whole ones with many ties, nearly equal, large or zero; some labels closed."""
    scores = rng.normal(size=(inputs, space.parts))
    if kind == "whole":
        scores = rng.integers(-1, 2, size=scores.shape).astype(np.float64)
    elif kind == "near":  # three steps are less than a tie, four are more
        scores = 3e-11 * rng.integers(0, 3, size=scores.shape)
    elif kind == "large":
        scores *= 1e6
    elif kind == "zero":
        scores *= 0.0
    if rng.random() < 0.5:
        return Problem(space, scores)
    opened = rng.random((inputs, space.labels)) < pick(rng, (0.7, 0.95))
    return Problem(space, scores, closed=~opened)


Query = list[tuple[Space, Problem]]
FAMILIES = {"any": 40, "chain": 28, "tree": 24, "alone": 8}


@cache
def drawn() -> tuple[Query, Query]:
    """Small spaces that have outputs, so many of each family; and those that came up without."""
    rng, possible, impossible = np.random.default_rng(8), [], []
    kinds = ("real", "whole", "real", "near", "large", "whole", "real", "zero")
    for family, number in FAMILIES.items():
        k = 0
        while k < number:
            space = random_space(rng, family, order=1 + k % 3)
            asked = space, random_problem(rng, space, kinds[k % len(kinds)], 3)
            outputs = np.array(list(product(*(range(len(v.labels)) for v in space.variables))))
            feasible = bool(space.holds(outputs).any())
            k += feasible
            (possible if feasible else impossible).append(asked)
    return possible, impossible


def small() -> Query:
    return drawn()[0]


def joined_space(variables: int, labels: int, scopes: Iterable[Sequence[int]]) -> Space:
    builder = SpaceBuilder()
    own = [builder.variable(f"x{j}", "abcdefgh"[:labels]) for j in range(variables)]
    for scope in scopes:
        builder.factor(*(own[j] for j in scope))
    return builder.build()


def counted_space() -> Space:
    """Rules that are too long for a table, over variables with factors around a cycle."""
    builder = SpaceBuilder()
    own = [builder.variable(f"x{j}", "abc") for j in range(14)]
    for j in range(14):
        builder.factor(own[j], own[(j + 3) % 14])
    builder.require(at_most(4, [v["a"] for v in own]), "few a")
    builder.require(count([v["b"] for v in own]) + 2 * own[0]["c"] >= 5, "enough b")
    builder.require(exactly(3, [v["c"] for v in own[3:]]), "three c")
    return builder.build()


@cache
def middle() -> Query:
    rng = np.random.default_rng(9)
    parents = [int(rng.integers(j)) for j in range(1, 30)]
    chosen = [
        entity_relation_space(4),
        entity_relation_space(6),
        joined_space(25, 3, grid(5, 5).tolist()),
        joined_space(40, 5, [(j, j + 1) for j in range(39)]),
        joined_space(20, 4, [(j, j + 1, j + 2) for j in range(18)]),
        joined_space(10, 3, [(j, j + 1, j + 2, j + 3) for j in range(7)]),
        joined_space(30, 4, [(v, u) for u, v in enumerate(parents, start=1)]),
        joined_space(10, 2, [(i, j) for i in range(10) for j in range(i)]),
        counted_space(),
    ]
    kinds = ("real", "whole")
    return [(space, random_problem(rng, space, kind, 4)) for space in chosen for kind in kinds]


def solved(asked: Callable[[], Query], make: Callable[[], Any]) -> Arrays:
    """The answers of one engine to all that it takes, and which those are."""
    engine, taken, found = make(), [], []
    for space, problem in asked():
        try:
            found.append(engine.solve(space, problem))
            taken.append(True)
        except UnsupportedSpace:
            taken.append(False)
    return {"taken": np.array(taken), **told(found)}


def backwards(space: Space) -> list[int]:
    return list(range(len(space.variables)))[::-1]


def fewer_first(space: Space, labels: Array, scores: Array) -> Array:
    """A priority: scores, less something for every label above the first."""
    return scores - np.asarray((labels > 0).sum(axis=1) / len(space.variables))


class NoRules:
    """Exact search in the same space without its rules."""

    def solve(self, space: Space, problem: Problem) -> Solutions:
        free = space.without_rules()
        return Exact().solve(free, problem.with_space(free))


ENGINES: dict[str, Callable[[], Any]] = {
    "exact": Exact,
    "alone": Independent,
    "chain_order1": lambda: Chain(order=1),
    "chain_order2": lambda: Chain(order=2),
    "chain": Chain,
    "tree": Tree,
    "elimination": Elimination,
    "branch": BranchAndBound,
    "branch_without_elimination": lambda: BranchAndBound(eliminate=False),
    "branch_few_nodes": lambda: BranchAndBound(node_limit=4),
    "milp_highs": Milp,
    "milp_highs_gap": lambda: Milp(gap=0.2),
    "without_rules": NoRules,
    "beam": lambda: Beam(3),
    "beam_proof": lambda: Beam(4, proof=True),
    "beam_order": lambda: Beam(3, order=backwards),
    "beam_priority": lambda: Beam(3, priority=fewer_first),
    "beam_obeying": lambda: ConstrainedBeam(2),
    "beam_obeying_order": lambda: ConstrainedBeam(3, order=backwards, proof=True),
    "greedy": lambda: RGS(restarts=6, seed=3),
    "greedy_once": lambda: RGS(restarts=1),
    "exact_every": lambda: Periodic(RGS(restarts=2), every=3),
    "amortized": lambda: Amortized(Exact(), admission="always"),
    "amortized_margin": lambda: Amortized(certificate="margin", admission="always"),
}


def impossible() -> Arrays:
    """How each engine answers spaces without outputs: refused, found out, or with labels -1."""
    codes = []
    for make in ENGINES.values():
        for space, problem in drawn()[1]:
            try:
                codes.append(int(make().solve(space, problem).status.max()))
            except UnsupportedSpace:
                codes.append(-1)
            except InfeasibleSpace:
                codes.append(-2)
    return {"codes": np.array(codes)}


@dataclass(frozen=True)
class Parity:
    """A term of one's own, which kernels do not know: outputs whose labels add up to odd."""

    inputs: int

    def __len__(self) -> int:
        return self.inputs

    def rows(self, index: Array) -> Parity:
        return Parity(len(index))

    def value(self, labels: Array) -> Array:
        return np.asarray(0.75 * (labels.sum(axis=2) % 2))


def own_term() -> Arrays:
    """Search under a term of one's own, step by step in Python."""
    found = []
    for space, problem in small():
        asked = replace(problem, loss_term=Parity(len(problem)))
        found += [engine.solve(space, asked) for engine in (Exhaustive(), RGS(restarts=3))]
    return told(found)


def was_feasible() -> Arrays:
    """Which outputs obey the rules, and what they are worth."""
    rng, holds, known_value = np.random.default_rng(13), [], []
    for space, problem in [*small(), *middle()]:
        outputs = rng.integers(space.sizes, size=(len(problem), len(space.variables)))
        holds.append(space.holds(outputs))
        known_value.append(space.known_value(problem.scores, outputs))
    return {"holds": flat(holds), "worth": flat(known_value)}


def sources() -> Arrays:
    """Who found the answers of the engine that chooses."""
    found = [Exact().solve(space, problem) for space, problem in [*small(), *middle()]]
    return {"source": flat(each.source for each in found)}


def clamped() -> Arrays:
    """Every second variable given, where it may have its last label at all."""
    found = []
    for space, problem in [*small(), *middle()]:
        given = {v.name: v.labels[-1] for v in space.variables[::2]}
        plain = clamp(space, problem.scores, given)
        one_of_them = clamp(space, problem, dict([*given.items()][:1]))
        found += [Exact().solve(space, plain), BranchAndBound().solve(space, one_of_them)]
    return told(found)


def best_few(asked: Callable[[], Query], make: Callable[[], Any]) -> Arrays:
    engine = make()
    found = [k_best(space, problem, 5, engine) for space, problem in asked()]
    return told([each for ranks in found for each in ranks])


def marginals(asked: Callable[[], Query]) -> Arrays:
    return {"values": flat(max_marginals(space, problem) for space, problem in asked())}


def duals(asked: Callable[[], Query]) -> Arrays:
    """Duals by ascent and by the integer program, what they prove, also of other scores."""
    found: dict[str, list[Array]] = {}
    for space, problem in asked():
        plain = zero_duals(space, len(problem))
        few = BranchAndBound().duals(space, problem, sweeps=3)
        other = replace(problem, scores=problem.scores + 0.1 * np.sin(problem.scores))
        sorts = {
            "zero": plain,
            "few": few,
            "more": BranchAndBound().duals(space, other, start=few, sweeps=20),
            "milp_highs": Milp().duals(space, problem),
        }
        for name, own in sorts.items():
            for key, array in {
                "messages": own.messages,
                "multipliers": own.multipliers,
                "bound": dual_bound(space, problem, own),
                "bound_of_others": dual_bound(space, other, own),
            }.items():
                found.setdefault(f"{name}/{key}", []).append(array)
        started = BranchAndBound(eliminate=False).solve(
            space, problem, Context(warm=WarmStart(duals=few))
        )
        found.setdefault("started", []).append(started.labels)
    return {name: flat(arrays) for name, arrays in found.items()}


def stream(certificate: str, epsilon: float, exact_period: int | None = None) -> Arrays:
    """An amortized engine that is asked much the same again and again."""
    rng, found, largest = np.random.default_rng(12), [], []
    engine = Amortized(
        BranchAndBound(),
        certificate=certificate,
        epsilon=epsilon,
        exact_period=exact_period,
        admission="always",
    )
    for space, problem in [*middle()[:4], *middle()[-4:], *small()[:30:3]]:
        plain = problem.scores
        for scale in (0.0, 0.0, 0.02, 0.1, 0.3):
            scores = plain * (1.0 + scale * rng.random()) + scale * rng.normal(size=plain.shape)
            if scale == 0.1:  # what was found is worth more now, and the rest less
                scores = plain - scale * rng.random(plain.shape)
                at = space.offsets[:-1] + np.maximum(found[-1].labels, 0)
                np.put_along_axis(scores, at, np.take_along_axis(plain, at, 1) + scale, 1)
            found.append(engine.solve(space, scores))
            largest.append(engine.counters.largest_m)
    return {**told(found), "counts": counts_of(engine), "largest": np.array(largest)}


def speedup_on_spaces() -> Arrays:
    """Beam search that learns, over spaces and scores without any task."""
    rng, arrays = np.random.default_rng(10), {}
    for name, options in {
        "plain": {},
        "proof": {"proof": True, "average": False, "step": 0.2},
        "theta": {"theta": 0.05, "order": backwards},
        "by_name": {"features": HeuristicFeatures(triples=False, by_name=True), "share": 0.3},
    }.items():
        engine, mistakes, found = LearnedBeam(Exact(), width=2, **options), [], []
        for space in [entity_relation_space(3), joined_space(6, 3, grid(2, 3).tolist())]:
            scores = rng.normal(size=(40, space.parts))
            mistakes += [engine.learn(space, scores[:30]) for _ in range(2)]
            found.append(engine.solve(space, scores))
        arrays |= {f"{name}/{key}": array for key, array in told(found).items()}
        arrays[f"{name}/mistakes"] = np.array(mistakes)
        arrays[f"{name}/served"] = counted(engine, *SERVED)
        arrays[f"{name}/weights"] = engine.weights
    return arrays


# -- models that search -------------------------------------------------------------------


def asked_of_model(name: str, make: Callable[[], Any]) -> Arrays:
    return answers(model_of(name, make(), weights_of(name)), prepared_of(name))


def greedy(name: str, alpha: float) -> Arrays:
    guesser = UnaryClassifier(np.asarray(weights_of(name)) * 0.5)
    model = model_of(name, RGS(alpha, 6, guesser, seed=5), weights_of(name))
    found, needed = [], []
    prepared = prepared_of(name)
    for group in prepared.groups:
        context = prepared.context(group).without_gold()
        solutions, climbs = model.engine.searched(prepared.problem(model.weights, group), context)
        found.append(solutions)
        needed.append(climbs)
    return {**told(found), "needed": flat(needed)}


def greedy_learned(name: str, **options: Any) -> Arrays:
    """Greedy search that learns where to start: answers, once and again, and what it learned."""
    engine = LearnedRestarts(RGS(restarts=6), **options)
    model, arrays = model_of(name, engine, weights_of(name)), {}
    for turn in ("first", "again"):
        found = answers(model, prepared_of(name))
        arrays |= {f"{turn}/{key}": array for key, array in found.items()}
        assert engine.weights is not None
        arrays[f"{turn}/learned"] = engine.weights
    arrays["spent"] = counted(engine, "inputs", "climbs", "learned")
    return arrays


def speedup(name: str, theta: float, **options: Any) -> Arrays:
    """Taught by a model's inputs; answers of all scores, and lazily predicted ones."""
    engine = LearnedBeam(Exact(), width=2, **options)
    model, xs = model_of(name, engine, weights_of(name)), examples_of(name).xs
    mistakes = distill(model, prepared_of(name), epochs=2, seed=1)
    arrays = answers(model, prepared_of(name))
    lazy = engine.with_theta(theta)
    predicted = encoded(examples_of(name).task, xs, model.with_engine(lazy).predict(xs))
    return {
        **arrays,
        "mistakes": np.array(mistakes),
        "weights": engine.weights,
        "lazily_predicted": predicted,
        "served": np.array([counted(each, *SERVED) for each in (engine, lazy)]),
    }


# -- features, files, cross-validation ----------------------------------------------------


def digested(texts: Iterable[str]) -> Array:
    whole = "\n".join(texts).encode()
    return np.frombuffer(hashlib.sha256(whole).digest(), dtype=np.uint8)


def features(make: Callable[[], Examples], *, named: bool) -> Arrays:
    """Vectors as kernels read them, those of a model that knows few names, and scores of both."""
    task, xs, ys, hashed = make()
    prepared = prepare(task, xs, ys, hashed=hashed)
    half = prepare(task, xs[: len(xs) // 2], ys[: len(xs) // 2], hashed=hashed)
    known = prepare(task, xs, ys, layout=half.layout)
    arrays: Arrays = {"gold": flat(group.gold for group in prepared.groups)}
    for name, each in {"own": prepared, "known": known}.items():
        vectors = each.vectors
        arrays |= {f"{name}/ptr": vectors.ptr, f"{name}/column": vectors.column}
        arrays[f"{name}/value"] = vectors.value
        arrays[f"{name}/members"] = flat(group.members for group in each.groups)
        weights = np.random.default_rng(11).normal(size=each.layout.size)
        arrays[f"{name}/scores"] = flat(each.scores(weights, group) for group in each.groups)
    if named:
        rows = [row for x in xs for row in task.vectors(x)]
        arrays[f"names{DIGEST}"] = digested(" ".join(row) for row in rows)
    return arrays


def resumed(name: str, make: Callable[[int], Any], engine: Callable[[], Any] = Exact) -> Arrays:
    """Weights of a training that went on from its checkpoint, and of one that never stopped."""
    task, xs, ys, hashed = examples_of(name)
    trained = partial(train, task, xs, ys, hashed=hashed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        half = trained(learner=make(3), engine=engine(), checkpoint=path)
        on = trained(learner=make(6), engine=engine(), checkpoint=path, resume=True)
    whole = trained(learner=make(6), engine=engine())
    return {"half": half.weights, "resumed": on.weights, "whole": whole.weights}


def saved(name: str) -> Arrays:
    """A model that was written and read again."""
    task, xs, _, _ = examples_of(name)
    with TemporaryDirectory() as folder:
        model_of(name, weights=weights_of(name)).save(Path(folder) / "model")
        back = Model.load(Path(folder) / "model")
    return {"weights": back.weights, "predicted": encoded(task, xs, back.predict(xs))}


def stored() -> Arrays:
    """What a second engine makes of a store that a first one has filled."""
    store, arrays, name = MemoryStore(), {}, "english"
    for turn in ("first", "second"):
        engine = Amortized(Milp(), store, "margin", admission="always")
        model = model_of(name, engine, weights_of(name) * (1.0 if turn == "first" else 1.01))
        found = answers(model, prepared_of(name))
        arrays |= {f"{turn}/{key}": array for key, array in found.items()}
        arrays[f"{turn}/counts"] = counts_of(engine)
    return arrays


def validated(policy: Any) -> Arrays:
    task, xs, ys, _ = examples_of("multilabel")
    places = np.arange(len(xs))
    folds = [(places[places % 3 != k], places[places % 3 == k]) for k in range(3)]
    learners = {C: StructuredSVM(C=C, iterations=6) for C in (0.1, 1.0)}

    def right(gold: Sequence[Any], found: Sequence[Any]) -> float:
        return sum(a == b for a, b in zip(gold, found, strict=True)) / len(gold)

    engine = Amortized(Exact(), certificate="margin", admission="always")
    runs = cross_validate(task, xs, ys, learners, folds, right, engine=engine, cache=policy).runs
    counts = [[run.counters.queries, run.counters.solver_calls, run.iterations] for run in runs]
    return {"score": np.array([run.score for run in runs]), "counts": np.array(counts)}


# -- the table ----------------------------------------------------------------------------

SVM = partial(StructuredSVM, C=0.5, iterations=6)
EVERY_TASK = tuple(name for name in EXAMPLES if name not in ("tagging_wide", "graphs_histogram"))
TAUGHT = tuple(name for name in EVERY_TASK if name != "coreference_entities")
MAIN = ("english", "tagging", "bio", "multilabel", "graphs")
SEARCHED = ("tagging_wide", "graphs_histogram", "coreference_entities")


def thirds(space: Space, gold: Array) -> list[list[int]]:
    """Sets of a function of one's own: every third variable, and those with their first label."""
    every = [list(range(k, len(space.variables), 3)) for k in range(3)]
    return [*every, np.flatnonzero(gold == 0)[:3].tolist()]


def halves(space: Space, gold: Array) -> list[list[int]]:
    """Sets so large that the engine underneath is asked."""
    middle_one = (len(gold) + len(space.variables)) // 4
    return [list(range(middle_one)), list(range(middle_one, len(gold)))]


def by_gold() -> Decomposed:
    """Signs that were estimated from gold outputs."""
    groups = [(group.space, group.gold) for group in prepared_of("multilabel").groups]
    signs = estimate_signs([(space, gold) for space, gold in groups if gold is not None])
    return Decomposed(Exact(), SignedComponents(signs))


LEARNERS: dict[str, tuple[Any, Sequence[str]]] = {
    "svm_l2": (SVM(), TAUGHT),
    "svm_l1": (SVM(squared=False), TAUGHT),
    "svm_l2_online": (SVM(batch=1), MAIN),
    "svm_l1_batch": (SVM(squared=False, batch=4, seed=2), MAIN),
    "svm_l2_no_warm_up": (SVM(online_epochs=0, patience=1, passes=1, delta=0.01), MAIN),
    "svm_reuse": (SVM(reuse=True), ("english", "bio", "multilabel")),
    "svm_threads": (SVM(n_jobs=2), ("english", "tagging")),
    "svm_weighted_loss": (SVM(loss=Hamming({"B-NP": 2.5, "O": 0.5})), ("bio",)),
    "svm_zero_one": (SVM(loss=ZeroOne()), MAIN),
    "perceptron": (Perceptron(iterations=4), TAUGHT),
    "perceptron_last": (Perceptron(iterations=4, average=False, seed=3), MAIN),
    "perceptron_early": (Perceptron(iterations=4, update="early"), MAIN),
    "perceptron_largest": (Perceptron(iterations=4, update="largest"), MAIN),
    "subgradient": (Subgradient(iterations=4), TAUGHT),
    "subgradient_last": (
        Subgradient(C=2.0, iterations=4, batch=1, average=False, loss=ZeroOne()),
        MAIN,
    ),
    "local": (IndependentPerceptron(iterations=4), TAUGHT),
    "local_last": (IndependentPerceptron(iterations=4, average=False, seed=4), MAIN),
}


class Case(NamedTuple):
    """One learner with one engine on the examples of one name."""

    name: str
    learner: Any
    engine: Callable[[], Any]
    sample_weight: Sequence[float] | None = None
    rules: bool = True


amortized = partial(Amortized, admission="always")
CERTIFICATES = ("auto", "condition", "relative", "duals", "margin", "none")
DECOMPOSITIONS: dict[str, Callable[[], Any]] = {
    "singles": lambda: Decomposed(Exact(), HammingBall(1)),
    "pairs": lambda: Decomposed(Exact(), HammingBall(2)),
    "sampled_pairs": lambda: Decomposed(Exact(), HammingBall(2, sample=3)),
    "signed": lambda: Decomposed(Exact(), SignedComponents()),
    "signed_different": lambda: Decomposed(
        Exact(), SignedComponents(Sign.DIFFERENT, fallback=False)
    ),
    "own_sets": lambda: Decomposed(Exact(), thirds),
    "halves": lambda: Decomposed(Exact(), halves),
    "amortized_signed": lambda: amortized(
        Decomposed(Exact(), SignedComponents(Sign.DIFFERENT, fallback=False))
    ),
    "union": lambda: Decomposed(Milp(), Union(HammingBall(1), thirds)),
}
CASES: dict[str, Case] = {
    **{
        f"amortized_{certificate}/{name}": Case(
            name, SVM(), partial(amortized, certificate=certificate)
        )
        for certificate in CERTIFICATES
        for name in ("english", "bio", "multilabel")
    },
    **{
        f"amortized_epsilon_{certificate}/{name}": Case(
            name, SVM(iterations=25), partial(amortized, certificate=certificate, epsilon=0.5)
        )
        for certificate in ("auto", "condition", "relative")
        for name in ("english", "multilabel")
    },
    **{
        f"amortized_exact_every_{certificate}/english": Case(
            "english",
            SVM(),
            partial(amortized, certificate=certificate, epsilon=0.5, exact_period=3),
        )
        for certificate in ("auto", "relative")
    },
    "amortized_milp/english": Case("english", SVM(), lambda: amortized(Milp())),
    "amortized_small_limit/english": Case("english", SVM(), partial(amortized, max_bytes=20_000)),
    "amortized_perceptron/english": Case("english", Perceptron(iterations=4), amortized),
    "amortized_subgradient/graphs": Case("graphs", Subgradient(iterations=4), amortized),
    "staged_adaptive/english": Case(
        "english", EpsilonSchedule(SVM(iterations=60), adaptive_schedule()), amortized
    ),
    "staged_adaptive/multilabel": Case(
        "multilabel",
        EpsilonSchedule(SVM(iterations=60), adaptive_schedule(1.0, 0.1, 0.0)),
        amortized,
    ),
    "staged_steps/bio": Case(
        "bio",
        EpsilonSchedule(SVM(), (EpsilonStage(0.5, 2), EpsilonStage(0.1, 2, 4), EpsilonStage(0.0))),
        amortized,
    ),
    "staged_geometric/english": Case(
        "english", EpsilonSchedule(SVM(), geometric(1.0, 0.5, 3)), amortized
    ),
    "staged_exact_at_times/english": Case(
        "english",
        EpsilonSchedule(SVM(), exact_at_times(0.5, 3, 2)),
        partial(amortized, certificate="relative"),
    ),
    "staged_perceptron/english": Case(
        "english", EpsilonSchedule(Perceptron(iterations=6), adaptive_schedule(0.5, 0.0)), amortized
    ),
    **{
        f"decomposed_{sort}/{name}": Case(name, SVM(), make)
        for sort, make in DECOMPOSITIONS.items()
        for name in ("english", "bio", "multilabel", "graphs")
    },
    "decomposed_estimated_signs/multilabel": Case("multilabel", SVM(), by_gold),
    "decomposed_f1/multilabel": Case("multilabel", SVM(loss=F1Loss()), DECOMPOSITIONS["own_sets"]),
    "decomposed_subgradient/bio": Case("bio", Subgradient(iterations=4), DECOMPOSITIONS["pairs"]),
    "svm_f1_exhaustive/multilabel": Case("multilabel", SVM(loss=F1Loss()), Exhaustive),
    "svm_jaccard_exhaustive/multilabel": Case("multilabel", SVM(loss=JaccardLoss()), Exhaustive),
    "svm_f1_greedy/multilabel": Case("multilabel", SVM(loss=F1Loss()), lambda: RGS(restarts=5)),
    "svm_jaccard_greedy/bio": Case("bio", SVM(loss=JaccardLoss()), lambda: RGS(restarts=5)),
    "svm_f1_greedy/english": Case("english", SVM(loss=F1Loss()), lambda: RGS(restarts=4)),
    "svm_zero_one_exhaustive/multilabel": Case("multilabel", SVM(loss=ZeroOne()), Exhaustive),
    "subgradient_f1_greedy/multilabel": Case(
        "multilabel",
        Subgradient(iterations=4, loss=F1Loss()),
        lambda: RGS(restarts=5),
    ),
    **{f"svm_greedy/{name}": Case(name, SVM(), lambda: RGS(restarts=5)) for name in SEARCHED},
    **{
        f"perceptron_greedy/{name}": Case(name, Perceptron(iterations=3), lambda: RGS(restarts=5))
        for name in SEARCHED
    },
    **{
        f"svm_exact_every/{name}": Case(name, SVM(), lambda: Periodic(RGS(restarts=2), every=3))
        for name in MAIN
    },
    "svm_greedy_learned/english": Case("english", SVM(), lambda: LearnedRestarts(RGS(restarts=4))),
    "svm_greedy_learned/multilabel": Case(
        "multilabel",
        SVM(loss=F1Loss()),
        lambda: LearnedRestarts(RGS(restarts=4), adagrad=True),
    ),
    "svm_milp/english": Case("english", SVM(), Milp),
    "svm_branch/graphs": Case("graphs", SVM(), BranchAndBound),
    "svm_chain/tagging_order2": Case("tagging_order2", SVM(), Chain),
    "svm_beam/english": Case("english", SVM(), lambda: ConstrainedBeam(2)),
    "perceptron_branch/tagging": Case("tagging", Perceptron(iterations=4), BranchAndBound),
    "perceptron_beam/english": Case(
        "english", Perceptron(iterations=4, update="largest"), lambda: ConstrainedBeam(2)
    ),
    "svm_without_rules/english": Case("english", SVM(), Exact, rules=False),
    **{
        f"{sort}_importance/{name}": Case(name, learner, Exact, (0.0, 1.0, 2.5, 0.5))
        for sort, learner in {
            "svm_l2": SVM(),
            "svm_l1": SVM(squared=False),
            "perceptron": Perceptron(iterations=4),
            "subgradient": Subgradient(iterations=4),
            "local": IndependentPerceptron(iterations=4),
        }.items()
        for name in ("english", "tagging")
    },
}

# What takes too long for the tests: groups whose names begin so are for the tool alone.
TOOL_ONLY = (
    "amortized_milp",
    "engine_milp_highs/middle",
    "engine_milp_highs_gap/middle",
    "k_best_milp",
    "own_term",
    "resumed_staged",
    "staged_adaptive",
    "svm_milp",
)
# What groups are about that take too long as plain Python: more than half a minute together.
NOT_SMALL = (
    "clamped",
    "coreference_entities",
    "cross_validated",
    "duals",
    "english",
    "impossible",
    "middle",
    "multilabel",
    "spaces",
    "stream",
)


def _table() -> dict[str, Batch]:
    found: dict[str, Callable[[], Arrays]] = {}
    for sort, (learner, names) in LEARNERS.items():
        found |= {f"{sort}/{name}": partial(learned, name, learner) for name in names}
    for name, case in CASES.items():
        found[name] = partial(learned, *case)
    for sort, make in {**ENGINES, "exhaustive": Exhaustive}.items():
        found[f"engine_{sort}/small"] = partial(solved, small, make)
        if sort != "exhaustive":
            found[f"engine_{sort}/middle"] = partial(solved, middle, make)
    for name, asked in {"small": small, "middle": middle}.items():
        found[f"k_best/{name}"] = partial(best_few, asked, Exact)
        found[f"max_marginals/{name}"] = partial(marginals, asked)
        found[f"duals/{name}"] = partial(duals, asked)
    found |= {
        "k_best_milp/small": partial(best_few, small, Milp),
        "own_term": own_term,
        "obeyed": was_feasible,
        "sources": sources,
        **{f"stream_{one}/exact": partial(stream, one, 0.0) for one in CERTIFICATES},
        **{f"stream_{one}/epsilon": partial(stream, one, 0.3) for one in CERTIFICATES[:5]},
        **{f"stream_{one}/exact_every": partial(stream, one, 0.3, 4) for one in CERTIFICATES[:3]},
        "impossible": impossible,
        "clamped": clamped,
        "speedup/spaces": speedup_on_spaces,
        "speedup/english": partial(speedup, "english", 0.02, step=0.5),
        "speedup/bio": partial(speedup, "bio", 0.2, step=1.0, average=False),
        "speedup/graphs": partial(
            speedup, "graphs", 0.01, step=0.5, features=HeuristicFeatures(by_name=True)
        ),
        "speedup_share/english": partial(speedup, "english", 0.1, share=0.4, proof=True),
    }
    for name in (*MAIN, *SEARCHED):
        found |= {
            f"greedy_{alpha}/{name}": partial(greedy, name, alpha) for alpha in (0.0, 0.5, 1.0)
        }
    for name in ("english", "multilabel", "coreference_entities"):
        found[f"greedy_learned/{name}"] = partial(greedy_learned, name)
    found |= {
        "greedy_learned_all_outputs/english": partial(
            greedy_learned, "english", outputs=None, predict_first_start=False, patience=3
        ),
        "greedy_learned_adagrad/bio": partial(greedy_learned, "bio", adagrad=True, step=0.5),
    }
    for name in EVERY_TASK:
        make = (lambda: RGS(restarts=4)) if name in SEARCHED else Exact
        found[f"predicted/{name}"] = partial(asked_of_model, name, make)
    for name in ("english", "bio", "multilabel"):
        found[f"predicted_milp/{name}"] = partial(asked_of_model, name, Milp)
        found[f"predicted_beam/{name}"] = partial(asked_of_model, name, lambda: ConstrainedBeam(2))
        found[f"model_files/{name}"] = partial(saved, name)
    for name in EVERY_TASK:
        texts = name in ("bio", "coreference")
        found[f"features/{name}"] = partial(features, EXAMPLES[name], named=texts)
    found |= {
        "features/english_whole": partial(features, partial(english, 24, None), named=True),
        "store": stored,
        **{f"cross_validated/{p}": partial(validated, p) for p in ("none", "reset", "forward")},
    }
    found |= {
        f"resumed_{sort}/{name}": partial(resumed, name, make)
        for sort, make in {
            "svm_l2": lambda n: SVM(iterations=n),
            "svm_l1_batch": lambda n: SVM(iterations=n, squared=False, batch=4),
            "perceptron": lambda n: Perceptron(iterations=n),
            "subgradient": lambda n: Subgradient(iterations=n),
            "local": lambda n: IndependentPerceptron(iterations=n),
        }.items()
        for name in ("english", "tagging")
    }
    found["resumed_staged/english"] = partial(
        resumed,
        "english",
        lambda n: EpsilonSchedule(SVM(iterations=n), (EpsilonStage(0.0),)),
        amortized,
    )
    return {
        name: Batch(
            arrays,
            name.startswith(TOOL_ONLY),
            not name.startswith(TOOL_ONLY) and not any(data in name for data in NOT_SMALL),
        )
        for name, arrays in found.items()
    }


GROUPS = _table()


# -- saving and checking ------------------------------------------------------------------


def kept(arrays: Arrays) -> Arrays:
    """As they are written: whole numbers in few bytes, large arrays as a digest and a sample."""
    found: Arrays = {}
    for name, array in arrays.items():
        array = np.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(np.float64) + 0.0  # no -0.0, which equals 0.0
        else:
            array = array.astype(np.int64)
        if array.size > LARGE[array.dtype.kind]:
            found[f"{name}{DIGEST}"] = np.frombuffer(
                hashlib.sha256(array.tobytes()).digest(), dtype=np.uint8
            )
            array = array.ravel()[:: -(-array.size // SAMPLE)]
        if array.dtype.kind == "i":
            widest = np.array([array.min(initial=0), array.max(initial=0)])
            array = array.astype(np.result_type(*(np.min_scalar_type(n) for n in widest)))
        found[name] = array
    return found


def worked_out(name: str) -> Arrays:
    """The arrays of a group as this version of the library has them."""
    arrays = {f"{name}/{key}": array for key, array in GROUPS[name].arrays().items()}
    return kept(arrays)


def compared(name: str, was: Mapping[str, Array], now: Mapping[str, Array]) -> str | None:
    """What is different in a group, as a sentence; None where all arrays are equal."""
    if was.keys() != now.keys():
        return f"DIFFERENT: arrays {sorted(was.keys() ^ now.keys())} are on one side alone"
    wrong = {key for key in was if not _equal(was[key], now[key])}
    if not wrong:
        return None
    numbers, total, largest = 0, 0, 0.0
    for key in was:
        before, after = was[key], now[key]
        if key.endswith(DIGEST):
            continue
        if before.shape != after.shape:
            return f"DIFFERENT: {key} had the shape {before.shape} and has {after.shape}"
        apart = ~((before == after) | (np.isnan(before) & np.isnan(after)))
        numbers, total = numbers + int(apart.sum()), total + apart.size
        with np.errstate(invalid="ignore"):
            change = np.abs(before[apart].astype(np.float64) - after[apart])
        largest = max(largest, float(change.max(initial=0.0)))
    where = ", ".join(sorted(key.removeprefix(f"{name}/") for key in wrong))
    return f"DIFFERENT: {numbers} of {total}, largest difference {largest:.3g}, in {where}"


def _equal(before: Array, after: Array) -> bool:
    floats = before.dtype.kind == "f"
    return floats == (after.dtype.kind == "f") and np.array_equal(before, after, equal_nan=floats)


@cache
def golden() -> dict[str, Arrays]:
    """What was saved, group by group."""
    found: dict[str, Arrays] = {}
    names = sorted(GROUPS, key=len, reverse=True)
    with np.load(ARRAYS, allow_pickle=False) as archive:
        for key in archive.files:
            group = next((name for name in names if key.startswith(f"{name}/")), key)
            found.setdefault(group, {})[key] = archive[key]
    return found


def versions() -> dict[str, str]:
    """What worked the arrays out, beside the library itself."""
    packages = {name: version(name) for name in ("numpy", "scipy", "highspy")}
    return {"python": platform.python_version(), **packages}


def save() -> None:
    """Write all arrays."""
    arrays: Arrays = {}
    for name in GROUPS:
        arrays |= worked_out(name)
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(ARRAYS, **arrays)
    VERSIONS.write_text(json.dumps(versions(), indent=2) + "\n", encoding="utf-8")
    print(f"{len(GROUPS)} groups, {len(arrays)} arrays, {ARRAYS.stat().st_size} bytes")


def check(beginnings: Sequence[str], *, timed: bool = False, small: bool = False) -> int:
    """1 where anything is different, 0 where all is equal; says so group by group."""
    chosen = [name for name in GROUPS if not beginnings or name.startswith(tuple(beginnings))]
    chosen = [name for name in chosen if GROUPS[name].small or not small]
    if not chosen:
        print(f"no group begins with {' or '.join(beginnings)}; groups: {', '.join(GROUPS)}")
        return 1
    was = json.loads(VERSIONS.read_text(encoding="utf-8"))
    if was != versions():
        print(f"saved with {was}, and checked with {versions()}")
    different = 0
    for name in chosen:
        start = perf_counter()
        found = compared(name, golden().get(name, {}), worked_out(name))
        different += found is not None
        took = f" ({perf_counter() - start:.2f} s)" if timed else ""
        print(f"{name}: {found or 'equal'}{took}")
    stale = golden().keys() - GROUPS.keys() if not beginnings else set()
    for name in sorted(stale):
        print(f"{name}: DIFFERENT: saved, and no group works it out")
    print(f"{different + len(stale)} of {len(chosen)} groups are different")
    return int(different + len(stale) > 0)


def main(arguments: Sequence[str]) -> int:
    match list(arguments):
        case ["save"]:
            save()
            return 0
        case ["check", *names]:
            flags = {"timed": "--times" in names, "small": "--small" in names}
            return check([name for name in names if not name.startswith("--")], **flags)
        case _:
            print("python -m tools.golden save | check [--times] [--small] [NAME ...]")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
