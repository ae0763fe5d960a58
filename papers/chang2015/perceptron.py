"""Table 1 of Chang et al. (2015), averaged perceptron on entities and relations (AI-SP).

    baseline     every inference is solved
    epsilon=1    condition (4) with ε = 1, as in the paper
    epsilon=1, violations fixed   the same, but learns only from prefixes of an output that
                 outscore the right labels, which keeps the mistake bound when an output is not
                 the best one (the paper's future work)
    auto         our certificates; exact

Sentences are those of conll04 with a relation. A perceptron asks about one input at a time, after
every step, so nothing is asked in batches. It stops after an iteration without mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

from papers.base import Experiment, Outcome, Settings
from papers.chang2015.shared import (
    AUTO,
    BASELINE,
    PAPER,
    SOLVERS,
    Method,
    Trained,
    condition,
    costs,
    related_sentences,
    sentence_bench,
)
from papers.records import Claim, Row
from rote import Perceptron

FIXED = Method("epsilon=1, violations fixed", epsilons=(1.0,))
METHODS = (BASELINE, condition(1.0), FIXED, AUTO)
CLOSE = 1.0  # points of F1
IN_PAPER: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "baseline": {
            "calls_percent": 100,
            "speedup": 1,
            "entity_f1": 89.09,
            "relation_f1": 37.44,
        },
        "epsilon=1": {
            "calls_percent": 36,
            "speedup": 2.2,
            "entity_f1": 89.02,
            "relation_f1": 39.05,
        },
    }
)

Results = Mapping[tuple[str, str], Trained]  # by solver and method


@dataclass(frozen=True)
class Plan:
    """How much is done: so many sentences at most, and iterations with each solver."""

    sentences: int = 1441
    iterations: int = 100
    milp_iterations: int = 5  # with Milp, of which each takes long
    solvers: tuple[str, ...] = ("Exact", "Milp")


FULL = Plan()
QUICK = Plan(sentences=50, iterations=6)


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    return QUICK if settings.quick else FULL


def compare(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    sentences = related_sentences(plan.sentences, settings.seed)
    bench = sentence_bench(sentences)
    bench.warm_up(METHODS, learner_of(BASELINE, plan, settings), plan.solvers)
    results: dict[tuple[str, str], Trained] = {}
    steps = len(METHODS) * len(plan.solvers)
    for solver in plan.solvers:
        for method in METHODS:
            learner = learner_of(method, plan, settings, solver)
            results[solver, method.name] = bench.train(method, learner, SOLVERS[solver])
            settings.progress(len(results), steps)
    whole = not settings.quick and sentences.source.endswith("common split")
    judged = {key: bench.judged(trained) for key, trained in results.items()}
    return Outcome(
        {"quick": settings.quick, "seed": settings.seed, "plan": asdict(plan), **bench.about},
        list(_rows(results, judged, whole=whole)),
        list(_claims(results, judged, plan.solvers)),
    )


def learner_of(method: Method, plan: Plan, settings: Settings, solver: str = "Exact") -> Perceptron:
    most = plan.iterations
    if solver == "Milp":
        most = min(most, plan.milp_iterations)
    return Perceptron(most, update="largest" if method == FIXED else "full", seed=settings.seed)


EXPERIMENT = Experiment(
    "chang2015-perceptron",
    f"{PAPER}, Table 1, averaged perceptron",
    "Solver calls and time of training a perceptron with amortized inference",
    compare,
    plan=plan_of,
    one_trial=True,
)

Judged = Mapping[tuple[str, str], Mapping[str, float]]


def _rows(results: Results, judged: Judged, *, whole: bool) -> Iterator[Row]:
    for (solver, name), trained in results.items():
        baseline = results[solver, "baseline"]
        beside = dict(IN_PAPER[name]) if whole and name in IN_PAPER else {}
        if solver != "Milp":
            beside.pop("speedup", None)
        yield Row(
            name,
            {
                "solver": solver,
                **costs(trained, baseline),
                "mistakes_in_last_iteration": int(trained.told[-1]["mistakes"]),
                "same_weights": "yes" if trained.same_weights(baseline) else "no",
                **trained.guarantee,
                **judged[solver, name],
            },
            beside,
        )


def _claims(results: Results, judged: Judged, solvers: tuple[str, ...]) -> Iterator[Claim]:
    yield Claim(
        "auto learns what the baseline learns: the same weights to the last bit",
        all(results[s, "auto"].same_weights(results[s, "baseline"]) for s in solvers),
        "; ".join(
            f"{s}: {results[s, 'auto'].calls:,} of {results[s, 'auto'].inferences:,} inferences "
            f"are solver calls ({results[s, 'auto'].calls_percent:.1f} %)"
            for s in solvers
        )
        + ".",
    )
    first = solvers[0]
    for name, about in (
        ("epsilon=1", "Condition (4) with ε = 1 saves most calls and keeps F1 (paper: 36 %)"),
        (FIXED.name, "So it does when only violations are learned from"),
    ):
        own, whole = judged[first, name], judged[first, "baseline"]
        lost = max(whole[metric] - own[metric] for metric in whole)
        trained = results[first, name]
        yield Claim(
            about,
            trained.calls_percent < 50 and lost <= CLOSE,
            f"{trained.calls_percent:.1f} % of the inferences are calls, over {len(trained.told)} "
            f"iterations (baseline: {len(results[first, 'baseline'].told)}); entity F1 is "
            f"{own['entity_f1']:.1f} against {whole['entity_f1']:.1f}, relation F1 "
            f"{own['relation_f1']:.1f} against {whole['relation_f1']:.1f}.",
        )
