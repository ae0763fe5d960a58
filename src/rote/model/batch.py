"""`Batch`: examples that share a frame, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rote.kernels.bundles import Slots
from rote.space import Space
from rote.space.global_features import columns_of
from rote.tasks.task import Frame
from rote.types import AnyArray, FloatArray, IntArray, readonly

CHUNK = 1 << 22  # scores that are in memory at once, for each thread


@dataclass(frozen=True, eq=False)
class Batch:
    """The examples of one frame.

    Parameters
    ----------
    frame, slots
        The space, and the weights that each variable and factor of it is scored by.
    members, firsts
        Of shape (m,): which examples of the whole these are, and the first feature vector of each.
    sample_weight
        Of shape (m,): how much each counts in learning.
    gold
        Of shape (m, variables): the right labels, where they are known.
    """

    frame: Frame
    slots: Slots
    members: IntArray
    firsts: IntArray
    sample_weight: FloatArray
    gold: IntArray | None

    def __len__(self) -> int:
        return len(self.members)

    @property
    def space(self) -> Space:
        return self.frame.space

    def rows(self, index: slice | AnyArray) -> Batch:
        """Some of the examples."""
        arrays = self.members, self.firsts, self.sample_weight, self.gold
        own = (None if array is None else readonly(array[index]) for array in arrays)
        return Batch(self.frame, self.slots, *own)  # type: ignore[arg-type]

    def chunks(self, n_jobs: int = 1) -> list[Batch]:
        """Some examples at a time, so few that their scores fit into memory.

        With several jobs, there is at least a piece for each of them.
        """
        size = max(1, CHUNK // max(1, self.space.parts))
        if n_jobs > 1:
            size = min(size, -(-len(self) // n_jobs))
        return [self.rows(slice(k, k + size)) for k in range(0, len(self), size)]

    @cached_property
    def gold_slots(self) -> IntArray:
        """The right label or label tuple of each slot, of shape (m, slots)."""
        assert self.gold is not None
        return self.columns(self.gold)

    def columns(self, labels: IntArray) -> IntArray:
        """The label, label tuple or global feature of each slot in outputs of an engine."""
        return columns_of(self.space, self.frame.global_feature_set, labels)


def within_memory(groups: Iterable[Batch]) -> Iterator[list[Batch]]:
    """Pieces of batches, as many at once as there is room for their scores in memory."""
    together: list[Batch] = []
    room = CHUNK
    for piece in (piece for group in groups for piece in group.chunks()):
        size = len(piece) * piece.space.parts
        if together and size > room:
            yield together
            together, room = [], CHUNK
        together.append(piece)
        room -= size
    if together:
        yield together
