"""What is asked of an engine along a training, or of one problem whose scores move: streams.

A stream is a list of batches in the order in which they are asked; a batch has a space, scores, and
a name for each question, which is the same when its scores have changed. It is written to a file
that every version of rote can read (`benchmarks.reuse_side`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import isqrt
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchmarks.problems import grid
from papers.data.conll04 import load_conll04
from papers.data.cora_citations import load_cora_citations
from papers.data.folder import data_folder
from papers.data.msrc21 import CLASSES, load_msrc21
from papers.data.multilabel import load_multilabel
from papers.ma2019.structures import likely_graph
from papers.samdani2012.blocks import Blocks
from papers.samdani2012.counts import Counts
from papers.samdani2012.fields import citations
from rote import (
    BranchAndBound,
    Context,
    Engine,
    EntityRelation,
    EntityRelationOutput,
    Exact,
    Learner,
    Model,
    MultiLabel,
    Perceptron,
    Problem,
    Solutions,
    Space,
    SpaceBuilder,
    StructuredSVM,
    Variable,
    at_most,
    prepare,
)
from rote.io.networks import read_network
from rote.model import Dataset
from rote.tasks.entity_relation import entity_relation_space
from rote.tasks.graphs import GraphLabelling, drop_unlabelled
from rote.tasks.network_files import network_problem
from rote.types import FloatArray

SEED = 2015
SOLVERS = "conll04 by solvers"
START = 4.0  # where the perceptron of citations begins, in counts
SVM = StructuredSVM(C=0.1, delta=0.1, online_epochs=0)
HASTY = BranchAndBound(64, tie_limit=1)
ENTITIES = 8  # sentences with fewer are solved in microseconds whatever one does


class Asked(NamedTuple):
    """A batch of questions."""

    space: Space
    scores: FloatArray
    keys: Sequence[int]


Stream: TypeAlias = Sequence[Asked]


class Recorder(Engine):
    """An engine that writes down what it is asked."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.asked: list[Asked] = []

    def answer(self, problem: Problem, context: Context) -> Solutions:
        keys = [] if context.keys is None else np.asarray(context.keys).tolist()
        self.asked.append(Asked(problem.space, problem.scores.copy(), keys))
        return self.engine.answer(problem, context)


def training(
    learner: Learner,
    model: Model[Any, Any],
    prepared: Dataset,
    hasty: Engine,
    first: int,
    iterations: int,
) -> Stream:
    """The inferences of some iterations, after ``first`` of them that are answered in haste."""
    recorder = Recorder(hasty)
    kept: list[Asked] = []
    begun = model.with_engine(recorder)
    for state in islice(learner.iterate(begun, prepared), first + iterations):
        if state.iteration > first:
            kept += recorder.asked
        elif state.iteration == first:
            recorder.engine = model.engine
        recorder.asked = []
    return kept


def svm(
    task: Any, prepared: Dataset, first: int, iterations: int, learner: StructuredSVM = SVM
) -> Stream:
    """Those of a structural SVM, whose young weights make problems that are hard and unlike."""
    model = Model(task, prepared.layout, prepared.layout.zeros(), Exact())
    return training(learner, model, prepared, HASTY, first, iterations)


def multi_label(name: str, examples: int, first: int, iterations: int, top: int = 0) -> Stream:
    """Labels of which every two are scored together."""
    data = load_multilabel(name)
    part = data["all"] if "all" in data.parts else data["train"]
    columns = np.arange(part.Y.shape[1])
    if top:
        columns = np.argsort(-np.asarray(part.Y).sum(axis=0), kind="stable")[:top]
    rows = np.random.default_rng(SEED).permutation(part.Y.shape[0])[:examples].tolist()
    names = np.array(data.label_names)[columns]
    ys = [tuple(names[np.asarray(part.Y)[row, columns] == 1]) for row in rows]
    task = MultiLabel(tuple(names.tolist()))
    prepared = prepare(task, [part.X[row] for row in rows], ys)
    return svm(task, prepared, first, iterations)


def entities(first: int, iterations: int, *, counted: bool = False) -> Stream:
    """Sentences of conll04 with eight entities and more; asked under one more rule, if counted."""
    task = EntityRelation()
    sentences = [s for s in load_conll04().split("train") if len(s.entities) >= ENTITIES]
    kept = [s for s in sentences if task.is_feasible(s)]
    prepared = prepare(task, kept, map(EntityRelationOutput.of, kept))
    stream = svm(task, prepared, first, iterations)
    if not counted:
        return stream
    return [each._replace(space=_with_one_home(len(each.space.variables))) for each in stream]


def _with_one_home(variables: int) -> Space:
    return entity_relation_space(isqrt(variables), rules=one_home)


def one_home(builder: SpaceBuilder, variables: Sequence[Variable]) -> None:
    """Nobody lives in two places."""
    n = isqrt(len(variables))
    for i in range(n):
        own = variables[n + i * (n - 1) : n + (i + 1) * (n - 1)]
        builder.require(at_most(1, [pair["Live_In"] for pair in own]))


