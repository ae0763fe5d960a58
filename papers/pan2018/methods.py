"""Who takes part in the experiment on speed-up classifiers, what is chosen, and how they are timed.

*What is chosen.* Of the steps that one with which answers agree best with the black box on held-out
training examples, and of thetas that lose no more than `LOSS` points there, beside the same search
that looks at everything, the one that skips most.
An input whose output is repaired has all of its features computed, and skips nothing.

*Time* is that of the processor, as in the paper: what else a machine does counts for little, and
threads gain nothing. Pieces of features are remembered by word, and a service meets inputs that are
new. So each method reads the test inputs, in each run, as if for the first time: what is remembered
then comes from the stream alone.

*One by one.* `Milp` keeps a relaxation warm from one input to the next, and few inputs need more.
So there is also the integer program that is built and solved anew for every input.

*Gurobi* takes part where it is installed and its licence allows most inputs. Those that are too
large for it are answered by `Exact`, which takes less time than Gurobi would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from gc import collect
from time import process_time
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from papers.chang2015.plain_mip import PlainMip
from papers.pan2018.stream import SENTENCES, Ready, Share
from papers.records import Metric
from rote import (
    Beam,
    ConstrainedBeam,
    Context,
    Engine,
    Exact,
    FoundBy,
    LearnedBeam,
    Milp,
    Model,
    Problem,
    RoteError,
    Solutions,
    Space,
    UnsupportedSpace,
    distill,
)
from rote.model import Dataset

HIGHS, GUROBI, BOX = "ILP (HiGHS)", "ILP (Gurobi)", "black box"
ONE_BY_ONE = "ILP (HiGHS, one by one)"
SEARCH, CONSTRAINED = "search", "constrained search"
LOSS = 0.2  # points that a theta may lose on held-out examples
EVERYTHING = 1e9  # a theta with which h decides nothing alone
SAMPLE = 500  # inputs of the stream that both Exact and the integer program solve
LICENSED = 0.9  # the share of inputs that Gurobi has to solve to take part
TABLE_2 = (0.0, 0.25, 0.5)  # thetas of the paper


@dataclass(frozen=True)
class Trial:
    """What is done of one case; a theta is chosen among ``thetas``, if there are any."""

    share: Share
    widths: tuple[int, ...]
    steps: tuple[float, ...]
    thetas: tuple[float, ...] = ()
    shown: tuple[int, ...] = ()  # widths that Table 2 is about
    epochs: int = 2
    runs: int = 5


class CustomSets(NamedTuple):
    """What held-out examples are in favour of, for one width."""

    step: float
    agreement: float  # with the black box
    was_feasible: float  # the share of outputs that obey before repair
    theta: float | None = None
    skipped: float = 0.0  # per cent of feature vectors that this theta leaves out


class Method(NamedTuple):
    """What is timed and judged; ``about`` stands in its row."""

    name: str
    engine: Engine
    about: Mapping[str, Metric] = MappingProxyType({})
    rules: bool = True  # whether it is told of rules


class Reached(NamedTuple):
    """What a method came to on test."""

    outputs: Sequence[Any]
    milliseconds: Sequence[float]  # of each run
    search_milliseconds: Sequence[float]
    validity_before: float
    validity: float
    skipped: float = 0.0


class Licensed(Engine):
    """Gurobi for the spaces that its licence allows, and `Exact` for the others."""

    def __init__(self) -> None:
        self.gurobi, self.refused = Milp(solver="gurobi"), set[Space]()

    def allows(self, space: Space) -> bool:
        """Whether Gurobi takes a space; what it does not take is remembered."""
        try:
            self.gurobi.solve(space, np.zeros((1, space.parts)))
        except UnsupportedSpace:
            self.refused.add(space)
        return space not in self.refused

    def answer(self, problem: Problem, context: Context) -> Solutions:
        engine: Engine = Exact() if problem.space in self.refused else self.gurobi
        return engine.answer(problem, context)


class OneByOne(Engine):
    """HiGHS on an integer program of every input, without regard to ties."""

    def answer(self, problem: Problem, context: Context) -> Solutions:
        labels = PlainMip(problem.space).labels(problem.scores)
        return Solutions.of(problem, labels, FoundBy.MILP)


def choose(case: Ready, width: int, stream: Dataset, trial: Trial, seed: int) -> CustomSets:
    """Look at held-out examples, with the black box that has not learned from them.

    The stream was made ready for that one.
    """
    box, (xs, ys) = case.trial, case.held_out
    prepared = box.prepare(xs)

    def outputs(engine: Engine) -> Sequence[Any]:
        return box.decode(xs, box.with_engine(engine).answers(prepared))

    by_box = outputs(box.engine)
    best: tuple[float, float, LearnedBeam] | None = None
    for step in trial.steps:
        speedup = LearnedBeam(box.engine, width, step=step)
        distill(box.with_engine(speedup), stream, epochs=trial.epochs, seed=seed)
        agreement = case.measures(by_box, outputs(speedup))[case.metric]
        if best is None or agreement > best[0]:
            best = agreement, step, speedup
    assert best is not None
    agreement, step, speedup = best
    was_feasible = _obeyed(speedup, problems(box, prepared))
    # A theta keeps the search from seeing answers at sight; a large one changes nothing else.
    bar = case.measures(ys, outputs(speedup.with_theta(EVERYTHING)))[case.metric] - LOSS
    enough: dict[float, float] = {}
    for theta in trial.thetas:
        lazy = speedup.with_theta(theta)
        if case.measures(ys, outputs(lazy))[case.metric] >= bar:
            enough[theta] = skipping(box.with_engine(lazy), xs)[1]
    if not enough:
        return CustomSets(step, agreement, was_feasible)
    theta = max(enough, key=lambda theta: enough[theta])
    return CustomSets(step, agreement, was_feasible, theta, enough[theta])


def problems(model: Model[Any, Any], prepared: Dataset) -> list[Problem]:
    """What engines are asked, space by space."""
    return [prepared.problem(model.weights, group) for group in prepared.groups]


def _obeyed(speedup: LearnedBeam, asked: Sequence[Problem]) -> float:
    """The share of outputs of the search that obey before repair."""
    is_feasible = [speedup.searched(problem.space, problem).is_feasible for problem in asked]
    return float(np.concatenate(is_feasible).mean())


def skipping(model: Model[Any, Any], xs: Sequence[Any]) -> tuple[float, float]:
    """The share of inputs that obey unrepaired, and the per cent of vectors never computed."""
    before, prepared = model.engine.stats.now(), model.prepare(xs)
    model.answers(prepared)
    broken = model.engine.stats["broken"] - before["broken"]
    return 1 - broken / len(xs), 100 * prepared.skipped


def gurobi_for(model: Model[Any, Any], xs: Sequence[Any]) -> tuple[Licensed | None, int]:
    """Gurobi, and how many inputs it solves; none if it is not there or has no such licence."""
    engine, allowed = Licensed(), 0
    try:
        for group in model.prepare(xs).groups:
            allowed += len(group) * engine.allows(group.space)
    except RoteError:
        return None, 0
    return (engine, allowed) if allowed >= LICENSED * len(xs) else (None, 0)


def plain_methods(case: Ready, gurobi: Licensed | None) -> Iterator[Method]:
    """Methods that learn nothing."""
    yield Method(HIGHS, Milp())
    if gurobi is not None:
        yield Method(GUROBI, gurobi)
    if case.name == SENTENCES:  # citations would take minutes
        yield Method(ONE_BY_ONE, OneByOne())
    yield Method(BOX, case.black_box.engine)
    yield Method(SEARCH, Beam(1), {"width": 1}, rules=False)
    yield Method(CONSTRAINED, ConstrainedBeam(1), {"width": 1})


def speedups(
    taught: Mapping[int, LearnedBeam], chosen: Mapping[int, CustomSets], trial: Trial
) -> Iterator[Method]:
    """All widths that look at everything, then those that do not."""
    for width, engine in taught.items():
        about = {"width": width, "step": chosen[width].step}
        yield Method(name_of(width), engine, about)
    for width, engine in taught.items():
        about = {"width": width, "step": chosen[width].step}
        for theta in TABLE_2 if width in trial.shown else ():
            name = name_of(width, f"theta = {theta:g}")
            yield Method(name, engine.with_theta(theta), {**about, "theta": theta})
        own = chosen[width].theta
        if own is not None:
            name = name_of(width, "theta chosen")
            yield Method(name, engine.with_theta(own), {**about, "theta": own})


def name_of(width: int, theta: str = "") -> str:
    """As rows call a speed-up."""
    return f"speed-up (b = {width}{', ' * bool(theta)}{theta})"


def in_turn(case: Ready, methods: Sequence[Method], runs: int) -> dict[str, Reached]:
    """Time all methods on test, each of them once in every run, and judge what they come to."""
    box, xs = case.black_box, case.test.xs
    prepared = box.prepare(xs)
    asked = problems(box, prepared)
    free = [problem.with_space(problem.space.without_rules()) for problem in asked]
    whole: dict[str, list[float]] = {method.name: [] for method in methods}
    alone: dict[str, list[float]] = {method.name: [] for method in methods}
    outputs: dict[str, Sequence[Any]] = {}
    for _ in range(runs + 1):
        for name, engine, _, rules in methods:
            model = having_read(box, case.stream).with_engine(engine)
            if not rules:
                model = model.without_rules()
            collect()  # or what others left behind is cleared away at the cost of whoever is next
            start = process_time()
            outputs[name] = model.predict(xs)
            whole[name].append(1e3 * (process_time() - start))
            start = process_time()
            for problem in asked if rules else free:
                engine.solve(problem.space, problem)
            alone[name].append(1e3 * (process_time() - start))
    found = {}
    for name, engine, *_ in methods:
        after = validity(box, xs, outputs[name])
        before, skipped = after, 0.0
        if isinstance(engine, LearnedBeam) and engine.theta is not None:
            before, skipped = skipping(box.with_engine(engine), xs)
        elif isinstance(engine, LearnedBeam):
            before = _obeyed(engine, asked)
        found[name] = Reached(
            outputs[name], whole[name][1:], alone[name][1:], before, after, skipped
        )
    return found


def having_read(model: Model[Any, Any], stream: Sequence[Any]) -> Model[Any, Any]:
    """The same model, which remembers words of the stream, and no others that were read."""
    indices = {kind: deepcopy(index) for kind, index in model.layout.indices.items()}
    forgetful = replace(model, layout=replace(model.layout, indices=indices))
    forgetful.prepare(stream)
    return forgetful


def validity(model: Model[Any, Any], xs: Sequence[Any], ys: Sequence[Any]) -> float:
    """The share of outputs that obey all rules."""
    task = model.task
    is_feasible = [
        bool(task.frame(x).space.holds(np.array([task.encode(x, y)]))[0])
        for x, y in zip(xs, ys, strict=True)
    ]
    return float(np.mean(is_feasible))


def differences(model: Model[Any, Any], stream: Dataset, seed: int) -> tuple[int, int]:
    """On how many inputs of the stream black box and integer program differ, of how many."""
    drawn = np.zeros(len(stream), dtype=np.bool_)
    drawn[np.random.default_rng(seed).permutation(len(stream))[:SAMPLE]] = True
    differ = 0
    for group in stream.groups:
        own = group.rows(drawn[group.members])
        if len(own):
            problem = stream.problem(model.weights, own)
            one, other = (e.solve(own.space, problem).labels for e in (model.engine, Milp()))
            differ += int((one != other).any(axis=1).sum())
    return differ, int(drawn.sum())
