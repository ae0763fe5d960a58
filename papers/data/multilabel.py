"""Multi-label sets: a matrix of features X and a matrix of 0 and 1, Y, in one .npz file each.

    dense     X_train float (rows, features)
    binary    X_train_indptr, X_train_indices: the columns of each row that are 1
    weighted  the same, and X_data with the values

Beside them Y_train (rows, labels), both again for the test part, and label_names. A set
without a split has its arrays without the ending, and its part is called "all".

In rcv1subset1 the labels have no names, only numbers; the first half of its rows is the
train part and the second half the test part. Its ``top30`` are the columns of the thirty
most frequent labels: ``data.only(data.top30)`` is the set that some papers use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from papers.data.checks import check_counts
from papers.data.examples import part_of
from papers.data.folder import data_folder
from papers.data.npz import Wanted, array_error, check_pointers, read_arrays
from rote import DataError
from rote.types import AnyArray, FloatArray, readonly

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WHOLE = "all"  # the part of a set that has no split


class Form(NamedTuple):
    """What is known of a set: how X is written, and its sizes."""

    kind: Literal["dense", "binary", "weighted"]
    rows: Mapping[str, int]
    features: int
    labels: int
    positives: int  # how often Y is 1, over all parts
    named: bool = True
    top: int = 0  # how many columns the array top30 has, where there is one
    halves: bool = False  # whether the halves of "all" are train and test


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "scene": Form("dense", {"train": 1211, "test": 1196}, 294, 6, 2585),
        "yeast": Form("dense", {"train": 1500, "test": 917}, 103, 14, 10241),
        "bibtex": Form("binary", {"train": 4880, "test": 2515}, 1836, 159, 17762),
        "enron": Form("binary", {"train": 1123, "test": 579}, 1001, 53, 5750),
        "corel5k": Form("binary", {"train": 4500, "test": 500}, 499, 374, 17610),
        "delicious": Form("binary", {"train": 12920, "test": 3185}, 500, 983, 306317),
        "cal500": Form("dense", {WHOLE: 502}, 68, 174, 13074),
        "rcv1subset1": Form(
            "weighted", {WHOLE: 6000}, 47236, 101, 17370, named=False, top=30, halves=True
        ),
    }
)


@dataclass(frozen=True, eq=False)
class Labelled:
    """One input per row of X, and its labels in the same row of Y; read-only."""

    X: FloatArray | csr_array
    Y: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.Y)


@dataclass(frozen=True, eq=False, repr=False)
class LabelSets:
    """A data set by its parts; column k of every Y is the label ``label_names[k]``."""

    name: str
    label_names: tuple[str, ...]
    parts: Mapping[str, Labelled]
    top30: tuple[int, ...] = ()

    def __getitem__(self, part: str) -> Labelled:
        return part_of(self.name, self.parts, part)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{part}: {len(rows)}" for part, rows in self.parts.items())
        return f"<{type(self).__name__} {self.name} ({sizes}; {len(self.label_names)} labels)>"

    def only(self, columns: Sequence[int]) -> LabelSets:
        """The same inputs with some of the labels, in the order given."""
        unknown = [k for k in columns if not 0 <= k < len(self.label_names)]
        if unknown:
            raise DataError(
                f"{self.name} has the label columns 0 to {len(self.label_names) - 1}; "
                f"got {unknown[0]}"
            )
        kept = list(columns)
        parts = {part: Labelled(at.X, readonly(at.Y[:, kept])) for part, at in self.parts.items()}
        names = tuple(self.label_names[k] for k in kept)
        return replace(self, label_names=names, parts=MappingProxyType(parts), top30=())


def load_multilabel(name: str, folder: str | Path | None = None) -> LabelSets:
    """The set called ``name``, with every count checked; by default from ROTE_DATA."""
    if name not in FORMS:
        raise DataError(f"the multi-label sets are {', '.join(FORMS)}; got {name!r}")
    folder = data_folder(name) if folder is None else Path(folder)
    return read_multilabel(folder / f"{name}.npz", name, FORMS[name])


def read_multilabel(path: str | Path, name: str, form: Form) -> LabelSets:
    """The set in one file, which must have the form given."""
    path = Path(path)
    arrays = read_arrays(path, _wanted(form))
    if form.kind != "dense" and (features := int(arrays["n_features"])) != form.features:
        raise array_error(path, "n_features", f"expected {form.features}, got {features}")
    parts = {}
    for part, rows in form.rows.items():
        ending = _ending(part)
        X = _features(path, arrays, f"X{ending}", form, rows)
        parts[part] = Labelled(X, _labels(path, f"Y{ending}", arrays[f"Y{ending}"]))
    positives = sum(int(np.count_nonzero(at.Y)) for at in parts.values())
    check_counts(name, path, {"labels given": form.positives}, {"labels given": positives})
    if form.halves:
        parts = {**_halves(parts[WHOLE]), **parts}
    numbered = tuple(str(k) for k in range(form.labels))
    names = tuple(arrays["label_names"].tolist()) if form.named else numbered
    if len(set(names)) != len(names):
        raise array_error(path, "label_names", "expected names that differ, got one twice")
    top = _top(path, arrays["top30"], form.labels) if form.top else ()
    return LabelSets(name, names, MappingProxyType(parts), top)


def _wanted(form: Form) -> dict[str, Wanted]:
    wanted = {}
    for part, rows in form.rows.items():
        ending = _ending(part)
        wanted[f"Y{ending}"] = Wanted("iu", (rows, form.labels))
        if form.kind == "dense":
            wanted[f"X{ending}"] = Wanted("f", (rows, form.features))
            continue
        wanted[f"X{ending}_indptr"] = Wanted("iu", (rows + 1,))
        wanted[f"X{ending}_indices"] = Wanted("iu", (None,))
        if form.kind == "weighted":
            wanted[f"X{ending}_data"] = Wanted("f", (None,))
    if form.kind != "dense":
        wanted["n_features"] = Wanted("iu", ())
    if form.named:
        wanted["label_names"] = Wanted("U", (form.labels,))
    if form.top:
        wanted["top30"] = Wanted("iu", (form.top,))
    return wanted


def _ending(part: str) -> str:
    return "" if part == WHOLE else f"_{part}"


def _features(
    path: Path, arrays: Mapping[str, AnyArray], name: str, form: Form, rows: int
) -> FloatArray | csr_array:
    if form.kind == "dense":
        return readonly(arrays[name].astype(np.float64))
    from scipy.sparse import csr_array

    pointers, columns = arrays[f"{name}_indptr"], arrays[f"{name}_indices"].astype(np.int64)
    check_pointers(path, f"{name}_indptr", pointers, len(columns))
    rises = np.diff(columns) > 0
    # Where a new row begins, its first column may be anything.
    inner = pointers[(pointers > 0) & (pointers < len(columns))].astype(np.int64)
    rises[inner - 1] = True
    if not rises.all() or np.any(columns < 0) or np.any(columns >= form.features):
        raise array_error(
            path,
            f"{name}_indices",
            f"expected columns that rise in each row and are less than {form.features}",
        )
    values = np.ones(len(columns))
    if form.kind == "weighted":
        values = arrays[f"{name}_data"].astype(np.float64)
        if len(values) != len(columns):
            raise array_error(
                path, f"{name}_data", f"expected {len(columns)} values, got {len(values)}"
            )
    narrow = (values, columns.astype(np.int32), pointers.astype(np.int32))
    return _locked(csr_array(narrow, shape=(rows, form.features)))


def _labels(path: Path, name: str, labels: AnyArray) -> NDArray[np.uint8]:
    if np.any((labels != 0) & (labels != 1)):
        raise array_error(path, name, "expected 0 and 1 only")
    return readonly(labels.astype(np.uint8))


def _top(path: Path, columns: AnyArray, labels: int) -> tuple[int, ...]:
    top = tuple(int(k) for k in columns)
    if len(set(top)) != len(top) or min(top) < 0 or max(top) >= labels:
        raise array_error(path, "top30", f"expected different columns from 0 to {labels - 1}")
    return top


def _halves(whole: Labelled) -> dict[str, Labelled]:
    middle = len(whole) // 2
    return {
        "train": Labelled(_locked(whole.X[:middle]), readonly(whole.Y[:middle])),
        "test": Labelled(_locked(whole.X[middle:]), readonly(whole.Y[middle:])),
    }


def _locked(matrix: csr_array) -> csr_array:
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    return matrix
