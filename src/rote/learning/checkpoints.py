"""States on disk: one safetensors file, with all arrays of a state and the rest as metadata.

    arrays     "weights", and "memory.NAME" for each array of the learner's memory
    metadata   "format", "version", "rote", "sha256", and as JSON "state" and "run"

"state" holds the iteration, whether the learner was done, and its measures; those that are not
finite are texts. "run" holds what a training was about, in texts by name, such as "learner.C", so
that it is not resumed on other data or with other settings. The digest covers all arrays and both
pieces of JSON. A file is written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from rote.errors import ModelError
from rote.io.atomic import write_whole
from rote.learning.base import State
from rote.model.files import check_version
from rote.types import AnyArray

FORMAT, VERSION = "rote state", 1
MEMORY = "memory."
EXAMPLES = "examples"  # the part of a run that is a digest
LONG = 80  # a setting that has more letters is not shown


def save_state(state: State, path: str | Path, run: Mapping[str, str] | None = None) -> None:
    """Write a state to a file.

    Parameters
    ----------
    state
        As a learner yields it.
    path
        The file, which is written whole or not at all.
    run
        What the training is about, for `load_state` to compare.
    """
    from safetensors.numpy import save as packed

    path = Path(path)
    arrays = {"weights": state.weights, **{MEMORY + name: a for name, a in state.memory.items()}}
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    measures = {name: _plain(value) for name, value in state.measures.items()}
    about = {"iteration": state.iteration, "done": bool(state.done), "measures": measures}
    texts = {"state": json.dumps(about), "run": json.dumps(dict(run or {}))}
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "rote": version("rote-predict"),
        "sha256": _digest(arrays, texts),
        **texts,
    }
    try:
        write_whole(path, packed(arrays, metadata))
    except OSError as error:
        raise ModelError(f"{path}: the state cannot be written: {error.strerror}") from None


def load_state(
    path: str | Path,
    run: Mapping[str, str] | None = None,
    otherwise: str = "go on with the same, or begin anew with another file",
) -> State:
    """A state as it was saved.

    Parameters
    ----------
    path
        The file.
    run
        What the training is about now; a state of another one is refused.
    otherwise
        What the error then says to do.
    """
    path = Path(path)
    arrays, metadata = read_tensors(path, "numpy")
    for array in arrays.values():
        array.setflags(write=False)
    check_texts(path, metadata, FORMAT, VERSION)
    texts = {key: metadata.get(key, "") for key in ("state", "run")}
    if metadata.get("sha256") != _digest(arrays, texts):
        raise ModelError(f"{path}: is damaged, its digest is another; go back to an earlier state")
    try:
        about, was = json.loads(texts["state"]), json.loads(texts["run"])
        measures = {name: _number(value) for name, value in about["measures"].items()}
        iteration, done, weights = about["iteration"], about["done"], arrays["weights"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelError(f"{path}: is not a whole state; go back to an earlier one") from None
    if type(iteration) is not int or type(done) is not bool or not isinstance(was, dict):
        raise ModelError(f"{path}: is not a whole state, its iteration is not said as a number")
    for name, now in (run or {}).items():
        if was.get(name) != now:
            differs = _difference(name, was.get(name), now)
            raise ModelError(f"{path}: is of another training: {differs}; {otherwise}")
    memory = {name.removeprefix(MEMORY): a for name, a in arrays.items() if name != "weights"}
    return State(iteration, weights, done, MappingProxyType(measures), MappingProxyType(memory))


def check_place(path: str | Path) -> None:
    """Refuse a file that a state cannot be written to, or that holds something else by now."""
    path = Path(path)
    if not path.parent.is_dir():
        raise ModelError(f"{path}: there is no folder {path.parent} to write the state into")
    if not path.exists():
        return
    try:
        found = read_tensors(path, "numpy")[1].get("format")
    except ModelError:
        found = None
    if found != FORMAT:
        raise ModelError(f"{path}: is no state of a learner, and is left as it is; name another")


def read_tensors(path: Path, framework: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The arrays of a safetensors file, in the form of "numpy" or "pt", and its texts."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework=framework) as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return arrays, file.metadata() or {}
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (SafetensorError, ValueError, TypeError, KeyError):
        raise ModelError(f"{path}: is no safetensors file, or was cut off") from None


def check_texts(path: Path, texts: Mapping[str, str], name: str, version: int) -> None:
    """What `check_version` does, where the number of the version is a text as well."""
    given = texts.get("version", "")
    number = int(given) if given.isdecimal() and given.isascii() else given
    check_version(path, {**texts, "version": number}, name, version)


def _digest(arrays: Mapping[str, AnyArray], texts: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    for key in sorted(texts):
        digest.update(f"{key} {texts[key]}\n".encode())
    return digest.hexdigest()


def _difference(name: str, was: object, now: str) -> str:
    """Which part of a run is another, as in: the C of the learner was 0.1 and is 2.0 now."""
    what = " of the ".join(reversed(name.split(".")))
    if name == EXAMPLES:
        return "the examples are others"
    if not isinstance(was, str):
        return f"the {what} was not said"
    if max(len(was), len(now)) > LONG:
        return f"the {what} is another now"
    return f"the {what} was {was} and is {now} now"


def _plain(value: Any) -> float | str:
    """A measure as JSON has it, which knows no NaN and no infinity."""
    number: float = value.item() if isinstance(value, np.generic) else value
    return number if math.isfinite(number) else str(number)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, str) else value
