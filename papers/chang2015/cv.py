"""Choosing C by cross-validation, with a cache that is reset, forwarded or not there at all.

Folds are of sentences with relations; those whose own output breaks a rule are left out. The
paper's list of C has 0.5 twice, and the first is taken to be 0.05. A row is a cross-validation:

    none                  every inference is solved
    METHOD, reset         the folds of each C share a cache
    METHOD, forward       one cache goes through all runs
    METHOD, 2 processes   as forward, by processes that share an SQLite file

``calls_percent`` is of the calls made without a cache, since answers that are not exact change how
many inferences there are. ``kept_percent`` says how much of what forwarding saves is saved by
processes as well. ``mean_f1`` is that of the C chosen: the mean of entity F1 and relation F1, over
folds. ``seconds`` are those of the whole; cross-validations in one process are made side by side,
as many as there are processes in the others. Counts of processes that share a cache are not the
same every time, and with ε above 0 neither is what they learn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from papers.base import Experiment, Outcome, Settings
from papers.chang2015.shared import (
    ADAPTIVE,
    AUTO,
    BASELINE,
    CORPUS,
    PAPER,
    Method,
    condition,
    related_sentences,
)
from papers.plots import COLOURS, GREY, load_matplotlib
from papers.records import Claim, Metric, Record, Row
from rote import (
    EntityRelation,
    EntityRelationOutput,
    EpsilonSchedule,
    Exact,
    StructuredSVM,
    adaptive_schedule,
    cross_validate,
)
from rote.io import Sentence
from rote.learners import Run, Validation
from rote.metrics import EntityRelations, entity_f1, relation_f1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = (condition(1.0), ADAPTIVE, AUTO)
KEPT_BAR = 90.0  # percent
LIMIT = 1 << 32  # bytes of memory and of the file: nothing that was solved is forgotten
NONE = "none"
# Millions of solver calls, from "Cross Validation using Amortization".
MILLIONS: Mapping[str, float] = MappingProxyType(
    {
        NONE: 18.9,
        "epsilon=1, reset": 4.4,
        "epsilon=1, forward": 3.3,
        "adaptive, reset": 12.5,
        "adaptive, forward": 7.0,
    }
)
BARS = MappingProxyType({NONE: GREY, "reset": COLOURS[0], "forward": COLOURS[1]})
SHARED_BAR = COLOURS[3]
INSIDE = 70  # percent from which on a bar lies under its number


@dataclass(frozen=True)
class Plan:
    """How much is done: at most so many sentences and iterations, and the C that are tried."""

    sentences: int = 1441
    folds: int = 5
    C: tuple[float, ...] = (0.01, 0.05, 0.1, 0.5, 1.0)
    delta: float = 0.1
    iterations: int = 300
    passes: int = 10
    processes: int = 2


FULL = Plan()
QUICK = Plan(sentences=60, folds=3, C=(0.05, 0.5), delta=0.5, iterations=80)


class Job(NamedTuple):
    """One cross-validation."""

    method: Method
    policy: Literal["none", "reset", "forward"]
    processes: int = 1

    @property
    def name(self) -> str:
        if self.policy == "none":
            return NONE
        shared = f"{self.processes} processes" if self.processes > 1 else self.policy
        return f"{self.method.name}, {shared}"


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    return QUICK if settings.quick else FULL


def draw(record: Record) -> Figure:
    """A bar of solver calls for each row, and the paper's share as a mark."""
    shares = [float(row.metrics["calls_percent"]) for row in record.rows]
    places = list(_places(record.rows))
    figure = load_matplotlib()(figsize=(7.6, 1.0 + 0.36 * places[-1]), layout="constrained")
    figure.set_facecolor("white")
    axes = figure.subplots()
    axes.barh(places, shares, height=0.8, color=[_colour(row) for row in record.rows])
    for row, place, share in zip(record.rows, places, shares, strict=True):
        axes.annotate(
            f"{share:.3g} %  ({row.metrics['solver_calls']:,})",
            (100, place),
            (-5, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color="white" if share > INSIDE else "black",
            fontsize="small",
        )
    marked = [
        (float(row.paper["calls_percent"]), place)
        for row, place in zip(record.rows, places, strict=True)
        if row.method != NONE and row.paper
    ]
    if marked:
        x, y = zip(*marked, strict=True)
        axes.scatter(x, y, marker="D", s=30, color="black", label="share in the paper")
        axes.legend(frameon=False, loc="lower center")
    axes.set_yticks(places, [row.method for row in record.rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("solver calls, % of those without a cache")
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    return figure


def choose(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    given = related_sentences(plan.sentences, settings.seed)
    there, task = (*given.learn, *given.judge), EntityRelation()
    kept = tuple(sentence for sentence in there if task.is_feasible(sentence))
    none = Job(BASELINE, "none")
    found = _all_validated(none, kept, plan, settings)
    whole = given.source.startswith(CORPUS) and not settings.quick
    return Outcome(
        {
            "sentences": given.source,
            "quick": settings.quick,
            "seed": settings.seed,
            "plan": asdict(plan),
            "solver": "Exact",
            "in the folds": len(kept),
            "left out, as they break a rule": len(there) - len(kept),
            "runs that met the stop rule": {
                job.name: sum(run.done for run in result.runs) for job, result in found.items()
            },
        },
        [_row(job, found, none, whole=whole) for job in found],
        list(_claims(found, none, plan.processes)),
    )


EXPERIMENT = Experiment(
    "chang2015-cv",
    PAPER,
    "cross-validation with cache resetting and cache forwarding",
    choose,
    draw,
    plan=plan_of,
    one_trial=True,
)


def _all_validated(
    none: Job, sentences: Sequence[Sentence], plan: Plan, settings: Settings
) -> dict[Job, Validation[float]]:
    """All jobs: first those of one process, side by side, and then the others."""
    from joblib import Parallel, delayed

    policies: tuple[Literal["reset", "forward"], ...] = ("reset", "forward")
    alone = [none, *(Job(method, policy) for method in METHODS for policy in policies)]
    shared = [Job(method, "forward", plan.processes) for method in METHODS]
    runs = plan.folds * len(plan.C)
    done, steps = 0, runs * len(alone + shared)
    found = {}

    def watch(_: Run[float]) -> None:
        nonlocal done
        done += 1
        settings.progress(done, steps)

    parallel = Parallel(plan.processes, batch_size=1, return_as="generator_unordered")
    calls = (delayed(_validated)(job, sentences, plan, settings.seed) for job in reversed(alone))
    for job, result in parallel(calls):
        found[job] = result
        for each in result.runs:
            watch(each)
    for job in shared:
        found[job] = _validated(job, sentences, plan, settings.seed, watch)[1]
    order = [none, *(job for m in METHODS for job in (*alone, *shared) if job.method == m)]
    return {job: found[job] for job in order}


def _validated(
    job: Job,
    sentences: Sequence[Sentence],
    plan: Plan,
    seed: int,
    watch: Callable[[Run[float]], None] | None = None,
) -> tuple[Job, Validation[float]]:
    from sklearn.model_selection import KFold

    learners = {
        C: EpsilonSchedule(
            StructuredSVM(
                C=C,
                delta=plan.delta,
                iterations=plan.iterations,
                passes=plan.passes,
                online_epochs=0,
                seed=seed,
            ),
            adaptive_schedule(*job.method.epsilons),
        )
        for C in plan.C
    }
    return job, cross_validate(
        EntityRelation(),
        sentences,
        map(EntityRelationOutput.of, sentences),
        learners,
        KFold(plan.folds, shuffle=True, random_state=seed).split(sentences),
        mean_f1,
        engine=replace(job.method, limit=LIMIT).engine(Exact()),
        cache=job.policy,
        n_jobs=job.processes,
        watch=watch,
    )


def mean_f1(ys: Sequence[EntityRelationOutput], found: Sequence[EntityRelationOutput]) -> float:
    """The mean of entity F1 and relation F1, in points."""
    gold, outputs = ([EntityRelations(*y) for y in each] for each in (ys, found))
    return 50 * (entity_f1(gold, outputs).micro.f1 + relation_f1(gold, outputs).micro.f1)


def _calls(found: Mapping[Job, Validation[float]], job: Job) -> int:
    return found[job].counters.solver_calls


def _kept(found: Mapping[Job, Validation[float]], job: Job, none: Job) -> float:
    """How much of what forwarding saves in one process is saved by several, in percent."""
    without = _calls(found, none)
    saved = without - _calls(found, job._replace(processes=1))
    return 100 * (without - _calls(found, job)) / saved


def _row(job: Job, found: Mapping[Job, Validation[float]], none: Job, *, whole: bool) -> Row:
    result, calls = found[job], _calls(found, job)
    metrics: dict[str, Metric] = {
        "policy": job.policy,
        "processes": job.processes,
        "inferences": result.counters.queries,
        "solver_calls": calls,
        "calls_percent": 100 * calls / _calls(found, none),
        "seconds": result.seconds,
        "best_c": f"{result.best:g}",  # a name, not to be rounded when shown
        "mean_f1": result.scores[result.best],
    }
    if job.processes > 1:
        metrics["kept_percent"] = _kept(found, job, none)
    if not whole or job.name not in MILLIONS:
        return Row(job.name, metrics)
    millions = MILLIONS[job.name]
    share = 100 * millions / MILLIONS[NONE]
    paper = {"solver_calls": round(1_000_000 * millions), "calls_percent": share}
    return Row(job.name, metrics, paper)


def _claims(found: Mapping[Job, Validation[float]], none: Job, processes: int) -> Iterator[Claim]:
    without = _calls(found, none)
    for method in METHODS:
        reset, forward = (_calls(found, Job(method, policy)) for policy in ("reset", "forward"))
        yield Claim(
            f"{method.name}: a cache that is forwarded needs fewer calls than one that is reset "
            "(unless none is needed), and that fewer than none",
            (forward < reset or forward == 0) and reset < without,
            f"Solver calls: {forward:,} with forwarding, {reset:,} with resetting, {without:,} "
            "without a cache.",
        )
    shared = [Job(method, "forward", processes) for method in METHODS]
    kept = {job.method.name: _kept(found, job, none) for job in shared}
    yield Claim(
        f"{processes} processes that share a store keep {KEPT_BAR:.0f} % of what forwarding saves",
        all(share >= KEPT_BAR for share in kept.values()),
        f"Kept: {', '.join(f'{share:.1f} % by {name}' for name, share in kept.items())}.",
    )
    exact = [job for job in found if job.method == AUTO]
    digests = {job: [run.digest for run in found[job].runs] for job in (none, *exact)}
    same = sum(a == b for job in exact for a, b in zip(digests[none], digests[job], strict=True))
    yield Claim(
        "auto: whatever the policy and the number of processes, weights are those of exact "
        "training, bit for bit",
        same == len(exact) * len(digests[none]),
        f"The weights of {same} of {len(exact) * len(digests[none])} runs are the same.",
    )


def _places(rows: Sequence[Row]) -> Iterator[float]:
    """Where bars stand, one below the other, with room between methods."""
    place, before = 0.0, ""
    for row in rows:
        method = row.method.split(", ")[0]
        place += 1.0 if method == before else 1.5
        before = method
        yield place


def _colour(row: Row) -> str:
    shared = float(row.metrics["processes"]) > 1
    return SHARED_BAR if shared else BARS[str(row.metrics["policy"])]
