"""The walks of docs/design.md, run and traced: the lists are true, and no step goes back.

A *step back* is a call from a room into a room to its right, in the order of imports; `tools.trace`
says what a call is. To call what was handed over is none: a function of `HANDED` calls a function,
a class or an iterator that its own caller gave to it, which is of the caller's room or of one to
the left.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import rote
from rote import Model, train
from rote.datasets import english_sentences
from rote.tasks import EntityRelation, EntityRelationOutput
from tools.trace import RUNS, SOURCE, Call, calls_of, entered, traced
from tools.walks import DOCS, EVERYWHERE, Place, Walk, drawn, layers, room_of, walks, with_files

PAGE = (DOCS / "design.md").read_text(encoding="utf-8")
WALKS = {walk.name: walk for walk in walks(PAGE)}
RANK = {room: place for place, row in enumerate(layers()) for room in row}
HANDED = {
    ("features/trie.py", "Lexicon"): "what a task's reader says of a word",
    ("features/trie.py", "Names"): "the texts of names, one after the other",
    ("io/serialize.py", "restored"): "the classes of a saved task",
    ("settings.py", "check"): "what a class says its settings may be",
    ("space/builder.py", "template"): "what writes a space",
    ("space/compiled.py", "Forms"): "what builds a form of a space, once",
    ("space/compiled.py", "Recent"): "a frame, whose space is kept",
    ("space/compiled.py", "keep_recent"): "what builds a frame or a space",
    ("types.py", "joined"): "arrays, one after the other",
}


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("walks")


@pytest.fixture(params=RUNS)
def walked(request, folder):
    """A walk as the page has it, and as it is."""
    if request.param == "serve":
        pytest.importorskip("starlette.testclient")
    return WALKS[request.param], calls_of(request.param, folder)


def test_the_page_names_the_files_that_are_entered_and_no_other(walked):
    walk, calls = walked
    assert {file for file in walk.files if room_of(file) not in EVERYWHERE} == entered(calls)


def test_files_below_a_list_are_written_anew():
    walk = WALKS["train"]
    files = {"model/model.py", "cli/app.py", "io/text.py"}
    text = with_files(PAGE, walk, files)
    assert text.count("\n\nOn the way: `io/text.py`, `cli/app.py`.\n\n") == 1
    assert {other.name: other.files == WALKS[other.name].files for other in walks(text)} == {
        "predict": True,
        "train": False,
        "serve": True,
    }


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


@pytest.mark.parametrize(("file", "name"), HANDED)
def test_what_calls_what_was_handed_over_is_there(file, name):
    tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
    assert name in {getattr(node, "name", None) for node in tree.body}


def test_no_step_of_learning_entities_and_relations_goes_back():
    xs = english_sentences(48, 5)
    calls = traced(lambda _: trained_extractor(xs[:30]).predict(xs[30:]))
    assert list(steps_back(calls)) == []
