"""Table 1 of Ma et al. (2019): accuracy of greedy search on sequences, sets, clusters and images.

    RGS(0)      starts are drawn
    RGS(α)      a share α of a start is as a classifier says; α is chosen on validation examples
    UnaryClassifier         that classifier alone
    Exact       the case's own model: label tuples as factors, the best output; sequences only
    BiLSTM      a network that labels each token by itself
    BiLSTM-RGS  RGS(α) over its log-probabilities, from networks that had not seen the example
    CNN         a network that labels each letter by its own image; hw-small only

Both RGS are trained with the same search that they are tested with, with fewer restarts. A row has
the mean over trials, which differ in the seeds of search and learner, and the standard deviation as
``deviation`` of the measure that settings are chosen by: the first of a case. Other rows are of
one trial. Times are those of one trial. Cases, and which of them stand in for others, are in
`papers.ma2019.tasks` and `papers.ma2019.structures`.

A quick run has little data of two cases, or made-up data where ROTE_DATA is not set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from papers.base import Experiment, Outcome, Settings
from papers.data.folder import VARIABLE
from papers.data.synthetic import linked_labels
from papers.ma2019.bench import (
    NOISE,
    Bench,
    Searching,
    chosen_alpha,
    first,
    highest,
    judged,
)
from papers.ma2019.neural import (
    Network,
    bilstm,
    cnn,
    out_of_fold,
    scored_task,
    with_scores,
)
from papers.ma2019.structures import STRUCTURES
from papers.ma2019.tasks import CASES, Case, Examples
from papers.records import Claim, Metric, Row
from rote import Exact, MissingDependency, MultiLabel, StructuredSVM, Tagging, Templates, train

PAPER = "Ma et al. (2019)"
RGS0, RGSA, UnaryClassifier, EXACT = "RGS(0)", "RGS(α)", "IID", "Exact"
LSTM, LSTM_RGS, CONVOLUTIONS = "BiLSTM", "BiLSTM-RGS", "CNN"
ALPHAS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)

# Per cent, of the measure that settings are chosen by; RGS(α) is in the cases.
IN_PAPER: Mapping[str, Mapping[str, float]] = {
    "hw-small": {RGS0: 92.32, LSTM: 83.18, LSTM_RGS: 91.83},
    "hw-large": {RGS0: 97.83, LSTM: 92.50, LSTM_RGS: 98.15},
    "phoneme": {RGS0: 82.28, LSTM: 77.98, LSTM_RGS: 82.55},
    "stress": {RGS0: 80.84, LSTM: 76.55, LSTM_RGS: 81.10},
    "twitter-pos": {RGS0: 89.9, LSTM: 88.8, LSTM_RGS: 90.1},
    "protein": {RGS0: 62.75, LSTM: 61.26, LSTM_RGS: 64.19},
    "yeast": {RGS0: 63.90},
    "bibtex": {RGS0: 44.11},
    "msrc21": {RGS0: 81.27},
}
# Of cases that are the same data as the paper's; images of MSRC-21 have other features.
BARS = ("hw-small", "hw-large", "phoneme", "stress", "twitter-pos", "protein", "yeast", "bibtex")


@dataclass(frozen=True)
class Plan:
    """What is done: the cases, how each is searched, and how networks are trained.

    Cases without a line in ``searching`` or ``networks`` are done as usual; ``most`` limits the
    examples of every part.
    """

    cases: tuple[str, ...] = (*CASES, *STRUCTURES)
    alphas: tuple[float, ...] = ALPHAS
    usual: Searching = field(default_factory=Searching)
    searching: Mapping[str, Searching] = field(default_factory=dict)
    network: Network = field(default_factory=Network)
    networks: Mapping[str, Network] = field(default_factory=dict)
    most: int | None = None


# As much as an hour of one core has room for. From starts that are drawn, a climb of clusters takes
# half a second.
CLUSTERS = Searching(5, 1, sweep=8, validation=8, learned=16, trials=2)
FULL = Plan(
    searching={
        "hw-large": Searching(sweep=1500, validation=600, iterations=8, trials=2),
        "phoneme": Searching(sweep=400, iterations=10),
        "twitter-pos": Searching(sweep=500, iterations=10),
        # What few chains teach depends on the draws.
        "protein": Searching(training_restarts=2, iterations=30, sweep_trials=2, trials=9),
        "bibtex": Searching(training_restarts=2, sweep=1500, trials=2),
        "yeast": Searching(training_restarts=20),
        "delicious": Searching(10, 1, 20, sweep=400, validation=300, learned=1000, trials=2),
        "msrc21": Searching(training_restarts=1, sweep=90, trials=2),
        "litbank-coref": CLUSTERS,
        "gum-coref": CLUSTERS,
    },
    networks={
        "hw-large": Network(epochs=10, folds=2),
        "twitter-pos": Network(characters=24),
        "protein": Network(epochs=10),
    },
)
QUICK = Plan(
    cases=("stress", "yeast"),
    alphas=(0.0, 0.5, 1.0),
    usual=Searching(10, 2, 30, iterations=4, trials=2),
    network=Network(epochs=2, hidden=8, words=8, folds=2),
    most=60,
)


Trial: TypeAlias = tuple[Mapping[str, float], float, float]  # measures, training and test seconds


class Result(NamedTuple):
    """The measures of each trial of a method, and what it took."""

    case: str
    method: str
    trials: Sequence[Mapping[str, float]]
    training_seconds: float
    testing_seconds: float
    more: Mapping[str, Metric]
    paper: Mapping[str, Metric]

    @property
    def measure(self) -> str:
        """What settings are chosen by."""
        return next(iter(self.trials[0]))

    @property
    def mean(self) -> float:
        return float(np.mean([trial[self.measure] for trial in self.trials]))

    @property
    def deviation(self) -> float:
        each = [trial[self.measure] for trial in self.trials]
        return float(np.std(each, ddof=1)) if len(each) > 1 else 0.0


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    plan = QUICK if settings.quick else FULL
    if settings.trials is not None:
        plan = replace(
            plan,
            usual=replace(plan.usual, trials=settings.trials),
            searching={
                name: replace(own, trials=settings.trials) for name, own in plan.searching.items()
            },
        )
    return plan


def compare(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    made_up = settings.quick and not os.environ.get(VARIABLE)
    results: list[Result] = []
    sweeps: dict[str, dict[str, float]] = {}
    without: list[str] = []
    names = settings.among(plan.cases)
    for done, name in enumerate(names, start=1):
        case = limited(made_up_case(name) if made_up else case_named(name), plan.most)
        found = Comparison(case, plan, settings.seed)
        results += found.searched()
        sweeps[name] = {f"{alpha:g}": reached for alpha, reached in found.reached.items()}
        if isinstance(case.task, Tagging):
            results += found.exact()
            try:
                results += found.networks()
            except MissingDependency as error:
                without.append(f"{name}: {error}")
        settings.progress(done, len(names))
    return Outcome(
        {
            "quick": settings.quick,
            "seed": settings.seed,
            "plan": asdict(replace(plan, cases=names)),
            "data": f"made up, as {VARIABLE} is not set" if made_up else "real",
            "validation by α": sweeps,
            **({"left out": without} if without else {}),
        },
        list(_rows(results, whole=not settings.quick)),
        list(_claims(results, whole=not settings.quick)),
    )


EXPERIMENT = Experiment(
    "ma2019-accuracy",
    f"{PAPER}, Table 1",
    "Accuracy of greedy search with drawn and with likely starts, on twelve data sets",
    compare,
    plan=plan_of,
    cases=lambda plan: plan.cases,
)


def case_named(name: str) -> Case:
    """A case of either module, from ROTE_DATA."""
    return {**CASES, **STRUCTURES}[name]()


def limited(case: Case, most: int | None) -> Case:
    """The case with so many examples in every part, at most."""
    if most is None:
        return case
    parts = (case.train(), case.validation(), case.test(), case.whole())
    train_part, validation, test, whole = (first(part, most) for part in parts)
    return replace(case, _train=train_part, _validation=validation, _test=test, _whole=whole)


class Comparison:
    """All methods on one case."""

    def __init__(self, case: Case, plan: Plan, seed: int) -> None:
        self.case, self.plan, self.seed = case, plan, seed
        self.searching = plan.searching.get(case.name, plan.usual)
        self.network = plan.networks.get(case.name, plan.network)
        self.task = highest(case.task)
        self.whole = first(case.whole(), self.searching.learned)
        self.reached: Mapping[float, float] = {}
        self.alpha = 0.0

    def searched(self) -> Iterator[Result]:
        """UnaryClassifier, RGS(0) and RGS(α)."""
        wanted = self.searching
        sweep = Bench(self.case, wanted, first(self.case.train(), wanted.sweep), self.task)
        by = first(self.case.validation(), wanted.validation)
        self.alpha, self.reached = chosen_alpha(sweep, self.plan.alphas, by)
        del sweep
        bench = Bench(self.case, wanted, self.whole, self.task)
        test = self.case.test()
        start = perf_counter()
        guessed = bench.guessed(test)
        spent = perf_counter() - start
        yield self._result(UnaryClassifier, [(guessed, bench.classifier_seconds, spent)])
        drawn = self._trials(bench, 0.0, test)
        yield self._result(RGS0, drawn, alpha=0.0)
        likely = drawn if self.alpha == 0 else self._trials(bench, self.alpha, test)
        yield self._result(RGSA, likely, alpha=self.alpha)

    def exact(self) -> Iterator[Result]:
        """The model that the case has, with the best outputs."""
        start = perf_counter()
        model = train(self.case.task, *self.whole, learner=self.case.learner, engine=Exact())
        spent, start = perf_counter() - start, perf_counter()
        found = judged(self.case, model, self.case.test())
        yield self._result(EXACT, [(found, spent, perf_counter() - start)])

    def networks(self) -> Iterator[Result]:
        """Networks alone, and under greedy search."""
        assert isinstance(self.task, Tagging)
        whole, test = self.whole, self.case.test()
        labels = self.task.labels
        start = perf_counter()
        untrained = bilstm(labels, self.network, self.seed)
        tagger = untrained.fit(*whole)
        spent, start = perf_counter() - start, perf_counter()
        found = self.case.measures(test.ys, tagger.predict(test.xs))
        yield self._result(LSTM, [(found, spent, perf_counter() - start)])
        start = perf_counter()
        inner = with_scores(whole.xs, out_of_fold(untrained, whole, self.network.folds))
        bench = Bench(self.case, self.searching, Examples(inner, whole.ys), scored_task(self.task))
        model = bench.trained(self.alpha, self.seed).model
        spent, start = perf_counter() - start, perf_counter()
        outer = with_scores(test.xs, tagger.log_probabilities_of(test.xs))
        found = judged(self.case, model, Examples(outer, test.ys))
        yield self._result(LSTM_RGS, [(found, spent, perf_counter() - start)], alpha=self.alpha)
        if self.case.name == "hw-small":
            start = perf_counter()
            letters = cnn(labels, self.network, self.seed).fit(*whole)
            spent, start = perf_counter() - start, perf_counter()
            found = self.case.measures(test.ys, letters.predict(test.xs))
            yield self._result(CONVOLUTIONS, [(found, spent, perf_counter() - start)])

    def _trials(self, bench: Bench, alpha: float, test: Examples) -> list[Trial]:
        prepared = bench.blank(Exact()).prepare(test.xs)
        found: list[Trial] = []
        for trial in range(self.searching.trials):
            model, spent = bench.trained(alpha, self.seed + trial)
            start = perf_counter()
            measures = judged(self.case, model, test, prepared)
            found.append((measures, spent, perf_counter() - start))
        return found

    def _result(self, method: str, trials: Sequence[Trial], alpha: float | None = None) -> Result:
        measures, training, testing = zip(*trials, strict=True)
        more: dict[str, Metric] = {"trials": len(trials), "examples": len(self.whole.ys)}
        if alpha is not None:
            more |= {"alpha": alpha, "restarts": self.searching.restarts}
        first_measure = next(iter(measures[0]))
        paper: Mapping[str, Metric] = dict(self.case.paper)
        if method != RGSA:
            own = IN_PAPER.get(self.case.name, {}).get(method)
            paper = {} if own is None else {first_measure: own}
        return Result(
            self.case.name,
            method,
            measures,
            float(np.mean(training)),
            float(np.mean(testing)),
            more,
            paper,
        )


def _rows(results: Sequence[Result], *, whole: bool) -> Iterator[Row]:
    for result in results:
        measures = {
            name: float(np.mean([trial[name] for trial in result.trials]))
            for name in result.trials[0]
        }
        metrics: dict[str, Metric] = {
            "case": result.case,
            **measures,
            "deviation": result.deviation,
            **result.more,
            "training_seconds": result.training_seconds,
            "testing_seconds": result.testing_seconds,
        }
        yield Row(result.method, metrics, result.paper if whole else {})


def _claims(results: Sequence[Result], *, whole: bool) -> Iterator[Claim]:
    by = {(result.case, result.method): result for result in results}
    for name in dict.fromkeys(result.case for result in results):
        drawn, likely = by[name, RGS0], by[name, RGSA]
        if whole and name in BARS:
            bar = float(likely.paper[likely.measure])
            yield Claim(
                f"{name}: RGS(α) reaches the paper's {bar:g}",
                likely.mean >= bar,
                f"{likely.mean:.2f} ± {likely.deviation:.2f} with α = "
                f"{likely.more['alpha']:g}, {likely.mean - bar:+.2f} points.",
            )
        if likely.more["alpha"] == 0:  # they are the same, and nothing can be claimed
            continue
        spread = 2 * np.sqrt(sum(r.deviation**2 / len(r.trials) for r in (drawn, likely)))
        yield Claim(
            f"{name}: RGS(α) is no worse than RGS(0), beyond noise",
            bool(likely.mean >= drawn.mean - NOISE - spread),
            f"{likely.mean:.2f} ± {likely.deviation:.2f} against {drawn.mean:.2f} ± "
            f"{drawn.deviation:.2f}, α = {likely.more['alpha']:g}.",
        )


def made_up_case(name: str) -> Case:
    """Few examples in place of a case: letters that go with labels, or labels in pairs."""
    if name == "yeast":
        points, labels = linked_labels(120, 6, 8, 0)
        xs: list[Any] = list(points)
        ys: list[Any] = list(labels)
        task: Any = MultiLabel(tuple("abcdef"))
    else:
        rng = np.random.default_rng(0)
        words = [rng.integers(0, 6, rng.integers(3, 7)) for _ in range(120)]
        xs = [tuple((f"letter{k}",) for k in word) for word in words]
        ys = [tuple("abc"[k % 3] for k in word) for word in words]
        task = Tagging(tuple("abc"), Templates(("letter",), ("bias", "letter[0]")))
    learned, validation, test = (Examples(xs[k : k + 40], ys[k : k + 40]) for k in (0, 40, 80))
    whole = Examples(xs[:80], ys[:80])
    learner = StructuredSVM(0.1, iterations=4)
    return Case(name, task, learner, {}, learned, validation, test, whole)
