"""Loss-augmented inference: the worst output of every example, max_y w · φ(x, y) + Δ(gold, y).

A loss that adds up is added to the scores, and any engine can look for the worst output. The
zero-one loss asks for the best output and, where that is the right one, for the second best.
Other losses go to the engine as a term.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rote.errors import NoOutput, ScoreError, renumber
from rote.inference import Engine, Objective, Status, k_best
from rote.inference.answers import found
from rote.inference.base import TOO_LARGE, Inputs, check_finite, checked_for
from rote.kernels.learning.linear import scores_of
from rote.model import Group, Prepared
from rote.space import Space
from rote.space.global_features import TraitScores
from rote.space.losses import Loss, ZeroOne
from rote.types import FloatArray, IntArray, frozen


class Worst(NamedTuple):
    """For the examples of a group: outputs, w · (φ(y) - φ(gold)) + Δ, and Δ alone."""

    group: Group
    labels: IntArray
    slacks: FloatArray
    losses: FloatArray


def worst_outputs(
    engine: Engine, prepared: Prepared, weights: FloatArray, loss: Loss, n_jobs: int = 1
) -> Iterator[Worst]:
    """Group by group; ``n_jobs`` threads work on pieces of groups, which changes the time alone."""
    pieces = [piece for group in prepared.groups for piece in group.pieces(n_jobs)]

    def solved(piece: Group) -> Worst:
        return worst_of(engine, prepared, weights, loss, piece)

    if n_jobs == 1:
        yield from map(solved, pieces)
    else:
        with ThreadPoolExecutor(n_jobs) as pool:
            yield from pool.map(solved, pieces)


def worst_of(
    engine: Engine,
    prepared: Prepared,
    weights: FloatArray,
    loss: Loss,
    group: Group,
    scale: float = 1.0,
) -> Worst:
    """The worst outputs of the examples of a group, under ``scale`` times the weights."""
    scores = scores_of(weights, prepared.vectors, group.slots, group.firsts)
    if scale != 1.0:
        scores *= scale
    assert group.gold is not None
    inputs, traits = prepared.inputs(group), None
    if inputs.traits is not None:
        traits = inputs.trait_scores(weights if scale == 1.0 else scale * weights)
    try:
        return Worst(group, *worst(engine, group.space, scores, group.gold, loss, inputs, traits))
    except (NoOutput, ScoreError) as error:
        renumber(error, "example", group.members.tolist())
        raise


def worst(
    engine: Engine,
    space: Space,
    scores: FloatArray,
    gold: IntArray,
    loss: Loss,
    inputs: Inputs | None = None,
    traits: TraitScores | None = None,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Labels, slacks and losses for a batch of one space."""
    plain = checked_for(space, Objective(frozen(scores), gold=gold, inputs=inputs, traits=traits))
    offsets = loss.offsets(space, gold)
    augmented = scores.copy()
    if offsets is not None:
        augmented[:, : space.labels] += offsets
    check_finite(augmented, TOO_LARGE)  # as they are not where the scores by themselves are not
    right = plain.worth(space, frozen(gold))
    if offsets is not None:
        solutions = engine.solve(
            space, checked_for(space, replace(plain, scores=frozen(augmented)))
        )
        labels = found(solutions)
        losses = frozen(loss.value(space, gold, labels))
        return labels, frozen(solutions.value - right), losses
    if isinstance(loss, ZeroOne):
        labels = _best_but_gold(engine, space, plain, gold)
    else:
        objective = replace(plain, term=loss.term(gold))
        labels = found(engine.solve(space, objective))
    losses = frozen(loss.value(space, gold, labels))
    return labels, frozen(plain.worth(space, labels) - right + losses), losses


def _best_but_gold(engine: Engine, space: Space, objective: Objective, gold: IntArray) -> IntArray:
    labels = found(engine.solve(space, objective)).copy()
    hit = np.flatnonzero((labels == gold).all(axis=1))
    if len(hit):
        second = k_best(space, objective.rows(hit), 2, engine)[1]
        other = second.status == Status.OPTIMAL
        lead = objective.rows(hit).worth(space, frozen(gold[hit])) - second.value
        worse = hit[other & (lead < 1.0)]
        labels[worse] = second.labels[other & (lead < 1.0)]
    return frozen(labels)
