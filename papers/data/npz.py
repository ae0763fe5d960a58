"""Arrays of .npz files, checked for kind, shape and finite values, and named when they are wrong.

Nothing pickled is loaded: a file can hold data only, never code.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile

from rote import DataError
from rote.types import AnyArray

# The kinds of array a file may hold, by numpy's letter for them.
KINDS = {"f": "decimals", "iu": "whole numbers", "U": "strings"}
# What reading a damaged file ends in; a flipped bit may also name a way of packing that zipfile
# does not have, which it says by NotImplementedError.
DAMAGE = (BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError)


class Wanted(NamedTuple):
    """What an array should be: one of KINDS, and its shape, with None for any size."""

    kind: str
    shape: tuple[int | None, ...]


def read_arrays(path: Path, wanted: Mapping[str, Wanted]) -> dict[str, AnyArray]:
    """The arrays that ``wanted`` names, each as it should be, every decimal finite."""
    try:
        # Opened here, because numpy leaves the file open when it is damaged.
        with path.open("rb") as file:
            opened = np.load(file, allow_pickle=False)
            if not isinstance(opened, NpzFile):
                raise DataError(f"{path}: expected an .npz file, got a single array")
            return {name: _checked(path, opened, name, what) for name, what in wanted.items()}
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except DAMAGE as error:
        raise DataError(f"{path}: is not a whole .npz file: {error}") from None


def array_error(path: Path, name: str, reason: str) -> DataError:
    """What is wrong with one array of a file."""
    return DataError(f"{path}, array {name!r}: {reason}")


def check_pointers(path: Path, name: str, pointers: AnyArray, total: int) -> None:
    """Pointers cut ``total`` rows into stretches: they start at 0, never fall, end at ``total``."""
    whole = pointers.astype(np.int64)
    if whole[0] != 0 or whole[-1] != total or np.any(np.diff(whole) < 0):
        raise array_error(
            path, name, f"expected numbers that rise from 0 to {total}, got {_shortened(whole)}"
        )


def _checked(path: Path, opened: NpzFile, name: str, wanted: Wanted) -> AnyArray:
    if name not in opened.files:
        raise array_error(path, name, f"is missing; the file has {', '.join(opened.files)}")
    try:
        array: AnyArray = opened[name]
    except (*DAMAGE, OSError) as error:
        raise array_error(path, name, f"cannot be read, the file is damaged: {error}") from None
    fits = array.ndim == len(wanted.shape) and all(
        size in (None, found) for size, found in zip(wanted.shape, array.shape, strict=True)
    )
    if array.dtype.kind not in wanted.kind or not fits:
        shape = ", ".join("any" if size is None else str(size) for size in wanted.shape)
        raise array_error(
            path,
            name,
            f"expected {KINDS[wanted.kind]} of shape ({shape}), "
            f"got {array.dtype} of shape {array.shape}",
        )
    if wanted.kind == "f" and not np.isfinite(array).all():
        raise array_error(path, name, "expected finite numbers, got NaN or an infinity")
    return array


def _shortened(numbers: AnyArray) -> str:
    return np.array2string(numbers, threshold=6, edgeitems=3, separator=", ")
