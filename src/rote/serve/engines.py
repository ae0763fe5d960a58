"""What a service answers with, by name, and what it goes on learning.

amortized   `Amortized` around the model's own engine: equal scores first, then duals
speedup     `Amortized` around a `LearnedBeam` that learns from the model's own engine while it
serves;
            nothing is tested but equal scores, so that it meets every new input
an engine   that engine alone, without any memory

A service meets few inputs at a time, whose features cost more than any test: so engines are not
thrifty here, and what is solved is always remembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from rote.errors import ModelError, SettingError
from rote.inference import Engine
from rote.inference.approximate import LearnedBeam
from rote.inference.engine import find
from rote.inference.stores import open_store
from rote.inference.wrappers.amortized import Amortized, EqualScores, LagrangianCertificate
from rote.inference.wrappers.amortized.certificates import Certificate
from rote.model import Model
from rote.model.files import DESCRIPTION
from rote.serve.service import Limits, Service, served

AMORTIZED, SPEEDUP = "amortized", "speedup"
CERTIFICATES: Mapping[str, Certificate | Sequence[Certificate]] = MappingProxyType(
    {AMORTIZED: (EqualScores(), LagrangianCertificate()), SPEEDUP: EqualScores()}
)
SHARE = 0.05  # of the inputs that a LearnedBeam learns from


def open_service(
    folder: str | Path,
    engine: str | Engine = AMORTIZED,
    *,
    store: str | None = None,
    share: float | None = None,
    learned: str | Path | None = None,
    limits: Limits | None = None,
) -> Service:
    """A service for the model of a folder.

    A ``store`` keeps what was answered beyond the process; it is named by its address. A
    `LearnedBeam` is given a ``share`` of the inputs to learn from, and goes on from what is in the
    folder ``learned``, where what it knows is saved when the service closes.
    """
    model = Model.load(folder)
    remembers = isinstance(engine, str)
    if engine != SPEEDUP and not (share is None and learned is None):
        raise SettingError("share and learned are for the engine speedup; leave them out")
    if not remembers and store is not None:
        raise SettingError("an engine alone keeps nothing in a store; serve with amortized")
    served(model.task)  # what cannot be is refused before a store is made
    known = None if learned is None else Path(learned)
    chosen = _chosen(model, engine, SHARE if share is None else share, known)
    opened = None if store is None else open_store(store)
    try:
        if isinstance(engine, str):
            chosen = Amortized(chosen, opened, CERTIFICATES[engine], thrifty=False)
        return Service(
            model.with_engine(chosen),
            name=Path(folder).resolve().name,
            store=opened,
            remember=remembers,
            learned=known,
            limits=limits,
        )
    except BaseException:
        if opened is not None:
            opened.close()
        raise


def _chosen(
    model: Model[Any, Any], engine: str | Engine, share: float, learned: Path | None
) -> Engine:
    """The engine itself, or the one that a name puts under `Amortized`."""
    if not isinstance(engine, str):
        return engine
    if engine == AMORTIZED:
        return model.engine
    if engine == SPEEDUP:
        return _speedup(model, share, learned)
    raise SettingError(f"the engine is {AMORTIZED}, {SPEEDUP} or one of your own; got {engine!r}")


def _speedup(model: Model[Any, Any], share: float, learned: Path | None) -> LearnedBeam:
    """With what it has learned, and proofs: an answer that is proved need not be found again."""
    engine = model.engine
    base = find(engine, LearnedBeam) or LearnedBeam(engine)
    teacher = base
    if learned is not None and (learned / DESCRIPTION).exists():
        before = Model.load(learned)
        found = find(before.engine, LearnedBeam)
        if found is None or not np.array_equal(before.weights, model.weights):
            raise ModelError(
                f"{learned}: expected what a LearnedBeam has learned under this model, got another "
                "model; name another folder for what is learned"
            )
        teacher = found
    return replace(base, share=share, proof=True, learned=teacher.knowledge)
