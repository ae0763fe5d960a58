"""Figure 1 of Chang et al. (2015): solver calls along the training of a structural SVM.

    raw                 every inference is solved
    oracle              only inferences whose answer has not been seen before are solved
    condition (4), ε=1  the paper's method
    auto                our certificates; exact

Raw and oracle are two readings of the same run. Sentences are those of conll04 with a relation. A
row is an iteration: calls in it and calls so far. With ε = 1 training takes its own way, and may
end in another iteration. What is below the oracle has answers of which nothing was remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from papers.base import Experiment, Outcome, Settings
from papers.chang2015.plots import Points, draw_training
from papers.chang2015.shared import (
    AUTO,
    BASELINE,
    PAPER,
    Trained,
    condition,
    related_sentences,
    sentence_bench,
)
from papers.records import Claim, Record, Row
from rote import Exact, StructuredSVM

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RAW, ORACLE, THEIRS, OURS = "raw", "oracle", "condition (4), ε=1", "auto"


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    sentences: int = 1441
    C: float = 0.1
    delta: float = 0.1
    iterations: int = 300


FULL = Plan()
QUICK = Plan(sentences=150, iterations=30)


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    return QUICK if settings.quick else FULL


def trace(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    bench = sentence_bench(related_sentences(plan.sentences, settings.seed))
    svm = StructuredSVM(
        plan.C, delta=plan.delta, iterations=plan.iterations, online_epochs=0, seed=settings.seed
    )
    methods = (BASELINE, condition(1.0), AUTO)
    found = []
    for number, method in enumerate(methods, start=1):
        found.append(bench.train(method, svm, Exact()))
        settings.progress(number, len(methods))
    calls = calls_of(*found)
    return Outcome(
        {
            "quick": settings.quick,
            "seed": settings.seed,
            "plan": asdict(plan),
            "solver": "Exact",
            **bench.about,
        },
        list(_rows(calls)),
        list(_claims(calls, len(bench.learned))),
    )


def calls_of(baseline: Trained, theirs: Trained, ours: Trained) -> dict[str, list[int]]:
    """The calls of each iteration, by curve."""

    def of(trained: Trained, measure: str) -> list[int]:
        return [int(measures[measure]) for measures in trained.told]

    return {
        RAW: of(baseline, "solver_calls"),
        ORACLE: of(baseline, "distinct_outputs"),
        THEIRS: of(theirs, "solver_calls"),
        OURS: of(ours, "solver_calls"),
    }


def draw(record: Record) -> Figure:
    """Both panels, from a record."""

    def curves(metric: str) -> list[Points]:
        return [
            Points(
                name,
                (),
                tuple(float(row.metrics["iteration"]) for row in record.rows if row.method == name),
                tuple(float(row.metrics[metric]) for row in record.rows if row.method == name),
            )
            for name in (RAW, ORACLE, THEIRS, OURS)
        ]

    return draw_training(curves("solver_calls_so_far"), curves("solver_calls"))


EXPERIMENT = Experiment(
    "chang2015-figure1",
    f"{PAPER}, Figure 1",
    "Solver calls along training: raw, oracle, the paper's condition and our certificates",
    trace,
    draw,
    plan=plan_of,
    one_trial=True,
)


def _rows(calls: Mapping[str, list[int]]) -> Iterator[Row]:
    for name, each in calls.items():
        for iteration, (now, so_far) in enumerate(zip(each, accumulate(each), strict=True), 1):
            yield Row(
                name,
                {"iteration": iteration, "solver_calls": now, "solver_calls_so_far": so_far},
            )


def _claims(calls: Mapping[str, list[int]], examples: int) -> Iterator[Claim]:
    total = {name: sum(each) for name, each in calls.items()}
    share = {name: 100 * total[name] / total[RAW] for name in total}
    said = ", ".join(f"{name} {total[name]:,} ({share[name]:.1f} %)" for name in total)
    yield Claim(
        "Most inferences have an answer that was seen before",
        total[ORACLE] < total[RAW] / 2,
        f"Calls in all: {said}.",
    )
    yield Claim(
        "auto needs fewer calls than an oracle over remembered answers",
        total[OURS] < total[ORACLE],
        f"It makes {total[OURS]:,} calls, {calls[OURS][0]:,} of them in the first iteration, when "
        f"all weights are 0 and many outputs tie; the oracle makes {total[ORACLE]:,}.",
    )
    last = {name: each[-1] for name, each in calls.items()}
    yield Claim(
        "Amortized inference helps most at the end of training, when the weights move little",
        last[THEIRS] < calls[THEIRS][0] / 4 and last[OURS] <= last[THEIRS],
        f"In the last iteration condition (4) makes {last[THEIRS]:,} calls for {examples:,} "
        f"inferences, and auto {last[OURS]:,}.",
    )
