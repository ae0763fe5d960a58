"""The seam between people's data and everything else: what a task says of an input.

A task turns an input x into a `Frame` and feature vectors, and outputs y into labels and
back. The frame holds what inputs of one shape share, so it should be built once per shape
(decorate its builder with `functools.lru_cache`): the space, and for each variable and
factor of it a *slot*: the block of weights it uses, and which of the input's vectors it
looks at. Slots that name the same block share their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from rote.errors import SpaceError
from rote.features import Features
from rote.space import Space
from rote.types import IntArray, frozen

X_contra = TypeVar("X_contra", contravariant=True)
Y = TypeVar("Y")


class Slot(NamedTuple):
    """What a variable or factor is scored by; without a vector, by constants alone.

    With ``each``, label a has a vector of its own, number ``vector + a``, and the labels share
    one weight per feature: so are a mention's antecedents told apart, of which there are more
    in every next one.
    """

    block: str
    vector: int | None = None
    each: bool = False


@dataclass(frozen=True)
class Frame:
    """What inputs of one shape share."""

    space: Space
    slots: tuple[Slot, ...]  # one per variable, then one per factor
    kinds: tuple[str, ...] = ()  # the kind of each vector of an input

    def __post_init__(self) -> None:
        expected = len(self.space.variables) + len(self.space.factors)
        if len(self.slots) != expected:
            raise SpaceError(
                f"a frame has one slot per variable and factor of its space, {expected} in all; "
                f"got {len(self.slots)}"
            )
        for slot, width in zip(self.slots, np.diff(self.starts).tolist(), strict=True):
            if slot.vector is None:
                if slot.each:
                    raise SpaceError(f"a slot of block {slot.block!r} has each, but no vector")
                continue
            end = slot.vector + (width if slot.each else 1)
            if slot.vector < 0 or end > len(self.kinds):
                raise SpaceError(
                    f"a slot of block {slot.block!r} looks at vector {end - 1}, and an input has "
                    f"{len(self.kinds)}"
                )
            if len(set(self.kinds[slot.vector : end])) > 1:
                raise SpaceError(
                    f"a slot of block {slot.block!r} looks at vectors of several kinds; "
                    "those of its labels are of one kind"
                )

    @cached_property
    def starts(self) -> IntArray:
        """The first part of each slot; one more entry ends the last."""
        space = self.space
        return frozen(np.concatenate([space.offsets[:-1], space.factor_offsets]))

    @cached_property
    def widths(self) -> IntArray:
        """How many columns of weights each slot uses: one per label or label tuple, or one."""
        each = np.array([slot.each for slot in self.slots], dtype=np.bool_)
        return frozen(np.where(each, 1, np.diff(self.starts)))


class Task(Protocol[X_contra, Y]):
    """What an input looks like and what its outputs mean."""

    def frame(self, x: X_contra) -> Frame:
        """What inputs of this shape share; the same object for the same shape."""
        ...

    def vectors(self, x: X_contra) -> Sequence[Features]:
        """The feature vectors of an input, as many as its frame has kinds."""
        ...

    def encode(self, x: X_contra, y: Y) -> Sequence[int]:
        """The labels of an output, by their position, one per variable."""
        ...

    def decode(self, x: X_contra, labels: Sequence[int]) -> Y:
        """The output of labels, one position per variable."""
        ...
