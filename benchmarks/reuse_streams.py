"""What is asked of an engine along a training, or of one problem whose scores move: streams.

A stream is a list of batches in the order in which they are asked; a batch has a space, scores, and
a name for each question, which is the same when its scores have changed. It is written to a file
that every version of rote can read (`benchmarks.reuse_side`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.problems import grid
from papers.data.conll04 import load_conll04
from papers.data.folder import data_folder
from papers.data.msrc21 import CLASSES, load_msrc21
from papers.data.multilabel import load_multilabel
from papers.ma2019.structures import likely_graph
from rote import (
    Context,
    Engine,
    EntityRelation,
    EntityRelationOutput,
    Exact,
    Model,
    MultiLabel,
    Problem,
    Solutions,
    Space,
    StructuredSVM,
    prepare,
)
from rote.io.networks import read_network
from rote.model import Dataset
from rote.tasks.graphs import GraphLabelling, without_void
from rote.tasks.network_files import network_problem
from rote.types import FloatArray

SEED = 2015
ENTITIES = 8  # sentences with fewer are solved in microseconds whatever one does


class Asked(NamedTuple):
    """A batch of questions."""

    space: Space
    scores: FloatArray
    keys: Sequence[int]


@dataclass(frozen=True)
class Stream:
    """What is asked, and from which batch on it counts: before that, memory fills."""

    batches: Sequence[Asked]
    first: int = 0


class Recorder(Engine):
    """An engine that writes down what it is asked, and may answer in haste at first."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.asked: list[Asked] = []

    def answer(self, problem: Problem, context: Context) -> Solutions:
        keys = [] if context.keys is None else [int(key) for key in context.keys]
        self.asked.append(Asked(problem.space, problem.scores.copy(), keys))
        return self.engine.answer(problem, context)


def training(
    task: Any, prepared: Dataset, learner: StructuredSVM, first: int, iterations: int
) -> Stream:
    """The inferences of some iterations of a structural SVM, from iteration ``first`` on."""
    recorder = Recorder(Exact())
    model = Model(task, prepared.layout, prepared.layout.zeros(), recorder)
    kept: list[Asked] = []
    for state in islice(learner.iterate(model, prepared), first + iterations):
        if state.iteration > first:
            kept += recorder.asked
        recorder.asked = []
    counted = next((k for k, each in enumerate(kept) if _seen_before(kept, k)), 0)
    return Stream(kept, counted)


def _seen_before(batches: Sequence[Asked], k: int) -> bool:
    """Whether a batch repeats questions of an earlier one."""
    one = batches[k]
    return any(b.space is one.space and set(b.keys) & set(one.keys) for b in batches[:k])


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
    learner = StructuredSVM(C=0.1, delta=0.1, online_epochs=0)
    return training(task, prepared, learner, first, iterations)


def entities(first: int, iterations: int, *, at_most_one: str = "") -> Stream:
    """Sentences of conll04 with eight entities and more; with a counting rule, if one is named."""
    task = EntityRelation()
    if at_most_one:
        task = EntityRelation(rules=f"at_most(1, {at_most_one})")
    sentences = [s for s in load_conll04().split("train") if len(s.entities) >= ENTITIES]
    kept = [s for s in sentences if task.is_feasible(s)]
    prepared = prepare(task, kept, map(EntityRelationOutput.of, kept))
    learner = StructuredSVM(C=0.1, delta=0.1, online_epochs=0)
    return training(task, prepared, learner, first, iterations)


def images(count: int, first: int, iterations: int) -> Stream:
    """Superpixels of msrc21, with Potts tables: a space for each image."""
    data = load_msrc21()["train"]
    examples = [without_void(likely_graph(each.x), each.y) for each in data[:count]]
    task = GraphLabelling(CLASSES, scores_per_label=True, potts=True)
    prepared = prepare(task, [x for x, _ in examples], [y for _, y in examples])
    learner = StructuredSVM(0.003, squared=False, iterations=100, passes=20, delta=0.1)
    return training(task, prepared, learner, first, iterations)


def moved(space: Space, bases: FloatArray, share: float, times: int) -> Stream:
    """Each problem once, and then with all scores moved a little, again and again."""
    rng = np.random.default_rng(SEED)
    batches = [Asked(space, base[None], [k]) for k, base in enumerate(bases)]
    for _ in range(times):
        for k, base in enumerate(bases):
            scores = base * (1 + share * rng.standard_normal(len(base)))
            batches.append(Asked(space, scores[None], [k]))
    return Stream(batches, len(bases))


def grids(share: float, count: int, times: int) -> Stream:
    """Grids of 30 by 30 with four labels."""
    group = grid(30, 4, count).groups[0]
    return moved(group.space, group.scores, share, times)


def file(name: str, times: int, share: float = 0.01) -> Stream:
    """A problem that others wrote."""
    (path,) = (data_folder() / "map_instances").glob(f"*__{name}.*[!d]")
    evidence = path.with_suffix("").with_suffix(".uai.evid")
    problem = network_problem(read_network(path, evidence if evidence.exists() else None))
    return moved(problem.space, np.asarray(problem.scores).reshape(1, -1), share, times)


# By the name that --case takes; each is told whether to be quick.
STREAMS: Mapping[str, Callable[[bool], Stream]] = {
    "rcv1subset1": lambda quick: multi_label("rcv1subset1", 20 if quick else 100, 2, 3, top=30),
    "msrc21": lambda quick: images(8 if quick else 40, 8, 4),
    "grids 1 %": lambda quick: grids(0.01, 3 if quick else 15, 4),
    "grids 5 %": lambda quick: grids(0.05, 3 if quick else 15, 4),
    "conll04": lambda quick: entities(10, 3 if quick else 10),
    "conll04 one Org": lambda quick: entities(10, 2 if quick else 4, at_most_one="Org"),
    "scene": lambda quick: multi_label("scene", 100 if quick else 1000, 4, 4),
    "yeast": lambda quick: multi_label("yeast", 40 if quick else 150, 8, 8),
    "Segmentation_12": lambda quick: file("Segmentation_12", 4 if quick else 20),
    "1aho": lambda quick: file("1aho", 2 if quick else 10),
    "pedigree1": lambda quick: file("pedigree1", 1 if quick else 5),
    "Promedas_70": lambda quick: file("Promedas_70", 4 if quick else 20),
}
