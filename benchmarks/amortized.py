"""What `Amortized` costs and saves, on the inferences of real trainings, asked again in order.

A structural SVM is trained once, and all that it asks its engine is written down: batches of
problems that share a space, iteration after iteration. Then every engine gets the same questions
in the same order, beginning with an empty memory. All of them must give the same answers.

    Exact, Milp           the engine alone
    Amortized(…)          the same engine underneath; tests where that pays
    …, tests everything   admission="always": what is paid and gained by testing

Times are processor times, which others on the machine disturb least: medians over turns, per
problem; engines take turns. Where the engine underneath is fast, testing does not pay, and the
wrapper must be seen to stay out of the way.

    python -m benchmarks.amortized [--quick] [--repeats N] [--case NAME] [--base NAME] [--json FILE]
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.table import Bar, Columns, Row, end, number, options, say, show, wide_console
from papers.data.conll04 import load_conll04
from papers.data.folder import VARIABLE
from papers.data.multilabel import load_multilabel
from rote import (
    Amortized,
    Context,
    Engine,
    EntityRelation,
    EntityRelationOutput,
    Exact,
    Milp,
    Model,
    MultiLabel,
    Problem,
    Solutions,
    Space,
    StructuredSVM,
    prepare,
)
from rote.datasets import english_sentences
from rote.model import Dataset
from rote.types import FloatArray, IntArray

REPEATS = 3
MANY, SHORT = 15, 30.0  # so many turns instead, as long as all take no more than these seconds
MADE_UP = ("entity-relation", "one-by-one")  # cases that need no data set
SLOWER = 1.10  # than the engine alone, at most
FASTER = 5.0  # than Milp alone, at least


class Question(NamedTuple):
    """A batch of problems."""

    space: Space
    scores: FloatArray


@dataclass(frozen=True)
class Training:
    """What a training asks."""

    name: str
    questions: Sequence[Question]

    @property
    def problems(self) -> int:
        return sum(len(question.scores) for question in self.questions)


@dataclass(frozen=True)
class AmortizedRow(Row):
    """And which share of the problems the engine underneath has solved."""

    problems: int
    calls_percent: float


class Recorder(Engine):
    """An engine that writes down what it is asked."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    def answer(self, problem: Problem, context: Context) -> Solutions:
        self.questions.append(Question(problem.space, problem.scores.copy()))
        return Exact().answer(problem, context)


def asked(name: str, task: Any, prepared: Dataset, iterations: int) -> Training:
    """The inferences of a structural SVM's first iterations."""
    recorder = Recorder()
    model = Model(task, prepared.layout, prepared.layout.zeros(), recorder)
    learner = StructuredSVM(C=0.1, delta=0.1, online_epochs=0)
    for _ in islice(learner.iterate(model, prepared), iterations):
        pass
    return Training(name, recorder.questions)


def entity_relation(quick: bool) -> Training:
    """Sentences of conll04 with relations, or made-up ones where the corpus is not at hand."""
    task = EntityRelation()
    if os.environ.get(VARIABLE):
        name, sentences = "conll04", load_conll04().split("train")
    else:
        name, sentences = "made-up sentences", tuple(english_sentences(910, 0))
    if quick:
        sentences = sentences[:150]
    kept = [sentence for sentence in sentences if task.is_feasible(sentence)]
    prepared = prepare(task, kept, map(EntityRelationOutput.of, kept))
    return asked(name, task, prepared, 4 if quick else 20)


def multi_label(name: str, examples: int, iterations: int) -> Callable[[bool], Training]:
    """Labels of which every two are scored together."""

    def made(quick: bool) -> Training:
        data = load_multilabel(name)
        task = MultiLabel(data.label_names)
        part = data["train"]
        count = min(examples, 60) if quick else examples
        names = np.array(data.label_names)
        ys = [tuple(names[row == 1]) for row in part.Y[:count]]
        prepared = prepare(task, list(part.X[:count]), ys)
        return asked(name, task, prepared, 4 if quick else iterations)

    return made