def images(count: int, first: int, iterations: int) -> Stream:
    """Superpixels of msrc21, with Potts tables: a space for each image."""
    data = load_msrc21()["train"]
    examples = [drop_unlabelled(likely_graph(each.x), each.y) for each in data[:count]]
    task = GraphLabelling(CLASSES, scores_per_label=True, potts=True)
    prepared = prepare(task, [x for x, _ in examples], [y for _, y in examples])
    learner = StructuredSVM(0.003, squared=False, iterations=100, passes=20, delta=0.1)
    return svm(task, prepared, first, iterations, learner)


def moved(space: Space, bases: FloatArray, share: float, times: int) -> Stream:
    """Each problem once, and then with all scores moved a little, again and again."""
    rng = np.random.default_rng(SEED)
    batches = [Asked(space, base[None], [k]) for k, base in enumerate(bases)]
    for _ in range(times):
        for k, base in enumerate(bases):
            scores = base * (1 + share * rng.standard_normal(len(base)))
            batches.append(Asked(space, scores[None], [k]))
    return batches


def grids(share: float, count: int, times: int) -> Stream:
    """Grids of 30 by 30 with four labels."""
    group = grid(30, 4, count).groups[0]
    return moved(group.space, group.scores, share, times)


def file(name: str, times: int, share: float = 0.01) -> Stream:
    """A problem that others wrote."""
    (path,) = data_folder("map_instances").glob(f"*__{name}.*.gz")
    evidence = path.with_suffix(".evid")
    problem = network_problem(read_network(path, evidence if evidence.exists() else None))
    return moved(problem.space, np.asarray(problem.scores).reshape(1, -1), share, times)


def texts(count: int, first: int, epochs: int) -> Stream:
    """Fields of citations, each one block, along epochs of a perceptron that begins at counts."""
    task = citations()
    data = [(e.x, e.y) for e in load_cora_citations()["train"]]
    kept = [(x, y) for x, y in data if task.is_feasible(x, y)][:count]
    prepared = prepare(task, [x for x, _ in kept], [y for _, y in kept])
    weights = prepared.layout.zeros()
    Counts.of(task.labels, kept).write(prepared.layout, weights)
    model = Model(task, prepared.layout, START * weights, Blocks())
    return training(Perceptron(first + epochs), model, prepared, Blocks(), first, epochs)


def one_by_one(stream: Stream) -> Stream:
    """The same questions in batches of one."""
    return [
        Asked(space, scores[i : i + 1], keys[i : i + 1])
        for space, scores, keys in stream
        for i in range(len(keys))
    ]


def write(path: Path, stream: Stream) -> None:
    """Write a stream to a file that `benchmarks.reuse_side` reads, in any version."""
    spaces = list({id(each.space): each.space for each in stream}.values())
    place = {id(space): k for k, space in enumerate(spaces)}
    description = {
        "spaces": [described(space) for space in spaces],
        "batches": [[place[id(each.space)], list(each.keys)] for each in stream],
    }
    scores: dict[str, Any] = {f"scores{k}": each.scores for k, each in enumerate(stream)}
    np.savez(path, description=np.array(json.dumps(description)), **scores)


def described(space: Space) -> dict[str, Any]:
    """What a space is built of, in the order of its parts."""
    here = {variable.index: variable.index for variable in space.variables}
    return {
        "labels": [list(variable.labels) for variable in space.variables],
        "factors": [factor.variables for factor in space.factors],
        "rules": [named.rule.form(here) for named in space.rules],
    }


# By the name that --case takes; each is told whether to be quick.
STREAMS: Mapping[str, Callable[[bool], Stream]] = {
    "rcv1subset1": lambda quick: multi_label("rcv1subset1", 20 if quick else 100, 22, 3, top=30),
    "msrc21": lambda quick: images(8 if quick else 40, 8, 4),
    "grids 1 %": lambda quick: grids(0.01, 3 if quick else 15, 4),
    "grids 5 %": lambda quick: grids(0.05, 3 if quick else 15, 4),
    "conll04": lambda quick: entities(10, 3 if quick else 10),
    "conll04, one home": lambda quick: entities(10, 2 if quick else 4, counted=True),
    "scene": lambda quick: multi_label("scene", 100 if quick else 1000, 4, 4),
    "yeast": lambda quick: multi_label("yeast", 40 if quick else 150, 8, 8),
    "citations": lambda quick: texts(10 if quick else 60, 1, 3),
    "Segmentation_12": lambda quick: file("Segmentation_12", 4 if quick else 20),
    "1aho": lambda quick: file("1aho", 2 if quick else 10),
    "pedigree1": lambda quick: file("pedigree1", 1 if quick else 5),
    "Promedas_70": lambda quick: file("Promedas_70", 4 if quick else 20),
    SOLVERS: lambda quick: one_by_one(entities(10, 2 if quick else 4)),
}
