"""Every study as small as it goes, run once on made-up data for all tests that look at it."""

import os
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple
from unittest import mock

from papers.base import Settings
from papers.chang2015 import cv, entity_relation, figure1, perceptron, scene
from papers.ma2019 import accuracy, alpha, hard, testtime, training
from papers.pan2018 import methods, stream
from papers.punyakanok2005 import conll04_learners, features
from papers.punyakanok2005 import synthetic as binary
from papers.records import Record
from papers.registry import EXPERIMENTS, run_experiment
from papers.samdani2012 import extraction, multilabel
from papers.samdani2012 import synthetic as linear
from papers.tour import methods as tour_methods

ALL_HARD = (*hard.NAMES, hard.BIBTEX)
TINY: dict[str, Any] = {
    "tour": tour_methods.Plan(train=40, unlabelled=40, test=30, iterations=2, restarts=3, epochs=2),
    "punyakanok2005-synthetic": binary.Plan(
        sizes=(5, 20), trials=2, dimensions=4, test=50, cycles=5
    ),
    "punyakanok2005-features": features.Plan(kept=(5, 50), trials=2, sentences=30, iterations=2),
    "conll04-learners": conll04_learners.Plan(
        train=60,
        dev=20,
        test=40,
        perceptron_iterations=3,
        svm_iterations=3,
        C=(0.1,),
        cost=(1.0, 2.0),
    ),
    "chang2015-er": entity_relation.Plan(
        related=15, everything=15, iterations=4, epsilons=(1.0, 3.0), gaps=(0.01, 0.1), sample=5
    ),
    "chang2015-perceptron": perceptron.Plan(sentences=20, iterations=3),
    "chang2015-scene": scene.Plan(train=30, test=30, iterations=10),
    "chang2015-figure1": figure1.Plan(sentences=50, iterations=10),
    "chang2015-cv": cv.Plan(sentences=20, folds=2, C=(0.05, 0.5), delta=1.0, iterations=12),
    "samdani2012-synthetic": linear.Plan(
        sizes=(5, 12), trials=2, C=(0.1, 1.0), delta=0.1, iterations=4, timed=1
    ),
    "samdani2012-multilabel": multilabel.Plan(
        20, 12, 14, labels=4, C=(0.1, 1.0), iterations=6, timed=2
    ),
    "samdani2012-extraction": extraction.Plan(
        sizes=(8,),
        trials=1,
        folds=1,
        dev=4,
        test=6,
        dev_lines=10,
        test_lines=20,
        train_lines=15,
        iterations={"Exact": 2, "Milp": 1, extraction.ROWS: 2, "Blocks": 2},
    ),
    "ma2019-accuracy": accuracy.QUICK,
    "ma2019-alpha": alpha.QUICK,
    "ma2019-testtime": testtime.Plan(
        {name: hard.Share(8, 6, iterations=2, restarts=2) for name in hard.NAMES},
        most=6,
        fixed=4,
        patiences=(1, 2),
        after=(1, 2, 4, 6),
    ),
    "ma2019-training": training.Plan(
        {name: hard.Share(8, 6, iterations=3) for name in ALL_HARD}, most=4
    ),
    "pan2018-speedup": {
        stream.SENTENCES: methods.Trial(
            stream.Share(150, 200, 4, (0.1,)),
            (1, 2),
            (0.03,),
            (0.0, 0.05, 5.0),
            (1, 2),
            epochs=2,
            runs=2,
        ),
        stream.CITATIONS: methods.Trial(stream.Share(12, 12, 1), (2,), (0.03,), epochs=1, runs=2),
    },
}
# Whose whole runs are not on made-up data, or always.
QUICK = ("ma2019-accuracy", "ma2019-alpha", "samdani2012-synthetic")


class Studied(NamedTuple):
    """A record, and what was told of the progress."""

    record: Record
    steps: list[tuple[int, int]]


def run_tiny(name: str, seed: int = 0) -> Studied:
    """A study under its tiny plan, without data sets."""
    steps: list[tuple[int, int]] = []
    tiny = replace(EXPERIMENTS[name], plan=lambda _: TINY[name])
    settings = Settings(quick=name in QUICK, seed=seed, progress=lambda *step: steps.append(step))
    without = {key: value for key, value in os.environ.items() if key != "ROTE_DATA"}
    with mock.patch.dict(os.environ, without, clear=True):
        return Studied(run_experiment(tiny, settings), steps)


studied = cache(run_tiny)
