"""Feature indices: which column a feature has.

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

from abc import ABC, abstractmethod
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from rote.errors import DataError, SettingError
from rote.features.batches import Lines, Runs
from rote.features.trie import UNKNOWN, Names
from rote.kernels.features.trie import NEW, packed
from rote.settings import Checked, whole

MAX_BITS = 30
FEW = 16  # inputs for which names are not listed: these are read name by name


class Index(ABC):
    """A map from feature names to columns; this one is frozen from the start."""

    @property
    def frozen(self) -> bool:
        """Whether a new name is answered with -1, or no name is ever new."""
        return True

    def freeze(self) -> None:  # noqa: B027
        """Take no new names from now on; doing so again changes nothing."""

    def column(self, name: str) -> int:
        """The column of a name."""
        return self.columns((name,))[0]

    @abstractmethod
    def columns(self, names: Iterable[str]) -> list[int]:
        """The column of each name, repeated where a name is."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """All names, in the order of their columns."""

    def name(self, column: int) -> str:
        """The name that has this column."""
        names = self.names()
        if not 0 <= column < len(names):
            raise SettingError(f"column is below {len(names)}, counted from 0, got {column}")
        return names[column]

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """What `index_from_json` reads."""

    @abstractmethod
    def __len__(self) -> int:
        """How many columns there are."""

    @abstractmethod
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


class FeatureIndex(Index):
    """Names in the order in which they were first seen, until it is frozen.

    Parameters
    ----------
    names
        Those it begins with, each once: the first has column 0.

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
class HashedIndex(Checked, Index):
    """The column of a name is its hash: nothing to keep, nothing to grow.

    Names that fall on one column share it, and what they stand for adds up there. The hash is the
    same in every process and on every machine.

    Parameters
    ----------
    bits
        From 1 to 30: there are ``2**bits`` columns. The more columns for each name, the fewer share
        one.

    >>> HashedIndex(18).columns(["bias", "word=dog"])
    [223835, 116408]
    """

    bits: int

    checks: ClassVar = {"bits": whole(1, MAX_BITS)}

    def columns(self, names: Iterable[str]) -> list[int]:
        mask = (1 << self.bits) - 1
        # Half of a surrogate pair is no UTF-8, yet may be part of a str that JSON brought.
        return [crc32(n.encode("utf-8", "surrogatepass")) & mask for n in _checked(names)]

    def names(self) -> tuple[str, ...]:
        raise SettingError(
            "a hashed index keeps no names, so columns have none; use a FeatureIndex to see which "
            "feature has which column"
        )

    def to_json(self) -> dict[str, Any]:
        return {"index": "hashed", "bits": self.bits}

    def __len__(self) -> int:
        return 1 << self.bits

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)


@dataclass(frozen=True)
class Positions(Checked, Index):
    """The columns of arrays; their names are "0", "1", "2" and so on.

    Parameters
    ----------
    width
        How many entries an array has, and so columns.

    >>> Positions(3).names()
    ('0', '1', '2')
    >>> Positions(3).columns(["2", "3"])
    [2, -1]
    """

    width: int

    checks: ClassVar = {"width": whole(0)}

    def columns(self, names: Iterable[str]) -> list[int]:
        # The length comes first: Python refuses to read a number of very many digits.
        longest = len(str(self.width))
        short = [n if len(n) <= longest and n.isdecimal() else "-1" for n in _checked(names)]
        columns = [int(name) if name == str(int(name)) else UNKNOWN for name in short]
        return [column if column < self.width else UNKNOWN for column in columns]

    def names(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.width)))

    def to_json(self) -> dict[str, Any]:
        return {"index": "positions", "width": self.width}

    def __len__(self) -> int:
        return self.width

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.column(name) != UNKNOWN


def index_from_json(value: Any) -> Index:
    """The index that ``to_json`` wrote, with everything checked.

    Parameters
    ----------
    value
        What JSON was read into, in one of the forms that the module's docstring shows.
    """
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


def _checked(names: Iterable[str]) -> list[str]:
    _refuse_text(names)
    listed = list(names)
    if not set(map(type, listed)) <= {str}:  # no Python code runs for each name
        for name in listed:
            if not isinstance(name, str):
                raise _no_name(name)
    return listed
