"""Trials of citations and announcements, real and made up."""

import numpy as np
import pytest

from papers.data.examples import TaggedExample
from papers.samdani2012.corpora import (
    CITATIONS,
    SEMINARS,
    Amounts,
    lines_of,
    made_up_citation,
    made_up_line,
    trials_of,
)
from papers.samdani2012.fields import citations, seminars

FEW = Amounts((3, 30), trials=2, folds=2, dev=4, test=5, dev_lines=6, test_lines=7, train_lines=8)


@pytest.fixture
def made_up():
    return list(trials_of(FEW, 0))


def test_made_up_examples_obey_the_rules():
    rng = np.random.default_rng(5)
    for _ in range(50):
        assert citations().is_feasible(*made_up_citation(rng))
        assert seminars().is_feasible(*made_up_line(rng))


def test_made_up_trials_are_as_large_as_was_asked_for(made_up):
    small, large, lines = (CITATIONS, 3, 3), (CITATIONS, 30, 30), (SEMINARS, 8, 8)
    found = [(trial.corpus, trial.size, len(trial.train)) for trial in made_up]
    assert found == [small, small, large, lines, lines]
    assert {(len(trial.dev), len(trial.test)) for trial in made_up[:3]} == {(4, 5)}
    assert {(len(trial.dev), len(trial.test)) for trial in made_up[3:]} == {(6, 7)}


def test_made_up_trials_learn_from_others_and_are_judged_on_the_same(made_up):
    first, second, _, line, other = made_up
    assert first.train != second.train
    assert line.train != other.train
    assert first.test == second.test
    assert line.test == other.test


def test_lines_of_an_announcement_have_slots_for_labels():
    example = TaggedExample(
        (("Room", "3"), ("12", "3"), ("at", "4"), ("5", "4")),
        ("B-location", "I-location", "O", "B-stime"),
    )
    first, second = lines_of(example)
    assert first == ((("Room", "3"), ("12", "3")), ("location", "location"))
    assert second == ((("at", "4"), ("5", "4")), ("O", "stime"))


@pytest.mark.usefixtures("real_data")
def test_trials_are_samples_of_citations_all_of_them_and_folds_of_announcements():
    trials = list(trials_of(Amounts(), 0))
    sizes = [(trial.corpus, trial.size, len(trial.test)) for trial in trials]
    assert sizes[:6] == [(CITATIONS, 20, 100)] * 5 + [(CITATIONS, 300, 100)]
    assert [trial.size for trial in trials[6:]] == [25] * 2
    assert len({trial.train[0] for trial in trials[:5]}) > 1
