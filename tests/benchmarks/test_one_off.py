"""Spaces that are used once: two versions in turn on other problems each time, and the bars."""

import sys
from pathlib import Path

import pytest

from benchmarks import one_off_cases
from benchmarks.kernels import OLD, OURS, Turn, running
from benchmarks.one_off import EACH, SIZES, OneOffRow, bars_of, measure, share_of

ROOT = Path(__file__).parent.parent.parent


class Scripted:
    """A side that takes so long, in turn, and finds the same or something else."""

    def __init__(self, seconds, digest="same"):
        self.left, self.digest, self.asked = list(seconds), digest, []

    def turn(self, case):
        self.asked.append(case)
        return Turn(self.left.pop(0), self.digest)


def test_no_problem_comes_twice_and_the_first_turn_is_not_counted():
    sides = {OURS: Scripted([9.0, 1.0, 2.0, 3.0]), OLD: Scripted([9.0, 6.0, 8.0, 4.0])}
    ours, old = measure(sides, 10, 3)
    assert sides[OURS].asked == [f"10 {EACH * turn} {EACH}" for turn in range(4)]
    assert (ours.median_us, old.median_us) == (2e6, 6e6)
    assert (ours.ratio_to_ours, old.ratio_to_ours) == (1.0, 3.0)
    assert (ours.max_error, old.max_error) == (0.0, 0.0)
    assert ours.problems == 3 * EACH
    assert 0 < ours.presolve_share < 1
    assert 0 < ours.removed <= 1


def rows_of(ratios, error=0.0):
    return [
        OneOffRow(f"{size} variables", side, 1.0, number, error, 1, None, None)
        for size, ratio in zip(SIZES, ratios, strict=True)
        for side, number in ((OURS, 1.0), (OLD, ratio))
    ]


@pytest.mark.parametrize(
    ("ratios", "met"),
    [([5, 6, 7, 8, 9], [True] * 5), ([4.9, 6, 7, 3, 9], [False, True, True, False, True])],
)
def test_every_size_has_a_bar(ratios, met):
    *sizes, answers = bars_of(rows_of(ratios))
    assert [bar.met for bar in sizes] == met
    assert answers.met
    assert not bars_of(rows_of(ratios, error=1.0))[-1].met


def test_a_process_answers_some_problems_and_shares_are_shares():
    path = [ROOT / "src", ROOT]
    with running(Path(sys.executable), path, one_off_cases.__file__) as side:
        first, second = side.turn("10 0 2"), side.turn("10 0 2")
    assert first.digest == second.digest
    assert second.seconds > 0
    assert 0 <= share_of(20, 1).variables <= 1
