"""Running an elimination, against enumeration."""

import numpy as np
import pytest
from hypothesis import given

from rote.inference.exact.plans import full_plan
from rote.inference.problem import Problem
from rote.kernels.dp.elimination import backward, eliminate, forward, max_marginals, total
from tests.strategies import Judge, problems, row_of, spaces


def naive_forward(steps, scores):
    """Entry by entry: the best sum over the candidates, and which it was."""
    work = np.concatenate([scores, np.full(int(steps.entry_ptr[-1]), -np.inf)])
    best = np.full(int(steps.entry_ptr[-1]), -1)
    for s, wide in enumerate(steps.width):
        at = int(steps.gather_ptr[s])
        for e in range(steps.entry_ptr[s], steps.entry_ptr[s + 1]):
            candidates = np.arange(steps.candidate_ptr[e], steps.candidate_ptr[e + 1])
            gather = steps.gather[at : at + len(candidates) * wide].reshape(-1, wide)
            at += gather.size
            sums = work[gather].sum(axis=1)
            if len(sums) and sums.max() > -np.inf:
                best[e] = candidates[sums.argmax()]
                work[steps.parts + e] = sums.max()
    return work, best


@given(problems(spaces(most=4), inputs=1))
def test_forward_fills_every_entry_with_its_best_candidate(problem):
    space, objective = problem
    steps = full_plan(space).steps
    expected, _ = naive_forward(steps, objective.scores[0])
    work = np.concatenate([objective.scores[0], np.empty(int(steps.entry_ptr[-1]))])
    best = np.empty(int(steps.entry_ptr[-1]), dtype=np.int64)
    forward(work, best, steps)
    assert work.tolist() == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-12)
    value = total(work, steps)
    optimum = Judge(space).best(objective.scores[0])
    if optimum is None:
        assert value == -np.inf
        return
    assert value == pytest.approx(optimum.value, rel=1e-12, abs=1e-9)
    labels = np.full(len(space.variables), -1)
    backward(labels, work, best, steps)
    assert space.value(objective.scores, labels)[0] == pytest.approx(optimum.value, abs=1e-9)


def arguments(space, objective):
    questions = Problem.of(space, objective).questions
    return questions, space.sizes, space.offsets, full_plan(space).steps


@given(problems(spaces(most=4), inputs=3))
def test_labels_are_the_first_of_the_best_and_margins_the_lead_over_the_second(problem):
    space, objective = problem
    labels, margins = eliminate(*arguments(space, objective))
    judge = Judge(space)
    for i in range(3):
        scores, allowed = row_of(objective, i)
        best, ranked = judge.best(scores, allowed), judge.ranked(scores, allowed)
        if best is None:
            assert (labels[i] == -1).all()
            continue
        assert tuple(labels[i].tolist()) == best.labels
        lead = ranked[0].value - ranked[1].value if len(ranked) > 1 else np.inf
        scale = 1e-9 * max(1.0, np.abs(scores).max(initial=0.0))
        assert margins[i] == pytest.approx(lead, abs=scale)


@given(problems(spaces(most=4), inputs=2))
def test_max_marginals_are_the_best_outputs_with_each_label(problem):
    space, objective = problem
    objective = Problem.of(space, objective)
    steps = full_plan(space).steps
    found = max_marginals(objective.questions, space.labels, steps)
    judge = Judge(space)
    for i in range(2):
        scores, allowed = row_of(objective, i)
        scale = 1e-9 * max(1.0, np.abs(scores).max(initial=0.0))
        assert found[i].tolist() == pytest.approx(judge.max_marginals(scores, allowed), abs=scale)
