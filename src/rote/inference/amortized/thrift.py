"""Knowing when to stay out of the way: testing pays, or it is not done.

On every shelf, the time of a test, the time of a solve and the share of tests that are hits are
measured as they go, the latest weighing most. Testing an input gains

    share of hits x time of a solve - time of a test

on average. While this is positive, every input is tested. While it is not, inputs are solved at
once, but for a few: what testing has lost may come to a ``SHARE`` of the time spent solving. So
the engine underneath is never slowed down by much more than that, and a shelf on which testing
begins to pay is found out.
"""

from __future__ import annotations

SHARE = 0.04
LATEST = 0.2  # the weight of the latest measurement
FEW = 32  # inputs tested together to find out what a test costs


class Thrift:
    """The account of one shelf."""

    def __init__(self) -> None:
        self.solve: float | None = None  # seconds per input
        self.test: float | None = None
        self.hits = 0.0  # share of tests
        self.allowance = 0.0  # seconds that may be lost
        self._begun = {"solve": False, "test": False}

    def quota(self, inputs: int) -> int:
        """How many of so many inputs to test."""
        if self.solve is None:
            return 0
        if self.test is not None and self.hits * self.solve > self.test:
            return inputs
        tried = min(inputs, FEW)  # a call costs something by itself, so never less at once
        if self.test is None:
            return tried
        return (
            min(inputs, int(self.allowance / self.test))
            if self.allowance > tried * self.test
            else 0
        )

    def solved(self, inputs: int, seconds: float) -> None:
        """Enter that the engine underneath took so long."""
        if not inputs:
            return
        self.allowance += SHARE * seconds
        self.solve = self._latest("solve", self.solve, seconds / inputs)

    def tested(self, inputs: int, hits: int, seconds: float) -> None:
        """Enter that testing took so long, remembering included."""
        if not inputs:
            return
        new = self._latest("test", self.test, seconds / inputs)
        if new is None:
            return  # nothing of the first time is entered: kernels were being compiled
        self.test = new
        self.hits += LATEST * (hits / inputs - self.hits)
        if self.solve is not None:
            self.allowance += min(0.0, hits * self.solve - seconds)
            self.allowance = max(self.allowance, -seconds)

    def _latest(self, what: str, before: float | None, now: float) -> float | None:
        """A running mean; the first measurement is left out, since kernels compile then."""
        if not self._begun[what]:
            self._begun[what] = True
            return before
        return now if before is None else before + LATEST * (now - before)
