"""Random rule spaces that are used once, in one text for this version and for an old one.

`benchmarks.one_off` runs this file as a program of its own in two environments. A problem is joint
extraction: candidates for entities are spans of a text with a type, and relations between them need
both ends. Spans that overlap exclude each other, a relation is functional (one per first end) or
not, and of one type at most a few are there. Every candidate is a variable with the labels no and
yes, and has a Gaussian score.

    python -P benchmarks/one_off_cases.py   reads a size, a first seed and how many follow from each
                                            line, and answers with the median of the processor
                                            seconds of building and solving, and what was found
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 30
LABELS = ("no", "yes")
ENTITIES = 0.4  # of all candidates
TYPES, FUNCTIONAL, RELATIONS = 3, 2, 4  # of entities; of relations, all of them
MOST_OF_A_TYPE = 0.5  # of the candidates of the first type
LONGEST = 3  # words of a span


@dataclass(frozen=True)
class Extraction:
    """Candidates, and the scores of all labels: those of entities first."""

    spans: list[tuple[int, int]]
    types: list[int]
    ends: list[tuple[int, int]]
    relations: list[int]
    scores: NDArray[np.float64]


def drawn(size: int, seed: int) -> Extraction:
    """A problem with so many yes/no variables."""
    draw = np.random.default_rng([SEED, size, seed])
    entities = max(3, round(ENTITIES * size))
    starts = draw.integers(0, entities, entities)
    lengths = draw.integers(1, LONGEST + 1, entities)
    ends = [draw.choice(entities, 2, replace=False).tolist() for _ in range(size - entities)]
    scores = np.zeros(2 * size)
    scores[1::2] = draw.normal(size=size)
    return Extraction(
        list(zip(starts.tolist(), (starts + lengths).tolist(), strict=True)),
        draw.integers(0, TYPES, entities).tolist(),
        [(first, second) for first, second in ends],
        draw.integers(0, RELATIONS, len(ends)).tolist(),
        scores,
    )


def space_of(problem: Extraction) -> Any:
    """The space of a problem, by names that both versions have."""
    from rote import SpaceBuilder, at_most

    builder = SpaceBuilder()
    entities = [builder.variable(f"entity {i}", LABELS) for i in range(len(problem.spans))]
    at = defaultdict[int, list[int]](list)
    for i, (start, end) in enumerate(problem.spans):
        for word in range(start, end):
            at[word].append(i)
    for over in dict.fromkeys(map(tuple, at.values())):
        if len(over) > 1:
            builder.require(at_most(1, [entities[i]["yes"] for i in over]))
    of_type = [entities[i]["yes"] for i, kind in enumerate(problem.types) if kind == 0]
    if len(of_type) > 1:
        builder.require(at_most(max(1, int(MOST_OF_A_TYPE * len(of_type))), of_type))
    functional = defaultdict[tuple[int, int], list[Any]](list)
    for i, (first, second) in enumerate(problem.ends):
        relation = builder.variable(f"relation {i}", LABELS)["yes"]
        builder.require(relation >> (entities[first]["yes"] & entities[second]["yes"]))
        if problem.relations[i] < FUNCTIONAL:
            functional[problem.relations[i], first].append(relation)
    for relations in functional.values():
        if len(relations) > 1:
            builder.require(at_most(1, relations))
    return builder.build()


def main() -> None:
    """Answer sizes and seeds with times and outputs; no problem may come twice."""
    from rote import Exact

    for line in sys.stdin:
        size, first, count = map(int, line.split())
        problems = [drawn(size, seed) for seed in range(first, first + count)]
        seconds, found = [], []
        for problem in problems:
            begin = process_time()
            solutions = Exact().solve(space_of(problem), problem.scores)
            seconds.append(process_time() - begin)
            found.append((solutions.labels.tolist(), solutions.value.tolist()))
        print(json.dumps({"seconds": median(seconds), "digest": repr(found)}), flush=True)


if __name__ == "__main__":
    main()