def one_by_one(quick: bool) -> Training:
    """The sentences again, each problem asked by itself."""
    whole = entity_relation(quick)
    some = whole.questions[-(len(whole.questions) // 4) :]  # a quarter of the iterations
    alone = [Question(space, row[None]) for space, scores in some for row in scores]
    return Training(f"{whole.name}, one by one", alone)


CASES: Mapping[str, tuple[Callable[[bool], Training], tuple[type[Exact] | type[Milp], ...]]] = {
    "entity-relation": (entity_relation, (Exact, Milp)),
    "one-by-one": (one_by_one, (Exact,)),
    "scene": (multi_label("scene", 1211, 20), (Exact, Milp)),
    "yeast": (multi_label("yeast", 150, 40), (Exact,)),
}


@dataclass(frozen=True)
class Turn:
    seconds: float
    calls: int
    labels: Sequence[IntArray]


def take_turn(make: Callable[[], Engine], training: Training) -> Turn:
    """All questions of a training, to an engine that remembers nothing yet."""
    engine = make()
    start = process_time()
    answers = [engine.solve(space, scores) for space, scores in training.questions]
    seconds = process_time() - start
    calls = engine.counters.solver_calls if isinstance(engine, Amortized) else training.problems
    return Turn(seconds, calls, [each.labels for each in answers])


def measure(training: Training, base: type[Exact] | type[Milp], repeats: int) -> list[AmortizedRow]:
    """An engine alone and under the wrapper."""
    name = base.__name__
    makers: dict[str, Callable[[], Engine]] = {
        f"Amortized({name})": lambda: Amortized(base()),
        name: base,
        f"Amortized({name}), tests everything": lambda: Amortized(base(), admission="always"),
    }
    for make in makers.values():  # plans spaces
        take_turn(make, Training("warm up", training.questions[: len(training.questions) // 4]))
    turns: dict[str, list[Turn]] = {each: [] for each in makers}
    done, begun = 0, perf_counter()
    while done < repeats or (repeats > 1 and done < MANY and perf_counter() - begun < SHORT):
        for each, make in makers.items():
            turns[each].append(take_turn(make, training))
        done += 1
    right = turns[name][0].labels
    medians = {each: statistics.median(t.seconds for t in took) for each, took in turns.items()}
    ours = medians[f"Amortized({name})"]
    return [
        AmortizedRow(
            training.name,
            each,
            1e6 * medians[each] / training.problems,
            medians[each] / ours,
            float(sum(_others(right, turn.labels) for turn in took)),
            training.problems,
            100 * took[0].calls / training.problems,
        )
        for each, took in turns.items()
    ]


def _others(right: Sequence[IntArray], labels: Sequence[IntArray]) -> int:
    """How many answers differ."""
    pairs = zip(right, labels, strict=True)
    return sum(int((a != b).any(axis=1).sum()) for a, b in pairs)


def bars_of(rows: Sequence[AmortizedRow]) -> list[Bar]:
    """Never slower than the engine alone by much, and much faster than integer programming."""
    bars = []
    times = {(row.case, row.engine): row.median_us or 0.0 for row in rows}
    for row in rows:
        if row.engine not in ("Exact", "Milp"):
            continue
        ratio = times[row.case, f"Amortized({row.engine})"] / times[row.case, row.engine]
        if row.engine == "Exact":
            says = f"Amortized(Exact) takes {ratio:.2f} times as long as Exact; at most {SLOWER}"
            bars.append(Bar(row.case, ratio <= SLOWER, says))
        else:
            says = f"Amortized(Milp) is {1 / ratio:.1f} times faster than Milp; at least {FASTER}"
            bars.append(Bar(row.case, 1 / ratio >= FASTER, says))
    wrong = sum(row.max_error or 0 for row in rows)
    bars.append(Bar("all", wrong == 0, f"{wrong:.0f} answers differ from the engine's own"))
    return bars


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    about = "What Amortized costs and saves on the inferences of trainings."
    parser = options(about, repeats=REPEATS, quick="few examples, few iterations", cases=CASES)
    parser.add_argument("--base", choices=("Exact", "Milp"), help="one engine underneath alone")
    chosen = parser.parse_args(argv)
    rows: list[AmortizedRow] = []
    for name in chosen.case or CASES:
        if name not in MADE_UP and not os.environ.get(VARIABLE):
            say(wide_console(), f"{name}: left out, as {VARIABLE} is not set")
            continue
        make, bases = CASES[name]
        training = make(chosen.quick)
        for base in bases:
            if chosen.base in (None, base.__name__):
                rows += measure(training, base, chosen.repeats)
    columns: Columns[AmortizedRow] = (
        ("problems", lambda row: str(row.problems)),
        ("median us", lambda row: number(row.median_us, ".1f")),
        ("ratio", lambda row: number(row.ratio_to_ours, ".2f")),
        ("solver calls %", lambda row: number(row.calls_percent, ".2f")),
        ("other answers", lambda row: number(row.max_error, ".0f")),
    )
    show(rows, columns, bars_of(rows), chosen.json)


if __name__ == "__main__":
    end(main)
