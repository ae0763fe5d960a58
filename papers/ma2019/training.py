"""Tables 4 and 5 of Ma et al. (2019): learning a structural SVM with amortized greedy search.

    DCD(RGS)       the worst output of an example is searched for by 50 climbs from drawn starts
    DCD(A-RGS)     by climbs from starts that E leads to, 50 at most; E is kept while weights change

Both learn by dual coordinate descent from all weights 0, all examples in every iteration, in the
first two a few at a time, and as many iterations; both models are judged by RGS with 50 restarts.
``inference_seconds`` are those of searching, ``update_seconds`` all others: the paper says that
89 % of the time of DCD(A-RGS) went into updates on sets of labels. The paper's times are those of
whole trainings on other machines; here iterations and examples are fewer, so that factors alone
stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import process_time
from types import MappingProxyType
from typing import NamedTuple

from papers.base import Experiment, Outcome, Settings
from papers.ma2019.hard import (
    BIBTEX,
    DOCUMENTS,
    HANDWRITING,
    HARDER,
    IMAGES,
    NAMES,
    PAPER,
    YEAST,
    Learned,
    Ready,
    Share,
    Watched,
    each_case,
    said,
    start_learning,
)
from papers.records import Claim, Metric, Row
from rote import RGS, LearnedRestarts, StructuredSVM, fit

MOST = 50  # climbs of a search
THEIRS, OURS = "DCD(RGS)", "DCD(A-RGS)"
FASTER, CLOSE = 3.0, 1.0  # times on the harder cases, and points of accuracy
FACTORS: Mapping[str, float] = MappingProxyType(  # Table 5; documents are not those of the paper
    {YEAST: 1.69, HANDWRITING: 2.82, IMAGES: 3.13, DOCUMENTS: 4.01}
)
MINUTES: Mapping[str, tuple[float, float]] = MappingProxyType(  # RGS, A-RGS; bibtex: Table 4
    {YEAST: (17, 10), HANDWRITING: (91, 32), IMAGES: (279, 89), BIBTEX: (95, 32)}
)
ACCURACIES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {YEAST: (63.35, 63.20), HANDWRITING: (97.79, 97.51), IMAGES: (83.47, 84.02)}
)


@dataclass(frozen=True)
class Plan:
    """How much is done; ``patience`` is that of `LearnedRestarts`."""

    shares: Mapping[str, Share]
    most: int = MOST
    patience: int = 1  # answers that stay as they are in two rounds, as in the paper


FULL = Plan(
    {
        YEAST: Share(1500, 917, iterations=20),
        HANDWRITING: Share(1000, 675, iterations=8),
        IMAGES: Share(120, 256, iterations=20, alpha=0.75),
        DOCUMENTS: Share(6, 4, iterations=6, alpha=0.25),
        BIBTEX: Share(1000, 500, iterations=15, alpha=0.9),
    }
)
QUICK = Plan(
    {
        YEAST: Share(60, 40, iterations=5),
        HANDWRITING: Share(40, 20, iterations=4),
        IMAGES: Share(12, 6, iterations=4, alpha=0.75),
        DOCUMENTS: Share(1, 1, iterations=1, alpha=0.25),
        BIBTEX: Share(40, 20, iterations=2, alpha=0.9),
    },
    most=5,
)


class Trained(NamedTuple):
    """What a training took, and what came of it."""

    accuracy: float
    seconds: float
    inference: float
    inferences: int
    climbs: float


class Both(NamedTuple):
    """A case learned in both ways."""

    case: Ready
    share: Share
    trained: Mapping[str, Trained]

    @property
    def speed_up(self) -> float:
        return self.trained[THEIRS].seconds / max(1e-9, self.trained[OURS].seconds)

    @property
    def inference_speed_up(self) -> float:
        return self.trained[THEIRS].inference / max(1e-9, self.trained[OURS].inference)

    @property
    def lost(self) -> float:
        """How many points A-RGS is behind."""
        return self.trained[THEIRS].accuracy - self.trained[OURS].accuracy


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    return QUICK if settings.quick else FULL


def compare(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    found = [
        Both(case, share, learn_both(case, share, plan, settings.seed))
        for case, share in each_case(plan.shares, settings)
    ]
    return Outcome(
        {
            **said(settings, plan, [each.case for each in found]),
            "C": {each.case.name: each.case.learner.C for each in found},
        },
        [row for each in found for row in _rows(each, whole=not settings.quick)],
        list(_claims([each for each in found if each.case.name in NAMES])),
    )


EXPERIMENT = Experiment(
    "ma2019-training",
    f"{PAPER}, Tables 4 and 5",
    "Time and accuracy of learning with greedy search, and with greedy search that learns",
    compare,
    plan=plan_of,
    one_trial=True,
    cases=lambda plan: plan.shares,
)


def learn_both(case: Ready, share: Share, plan: Plan, seed: int) -> dict[str, Trained]:
    """Two trainings that differ in their search alone."""
    begun = start_learning(case)
    search = RGS(share.alpha, plan.most, begun.classifier, seed)
    # Spaces are planned before, so that no time is told of it.
    brief = replace(case.learner, iterations=case.learner.online_epochs + 2, patience=1)
    for kind in (THEIRS, OURS):
        _trained(case, brief, begun, replace(search, restarts=2), kind, plan)
    return {
        kind: _trained(case, case.learner, begun, search, kind, plan) for kind in (THEIRS, OURS)
    }


def _trained(
    case: Ready, learner: StructuredSVM, begun: Learned, search: RGS, kind: str, plan: Plan
) -> Trained:
    engine: RGS | LearnedRestarts = search
    if kind == OURS:
        engine = LearnedRestarts(search, patience=plan.patience)
    watched = Watched(engine)
    start = process_time()
    model = fit(learner, begun.model.with_engine(watched), begun.prepared)
    seconds = process_time() - start
    accuracy = case.judge(model.with_engine(search).predict(case.judged.xs))
    return Trained(accuracy, seconds, watched.seconds, len(watched.needed), watched.climbs)


def _rows(both: Both, *, whole: bool) -> Iterator[Row]:
    name = both.case.name
    real = whole and both.case.source == name
    for k, (kind, trained) in enumerate(both.trained.items()):
        updates = trained.seconds - trained.inference
        metrics: dict[str, Metric] = {
            "case": name,
            "accuracy": trained.accuracy,
            "minutes": trained.seconds / 60,
            "inference_seconds": trained.inference,
            "update_seconds": updates,
            "update_percent": 100 * updates / trained.seconds,
            "climbs": trained.climbs,
            "inferences": trained.inferences,
            "examples": len(both.case.learned.ys),
        }
        beside: dict[str, Metric] = {}
        if real and name in MINUTES:
            beside["minutes"] = MINUTES[name][k]
        if real and name in ACCURACIES:
            beside["accuracy"] = ACCURACIES[name][k]
        if kind == OURS:
            metrics["speed_up"] = both.speed_up
            metrics["inference_speed_up"] = both.inference_speed_up
            if real and name in MINUTES:
                beside["speed_up"] = FACTORS.get(name, MINUTES[name][0] / MINUTES[name][1])
        yield Row(kind, metrics, beside)


def _claims(found: Sequence[Both]) -> Iterator[Claim]:
    for each in found:
        ours, theirs = each.trained[OURS], each.trained[THEIRS]
        name = each.case.name
        bar = FASTER if name in HARDER else 1.0
        wanted = f"at least {bar:g} times faster" if name in HARDER else "faster"
        yield Claim(
            f"{name}: learning with A-RGS is {wanted} (paper: {FACTORS[name]:g} times)",
            each.speed_up > bar,
            f"{ours.seconds:.1f} s against {theirs.seconds:.1f} s, {each.speed_up:.2f} times; of "
            f"inference alone {ours.inference:.1f} s against {theirs.inference:.1f} s, "
            f"{each.inference_speed_up:.2f} times.",
        )
    if not found:
        return
    yield Claim(
        f"Learning with A-RGS loses no more than {CLOSE:g} point of accuracy, on every case",
        all(each.lost <= CLOSE for each in found),
        "A-RGS and RGS: "
        + "; ".join(
            f"{each.case.name} {each.trained[OURS].accuracy:.2f} and "
            f"{each.trained[THEIRS].accuracy:.2f}"
            for each in found
        )
        + ".",
    )
