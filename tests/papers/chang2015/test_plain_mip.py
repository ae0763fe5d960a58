"""Plain integer programs: the right values, on problems that training has really met."""

import numpy as np
import pytest

from papers.chang2015.plain_mip import PlainMip, Problems, Sampler, sampled, timed
from papers.chang2015.shared import related_sentences, sentence_bench
from rote import Exact, SpaceBuilder, StructuredSVM
from rote.tasks.entity_relation import entity_relation_space

SVM = StructuredSVM(0.1, iterations=3, online_epochs=0)


@pytest.fixture(scope="module")
def bench():
    return sentence_bench(related_sentences(20, 0))


def random_problems(count):
    space = entity_relation_space(3)
    return Problems(space, np.random.default_rng(1).normal(size=(count, space.parts)))


def test_a_plain_call_finds_the_value_of_the_best_output():
    problems = random_problems(5)
    found = PlainMip(problems.space).values(problems.scores)
    assert found == pytest.approx(Exact().solve(*problems).value)


def test_a_sampler_answers_as_the_engine_and_keeps_all_while_there_is_room():
    problems = random_problems(6)
    sampler = Sampler(Exact(), 10, seed=0)
    answers = sampler.solve(*problems)
    assert np.array_equal(answers.labels, Exact().solve(*problems).labels)
    (kept,) = sampler.problems()
    assert kept.space is problems.space
    assert np.array_equal(kept.scores, problems.scores)


def test_a_sample_is_of_the_size_asked_for_and_without_preference():
    space = random_problems(1).space
    rows = np.zeros((40, space.parts))
    rows[:, 0] = np.arange(40)
    kept = np.zeros(40)
    for seed in range(300):
        sampler = Sampler(Exact(), 8, seed)
        sampler.solve(space, rows[:25])
        sampler.solve(space, rows[25:])
        (found,) = sampler.problems()
        assert len(np.unique(found.scores[:, 0])) == 8
        kept[found.scores[:, 0].astype(int)] += 1
    # Each is kept 60 times on average; four standard deviations are 28.
    assert kept.min() > 32
    assert kept.max() < 88


def test_problems_without_variables_are_not_kept():
    sampler = Sampler(Exact(), 5, seed=0)
    sampler.solve(SpaceBuilder().build(), np.zeros((3, 0)))
    assert sampler.problems() == []


def test_all_ways_are_timed_on_problems_of_a_training(bench):
    problems = sampled(bench, SVM, size=6, seed=0)
    assert sum(len(each.scores) for each in problems) == 6
    found = timed(problems)
    assert found.problems == 6
    assert min(found.plain, found.milp, found.amortized) > 0
    assert found.off < 1e-6
