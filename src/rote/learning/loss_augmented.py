"""Loss-augmented inference: the most violated output of every example.

    max_y  w · φ(x, y) + Δ(gold, y)

A loss that decomposes is added to the scores, and any engine can look for the most violated output.
The zero-one loss asks for the best output and, where that is the right one, for the second best.
Other losses go to the engine as a loss term.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rote.errors import NoSolution, ScoreError, relocate
from rote.inference.asking import ask
from rote.inference.engine import Engine, in_threads, require
from rote.inference.exact.kbest import k_best
from rote.inference.problem import Context, Problem
from rote.inference.solutions import Status
from rote.model import Batch, Dataset
from rote.space.losses import Loss, ZeroOne
from rote.types import FloatArray, IntArray, readonly


class Violation(NamedTuple):
    """For the examples of a group: outputs, w · (φ(y) - φ(gold)) + Δ, and Δ alone."""

    group: Batch
    labels: IntArray
    slacks: FloatArray
    losses: FloatArray


def most_violated_outputs(
    engine: Engine, prepared: Dataset, weights: FloatArray, loss: Loss, n_jobs: int = 1
) -> Iterator[Violation]:
    """Group by group; ``n_jobs`` threads work on batches, which changes the time alone."""
    batches = [batch for group in prepared.groups for batch in group.chunks(n_jobs)]

    def solved(batch: Batch) -> Violation:
        return most_violated_of(engine, prepared, weights, loss, batch)

    return in_threads(solved, batches, n_jobs)


def most_violated_of(
    engine: Engine,
    prepared: Dataset,
    weights: FloatArray,
    loss: Loss,
    group: Batch,
    scale: float = 1.0,
) -> Violation:
    """The most violated outputs of the examples of a group, under ``scale`` times the weights."""
    problem = prepared.problem(weights, group, "example")
    if scale != 1.0:
        problem = problem.scaled(scale)
    context = prepared.context(group)
    return Violation(group, *max_violated(engine, problem, context, loss, "example", group.members))


def max_violated(
    engine: Engine,
    problem: Problem,
    context: Context,
    loss: Loss,
    what: str = "input",
    numbers: IntArray | None = None,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Labels, slacks and losses for the gold outputs of a context, which were checked.

    An error is about one that is called ``what``, by the number that it has in ``numbers``.
    """
    try:
        return _most_violated(engine, problem, context, loss)
    except (NoSolution, ScoreError) as error:
        if numbers is not None:
            relocate(error, what, numbers.tolist())
        raise


def _most_violated(
    engine: Engine, problem: Problem, context: Context, loss: Loss
) -> tuple[IntArray, FloatArray, FloatArray]:
    space, gold = problem.space, context.gold
    assert gold is not None
    right = problem.value(readonly(gold))
    if isinstance(loss, ZeroOne):
        labels = _best_but_gold(engine, problem, context, gold)
    else:
        augmented = problem.with_loss(loss, gold)
        require(engine, augmented)
        solutions = ask(engine, augmented, context)
        labels = solutions.require_outputs()
        if augmented.loss_term is None:
            losses = readonly(loss.value(space, gold, labels))
            return labels, readonly(solutions.value - right), losses
    losses = readonly(loss.value(space, gold, labels))
    return labels, readonly(problem.value(labels) - right + losses), losses


def _best_but_gold(engine: Engine, problem: Problem, context: Context, gold: IntArray) -> IntArray:
    labels = engine.solve(problem.space, problem, context).require_outputs().copy()
    hit = np.flatnonzero((labels == gold).all(axis=1))
    if len(hit):
        part = problem.rows(hit)
        second = k_best(problem.space, part, 2, engine, context.rows(hit))[1]
        other = second.status == Status.OPTIMAL
        lead = part.value(readonly(gold[hit])) - second.value
        worse = hit[other & (lead < 1.0)]
        labels[worse] = second.labels[other & (lead < 1.0)]
    return readonly(labels)
