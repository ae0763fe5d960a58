"""From the JSON of inputs to answers: remembered ones, and the others solved in one batch.

An answer is what `Solutions` say of one input, with the output as JSON. What is wrong with an
input is a `DataError` that says which; what an engine raises becomes a `ServiceError`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from math import isinf
from typing import Any, NamedTuple

from rote.errors import (
    DataError,
    InputTooLarge,
    LabelError,
    ModelError,
    RoteError,
    ServiceError,
    relocate,
)
from rote.inference.exact.exact import Exact
from rote.inference.explain import Explanation
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.model import Model
from rote.serve.answer_cache import AnswerCache, key_of
from rote.space import Space
from rote.tasks.adapter import Adapter, describe

LOG = logging.getLogger(__name__)
OPTIMAL = Status.OPTIMAL.name.lower()
SETS = 10  # of rules, in an explanation
WITHOUT = (Status.INFEASIBLE, Status.TIMED_OUT)  # an output


class Answer(NamedTuple):
    """The output of one input as JSON, and what is known of it.

    Parameters
    ----------
    output
        None where none was found.
    value
        The score of the output.
    bound
        No output has a higher score.
    status
        The name of a `Status`, in small letters.
    source
        The name of a `FoundBy`, in small letters.
    """

    output: Any
    value: float
    bound: float
    status: str
    source: str

    @property
    def gap(self) -> float:
        return 0.0 if isinf(self.value) else self.bound - self.value


class Predictor:
    """What answers a batch: a model, the adapter of its task, and a cache of answers.

    ``given`` counts the inputs that the model's engine was given.
    """

    def __init__(
        self, model: Model[Any, Any], adapter: Adapter[Any], cache: AnswerCache | None
    ) -> None:
        self.model = model
        self.adapter = adapter
        self.cache = cache
        self.given = 0

    def answers(self, values: Sequence[Any]) -> list[Answer]:
        """An answer for each input. Equal inputs are solved once."""
        keys = [_key(value, place) for place, value in enumerate(values)]
        known = self._recalled(keys)
        # The place of the first input with each key that is not known.
        new = {key: place for place, key in reversed([*enumerate(keys)]) if key not in known}
        if new:
            places = sorted(new.values())
            found = self._solved([values[place] for place in places], places)
            solved = {keys[place]: answer for place, answer in zip(places, found, strict=True)}
            known |= solved
            if self.cache is not None:  # no later answer can better what is optimal
                best = {key: found[:3] for key, found in solved.items() if found.status == OPTIMAL}
                self.cache.put(best)
        return [known[key] for key in keys]

    def explain(self, value: Any, wanted: Mapping[str, str]) -> tuple[Space, Explanation]:
        """Why the best output of an input has not some labels, and the space of its outputs."""
        _key([value, dict(wanted)], 0)  # refuses what could not be said in JSON
        x = self._read(value, 0)
        try:
            with _blaming("task", RoteError, (0,)):
                why = self.model.with_engine(Exact()).explain(x, wanted, limit=SETS)
        except LabelError as error:
            raise DataError(str(error)) from None
        return self.model.task.frame(x).space, why

    def _recalled(self, keys: Sequence[bytes]) -> dict[bytes, Answer]:
        if self.cache is None:
            return {}
        self.cache.fetch()
        recalled = {key: self.cache.get(key) for key in set(keys)}
        return {
            key: Answer(*found, OPTIMAL, FoundBy.CACHE.name.lower())
            for key, found in recalled.items()
            if found is not None
        }

    def _solved(self, values: Sequence[Any], places: Sequence[int]) -> list[Answer]:
        xs = [self._read(value, place) for value, place in zip(values, places, strict=True)]
        found: dict[int, Answer] = {}
        with _blaming("task", RoteError, places):
            prepared = self.model.prepare(xs)
        with _blaming("engine", DataError, places):  # of an input that is read while it is searched
            for group, solutions in self.model.answers(prepared):
                for row, member in enumerate(group.members.tolist()):
                    own = solutions.labels[row, : group.space.own].tolist()
                    found[member] = self._answer(xs[member], own, solutions, row)
        self.given += len(xs)
        return [found[member] for member in range(len(xs))]

    def _read(self, value: Any, place: int) -> Any:
        try:
            return self.adapter.input_of(self.model.task, value)
        except RoteError as error:
            kind = InputTooLarge if isinstance(error, InputTooLarge) else DataError
            raise kind(f"input {place}: {error}") from None
        except Exception as error:
            raise _failure("adapter", error) from error

    def _answer(self, x: Any, labels: list[int], solutions: Solutions, row: int) -> Answer:
        status = Status(int(solutions.status[row]))
        output = None
        if status not in WITHOUT:
            task, to_json = self.model.task, self.adapter.to_json
            assert to_json is not None  # the service has checked it
            output = to_json(task, x, task.decode(x, labels))
        return Answer(
            output,
            float(solutions.value[row]),
            float(solutions.bound[row]),
            status.name.lower(),
            FoundBy(int(solutions.source[row])).name.lower(),
        )


@contextmanager
def _blaming(what: str, about_inputs: type[RoteError], places: Sequence[int]) -> Iterator[None]:
    """Turn errors about an input into one that names it by its place, all others into failures."""
    try:
        yield
    except Exception as error:
        if isinstance(error, about_inputs) and error.about is not None:
            relocate(error, "input", places)
            raise DataError(str(error)) from None
        if about_inputs is RoteError and isinstance(error, RoteError):
            raise
        raise _failure(what, error) from error


def _failure(what: str, error: Exception) -> ServiceError:
    LOG.error("the %s failed", what, exc_info=error)
    name = type(error).__name__
    return ServiceError(f"the {what} failed with {name}, which is in the log of the service")


def _key(value: Any, place: int) -> bytes:
    try:
        return key_of(value)
    except (ValueError, RecursionError) as error:  # half of a pair of surrogates, or too deep
        raise DataError(f"input {place}: is no text, list or object to be read: {error}") from None


def digest_of(model: Model[Any, Any], engine: str) -> str | None:
    """A digest of all that an answer hangs on: task, features, weights and engine.

    None where a task has functions or a class of its own: no digest tells code from other code.
    """
    try:
        task = describe(model.task)
    except ModelError:
        return None
    layout = model.layout
    said = [
        engine,
        task,
        [[block.name, block.kind, block.width] for block in layout.blocks],
        {kind: index.to_json() for kind, index in layout.indices.items()},
    ]
    text = json.dumps(said, sort_keys=True).encode("ascii")
    return blake2b(text + model.weights.tobytes(), digest_size=16).hexdigest()
