"""From a file of examples to a saved model, and from there to a file of outputs.

The task is built from the training file: its labels are those of the file, in sorted order, and
columns and templates have defaults by the number of columns. Entities and relations have the labels
and rules of conll04 if these are enough; else a relation needs the labels of entities that it joins
in the file, if it joins the same two everywhere. `rote.tasks.files` says what the files look like.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

from rote.errors import DataError, ModelError, RoteError, SettingError, renumber
from rote.features import CHUNKING, CONSTANT, POS_TAGGING, Templates
from rote.inference import Engine
from rote.inference.stores import Store
from rote.inference.wrappers.amortized import Amortized
from rote.io.atomic import write_whole
from rote.io.text import read_text
from rote.learning.base import Learner
from rote.learning.independent import Local
from rote.learning.perceptron import Perceptron
from rote.learning.subgradient import Subgradient
from rote.learning.svm import StructuredSVM
from rote.learning.training import train
from rote.model import Model
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.files import (
    ENTITY_RELATION,
    MULTICLASS,
    MULTILABEL,
    TAGGING,
    Contents,
    check_outputs,
    output_text,
    read_examples,
    read_for,
)
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging
from rote.tasks.task import Task

LEARNERS: Mapping[str, Callable[..., Learner]] = MappingProxyType(
    {
        "svm": StructuredSVM,
        "perceptron": Perceptron,
        "local": Local,
        "subgradient": Subgradient,
    }
)
COLUMNS = ("word", "pos")  # those that follow are c2, c3, …
MANY_LABELS = 15  # more than this have no factors between them, unless they are asked for
# What belongs to which task; a setting elsewhere is refused, not ignored.
SETTINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        TAGGING: ("order", "bio", "columns", "templates"),
        ENTITY_RELATION: (),
        MULTILABEL: ("pairs",),
        MULTICLASS: (),
    }
)


@dataclass(frozen=True)
class TaskSettings:
    """What a task is given beside its labels; None is left to the task's default."""

    order: int | None = None
    bio: bool | None = None
    columns: tuple[str, ...] | None = None
    templates: tuple[str, ...] | None = None
    pairs: str | None = None


@dataclass(frozen=True, eq=False)
class Trained:
    """A model, and what is to be told of its training."""

    model: Model[Any, Any]
    examples: int
    seconds: float
    measures: Mapping[str, float]  # what the learner measured last
    dev: Contents | None  # the held-out examples, checked, if there are any

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
    settings: TaskSettings | None = None,
    learner: Learner | None = None,
    engine: Engine | None = None,
    dev: str | Path | None = None,
    allow_unknown: bool = False,
    allow_broken: bool = False,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    every: int = 1,
    resume: bool = False,
    overwrite: bool = False,
) -> Trained:
    """Learn the task of this name from a file and save the model into a folder.

    Everything that can be checked is, before learning begins: both files, and that the folder
    can be written to. Held-out examples in the file ``dev`` have labels of the training file only,
    unless ``allow_unknown``. The options that follow are those of `train`.
    """
    start = perf_counter()
    contents = read_examples(name, path)
    task = task_of(contents, TaskSettings() if settings is None else settings)
    held_out = None if dev is None else read_for(task, dev)
    if held_out is not None:
        check_outputs(held_out, task, allow_unknown=allow_unknown)
    _check_folder(Path(folder))
    assert contents.ys is not None
    measures: dict[str, float] = {}
    try:
        model = train(
            task,
            contents.xs,
            contents.ys,
            learner=learner,
            engine=engine,
            allow_broken=allow_broken,
            progress=progress,
            watch=lambda state: measures.update(state.measures),
            checkpoint=checkpoint,
            every=every,
            resume=resume,
            overwrite=overwrite,
        )
    except RoteError as error:
        renumber(error, f"{path}, the example that begins in line", contents.lines)
        raise
    model.save(folder)
    return Trained(model, len(contents), perf_counter() - start, measures, held_out)


