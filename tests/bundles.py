"""Bundles of kernels as tests read them: by numpy arrays, also where they are compiled."""

from types import SimpleNamespace

import numpy as np

from rote.kernels.bundles import Vectors
from rote.types import AnyArray


def as_arrays(bundle: object) -> SimpleNamespace:
    """The fields of a bundle, arrays as numpy has them; bundles in it likewise."""
    fields = {name: getattr(bundle, name) for name in dir(bundle) if name[0] != "_"}
    return SimpleNamespace(**{name: _read(value) for name, value in fields.items()})


def fields_of(vectors: Vectors) -> tuple[AnyArray, AnyArray, AnyArray]:
    """The arrays of feature vectors."""
    return vectors.ptr, vectors.column, vectors.value


def _read(value: object) -> object:
    if isinstance(value, int | float | bool | np.ndarray) or callable(value):
        return value
    return np.asarray(value) if hasattr(value, "shape") else as_arrays(value)
