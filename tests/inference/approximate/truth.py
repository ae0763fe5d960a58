"""What is true of every answer of a search, judged by looking at all outputs."""

import numpy as np
import pytest

from rote.engines import Status
from tests.strategies import Judge, known_value, row_of


def check_truth(space, problem, found, missing=()):
    """Labels obey, values and bounds are right, and optimal answers are the best.

    Inputs without an output are infeasible; those with one have an answer, unless statuses are
    given that say why it may be missing.
    """
    judge = Judge(space)
    for i in range(len(found)):
        scores, allowed = row_of(problem, i)
        outputs = judge.open_outputs(allowed)
        labels, status = tuple(found.labels[i].tolist()), found.status[i]
        best = max((known_value(space, scores, y) for y in outputs), default=-np.inf)
        tie = 1e-10 * max(1.0, abs(scores).max(initial=0))
        assert found.bound[i] >= best - tie
        if status in (Status.OPTIMAL, Status.FEASIBLE):
            assert labels in outputs
            value = known_value(space, scores, labels)
            assert found.value[i] == pytest.approx(value, abs=tie)
            assert status == Status.FEASIBLE or value >= best - 2 * tie
            continue
        assert set(labels) <= {-1}
        assert found.value[i] == -np.inf
        if status == Status.INFEASIBLE:
            assert not outputs
            assert found.bound[i] == -np.inf
        else:
            assert status in missing
