"""The walks of docs/design.md, run and traced: the lists are true, and no step goes back.

A call is a frame of rote that begins; its caller is the next frame of rote that waits for it, those
of other packages passed over. A *step back* is a call from a room into a room to its right, in the
order of imports. To call what was handed over is none: a function of `HANDED` calls a function, a
class or an iterator that its own caller gave to it, which is of the caller's room or of one to the
left. Calls while a module is imported are left out.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

import rote
import rote.cli
from rote import Model, StructuredSVM, Tagging, Templates, train
from rote.cli.app import app
from rote.datasets import english_sentences
from rote.tasks import EntityRelation, EntityRelationOutput
from tools.walks import DOCS, Place, Walk, drawn, layers, room_of, walks

SOURCE = Path(rote.__file__).parent
WALKS = {
    walk.drawing.partition("-")[2].removesuffix(".svg"): walk
    for walk in walks((DOCS / "design.md").read_text(encoding="utf-8"))
}
RANK = {room: place for place, row in enumerate(layers()) for room in row}
EVERYWHERE = set(layers()[0])  # which all rooms use, at every step
HANDED = {
    ("features/trie.py", "Lexicon"): "what a task's reader says of a word",
    ("features/trie.py", "Names"): "the texts of names, one after the other",
    ("io/serialize.py", "restored"): "the classes of a saved task",
    ("space/builder.py", "template"): "what writes a space",
    ("space/compiled.py", "Forms"): "what builds a form of a space, once",
    ("space/compiled.py", "Recent"): "a frame, whose space is kept",
    ("space/compiled.py", "keep_recent"): "what builds a frame or a space",
    ("types.py", "joined"): "arrays, one after the other",
}


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


def steps_back(calls: Iterable[Call]) -> Iterator[Call]:
    """Those that go to the right, and were not handed over."""
    for call in calls:
        caller, *others = call.waiting or (call.called,)
        if RANK[caller.room] >= RANK[call.called.room]:
            continue
        giver = next((place for place in others if place.room != caller.room), caller)
        if door(caller) not in HANDED or RANK[giver.room] < RANK[call.called.room]:
            yield call


def door(place: Place) -> tuple[str, str]:
    return place.file, place.function.split(".", maxsplit=1)[0]


def is_named(place: Place, name: Place) -> bool:
    return place.file == name.file and f".{place.function}".endswith(f".{name.function}")


# -- the walks -------------------------------------------------------------------------------------


def tagger(kind: str) -> tuple[Tagging, list[list[list[str]]], list[list[str]]]:
    """A task whose labels no other test has, and two examples."""
    features = Templates(("word",), ("word[0]", "word[-1]", "suffix2(word[0])"))
    xs = [[[f"{kind}{word}"] for word in words] for words in ("abc", "ad")]
    ys = [[f"B-{kind}", f"I-{kind}", "O"], [f"B-{kind}", f"I-{kind}"]]
    return Tagging((f"B-{kind}", f"I-{kind}", "O"), features, bio=True), xs, ys


def walk_predict(kind: str, folder: Path) -> list[Call]:
    task, xs, ys = tagger(kind)
    train(task, xs, ys).save(folder / kind)
    (folder / "new.txt").write_text("".join(f"{kind}{word}\n" for word in "abcde"))
    command = ["predict", str(folder / kind), str(folder / "new.txt")]
    return traced(lambda _: CliRunner().invoke(app, command, catch_exceptions=False))


def walk_train(kind: str, _: Path) -> list[Call]:
    return traced(lambda _: train(*tagger(kind), learner=StructuredSVM(C=1.0, iterations=2)))


def walk_serve(kind: str, folder: Path) -> list[Call]:
    testclient = pytest.importorskip("starlette.testclient")
    from rote.serve import open_service
    from rote.serve.app import create_app

    task, xs, ys = tagger(kind)
    train(task, xs, ys).save(folder / kind)

    def run(begin: Callable[[], None]) -> None:
        service = open_service(folder / kind)
        with testclient.TestClient(create_app(service)) as page:
            begin()
            assert page.post("/predict", json={"input": f"{kind}a {kind}b {kind}c"}).is_success
            assert page.get("/stats").json()["asked"] == 1
            assert page.get("/").is_success

    return traced(run)


RUNS = {"predict": walk_predict, "train": walk_train, "serve": walk_serve}


@cache
def calls_of(name: str, folder: Path) -> list[Call]:
    """The calls of a walk, which was walked before, so that everything is imported."""
    for kind in (f"{name}ed", name):  # labels of their own: no space is there yet
        calls = RUNS[name](kind, folder)
    return calls


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("walks")


@pytest.fixture(params=RUNS)
def walked(request, folder):
    """A walk as the page has it, and as it is."""
    return WALKS[request.param], calls_of(request.param, folder)


def entered(calls: Iterable[Call]) -> set[str]:
    return {call.called.file for call in calls if call.called.room not in EVERYWHERE}


def test_the_page_names_the_files_that_are_entered_and_no_other(walked):
    walk, calls = walked
    assert {file for file in walk.files if room_of(file) not in EVERYWHERE} == entered(calls)


def test_every_step_is_taken_in_this_order(walked):
    walk, calls = walked
    taken = []
    for step in walk.steps:
        if step.called.room == "kernels":  # compiled, and seen by no trace
            assert imports(step.caller.file, step.called), step
            continue
        places = (
            number
            for number, call in enumerate(calls)
            if is_named(call.called, step.called)
            and any(is_named(place, step.caller) for place in call.waiting)
        )
        taken.append(next(places, None))
    assert None not in taken, walk.steps[taken.index(None)]
    assert taken == sorted(taken)


def imports(file: str, name: Place) -> bool:
    module = "rote." + name.file.removesuffix(".py").replace("/", ".")
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == module
        and name.function in {alias.name for alias in node.names}
        for node in ast.walk(ast.parse((SOURCE / file).read_text(encoding="utf-8")))
    )


def test_no_step_of_a_walk_goes_back(walked):
    assert list(steps_back(walked[1])) == []


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_the_drawing_is_made_of_the_list(walk: Walk):
    assert (DOCS / walk.drawing).read_text(encoding="utf-8") == drawn(walk)


# -- predictions by other engines ------------------------------------------------------------------


@pytest.fixture(scope="module")
def extractor() -> tuple[Model[Any, Any], list[Any]]:
    """A model of entities and relations, and sentences that it does not know."""
    xs = english_sentences(48, 3)
    return trained_extractor(xs[:30]), xs[30:]


def trained_extractor(xs: list[Any]) -> Model[Any, Any]:
    ys = [EntityRelationOutput.of(x) for x in xs]
    return train(EntityRelation(), xs, ys, learner=rote.Perceptron(iterations=2))


@pytest.mark.parametrize(
    "engine",
    [
        rote.Exact(),
        rote.BranchAndBound(),
        rote.Milp(),
        rote.RGS(restarts=2),
        rote.LearnedBeam(),  # whose scores are worked out when it asks for them
        rote.Amortized(rote.Exact()),
        rote.Timed(rote.Periodic(rote.RGS(restarts=2), 2)),
    ],
    ids=lambda engine: type(engine).__name__,
)
def test_no_prediction_steps_back(engine, extractor):
    model, xs = extractor
    calls = traced(lambda _: model.with_engine(engine).predict(xs))
    assert list(steps_back(calls)) == []
    rooms = list(dict.fromkeys(call.called.room for call in calls))
    assert next(room for room in rooms if room not in EVERYWHERE) == "model"
    assert {"features", "space", "inference", "tasks", "model"} <= set(rooms)


def planted(file: str, text: str) -> dict[str, Any]:
    """Functions that stand in a file of rote, as far as a trace can see."""
    names: dict[str, Any] = {}
    exec(compile(text, str(SOURCE / file), "exec"), names)  # noqa: S102
    return names


def test_an_engine_that_asks_the_task_is_a_step_back(extractor, monkeypatch):
    model, xs = extractor
    answer = rote.Exact.answer
    names = planted(
        "inference/exact/exact.py",
        "def answer(self, *given):\n    task.frame(x)\n    return before(self, *given)",
    )
    names |= {"task": model.task, "x": xs[0], "before": answer}
    monkeypatch.setattr(rote.Exact, "answer", names["answer"])
    found = list(steps_back(traced(lambda _: model.predict(xs[:2]))))
    assert {(call.waiting[0].function, call.called.function) for call in found} == {
        ("answer", "EntityRelation.frame")
    }


def test_what_was_handed_over_is_no_way_to_a_room_further_right(extractor):
    model, xs = extractor
    names = planted("space/compiled.py", "class Forms:\n    def get(self, run): return run()")
    space = planted("space/space.py", "def once(run): return forms.get(run)")
    space["forms"] = names["Forms"]()
    engine = planted("inference/engine.py", "def solve(run): return once(run)")
    engine["once"] = space["once"]
    back = traced(lambda _: engine["solve"](lambda: model.task.frame(xs[0])))
    assert [call.called.function for call in steps_back(back)] == ["EntityRelation.frame"]
    learner = planted("tasks/task.py", "def ask(run): return once(run)")
    learner["once"] = space["once"]
    assert list(steps_back(traced(lambda _: learner["ask"](lambda: model.task.frame(xs[0]))))) == []


def test_something_is_handed_over_in_all_these_places_and_no_other(folder):
    xs = english_sentences(48, 5)
    learned = traced(lambda _: trained_extractor(xs[:30]).predict(xs[30:]))
    calls = [*calls_of("predict", folder), *learned]
    seen = {
        door(call.waiting[0])
        for call in calls
        if call.waiting and RANK[call.waiting[0].room] < RANK[call.called.room]
    }
    assert seen == set(HANDED)
