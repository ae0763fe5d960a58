"""Where each weight lives.

The weights of one *kind* of feature vector form a matrix: one row per feature, one column
per label of every *block* that looks at vectors of this kind. All matrices lie one after
the other in one flat array, the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rote.errors import LabelError, SpaceError
from rote.features import CONSTANT, Index
from rote.kernels.structs import Slots
from rote.tasks.base import Frame, Slot
from rote.types import FloatArray, frozen


@dataclass(frozen=True)
class Block:
    """The weights of one sort of variable or factor."""

    name: str
    kind: str
    width: int  # columns: one per label or label tuple, fewer where these share some


@dataclass(frozen=True, eq=False)
class Layout:
    """Blocks, and the index of each kind of vector they look at."""

    blocks: tuple[Block, ...]
    indices: Mapping[str, Index]

    @cached_property
    def size(self) -> int:
        """How many weights there are."""
        return sum(len(self.indices[kind]) * self._stride[kind] for kind in self._stride)

    def zeros(self) -> FloatArray:
        """Weights to start from."""
        return np.zeros(self.size)

    def matrix(self, weights: FloatArray, kind: str) -> FloatArray:
        """The weights of one kind: a view of shape (features, columns of its blocks)."""
        shape = len(self.indices[kind]), self._stride[kind]
        return weights[self._origin[kind] :][: shape[0] * shape[1]].reshape(shape)

    def block(self, weights: FloatArray, name: str) -> FloatArray:
        """The weights of one block: a view of shape (features, labels)."""
        block = self._by_name[name]
        first = self._first[name]
        return self.matrix(weights, block.kind)[:, first : first + block.width]

    def slots(self, frame: Frame) -> Slots:
        """What kernels need to score the inputs of a frame."""
        for slot, width in zip(frame.slots, frame.widths.tolist(), strict=True):
            known = self._known(slot.block)
            self._check(known, slot.block, _kind(frame, slot.vector), width)
        for family in frame.traits:
            self._check(self._known(family.block), family.block, CONSTANT, family.width)
        traits = sum(family.count for family in frame.traits)
        slots = [*frame.slots, *(Slot(f.block) for f in frame.traits for _ in range(f.count))]
        blocks = [self._by_name[slot.block] for slot in slots]
        return Slots(
            frozen(np.array([-1 if s.vector is None else s.vector for s in slots], np.int64)),
            frozen(
                np.array([self._origin[b.kind] + self._first[b.name] for b in blocks], np.int64)
            ),
            frozen(np.array([self._stride[b.kind] for b in blocks], np.int64)),
            frozen(np.array([slot.each for slot in slots], np.bool_)),
            frozen(np.array([slot.tied is not None for slot in slots], np.bool_)),
            frozen(np.concatenate([frame.starts, np.repeat(frame.starts[-1:], traits)])),
            frame.columns,
        )

    def _known(self, name: str) -> Block:
        if name not in self._by_name:
            raise SpaceError(
                f"the model has no block {name!r}; it was trained on "
                f"{', '.join(sorted(self._by_name))}"
            )
        return self._by_name[name]

    @staticmethod
    def of(frames: Sequence[Frame], indices: Mapping[str, Index]) -> Layout:
        """The layout that these frames need."""
        blocks: dict[str, Block] = {}
        for frame in frames:
            for slot, width in zip(frame.slots, frame.widths.tolist(), strict=True):
                block = Block(slot.block, _kind(frame, slot.vector), width)
                Layout._check(blocks.setdefault(slot.block, block), slot.block, block.kind, width)
            for family in frame.traits:
                block = Block(family.block, CONSTANT, family.width)
                known = blocks.setdefault(family.block, block)
                Layout._check(known, family.block, CONSTANT, family.width)
        return Layout(tuple(blocks.values()), dict(indices))

    @staticmethod
    def _check(known: Block, name: str, kind: str, width: int) -> None:
        if known.width != width:
            raise LabelError(
                f"block {name!r} has {known.width} labels or label tuples, and a variable or "
                f"factor of it has {width}; use another block for it"
            )
        if known.kind != kind:
            raise SpaceError(
                f"block {name!r} looks at vectors of kind {known.kind!r} and of kind {kind!r}; "
                "use a block for each"
            )

    @cached_property
    def _by_name(self) -> Mapping[str, Block]:
        return {block.name: block for block in self.blocks}

    @cached_property
    def _first(self) -> Mapping[str, int]:
        """The first column of each block in the matrix of its kind."""
        columns: dict[str, int] = {}
        first = {}
        for block in self.blocks:
            first[block.name] = columns.get(block.kind, 0)
            columns[block.kind] = first[block.name] + block.width
        return first

    @cached_property
    def _stride(self) -> Mapping[str, int]:
        """How many columns each kind has."""
        columns: dict[str, int] = {}
        for block in self.blocks:
            columns[block.kind] = columns.get(block.kind, 0) + block.width
        return columns

    @cached_property
    def _origin(self) -> Mapping[str, int]:
        """Where the matrix of each kind starts among the weights."""
        at, origin = 0, {}
        for kind, columns in self._stride.items():
            origin[kind] = at
            at += columns * len(self.indices[kind])
        return origin


def _kind(frame: Frame, vector: int | None) -> str:
    return CONSTANT if vector is None else frame.kinds[vector]
