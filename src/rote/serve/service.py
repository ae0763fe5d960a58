"""`Service`: requests from any thread, answered in batches by one.

Whatever has come while a batch was answered is the next batch: nobody waits for others to come, and
under load batches grow by themselves. If a batch fails, its requests are tried one by one, so that
only those fail that are at fault. A service that is closed takes nothing more, and answers all that
it has taken.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from threading import Condition, Thread
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Self

from rote.errors import DataError, InputTooLarge, Overloaded, SettingError
from rote.inference.approximate import LearnedBeam
from rote.inference.engine import Engine, find, layers, rebuilt
from rote.inference.explain import Explanation
from rote.inference.stores import Store
from rote.inference.wrappers.amortized import Amortized
from rote.model import Model
from rote.serve.answer_cache import AnswerCache
from rote.serve.predictor import Answer, Predictor, digest_of
from rote.serve.stats import ServiceStats
from rote.settings import Checked, whole
from rote.space import Space
from rote.tasks.adapter import Adapter, adapter_of, check_size
from rote.tasks.task import Task

LONGEST = 60  # seconds that anybody is told to wait


@dataclass(frozen=True)
class Limits(Checked):
    """What a service takes.

    Parameters
    ----------
    max_bytes
        Of a request.
    inputs
        Of a request.
    waiting
        Inputs that were taken and not answered yet.
    batch
        Inputs answered together, if a single request has not more.
    """

    max_bytes: int = 1 << 20
    inputs: int = 256
    waiting: int = 4096
    batch: int = 512

    checks: ClassVar = dict.fromkeys(("max_bytes", "inputs", "waiting", "batch"), whole(1))


class _Job(NamedTuple):
    values: Sequence[Any]
    future: Future[Any]
    wanted: Mapping[str, str] | None = None  # of a question why an output has not these labels


class Service:
    """Answers inputs in JSON, read by the adapter of the model's task or by one that is given.

    Parameters
    ----------
    model
        What predicts.
    adapter
        Reads inputs and writes outputs; that of the model's task where none is given.
    name
        What the model is called in the statistics.
    store
        Keeps answers proved optimal beyond the process, unless functions or classes of your own
        have a part in them: the task's, or the adapter that is given. It is closed at the end.
    remember
        Whether answers proved optimal are said again when the same input comes again.
    learned
        A folder in which a `LearnedBeam` among the model's engines is saved at the end.
    limits
        How much is taken; ``Limits()`` where nothing is said.

    >>> from rote import train
    >>> from rote.tasks.multiclass import Multiclass
    >>> model = train(Multiclass(("go", "stop")), [["green"], ["red"]], ["go", "stop"])
    >>> with Service(model) as service:
    ...     answer = service.predict([["red"]])[0]
    >>> answer.output, answer.status
    ('stop', 'optimal')
    """

    def __init__(
        self,
        model: Model[Any, Any],
        *,
        adapter: Adapter[Any] | None = None,
        name: str = "model",
        store: Store | None = None,
        remember: bool = True,
        learned: Path | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.model = model
        self.name = name
        self.adapter = served(model.task, adapter)
        self.limits = Limits() if limits is None else limits
        self.engine = " over ".join(type(each).__name__ for each in layers(model.engine))
        self._store = store
        self._learned = learned
        digest = digest_of(model, self.engine) if adapter is None else None
        # In memory alone where there is no digest: a later process may have other code.
        cache = AnswerCache(digest or "", store if digest else None) if remember else None
        self._predictor = Predictor(model, self.adapter, cache)
        self._stats = ServiceStats()
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._closing = False
        self._changed = Condition()
        self._thread = Thread(target=self._work, name="rote service", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        return not self._closing and self._thread.is_alive()

    def warm_up(self) -> None:
        """Answer the example of the task once, with a copy of the engine, and forget the answer.

        So all that is loaded at its first use is there before anybody asks. Nothing is counted,
        remembered or learned, and what fails here is told to whoever asks the same.
        """
        task, to_json = self.model.task, self.adapter.to_json
        assert to_json is not None  # `served` has checked it
        with suppress(Exception):
            model = self.model.with_engine(_apart(self.model.engine))
            x = self.adapter.input_of(task, _typed(self.adapter.example(task)))
            to_json(task, x, model.predict([x])[0])

    def submit(self, values: Sequence[Any]) -> Future[list[Answer]]:
        """Take a request; its answers come when they are there."""
        if isinstance(values, str | bytes | Mapping):
            raise DataError(
                f"a request is a list of inputs, got {values!r:.80}; put a single input into a list"
            )
        check_size("inputs in a request", len(values), self.limits.inputs)
        return self._take(_Job(values, Future()))

    def submit_question(
        self, value: Any, wanted: Mapping[str, str]
    ) -> Future[tuple[Space, Explanation]]:
        """Take the question why the best output of an input has not some labels.

        What comes is the space of its outputs and the explanation, found by `Exact`.
        """
        return self._take(_Job([value], Future(), wanted))

    def _take(self, job: _Job) -> Future[Any]:
        values = job.values
        with self._changed:
            if self._closing:
                raise Overloaded("the service is closing; ask again when it is back")
            if self._waiting + len(values) > self.limits.waiting:
                each = self._stats.seconds_per_answer
                raise Overloaded(
                    f"{self._waiting} inputs are waiting, and at most {self.limits.waiting} may; "
                    "ask again later",
                    min(LONGEST, max(1, ceil(self._waiting * each))),
                )
            self._jobs.append(job)
            self._waiting += len(values)
            self._changed.notify()
        return job.future

    def predict(self, values: Sequence[Any]) -> list[Answer]:
        """The answers to a request."""
        return self.submit(values).result()

    def refuse(self, why: str) -> None:
        """Count a request that was turned away before it came here."""
        self._stats.refuse(why)

    def stats(self) -> dict[str, Any]:
        """What the service is, and what it has done so far, as JSON."""
        amortized = find(self.model.engine, Amortized)
        speedup = find(self.model.engine, LearnedBeam)
        counters = None if amortized is None else amortized.counters
        served = None if speedup is None else speedup.stats.now()
        solved = self._predictor.given if counters is None else counters.solver_calls
        task, record, given = self.model.task, self._stats.record(), self._predictor.given
        known = max(0, record["asked"] - given)  # equal inputs, which no engine was given
        reused, warm, cold = 0, 0, given
        if counters is not None:
            reused, warm, cold = counters.reused, counters.warm, counters.cold
        return {
            "model": self.name,
            "task": type(task).__name__,
            "weights": self.model.layout.size,
            "engine": self.engine,
            "input": {"hint": self.adapter.hint(task), "example": self.adapter.example(task)},
            "limits": asdict(self.limits),
            **record,
            "reused": known + reused,
            "warm": warm,
            "cold": cold,
            "waiting": self._waiting,
            "remembered": len(self._predictor.cache or ()),
            "solved": solved if served is None else served["taught"],
            "proved": {} if counters is None else dict(counters.hits),
            "speedup": served,
        }

    def close(self) -> None:
        """Answer what was taken, save what was learned, and let go of the store."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        speedup = find(self.model.engine, LearnedBeam)
        try:
            if self._learned is not None and speedup is not None:
                self.model.with_engine(speedup).save(self._learned)
        finally:
            if self._store is not None:
                self._store.close()

    def _work(self) -> None:
        while jobs := self._next():
            taken = [job for job in jobs if job.future.set_running_or_notify_cancel()]
            self._no_longer_waits([job for job in jobs if job.future.cancelled()])
            inputs = [job for job in taken if job.wanted is None]
            if inputs:
                self._answer(inputs)
            for job in taken:
                if job.wanted is not None:
                    self._explain(job, job.wanted)

    def _next(self) -> list[_Job]:
        """All that waits, up to a limit; nothing when the service is closed and all is answered."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closing)
            jobs: list[_Job] = []
            count = 0
            while self._jobs and (
                not jobs or count + len(self._jobs[0].values) <= self.limits.batch
            ):
                jobs.append(self._jobs.popleft())
                count += len(jobs[-1].values)
            return jobs

    def _answer(self, jobs: Sequence[_Job]) -> None:
        start = perf_counter()
        try:
            found = self._predictor.answers([value for job in jobs for value in job.values])
        except Exception as error:  # noqa: BLE001  # it goes to whoever asked
            if len(jobs) > 1:
                for job in jobs:
                    self._answer([job])
                return
            self._fail(jobs[0], error)
            return
        self._stats.enter(len(jobs), found, perf_counter() - start)
        self._no_longer_waits(jobs)
        rest = iter(found)
        for job in jobs:
            job.future.set_result([next(rest) for _ in job.values])

    def _explain(self, job: _Job, wanted: Mapping[str, str]) -> None:
        try:
            found = self._predictor.explain(job.values[0], wanted)
        except Exception as error:  # noqa: BLE001  # it goes to whoever asked
            self._fail(job, error)
            return
        self._no_longer_waits([job])
        job.future.set_result(found)

    def _fail(self, job: _Job, error: Exception) -> None:
        self._stats.refuse(reason(error))
        self._no_longer_waits([job])
        job.future.set_exception(error)

    def _no_longer_waits(self, jobs: Sequence[_Job]) -> None:
        """Make room before answers are given, for who asks again as soon as one is there."""
        with self._changed:
            self._waiting -= sum(len(job.values) for job in jobs)


def _apart(engine: Engine) -> Engine:
    """A copy of an engine that shares no memory, no store and nothing learned with it."""

    def emptied(own: Amortized) -> Amortized:
        return replace(own, inner=_apart(own.inner), store=None)

    return deepcopy(rebuilt(engine, Amortized, emptied))


def _typed(text: str) -> Any:
    """What stands in the field of the page, as the page sends it: JSON, or else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def served(task: Task[Any, Any], adapter: Adapter[Any] | None = None) -> Adapter[Any]:
    """The adapter that a task is served by; one that cannot read or write is refused."""
    found = adapter_of(task) if adapter is None else adapter
    if not isinstance(found, Adapter):
        raise SettingError(f"adapter is an Adapter, as in rote.Adapter(...); got {found!r:.80}")
    missing = [name for name in ("from_json", "to_json") if getattr(found, name) is None]
    if missing:
        raise SettingError(
            "a service needs from_json, which reads an input, and to_json, which writes an output; "
            f"the adapter of {found.name} has no {' and no '.join(missing)}"
        )
    found.hint(task), found.example(task)  # refuses a task that cannot be asked about in JSON
    return found


def reason(error: Exception) -> str:
    """Why a request has no answer."""
    kinds = {InputTooLarge: "too large", DataError: "not understood", Overloaded: "overloaded"}
    return next((why for kind, why in kinds.items() if isinstance(error, kind)), "failed")
