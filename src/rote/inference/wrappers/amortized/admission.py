"""Knowing when to stay out of the way: testing pays, or it is not done.

On every shelf the times of a test, of a solve, and of a solve after a test that failed, and the
share of tests that are hits, are measured as they go, the latest weighing most. Testing an input
gains, on average,

    time of a solve - share of failures x time of a solve after one - time of a test

While this is positive, every input is tested. While it is not, and before anything was tested,
inputs are solved at once but for a few: what testing has lost on all shelves may come to a
``SHARE`` of the time spent solving. So the engine underneath is never slowed down by much more than
that, and a shelf on which testing begins to pay is found out.

Solving gets cheaper as weights settle, and where all are hits nobody would know. So now and then as
many inputs as were tested at once are solved at once: soon after the first tests, later the more
testing seems to save, and ever more seldom as long as that is seen to be true.
"""

from __future__ import annotations

from dataclasses import dataclass

SHARE = 0.02
LATEST = 0.2  # the weight of the latest measurement
AFRESH = 0.5  # that of a solve after tests
FEW = 8  # inputs solved at once to find out what solving costs
FIRST = 2  # inputs tested to find out what testing costs
SOME = 32  # inputs tested at once where testing does not pay; a call costs something by itself
SOON, LATE = 2, 64  # batches tested after which one is solved at once, if both took as long
STRANGE = 4.0  # a solve that takes so many times the mean was interrupted
SECONDS, SECONDS_PER_PART = 3e-4, 3e-6  # of the first tests, as a guess


@dataclass
class Budget:
    """What testing may still lose, in seconds; one for all shelves."""

    left: float = 0.0


class AdmissionPolicy:
    """The account of one shelf."""

    def __init__(self, parts: int, purse: Budget) -> None:
        self.test = SECONDS + SECONDS_PER_PART * parts  # seconds per input
        self.solve: float | None = None
        self.failed = 0.0  # seconds of a solve after a test that failed
        self.hits = 0.5  # share of tests
        self._purse = purse
        self._solved = False
        self._tested = 0  # inputs
        self._last = 0  # inputs that were tested last
        self._since = 0  # batches tested since inputs were solved at once
        self._wait = SOON

    def gain(self, solve: float) -> float:
        """What testing an input is expected to save, in seconds, if a solve takes so long."""
        return solve - (1 - self.hits) * max(self.failed, solve) - self.test

    def next(self, inputs: int) -> tuple[int, bool]:
        """How many of so many inputs to take next, and whether to test them."""
        if self.solve is None:
            return min(inputs, FEW), False
        if self._since and self._since >= self._wait * max(1.0, self.solve / self.test):
            return min(inputs, self._last), False
        most = max(FIRST, self._tested)  # not all, on the word of a few
        if self._tested and self.gain(self.solve) > 0:
            return min(inputs, most), True
        if self._purse.left < self.test * min(inputs, SOME if self._tested else FIRST):
            return inputs, False
        return min(inputs, most, int(self._purse.left / self.test)), True

    def enter_solved(self, inputs: int, seconds: float) -> None:
        """Enter that the engine underneath took so long for inputs that were not tested."""
        if not inputs:
            return
        self._purse.left += SHARE * seconds
        each = seconds / inputs
        if self.solve is not None:
            # What was measured before others were tested is old.
            latest = AFRESH if self._since else LATEST
            self.solve = _mean(self.solve, min(each, STRANGE * self.solve), latest)
        elif self._solved:  # the first time, kernels are compiled, and spaces made ready
            self.solve = each
        self._solved = True
        if self._since:
            self._wait = min(2 * self._wait, LATE) if self.gain(each) > 0 else SOON
        self._since = 0

    def enter_tested(self, inputs: int, hits: int, seconds: float, solving: float) -> None:
        """Enter that testing took so long, remembering included, and solving what failed."""
        solve, failures = self.solve or 0.0, inputs - hits
        if failures:
            each = solving / failures
            self.failed = _mean(self.failed, each) if self.failed else each
        if self._tested:
            self.test = _mean(self.test, seconds / inputs)
            self.hits = _mean(self.hits, hits / inputs)
        self._purse.left += SHARE * solving - max(0.0, seconds - hits * solve)
        self._tested += inputs
        self._last = inputs
        self._since += 1


def _mean(before: float, now: float, latest: float = LATEST) -> float:
    return before + latest * (now - before)
