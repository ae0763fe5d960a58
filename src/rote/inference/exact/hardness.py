"""What the search of a space has shown: whether its inputs are hard, and what finished them."""

from __future__ import annotations

from rote.inference.engine import Locked
from rote.inference.exact.tables import once_per_space
from rote.space.space import Space

LONG_SEARCH = 1 << 16  # nodes of branch and bound, about a quarter of a second
LONG = 0.1  # seconds of a solver


class Memory(Locked):
    """What finished the hard inputs of a space the last time."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes = 0  # of the first turn of branch and bound, at least
        self.seconds = 0.0  # that a solver took for one of them

    def note(self, nodes: int, seconds: float) -> None:
        """Branch and bound with so many nodes was enough, or a solver in so many seconds."""
        with self.lock:
            self.nodes, self.seconds = nodes, seconds


@once_per_space
def memory_of(_space: Space) -> Memory:
    """Kept with the space, and shared by its equals."""
    return Memory()


def is_hard(space: Space) -> bool:
    """Whether an input of the space took a long search, or a solver long."""
    memory = memory_of(space)
    return memory.nodes >= LONG_SEARCH or memory.seconds >= LONG
