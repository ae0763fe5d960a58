"""Knowing when to stay out of the way: testing pays, or it is not done.

On every shelf, the time of a test, the time of a solve and the share of tests that are hits are
measured as they go, the latest weighing most. Testing an input gains

    share of hits x time of a solve - time of a test

on average. While this is positive, every input is tested. While it is not, inputs are solved at
once, but for a few: what testing has lost on all shelves may come to a ``SHARE`` of the time spent
solving. So the engine underneath is never slowed down by much more than that, and a shelf on which
testing begins to pay is found out. Before anything is measured, a test is taken to cost so much
per part of the space, and to be a hit every other time. Where all are hits, an input is solved at
once now and then, so that what solving costs is known and not remembered.
"""

from __future__ import annotations

from dataclasses import dataclass

SHARE = 0.02
LATEST = 0.2  # the weight of the latest measurement
FEW = 8  # inputs solved at once to find out what solving costs
FIRST = 2  # inputs tested to find out what testing costs
SOME = 32  # inputs tested at once where testing does not pay; a call costs something by itself
AGAIN = 256  # inputs tested since the last solve after which one is solved at once
STRANGE = 4.0  # a solve that takes so many times the mean was interrupted
SECONDS, SECONDS_PER_PART = 5e-6, 3e-7  # of a test, as a first guess


@dataclass
class Purse:
    """What testing may still lose, in seconds; one for all shelves."""

    left: float = 0.0


class Thrift:
    """The account of one shelf."""

    def __init__(self, parts: int, purse: Purse) -> None:
        self.test = SECONDS + SECONDS_PER_PART * parts  # seconds per input
        self.solve: float | None = None
        self.hits = 0.5  # share of tests
        self._purse = purse
        self._solved = False
        self._tested = 0  # inputs
        self._since = 0  # inputs tested since the last solve

    def next(self, inputs: int) -> tuple[int, bool]:
        """How many of so many inputs to take next, and whether to test them."""
        if self.solve is None:
            return min(inputs, FEW), False
        if self._since >= AGAIN:
            return 1, False
        most = max(FIRST, self._tested)  # not all, on the word of a few
        if self.hits * self.solve > self.test:
            return min(inputs, most), True
        if self._purse.left < self.test * min(inputs, SOME):
            return inputs, False
        return min(inputs, most, int(self._purse.left / self.test)), True

    def enter_solved(self, inputs: int, seconds: float) -> None:
        """Enter that the engine underneath took so long."""
        if not inputs:
            return
        self._purse.left += SHARE * seconds
        each = seconds / inputs
        if self.solve is not None:
            self.solve = _mean(self.solve, min(each, STRANGE * self.solve))
        elif self._solved:  # the first time, kernels are compiled, and spaces made ready
            self.solve = each
        self._solved = True
        self._since = 0

    def enter_tested(self, inputs: int, hits: int, seconds: float) -> None:
        """Enter that testing took so long, remembering included."""
        if self._tested:
            self.test = _mean(self.test, seconds / inputs)
            self.hits = _mean(self.hits, hits / inputs)
            self._purse.left -= max(0.0, seconds - hits * (self.solve or 0.0))
        self._tested += inputs
        self._since += inputs


def _mean(before: float, now: float) -> float:
    return before + LATEST * (now - before)
