"""Settings that make no sense are refused before anything runs."""

import pytest

from papers.base import Settings, untold, unwatched
from rote import SettingError


def test_settings_have_defaults_and_nobody_need_watch():
    settings = Settings()
    assert (settings.quick, settings.trials, settings.seed) == (False, None, 0)
    assert settings.progress is unwatched
    assert unwatched(1, 2) is None
    assert settings.doing is untold
    assert untold("something") is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"trials": 1}, "two of them at least.*1"),
        ({"trials": 0}, "two of them at least.*0"),
        ({"seed": -1}, "seed is a whole number from 0"),
        ({"seed": 1.5}, "seed is a whole number from 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, said):
    with pytest.raises(SettingError, match=said):
        Settings(**wrong)


def test_cases_are_taken_in_the_order_of_the_experiment_and_all_without_any():
    names = ("a", "b", "c")
    assert Settings().among(names) == names
    assert Settings(cases=("c", "a")).among(names) == ("a", "c")
    with pytest.raises(SettingError, match="the cases are a, b, c; got 'd'"):
        Settings(cases=("a", "d")).among(names)
