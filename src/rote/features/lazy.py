"""Rows that are computed when first asked for, and then kept.

What was never asked for was never computed: `LazyRows.share` says how much was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import Generic, TypeVar

from rote.errors import SettingError

Row = TypeVar("Row")


class LazyRows(Generic[Row]):
    """``count`` rows, where row ``i`` is ``compute(i)``.

    ``compute`` must give equal rows whenever it is asked for the same one. Threads may share
    the rows: each row is kept once and all threads get the one that is kept, though two that
    ask for a new row at the same moment may both compute it. A row whose computation fails
    is not kept, and is computed again when asked for again.

    >>> squares = LazyRows(4, lambda i: {"square": i * i})
    >>> squares.row(3), squares.computed, squares.share
    ({'square': 9}, 1, 0.25)
    """

    def __init__(self, count: int, compute: Callable[[int], Row]) -> None:
        if count < 0:
            raise SettingError(f"there cannot be {count} rows; give a count of 0 or more")
        self._count = count
        self._compute = compute
        self._kept: dict[int, Row] = {}

    def __len__(self) -> int:
        return self._count

    def row(self, i: int) -> Row:
        """Row ``i``, counted from 0."""
        i = index(i)
        try:
            return self._kept[i]
        except KeyError:
            pass
        if not 0 <= i < self._count:
            raise SettingError(f"there are {self._count} rows, counted from 0, and none is {i}")
        # setdefault is one step to other threads, so the row of the first to come is kept.
        return self._kept.setdefault(i, self._compute(i))

    def rows(self, indices: Iterable[int]) -> list[Row]:
        """These rows, in the order asked for."""
        return [self.row(i) for i in indices]

    @property
    def computed(self) -> int:
        """How many rows are kept."""
        return len(self._kept)

    @property
    def share(self) -> float:
        """The share of rows that are kept; 0 when there are no rows."""
        return self.computed / self._count if self._count else 0.0
