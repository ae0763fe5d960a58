"""Which column a feature has.

An index maps names to columns 0, 1, 2, … A `FeatureIndex` lists its names: it gives each new
name the next column until it is frozen, and from then on answers -1 for names it does not
know. A `HashedIndex` computes columns and keeps nothing. `Positions` is for arrays, whose
columns are their positions. A column, once given, never changes.

All three have a JSON form, told apart by the key "index":

    {"index": "names", "names": ["bias", "word[0]=dog"], "frozen": true}
    {"index": "hashed", "bits": 18}
    {"index": "positions", "width": 128}
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol
from zlib import crc32

import numpy as np

from rote.errors import DataError, SettingError
from rote.features.batches import Lines, Runs
from rote.features.trie import UNKNOWN, Names
from rote.kernels.features.trie import NEW, packed

MAX_BITS = 30
FEW = 16  # inputs for which names are not listed: these are read name by name


class Index(Protocol):
    """A map from feature names to columns."""

    @property
    def frozen(self) -> bool:
        """Whether a new name is answered with -1, or no name is ever new."""
        ...

    def freeze(self) -> None:
        """Take no new names from now on; doing so again changes nothing."""
        ...

    def column(self, name: str) -> int:
        """The column of a name."""
        ...

    def columns(self, names: Iterable[str]) -> list[int]:
        """The column of each name, repeated where a name is."""
        ...

    def names(self) -> tuple[str, ...]:
        """All names, in the order of their columns."""
        ...

    def name(self, column: int) -> str:
        """The name that has this column."""
        ...

    def to_json(self) -> dict[str, Any]:
        """What `index_from_json` reads."""
        ...

    def __len__(self) -> int:
        """How many columns there are."""
        ...

    def __contains__(self, name: object) -> bool: ...


class Listing:
    """Numbers of names, and the columns that an index has for them alone and behind each mark.

    Names that are ``known`` are listed at once, and those listed behind a mark alone too; all
    others have no column. Without them, each name is spelled when it first comes, and asked for.
    """

    def __init__(
        self,
        index: Index,
        marks: tuple[str, ...],
        separator: str,
        known: Iterable[str] | None = None,
    ) -> None:
        self.marks, self._index = marks, index
        self._signs = "", *marks  # what stands before a name, by mark
        listed = None if known is None else dict.fromkeys(known)
        if listed is not None:
            own = tuple(listed)
            for mark in marks:
                listed |= dict.fromkeys(n[len(mark) :] for n in own if n.startswith(mark))
        self.names = Names(listed, separator)
        self._table = np.array(  # (1 + marks, names): columns, or -1
            [index.columns(map(sign.__add__, listed or ())) for sign in self._signs], dtype=np.int64
        ).reshape(len(self._signs), -1)

    def columns(self, lines: Lines) -> Runs:
        """The columns of lines of names."""
        known = self._table.shape[1]
        if len(self.names) > known:
            table = np.full((len(self._signs), 2 * len(self.names)), NEW)
            table[:, :known] = self._table
            self._table = table
        said = *lines.build(), lines.marked, lines.alone, self._table
        columns, ptr, new = packed(*said)
        if len(new):
            marks, numbers = new.T
            spelled = self.names.spelled(numbers.tolist())
            names = [self._signs[m] + name for m, name in zip(marks.tolist(), spelled, strict=True)]
            self._table[marks, numbers] = self._index.columns(names)
            columns, ptr, _ = packed(*said)
        return Runs(columns, ptr)

    def settled(self, count: int) -> bool:
        """Take no new names, and say whether so many are listed, which are all there are."""
        self.names.grows = False
        self._table[self._table == NEW] = UNKNOWN
        return int((self._table >= 0).sum()) == count


class FeatureIndex:
    """Names in the order in which they were first seen.

    >>> index = FeatureIndex()
    >>> index.columns(["bias", "word=dog", "bias"])
    [0, 1, 0]
    >>> index.freeze()
    >>> index.column("word=cat")
    -1
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._columns = _Columns()
        # These are not saved or compared.
        self._inputs = 0
        self._listings: dict[tuple[tuple[str, ...], str], Listing] = {}
        self._ordered: tuple[str, ...] = ()
        for expected, column in enumerate(self.columns(names)):
            if column != expected:
                raise DataError(
                    f"each name has one column, and {self.name(column)!r} is listed for "
                    f"columns {column} and {expected}; list it once"
                )

    @property
    def frozen(self) -> bool:
        return self._columns.frozen

    def freeze(self) -> None:
        if not self.frozen:
            self._columns.frozen = True
            every = self._listings.items()
            self._listings = {key: own for key, own in every if own.settled(len(self))}

    def column(self, name: str) -> int:
        return self._columns[name]

    def columns(self, names: Iterable[str]) -> list[int]:
        _refuse_text(names)
        # No Python code runs for a name that is known, whether the index grows or not.
        return list(map(self._columns.__getitem__, names))

    def listing(self, marks: tuple[str, ...] = (), separator: str = " ") -> Listing:
        """What lines of names are read with: always the same, until the index is frozen."""
        key = marks, separator
        if key not in self._listings:
            known = self._columns if self.frozen else None
            self._listings[key] = Listing(self, marks, separator, known)
        return self._listings[key]

    def worth_listing(self, inputs: int) -> bool:
        """Whether names should be listed to read so many more inputs: not for the first few."""
        self._inputs += inputs
        return self._inputs >= FEW

    def names(self) -> tuple[str, ...]:
        # Names are only ever added, so their number tells whether the tuple is up to date.
        if len(self._ordered) != len(self._columns):
            self._ordered = tuple(self._columns)
        return self._ordered

    def name(self, column: int) -> str:
        _check_column(column, len(self))
        return self.names()[column]

    def to_json(self) -> dict[str, Any]:
        return {"index": "names", "names": list(self._columns), "frozen": self.frozen}

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureIndex):
            return NotImplemented
        return self.frozen == other.frozen and self._columns == other._columns

    __hash__ = None  # type: ignore[assignment]  # an index that grows cannot be a key

    def __copy__(self) -> FeatureIndex:
        return deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_listings": {}, "_inputs": 0}

    def __repr__(self) -> str:
        return f"<FeatureIndex of {len(self)} names, {'frozen' if self.frozen else 'growing'}>"


