"""Saved models: a folder with a model.json and the weights beside it, and no code in either.

    model.json                       what the weights mean, as JSON
    weights-0123456789ab.safetensors an array "weights", and a "classifier" or "patterns" where the
                                     engine has learned some; every save has a name of its own

    {"format": "rote model", "version": 1, "rote": "0.1.0",
     "task": {"kind": "Tagging", "settings": {"labels": [...], ...}, "left_out": []},
     "engine": {"kind": "Exact", "settings": {"time_limit": null}, "left_out": []},
     "blocks": [{"name": "label", "kind": "token", "width": 3, "labels": ["B", "I", "O"]}, ...],
     "indices": {"token": {"index": "names", "names": [...], "frozen": true}, ...},
     "weights": {"file": "weights-0123456789ab.safetensors", "sha256": "...", "count": 1200}}

A save writes .model.json.0123456789ab, then the weights, and then renames the first to model.json,
which is the one moment at which the model is another: wherever the writing is cut short, and
however many processes save and load at once, the folder holds one whole model. A weights file that
model.json does not name, and that no .model.json waits for, will never be named again, and is
removed.

`rote.io.serialize` says how a task is written. A user's own task, or one with a function, is not
brought back by a file: it is given again, and refused where a setting that was saved is another
now. Labels are saved with the blocks whose columns they name: whatever the task, a model is never
asked about the columns in another order.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rote.errors import DataError, ModelError, RoteError
from rote.features import Index, index_from_json
from rote.inference.approximate import RGS, Beam, ConstrainedBeam, HeuristicFeatures, LearnedBeam
from rote.inference.engine import Engine, persistent
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.chain import Chain
from rote.inference.exact.elimination import Elimination
from rote.inference.exact.exact import Exact
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.exact.independent import Independent
from rote.inference.exact.message_passing import MessagePassing
from rote.inference.exact.tree import Tree
from rote.inference.solvers.milp import Milp
from rote.io.atomic import write_new
from rote.io.serialize import Registry, classes, outline, parts_of, restored
from rote.model.layout import Block, Layout
from rote.model.model import Model
from rote.tasks.adapter import CLASSES
from rote.tasks.task import Task
from rote.types import FloatArray, readonly

FORMAT, VERSION = "rote model", 1
DESCRIPTION = "model.json"
ENGINE = "engine."  # how the names of arrays begin that belong to the engine
ENGINES: Registry = classes(
    Beam,
    BranchAndBound,
    Chain,
    ConstrainedBeam,
    Elimination,
    Exact,
    Exhaustive,
    MessagePassing,
    Milp,
    HeuristicFeatures,
    RGS,
    Independent,
    LearnedBeam,
    Tree,
)
_KEYS = {
    "rote": str,
    "blocks": list,
    **dict.fromkeys(("task", "engine", "indices", "weights"), dict),
}
_WEIGHTS_FILE = re.compile(r"weights-[0-9a-f]{12}\.safetensors")


def save(model: Model[Any, Any], folder: str | Path) -> None:
    """Write a model into a folder, which is made if it is not there; a model in it is replaced."""
    from safetensors.numpy import save as packed

    folder = Path(folder)
    engine = persistent(model.engine)
    settings, arrays = engine.saved()
    learned = {f"{ENGINE}{name}": np.asarray(array) for name, array in arrays.items()}
    content = packed({"weights": np.asarray(model.weights), **learned})
    layout = model.layout
    token = secrets.token_hex(6)
    weights, waiting = folder / f"weights-{token}.safetensors", _waiting(folder, token)
    description = {
        "format": FORMAT,
        "version": VERSION,
        "rote": version("rote-predict"),
        "task": outline(model.task, CLASSES),
        "engine": outline(engine, ENGINES, settings),
        "blocks": [block._asdict() for block in layout.blocks],
        "indices": {kind: index.to_json() for kind, index in layout.indices.items()},
        "weights": {
            "file": weights.name,
            "sha256": hashlib.sha256(content).hexdigest(),
            "count": layout.size,
        },
    }
    text = json.dumps(description, indent=1, allow_nan=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            write_new(waiting, text.encode("ascii"))
            write_new(weights, content)
            waiting.replace(folder / DESCRIPTION)
        finally:
            if waiting.exists():  # it was cut short
                weights.unlink(missing_ok=True)
                waiting.unlink()
        _remove_replaced(folder)
    except OSError as error:
        raise ModelError(f"{folder}: the model cannot be written: {error.strerror}") from None


def load(
    folder: str | Path, task: Task[Any, Any] | None = None, engine: Engine | None = None
) -> Model[Any, Any]:
    """The model of a folder, with everything checked.

    A ``task`` must be given where the file cannot bring it back, and must then be as the one that
    was saved. An ``engine`` takes the place of the one that was saved.
    """
    folder = Path(folder)
    saved, content = _read(folder)
    layout = _layout(folder, saved)
    arrays = _arrays(folder, saved["weights"], content, layout.size)
    if task is None:
        task = _restored(folder, saved["task"], "task", CLASSES)
    else:
        _compare(folder, saved["task"], outline(task, CLASSES))
    if engine is None:
        engine = _engine(folder, saved["engine"], arrays)
    return Model(task, layout, arrays["weights"], engine)


def _engine(folder: Path, saved: dict[str, Any], arrays: Mapping[str, FloatArray]) -> Engine:
    """The engine that was saved; what it has learned lies beside the weights."""
    kind, settings = _restored(folder, saved, "engine", ENGINES, parts_of)
    own = {name.removeprefix(ENGINE): a for name, a in arrays.items() if name.startswith(ENGINE)}
    try:
        engine: Engine = kind.restored(settings, own)
    except (RoteError, TypeError, ValueError, KeyError) as error:
        said = f"the settings of {kind.__name__} do not make one: {error}"
        raise ModelError(f"{folder / DESCRIPTION}: {said}") from None
    return engine


def check_version(path: Path, saved: Mapping[str, Any], name: str, version: int) -> None:
    """Refuse a file of another format, or of a version that is still to come."""
    if saved.get("format") != name:
        raise ModelError(f"{path}: is no {name}; its format is {saved.get('format')!r}")
    found = saved.get("version")
    if type(found) is not int or found < 1:
        raise ModelError(f"{path}: the version is a number of at least 1, got {found!r}")
    if found > version:
        raise ModelError(
            f"{path}: has version {found} of the format, written by rote {saved.get('rote')}, and "
            f"this rote reads up to version {version}; install a newer rote"
        )


def _read_description(path: Path) -> dict[str, Any]:
    try:
        saved = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(
            f"{path}: there is no such file; give the folder that a model was saved to"
        ) from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: is damaged, it is not JSON: {error}") from None
    if not isinstance(saved, dict):
        raise ModelError(f"{path}: expected an object, got {type(saved).__name__}")
    check_version(path, saved, FORMAT, VERSION)
    _check_keys(path, saved, _KEYS)
    _check_keys(path, saved["weights"], {"file": str, "sha256": str, "count": int})
    return saved


def _check_keys(path: Path, value: Any, wanted: Mapping[str, type]) -> None:
    if not isinstance(value, dict):
        raise ModelError(f"{path}: expected an object with {', '.join(wanted)}, got {value!r:.80}")
    for key, kind in wanted.items():
        if type(value.get(key)) is not kind:
            raise ModelError(
                f"{path}: {key!r} should be of type {kind.__name__}, got {value.get(key)!r:.80}"
            )


def _layout(folder: Path, saved: dict[str, Any]) -> Layout:
    path = folder / DESCRIPTION
    blocks = []
    for block in saved["blocks"]:
        _check_keys(path, block, {"name": str, "kind": str, "width": int})
        name, kind, width, labels = (block.get(key) for key in Block._fields)
        if labels is not None and not (
            isinstance(labels, list) and all(isinstance(label, str) for label in labels)
        ):
            raise ModelError(f"{path}: labels of block {name!r} are texts, got {labels!r:.80}")
        blocks.append(Block(name, kind, width, None if labels is None else tuple(labels)))
    indices: dict[str, Index] = {}
    for kind, index in saved["indices"].items():
        try:
            indices[kind] = index_from_json(index)
        except DataError as error:
            raise ModelError(f"{path}, index of {kind!r}: {error}") from None
        indices[kind].freeze()  # a column for a new name would lie outside the weights
    if len({block.name for block in blocks}) < len(blocks):
        raise ModelError(f"{path}: the names of blocks differ, and one is there twice")
    for block in blocks:
        if block.kind not in indices or block.width < 0:
            raise ModelError(
                f"{path}: block {block.name!r} of width {block.width} looks at vectors of kind "
                f"{block.kind!r}; the indices are of {', '.join(indices)}"
            )
    return Layout(tuple(blocks), indices)


def _read(folder: Path) -> tuple[dict[str, Any], bytes]:
    """What model.json says, and the weights file that it names; both are of one save."""
    saved = _read_description(folder / DESCRIPTION)
    while True:
        name = saved["weights"]["file"]
        if not _WEIGHTS_FILE.fullmatch(name):
            raise ModelError(f"{folder / DESCRIPTION}: {name!r} is no name of a weights file")
        try:
            return saved, (folder / name).read_bytes()
        except FileNotFoundError:
            saved = _read_description(folder / DESCRIPTION)
            if saved["weights"]["file"] == name:  # no other save has taken its place meanwhile
                raise ModelError(
                    f"{folder / name}: is missing; copy all files of a saved model"
                ) from None
        except OSError as error:
            raise ModelError(f"{folder / name}: cannot be read: {error.strerror}") from None


def _arrays(
    folder: Path, saved: dict[str, Any], content: bytes, size: int
) -> dict[str, FloatArray]:
    """The arrays of the weights file, all of one size."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as unpacked

    path = folder / saved["file"]
    if hashlib.sha256(content).hexdigest() != saved["sha256"]:
        raise ModelError(f"{path}: is damaged, its digest is not the one in {DESCRIPTION}")
    try:
        arrays = unpacked(content)
    except SafetensorError as error:
        raise ModelError(f"{path}: is no safetensors file: {error}") from None
    if "weights" not in arrays or any(one.dtype != np.float64 for one in arrays.values()):
        raise ModelError(f"{path}: expected an array 'weights' of float64, got {sorted(arrays)}")
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ModelError(f"{path}: {name} has numbers that are not finite")
        if array.ndim != 1:
            raise ModelError(f"{path}: {name} is one row of numbers, got {array.shape}")
    if arrays["weights"].shape != (size,) or saved["count"] != size:
        raise ModelError(
            f"{path}: the blocks and indices of the model have {size} weights, {DESCRIPTION} "
            f"says {saved['count']}, and the array has the shape {arrays['weights'].shape}"
        )
    return {name: readonly(weights) for name, weights in arrays.items()}


