"""Bundles of kernels as tests read them: by numpy arrays, also where they are compiled."""

from types import SimpleNamespace

import numpy as np


def as_arrays(bundle: object) -> SimpleNamespace:
    """The fields of a bundle, arrays as numpy has them; bundles in it likewise."""
    fields = {name: getattr(bundle, name) for name in dir(bundle) if name[0] != "_"}
    return SimpleNamespace(**{name: _read(value) for name, value in fields.items()})


def _read(value: object) -> object:
    if isinstance(value, int | float | bool | np.ndarray) or callable(value):
        return value
    return np.asarray(value) if hasattr(value, "shape") else as_arrays(value)
