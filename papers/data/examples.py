"""What every reader of a data set returns: examples, in parts that have a name.

An example is an input x and its output y. A part is what people train or test on,
such as "train"; one example may be in several parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from rote import DataError

X = TypeVar("X")
Y = TypeVar("Y")
Part = TypeVar("Part")


class Example(NamedTuple, Generic[X, Y]):
    """An input and its output."""

    x: X
    y: Y


# A token is what is observed of it, such as its word and its tag; y has one label per token.
Tokens: TypeAlias = tuple[tuple[str, ...], ...]
Labels: TypeAlias = tuple[str, ...]
TaggedExample: TypeAlias = Example[Tokens, Labels]


def part_of(name: str, parts: Mapping[str, Part], part: str) -> Part:
    """One of the parts of the data set ``name``."""
    if part not in parts:
        raise DataError(f"{name} has the parts {', '.join(parts)}; got {part!r}")
    return parts[part]


@dataclass(frozen=True, eq=False, repr=False)
class DataSet(Generic[X, Y]):
    """A data set by its parts: ``data["train"]`` are the examples to train on."""

    name: str
    parts: Mapping[str, tuple[Example[X, Y], ...]]

    def __getitem__(self, part: str) -> tuple[Example[X, Y], ...]:
        return part_of(self.name, self.parts, part)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{part}: {len(examples)}" for part, examples in self.parts.items())
        return f"<{type(self).__name__} {self.name} ({sizes})>"