def _restored(
    folder: Path,
    saved: dict[str, Any],
    what: str,
    registry: Registry,
    restore: Callable[[Any, Registry], Any] = restored,
) -> Any:
    name = saved.get("kind", saved.get("own"))
    if "kind" not in saved or saved.get("left_out"):
        left_out = saved.get("left_out")
        why = f", as {', '.join(map(str, left_out))} is yours" if left_out else ", as it is yours"
        raise ModelError(
            f"{folder}: the {what} {name} cannot be brought back from a file{why}; give it again "
            f"in Python, with Model.load(folder, {what}=...)"
        )
    try:
        return restore({"kind": name, "settings": saved.get("settings")}, registry)
    except ModelError as error:
        raise ModelError(f"{folder / DESCRIPTION}: {error}") from None


def _compare(folder: Path, saved: dict[str, Any], given: dict[str, Any]) -> None:
    """Refuse a task that is not as the one that was saved, as far as they can be written down."""
    was, now = (task.get("kind", task.get("own")) for task in (saved, given))
    if was != now:
        raise ModelError(f"{folder}: the model was saved with a task {was}, got {now}")
    before, after = saved.get("settings"), given["settings"]
    if not isinstance(before, dict):
        raise ModelError(f"{folder / DESCRIPTION}: the task has no settings")
    for name in sorted(before.keys() | after.keys()):
        # A setting that cannot be written is another than one that is None.
        if (name in before) != (name in after) or before.get(name) != after.get(name):
            raise ModelError(
                f"{folder}: {name!r} of {now} was {_short(before, name)} when the model was saved "
                f"and is {_short(after, name)} in the task given; give the same task, or build a "
                "Model from the task, and the layout and weights of this one"
            )


def _short(settings: dict[str, Any], name: str) -> str:
    if name not in settings:
        return "nothing that can be written"
    return f"{json.dumps(settings[name]):.200}"


def _waiting(folder: Path, token: str) -> Path:
    """The model.json of a save, until it takes its place."""
    return folder / f".{DESCRIPTION}.{token}"


def _remove_replaced(folder: Path) -> None:
    """Remove the weights of models that were replaced, and of no save that is under way."""
    found = [path for path in folder.iterdir() if _WEIGHTS_FILE.fullmatch(path.name)]
    # In this order: a save that does not wait any more has been named in model.json by now.
    found = [path for path in found if not _waiting(folder, path.stem[len("weights-") :]).exists()]
    named = _read_description(folder / DESCRIPTION)["weights"]["file"]
    for path in found:
        if path.name != named:
            path.unlink(missing_ok=True)
