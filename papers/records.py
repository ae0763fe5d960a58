"""Records: what an experiment found, as JSON with the paper's numbers beside ours.

    {"name", "paper", "settings",
     "rows": [{"method", …metrics…, "paper": {…same metric names…}}],
     "claims": [{"claim", "held", "evidence"}],
     "environment", "seconds"}

A metric is a finite number or a word; what a row was measured under, such as the number of
examples, stands among its metrics. "paper" of a row holds those the paper gives, and no others.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

from papers.data.folder import VARIABLE
from rote import __version__
from rote.errors import DataError
from rote.io.atomic import write_whole

Metric: TypeAlias = float | int | str

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
KEYS = ("name", "paper", "settings", "rows", "claims", "environment", "seconds")
CLAIM_KEYS = ("claim", "held", "evidence")
UNSET = f"{VARIABLE} is not set"  # what settings say of data that are made up
RESERVED = ("method", "paper")  # what else a row has


@dataclass(frozen=True)
class Row:
    """What one method reached, and what the paper says it reaches."""

    method: str
    metrics: Mapping[str, Metric]
    paper: Mapping[str, Metric] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in RESERVED:
            if name in self.metrics:
                raise DataError(f"a row has {name!r} of its own; call the metric something else")
        _check_metrics(self.method, self.metrics)
        _check_metrics(f"the paper's {self.method}", self.paper)
        strange = [name for name in self.paper if name not in self.metrics]
        if strange:
            raise DataError(
                f"{self.method}: the paper's {strange[0]!r} has nothing to stand beside; the "
                f"metrics of this row are {', '.join(self.metrics)}"
            )

    def to_json(self) -> dict[str, Any]:
        return {"method": self.method, **self.metrics, "paper": dict(self.paper)}


@dataclass(frozen=True)
class Claim:
    """What the paper claims, whether it held here, and a sentence with the numbers."""

    claim: str
    held: bool
    evidence: str

    def to_json(self) -> dict[str, Any]:
        return {"claim": self.claim, "held": self.held, "evidence": self.evidence}


@dataclass(frozen=True)
class Record:
    """What an experiment found; ``name`` is also that of its file."""

    name: str
    paper: str
    settings: Mapping[str, Any]
    rows: Sequence[Row]
    claims: Sequence[Claim]
    environment: Mapping[str, Any]
    seconds: float

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise DataError(
                "the name of a record is small letters and digits, joined by hyphens; "
                f"got {self.name!r}"
            )
        object.__setattr__(self, "rows", tuple(self.rows))
        object.__setattr__(self, "claims", tuple(self.claims))

    @property
    def is_made_up(self) -> bool:
        """Whether its data were made up for want of data sets, which its settings say then."""
        return UNSET in json.dumps(dict(self.settings), default=str)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "paper": self.paper,
            "settings": dict(self.settings),
            "rows": [row.to_json() for row in self.rows],
            "claims": [claim.to_json() for claim in self.claims],
            "environment": dict(self.environment),
            "seconds": self.seconds,
        }

    @staticmethod
    def from_json(value: Any) -> Record:
        """The record that `to_json` gave, with everything checked."""
        _check_keys("a record", value, KEYS)
        for key, kind in (
            ("name", str),
            ("paper", str),
            ("settings", dict),
            ("rows", list),
            ("claims", list),
            ("environment", dict),
        ):
            if not isinstance(value[key], kind):
                raise DataError(
                    f"expected {key!r} of a record to be a {kind.__name__}, "
                    f"got {type(value[key]).__name__}"
                )
        seconds = value["seconds"]
        if not _is_number(seconds) or seconds < 0:
            raise DataError(f"'seconds' of a record is a number of at least 0, got {seconds!r}")
        rows, claims = map(_row, value["rows"]), map(_claim, value["claims"])
        return Record(**{**value, "rows": tuple(rows), "claims": tuple(claims)})


def write_record(record: Record, folder: str | Path) -> Path:
    """Write FOLDER/NAME.json, all of it or nothing, and say where it is."""
    folder = Path(folder)
    try:
        text = json.dumps(record.to_json(), indent=2, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DataError(f"the record {record.name} cannot be written as JSON: {error}") from None
    path = folder / f"{record.name}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, f"{text}\n".encode())
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}") from None
    return path


def read_record(path: str | Path) -> Record:
    """The record in a file, with everything checked."""
    path = Path(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
        return Record.from_json(value)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON, or cut off: {error}") from None


def environment() -> dict[str, Any]:
    """What a record was made with; nothing that tells one machine from another of its kind."""
    return {
        "rote": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "cpus": os.cpu_count() or 1,
        "platform": f"{platform.system()} {platform.machine()}",
    }


def _row(value: Any) -> Row:
    if not isinstance(value, dict) or not isinstance(value.get("method"), str):
        raise DataError(f'a row is an object with a string "method", got {value!r:.80}')
    if not isinstance(value.get("paper"), dict):
        raise DataError(f'row {value["method"]!r}: "paper" is an object, and may be empty')
    metrics = {name: metric for name, metric in value.items() if name not in RESERVED}
    return Row(value["method"], metrics, value["paper"])


def _claim(value: Any) -> Claim:
    _check_keys("a claim", value, CLAIM_KEYS)
    if not isinstance(value["held"], bool):
        raise DataError(f"'held' of a claim is true or false, got {value['held']!r}")
    for key in ("claim", "evidence"):
        if not isinstance(value[key], str):
            raise DataError(f"{key!r} of a claim is a string, got {value[key]!r:.80}")
    return Claim(**value)


def _check_keys(what: str, value: Any, keys: Sequence[str]) -> None:
    if not isinstance(value, dict):
        raise DataError(f"{what} is an object, got {type(value).__name__}")
    if value.keys() != set(keys):
        raise DataError(
            f"{what} has the keys {', '.join(keys)}; got {', '.join(map(repr, value)) or 'none'}"
        )


def _check_metrics(what: str, metrics: Mapping[str, Metric]) -> None:
    for name, metric in metrics.items():
        if not isinstance(metric, str) and not _is_number(metric):
            raise DataError(f"{what}: {name!r} is a finite number or a word, got {metric!r:.80}")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond those of floats
        return False


def _refuse_constant(name: str) -> float:
    raise DataError(f"expected finite numbers, got {name}")
