"""Time is measured, and nothing else changes."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import numpy as np

from rote.inference import Exact
from rote.inference.wrappers.timed import Timed
from rote.tasks.entity_relation import entity_relation_space

SPACE = entity_relation_space(2)
SCORES = np.random.default_rng(0).normal(size=(6, SPACE.parts))


class Slow:
    def solve(self, space, objective):
        sleep(0.02)
        return Exact().solve(space, objective)


def test_answers_are_those_of_the_engine():
    ours, theirs = (engine.solve(SPACE, SCORES) for engine in (Timed(), Exact()))
    assert ours.labels.tolist() == theirs.labels.tolist()
    assert ours.value.tolist() == theirs.value.tolist()


def test_seconds_and_inputs_add_up():
    engine = Timed(Slow())
    assert (engine.seconds, engine.inputs) == (0.0, 0)
    engine.solve(SPACE, SCORES)
    engine.solve(SPACE, SCORES[:2])
    assert engine.inputs == 8
    assert 0.04 <= engine.seconds < 10


def test_threads_lose_nothing():
    engine = Timed()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: engine.solve(SPACE, SCORES), range(40)))
    assert engine.inputs == 240


def test_copies_begin_anew():
    engine = Timed()
    engine.solve(SPACE, SCORES)
    sent = pickle.loads(pickle.dumps(engine))  # noqa: S301
    for other in (copy.deepcopy(engine), sent):
        assert (other.engine, other.seconds, other.inputs) == (Exact(), 0.0, 0)
