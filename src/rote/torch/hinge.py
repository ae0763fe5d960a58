"""The structured hinge loss over any engine, for part scores that come from a PyTorch graph.

    loss(s) = max(0, max_y s(y) + Δ(gold, y) - s(gold))      s(y): the sum of y's part scores

Its gradient in the scores is 1 at the parts of the worst output y and -1 at those of gold (0 where
they share a part), and 0 everywhere where no output violates the margin. With an engine that is not
exact, y is what it found, and the loss is a lower bound of the true one.

Structures may differ in shape. Those that share a space are solved in one batch, on the CPU and in
double precision, wherever their scores live.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor, nn

from rote.errors import LabelError, ScoreError
from rote.inference import Engine, Exact, Problem
from rote.inference.problem import Context
from rote.kernels.constants import LARGEST_SCORE
from rote.learning.loss_augmented import max_violated
from rote.settings import check, one_of
from rote.space import Space
from rote.space.losses import Hamming, Loss
from rote.types import FloatArray, IntArray, readonly

Reduction = Literal["mean", "sum", "none"]


class StructuredHinge(nn.Module):
    """The structured hinge loss, as a module of PyTorch.

    Parameters
    ----------
    engine
        What finds the most violated output; `Exact()` if not given.
    loss
        How wrong an output is; `Hamming()` if not given. One that does not add up over variables
        needs an engine that takes it, such as `RGS`.
    reduction
        "mean" or "sum" of the losses of all structures, or "none" for one loss each.
    allow_infeasible_gold
        Whether gold outputs may break a rule.

    >>> from rote import SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x = builder.variable("x", "ab")
    >>> space = builder.build()
    >>> scores = torch.tensor([1.0, 0.5], requires_grad=True)
    >>> loss = StructuredHinge()([scores], [space], [[0]])
    >>> loss.backward()
    >>> loss.item(), scores.grad.tolist()
    (0.5, [-1.0, 1.0])
    """

    def __init__(
        self,
        engine: Engine | None = None,
        loss: Loss | None = None,
        reduction: Reduction = "mean",
        *,
        allow_infeasible_gold: bool = False,
    ) -> None:
        super().__init__()
        check("reduction", reduction, one_of(*get_args(Reduction)))
        self.engine: Engine = Exact() if engine is None else engine
        self.loss: Loss = Hamming() if loss is None else loss
        self.reduction = reduction
        self.allow_infeasible_gold = allow_infeasible_gold

    def forward(
        self, scores: Sequence[Tensor], spaces: Sequence[Space], gold: Sequence[Any]
    ) -> Tensor:
        """The loss, from one vector of part scores, one space and the gold labels of each."""
        flat, batches = _collected(scores, spaces)
        if not len(scores):
            raise ScoreError("the loss is of at least one structure, and there is none")
        if len(gold) != len(scores):
            raise LabelError(f"gold has {len(gold)} outputs for {len(scores)} structures")
        slacks = np.zeros(len(scores))
        steps = [self._step(batch, gold, slacks) for batch in batches]
        places, signs, owners = (np.concatenate(arrays) for arrays in zip(*steps, strict=True))
        zeros = flat - flat.detach()  # which have the gradient of the scores
        each = torch.from_numpy(slacks).to(flat)
        step = torch.from_numpy(signs).to(flat) * zeros[torch.from_numpy(places).to(flat.device)]
        each = each.index_add(0, torch.from_numpy(owners).to(flat.device), step)
        if self.reduction == "none":
            return each
        return each.mean() if self.reduction == "mean" else each.sum()

    def predict(self, scores: Sequence[Tensor], spaces: Sequence[Space]) -> list[IntArray]:
        """The labels of each structure's best output, as the engine finds it."""
        outputs: list[IntArray] = [np.empty(0, dtype=np.int64)] * len(scores)
        for batch in _collected(scores, spaces)[1]:
            problem = Problem.built(batch.space, readonly(batch.scores + batch.space.penalties))
            solutions = self.engine.solve(batch.space, problem)
            labels_of = solutions.require_outputs("structure", batch.members)
            for member, labels in zip(batch.members.tolist(), labels_of, strict=True):
                outputs[member] = labels[: batch.space.own]
        return outputs

    def extra_repr(self) -> str:
        return f"engine={self.engine}, loss={self.loss}, reduction={self.reduction!r}"

    def _step(
        self, batch: _Batch, gold: Sequence[Any], slacks: FloatArray
    ) -> tuple[IntArray, FloatArray, IntArray]:
        """The gradient of a batch, as places, signs and owners; its slacks are filled in."""
        space, members = batch.space, batch.members
        right = _gold_of(batch, gold, allow_infeasible_gold=self.allow_infeasible_gold)
        problem = Problem.built(space, readonly(batch.scores + space.penalties))
        labels, each, _ = max_violated(
            self.engine, problem, Context(right), self.loss, "structure", members
        )
        slacks[members] = np.maximum(each, 0.0)
        bad = each > 0
        up = space.known_parts_of(readonly(labels[bad])) + batch.starts[bad, None]
        down = space.known_parts_of(readonly(right[bad])) + batch.starts[bad, None]
        signs = np.repeat([1.0, -1.0], [up.size, down.size])
        owners = np.tile(np.repeat(members[bad], up.shape[1]), 2)
        return np.concatenate([up.ravel(), down.ravel()]), signs, owners


