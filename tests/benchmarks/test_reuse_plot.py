"""Seconds per query along a stream: what is asked, how it is smoothed, and what is drawn."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from benchmarks import reuse_plot
from benchmarks.reuse_plot import DAY, draw, measured, smooth


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse_plot, "SIDE", 4)


@pytest.mark.usefixtures("small")
def test_a_camera_that_turns_sends_a_picture_like_none_before() -> None:
    asked = reuse_plot.day(cameras=3, rounds=4, turns=1)
    assert [list(each.keys) for each in asked] == [[0], [1], [2]] * 4
    by_camera = [np.concatenate([each.scores for each in asked[c::3]]) for c in range(3)]
    jumps = sum(
        int(np.abs(later - earlier).mean() > 0.1 * np.abs(earlier).mean())
        for scores in by_camera
        for earlier, later in itertools.pairwise(scores)
    )
    assert jumps == 3  # one in each round but the first


@pytest.mark.usefixtures("small")
def test_every_query_is_timed_by_both(tmp_path: Path) -> None:
    alone, wrapped = times = measured(reuse_plot.day(cameras=2, rounds=3, turns=1))
    assert len(alone) == len(wrapped) == 6
    assert min(alone + wrapped) > 0
    draw(tmp_path / "plot.svg", {DAY: times})
    drawn = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert "Amortized(Exact())" in drawn
    assert "ms per query" in drawn


def test_a_point_is_the_mean_of_the_window_before_it() -> None:
    assert smooth([4.0, 2.0, 0.0, 6.0], 2).tolist() == [4.0, 3.0, 1.0, 3.0]
