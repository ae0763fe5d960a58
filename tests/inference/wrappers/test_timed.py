"""Time is measured, and nothing else changes."""

from time import sleep

import numpy as np

from rote.engines import Exact
from rote.inference.engine import Engine
from rote.inference.wrappers.timed import Timed
from rote.tasks.entity_relation import entity_relation_space

SPACE = entity_relation_space(2)
SCORES = np.random.default_rng(0).normal(size=(6, SPACE.parts))


class Slow(Engine):
    def answer(self, problem, context):
        sleep(0.02)
        return Exact().answer(problem, context)


def test_seconds_and_inputs_add_up():
    engine = Timed(Slow())
    assert engine.stats.now() == {"seconds": 0, "inputs": 0}
    engine.solve(SPACE, SCORES)
    engine.solve(SPACE, SCORES[:2])
    assert engine.stats["inputs"] == 8
    assert 0.04 <= engine.stats["seconds"] < 10
