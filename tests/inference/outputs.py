"""A plain search over all outputs, and what it says of the answers of an engine.

It tries every combination of labels at once, as arrays: unlike the judge of `tests.strategies`
it relies on `Space.holds` and `Space.value`, and in return takes thousands of outputs.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rote.inference.problem import Problem
from rote.inference.solutions import Solutions, Source, Status
from rote.space import Space, SpaceBuilder


def outputs_of(space: Space, scores, allowed):
    """The values and the labels of all outputs that may be given, in lexicographic order."""
    labels = np.array(list(product(*(range(size) for size in space.sizes))), dtype=np.int64)
    labels = labels[space.holds(labels) & allowed[space.offsets[:-1] + labels].all(axis=1)]
    return space.value(np.repeat(scores[None], len(labels), axis=0), labels), labels


def best_of(outputs, scores):
    """The best value and the first labels within a tie of it; None without an output."""
    values, labels = outputs
    tie = 1e-10 * max(1.0, np.abs(scores).max(initial=0.0))
    if not len(labels):
        return None
    return values.max(), tuple(labels[np.argmax(values >= values.max() - tie)].tolist())


def feasible(space: Space) -> bool:
    """Whether any output obeys the rules."""
    everything = np.ones(space.labels, np.bool_)
    return len(outputs_of(space, np.zeros(space.parts), everything)[1]) > 0


def local_search(space: Space, scores) -> float:
    """What improving one variable at a time reaches without rules: below any bound."""
    labels = np.zeros(len(space.variables), dtype=np.int64)
    for _ in range(5):
        for j, size in enumerate(space.sizes):
            trials = np.repeat(labels[None], size, axis=0)
            trials[:, j] = np.arange(size)
            labels = trials[space.value(scores, trials).argmax()]
    return space.value(scores, labels)[0]


def random_scores(rng, shape):
    """Sometimes no ties, sometimes many, sometimes a third of a tie apart."""
    whole = rng.integers(-1, 2, size=shape).astype(float)
    kind = rng.integers(3)
    return (rng.normal(size=shape), whole, whole + 0.3e-10 * rng.integers(0, 3, size=shape))[kind]


def check_answers(space: Space, problem: Problem, found: Solutions, source: Source) -> None:
    """Every input has its best output, proved and by this source, or is said to have none."""
    for i, outputs in enumerate(_outputs_per_input(space, problem)):
        answer = best_of(outputs, problem.scores[i])
        if answer is None:
            assert (found.labels[i] == -1).all()
            assert found.value[i] == -np.inf
            assert found.status[i] == Status.INFEASIBLE
        else:
            assert tuple(found.labels[i]) == answer[1]
            assert found.value[i] == pytest.approx(answer[0], abs=1e-9)
            assert found.bound[i] == found.value[i]
            assert found.status[i] == Status.OPTIMAL
            assert found.source[i] == source


def check_max_marginals(space: Space, problem: Problem, found) -> None:
    """Every label has the value of the best output with it."""
    for i, (values, labels) in enumerate(_outputs_per_input(space, problem)):
        expected = np.full(space.labels, -np.inf)
        np.maximum.at(expected, space.offsets[:-1] + labels, values[:, None])
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


def check_nothing_is_answered(engine, space: Space) -> None:
    """No variables have one output, worth nothing; no inputs to a space have no answers."""
    empty = SpaceBuilder().build()
    found = engine.solve(empty, np.zeros((2, 0)))
    assert found.labels.shape == (2, 0)
    assert found.value.tolist() == [0.0, 0.0]
    assert found.status.tolist() == [Status.OPTIMAL] * 2
    found = engine.solve(space, np.zeros((0, space.parts)))
    assert found.labels.shape == (0, len(space.variables))
    assert found.value.shape == (0,)


def _outputs_per_input(space: Space, problem: Problem):
    for i, scores in enumerate(problem.scores):
        yield outputs_of(space, scores, problem.open_labels()[i])
