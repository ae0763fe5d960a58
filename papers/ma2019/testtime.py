"""Figures 3 and 4 and Tables 2 and 3 of Ma et al. (2019): amortized greedy search at test time.

    RGS (50)             50 climbs from drawn starts
    A-RGS                starts that E leads to; an input is left when nothing better is found
    A-RGS (50)           the same, and 50 climbs for every input
    RGS (as many)        drawn starts, and as many climbs as A-RGS makes on average

The last is not in the paper: it says what of the time saved is saved by stopping early alone. For
each case a model is learned once. E is learned on the training inputs, and goes on learning while
test inputs come; every search begins with the E of the training inputs.

How many climbs in a row may find nothing better before an input is left, ``patience``, and whether
E leads to the ``first_start`` as well, are chosen before, on a fifth of the training
inputs, with a model and an E of the others: what makes fewest climbs there, of all that is behind
RGS (50) by no more than noise.

``value_percent`` is the mean score of the answers beside that of RGS (50), and ``as_good_percent``
how many inputs have an answer that scores as much as that of RGS (50), or more.
``learning_seconds`` are those of learning E, and are not among ``milliseconds``.
``required_restarts`` is the climb that found the answer, on average, of 20 climbs each: a search
that finds nothing good requires few, so ``best_of_both_percent`` says how often its answer is the
better one, or as good, and ``restarts_to_best`` counts the climbs to the better of the two answers,
21 where it was not found. ``needed_…_percent`` are the inputs by required restarts, as in Figure 4.
Rows of the curve are Figure 3: RGS with so many restarts, and A-RGS (50) after so many climbs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import process_time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from papers.base import Experiment, Outcome, Settings
from papers.ma2019.bench import NOISE
from papers.ma2019.hard import (
    DOCUMENTS,
    HANDWRITING,
    HARDER,
    IMAGES,
    PAPER,
    YEAST,
    Ready,
    Share,
    Watched,
    each_case,
    said,
    start_learning,
)
from papers.ma2019.plots import SEARCHES, draw_testtime
from papers.ma2019.tasks import held_out
from papers.records import Claim, Metric, Record, Row
from rote import RGS, LearnedRestarts, SettingError, fit
from rote.inference.approximate.search_trace import RestartResult
from rote.metrics import compare_systems
from rote.model import Dataset, Model
from rote.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST, FIXED = 50, 20  # restarts of RGS, and those of required restarts
OURS, LONG, THEIRS, CONTROL = "A-RGS", f"A-RGS ({MOST})", f"RGS ({MOST})", "RGS (as many)"
FASTER_IN_PAPER = {IMAGES: 4.1, DOCUMENTS: 5.1}
FASTER, CLOSE = 3.0, 0.5  # times, and points of accuracy
AFTER = (1, 2, 5, 10, 20, 50)  # climbs of the curve
BINS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4": (4, 4), "5": (5, 5)}
    | {"6_to_10": (6, 10), "11_to_20": (11, 20)}
)
RESTARTS_IN_PAPER: Mapping[str, tuple[float, float]] = MappingProxyType(  # Table 2: RGS, A-RGS
    {YEAST: (2.050, 1.824), HANDWRITING: (2.182, 1.874), IMAGES: (9.343, 5.175)}
)
MILLISECONDS_IN_PAPER: Mapping[str, tuple[float, float]] = MappingProxyType(  # Table 3
    {YEAST: (444, 48), HANDWRITING: (17323, 4812), IMAGES: (9451, 2294)}
)
# Documents are not those of the paper, whose ACE 2005 has these.
ACE = "ACE 2005 in the paper: required restarts 5.359 and 3.239, 282,864 and 55,355 ms"


@dataclass(frozen=True)
class Plan:
    """How much is done; a patience of `LearnedRestarts` is chosen among ``patiences``.

    With a patience of 1, an answer that stays as it is in two rounds ends the search: the paper's.
    """

    shares: Mapping[str, Share]
    most: int = MOST
    fixed: int = FIXED
    patiences: tuple[int, ...] = (1, 2, 3, 5, 8)
    after: tuple[int, ...] = AFTER

    def __post_init__(self) -> None:
        if not {self.most, self.fixed} <= set(self.after):
            raise SettingError(
                f"the curve has no point after {self.fixed} or {self.most} climbs, got {self.after}"
            )
        few = [name for name, share in self.shares.items() if share.test < 2]
        if few:
            raise SettingError(f"searches are compared on two inputs at least; {few[0]} has fewer")


FULL = Plan(
    {
        YEAST: Share(1500, 917, iterations=20, restarts=10),
        HANDWRITING: Share(2000, 675, iterations=10, restarts=10),
        IMAGES: Share(335, 256, iterations=20, restarts=2, alpha=0.75),
        DOCUMENTS: Share(20, 6, iterations=8, restarts=1, alpha=0.25),
    }
)
QUICK = Plan(
    {
        YEAST: Share(60, 40, iterations=5, restarts=5),
        HANDWRITING: Share(40, 20, iterations=4, restarts=5),
        IMAGES: Share(12, 6, iterations=4, restarts=3, alpha=0.75),
        DOCUMENTS: Share(3, 2, iterations=2, restarts=1, alpha=0.25),
    },
    most=10,
    fixed=5,
    patiences=(1, 2),
    after=(1, 2, 5, 10),
)


class Reached(NamedTuple):
    """What a search has after some climbs: for every input, and in all."""

    accuracy: float
    values: FloatArray
    needed: IntArray
    seconds: float
    climbs: float  # of an input, on average


class Ways(NamedTuple):
    """What is chosen of A-RGS."""

    patience: int
    predict_first_start: bool

    def of(self, search: RGS, theta: FloatArray | None = None) -> LearnedRestarts:
        """A search with an E."""
        patience, predict_first_start = self
        return LearnedRestarts(
            search, patience=patience, predict_first_start=predict_first_start, learned=theta
        )


class Found(NamedTuple):
    """What searches came to on one case."""

    case: Ready
    searches: Mapping[str, Reached]
    drawn: Mapping[int, Reached]  # RGS by restarts
    led: Mapping[int, Reached]  # A-RGS after so many climbs of every input
    ways: Ways
    learning: float  # seconds of learning E
    by_e: float  # per cent of A-RGS's climbs that began where E led

    @property
    def speed_up(self) -> float:
        return self.searches[THEIRS].seconds / max(1e-9, self.searches[OURS].seconds)

    @property
    def lost(self) -> float:
        """How many points A-RGS is behind RGS (50)."""
        return self.searches[THEIRS].accuracy - self.searches[OURS].accuracy

    def restarts(self, climbs: int) -> tuple[float, float]:
        """Those required by RGS and by A-RGS, on average."""
        return float(self.drawn[climbs].needed.mean()), float(self.led[climbs].needed.mean())


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    return QUICK if settings.quick else FULL


def compare(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    found = [
        searched(case, share, plan, settings.seed)
        for case, share in each_case(plan.shares, settings)
    ]
    return Outcome(
        {
            **said(settings, plan, [each.case for each in found]),
            "litbank-coref in the place of": ACE,
        },
        [row for each in found for row in _rows(each, plan, whole=not settings.quick)],
        list(_claims(found, plan.fixed)),
    )


def draw(record: Record) -> Figure:
    """Accuracy by time, and inputs by required restarts, from a record."""
    return draw_testtime(record, tuple(BINS))


EXPERIMENT = Experiment(
    "ma2019-testtime",
    f"{PAPER}, Figures 3 and 4, Tables 2 and 3",
    "Greedy search whose starts are learned, at test time: time, accuracy and required restarts",
    compare,
    draw,
    plan=plan_of,
    one_trial=True,
    cases=lambda plan: plan.shares,
)


class Taught(NamedTuple):
    """A model, the search it is judged by, and an E of the same inputs."""

    model: Model[Any, Any]
    search: RGS
    theta: FloatArray | None
    learning: float  # seconds of learning E


def taught(case: Ready, share: Share, plan: Plan, seed: int, predict_first_start: bool) -> Taught:
    """Learn a model, and then an E."""
    model, learned, classifier = start_learning(case)
    search = RGS(share.alpha, plan.most, classifier, seed)
    short = replace(search, restarts=share.restarts)
    model = fit(case.learner, model.with_engine(short), learned)
    _warm_up(model, learned, search)
    teaching = Ways(plan.patiences[0], predict_first_start).of(search)
    start = process_time()
    model.with_engine(teaching).answers(learned)
    return Taught(model, search, teaching.weights, process_time() - start)


def reached_by(
    engine: RGS | LearnedRestarts, case: Ready, model: Model[Any, Any], judged: Dataset
) -> Reached:
    """What a search comes to on the inputs that are judged."""
    watched = Watched(engine)
    outputs = model.decode(case.judged.xs, model.with_engine(watched).answers(judged))
    return Reached(
        case.judge(outputs), watched.values, watched.needed, watched.seconds, watched.climbs
    )


def chosen(case: Ready, share: Share, plan: Plan, seed: int) -> Ways:
    """What is as good as RGS (50) on held-out training inputs with fewest climbs; or else most."""
    kept, held = (case.learned.rows(places) for places in held_out(len(case.learned.ys)))
    trial = replace(case, learned=kept, judged=held)
    good: dict[Ways, float] = {}
    for predict_first_start in (True, False):
        model, search, theta, _ = taught(trial, share, plan, seed, predict_first_start)
        judged = model.prepare(held.xs)
        bar = reached_by(search, trial, model, judged).accuracy - NOISE
        for patience in plan.patiences:
            ways = Ways(patience, predict_first_start)
            led = reached_by(ways.of(search, theta), trial, model, judged)
            if led.accuracy >= bar:
                good[ways] = led.climbs
                break  # more patience makes more climbs
    return min(good, key=lambda ways: good[ways]) if good else Ways(plan.patiences[-1], True)


def searched(case: Ready, share: Share, plan: Plan, seed: int) -> Found:
    """Learn a model and an E, and search with both."""
    ways = chosen(case, share, plan, seed)
    model, search, theta, seconds = taught(case, share, plan, seed, ways.predict_first_start)
    judged = model.prepare(case.judged.xs)

    def reached(engine: RGS | LearnedRestarts) -> Reached:
        return reached_by(engine, case, model, judged)

    reached(replace(search, restarts=1))  # spaces of test inputs are looked at once, by nobody
    # Every number of restarts is a search of its own: those that show their rounds are slower.
    drawn = {k: reached(replace(search, restarts=k)) for k in plan.after}
    amortized = ways.of(search, theta)
    ours = reached(amortized)
    control = reached(replace(search, restarts=max(1, round(ours.climbs))))
    untiring = ways._replace(patience=plan.most).of(search, theta)
    led = _led(case, model, judged, untiring, plan.after)
    searches = {THEIRS: drawn[plan.most], OURS: ours, LONG: led[plan.most], CONTROL: control}
    spent = amortized.stats
    by_e = 100 * spent["learned"] / max(1, spent["climbs"])
    return Found(case, searches, drawn, led, ways, seconds, by_e)


def _warm_up(model: Model[Any, Any], prepared: Dataset, search: RGS) -> None:
    """Plan the smallest space, so that no time is told of it."""
    group = min(prepared.groups, key=lambda group: len(group.space.variables))
    few = group.rows(slice(0, 2))
    problem, context = prepared.problem(model.weights, few), prepared.context(few).without_gold()
    for engine in (search, LearnedRestarts(search)):
        engine.searched(problem, context)


def _led(
    case: Ready,
    model: Model[Any, Any],
    judged: Dataset,
    search: LearnedRestarts,
    after: tuple[int, ...],
) -> dict[int, Reached]:
    """What one search has after some of its rounds."""
    seconds = dict.fromkeys(after, 0.0)
    outputs: dict[int, list[Any]] = {climbs: [None] * len(judged) for climbs in after}
    rounds: dict[int, list[RestartResult]] = {climbs: [] for climbs in after}
    for group in judged.groups:
        problem, context = judged.problem(model.weights, group), judged.context(group)
        spent, start = 0.0, process_time()
        for climbs, now in enumerate(search.rounds(problem, context), start=1):
            spent += process_time() - start
            if climbs in seconds:
                seconds[climbs] += spent
                rounds[climbs].append(now)
                for member, labels in zip(group.members.tolist(), now.labels.tolist(), strict=True):
                    outputs[climbs][member] = case.task.decode(case.judged.xs[member], labels)
            start = process_time()
    return {
        climbs: Reached(
            case.judge(outputs[climbs]),
            np.concatenate([now.values for now in rounds[climbs]]),
            np.concatenate([now.needed for now in rounds[climbs]]),
            seconds[climbs],
            float(climbs),
        )
        for climbs in after
    }


def _rows(found: Found, plan: Plan, *, whole: bool) -> Iterator[Row]:
    name = found.case.name
    base = found.searches[THEIRS]
    real = whole and found.case.source == name
    milliseconds = MILLISECONDS_IN_PAPER.get(name) if real else None
    for search, reached in found.searches.items():
        metrics: dict[str, Metric] = {
            "case": name,
            "accuracy": reached.accuracy,
            "value_percent": 100 * float(reached.values.mean() / base.values.mean()),
            "as_good_percent": as_good(reached.values, base.values),
            "milliseconds": 1e3 * reached.seconds,
            "climbs": reached.climbs,
            "speed_up": base.seconds / max(1e-9, reached.seconds),
        }
        beside: dict[str, Metric] = {}
        if search == OURS:
            metrics |= {
                "patience": found.ways.patience,
                "first_start": "led" if found.ways.predict_first_start else "drawn",
                "learning_seconds": found.learning,
                "led_by_e_percent": found.by_e,
            }
        if milliseconds is not None and search in (THEIRS, OURS):
            beside["milliseconds"] = milliseconds[search == OURS]
            beside["speed_up"] = milliseconds[0] / milliseconds[search == OURS]
        yield Row(search, metrics, beside)
    in_paper = RESTARTS_IN_PAPER.get(name) if real else None
    both = found.drawn[plan.fixed], found.led[plan.fixed]
    best = np.maximum(*(reached.values for reached in both))
    for k, (search, reached) in enumerate(zip(SEARCHES, both, strict=True)):
        yield Row(
            f"{search} ({plan.fixed})",
            {
                "case": name,
                "required_restarts": found.restarts(plan.fixed)[k],
                "best_of_both_percent": as_good(reached.values, best),
                "restarts_to_best": to_best(reached, best, plan.fixed),
                **{f"needed_{k}_percent": v for k, v in histogram(reached.needed).items()},
            },
            {} if in_paper is None else {"required_restarts": in_paper[k]},
        )
    for search, curve in zip(SEARCHES, (found.drawn, found.led), strict=True):
        for climbs, reached in curve.items():
            yield Row(
                f"curve of {search}",
                {
                    "case": name,
                    "accuracy": reached.accuracy,
                    "milliseconds": 1e3 * reached.seconds,
                    "climbs": climbs,
                },
            )


def to_best(reached: Reached, best: FloatArray, climbs: int) -> float:
    """How many climbs it took to find the best, on average; one more than all if it was not."""
    return float(np.where(_reaches(reached.values, best), reached.needed, climbs + 1).mean())


def as_good(values: FloatArray, others: FloatArray) -> float:
    """How many are as large as the others, or larger, in per cent; rounding is forgiven."""
    return float(100 * _reaches(values, others).mean())


def _reaches(values: FloatArray, others: FloatArray) -> BoolArray:
    return np.asarray(values >= others - 1e-9 * np.maximum(1, np.abs(others)))


def histogram(needed: IntArray) -> dict[str, float]:
    """How many inputs needed so many restarts, in per cent."""
    return {
        name: float(100 * ((needed >= low) & (needed <= high)).mean())
        for name, (low, high) in BINS.items()
    }


def _claims(found: Sequence[Found], fixed: int) -> Iterator[Claim]:
    for each in found:
        if each.case.name not in HARDER:
            continue
        ours, theirs, control = (each.searches[name] for name in (OURS, THEIRS, CONTROL))
        yield Claim(
            f"{each.case.name}: A-RGS is at least {FASTER:g} times faster than {THEIRS}, and not "
            f"more than {CLOSE:g} points behind (paper: {FASTER_IN_PAPER[each.case.name]:g} times)",
            each.speed_up >= FASTER and each.lost <= CLOSE,
            f"{ours.seconds:.2f} s against {theirs.seconds:.2f} s, {each.speed_up:.1f} times; "
            f"accuracy {ours.accuracy:.2f} against {theirs.accuracy:.2f}. {control.climbs:g} drawn "
            f"starts take {control.seconds:.2f} s and reach {control.accuracy:.2f}.",
        )
    required = {
        each.case.name: compare_systems(each.drawn[fixed].needed, each.led[fixed].needed)
        for each in found
    }
    yield Claim(
        "A-RGS requires no more restarts than RGS, on every case",
        all(both.difference <= 0 for both in required.values()),
        "A-RGS and RGS: "
        + "; ".join(
            f"{name} {both.second:.2f} and {both.first:.2f}, {both.difference:+.2f} "
            f"[{both.low:+.2f}, {both.high:+.2f}]"
            for name, both in required.items()
        )
        + ". Differences have 95 % intervals, by a paired bootstrap over inputs.",
    )
    yield Claim(
        "With as many climbs, what A-RGS finds scores no less than what RGS finds, on every case",
        all(each.led[fixed].values.mean() >= each.drawn[fixed].values.mean() for each in found),
        f"Mean scores after {fixed} climbs, A-RGS and RGS: "
        + "; ".join(_beside(each, fixed) for each in found)
        + ".",
    )


def _beside(found: Found, climbs: int) -> str:
    ours, theirs = (float(each[climbs].values.mean()) for each in (found.led, found.drawn))
    more = 100 * (ours - theirs) / max(1e-9, abs(theirs))
    return f"{found.case.name} {ours:.4g} and {theirs:.4g}, {more:+.3f} %"
