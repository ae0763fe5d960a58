"""What a restart of greedy search costs, and how near it comes to the best output.

Scores are those of a classifier for every label by itself, and for every two labels of how much
more often they are on together than by chance. A restart's time is the difference between a search
with many restarts and one with a single restart, over how many more there were; engines take
turns, and times are medians over turns.

    RGS             starts at random, or a share α of them as the classifier says
    Exact           the best output, where it is found in reasonable time

    python -m benchmarks.greedy [--quick] [--repeats N] [--case NAME] [--json FILE]
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np

from benchmarks.table import (
    Bar,
    Columns,
    Row,
    end,
    in_turn,
    number,
    options,
    say,
    show,
    wide_console,
)
from papers.data.folder import VARIABLE
from papers.data.multilabel import load_multilabel
from papers.data.synthetic import linked_labels
from rote import (
    RGS,
    Context,
    Engine,
    Exact,
    MultiLabel,
    Problem,
    Space,
    fit_unary_classifier,
    prepare,
)
from rote.inference.approximate import UnaryClassifier
from rote.types import AnyArray

REPEATS, MANY = 5, 50
MADE_UP = "made-up"
CASES = (MADE_UP, "scene", "yeast", "bibtex")
SOLVED = (MADE_UP, "scene", "yeast")  # whose best outputs Exact finds
RESTART_BAR = 50.0  # microseconds of a restart on bibtex, at most
VALUE_BAR = 99.9  # percent of the best value, at least


class Batch(NamedTuple):
    """A batch of inputs, and a classifier to start from."""

    problem: Problem
    context: Context
    classifier: UnaryClassifier


@dataclass(frozen=True)
class GreedyRow(Row):
    """And how much of the best value is reached; a median is of one restart."""

    problems: int
    value_percent: float | None


def problem(name: str, quick: bool) -> Batch:
    """Labels of which every two are scored together."""
    if name == MADE_UP:
        points, labels = linked_labels(300, 14, 20, 0)
        X, Y, names = list(points), labels, tuple(f"label {k}" for k in range(14))
    else:
        data = load_multilabel(name)
        part, names = data["train"], tuple(data.label_names)
        X, Y = list(part.X), np.asarray(part.Y)
    count = 30 if quick else 200
    fitted = 300 if quick else len(X)
    task = MultiLabel(names)
    learned = prepare(task, X[:fitted], list(Y[:fitted]))
    classifier = fit_unary_classifier(learned)
    prepared = prepare(task, X[:count], layout=learned.layout)
    (group,) = prepared.groups
    scores = prepared.scores(classifier.weights, group).copy()
    scores[:, group.space.labels :] += _together(np.asarray(Y[:fitted]), group.space)
    return Batch(Problem(group.space, scores), prepared.context(group), classifier)


def _together(Y: AnyArray, space: Space) -> AnyArray:  # noqa: N803
    """Scores of pairs: by how much labels are on together more often than by chance, as a log."""
    count = len(Y) + 4.0
    alone = (Y.sum(axis=0) + 2.0) / count
    both = (Y.T.astype(np.float64) @ Y + 1.0) / count
    lift = np.clip(np.log(both / np.outer(alone, alone)), -1.0, 1.0)
    scores = np.zeros((len(space.factors), 4))
    scores[:, 3] = [lift[factor.variables] for factor in space.factors]
    return scores.ravel()


def measure(name: str, given: Batch, repeats: int) -> list[GreedyRow]:
    """All shares α, and the best value where there is one."""
    problem, context, classifier = given
    best = Exact().solve(problem.space, problem).value.sum() if name in SOLVED else None
    searches = {f"RGS({a:g})": _search(a, classifier) for a in (0.0, 0.5, 0.9)}
    reached = {
        each: float(search(MANY).solve(problem.space, problem, context).value.sum())
        for each, search in searches.items()
    }

    def restart(search: Callable[[int], RGS]) -> float:
        one, many = (_seconds(search(k), problem, context) for k in (1, 1 + MANY))
        return 1e6 * (many - one) / MANY / len(problem)

    turns = {each: lambda _, search=search: restart(search) for each, search in searches.items()}
    medians = {each: statistics.median(took) for each, took in in_turn(turns, repeats).items()}
    ours = medians["RGS(0)"]
    return [
        GreedyRow(
            name,
            each,
            medians[each],
            medians[each] / ours,
            None,
            len(problem),
            None if best is None else float(100 * reached[each] / best),
        )
        for each in searches
    ]


def _search(alpha: float, classifier: UnaryClassifier) -> Callable[[int], RGS]:
    return lambda restarts: RGS(alpha, restarts, classifier if alpha else None)


def _seconds(engine: Engine, problem: Problem, context: Context) -> float:
    start = perf_counter()
    engine.solve(problem.space, problem, context)
    return perf_counter() - start


def bars_of(rows: Sequence[GreedyRow]) -> list[Bar]:
    """Fast on many labels, and near the best on few."""
    bars = []
    for row in rows:
        if row.case == "bibtex":
            says = f"a restart of {row.engine} takes {row.median_us:.1f} us; at most {RESTART_BAR}"
            bars.append(Bar(row.case, (row.median_us or 0.0) <= RESTART_BAR, says))
        if row.value_percent is not None:
            says = (
                f"{row.engine} reaches {row.value_percent:.3f} % of the best value; "
                f"at least {VALUE_BAR}"
            )
            bars.append(Bar(row.case, row.value_percent >= VALUE_BAR, says))
    return bars


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    about = "What a restart of greedy search costs, and how near it comes to the best output."
    parser = options(about, repeats=REPEATS, quick="few examples", cases=CASES)
    chosen = parser.parse_args(argv)
    rows: list[GreedyRow] = []
    for name in chosen.case or CASES:
        if name != MADE_UP and not os.environ.get(VARIABLE):
            say(wide_console(), f"{name}: left out, as {VARIABLE} is not set")
            continue
        rows += measure(name, problem(name, chosen.quick), chosen.repeats)
    columns: Columns[GreedyRow] = (
        ("problems", lambda row: str(row.problems)),
        ("us a restart", lambda row: number(row.median_us, ".1f")),
        ("ratio", lambda row: number(row.ratio_to_ours, ".2f")),
        ("best value %", lambda row: number(row.value_percent, ".3f")),
    )
    show(rows, columns, bars_of(rows), chosen.json)


if __name__ == "__main__":
    end(main)
