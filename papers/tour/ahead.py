"""Kernels of the tour compiled ahead of it, by several processes at once.

Numba compiles one kernel at a time in a process, and keeps what it compiled on disk. So each errand
below runs one method on a few sentences in a process of its own; after that, everybody loads what
they left. Where all is there already, this takes as long as starting the processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from papers.tour.methods import Bench, Sentences
from rote import (
    RGS,
    Amortized,
    Decomposed,
    Engine,
    Exact,
    HammingBall,
    IndependentPerceptron,
    LearnedBeam,
    Learner,
    Milp,
    Perceptron,
    StructuredSVM,
    Timed,
    distill,
    fit,
)
from rote.datasets import english_sentences
from rote.types import FloatArray

FEW = 60  # sentences of each kind: of every shape there is one at least
MAX_PROCESSES = 4  # each takes some hundred megabytes


def errands() -> dict[str, Callable[[], None]]:
    """What compiles something that no other does, what takes longest first."""
    return {
        "Exact": lambda: _learn(Perceptron(2), Exact()),
        "certificates": lambda: _predict(Amortized(Milp(), admission="always")),
        "greedy search": lambda: _predict(RGS(restarts=2)),
        "repairs": lambda: _predict(LearnedBeam(Exact(), width=1)),
        "beams": _teach,
        "neighbourhoods": lambda: _learn(Perceptron(2), Decomposed(Exact(), HammingBall(2))),
        # Some candidates are dropped only after a few iterations.
        "dual descent": lambda: _learn(StructuredSVM(0.1, iterations=6), Exact(), rules=False),
        "single decisions": lambda: _predict(Exact(), rules=False),
    }


def compile_ahead(step: Callable[[], None]) -> None:
    """Run all errands; ``step`` is told of each that is done."""
    names = list(errands())
    processes = min(os.cpu_count() or 1, MAX_PROCESSES)
    if processes == 1 or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        for name in names:
            run_errand(name)
            step()
        return
    from joblib import Parallel, delayed

    at_once = Parallel(processes, return_as="generator_unordered", batch_size=1)
    for _ in at_once(delayed(run_errand)(name) for name in names):
        step()
    for name in names:  # this process too takes what the others have left on disk
        run_errand(name)


def run_errand(name: str) -> None:
    errands()[name]()


def _learn(learner: Learner, engine: Engine, *, rules: bool = True) -> None:
    bench = _bench(rules)
    fit(learner, bench.model.with_engine(engine), bench.learned)


def _predict(engine: Engine, *, rules: bool = True) -> None:
    bench = _bench()
    bench.predict(_weights(), engine, Timed(), rules=rules)


def _teach() -> None:
    bench = _bench(rules=False)
    model = bench.model.with_weights(_weights()).with_engine(LearnedBeam(Exact()))
    distill(model, bench.unlabelled, epochs=1)


@cache
def _bench(rules: bool = True) -> Bench:
    made = english_sentences(3 * FEW, 0)
    sentences = Sentences("", made[:FEW], made[FEW : 2 * FEW], made[2 * FEW :])
    return Bench(sentences, rules=rules)


@cache
def _weights() -> FloatArray:
    bench = _bench()
    return fit(IndependentPerceptron(2), bench.model, bench.learned).weights
