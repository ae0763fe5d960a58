"""`argmax_presolve`: answers that need no search; what `Independent` shares is in `test_tables`."""

import numpy as np

from rote.engines import Exhaustive, FoundBy
from rote.inference.exact.independent import argmax_presolve
from rote.inference.problem import Problem
from tests.inference.outputs import built


def test_inputs_whose_best_labels_obey_the_rules_are_answered_and_the_others_named():
    space = built(2, rules=[lambda v: v[0]["a"] >> v[1]["b"]])
    problem = Problem(space, np.array([[1.0, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 2]]))
    seen, hard = argmax_presolve(problem)
    assert hard.tolist() == [0]
    assert seen.labels[1:].tolist() == Exhaustive().solve(space, problem).labels[1:].tolist()
    assert seen.value[1:].tolist() == [2.0, 3.0]
    assert (seen.source == FoundBy.ARGMAX).all()
