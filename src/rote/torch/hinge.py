"""The structured hinge loss over any engine, for part scores that come from a PyTorch graph.

    loss(s) = max(0, max_y s(y) + Δ(gold, y) - s(gold))      s(y): the sum of y's part scores

Its gradient in the scores is 1 at the parts of the worst output y and -1 at those of gold (0 where
they share a part), and 0 everywhere where no output violates the margin. With an engine that is not
exact, y is what it found, and the loss is a lower bound of the true one.

Gold may be unknown at some places, where its labels are -1 or -100. It is then the best output that
has the known labels (the latent structured hinge), and Δ counts known labels alone:

    loss(s) = max(0, max_y s(y) + Δ(gold, y) - max_{z agrees with gold} s(z))

Structures may differ in shape. Those that share a space are solved in one batch, on the CPU and in
double precision, wherever their scores live.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor, nn

from rote.errors import LabelError, ScoreError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.problem import Context, Problem
from rote.inference.solutions import Status
from rote.kernels.constants import LARGEST_SCORE
from rote.learning.loss_augmented import max_violated
from rote.settings import check, one_of
from rote.space import Space
from rote.space.losses import Hamming, Loss, LossTerm
from rote.types import BoolArray, FloatArray, IntArray, readonly

Reduction = Literal["mean", "sum", "none"]
UNKNOWN = (-1, -100)


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

    One tensor of scores and one space for all, whose second gold label is unknown:

    >>> StructuredHinge()(torch.zeros(2, 2), space, [[0], [-1]]).item()
    0.5
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
        self, scores: Tensor | Sequence[Tensor], spaces: Space | Sequence[Space], gold: Any
    ) -> Tensor:
        """The loss, from one vector of part scores, one space and the gold labels of each.

        Parameters
        ----------
        scores
            A vector for each structure, or one tensor for all: of shape (m, parts), or of any shape
            (m, …) with as many numbers for each, such as (m, variables, labels).
        spaces
            The space of each, or one for all.
        gold
            The labels of each by position; -1 or -100 where they are unknown.
        """
        scores, spaces = _each(scores, spaces)
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

    def predict(
        self, scores: Tensor | Sequence[Tensor], spaces: Space | Sequence[Space]
    ) -> list[IntArray]:
        """The labels of each structure's best output, as the engine finds it."""
        scores, spaces = _each(scores, spaces)
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
        problem = Problem.built(space, readonly(batch.scores + space.penalties))
        right = _gold_of(batch, gold)
        unknown = right < 0
        loss: Loss = self.loss
        if unknown.any():
            right = self._completed(problem, right, unknown, members)
            loss = _Known(self.loss, unknown)
        elif space.rules and not self.allow_infeasible_gold:
            _require_feasible(batch, right)
        labels, each, _ = max_violated(
            self.engine, problem, Context(right), loss, "structure", members
        )
        slacks[members] = np.maximum(each, 0.0)
        bad = each > 0
        up = space.known_parts_of(readonly(labels[bad])) + batch.starts[bad, None]
        down = space.known_parts_of(readonly(right[bad])) + batch.starts[bad, None]
        signs = np.repeat([1.0, -1.0], [up.size, down.size])
        owners = np.tile(np.repeat(members[bad], up.shape[1]), 2)
        return np.concatenate([up.ravel(), down.ravel()]), signs, owners

    def _completed(
        self, problem: Problem, gold: IntArray, unknown: BoolArray, members: IntArray
    ) -> IntArray:
        """The best outputs that have the known gold labels."""
        space = problem.space
        open_labels = problem.open_labels()
        variable = np.repeat(np.arange(len(space.variables)), space.sizes)
        place = np.arange(space.labels) - space.offsets[variable]
        open_labels &= unknown[:, variable] | (gold[:, variable] == place)
        solutions = self.engine.solve(space, problem.with_open(open_labels))
        missing = solutions.status > Status.FEASIBLE
        if missing.any():
            number = int(members[missing.argmax()])
            raise LabelError(
                f"no output has the known gold labels of structure {number} and obeys the rules; "
                "correct them, or drop a rule"
            )
        return solutions.labels


@dataclass(frozen=True, eq=False)
class _Known:
    """A loss over variables whose gold label is known."""

    loss: Loss
    unknown: BoolArray

    def offsets(self, space: Space, gold: IntArray) -> FloatArray:
        offsets = self.loss.offsets(space, gold)
        if offsets is None:
            raise LabelError(
                f"{self.loss} needs all gold labels; where some are unknown, take a loss that adds "
                "up over variables, such as Hamming()"
            )
        return readonly(np.where(np.repeat(self.unknown, space.sizes, axis=1), 0.0, offsets))

    def value(self, space: Space, gold: IntArray, labels: IntArray) -> FloatArray:
        each = self.offsets(space, gold)
        places = space.offsets[:-1] + labels
        return np.asarray(np.take_along_axis(each, places, axis=1).sum(axis=1))

    def term(self, gold: IntArray) -> LossTerm:
        return self.loss.term(gold)


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


def _each(
    scores: Tensor | Sequence[Tensor], spaces: Space | Sequence[Space]
) -> tuple[Sequence[Tensor], Sequence[Space]]:
    """The scores and the space of each structure."""
    several = isinstance(scores, Tensor) and scores.ndim > 1
    each = scores.flatten(1).unbind() if several else list(scores)  # type: ignore[union-attr]
    return each, [spaces] * len(each) if isinstance(spaces, Space) else spaces


def _gold_of(batch: _Batch, gold: Any) -> IntArray:
    """The gold labels of a batch, -1 where they are unknown."""
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
    labels = np.stack(rows)
    if not np.issubdtype(labels.dtype, np.integer):
        return space.as_labels(labels)  # which says so
    unknown = np.isin(labels, UNKNOWN)
    known = space.as_labels(np.where(unknown, 0, labels))
    return readonly(np.where(unknown, -1, known))


def _require_feasible(batch: _Batch, labels: IntArray) -> None:
    was_feasible = batch.space.was_feasible(labels)
    if not was_feasible.all():
        place = int(np.flatnonzero(~was_feasible)[0])
        raise LabelError(
            f"gold of structure {int(batch.members[place])} breaks the rule "
            f"{batch.space.broken(labels[place])[0].name!r}; correct it, drop the rule, or say "
            "allow_infeasible_gold=True"
        )
