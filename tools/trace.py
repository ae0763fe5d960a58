"""The walks of docs/design.md, run and traced: which functions of rote call which.

A call is a frame of rote that begins. Those that wait for it are the frames of rote below it on the
stack; frames of other packages are passed over, and calls while a module is imported left out.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from typer.testing import CliRunner

import rote
import rote.cli
from rote import StructuredSVM, Tagging, Templates, train
from rote.cli.app import app
from tools.walks import EVERYWHERE, Place

SOURCE = Path(rote.__file__).parent


class Call(NamedTuple):
    """What was called, and the functions that wait for it, the caller first."""

    called: Place
    waiting: tuple[Place, ...]


@cache
def place_of(code: CodeType) -> Place | None:
    """Where code of rote stands; None for that of others."""
    try:
        file = Path(code.co_filename).relative_to(SOURCE).as_posix()
    except ValueError:
        return None
    return Place(file, code.co_qualname.replace("<locals>.", ""))


def traced(run: Callable[[Callable[[], None]], Any]) -> list[Call]:
    """All calls of a run in all threads that it starts; it may say when the walk begins."""
    calls: list[Call] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (called := place_of(frame.f_code)) is None:
            return
        waiting = []
        below = frame.f_back
        while below is not None:
            place = place_of(below.f_code)
            if place is not None:
                waiting.append(place)
            below = below.f_back
        if not any(place.function == "<module>" for place in (called, *waiting)):
            calls.append(Call(called, tuple(waiting)))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run(calls.clear)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def tagger(kind: str) -> tuple[Tagging, list[list[list[str]]], list[list[str]]]:
    """A task with labels of its own, so that it meets no space that is there, and two examples."""
    features = Templates(("word",), ("word[0]", "word[-1]", "suffix2(word[0])"))
    xs = [[[f"{kind}{word}"] for word in words] for words in ("abc", "ad")]
    ys = [[f"B-{kind}", f"I-{kind}", "O"], [f"B-{kind}", f"I-{kind}"]]
    return Tagging((f"B-{kind}", f"I-{kind}", "O"), features, bio=True), xs, ys


def walk_predict(kind: str, folder: Path) -> list[Call]:
    """A file to an answer."""
    task, xs, ys = tagger(kind)
    train(task, xs, ys).save(folder / kind)
    (folder / "new.txt").write_text("".join(f"{kind}{word}\n" for word in "abcde"))
    command = ["predict", str(folder / kind), str(folder / "new.txt")]
    return traced(lambda _: CliRunner().invoke(app, command, catch_exceptions=False))


def walk_train(kind: str, _: Path) -> list[Call]:
    """A training step."""
    return traced(lambda _: train(*tagger(kind), learner=StructuredSVM(C=1.0, iterations=2)))


def walk_serve(kind: str, folder: Path) -> list[Call]:
    """A request to the page."""
    from starlette.testclient import TestClient

    from rote.serve import open_service
    from rote.serve.app import create_app

    task, xs, ys = tagger(kind)
    train(task, xs, ys).save(folder / kind)

    def run(begin: Callable[[], None]) -> None:
        service = open_service(folder / kind)
        with TestClient(create_app(service)) as page:
            begin()
            page.post("/predict", json={"input": f"{kind}a {kind}b {kind}c"}).raise_for_status()
            page.get("/stats").raise_for_status()
            page.get("/").raise_for_status()

    return traced(run)


RUNS = {"predict": walk_predict, "train": walk_train, "serve": walk_serve}


@cache
def calls_of(name: str, folder: Path) -> list[Call]:
    """The calls of a walk, which was walked before, so that everything is imported."""
    for kind in (f"{name}ed", name):
        calls = RUNS[name](kind, folder)
    return calls


def entered(calls: Iterable[Call]) -> set[str]:
    """The files that calls enter, but for those of rooms that are used everywhere."""
    return {call.called.file for call in calls if call.called.room not in EVERYWHERE}
