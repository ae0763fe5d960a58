"""The seam between the benchmark and a peer: open a space, then solve one problem after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rote import Space
from rote.inference.solvers.integer_program import Program
from rote.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Answer:
    """The labels found (None when there were none in time), and by the peer's own clock."""

    labels: IntArray | None
    seconds: float
    proved: bool


class Session(Protocol):
    """One space, loaded."""

    def solve(self, scores: FloatArray, limit: float) -> Answer:
        """The best labels under one row of part scores, within so many seconds."""
        ...

    def close(self) -> None: ...


class Peer(Protocol):
    """A solver; ``package`` is what has to be installed for it."""

    @property
    def name(self) -> str: ...

    @property
    def package(self) -> str: ...

    def open(self, space: Space) -> Session: ...

    def close(self) -> None: ...


class Unfit(Exception):
    """The peer cannot take the space; the message is a note for the table."""


class PeerFailed(Exception):
    """The peer broke down."""


def read_labels(program: Program, columns: FloatArray) -> IntArray:
    """The label of each variable, from the columns of a whole solution."""
    return np.flatnonzero(columns[: program.labels] > 0.5) - program.offsets[:-1]
