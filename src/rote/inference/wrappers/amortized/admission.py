"""When testing pays: the admission policy of the solution cache.

For every space the times of a test, of a solve, and of a solve after a test that failed, and the
share of tests that are hits, are measured as they go, the latest weighing most. Testing an input
gains, on average,

    time of a solve - share of failures x time of a solve after one - time of a test

While this is positive, every input is tested. While it is not, and before anything was tested,
inputs are solved at once but for a few: what testing has lost over all spaces may come to a
``SHARE`` of the time spent solving. So the inner engine is never slowed down by much more than
that, and a space for which testing begins to pay is found out.

Solving gets cheaper as weights settle, and where all are hits nobody would know. So now and then as
many inputs as were tested at once are solved at once: soon after the first tests, later the more
testing seems to save, and ever more seldom as long as that is seen to be true.
"""

from __future__ import annotations

from threading import Lock

from rote.space.space import Space

SHARE = 0.02
LATEST = 0.2  # the weight of the latest measurement
AFRESH = 0.5  # that of a solve after tests
FEW = 8  # inputs solved at once to find out what solving costs
FIRST = 2  # inputs tested to find out what testing costs
SOME = 32  # inputs tested at once where testing does not pay; a call costs something by itself
SOON, LATE = 2, 64  # batches tested after which one is solved at once, if both took as long
STRANGE = 4.0  # a solve that takes so many times the mean was interrupted
SECONDS, SECONDS_PER_PART = 3e-4, 3e-6  # of the first tests, as a guess
MAX_POLICIES = 1 << 16


class Budget:
    """What testing may still lose over all spaces, in seconds, and the policies that spend it.

    Policies are small, and those that were made last are kept.
    """

    def __init__(self) -> None:
        self.left = 0.0
        self._lock = Lock()
        # By fingerprint, which is smaller than a space.
        self._policies: dict[str, AdmissionPolicy] = {}
        # The same space is often asked again.
        self._latest: tuple[Space, AdmissionPolicy] | None = None

    def policy(self, space: Space) -> AdmissionPolicy:
        """The policy of a space."""
        latest = self._latest
        if latest is not None and latest[0] is space:
            return latest[1]
        with self._lock:
            found = self._policies.get(space.fingerprint)
            if found is None:
                found = self._policies[space.fingerprint] = AdmissionPolicy(space.parts, self)
                if len(self._policies) > MAX_POLICIES:
                    del self._policies[next(iter(self._policies))]
            self._latest = space, found
        return found


class AdmissionPolicy:
    """Whether to test the next inputs of one space."""

    def __init__(self, parts: int, budget: Budget) -> None:
        self.test = SECONDS + SECONDS_PER_PART * parts  # seconds per input
        self.solve: float | None = None
        self.failed = 0.0  # seconds of a solve after a test that failed
        self.hits = 0.5  # share of tests
        self._budget = budget
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
        if self._budget.left < self.test * min(inputs, SOME if self._tested else FIRST):
            return inputs, False
        return min(inputs, most, int(self._budget.left / self.test)), True

    def enter_solved(self, inputs: int, seconds: float) -> None:
        """Enter that the inner engine took so long for inputs that were not tested."""
        if not inputs:
            return
        self._budget.left += SHARE * seconds
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
        self._budget.left += SHARE * solving - max(0.0, seconds - hits * solve)
        self._tested += inputs
        self._last = inputs
        self._since += 1


def _mean(before: float, now: float, latest: float = LATEST) -> float:
    return before + latest * (now - before)
