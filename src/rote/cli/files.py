"""From a file of examples to a saved model, and from there to outputs and scores.

The task of a training file has the labels of the file, in sorted order; `rote.tasks.adapter` says
how the files of each task are read.
"""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from rote.errors import DataError, LabelError, ModelError, RoteError, RuleError, relocate
from rote.features import CONSTANT
from rote.inference.explain import Explanation
from rote.inference.rule_report import RuleReport
from rote.inference.stores import Store
from rote.inference.wrappers.amortized import Amortized
from rote.io.atomic import write_whole
from rote.io.text import read_text
from rote.learning.training import train
from rote.model import Model
from rote.tasks.adapter import Examples, Scores, adapter_of
from rote.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Trained:
    """A model, and what its training was like."""

    model: Model[Any, Any]
    examples: int
    seconds: float
    measures: Mapping[str, float]  # what the learner measured last
    dev: Scores | None  # on the held-out examples, if there are any

    @property
    def features(self) -> int:
        """How many features the model looks at."""
        indices = self.model.layout.indices
        return sum(len(index) for kind, index in indices.items() if kind != CONSTANT)


def train_file(
    name: str,
    path: str | Path,
    folder: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    rules: str | Path | None = None,
    dev: str | Path | None = None,
    allow_unknown: bool = False,
    **options: Any,
) -> Trained:
    """Learn the task of this name from a file and save the model into a folder.

    Everything that can be checked is, before learning begins: all files, and that the folder can be
    written to. ``rules`` is a file of rules. Held-out examples in the file ``dev`` have labels of
    the training file only, unless ``allow_unknown``. The ``options`` are those of `train`.
    """
    start = perf_counter()
    adapter = adapter_of(name)
    examples = adapter.read(path)
    given = dict(settings or {})
    if rules is not None:
        given["rules"] = read_text(Path(rules))
    try:
        task = adapter.built(examples, given)
    except RuleError as error:
        raise RuleError(f"{rules}, {error}") from None
    held_out = None if dev is None else adapter.read(dev, task)
    if held_out is not None:
        held_out.check(task, allow_unknown=allow_unknown)
    _check_folder(Path(folder))
    measures: dict[str, float] = {}

    def dev_scores(model: Model[Any, Any]) -> Mapping[str, float]:
        assert held_out is not None
        return evaluate(model, held_out, allow_unknown=allow_unknown).numbers

    try:
        model = train(
            task,
            examples.xs,
            examples.ys or (),
            watch=lambda state: measures.update(state.measures),
            dev_scores=None if held_out is None else dev_scores,
            **options,
        )
    except RoteError as error:
        if error.about and error.about[0] in ("example", "input"):  # and not of the dev file
            relocate(error, f"{path}, the example that begins in line", examples.lines)
        raise
    model.save(folder)
    seconds = perf_counter() - start
    scores = None if held_out is None else evaluate(model, held_out, allow_unknown=allow_unknown)
    return Trained(model, len(examples), seconds, measures, scores)


def predict_file(
    folder: str | Path, path: str | Path, store: Store | None = None, n_jobs: int = 1
) -> str:
    """The outputs of a saved model for the inputs of a file, in the format of its task.

    With a ``store``, what is solved is remembered in it, and what can be proved from it is not
    solved.
    """
    model = Model.load(folder)
    if store is not None:
        model = model.with_engine(Amortized(model.engine, store))
    adapter = adapter_of(model.task)
    examples = adapter.read(path, model.task)
    return adapter.write(model.task, examples, predicted(model, examples, n_jobs))


def evaluate_file(folder: str | Path, path: str | Path, *, allow_unknown: bool = False) -> Scores:
    """The scores of a saved model on the examples of a file."""
    model = Model.load(folder)
    examples = adapter_of(model.task).read(path, model.task)
    return evaluate(model, examples, allow_unknown=allow_unknown)


def evaluate(model: Model[Any, Any], examples: Examples, *, allow_unknown: bool = False) -> Scores:
    """The scores of a model on examples.

    A label that the model does not know is refused; with ``allow_unknown``, it is one that the
    model has missed.
    """
    examples.check(model.task, allow_unknown=allow_unknown)
    adapter = adapter_of(model.task)
    measured = adapter.measure(model.task, examples.ys or (), predicted(model, examples))
    return Scores(adapter.name, len(examples), *measured)


def explain_input(
    model: Model[Any, Any], path: str | Path, number: int, wanted: Mapping[str, str], limit: int
) -> Explanation:
    """Why a model's output for one input of a file has not some labels."""
    examples = adapter_of(model.task).read(path, model.task)
    if not 0 <= number < len(examples):
        raise DataError(
            f"{path}: there are {len(examples)} inputs, counted from 0; got number {number}"
        )
    try:
        return model.explain(examples.xs[number], wanted, limit=limit)
    except RoteError as error:
        relocate(error, f"{path}, the input that begins in line", examples.lines[number:])
        raise


def rules_of_file(
    model: Model[Any, Any],
    path: str | Path,
    *,
    gold: bool,
    allow_unknown: bool,
    by_name: bool,
    limit: int,
) -> RuleReport:
    """What each rule of a model changes in its outputs for the inputs of a file.

    With ``gold``, the file has outputs; those with labels that the model does not know are left
    out if ``allow_unknown``, and refused otherwise.
    """
    task = model.task
    examples = adapter_of(task).read(path, task)
    ys, known = examples.ys or (), list(range(len(examples)))
    if gold:
        examples.check(task, allow_unknown=allow_unknown)
        known = [k for k in known if _is_known(task, examples.xs[k], ys[k])]
    xs, lines = ([each[k] for k in known] for each in (examples.xs, examples.lines))
    try:
        return model.rule_report(
            xs,
            [ys[k] for k in known] if gold else None,
            by=str if by_name else None,
            limit=limit,
        )
    except RoteError as error:
        relocate(error, f"{path}, the input that begins in line", lines)
        raise


def _is_known(task: Task[Any, Any], x: Any, y: Any) -> bool:
    try:
        task.encode(x, y)
    except LabelError:
        return False
    return True


def predicted(model: Model[Any, Any], examples: Examples, n_jobs: int = 1) -> list[Any]:
    """The outputs of a model for the inputs of a file."""
    try:
        return model.predict(examples.xs, n_jobs, progress=True)
    except RoteError as error:
        relocate(error, f"{examples.path}, the input that begins in line", examples.lines)
        if error.about is None:
            error.args = (f"{examples.path}: {error}", *error.args[1:])
        raise


def write_outputs(text: str, path: str | Path) -> None:
    """Write a file whole or not at all; names that end in .gz or .xz are compressed."""
    path = Path(path)
    data = text.encode("utf-8")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".xz":
        data = lzma.compress(data)
    try:
        write_whole(path, data)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None


def read_templates(path: str | Path) -> tuple[str, ...]:
    """The templates of a file, one per line; blank lines are passed over."""
    found = tuple(line.strip() for line in read_text(Path(path)).split("\n") if line.strip())
    if not found:
        raise DataError(f"{path}: expected one template per line, as in word[0]; got none")
    return found


def _check_folder(folder: Path) -> None:
    """Refuse a place where no model can be saved, before there is one to be lost."""
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    except OSError as error:
        raise ModelError(f"{folder}: a model cannot be saved there: {error.strerror}") from None
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ModelError(
            f"{folder}: a model cannot be saved there; {there} is no folder, or not yours to change"
        )