class _Batch(NamedTuple):
    """Structures that share a space."""

    space: Space
    members: IntArray
    starts: IntArray  # where the scores of each begin, when those of all structures are joined
    scores: FloatArray  # (m, parts), a copy


def _collected(scores: Sequence[Tensor], spaces: Sequence[Space]) -> tuple[Tensor, list[_Batch]]:
    """All scores in one vector, and their batches."""
    if len(scores) != len(spaces):
        raise ScoreError(f"there are scores of {len(scores)} structures, and {len(spaces)} spaces")
    for number, (vector, space) in enumerate(zip(scores, spaces, strict=True)):
        if not isinstance(vector, Tensor) or not vector.is_floating_point():
            what = vector.dtype if isinstance(vector, Tensor) else type(vector).__name__
            raise ScoreError(f"scores are tensors of real numbers; structure {number} has {what}")
        if vector.shape != (space.parts,):
            raise ScoreError(
                f"structure {number} has scores of the shape {tuple(vector.shape)}, and its space "
                f"has {space.parts} parts: {space!r}"
            )
    if not len(scores):
        return torch.zeros(0), []
    flat = torch.cat([vector.to(scores[0].device) for vector in scores])
    values = flat.detach().to("cpu", torch.float64).numpy()
    ends = np.cumsum([space.parts for space in spaces], dtype=np.int64)
    fits = np.abs(values) < LARGEST_SCORE
    if not fits.all():
        place = int(np.flatnonzero(~fits)[0])
        number = int(np.searchsorted(ends, place, side="right"))
        raise ScoreError(
            f"scores are finite and below 2**1000 in size; structure {number} has {values[place]} "
            f"at part {place - int(ends[number]) + spaces[number].parts}; if this comes in "
            "training, take smaller steps"
        )
    groups: dict[Space, list[int]] = {}
    for number, space in enumerate(spaces):
        groups.setdefault(space, []).append(number)
    batches = []
    for space, numbers in groups.items():
        members = np.array(numbers, dtype=np.int64)
        starts = ends[members] - space.parts
        own = values[starts[:, None] + np.arange(space.parts)]
        batches.append(_Batch(space, members, starts, own))
    return flat, batches


def _gold_of(batch: _Batch, gold: Sequence[Any], *, allow_infeasible_gold: bool) -> IntArray:
    space, rows = batch.space, []
    for number in batch.members.tolist():
        given = gold[number]
        row = given.detach().cpu().numpy() if isinstance(given, Tensor) else np.asarray(given)
        if row.shape != (len(space.variables),):
            raise LabelError(
                f"gold of structure {number} has the shape {row.shape}, and its space has "
                f"{len(space.variables)} variables"
            )
        rows.append(row if row.size else row.astype(np.int64))
    labels = readonly(space.as_labels(np.stack(rows)))
    if space.rules and not allow_infeasible_gold:
        was_feasible = space.was_feasible(labels)
        if not was_feasible.all():
            place = int(np.flatnonzero(~was_feasible)[0])
            raise LabelError(
                f"gold of structure {int(batch.members[place])} breaks the rule "
                f"{space.broken(labels[place])[0].name!r}; correct it, drop the rule, or say "
                "allow_infeasible_gold=True"
            )
    return labels
