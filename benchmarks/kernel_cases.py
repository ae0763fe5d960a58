"""Work for the kernels of every subfolder, in one text for this version and for an old one.

`benchmarks.kernels` runs this file as a program of its own in two environments. It imports nothing
of rote before it is told which names to use: `OLD` has those of commit 78bb81a, where they
differ. Every case makes its data from seeds, and gives back a function without arguments, which is
what is timed; that function returns arrays, and both versions must return the same ones.

    python -P benchmarks/kernel_cases.py new|old   reads names of cases, a line each, and answers
                                                   each with processor seconds and a digest
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from time import process_time
from types import MappingProxyType
from typing import Any

import numpy as np

SEED = 2004
NEW = {
    "IndependentPerceptron": "rote:IndependentPerceptron",
    "EntityRelationOutput": "rote:EntityRelationOutput",
    "F1Loss": "rote:F1Loss",
    "HammingBall": "rote:HammingBall",
    "LearnedBeam": "rote:LearnedBeam",
    "LearnedRestarts": "rote:LearnedRestarts",
    "english_sentences": "rote.datasets:english_sentences",
    "entity_relation_space": "rote.tasks.entity_relation:entity_relation_space",
    "load_conll04": "papers.data.conll04:load_conll04",
    "zero_duals": "rote.inference:zero_duals",
}
OLD = NEW | {
    "IndependentPerceptron": "rote:Local",
    "EntityRelationOutput": "rote:Extraction",
    "F1Loss": "rote:OneMinusF1",
    "HammingBall": "rote:Subsets",
    "LearnedBeam": "rote:Speedup",
    "LearnedRestarts": "rote:AmortizedRGS",
    "english_sentences": "rote.data.english:english_sentences",
    "load_conll04": "rote.data.conll04:load_conll04",
}
ALWAYS: dict[str, dict[str, Any]] = {"new": {"admission": "always"}, "old": {"thrifty": False}}
FEASIBLE = {"new": "is_feasible", "old": "obeys"}
CORPUS = "conll04"  # a case with this in its name needs the corpus
VARIABLE = "ROTE_DATA"
LEAST_SECONDS = 0.05  # of a turn: what is over sooner is run again

Run = Callable[[], list[Any]]


class Names:
    """Names of rote, found when they are first asked for."""

    def __init__(self, version: str) -> None:
        self.always, self.feasible = ALWAYS[version], FEASIBLE[version]
        self._places = {"new": NEW, "old": OLD}[version]

    def __getattr__(self, name: str) -> Any:
        module, _, own = self._places.get(name, f"rote:{name}").partition(":")
        return getattr(import_module(module), own)


# -- problems -----------------------------------------------------------------------------


def drawn(space: Any, count: int) -> Any:
    return np.random.default_rng(SEED).normal(size=(count, space.parts))


def joined(r: Names, sizes: Sequence[int], pairs: Iterable[tuple[int, int]]) -> Any:
    """Variables of so many labels, and factors over pairs of them."""
    builder = r.SpaceBuilder()
    made = [
        builder.variable(f"x{i}", [str(a) for a in range(size)]) for i, size in enumerate(sizes)
    ]
    for i, j in pairs:
        builder.factor(made[i], made[j])
    return builder.build()


def chain(r: Names, length: int, labels: int) -> Any:
    return r.Tagging(tuple(f"label {k}" for k in range(labels)), list).frame(range(length)).space


def tree(r: Names, nodes: int, labels: int) -> Any:
    rng = np.random.default_rng(SEED)
    return joined(r, [labels] * nodes, [(int(rng.integers(i)), i) for i in range(1, nodes)])


def grid(r: Names, side: int, labels: int) -> Any:
    cells = np.arange(side * side).reshape(side, side)
    across = zip(cells[:, :-1].ravel().tolist(), cells[:, 1:].ravel().tolist(), strict=True)
    down = zip(cells[:-1].ravel().tolist(), cells[1:].ravel().tolist(), strict=True)
    return joined(r, [labels] * side * side, [*across, *down])


def dense(r: Names, variables: int) -> Any:
    pairs = [(i, j) for j in range(variables) for i in range(j)]
    return joined(r, [2] * variables, pairs)


def attractive(space: Any, labels: int, count: int) -> Any:
    """Gaussian label scores; equal neighbours gain what is drawn from [0, 1]."""
    rng = np.random.default_rng(SEED)
    gains = rng.uniform(size=(count, len(space.factors), 1)) * np.eye(labels).ravel()
    return np.hstack([rng.normal(size=(count, space.labels)), gains.reshape(count, -1)])


# -- examples -----------------------------------------------------------------------------

Examples = tuple[Any, list[Any], list[Any]]


def sentences(r: Names, count: int = 300) -> Examples:
    xs = list(r.english_sentences(count, 0))
    return r.EntityRelation(), xs, [r.EntityRelationOutput.of(x) for x in xs]


def corpus(r: Names) -> Examples:
    task = r.EntityRelation()
    xs = list(filter(getattr(task, r.feasible), r.load_conll04().split("train")))
    return task, xs, [r.EntityRelationOutput.of(x) for x in xs]


def words(r: Names, count: int = 400) -> Examples:
    """Part-of-speech tags."""
    said = r.english_sentences(count, 0)
    templates = ("word[0]", "word[-1]", "word[1]", "prefix2(word[0])", "suffix2(word[0])")
    labels = tuple(sorted({tag for x in said for tag in x.pos}))
    task = r.Tagging(labels, r.Templates(("word",), templates))
    return task, [[[word] for word in x.words] for x in said], [list(x.pos) for x in said]


def label_sets(r: Names, labels: int, count: int = 300) -> Examples:
    """Labels that are random linear functions of random points, every second linked to one."""
    rng = np.random.default_rng(SEED)
    points = rng.normal(size=(count, 20))
    value = points @ rng.normal(size=(20, labels)) + rng.normal(size=(count, labels))
    value[:, 1::2] += value[:, ::2][:, : labels // 2]
    task = r.MultiLabel(tuple(f"label {k}" for k in range(labels)))
    return task, list(points), list((value > 2.0).astype(np.int64))


# -- what is timed ------------------------------------------------------------------------


def told(solutions: Any) -> list[Any]:
    return [solutions.labels, solutions.value, solutions.bound, solutions.status]


def solving(engine: Any, space: Any, scores: Any) -> Run:
    return lambda: told(engine.solve(space, scores))


def solving_once(r: Names, count: int) -> Run:
    """Spaces of rules without factors, each made anew and asked about once."""
    drawing = [np.random.default_rng(SEED + k) for k in range(count)]
    drawn_rules = [rng.permuted(np.tile(np.arange(20), (30, 1)), axis=1)[:, :3] for rng in drawing]
    scores = [rng.normal(size=40) for rng in drawing]

    def space(rules: Any) -> Any:
        builder = r.SpaceBuilder()
        own = [builder.variable(f"x{i}", "01") for i in range(20)]
        for i, j, k in rules.tolist():
            builder.require((own[i]["0"] & own[j]["1"]) >> own[k]["0"])
        return builder.build()

    return lambda: [
        array
        for rules, own in zip(drawn_rules, scores, strict=True)
        for array in told(r.Exact().solve(space(rules), own))
    ]


def solving_batches(engine: Any, asked: Sequence[tuple[Any, Any]]) -> Run:
    return lambda: [array for one in asked for array in told(engine.solve(*one))]


def learning(r: Names, examples: Examples, learner: Any, engine: Callable[[], Any]) -> Run:
    """The weights after some iterations; features are read before."""
    task, xs, ys = examples
    prepared = r.prepare(task, xs, ys)

    def run() -> list[Any]:
        model = r.Model(task, prepared.layout, prepared.layout.zeros(), engine())
        return [r.fit(learner, model, prepared).weights]

    return run


def scored(r: Names, examples: Examples) -> list[tuple[Any, Any]]:
    """Spaces and scores of inputs, by a model that decides each label alone."""
    task, xs, ys = examples
    prepared = r.prepare(task, xs, ys)
    model = r.Model(task, prepared.layout, prepared.layout.zeros(), r.Exact())
    weights = r.fit(r.IndependentPerceptron(iterations=2), model, prepared).weights
    return [(group.space, prepared.scores(weights, group)) for group in prepared.groups]


def one_by_one(batches: Sequence[tuple[Any, Any]], most: int) -> list[tuple[Any, Any]]:
    return [(space, row[None]) for space, scores in batches for row in scores][:most]


def dual_bounds(r: Names) -> Run:
    """Dual ascent from nothing, and what its duals prove of these and of other scores."""
    space = grid(r, 12, 3)
    scores = drawn(space, 20)

    def run() -> list[Any]:
        duals = r.BranchAndBound().duals(space, scores, sweeps=20)
        return [r.dual_bound(space, each, duals) for each in (scores, scores + 0.1 * scores**2)]

    return run


def amortized(r: Names) -> Run:
    """Certificates of earlier answers, for scores that are nearly the same."""
    space = r.entity_relation_space(4)
    plain, rng = drawn(space, 30), np.random.default_rng(1)
    asked = [plain + 0.02 * k * rng.normal(size=plain.shape) for k in range(12)]

    def run() -> list[Any]:
        engine = r.Amortized(r.Exact(), **r.always)
        return [array for scores in asked for array in told(engine.solve(space, scores))]

    return run


def learned_beam(r: Names) -> Run:
    space = r.entity_relation_space(4)
    scores = drawn(space, 200)

    def run() -> list[Any]:
        engine = r.LearnedBeam(r.Exact(), width=4)
        engine.learn(space, scores[:100])
        return told(engine.solve(space, scores))

    return run


def learned_restarts(r: Names) -> Run:
    """Greedy search from starts that a regression of values leads to."""
    task, xs, ys = label_sets(r, 14)
    prepared = r.prepare(task, xs, ys)
    weights = np.random.default_rng(SEED).normal(size=prepared.layout.size)

    def run() -> list[Any]:
        engine = r.LearnedRestarts(r.RGS(restarts=8))
        model = r.Model(task, prepared.layout, weights, engine)
        return [array for _, found in model.answers(prepared) for array in told(found)]

    return run


def reading(r: Names, examples: Examples) -> Run:
    """Features of all inputs, by names that are met for the first time."""
    task, xs, ys = examples

    def run() -> list[Any]:
        prepared = r.prepare(task, xs, ys)
        weights = np.random.default_rng(SEED).normal(size=prepared.layout.size)
        return [prepared.scores(weights, group) for group in prepared.groups]

    return run


def svm(r: Names, **options: Any) -> Any:
    return r.StructuredSVM(iterations=4, **options)


CASES: Mapping[str, Callable[[Names], Run]] = MappingProxyType(
    {
        "dp: 500 chains of 10, 26 labels": lambda r: solving(
            r.Exact(), s := chain(r, 10, 26), drawn(s, 500)
        ),
        "dp: 500 chains of 20, 12 labels": lambda r: solving(
            r.Exact(), s := chain(r, 20, 12), drawn(s, 500)
        ),
        "dp: 100 chains of 30, 45 labels": lambda r: solving(
            r.Exact(), s := chain(r, 30, 45), drawn(s, 100)
        ),
        "dp: 300 trees": lambda r: solving(r.Exact(), s := tree(r, 40, 5), drawn(s, 300)),
        "dp: elimination": lambda r: solving(
            r.Elimination(), s := r.entity_relation_space(3), drawn(s, 400)
        ),
        "dp: enumeration": lambda r: solving(
            r.Exhaustive(), s := joined(r, [4] * 7, pairwise(range(7))), drawn(s, 5)
        ),
        "dp: Exact, conll04": lambda r: solving_batches(r.Exact(), scored(r, corpus(r))),
        "dp: Exact, conll04, one by one": lambda r: solving_batches(
            r.Exact(), one_by_one(scored(r, corpus(r)), 300)
        ),
        "dual: ascent and bounds": dual_bounds,
        "dual: certificates": amortized,
        "presolve: 10 spaces used once": lambda r: solving_once(r, 10),
        "search: 2 grids of 30x30": lambda r: solving(
            r.Exact(), s := grid(r, 30, 4), attractive(s, 4, 2)
        ),
        "search: 3 dense": lambda r: solving(r.BranchAndBound(), s := dense(r, 20), drawn(s, 3)),
        "search: 6 entities": lambda r: solving(
            r.BranchAndBound(), s := r.entity_relation_space(6), drawn(s, 5)
        ),
        "local_search: RGS, entities": lambda r: solving(
            r.RGS(restarts=20), s := r.entity_relation_space(4), drawn(s, 100)
        ),
        "local_search: RGS, pairs": lambda r: solving(
            r.RGS(restarts=20), s := dense(r, 40), drawn(s, 60)
        ),
        "local_search: learning F1": lambda r: learning(
            r, label_sets(r, 8), svm(r, loss=r.F1Loss()), lambda: r.RGS(restarts=5)
        ),
        "local_search: learned restarts": learned_restarts,
        "neighbourhood: one away": lambda r: learning(
            r, sentences(r, 100), svm(r), lambda: r.Decomposed(r.Exact(), r.HammingBall(1))
        ),
        "neighbourhood: two away": lambda r: learning(
            r, sentences(r, 60), svm(r), lambda: r.Decomposed(r.Exact(), r.HammingBall(2))
        ),
        "neighbourhood: components": lambda r: learning(
            r, label_sets(r, 8), svm(r), lambda: r.Decomposed(r.Exact(), r.SignedComponents())
        ),
        "beam: Beam": lambda r: solving(r.Beam(8), s := r.entity_relation_space(5), drawn(s, 100)),
        "beam: ConstrainedBeam": lambda r: solving(
            r.ConstrainedBeam(4), s := r.entity_relation_space(4), drawn(s, 50)
        ),
        "beam: LearnedBeam": learned_beam,
        "learning: SVM, tags": lambda r: learning(r, words(r), svm(r), r.Exact),
        "learning: SVM, entities": lambda r: learning(r, sentences(r), svm(r), r.Exact),
        "learning: SVM, conll04": lambda r: learning(r, corpus(r), svm(r), r.Exact),
        "learning: perceptron, tags": lambda r: learning(
            r, words(r), r.Perceptron(iterations=4), r.Exact
        ),
        "learning: perceptron, entities": lambda r: learning(
            r, sentences(r), r.Perceptron(iterations=4), r.Exact
        ),
        "learning: each label alone": lambda r: learning(
            r, sentences(r), r.IndependentPerceptron(iterations=4), r.Exact
        ),
        "learning: subgradient": lambda r: learning(
            r, sentences(r), r.Subgradient(iterations=4), r.Exact
        ),
        "features: tags": lambda r: reading(r, words(r)),
        "features: entities": lambda r: reading(r, sentences(r)),
        "features: conll04": lambda r: reading(r, corpus(r)),
    }
)


def possible() -> list[str]:
    """The cases whose data are at hand."""
    return [case for case in CASES if CORPUS not in case or os.environ.get(VARIABLE)]


def digest(arrays: Iterable[Any]) -> str:
    """Of all bits, types and shapes."""
    state = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        state.update(f"{array.dtype.str}{array.shape}".encode())
        state.update(array.tobytes())
    return state.hexdigest()


def main() -> None:
    """Answer names of cases with times and digests; the first turn of a case warms up."""
    names = Names(sys.argv[1])
    made: dict[str, Run] = {}
    for line in sys.stdin:
        case = line.rstrip("\n")
        if case not in made:
            made[case] = CASES[case](names)
        runs, begin, seconds = 0, process_time(), 0.0
        while seconds < LEAST_SECONDS:
            arrays = made[case]()
            runs, seconds = runs + 1, process_time() - begin
        print(json.dumps({"seconds": seconds / runs, "digest": digest(arrays)}), flush=True)


if __name__ == "__main__":
    main()
