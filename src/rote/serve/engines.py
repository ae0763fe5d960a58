"""What a service answers with, by name, and what it goes on learning.

amortized   `Amortized` around the model's own engine: equal scores first, then duals
speedup     `Amortized` around a `Speedup` that learns from the model's own engine while it serves;
            nothing is tested but equal scores, so that it meets every new input
an engine   that engine alone, without any memory

A service meets few inputs at a time, whose features cost more than any test: so engines are not
thrifty here, and what is solved is always remembered.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rote.errors import ModelError, SettingError
from rote.inference import Engine
from rote.inference.amortized import Amortized, DualBound, Same
from rote.inference.amortized.stores import Store, open_store
from rote.inference.beam import Speedup
from rote.model import Model
from rote.model.files import DESCRIPTION
from rote.serve.service import Limits, Service

AMORTIZED, SPEEDUP = "amortized", "speedup"
SHARE = 0.05  # of the inputs that a Speedup learns from


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
    `Speedup` is given a ``share`` of the inputs to learn from, and goes on from what is in the
    folder ``learned``, where what it knows is saved when the service closes.
    """
    model = Model.load(folder)
    remembers = isinstance(engine, str)
    if engine != SPEEDUP and not (share is None and learned is None):
        raise SettingError("share and learned are for the engine speedup; leave them out")
    if not remembers and store is not None:
        raise SettingError("an engine alone keeps nothing in a store; serve with amortized")
    opened = None if store is None else open_store(store)
    known = None if learned is None else Path(learned)
    return Service(
        model.with_engine(
            _named(model, engine, opened, SHARE if share is None else share, known)
            if isinstance(engine, str)
            else engine
        ),
        name=Path(folder).resolve().name,
        store=opened,
        remember=remembers,
        learned=known,
        limits=limits,
    )


def _named(
    model: Model[Any, Any], name: str, store: Store | None, share: float, learned: Path | None
) -> Engine:
    if name == AMORTIZED:
        return Amortized(model.engine, store, (Same(), DualBound()), thrifty=False)
    if name == SPEEDUP:
        return Amortized(_speedup(model, share, learned), store, Same(), thrifty=False)
    raise SettingError(f"the engine is {AMORTIZED}, {SPEEDUP} or one of your own; got {name!r}")


def _speedup(model: Model[Any, Any], share: float, learned: Path | None) -> Speedup:
    """With what it has learned, and proofs: an answer that is proved need not be found again."""
    engine = model.engine
    base = engine if isinstance(engine, Speedup) else Speedup(engine)
    knowledge = base.knowledge
    if learned is not None and (learned / DESCRIPTION).exists():
        before = Model.load(learned)
        if not isinstance(before.engine, Speedup) or not np.array_equal(
            before.weights, model.weights
        ):
            raise ModelError(
                f"{learned}: expected what a Speedup has learned under this model, got another "
                "model; name another folder for what is learned"
            )
        knowledge = before.engine.knowledge
    return replace(base, share=share, proof=True, learned=knowledge)
