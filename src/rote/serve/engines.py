"""What a service answers with, by name, and what it goes on learning.

amortized   `Amortized` around the model's own engine: warm starts, or duals and equal scores
speedup     `Amortized` around a `LearnedBeam` that learns from the model's own engine while it
            serves; nothing is tested but equal scores, so that it meets every new input
an engine   that engine alone, without any memory

A service meets few inputs at a time, whose features cost more than any test: so all are tested
here, and what is solved is always remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from rote.errors import ModelError, SettingError
from rote.inference.approximate import LearnedBeam
from rote.inference.engine import Engine, find
from rote.inference.stores import open_store
from rote.inference.wrappers.amortized import Amortized, EqualScores
from rote.inference.wrappers.amortized.certificates import Certificate
from rote.model import Model
from rote.model.files import DESCRIPTION
from rote.serve.service import Limits, Service, served

AMORTIZED, SPEEDUP = "amortized", "speedup"
CERTIFICATES: Mapping[str, str | Certificate] = MappingProxyType(
    {AMORTIZED: "auto", SPEEDUP: EqualScores()}
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

    Parameters
    ----------
    folder
        Of a saved model.
    engine
        "amortized", "speedup", or an engine to answer with alone.
    store
        The address of a store that keeps what was answered beyond the process.
    share
        Of the inputs, those that a `LearnedBeam` learns from; 0.05 where nothing is said.
    learned
        The folder of what a `LearnedBeam` knows: it goes on from there, and is saved there.
    limits
        How much is taken.
    """
    model, remember = Model.load(folder), isinstance(engine, str)
    if engine != SPEEDUP and not (share is None and learned is None):
        raise SettingError("share and learned are for the engine speedup; leave them out")
    if isinstance(engine, str) and engine not in CERTIFICATES:
        raise SettingError(
            f"the engine is {', '.join(CERTIFICATES)} or one of your own; got {engine!r}"
        )
    if not remember and store is not None:
        raise SettingError("an engine alone keeps nothing in a store; serve with amortized")
    served(model.task)  # what cannot be is refused before a store is made
    known = None if learned is None else Path(learned)
    inner = model.engine if engine != SPEEDUP else _speedup(model, share, known)
    opened = None if store is None else open_store(store)
    try:
        if isinstance(engine, str):
            engine = Amortized(inner, opened, CERTIFICATES[engine], admission="always")
        return Service(
            model.with_engine(engine),
            name=Path(folder).resolve().name,
            store=opened,
            remember=remember,
            learned=known,
            limits=limits,
        )
    except BaseException:
        if opened is not None:
            opened.close()
        raise


def _speedup(model: Model[Any, Any], share: float | None, learned: Path | None) -> LearnedBeam:
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
    share = SHARE if share is None else share
    return replace(base, share=share, proof=True, learned=teacher.knowledge)
