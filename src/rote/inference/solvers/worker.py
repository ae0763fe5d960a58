"""Solvers in processes of their own, which are started once and asked again and again.

Whatever happens in such a process, the one that asks goes on: a process that ends, answers
nonsense, or is silent for longer than its limit and some grace is ended, and `SolverError` says so.
Processes that wait are kept for the next question, one for each thread that asks at the same time.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack, suppress
from threading import TIMEOUT_MAX, Lock, Thread, Timer
from typing import Any, NamedTuple

import numpy as np

from rote.errors import SolverError
from rote.inference.solvers import child
from rote.types import AnyArray, IntArray

START = 60.0  # seconds for a process to load its solver
GRACE = 5.0  # seconds beyond its limit, before a process that says nothing is ended
COMMAND = (sys.executable, "-P", child.__file__)  # -P: the files beside it are no packages


class Reply(NamedTuple):
    """What a solver says of one question."""

    proved: bool  # nothing has a smaller cost, or nothing is left at all
    bound: int | None  # no output has a smaller cost; None where there is none
    labels: IntArray | None


class Worker:
    """One process; ``loaded`` names the space that its questions are about."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.loaded: object = None
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter, with our own file
            [*COMMAND, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the one that asks, who then ends it
        )
        self._said({}, START)

    def ask(self, header: dict[str, Any], arrays: dict[str, AnyArray], seconds: float) -> Reply:
        """The answer, which comes within so many seconds and some grace."""
        answer, found = self._said(arrays, seconds, header)
        return Reply(bool(answer["proved"]), answer["bound"], found.get("labels"))

    def _said(
        self, arrays: dict[str, AnyArray], seconds: float, header: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The next message of the process, after it was asked something, or first of all."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        late = False

        def end() -> None:
            nonlocal late
            late = True
            process.kill()

        with ExitStack() as stack:
            if np.isfinite(seconds):
                # toulbar2 counts processor time; this signal is how it hears that time is over.
                nudge = Timer(seconds, self._nudge)
                for timer in (nudge, Timer(min(seconds + GRACE, TIMEOUT_MAX), end)):
                    timer.daemon = True
                    timer.start()
                    stack.callback(timer.cancel)
            try:
                if header is not None:
                    child.write(process.stdin, header, arrays)
                answer, found = child.read(process.stdout)
            except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
                self.close()
                if late:
                    raise SolverError(
                        f"{self._kind} did not stop within {seconds:g} s and {GRACE:g} s of grace, "
                        "and its process was ended; raise the time limit, or use another engine"
                    ) from None
                raise SolverError(
                    f"the process of {self._kind} ended with code {process.returncode} while it "
                    "solved a problem; use another engine for this one"
                ) from error
            except BaseException:
                self.close()  # its answer would be taken for that to the next question
                raise
        if "error" in answer:
            self.close()
            raise SolverError(f"{self._kind} failed: {answer['error']}; use another engine")
        return answer, found

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def _nudge(self) -> None:
        if self._kind == "toulbar2" and hasattr(signal, "SIGVTALRM"):
            self._process.send_signal(signal.SIGVTALRM)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        self._process.wait()


class Workers:
    """The processes that wait for a question."""

    def __init__(self) -> None:
        self._idle: dict[str, list[Worker]] = defaultdict(list)
        self._starting: set[str] = set()
        self._lock = Lock()

    def ask(
        self,
        kind: str,
        key: object,
        space: dict[str, AnyArray],
        question: dict[str, Any],
        arrays: dict[str, AnyArray],
    ) -> Reply:
        """The answer to a question about a space, which is sent only where it is not loaded."""
        worker = self._taken(kind, key)
        load = worker.loaded != key
        seconds = np.inf if question["seconds"] is None else float(question["seconds"])
        sent = (
            {**{f"/{name}": array for name, array in space.items()}, **arrays} if load else arrays
        )
        reply = worker.ask({**question, "load": load}, sent, seconds)
        worker.loaded = key
        with self._lock:
            self._idle[kind].append(worker)
        return reply

    def ready(self, kind: str) -> bool:
        """Whether a process waits; one is started beside all else where there is none."""
        with self._lock:
            if self._idle[kind]:
                return True
            if kind not in self._starting:
                self._starting.add(kind)
                Thread(target=self._start, args=(kind,), daemon=True).start()
        return False

    def _start(self, kind: str) -> None:
        try:
            worker = Worker(kind)
        except (OSError, SolverError):
            return  # and nobody tries again beside all else; asking says what is wrong
        with self._lock:
            self._idle[kind].append(worker)
            self._starting.discard(kind)

    def _taken(self, kind: str, key: object) -> Worker:
        with self._lock:
            idle = self._idle[kind]
            idle[:] = [worker for worker in idle if worker.alive]
            if idle:
                best = next((k for k, each in enumerate(idle) if each.loaded == key), -1)
                return idle.pop(best)
        return Worker(kind)

    def close(self) -> None:
        """End them all."""
        with self._lock:
            for idle in self._idle.values():
                while idle:
                    idle.pop().close()

    def forget(self) -> None:
        """In a copy of this process, the processes belong to the original."""
        self.__init__()  # type: ignore[misc]


WORKERS = Workers()
atexit.register(WORKERS.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKERS.forget)
