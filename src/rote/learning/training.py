"""`train`: from examples to a model in one call, with progress, checkpoints and resuming."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rote.errors import ModelError, SettingError
from rote.inference.engine import Engine, persistent
from rote.inference.exact.exact import Exact
from rote.learning.base import LEARNER, Learner, State, check_examples
from rote.learning.checkpoints import EXAMPLES, check_place, load_state, save_state
from rote.learning.svm import StructuredSVM
from rote.model import Dataset, Model, prepare
from rote.model.progress import progress_of
from rote.settings import check, whole
from rote.tasks.task import Task
from rote.types import AnyArray

X = TypeVar("X")
Y = TypeVar("Y")

# Settings under which a training may go on that began with others: they say how long it lasts
# and how fast it is, and not which steps it makes.
FREE = ("iterations", "n_jobs", "store")
SHOWN = 3  # measures of the learner beside the bar, which fit on a line with it
DEV = "dev "  # how the names of scores on held-out examples begin
LOSSES = ("loss", "objective", "primal")  # what learners call what they minimise


def train(
    task: Task[X, Y],
    xs: Iterable[X],
    ys: Iterable[Y],
    *,
    learner: Learner | None = None,
    engine: Engine | None = None,
    sample_weight: AnyArray | None = None,
    progress: bool = False,
    verbose: bool = False,
    dev_scores: Callable[[Model[X, Y]], Mapping[str, float]] | None = None,
    watch: Callable[[State], None] | None = None,
    checkpoint: str | Path | None = None,
    every: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    hashed: Mapping[str, int] | None = None,
    allow_infeasible_gold: bool = False,
) -> Model[X, Y]:
    """A model of examples.

    Parameters
    ----------
    task
        What the examples are of.
    xs, ys
        Inputs and their outputs.
    learner
        How to learn; `StructuredSVM` if not given.
    engine
        What to infer with, in learning and in prediction; `Exact` if not given.
    sample_weight, hashed, allow_infeasible_gold
        Those of `rote.model.prepare`.
    progress
        Whether a bar shows dev scores, the loss and the time left, on standard error or in a
        notebook.
    verbose
        Whether the bar shows what the learner measures instead of its loss: primal, dual and gap.
    dev_scores
        Scores of a model on held-out examples, by name. It is called after every iteration with the
        model as it would be saved, which takes as long as the prediction does; the scores are the
        first measures of the state.
    watch
        Sees every state.
    checkpoint
        A file to write the state to, whole or not at all.
    every
        After so many iterations, at least 1; the last state is always written.
    resume
        Whether training goes on from the checkpoint, if that file exists; it ends with the weights
        of a training that was never stopped. A checkpoint of other data, or of a task, engine or
        learner with other settings is refused; the number of iterations may be another.
    overwrite
        Whether a checkpoint of another training may be lost, where training begins anew.
    """
    if checkpoint is None and resume:
        raise SettingError("to resume, say checkpoint=... as well: the file to go on from")
    if resume and overwrite:
        raise SettingError("resume goes on from a checkpoint and overwrite loses it; say only one")
    check("every", every, whole(1))
    learner = check("learner", StructuredSVM() if learner is None else learner, LEARNER)
    if checkpoint is not None:
        check_place(checkpoint)
    prepared = prepare(
        task,
        xs,
        ys,
        hashed=hashed,
        sample_weight=sample_weight,
        allow_infeasible_gold=allow_infeasible_gold,
    )
    check_examples(prepared)
    layout = prepared.layout
    model: Model[X, Y] = Model(task, layout, layout.zeros(), Exact() if engine is None else engine)
    run, saved = {}, None
    if checkpoint is not None:
        run = run_of(learner, model, prepared)
        if Path(checkpoint).exists() and resume:
            saved = load_state(checkpoint, run)
            if saved.weights.shape != (layout.size,):
                raise ModelError(
                    f"{checkpoint}: has {len(saved.weights)} weights, and the model has "
                    f"{layout.size}"
                )
        elif Path(checkpoint).exists() and not overwrite:
            load_state(checkpoint, run, "name another file, or say overwrite=True to lose it")
    if saved is not None and saved.done:
        return model.with_weights(saved.weights)
    last, judged = saved, model.with_engine(persistent(model.engine))
    with _bar(learner, saved, verbose) if progress else nullcontext() as show:
        for last in learner.iterate(model, prepared, saved):
            if dev_scores is not None:
                scores = dev_scores(judged.with_weights(last.weights))
                dev = {f"{DEV}{name}": score for name, score in scores.items()}
                last.measures = {**dev, **last.measures}
            for see in (watch, show):
                if see is not None:
                    see(last)
            if checkpoint is not None and last.iteration % every == 0:
                save_state(last, checkpoint, run)
                saved = last
    if checkpoint is not None and last is not None and last is not saved:
        save_state(last, checkpoint, run)
    return model if last is None else model.with_weights(last.weights)


def run_of(learner: Learner, model: Model[Any, Any], prepared: Dataset) -> dict[str, str]:
    """What a training is about: learner, engine and task by their settings, examples by a digest.

    What says how long it lasts or how fast it is, and not which steps it makes, is left out.
    """
    digest = hashlib.sha256()
    for block in prepared.layout.blocks:
        digest.update(f"{block}\n".encode("utf-8", "surrogatepass"))
    for kind, index in prepared.layout.indices.items():
        digest.update(f"{kind} {len(index)}\n".encode("utf-8", "surrogatepass"))
    vectors = prepared.vectors
    for array in (vectors.ptr, vectors.column, vectors.value):
        digest.update(np.asarray(array).tobytes())
    for group in prepared.groups:
        digest.update(group.space.fingerprint.encode())
        slots = group.slots
        for values in (
            *(group.members, group.firsts, group.sample_weight, group.gold),
            *(slots.vector, slots.origin, slots.stride, slots.each),
            *(slots.tied, slots.start, slots.column),
        ):
            digest.update(np.asarray(values).tobytes())
    parts = {"learner": learner, "engine": model.engine, "task": model.task}
    said = [pair for name, value in parts.items() for pair in _said(name, value)]
    return {**dict(said), EXAMPLES: digest.hexdigest()[:16]}


@contextmanager
def _bar(learner: Learner, state: State | None, verbose: bool) -> Iterator[Callable[[State], None]]:
    """A bar that shows each state."""
    name, total = type(learner).__name__, getattr(learner, "iterations", None)
    with progress_of(name, total, 0 if state is None else state.iteration) as update:

        def watch(state: State) -> None:
            known = {key: value for key, value in state.measures.items() if not isnan(value)}
            dev = [(key, value) for key, value in known.items() if key.startswith(DEV)]
            own = [(key, value) for key, value in known.items() if not key.startswith(DEV)]
            shown = [*dev[:1], *(own[:SHOWN] if verbose else losses(known).items())]
            text = "  ".join(f"{key} {value:.4g}" for key, value in shown)
            # A learner may be done before its last iteration: the bar is full all the same.
            update(state.iteration, text, state.iteration if state.done else None)

        yield watch


def losses(measures: Mapping[str, float]) -> dict[str, float]:
    """What a learner minimises, among its measures, or how many mistakes it made.

    >>> losses({"primal": 0.5, "dual": 0.4, "gap": 0.1})
    {'loss': 0.5}
    """
    found = [value for name, value in measures.items() if name in LOSSES and not isnan(value)]
    if found:
        return {"loss": found[0]}
    return {name: value for name, value in measures.items() if name == "mistakes"}


def _said(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """A value and its settings by name, as texts that are the same in every process."""
    if not is_dataclass(value) or isinstance(value, type):
        yield name, _written(value)
        return
    yield name, type(value).__name__
    for setting in _settings(value):
        yield from _said(f"{name}.{setting}", getattr(value, setting))


def _written(value: Any) -> str:
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = sorted((repr(key), _written(own)) for key, own in value.items())
        return f"{{{', '.join(f'{key}: {own}' for key, own in pairs)}}}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_written, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if is_dataclass(value) and not isinstance(value, type):
        listed = (f"{name}={_written(getattr(value, name))}" for name in _settings(value))
        return f"{type(value).__name__}({', '.join(listed)})"
    return str(getattr(value, "__qualname__", type(value).__name__))


def _settings(value: Any) -> list[str]:
    return [field.name for field in fields(value) if field.init and field.name not in FREE]
