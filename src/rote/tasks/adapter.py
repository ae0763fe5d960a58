"""What else is known of a task: how it is read, written, shown, measured and served.

An `Adapter` stands at the end of its task's file, and one registry finds it: files, the shell, the
service, pictures and saved models ask `adapter_of`, and none of them knows a task by its class. A
package with a task of its own registers an adapter, or the class alone so that it can be saved.

Files are JSON lines, UTF-8, plain or in .gz or .xz: {"x": an input, "y": its output} in each line;
"y" is in all lines or in none, and what else a line has stays. Outputs are the same lines with the
predicted "y", so that what was predicted can be learned from and evaluated. A task may read a
format of its own as well. What is wrong with a file is said with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rote.errors import DataError, InputTooLarge, LabelError, ModelError, SettingError
from rote.features import Templates
from rote.io.serialize import classes, described, restored
from rote.io.shapes import check_shape
from rote.io.text import json_text, line_error, read_text
from rote.tasks.show import show_variables
from rote.tasks.task import Task, WithoutRules
from rote.viz import Picture

if TYPE_CHECKING:
    from rote.metrics.labels import F1Table

T = TypeVar("T")
Measured = tuple[dict[str, float], "dict[str, F1Table]"]
_OBJECT = re.compile(r'\s*\{\s*("[^"]*"\s*:|\})')  # how a line of JSON begins, and no row of cells


@dataclass(frozen=True, eq=False)
class Examples:
    """The examples of a file, and what their outputs are written back into.

    Parameters
    ----------
    path
        The file.
    xs, ys
        Its inputs, and their outputs if it has some.
    lines
        The line in which each example begins, counted from 1.
    objects, write
        The lines of JSON that outputs are put into, or what writes the lines of another format.
    by_token
        Whether each label has a line of its own.
    """

    path: Path
    xs: tuple[Any, ...]
    ys: tuple[Any, ...] | None
    lines: tuple[int, ...]
    objects: Sequence[dict[str, Any]] = ()
    write: Callable[[Sequence[Any]], Iterable[str]] | None = None
    by_token: bool = False

    def __len__(self) -> int:
        return len(self.xs)

    def check(self, task: Task[Any, Any], *, allow_unknown: bool = False) -> None:
        """Refuse examples without outputs and, unless allowed, labels that the task lacks."""
        if not self.xs:
            raise DataError(f"{self.path}: there are no examples in the file")
        if self.ys is None:
            raise DataError(
                f"{self.path}: there are inputs in the file and no outputs; add "
                f"{'a column with the labels' if self.by_token else 'y to every line'}"
            )
        for line, x, y in zip(self.lines, self.xs, () if allow_unknown else self.ys, strict=False):
            try:
                task.encode(x, y)
            except LabelError as error:
                known = getattr(task, "labels", ())
                within = next((t for t, label in enumerate(y) if label not in known), 0)
                raise LabelError(
                    f"{self.path}, line {line + within * self.by_token}: {error}. Correct it, "
                    "train with it, or say allow_unknown=True to count it as a mistake"
                ) from None


@dataclass(frozen=True)
class Scores:
    """How good a model is on examples.

    Parameters
    ----------
    task, examples
        The name of the task, and how many examples were looked at.
    numbers
        Scores by their name, 1 for a perfect model.
    tables
        F1 by label where a task has it.
    """

    task: str
    examples: int
    numbers: Mapping[str, float]
    tables: Mapping[str, F1Table] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """The same for JSON."""
        tables = {name: asdict(table) for name, table in self.tables.items()}
        return {
            "task": self.task,
            "examples": self.examples,
            "scores": dict(self.numbers),
            "tables": tables,
        }


def measure_outputs(_task: Any, gold: Sequence[Any], found: Sequence[Any]) -> Measured:
    """How many outputs are right as a whole."""
    right = [one == other for one, other in zip(gold, found, strict=True)]
    return {"exact match": sum(right) / len(right)}, {}


@dataclass(frozen=True, eq=False)
class Adapter(Generic[T]):
    """How a task meets people; what is None cannot be done with it.

    Parameters
    ----------
    name, task
        What the shell calls it, and its class.
    from_json, output_from_json, to_json
        ``from_json(task, value)`` is the input that JSON has, without a task if it is not built
        yet; ``output_from_json(x, value)`` an output; ``to_json(task, x, y)`` the output as JSON.
        What cannot be read is a `DataError`.
    shape
        What all inputs of a file have in common, in words: ``{"a token": "2 texts"}``. An input of
        another shape than the first of its file is refused.
    settings, build
        The settings that the shell may give, and ``build(examples, settings)``, the task of a
        training file. All tasks have the setting ``rules``.
    own_format
        ``own_format(path, lines, task)`` are the examples of a file that is not in JSON lines.
    typed, hint, example, limits
        For the service: the input that a text stands for, what to type, a text or JSON that can be
        typed, and (what, its count of an input, the most that are taken at once).
    show, measure, facts
        A picture of an output; scores by name and tables by label; what training is to tell.
    """

    name: str
    task: type[T]
    from_json: Callable[[T | None, Any], Any] | None = None
    output_from_json: Callable[[Any, Any], Any] | None = None
    to_json: Callable[[T, Any, Any], Any] | None = None
    shape: Callable[[Any], Mapping[str, str]] = lambda _: {}
    settings: tuple[str, ...] = ()
    build: Callable[[Examples, Mapping[str, Any]], T] | None = None
    own_format: Callable[[Path, Sequence[str], T | None], Examples] | None = None
    typed: Callable[[T, str], Any] | None = None
    hint: Callable[[T], str] = lambda _: "An input as JSON."
    example: Callable[[T], str] = lambda _: "{}"
    limits: tuple[tuple[str, Callable[[Any], int], int], ...] = ()
    show: Callable[[T, Any, Any, Any, Sequence[str]], Picture] = show_variables
    measure: Callable[[T, Sequence[Any], Sequence[Any]], Measured] = measure_outputs
    facts: Callable[[T], Mapping[str, str]] = lambda _: {}

    def read(self, path: str | Path, task: T | None = None) -> Examples:
        """The examples of a file, for training or for a task that there is; then without outputs.

        The file "-" is the standard input.
        """
        path = Path(path)
        text = read_text(path).removeprefix("\ufeff").removesuffix("\n")
        lines = [line.removesuffix("\r") for line in text.split("\n")] if text else []
        first = next((line for line in lines if line.strip(" \t")), "")
        if self.own_format is not None and not _OBJECT.match(first):
            return self.own_format(path, lines, task)
        return self._objects(path, lines, task)

    def write(self, task: T, examples: Examples, outputs: Sequence[Any]) -> str:
        """The text of a file with an output for each example of another."""
        if len(outputs) != len(examples):
            raise DataError(
                f"{examples.path}: there are {len(examples)} inputs, got {len(outputs)} outputs"
            )
        if examples.write is not None:
            lines = examples.write(outputs)
        else:
            every = zip(examples.objects, examples.xs, outputs, strict=True)
            to_json = self._needed("to_json")
            lines = (json_text({**given, "y": to_json(task, x, y)}) for given, x, y in every)
        return "".join(f"{line}\n" for line in lines)

    def built(self, examples: Examples, settings: Mapping[str, Any]) -> T:
        """The task of a training file, whose outputs are checked."""
        for name in settings:
            if name not in (*self.settings, "rules"):
                raise SettingError(f"{name} is no setting of {self.name}; leave it out")
        task = self._needed("build")(examples, settings)
        examples.check(task)
        if not getattr(task, "labels", True):
            raise DataError(f"{examples.path}: no example has a label; there is nothing to learn")
        return task  # type: ignore[no-any-return]

    def input_of(self, task: T, value: Any) -> Any:
        """The input of a request: a text that was typed, or JSON, within the limits."""
        if isinstance(value, str) and self.typed is not None:
            x = self.typed(task, value)
        else:
            x = self._needed("from_json")(task, value)
        for what, count, most in self.limits:
            check_size(what, count(x), most)
        return x

    def _objects(self, path: Path, lines: Iterable[str], task: T | None) -> Examples:
        found: list[tuple[int, dict[str, Any], Any, Any]] = []
        for number, line in enumerate(lines, start=1):
            if not line.strip(" \t"):
                continue
            try:
                value = _object(line)
                x = self._needed("from_json")(task, value["x"])
                if found:
                    self._check_alike(found[0], value, x)
                y = self._needed("output_from_json")(x, value["y"]) if "y" in value else None
            except DataError as error:
                raise line_error(path, number, str(error)) from None
            found.append((number, value, x, y))
        numbers, given, xs, ys = zip(*found, strict=True) if found else ((),) * 4
        return Examples(path, xs, ys if given and "y" in given[0] else None, numbers, given)

    def _check_alike(self, first: tuple[Any, ...], value: dict[str, Any], x: Any) -> None:
        if ("y" in value) != ("y" in first[1]):
            raise DataError('"y" is in some lines and not in others')
        here, there = self.shape(x), self.shape(first[2])
        for what in here.keys() & there.keys():
            if here[what] != there[what]:
                raise DataError(f"{what} has {there[what]} in the first line, got {here[what]}")

    def _needed(self, name: str) -> Any:
        if getattr(self, name) is None:
            raise ModelError(f"the adapter of {self.name} has no {name}; give it one")
        return getattr(self, name)


CLASSES = classes(Templates, WithoutRules)  # what is saved by name: tasks, and what they are of
_ADAPTERS: dict[str, Adapter[Any]] = {}


def register(what: Adapter[Any] | type[Any]) -> None:
    """Make a task known to files, the shell, the service and saved models.

    Parameters
    ----------
    what
        An adapter, or the class of a task alone, so that it can be saved.
    """
    if isinstance(what, Adapter):
        _ADAPTERS[what.name] = what
        what = what.task
    CLASSES[what.__name__] = what


def adapters() -> tuple[Adapter[Any], ...]:
    """Those of tasks that can be learned from files."""
    return tuple(adapter for adapter in _ADAPTERS.values() if adapter.build is not None)


def adapter_of(task: Task[Any, Any] | str) -> Adapter[Any]:
    """The adapter that reads and writes the inputs of a task.

    Parameters
    ----------
    task
        A task, or the name that the shell has for one.
    """
    if isinstance(task, str):
        found = _ADAPTERS.get(task)
        if found is None or found.build is None:
            names = ", ".join(adapter.name for adapter in adapters())
            raise SettingError(f"the task is one of {names}; got {task!r}")
        return found
    found = _adapter(task)
    if found is None or found.from_json is None:
        raise ModelError(
            f"inputs are read for models of {', '.join(each.name for each in adapters())}; this "
            f"model's task is {type(task).__name__}: give it its inputs in Python, or register an "
            "Adapter for it"
        )
    return found


def show(
    task: Task[Any, Any], x: Any, y: Any, gold: Any = None, *, facts: Sequence[str] = ()
) -> Picture:
    """A picture of an output.

    Parameters
    ----------
    task, x, y
        The task, an input and an output of it, which may break rules.
    gold
        The right output; what differs from it is marked.
    facts
        Sentences to be written below.

    Examples
    --------
    >>> from rote.features import Templates
    >>> from rote.tasks.tagging import Tagging
    >>> task = Tagging(("B-NP", "I-NP", "O"), Templates(("word",), ("word[0]",)), bio=True)
    >>> print(show(task, [["dogs"], ["bark"]], ["O", "I-NP"]))
    dogs    bark
    O ✗1 └I-NP ✗1┘
    <BLANKLINE>
    broken rules: 1 of 2
    ✗1 I-NP at 1 goes on
    """
    found = _adapter(task)
    return (show_variables if found is None else found.show)(task, x, y, gold, list(facts))


def describe(task: Task[Any, Any]) -> Any:
    """All of a task as JSON, for `task_from`; a task that cannot be written down is refused.

    >>> from rote.tasks.multiclass import Multiclass
    >>> describe(Multiclass(("ham", "spam")))["settings"]["labels"]
    ['ham', 'spam']
    >>> task_from(describe(Multiclass(("ham", "spam"))))
    Multiclass(labels=('ham', 'spam'), constant=True, rules=None)
    """
    return described(task, CLASSES)


def task_from(description: Any) -> Task[Any, Any]:
    """The task that was described."""
    task: Task[Any, Any] = restored(description, CLASSES)
    if not hasattr(task, "frame"):
        raise ModelError(f"expected the description of a task, got one of {type(task).__name__}")
    return task


def check_size(what: str, count: int, most: int) -> None:
    """Refuse more than a limit allows."""
    if count > most:
        raise InputTooLarge(f"at most {most} {what}, got {count}; send less at once")


def labels_in(ys: Iterable[Iterable[str]] | None) -> tuple[str, ...]:
    """The labels of some outputs, in sorted order."""
    return tuple(sorted({label for y in ys or () for label in y}))


def label_list(_x: Any, value: Any) -> tuple[str, ...]:
    """The labels that JSON has as a list of texts."""
    return tuple(check_shape('"y"', value, [str]))


def label_of_each(x: Sequence[Any], value: Any) -> tuple[str, ...]:
    """The same, with a label for each token or node of an input; null is an unknown one."""
    if isinstance(value, list):
        value = ["?" if label is None else label for label in value]
    labels = label_list(x, value)
    if len(labels) != len(x):
        raise DataError(f'"y" has a label for each of {len(x)}, got {len(labels)}')
    return labels


def _adapter(task: Any) -> Adapter[Any] | None:
    while isinstance(task, WithoutRules):
        task = task.task
    return next((each for each in _ADAPTERS.values() if isinstance(task, each.task)), None)


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"expected an object in JSON: {error}") from None
    if not isinstance(value, dict) or "x" not in value:
        raise DataError(f'expected an object with "x", as in {{"x": ["red"], ...}}, got {line:.80}')
    return value
