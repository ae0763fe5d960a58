"""What greedy search comes to, climb after climb: accuracy, time, and where it is lost.

*Prediction* judges the output that scores best of all that were seen, *generation* the one that is
nearest to gold. Where generation is good and prediction is not, scores are to blame; where both are
bad, the search is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from rote import Context, DataError, Model, Problem
from rote.inference.approximate.search_trace import RestartResult
from rote.model import Dataset
from rote.types import FloatArray, IntArray, readonly

Judge = Callable[[IntArray, IntArray], FloatArray]


class Search(Protocol):
    """An engine that shows its rounds, such as `RGS` and `LearnedRestarts`."""

    def rounds(self, problem: Problem, context: Context) -> Iterator[RestartResult]: ...


@dataclass(frozen=True, eq=False)
class Followed:
    """Means over all examples after 1, 2, … climbs, and how many each of them needed."""

    prediction: FloatArray  # (climbs,)
    generation: FloatArray  # (climbs,)
    seconds: FloatArray  # (climbs,): spent so far
    needed: IntArray  # (examples,): the climb that found the answer; 0 where there is none


def share_right(gold: IntArray, labels: IntArray) -> FloatArray:
    """The share of right labels of every output; gold is one output, or one for each."""
    return np.asarray((gold == labels).mean(axis=-1) if labels.shape[-1] else np.ones(len(labels)))


def follow(
    model: Model[Any, Any],
    prepared: Dataset,
    search: Search,
    judge: Judge = share_right,
) -> Followed:
    """Search for the outputs of examples with gold, and judge what there is after every climb.

    ``judge`` says of each of some outputs how good it is, the larger the better, given the gold
    labels of each. Examples without an answer yet are judged 0.
    """
    if any(group.gold is None for group in prepared.groups) or not len(prepared):
        raise DataError("what a search comes to is judged on examples with outputs, and has none")
    curves = [_followed(model, prepared, k, search, judge) for k in range(len(prepared.groups))]
    length = max(len(seconds) for _, _, seconds, _ in curves)
    needed = np.zeros(len(prepared), dtype=np.int64)
    totals = np.zeros((3, length))
    for group, (prediction, generation, seconds, own) in zip(prepared.groups, curves, strict=True):
        needed[group.members] = own
        for total, curve in zip(totals, (prediction, generation, seconds), strict=True):
            # A group that is done stays as it is.
            total += np.concatenate([curve, np.repeat(curve[-1:], length - len(curve))])
    prediction, generation = totals[:2] / len(prepared)
    return Followed(
        readonly(prediction), readonly(generation), readonly(totals[2]), readonly(needed)
    )


def _followed(
    model: Model[Any, Any], prepared: Dataset, number: int, search: Search, judge: Judge
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Sums over a group: prediction, generation and seconds by climb; and what was needed."""
    group = prepared.groups[number]
    gold = group.gold
    assert gold is not None
    problem, context = prepared.problem(model.weights, group), prepared.context(group)
    nearest = np.zeros(len(group))
    sums: list[tuple[float, float, float]] = []
    needed: IntArray = np.zeros(len(group), dtype=np.int64)
    spent, begun = 0.0, perf_counter()
    for now in search.rounds(problem, context.without_gold()):
        spent += perf_counter() - begun
        outputs, owner = now.paths.outputs()
        whose = now.climbed[owner]
        np.maximum.at(nearest, whose, judge(readonly(gold[whose]), outputs))
        there = now.needed > 0
        found = (
            judge(readonly(gold[there]), readonly(now.labels[there]))
            if there.any()
            else np.zeros(0)
        )
        sums.append((float(found.sum()), float(nearest.sum()), spent))
        needed, begun = now.needed, perf_counter()
    prediction, generation, seconds = np.array(sums or [(0.0, 0.0, spent)]).T
    return prediction, generation, seconds, needed