@dataclass(frozen=True)
class HashedIndex:
    """The column of a name is its hash, one of ``2**bits``: nothing to keep, nothing to grow.

    Names that fall on one column share it, and what they stand for adds up there; the more
    columns for each name, the rarer. The hash is the same in every process and on every
    machine.

    >>> HashedIndex(18).columns(["bias", "word=dog"])
    [223835, 116408]
    """

    bits: int

    def __post_init__(self) -> None:
        if type(self.bits) is not int or not 1 <= self.bits <= MAX_BITS:
            raise SettingError(
                f"bits must be a whole number between 1 and {MAX_BITS}, got {self.bits!r}"
            )

    @property
    def frozen(self) -> bool:
        return True

    def freeze(self) -> None:
        """A hashed index is frozen from the start."""

    def column(self, name: str) -> int:
        return self.columns((name,))[0]

    def columns(self, names: Iterable[str]) -> list[int]:
        _refuse_text(names)
        mask = (1 << self.bits) - 1
        found = []
        for name in names:
            if not isinstance(name, str):
                raise _no_name(name)
            # Half of a surrogate pair is no UTF-8, yet may be part of a str that JSON brought.
            found.append(crc32(name.encode("utf-8", "surrogatepass")) & mask)
        return found

    def names(self) -> tuple[str, ...]:
        raise SettingError(
            "a hashed index keeps no names, so they cannot be listed; use a FeatureIndex to see "
            "which feature has which column"
        )

    def name(self, column: int) -> str:
        raise SettingError(
            f"a hashed index keeps no names, so column {column} has none; use a FeatureIndex to "
            "see which feature has which column"
        )

    def to_json(self) -> dict[str, Any]:
        return {"index": "hashed", "bits": self.bits}

    def __len__(self) -> int:
        return 1 << self.bits

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)


@dataclass(frozen=True)
class Positions:
    """The columns of arrays with ``width`` entries; their names are "0", "1", "2" and so on.

    >>> Positions(3).names()
    ('0', '1', '2')
    >>> Positions(3).columns(["2", "3"])
    [2, -1]
    """

    width: int

    def __post_init__(self) -> None:
        if type(self.width) is not int or self.width < 0:
            raise SettingError(
                f"width must be a whole number that is not negative, got {self.width!r}"
            )

    @property
    def frozen(self) -> bool:
        return True

    def freeze(self) -> None:
        """The positions of an array are fixed from the start."""

    def column(self, name: str) -> int:
        if not isinstance(name, str):
            raise _no_name(name)
        # The length comes first: Python refuses to read a number of very many digits.
        if len(name) <= len(str(self.width)) and name.isascii() and name.isdecimal():
            column = int(name)
            if column < self.width and str(column) == name:
                return column
        return UNKNOWN

    def columns(self, names: Iterable[str]) -> list[int]:
        _refuse_text(names)
        return [self.column(name) for name in names]

    def names(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.width)))

    def name(self, column: int) -> str:
        _check_column(column, self.width)
        return str(column)

    def to_json(self) -> dict[str, Any]:
        return {"index": "positions", "width": self.width}

    def __len__(self) -> int:
        return self.width

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.column(name) != UNKNOWN


def index_from_json(value: Any) -> Index:
    """The index that ``to_json`` wrote, with everything checked."""
    try:
        match value:
            case {"index": "names", "names": list(names), "frozen": bool(is_frozen)} if len(
                value
            ) == 3 and all(isinstance(name, str) for name in names):
                index = FeatureIndex(names)
                if is_frozen:
                    index.freeze()
                return index
            case {"index": "hashed", "bits": bits} if len(value) == 2:
                return HashedIndex(bits)
            case {"index": "positions", "width": width} if len(value) == 2:
                return Positions(width)
    except SettingError as error:
        raise DataError(f"an index of {value['index']}: {error}") from None
    raise DataError(
        'an index has the key "index", which is names (with a list of names, and whether it is '
        f"frozen), hashed (with bits) or positions (with width); got {value!r:.80}; it may have "
        "been written by a later version"
    )


class _Columns(dict[str, int]):
    """A dictionary that gives a key it does not have the next number, until it is frozen."""

    frozen = False

    def __missing__(self, name: str) -> int:
        if not isinstance(name, str):
            raise _no_name(name)
        if self.frozen:
            return UNKNOWN
        column = self[name] = len(self)
        return column


def _no_name(name: object) -> DataError:
    return DataError(
        f"names of features are strings, got {name!r} of type {type(name).__name__}; if "
        "numbers are meant, make it a numpy array; names that have values are a mapping"
    )


def _refuse_text(names: Iterable[str]) -> None:
    if isinstance(names, str):
        raise DataError(f"expected a list of names, got the string {names!r}; put it into a list")


def _check_column(column: int, count: int) -> None:
    if not 0 <= column < count:
        raise SettingError(f"there are {count} columns, counted from 0, and none is {column}")
