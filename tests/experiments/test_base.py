"""Settings that make no sense are refused before anything runs."""

from __future__ import annotations

import pytest

from rote.errors import SettingError
from rote.experiments.base import Settings, unwatched


def test_settings_have_defaults_and_nobody_need_watch():
    settings = Settings()
    assert (settings.quick, settings.trials, settings.seed) == (False, None, 0)
    assert settings.progress is unwatched
    assert unwatched(1, 2) is None


@pytest.mark.parametrize("trials", [1, 0, -3])
def test_fewer_than_two_trials_are_refused(trials):
    with pytest.raises(SettingError, match=f"two of them at least.*{trials}"):
        Settings(trials=trials)


def test_a_negative_seed_is_refused():
    with pytest.raises(SettingError, match="seed"):
        Settings(seed=-1)