def task_of(contents: Contents, settings: TaskSettings) -> Task[Any, Any]:
    """The task of a training file: with the labels that it has, in sorted order."""
    for field in fields(settings):
        given = getattr(settings, field.name) is not None
        if given and field.name not in SETTINGS[contents.name]:
            raise SettingError(f"{field.name} is no setting of {contents.name}; leave it out")
    task: Task[Any, Any]
    if contents.name == TAGGING:
        task = _tagging(contents, settings)
    elif contents.name == ENTITY_RELATION:
        task = EntityRelation.of(contents.ys or ())
    elif contents.name == MULTILABEL:
        labels = _sorted(label for y in contents.ys or () for label in y)
        pairs = settings.pairs or ("none" if len(labels) > MANY_LABELS else "complete")
        task = MultiLabel(labels, pairs)  # type: ignore[arg-type]  # the task checks it
    else:
        task = Multiclass(_sorted(contents.ys or ()))
    check_outputs(contents, task)
    if not getattr(task, "labels", True):
        raise DataError(f"{contents.path}: no example has a label; there is nothing to learn")
    return task


def learner_of(
    name: str,
    *,
    C: float | None = None,  # noqa: N803
    iterations: int | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Learner:
    """The learner of this name; None leaves a setting at its default.

    >>> learner_of("perceptron", iterations=5)
    Perceptron(iterations=5, average=True, update='full', seed=0)
    """
    if name not in LEARNERS:
        raise SettingError(f"the learner is one of {', '.join(LEARNERS)}; got {name!r}")
    make = LEARNERS[name]
    known = [field.name for field in fields(make)]  # type: ignore[arg-type]
    given = {"C": C, "iterations": iterations, "seed": seed, "n_jobs": n_jobs}
    given = {setting: value for setting, value in given.items() if value is not None}
    for setting in given:
        if setting not in known:
            raise SettingError(f"the learner {name} has no {setting}; leave it out")
    return make(**given)


def predict_file(folder: str | Path, path: str | Path, store: Store | None = None) -> str:
    """The outputs of a saved model for the inputs of a file, in the format of its task.

    With a ``store``, what is solved is remembered in it, and what can be proved from it is not
    solved.
    """
    model = Model.load(folder)
    if store is not None:
        model = model.with_engine(Amortized(model.engine, store))
    contents = read_for(model.task, path)
    return output_text(contents, predicted(model, contents))


def predicted(model: Model[Any, Any], contents: Contents) -> list[Any]:
    """The outputs of a model for the inputs of a file."""
    try:
        return model.predict(contents.xs)
    except RoteError as error:
        renumber(error, f"{contents.path}, the input that begins in line", contents.lines)
        if error.about is None:
            error.args = (f"{contents.path}: {error}", *error.args[1:])
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


def default_templates(columns: Sequence[str]) -> tuple[str, ...]:
    """What to look at: letters of a lone column; else neighbours, by the first two columns.

    >>> default_templates(("form", "tag", "lemma"))[-4:]
    ('tag[0]|tag[1]|tag[2]', 'lemma[-1]', 'lemma[0]', 'lemma[1]')
    """
    named = dict(zip(COLUMNS, columns, strict=False))
    chosen = POS_TAGGING if len(columns) == 1 else CHUNKING
    own = tuple(re.sub(r"(\w+)\[", lambda m: f"{named[m[1]]}[", t) for t in chosen)
    return own + tuple(f"{column}[{k}]" for column in columns[2:] for k in (-1, 0, 1))


def _tagging(contents: Contents, settings: TaskSettings) -> Tagging:
    width = len(contents.xs[0][0]) if contents.xs else 1
    columns = settings.columns
    if columns is None:
        columns = (*COLUMNS, *(f"c{k}" for k in range(2, width)))[:width]
    elif len(columns) != width:
        raise SettingError(
            f"columns names all but the last column of {contents.path}, which is the label: "
            f"{width}; got {', '.join(columns)}"
        )
    templates = default_templates(columns) if settings.templates is None else settings.templates
    return Tagging(
        _sorted(label for y in contents.ys or () for label in y),
        Templates(columns, templates),
        order=1 if settings.order is None else settings.order,
        bio=bool(settings.bio),
    )


def _sorted(labels: Any) -> tuple[str, ...]:
    return tuple(sorted(set(labels)))


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
