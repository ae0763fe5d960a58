"""The problems that every engine is given: a case is batches of scores, one per space.

``conll04`` is made of the corpus's test sentences; the others are drawn at random, each problem
by a generator of its own, so that it is the same whatever else is run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import isqrt
from time import perf_counter
from types import MappingProxyType

import numpy as np

from papers.data.conll04 import load_conll04
from rote import Space, SpaceBuilder
from rote.tasks.entity_relation import entity_relation_space
from rote.types import BoolArray, FloatArray, readonly

SEED = 2004
LEAST_ENTITIES = 2  # a sentence with one entity has no relation to decide


@dataclass(frozen=True, eq=False)
class Batch:
    """Problems that share a space, and another one for engines to warm up on."""

    space: Space
    scores: FloatArray  # (m, parts)
    warm_up: FloatArray  # (1, parts)


@dataclass(frozen=True, eq=False)
class Case:
    """A named set of problems; ``about`` says in a sentence what they are."""

    name: str
    about: str
    groups: tuple[Batch, ...]

    @property
    def problems(self) -> int:
        return sum(len(group.scores) for group in self.groups)


def conll04() -> Case:
    """The entity-relation problems of the test sentences, scored by a local model."""
    groups, seconds = _scored_sentences()
    # n entities make n + n(n-1) variables.
    counts = [isqrt(len(g.space.variables)) for g in groups for _ in g.scores]
    broken = sum(int(_breaks(group).sum()) for group in groups)
    about = (
        f"{len(counts)} test sentences with {min(counts)} to {max(counts)} "
        f"entities, {sum(counts)} in all; a local model trained in {seconds:.1f} s; its best "
        f"labels break rules in {broken} sentences"
    )
    return Case("conll04", about, tuple(groups))


def conll04_broken() -> Case:
    """Those of `conll04` whose rules matter: the best labels by themselves break one."""
    groups, _ = _scored_sentences()
    kept = [Batch(g.space, readonly(g.scores[_breaks(g)]), g.warm_up) for g in groups]
    kept = [group for group in kept if len(group.scores)]
    count = sum(len(group.scores) for group in kept)
    about = f"the {count} sentences of conll04 where the best labels break rules"
    return Case("conll04 broken", about, tuple(kept))


def random_entities(n: int, count: int) -> Case:
    """Entity-relation problems with Gaussian scores."""
    space = entity_relation_space(n)
    about = f"{count} entity-relation problems with Gaussian scores"
    return _drawn(f"{n} entities", about, space, count, lambda draw: draw.normal(size=space.parts))


def grid(side: int, labels: int, count: int) -> Case:
    """Grids with Gaussian label scores; equal neighbours gain what is drawn from [0, 1]."""
    builder = SpaceBuilder()
    names = [str(a) for a in range(labels)]
    cells = [[builder.variable(f"x{i}_{j}", names) for j in range(side)] for i in range(side)]
    for i in range(side):
        for j in range(side):
            if j + 1 < side:
                builder.factor(cells[i][j], cells[i][j + 1])
            if i + 1 < side:
                builder.factor(cells[i][j], cells[i + 1][j])
    space = builder.build()

    def scores(draw: np.random.Generator) -> FloatArray:
        gains = draw.uniform(size=(len(space.factors), 1))
        tables = gains * np.eye(labels).ravel()
        return np.concatenate([draw.normal(size=space.labels), tables.ravel()])

    about = f"{count} grids, {labels} labels, Gaussian label scores, gains in [0, 1] for equals"
    return _drawn(f"{side}x{side} grid", about, space, count, scores)


def dense(variables: int, count: int) -> Case:
    """Two-label variables with a Gaussian table for every pair."""
    builder = SpaceBuilder()
    all_variables = [builder.variable(f"x{i}", ("no", "yes")) for i in range(variables)]
    for i, first in enumerate(all_variables):
        for second in all_variables[i + 1 :]:
            builder.factor(first, second)
    space = builder.build()
    about = f"{count} fully connected models of {variables} two-label variables, Gaussian tables"
    return _drawn(
        f"{variables} dense", about, space, count, lambda draw: draw.normal(size=space.parts)
    )


def dense_batch(variables: int, count: int) -> Case:
    """Two-label variables with a Gaussian table for every pair, the same for all problems."""
    space = dense(variables, 1).groups[0].space
    tables = np.random.default_rng(SEED).normal(size=space.parts - space.labels)
    about = f"{count} fully connected models of {variables} two-label variables, with equal tables"

    def scores(draw: np.random.Generator) -> FloatArray:
        return np.concatenate([draw.normal(size=space.labels), tables])

    return _drawn(f"{variables} dense, equal tables", about, space, count, scores)


# By the name that --case takes; each is told whether to be quick.
CASES: Mapping[str, Callable[[bool], Case]] = MappingProxyType(
    {
        "conll04": lambda _: conll04(),
        "conll04-broken": lambda _: conll04_broken(),
        "entities6": lambda quick: random_entities(6, 4 if quick else 20),
        "entities10": lambda quick: random_entities(10, 3 if quick else 10),
        "entities15": lambda quick: random_entities(15, 2 if quick else 5),
        # One grid in ten or so is far harder than the others, so there are more than ten.
        "grid": lambda quick: grid(30, 4, 2 if quick else 15),
        "dense": lambda quick: dense(20, 2 if quick else 10),
        "dense-batch": lambda quick: dense_batch(30, 2 if quick else 10),
    }
)


@cache
def _scored_sentences() -> tuple[list[Batch], float]:
    """All test sentences by space, and the seconds of training."""
    from benchmarks.local_model import train

    corpus = load_conll04()
    start = perf_counter()
    model = train(corpus.split("train"))
    seconds = perf_counter() - start
    draw = np.random.default_rng(SEED)
    sentences = [s for s in corpus.split("test") if len(s.entities) >= LEAST_ENTITIES]
    groups = []
    for n in sorted({len(s.entities) for s in sentences}):
        space = entity_relation_space(n)
        scores = np.stack([model.scores(s) for s in sentences if len(s.entities) == n])
        groups.append(Batch(space, readonly(scores), draw.normal(size=(1, space.parts))))
    return groups, seconds


def _breaks(group: Batch) -> BoolArray:
    """Whether the best label of every variable, each by itself, breaks a rule."""
    ends = pairwise(group.space.offsets)
    labels = np.stack([group.scores[:, a:b].argmax(axis=1) for a, b in ends], axis=1)
    return ~group.space.holds(labels)


def _drawn(
    name: str,
    about: str,
    space: Space,
    count: int,
    scores: Callable[[np.random.Generator], FloatArray],
) -> Case:
    """One group. The first problem drawn is to warm up on; asking for more changes none."""
    rows = [scores(np.random.default_rng([SEED, i])) for i in range(count + 1)]
    return Case(
        name, about, (Batch(space, readonly(np.stack(rows[1:])), readonly(rows[0][None, :])),)
    )
