"""Where each weight lives.

The weights of one *kind* of feature vector form a matrix: one row per feature, one column
per label of every *block* that looks at vectors of this kind. All matrices lie one after
the other in one flat array, the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rote.errors import LabelError, SpaceError
from rote.features import Index
from rote.kernels.bundles import Slots
from rote.tasks.task import Frame, Slot
from rote.types import FloatArray, offsets_from_counts, readonly


class Block(NamedTuple):
    """The weights of one sort of variable or factor: parameter tying, by a name.

    Parameters
    ----------
    name, kind
        What slots call it, and the kind of feature vectors that it scores.
    width
        Its columns: one per label or label tuple, fewer where these share some.
    labels
        Those of its columns where every variable of it has the same: a model that was learned with
        them is not asked about others, nor about the same in another order.
    """

    name: str
    kind: str
    width: int
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Layout:
    """Blocks, and the index of each kind of vector they look at.

    Parameters
    ----------
    blocks
        The blocks; those of one kind lie side by side in one matrix.
    indices
        By kind, the row of each feature.
    """

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
        if kind not in self._stride:
            raise SpaceError(
                f"no block of the model looks at vectors of kind {kind!r}; they look at "
                f"{', '.join(sorted(self._stride))}"
            )
        shape = len(self.indices[kind]), self._stride[kind]
        return weights[self._origin[kind] :][: shape[0] * shape[1]].reshape(shape)

    def block(self, weights: FloatArray, name: str) -> FloatArray:
        """The weights of one block: a view of shape (features, labels)."""
        block = self._known(name)
        first = self._first[name]
        return self.matrix(weights, block.kind)[:, first : first + block.width]

    def slots(self, frame: Frame) -> Slots:
        """What kernels need to score the inputs of a frame."""
        for block in map(Block._make, frame.needed):
            known = self._known(block.name)
            _check(known, block)
            if known.labels is not None and block.labels not in (None, known.labels):
                raise LabelError(
                    f"block {block.name!r} was learned with the labels {known.labels}, and a "
                    f"variable of it has {block.labels}; give labels as they were, in that order"
                )
        families = [Slot(f.block) for f in frame.global_features for _ in range(f.count)]
        slots = [*frame.slots, *families]
        origin = {b.name: self._origin[b.kind] + self._first[b.name] for b in self.blocks}
        stride = {b.name: self._stride[b.kind] for b in self.blocks}
        tied = dict.fromkeys(slot.tied for slot in slots if slot.tied is not None)
        starts = offsets_from_counts([len(columns) for columns in tied]).tolist()
        place = dict(zip(tied, starts, strict=False))
        return Slots(
            readonly(np.array([-1 if s.vector is None else s.vector for s in slots], np.int64)),
            readonly(np.array([origin[slot.block] for slot in slots], np.int64)),
            readonly(np.array([stride[slot.block] for slot in slots], np.int64)),
            readonly(np.array([slot.each for slot in slots], np.bool_)),
            readonly(np.array([-1 if s.tied is None else place[s.tied] for s in slots], np.int64)),
            readonly(np.concatenate([frame.starts, np.repeat(frame.starts[-1:], len(families))])),
            readonly(np.array([column for columns in tied for column in columns], np.int64)),
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
            for block in map(Block._make, frame.needed):
                known = blocks.setdefault(block.name, block)
                _check(known, block)
                if known.labels != block.labels:
                    blocks[block.name] = known._replace(labels=None)
        return Layout(tuple(blocks.values()), dict(indices))

    @cached_property
    def _by_name(self) -> Mapping[str, Block]:
        return {block.name: block for block in self.blocks}

    @cached_property
    def _columns(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Where each block begins in the matrix of its kind, and the columns of each kind."""
        first: dict[str, int] = {}
        stride: dict[str, int] = {}
        for block in self.blocks:
            first[block.name] = stride.get(block.kind, 0)
            stride[block.kind] = first[block.name] + block.width
        return first, stride

    @property
    def _first(self) -> Mapping[str, int]:
        return self._columns[0]

    @property
    def _stride(self) -> Mapping[str, int]:
        return self._columns[1]

    @cached_property
    def _origin(self) -> Mapping[str, int]:
        """Where the matrix of each kind starts among the weights."""
        at, origin = 0, {}
        for kind, columns in self._stride.items():
            origin[kind] = at
            at += columns * len(self.indices[kind])
        return origin


def _check(known: Block, block: Block) -> None:
    if known.width != block.width:
        raise LabelError(
            f"block {block.name!r} has {known.width} labels or label tuples, and a variable or "
            f"factor of it has {block.width}; use another block for it"
        )
    if known.kind != block.kind:
        raise SpaceError(
            f"block {block.name!r} looks at vectors of kind {known.kind!r} and of kind "
            f"{block.kind!r}; use a block for each"
        )
