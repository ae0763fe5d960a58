"""`train`: from examples to a model in one call, with progress, checkpoints and resuming."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rote.errors import ModelError, SettingError, check_whole
from rote.inference import Engine, Exact
from rote.learning.base import Learner, State, check_examples, check_learner
from rote.learning.checkpoints import check_place, load_state, save_state
from rote.learning.svm import StructuredSVM
from rote.model import Model, Prepared, prepare
from rote.tasks.task import Task
from rote.types import AnyArray

X = TypeVar("X")
Y = TypeVar("Y")

# Settings under which a training may go on that began with others: they say how long it lasts
# and how fast it is, and not which steps it makes.
FREE = ("iterations", "n_jobs")
SHOWN = 3  # measures beside the bar, which fit on a line with it


def train(
    task: Task[X, Y],
    xs: Iterable[X],
    ys: Iterable[Y],
    *,
    learner: Learner | None = None,
    engine: Engine | None = None,
    importance: AnyArray | None = None,
    progress: bool = False,
    watch: Callable[[State], None] | None = None,
    checkpoint: str | Path | None = None,
    every: int = 1,
    resume: bool = False,
    hashed: Mapping[str, int] | None = None,
    allow_broken: bool = False,
) -> Model[X, Y]:
    """A model of examples, learned by a `StructuredSVM` with `Exact` unless said otherwise.

    ``importance``, ``hashed`` and ``allow_broken`` are those of `rote.model.prepare`. With
    ``progress`` a bar on standard error shows the iteration and the learner's measures; ``watch``
    sees every state.

    The state is written to the file ``checkpoint`` after ``every`` so many iterations and after
    the last; with ``resume`` training goes on from there if that file exists, and ends with the
    weights of a training that was never stopped. A checkpoint of other data or of a learner with
    other settings is refused; its number of iterations may be another.
    """
    if checkpoint is None and resume:
        raise SettingError("to resume, say checkpoint=... as well: the file to go on from")
    check_whole("every", every, least=1)
    learner = StructuredSVM() if learner is None else learner
    check_learner(learner)
    if checkpoint is not None:
        check_place(checkpoint)
    prepared = prepare(
        task, xs, ys, hashed=hashed, importance=importance, allow_broken=allow_broken
    )
    check_examples(prepared)
    layout = prepared.layout
    model: Model[X, Y] = Model(task, layout, layout.zeros(), Exact() if engine is None else engine)
    run = {} if checkpoint is None else run_of(learner, prepared)
    state = None
    if checkpoint is not None and resume and Path(checkpoint).exists():
        state = load_state(checkpoint, run)
        if state.weights.shape != (layout.size,):
            raise ModelError(
                f"{checkpoint}: has {len(state.weights)} weights, and the model has {layout.size}"
            )
    watching = [] if watch is None else [watch]
    with ExitStack() as stack:
        if progress:
            watching.append(stack.enter_context(_bar(learner, state)))
        state = _trained(learner, model, prepared, state, watching, checkpoint, every, run)
    return model if state is None else model.with_weights(state.weights)


def run_of(learner: Learner, prepared: Prepared) -> dict[str, str]:
    """What a training is about: who learns, and a digest of the examples."""
    digest = hashlib.sha256()
    for block in prepared.layout.blocks:
        digest.update(f"{block}\n".encode("utf-8", "surrogatepass"))
    for kind, index in prepared.layout.indices.items():
        digest.update(f"{kind} {len(index)}\n".encode("utf-8", "surrogatepass"))
    for array in prepared.vectors:
        digest.update(array.tobytes())
    for group in prepared.groups:
        digest.update(group.space.fingerprint.encode())
        for values in (group.members, group.firsts, group.importance, group.gold, *group.slots):
            digest.update(np.asarray(values).tobytes())
    return {"learner": _written(learner), "examples": digest.hexdigest()[:16]}


def _trained(
    learner: Learner,
    model: Model[Any, Any],
    prepared: Prepared,
    state: State | None,
    watching: Sequence[Callable[[State], None]],
    checkpoint: str | Path | None,
    every: int,
    run: Mapping[str, str],
) -> State | None:
    if state is not None and state.done:
        return state
    last = saved = state
    for last in learner.iterate(model, prepared, state):
        for watch in watching:
            watch(last)
        if checkpoint is not None and last.iteration % every == 0:
            save_state(last, checkpoint, run)
            saved = last
    if checkpoint is not None and last is not None and last is not saved:
        save_state(last, checkpoint, run)
    return last


@contextmanager
def _bar(learner: Learner, state: State | None) -> Iterator[Callable[[State], None]]:
    """A bar that shows each state."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    name = type(learner).__name__
    columns = (
        TextColumn("{task.description}", table_column=Column(min_width=len(name), no_wrap=True)),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[measures]}", table_column=Column(no_wrap=True)),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        row = bar.add_task(
            name,
            total=getattr(learner, "iterations", None),
            completed=0 if state is None else state.iteration,
            measures="",
        )

        def watch(state: State) -> None:
            known = [(key, value) for key, value in state.measures.items() if not isnan(value)]
            shown = [f"{key} {value:.4g}" for key, value in known[:SHOWN]]
            bar.update(row, completed=state.iteration, measures="  ".join(shown))
            if state.done:  # before its last iteration: the bar is full all the same
                bar.update(row, total=state.iteration)

        yield watch


def _written(value: Any) -> str:
    """Settings as a text that is the same in every process."""
    name = type(value).__name__
    if is_dataclass(value):
        settings = [f for f in fields(value) if f.init and f.name not in FREE]
        listed = ", ".join(f"{f.name}={_written(getattr(value, f.name))}" for f in settings)
        return f"{name}({listed})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{k!r}: {_written(v)}' for k, v in sorted(value.items()))}}}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_written, value))})"
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else name
