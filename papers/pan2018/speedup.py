"""Tables 1 and 2 of Pan and Srikumar (2018): search that learns to mimic a black box.

    ILP                  the best output that obeys the rules, by an integer program
    black box            the same output, by `Exact`; of citations, by branch and bound that leaves
                         what takes long to the integer program
    search               every decision by itself (beam search of width 1, without rules)
    constrained search   greedy search that obeys the rules on its way
    speed-up (b)         beam search of width b, ranked by g + h, where h was learned
    speed-up (b, theta)  the same; where h is ahead by more than theta, it decides alone, and the
                         features of that decision are not computed

Measures are in per cent, of answers as they are served: outputs of the speed-up that break a rule
are repaired, which those of the paper are not. ``validity_before`` is the share of inputs whose
output obeyed before that, which is the paper's validity ratio. Measures that end in ``_ilp`` take
the answers of the integer program for right.

``milliseconds``, of processor time, are those of predicting all test inputs from their words on,
features included, as if they were read for the first time, and ``search_milliseconds`` those of the
engine alone, scores at hand; both are medians of some runs, in which methods take turns, after one
that nobody looks at.
``skipped_percent`` is the share of feature vectors that were never computed, not even to repair.

*What is chosen.* Steps, and the width that claims are about, are those with which answers agree
best with the black box on held-out training examples; of equal widths, the one more of whose
outputs obey there, and then the wider. ``theta chosen`` is the one that skips most
there, of those that lose next to nothing; the claim about it is for the width that skips most
there. The thetas of the paper belong to its scores, not to ours.

The second case, citations, has no numbers in the paper: it shows that nothing here is about
entities and relations. Where data comes from is told in `papers.pan2018.stream`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from papers.base import Experiment, Outcome, Settings
from papers.pan2018.methods import (
    BOX,
    CONSTRAINED,
    GUROBI,
    HIGHS,
    SEARCH,
    CustomSets,
    Method,
    Reached,
    Trial,
    choose,
    differences,
    gurobi_for,
    in_turn,
    name_of,
    plain_methods,
    speedups,
)
from papers.pan2018.stream import (
    CITATIONS,
    MADE_UP,
    SENTENCES,
    Ready,
    Share,
    ready,
)
from papers.records import Claim, Metric, Row
from rote import LearnedBeam, distill

PAPER = "Pan and Srikumar (2018)"
CLOSE, VALID = 0.5, 0.99  # points, and the share of outputs that obey before repair
FASTER, SEARCH_FASTER = 2.7, 50.0  # times: with features, and features aside
SKIPPED = 30.0  # per cent

COLUMNS = (
    "entity_f1",
    "relation_f1",
    "entity_f1_ilp",
    "relation_f1_ilp",
    "milliseconds",
    "milliseconds_deviation",
    "validity_before",
)


def _paper(*given: float) -> dict[str, float]:
    return dict(zip(COLUMNS, given, strict=True))


IN_PAPER: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        HIGHS: {"entity_f1": 82.7, "relation_f1": 48.2, "validity_before": 1.00},
        GUROBI: _paper(82.7, 48.2, 100, 100, 239, 11.4, 1.00),
        SEARCH: _paper(82.2, 33.4, 87.7, 54.6, 170, 6.5, 0.29),
        CONSTRAINED: _paper(80.0, 57.2, 88.0, 74.1, 844, 31.0, 1.00),
        "speed-up (b = 1)": _paper(82.2, 44.7, 87.7, 67.4, 136, 2.1, 0.96),
        "speed-up (b = 2)": _paper(84.4, 48.4, 93.0, 75.2, 158, 19.8, 0.95),
        "speed-up (b = 1, theta = 0)": _paper(21, 0, 17.3, 0, 39, 3.7, 1.00),
        "speed-up (b = 1, theta = 0.25)": _paper(82.2, 43.5, 87.7, 54.6, 87, 2.5, 0.99),
        "speed-up (b = 1, theta = 0.5)": _paper(82.2, 45.5, 87.7, 67.2, 114, 4.7, 0.98),
        "speed-up (b = 2, theta = 0)": _paper(37.3, 15.2, 37.7, 13.9, 55, 2.5, 1.00),
        "speed-up (b = 2, theta = 0.25)": _paper(81.9, 46.1, 89.3, 62.3, 130, 14.4, 0.99),
        "speed-up (b = 2, theta = 0.5)": _paper(82.5, 49.4, 90.7, 68.9, 134, 4.0, 0.98),
    }
)


THETAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0)
FULL: Mapping[str, Trial] = MappingProxyType(
    {
        SENTENCES: Trial(
            Share(1441, 30_000, 20, (0.03, 0.1, 0.3)),
            (1, 2, 4, 8),
            (0.1, 0.03, 0.01, 0.003),
            THETAS,
            (1, 2),
        ),
        CITATIONS: Trial(Share(300, 400, 8), (4, 8), (0.1, 0.03, 0.01), runs=3),
    }
)
QUICK: Mapping[str, Trial] = MappingProxyType(
    {
        SENTENCES: Trial(
            Share(150, 300, 5, (0.1,)), (1, 2), (0.03, 0.01), (0.05, 0.25), (1, 2), runs=2
        ),
        CITATIONS: Trial(Share(30, 30, 2), (4,), (0.03,), runs=2),
    }
)


class Found(NamedTuple):
    """What all methods came to on one case."""

    case: Ready
    methods: Sequence[Method]
    reached: Mapping[str, Reached]
    chosen: Mapping[int, CustomSets]
    mistakes: Mapping[int, Sequence[int]]  # in each epoch, by width
    compared: tuple[int, int]  # inputs on which it differs from the integer program, of so many
    licensed: int  # test inputs that Gurobi solved

    @property
    def width(self) -> int:
        """The one that agrees best with the black box on held-out examples.

        Of equals, the one more of whose outputs obey there, and then the wider.
        """
        return max(
            self.chosen, key=lambda b: (self.chosen[b].agreement, self.chosen[b].was_feasible, b)
        )

    @property
    def skipping(self) -> int:
        """The width whose chosen theta skips most on held-out examples."""
        return max(self.chosen, key=lambda b: self.chosen[b].skipped)

    def measured(self, name: str) -> dict[str, float]:
        """The measures of a method, against the right outputs and against the program's."""
        outputs = self.reached[name].outputs
        right, by_ilp = self.case.test.ys, self.reached[HIGHS].outputs
        against = self.case.measures(by_ilp, outputs)
        return self.case.measures(right, outputs) | {f"{k}_ilp": v for k, v in against.items()}

    def skipped(self, width: int) -> tuple[float, float]:
        """How many per cent of vectors the chosen theta skips, and the points that it loses."""
        name = name_of(width, "theta chosen")
        full, own = (self.measured(n)["relation_f1"] for n in (name_of(width), name))
        return self.reached[name].skipped, full - own

    def ratio(self, name: str, other: str, *, search: bool = False) -> float:
        """How many times faster one is than another."""
        slow, fast = (
            float(np.median(each.search_milliseconds if search else each.milliseconds))
            for each in (self.reached[other], self.reached[name])
        )
        return slow / max(1e-9, fast)


