"""Figure 3 of Punyakanok et al. (2005): where inference during learning pays.

    LO    a perceptron per variable, and each variable decided by itself
    L+I   the same weights, and the best feasible output
    IBT   a perceptron that learns from the best feasible output

Data are `binary_constrained`: κ is the share of examples whose local answer is infeasible, so
local classifiers can be right about everything at κ = 0 and about no example at κ = 1. As in the
paper, there are 5 variables and half of all outputs are feasible, weights are not averaged, and
learning ends after a cycle without mistakes or after 100 cycles. Each trial has its own
hypothesis, feasible outputs and test examples; within a trial all methods see the same.

The paper gives its results as curves only, so rows have no number of the paper beside them. It
does not say whether accuracy counts variables or whole outputs: ``accuracy`` is the share of
variables that are right, and ``exact_match`` that of outputs. Claims are judged by the former;
their evidence says how they fare by the latter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from papers.answers import Answer, answers_without_rules
from papers.base import Experiment, Outcome, Settings
from papers.curves import Lead, intervals, listed
from papers.data.synthetic import binary_constrained
from papers.plots import Curve, Panel, draw_panels
from papers.records import Claim, Record, Row
from papers.tasks.synthetic import BinaryPoints
from rote import IndependentPerceptron, Learner, Perceptron, fit
from rote.model import Model, prepare
from rote.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("LO", "L+I", "IBT")
KAPPAS = (0.0, 0.1, 1.0)


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    sizes: tuple[int, ...] = (20, 50, 100, 200, 500, 1000, 2000)
    trials: int = 10
    dimensions: int = 100
    test: int = 1000
    cycles: int = 100


FULL = Plan()
# A quarter of the dimensions needs about a quarter of the examples: the curves keep their shape.
QUICK = Plan(sizes=(10, 20, 50, 100, 200), trials=5, dimensions=25)

# Shares of right variables and of right outputs, each of shape (sizes, trials).
Measured = Mapping[tuple[float, str], tuple[FloatArray, FloatArray]]


class Reached(NamedTuple):
    """The share of variables, and of outputs, that are right."""

    accuracy: float
    exact_match: float


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    plan = QUICK if settings.quick else FULL
    return plan if settings.trials is None else replace(plan, trials=settings.trials)


def compare(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    measured = measure(plan, settings)
    return Outcome(
        {
            "quick": settings.quick,
            "seed": settings.seed,
            **asdict(plan),
            "variables": 5,
            "feasible": 0.5,
            "averaged": False,
            "intervals": "95 %, Student's t over trials",
        },
        list(_rows(plan, measured)),
        list(_judged(plan, measured)),
    )


def measure(plan: Plan, settings: Settings) -> Measured:
    """What every method reaches in every panel, at every size, in every trial."""
    shape = len(plan.sizes), plan.trials
    found = {
        (kappa, method): (np.empty(shape), np.empty(shape))
        for kappa in KAPPAS
        for method in METHODS
    }
    # Steps are training examples: a training set takes time by about its size.
    done, total = 0, plan.trials * len(KAPPAS) * sum(plan.sizes)
    for trial in range(plan.trials):
        for kappa in KAPPAS:
            for place, size in enumerate(plan.sizes):
                for method, reached in once(plan, kappa, size, settings.seed, trial).items():
                    for table, value in zip(found[kappa, method], reached, strict=True):
                        table[place, trial] = value
                done += size
                settings.progress(done, total)
    return found


def once(plan: Plan, kappa: float, size: int, seed: int, trial: int) -> dict[str, Reached]:
    """What every method reaches with one training set."""
    own = int(np.random.SeedSequence((seed, trial)).generate_state(1)[0])
    data = binary_constrained(size, kappa, own, d=plan.dimensions, test=plan.test)
    task = BinaryPoints.of(data.feasible)
    learned = prepare(task, data.train.points, data.train.labels)
    model = Model(task, learned.layout, learned.layout.zeros())
    judged = model.prepare(data.test.points, data.test.labels)

    def reached(model: Model[object, object], answer: Answer = Model.answers) -> Reached:
        ((group, solutions),) = answer(model, judged)
        right = solutions.labels == group.gold
        return Reached(float(right.mean()), float(right.all(axis=1).mean()))

    def trained(learner: Learner) -> Model[object, object]:
        return fit(learner, model, learned)

    local = trained(IndependentPerceptron(plan.cycles, average=False, seed=own))
    return {
        "LO": reached(local, answers_without_rules),
        "L+I": reached(local),
        "IBT": reached(trained(Perceptron(plan.cycles, average=False, seed=own))),
    }


def draw(record: Record) -> Figure:
    """The three panels, from a record."""
    panels = []
    for kappa in KAPPAS:
        rows = [row for row in record.rows if row.metrics["kappa"] == kappa]
        curves = [
            Curve.of([row for row in rows if row.method == method], method, "examples", "accuracy")
            for method in METHODS
        ]
        panels.append(Panel(f"κ = {kappa:g}: {TITLES[kappa]}", curves))
    return draw_panels(
        panels,
        x_label="training examples",
        y_label="accuracy of single variables on test data, %",
    )


TITLES: Mapping[float, str] = {
    0.0: "local answers\nare always feasible",
    0.1: "one local answer in ten\nis infeasible",
    1.0: "local answers\nare never feasible",
}


EXPERIMENT = Experiment(
    "punyakanok2005-synthetic",
    "Punyakanok et al. (2005), Figure 3",
    "LO, L+I and IBT by the number of examples, where local decisions are easy and hard",
    compare,
    draw,
    plan=plan_of,
)


def _rows(plan: Plan, measured: Measured) -> Iterator[Row]:
    for (kappa, method), (accuracy, exact) in measured.items():
        for size, known, whole in zip(
            plan.sizes, intervals(accuracy), intervals(exact), strict=True
        ):
            yield Row(
                method,
                {
                    "kappa": kappa,
                    "examples": size,
                    "accuracy": 100 * known.mean,
                    "accuracy_low": 100 * known.low,
                    "accuracy_high": 100 * known.high,
                    "exact_match": 100 * whole.mean,
                },
            )


def _judged(plan: Plan, measured: Measured) -> Iterator[Claim]:
    """The claims by single variables, and a word on each by whole outputs."""

    def leads(which: int) -> Mapping[tuple[float, tuple[str, str]], Lead]:
        return {
            (kappa, (first, second)): Lead.of(
                plan.sizes, measured[kappa, first][which], measured[kappa, second][which]
            )
            for kappa in KAPPAS
            for first, second in (("L+I", "LO"), ("L+I", "IBT"), ("IBT", "L+I"))
        }

    for claim, whole in zip(_claims(leads(0)), _claims(leads(1)), strict=True):
        verdict = "holds" if whole.held else "does not hold"
        evidence = f"{claim.evidence} Counted by whole outputs, the claim {verdict}."
        yield replace(claim, evidence=evidence)


def _claims(leads: Mapping[tuple[float, tuple[str, str]], Lead]) -> Iterator[Claim]:
    easy = leads[0.0, ("L+I", "IBT")]
    yield Claim(
        "κ = 0: L+I outperforms IBT, and is behind at no number of examples",
        bool(easy.ahead) and not easy.behind,
        f"L+I is ahead at {listed(easy.ahead, 'no number')} of {listed(easy.places)} examples and "
        f"behind at {listed(easy.behind)}; with {_each(easy)}.",
    )
    mixed = leads[0.1, ("L+I", "IBT")]
    crossed = bool(mixed.ahead) and bool(mixed.behind) and max(mixed.ahead) < min(mixed.behind)
    yield Claim(
        "κ = 0.1: L+I outperforms IBT with few examples, IBT outperforms L+I with many",
        crossed and mixed.places[-1] in mixed.behind,
        f"L+I is ahead at {listed(mixed.ahead, 'no number')} and IBT at "
        f"{listed(mixed.behind, 'no number')} of {listed(mixed.places)} examples; L+I minus IBT "
        f"with {_each(mixed)}.",
    )
    hard = leads[1.0, ("IBT", "L+I")]
    start = hard.ahead_from
    yield Claim(
        "κ = 1: IBT outperforms L+I from some number of examples on",
        start is not None,
        ("At no number of examples" if start is None else f"From {start:,} examples on")
        + f" IBT is ahead everywhere; IBT minus L+I with {_each(hard)}.",
    )
    helped = {kappa: leads[kappa, ("L+I", "LO")] for kappa in KAPPAS}
    behind = [
        f"κ = {kappa:g} with {size:,}" for kappa, lead in helped.items() for size in lead.behind
    ]
    least = min(
        (
            (lead.intervals[k].mean, kappa, size)
            for kappa, lead in helped.items()
            for k, size in enumerate(lead.places)
        )
    )
    ahead = sum(len(lead.ahead) for lead in helped.values())
    places = sum(len(lead.places) for lead in helped.values())
    yield Claim(
        "Inference always helps: L+I outperforms LO in every panel, and is behind nowhere",
        not behind and all(lead.ahead for lead in helped.values()),
        f"L+I is ahead of LO at {ahead} of {places} places and behind at "
        f"{' and '.join(behind) or 'none'}; its smallest gain is {100 * least[0]:+.1f} points, at "
        f"κ = {least[1]:g} with {least[2]:,} examples.",
    )


def _each(lead: Lead) -> str:
    return "; ".join(f"{place:,}: {lead.said(place)}" for place in lead.places)
