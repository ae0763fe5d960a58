"""Arrays, tensors and tables of other packages, read without importing these packages.

A table is a DataFrame of pandas or polars, or a table of Arrow. It is read by the names of its
columns, never by their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rote.errors import DataError, ScoreError
from rote.types import AnyArray, FloatArray, IntArray


def as_array(given: Any) -> AnyArray:
    """An array; of a tensor, whatever its device, type and gradient."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        # Half precision may be bfloat16, which numpy does not have.
        given = given.float() if given.is_floating_point() and given.itemsize < 4 else given
        given = given.numpy()
    return np.asarray(given)


def columns_of(given: Any) -> dict[str, Any] | None:
    """The columns of a table by their names; None for what is no table."""
    match type(given).__module__.partition(".")[0], type(given).__name__:
        case "pandas", "DataFrame":
            pairs = [(str(name), given.iloc[:, k]) for k, name in enumerate(given.columns)]
        case "polars", "DataFrame":
            pairs = [(column.name, column) for column in given.get_columns()]
        case "pyarrow", "Table":
            pairs = list(zip(given.column_names, given.columns, strict=True))
        case _:
            return None
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"a table has two columns called {twice!r}; drop or rename one")
    return dict(pairs)


def column(table: Mapping[str, Any], name: str) -> Any:
    """The column of a name."""
    if name not in table:
        raise DataError(f"there is no column {name!r}; there are {', '.join(table)}")
    return table[name]


def check_names(table: Mapping[str, Any], names: Sequence[str], *, others: bool = False) -> None:
    """Refuse a table without some columns or, unless allowed, with others."""
    missing = [name for name in names if name not in table]
    unknown = [] if others else [name for name in table if name not in names]
    if missing or unknown:
        lists = {"missing": missing, "unknown": unknown}
        said = "; ".join(f"{what}: {', '.join(own):.200}" for what, own in lists.items() if own)
        raise ScoreError(f"a table of scores has a column for each label, by its name; {said}")


def numbers(table: Mapping[str, Any], names: Sequence[str]) -> FloatArray:
    """The numbers of some columns, of shape (rows, names)."""
    check_names(table, names, others=True)
    found = np.empty((len(table[names[0]]) if names else 0, len(names)))
    for k, name in enumerate(names):
        try:
            found[:, k] = table[name].to_numpy()
        except (TypeError, ValueError):
            raise ScoreError(
                f"column {name!r} of a table of scores is not one of numbers"
            ) from None
    return found


def grouped(given: Any) -> tuple[Any, Sequence[Any]] | None:
    """The table that ``groupby`` was asked of, and the key of each row; None for all else."""
    match type(given).__name__:
        case "DataFrameGroupBy":
            return given.obj, given.ngroup().tolist()
        case "GroupBy" if hasattr(given, "df"):
            return given.df, given.df.select(*given.by).rows()
        case _:
            return None


def in_runs(keys: Sequence[Any]) -> tuple[IntArray, IntArray, list[Any]]:
    """The rows group by group, in the order of their first rows; group sizes, and their keys."""
    known: dict[Any, int] = {}
    codes = np.array([known.setdefault(key, len(known)) for key in keys], np.int64)
    for key, code in known.items():
        if key is None or key != key:  # NaN
            raise DataError(f"row {codes.tolist().index(code)} is of no group: its key is {key}")
    return np.argsort(codes, kind="stable"), np.bincount(codes, minlength=len(known)), [*known]


def like(given: Any, values: Iterable[Any], name: str) -> Any:
    """A column of a name beside the rows of a table, of the table's own kind."""
    match type(given).__module__.partition(".")[0]:
        case "pandas":
            import pandas as pd

            return pd.Series(values, index=given.index, name=name, dtype=object)
        case "polars":
            import polars as pl

            return pl.Series(name, values)
        case _:
            import pyarrow as pa

            return pa.array(values)