def plan_of(settings: Settings) -> Mapping[str, Trial]:
    """How much is done under these settings."""
    return QUICK if settings.quick else FULL


def compare(plan: Mapping[str, Trial], settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    names = settings.among(plan)
    steps = sum(len(plan[name].widths) + 2 for name in names)
    found, done = [], 0

    def progress() -> None:
        nonlocal done
        done += 1
        settings.progress(done, steps)

    for name in names:
        case = ready(name, plan[name].share, settings.seed)
        progress()
        taught, chosen, mistakes = {}, {}, {}
        box, by_trial = case.black_box, case.trial.prepare(case.stream)
        stream = box.prepare(case.stream)
        for width in plan[name].widths:
            own = choose(case, width, by_trial, plan[name], settings.seed)
            speedup = LearnedBeam(box.engine, width, step=own.step)
            mistakes[width] = distill(
                box.with_engine(speedup), stream, epochs=plan[name].epochs, seed=settings.seed
            )
            taught[width], chosen[width] = speedup, own
            progress()
        gurobi, licensed = gurobi_for(box, case.test.xs)
        methods = [*plain_methods(case, gurobi), *speedups(taught, chosen, plan[name])]
        reached = in_turn(case, methods, plan[name].runs)
        compared = differences(box, stream, settings.seed)
        found.append(Found(case, methods, reached, chosen, mistakes, compared, licensed))
        progress()
    return Outcome(
        {
            "quick": settings.quick,
            "seed": settings.seed,
            "plan": {name: asdict(plan[name]) for name in names},
            "cases": {each.case.name: _said(each) for each in found},
        },
        [row for each in found for row in _rows(each, whole=not settings.quick)],
        [claim for each in found for claim in _claims(each)],
    )


EXPERIMENT = Experiment(
    "pan2018-speedup",
    f"{PAPER}, Tables 1 and 2",
    "Search that learns to mimic an integer program: accuracy, validity, time, features skipped",
    compare,
    plan=plan_of,
    one_trial=True,
    cases=lambda plan: plan,
)


def _said(found: Found) -> dict[str, Any]:
    return {
        **found.case.about,
        "agreement is judged by": found.case.metric,
        "chosen by held-out examples": {
            f"b = {width}": own._asdict() for width, own in found.chosen.items()
        },
        "width that agrees best": found.width,
        "mistakes in each epoch": {f"b = {b}": made for b, made in found.mistakes.items()},
        "the black box stands for the ILP when speed-ups learn; answers that differ": (
            f"{found.compared[0]} of {found.compared[1]} inputs of the stream"
        ),
        "test inputs that Gurobi solved": found.licensed,
    }


def _rows(found: Found, *, whole: bool) -> Iterator[Row]:
    real = whole and found.case.name == SENTENCES and found.case.source != MADE_UP
    for name, _, about, _ in found.methods:
        reached = found.reached[name]
        metrics: dict[str, Metric] = {
            "case": found.case.name,
            **found.measured(name),
            "milliseconds": float(np.median(reached.milliseconds)),
            "milliseconds_deviation": float(np.std(reached.milliseconds)),
            "search_milliseconds": float(np.median(reached.search_milliseconds)),
            "search_milliseconds_deviation": float(np.std(reached.search_milliseconds)),
            "validity_before": reached.validity_before,
            "validity": reached.validity,
            "skipped_percent": reached.skipped,
            **about,
        }
        yield Row(name, metrics, IN_PAPER.get(name, {}) if real else {})


def _claims(found: Found) -> Iterator[Claim]:
    yield Claim(
        f"{found.case.name}: the black box answers as the integer program does",
        found.compared[0] == 0 and found.reached[BOX].outputs == found.reached[HIGHS].outputs,
        f"{found.compared[0]} of {found.compared[1]} inputs of the stream have other answers; on "
        "test, agreement is "
        + ", ".join(f"{v:.2f}" for k, v in found.measured(BOX).items() if k.endswith("_ilp"))
        + ".",
    )
    yield _close(found)
    if found.case.name == SENTENCES:
        yield from _fast(found)
        yield _skips(found)


def _close(found: Found) -> Claim:
    """Of the width that was chosen; the others are told of as well."""
    ours = found.reached[name_of(found.width)]
    ilp, own = found.measured(HIGHS), found.measured(name_of(found.width))
    names = [name for name in ilp if not name.endswith("_ilp")]
    told = {
        f"b = {width}": f"{_listed(found.measured(name_of(width)), names)}, "
        f"{found.reached[name_of(width)].validity_before:.3f} obey before repair"
        for width in found.chosen
    }
    return Claim(
        f"{found.case.name}: the speed-up is within {CLOSE:g} points of the ILP, at least {VALID:g}"
        " of its outputs obey before repair, and all after",
        all(own[name] >= ilp[name] - CLOSE for name in names)
        and ours.validity_before >= VALID
        and ours.validity == 1,
        f"ILP: {_listed(ilp, names)}. Chosen on held-out examples: b = {found.width}. "
        + "; ".join(f"{width}: {what}" for width, what in told.items())
        + f". After repair, {ours.validity:.3f} obey.",
    )


def _listed(measures: Mapping[str, float], names: Sequence[str]) -> str:
    return " and ".join(f"{name} {measures[name]:.2f}" for name in names)


def _fast(found: Found) -> Iterator[Claim]:
    ours = name_of(found.width)
    for solver in (HIGHS, GUROBI):
        if solver not in found.reached:
            continue
        ratio = found.ratio(ours, solver)
        times = (float(np.median(found.reached[name].milliseconds)) for name in (ours, solver))
        yield Claim(
            f"The speed-up is at least {FASTER:g} times faster than the {solver}, features "
            "included",
            ratio >= FASTER,
            "{:.0f} ms against {:.0f} ms, ".format(*times) + f"{ratio:.2f} times (b = "
            f"{found.width}). The black box takes "
            f"{np.median(found.reached[BOX].milliseconds):.0f} ms.",
        )
    solver = GUROBI if GUROBI in found.reached else HIGHS
    ratio = found.ratio(ours, solver, search=True)
    times = (float(np.median(found.reached[name].search_milliseconds)) for name in (ours, solver))
    yield Claim(
        f"Features aside, the speed-up is at least {SEARCH_FASTER:g} times faster than the "
        f"{solver}",
        ratio >= SEARCH_FASTER,
        "{:.1f} ms against {:.1f} ms, ".format(*times) + f"{ratio:.1f} times (b = {found.width}). "
        f"The black box takes {np.median(found.reached[BOX].search_milliseconds):.1f} ms.",
    )


def _skips(found: Found) -> Claim:
    """Of the width that skips most on held-out examples; the others are told of as well."""
    claim = (
        f"A theta above 0 skips at least {SKIPPED:g} % of feature vectors and loses no more than "
        f"{CLOSE:g} points of relation F1 beside the same width without one"
    )
    told = []
    for width, own in found.chosen.items():
        if own.theta is not None:
            skipped, lost = found.skipped(width)
            full = found.measured(name_of(width))["relation_f1"]
            told.append(
                f"b = {width}, theta = {own.theta:g}: {skipped:.1f} % skipped, relation F1 "
                f"{full - lost:.2f} instead of {full:.2f}"
            )
    if not told:
        return Claim(claim, False, "No theta was good enough on held-out examples.")
    skipped, lost = found.skipped(found.skipping)
    return Claim(
        claim,
        skipped >= SKIPPED and lost <= CLOSE,
        f"Judged for b = {found.skipping}, which skips most on held-out examples. "
        + "; ".join(told)
        + ".",
    )
