"""Figure 2 of Ma et al. (2019): prediction and generation accuracy of RGS(α) by α.

*Prediction* judges the output that scores best of all that 50 restarts came by, *generation* the
one that is nearest to gold. Both are on validation examples: F1 for sets of labels, and the share
of right labels otherwise, the mean over examples; superpixels without a class are left out.

The paper says that α is for training and testing. Here a case has one model for all α, trained
with an α of its own (``training_alpha``), so that what changes is the search alone. A row is an
α; ``*_low`` and ``*_high`` are the least and the largest of the trials, which differ in the seed of
the search.

A quick run has little data of two cases, or made-up data where ROTE_DATA is not set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from papers.base import Experiment, Outcome, Settings
from papers.data.folder import VARIABLE
from papers.ma2019.accuracy import PAPER, case_named, limited, made_up_case
from papers.ma2019.bench import Bench, Searching, first, highest
from papers.ma2019.structures import Photographs, known_only
from papers.ma2019.tasks import Case
from papers.metrics.searches import Judge, follow, share_right
from papers.plots import (
    BAND,
    COLOURS,
    GREY,
    LINES,
    MARKERS,
    Curve,
    Panel,
    load_matplotlib,
    tidy,
)
from papers.records import Claim, Record, Row
from rote import RGS, MultiLabel
from rote.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = ("prediction", "generation")
ALPHAS = tuple(k / 10 for k in range(11))
LARGE = ("msrc21", "litbank-coref")  # outputs with hundreds of variables
ENOUGH = 0.5  # points by which a curve must fall, or rise, to do so


@dataclass(frozen=True)
class Part:
    """A case: the α that its model is trained with, and how many examples are learned and judged.

    None is for all of them.
    """

    case: str
    alpha: float
    train: int | None = None
    validation: int | None = None
    searching: Searching = field(default_factory=Searching)


@dataclass(frozen=True)
class Plan:
    """What is done."""

    parts: tuple[Part, ...]
    alphas: tuple[float, ...] = ALPHAS
    trials: int = 3
    most: int | None = None


FULL = Plan(
    (
        Part("yeast", 0.5),
        Part("hw-large", 0.5, 1500, 400, Searching(iterations=10)),
        Part("msrc21", 0.9),
        Part("litbank-coref", 0.9, 40, 6, Searching(training_restarts=1)),
    ),
    trials=2,
)
SMALL = Searching(5, 2, 30, iterations=3)
QUICK = Plan(
    (Part("stress", 0.5, searching=SMALL), Part("yeast", 0.5, searching=SMALL)),
    alphas=(0.0, 0.5, 1.0),
    trials=2,
    most=40,
)


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    plan = QUICK if settings.quick else FULL
    if settings.trials is not None:
        plan = replace(plan, trials=settings.trials)
    return plan


def trace(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    made_up = settings.quick and not os.environ.get(VARIABLE)
    rows: list[Row] = []
    names = settings.among(part.case for part in plan.parts)
    plan = replace(plan, parts=tuple(part for part in plan.parts if part.case in names))
    for done, part in enumerate(plan.parts, start=1):
        case = made_up_case(part.case) if made_up else case_named(part.case)
        rows += curves_of(limited(case, plan.most), part, plan, settings.seed)
        settings.progress(done, len(plan.parts))
    return Outcome(
        {
            "quick": settings.quick,
            "seed": settings.seed,
            "plan": asdict(plan),
            "data": f"made up, as {VARIABLE} is not set" if made_up else "real",
            "models": "one for each case, trained once with its training_alpha",
        },
        rows,
        list(_claims(rows)),
    )


def curves_of(case: Case, part: Part, plan: Plan, seed: int) -> Iterator[Row]:
    """A row for each α."""
    bench = Bench(case, part.searching, first(case.train(), part.train), highest(case.task))
    model, spent = bench.trained(part.alpha, seed)
    judged = first(case.validation(), part.validation)
    if isinstance(case.task, Photographs):
        judged = known_only(judged)
    prepared = model.prepare(*judged)
    judge = example_f1 if isinstance(case.task, MultiLabel) else share_right
    for alpha in plan.alphas:
        found = np.array(
            [
                _ends(model, prepared, alpha, bench, judge, seed + trial)
                for trial in range(plan.trials)
            ]
        )
        metrics: dict[str, Any] = {"alpha": alpha}
        for name, each in zip(CURVES, 100 * found[:, :2].T, strict=True):
            metrics |= {
                name: float(each.mean()),
                f"{name}_low": float(each.min()),
                f"{name}_high": float(each.max()),
            }
        metrics |= {
            "seconds": float(found[:, 2].mean()),
            "training_alpha": part.alpha,
            "training_seconds": spent,
            "examples": len(judged.ys),
        }
        yield Row(case.name, metrics)


def _ends(
    model: Any, prepared: Any, alpha: float, bench: Bench, judge: Judge, seed: int
) -> tuple[float, float, float]:
    search = RGS(alpha, bench.searching.restarts, bench.classifier, seed)
    found = follow(model, prepared, search, judge)
    return float(found.prediction[-1]), float(found.generation[-1]), float(found.seconds[-1])


def example_f1(gold: IntArray, labels: IntArray) -> FloatArray:
    """F1 of every output; gold is one output, or one for each. Two empty sets are the same."""
    both = 2.0 * ((gold == 1) & (labels == 1)).sum(axis=-1)
    all_on = (gold == 1).sum(axis=-1) + (labels == 1).sum(axis=-1)
    return np.where(all_on > 0, both / np.maximum(1, all_on), 1.0)


def draw(record: Record) -> Figure:
    """A panel for each case, from a record."""
    panels = [
        Panel(case, [Curve.of(own, name, "alpha", name) for name in CURVES])
        for case, own in _by_case(record.rows).items()
    ]
    figure = load_matplotlib()(figsize=(0.7 + 3.1 * len(panels), 3.8), layout="constrained")
    from matplotlib.patches import Patch

    figure.set_facecolor("white")
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, panel in zip(all_axes, panels, strict=True):
        for k, curve in enumerate(panel.curves):
            axes.fill_between(
                curve.x, curve.low, curve.high, color=COLOURS[k], alpha=BAND, linewidth=0
            )
            axes.plot(
                curve.x,
                curve.mean,
                color=COLOURS[k],
                marker=MARKERS[k],
                linestyle=LINES[k + 1],
                linewidth=2,
                label=curve.name,
            )
        axes.set_title(panel.title, fontsize="medium")
        axes.set_xlabel("α")
        tidy(axes)
    all_axes[0].set_ylabel("per cent, on validation examples")
    handles, names = all_axes[0].get_legend_handles_labels()
    figure.legend(
        [*handles, Patch(color=GREY, alpha=BAND, linewidth=0)],
        [*names, "least to largest of trials"],
        loc="outside upper center",
        ncols=len(names) + 1 if len(panels) > 1 else 2,  # as wide as the panels are
        frameon=False,
    )
    return figure


EXPERIMENT = Experiment(
    "ma2019-alpha",
    f"{PAPER}, Figure 2",
    "Prediction and generation accuracy of greedy search, by the share of likely labels in starts",
    trace,
    draw,
    plan=plan_of,
    cases=lambda plan: [part.case for part in plan.parts],
)


def _by_case(rows: Sequence[Row]) -> Mapping[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.method, []).append(row)
    return found


def _claims(rows: Sequence[Row]) -> Iterator[Claim]:
    for name, own in _by_case(rows).items():
        peak = max(own, key=lambda row: _of(row, "generation"))
        last = max(own, key=lambda row: _of(row, "alpha"))
        yield Claim(
            f"{name}: generation accuracy falls after its peak, by {ENOUGH:g} points or more and "
            "in every trial",
            _above(peak, last, "generation"),
            f"{_told(peak, 'generation')}, {_told(last, 'generation')}.",
        )
        if name in LARGE:
            best = max(own, key=lambda row: _of(row, "prediction"))
            drawn = min(own, key=lambda row: _of(row, "alpha"))
            yield Claim(
                f"{name}: likely starts help prediction where outputs are large, by {ENOUGH:g} "
                "points or more and in every trial",
                _above(best, drawn, "prediction"),
                f"{_told(drawn, 'prediction')}, {_told(best, 'prediction')}.",
            )


def _above(one: Row, other: Row, metric: str) -> bool:
    """Whether one is above the other by enough, and its worst trial above the other's best.

    One is the highest of many: that it is above by a little, or in some trials, may be chance.
    """
    enough = _of(one, metric) - _of(other, metric) >= ENOUGH
    return enough and _of(one, f"{metric}_low") > _of(other, f"{metric}_high")


def _told(row: Row, metric: str) -> str:
    low, mean, high = (_of(row, f"{metric}{end}") for end in ("_low", "", "_high"))
    return f"{mean:.1f} ({low:.1f} to {high:.1f}) at α = {_of(row, 'alpha'):g}"


def _of(row: Row, metric: str) -> float:
    return float(row.metrics[metric])
