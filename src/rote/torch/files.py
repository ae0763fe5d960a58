"""Networks on disk: one safetensors file with the weights, and settings as JSON in its metadata.

    arrays     the weights, by their name in the network
    metadata   "format", "version", "rote", "sha256", and as JSON "about"

"about" holds the settings, as `rote.io.serialize` writes them, and the vocabulary or the width
of inputs. There is no code in a file, and none is unpickled. Settings that cannot be written, such
as rules, are named there and given again to load. The digest covers everything, and a file is
written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor, nn

from rote.errors import ModelError, RoteError
from rote.io.atomic import write_whole
from rote.io.serialize import classes, described, outline, restored
from rote.learning.checkpoints import check_texts, read_tensors
from rote.model.files import ENGINES
from rote.space.losses import F1Loss, Hamming, JaccardLoss, ZeroOne
from rote.torch.inputs import Dense, Inputs, Vocabulary

FORMAT, VERSION = "rote network", 1
# What a file may name; networks, and what they are trained by, add themselves where they are.
KINDS = {**ENGINES, **classes(Dense, Hamming, F1Loss, JaccardLoss, Vocabulary, ZeroOne)}
S = TypeVar("S")


def write_network(path: str | Path, settings: Any, network: nn.Module, inputs: Inputs) -> None:
    """Write a trained network; ``settings`` is the dataclass that made it."""
    from safetensors.torch import save

    path = Path(path)
    weights = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    wrong = [name for name, tensor in weights.items() if not tensor.isfinite().all()]
    if wrong:
        raise ModelError(f"the network has weights that are not finite, in {wrong[0]}; train")
    outlined = outline(replace(settings, fitted=None), KINDS)
    about = json.dumps({"network": outlined, "inputs": described(inputs, KINDS)})
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "rote": version("rote-predict"),
        "sha256": _digest(weights, about),
        "about": about,
    }
    try:
        write_whole(path, save(weights, metadata))
    except OSError as error:
        raise ModelError(f"{path}: the network cannot be written: {error.strerror}") from None


def read_network(
    path: str | Path, kind: type[S], again: Mapping[str, Any]
) -> tuple[S, Inputs, dict[str, Tensor]]:
    """Settings of this kind with those given ``again``, what inputs are, and the weights."""
    path = Path(path)
    weights, metadata = read_tensors(path, "pt")
    check_texts(path, metadata, FORMAT, VERSION)
    text = metadata.get("about", "")
    if metadata.get("sha256") != _digest(weights, text):
        raise ModelError(f"{path}: is damaged, its digest is another; save the network again")
    try:
        about = json.loads(text)
        outlined, left_out = about["network"], set(about["network"]["left_out"])
        found = {"kind": outlined.get("kind"), "settings": dict(outlined["settings"])}
        inputs = restored(about["inputs"], KINDS)
        settings = restored(found, KINDS)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path}: is not a whole network: {error}") from None
    if not isinstance(settings, kind) or not isinstance(inputs, Dense | Vocabulary):
        raise ModelError(f"{path}: expected a {kind.__name__}, got {found['kind']}")
    missing = sorted(left_out - set(again))
    if missing:
        raise ModelError(f"{path}: cannot hold {', '.join(missing)}; give it to load again")
    try:
        return replace(settings, **again), inputs, weights  # type: ignore[type-var]
    except (RoteError, TypeError) as error:
        raise ModelError(f"{path}: {error}") from None


def _digest(weights: Mapping[str, Tensor], about: str) -> str:
    from safetensors.torch import save

    return hashlib.sha256(save(dict(weights)) + about.encode()).hexdigest()
