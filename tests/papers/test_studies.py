"""What every study keeps to: a record on made-up data, claims with evidence, settings refused."""

import pytest

from papers.base import Settings
from papers.records import read_record, write_record
from papers.registry import EXPERIMENTS, run_experiment
from rote import SettingError
from tests.papers.studies import TINY, run_tiny, studied

TIMED = ("seconds", "speedup", "speed_up", "ratio", "minutes", "percent", "hours")
REPEATED = ["punyakanok2005-synthetic", "conll04-learners", "chang2015-figure1", "tour"]
every_study = pytest.mark.parametrize("name", EXPERIMENTS)


def test_every_study_has_a_tiny_plan():
    assert TINY.keys() == EXPERIMENTS.keys()


@every_study
def test_a_run_leaves_a_record_from_which_its_figure_is_drawn(name, tmp_path):
    record = studied(name).record
    again = read_record(write_record(record, tmp_path))
    assert (again.rows, again.claims) == (record.rows, record.claims)
    assert record.rows
    draw = EXPERIMENTS[name].draw
    if draw is not None:
        figure = draw(again)
        assert all(axes.lines or axes.patches for axes in figure.axes)


@every_study
def test_claims_are_judged_by_numbers(name):
    claims = studied(name).record.claims
    assert claims
    for claim in claims:
        assert isinstance(claim.held, bool)
        assert any(character.isdigit() for character in claim.evidence)


@every_study
def test_the_papers_numbers_do_not_stand_beside_made_up_data(name):
    record = studied(name).record
    assert not any(row.paper for row in record.rows)
    assert record.settings["quick"] is record.settings["asked"]["quick"]


@every_study
def test_progress_rises_to_its_total(name):
    done, of = zip(*studied(name).steps, strict=True)
    assert list(done) == sorted(set(done))
    assert set(of) == {done[-1]}


@every_study
def test_trials_are_those_asked_for_or_refused(name):
    one = EXPERIMENTS[name]
    if one.one_trial:
        with pytest.raises(SettingError, match=f"{name} has one trial; leave trials out"):
            run_experiment(one, Settings(trials=3))
    else:
        assert "trials=3" in repr(one.plan(Settings(trials=3)))
        assert one.plan(Settings(quick=True)) == one.plan(Settings(quick=True, seed=7))


@pytest.mark.parametrize("name", [name for name, one in EXPERIMENTS.items() if one.cases])
def test_cases_there_are_not_are_refused_with_those_there_are(name):
    known = ", ".join(EXPERIMENTS[name].cases(EXPERIMENTS[name].plan(Settings())))
    with pytest.raises(SettingError, match=f"the cases are {known}; got 'moon'"):
        run_experiment(EXPERIMENTS[name], Settings(cases=("moon",)))


@pytest.mark.parametrize("name", REPEATED)
def test_the_same_seed_gives_the_same_numbers_but_for_times(name):
    def untimed(record):
        return [
            {key: value for key, value in row.metrics.items() if not key.endswith(TIMED)}
            for row in record.rows
        ]

    first = studied(name).record
    assert untimed(run_tiny(name).record) == untimed(first)
    if name == REPEATED[0]:
        assert untimed(run_tiny(name, seed=1).record) != untimed(first)
