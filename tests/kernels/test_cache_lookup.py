"""Looking through what is remembered: against a plain argmax, and eq. (4) read part by part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.cache_lookup import Memory, best_remembered, first_that_holds, is_same
from rote.types import readonly
from tests.kernels.parts import whole

seeds = st.integers(0, 2**32 - 1)
NOTHING_CLOSED = readonly(np.empty((0, 0), dtype=np.bool_))


class Made:
    """Outputs over slots of a few parts each, entries with these outputs, and inputs.

    Scores are eighths of whole numbers: sums and differences of them have no rounding.
    """

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.rng = rng
        widths = rng.integers(1, 4, size=rng.integers(1, 5))
        self.slots = whole([0, *np.cumsum(widths)])
        self.variables = int(rng.integers(1, len(widths) + 1))  # the other slots are factors
        self.labels = int(self.slots[self.variables])
        outputs = int(rng.integers(0, 4))
        self.parts = whole(self.slots[:-1] + rng.integers(0, widths, size=(outputs, len(widths))))
        self.entries = int(rng.integers(1, 7)) if outputs else 0
        self.entry_scores = self.scores(self.entries)
        self.margins = rng.choice([-np.inf, 0.0, 0.125, 1.0, np.inf], size=self.entries)
        self.output_of = rng.integers(0, max(outputs, 1), size=self.entries)
        order = np.argsort(self.output_of, kind="stable")
        self.order = whole(order)
        self.ptr = whole(np.searchsorted(self.output_of[order], np.arange(outputs + 1)))

    @property
    def memory(self):
        scores, margins = readonly(self.entry_scores), readonly(self.margins)
        return Memory(self.parts, self.slots, scores, margins, self.ptr, self.order)

    def scores(self, m):
        return self.rng.integers(-12, 13, size=(m, int(self.slots[-1]))) / 8

    def near(self, m):
        """Scores like those of an entry, or of its kind with better or worse luck."""
        if not self.entries:
            return self.scores(m)
        p = self.rng.integers(self.entries, size=m)
        own = np.zeros((m, int(self.slots[-1])), np.bool_)
        for i, k in enumerate(self.output_of[p]):
            own[i, self.parts[k]] = True
        step = self.rng.integers(-1, 4, size=own.shape) / 8 * (self.rng.random(own.shape) < 0.5)
        return self.entry_scores[p] + np.where(own, step, -step)


@given(seeds, st.booleans())
def test_the_best_remembered_output_is_the_first_of_those_worth_most_that_are_open(seed, closing):
    made = Made(seed)
    m = 4
    scores = made.scores(m)
    closed = made.rng.random((m, made.labels)) < 0.3 if closing else NOTHING_CLOSED
    expected = []
    for i in range(m):
        values = [
            -np.inf
            if closing and any(closed[i, part] for part in own[: made.variables])
            else sum(scores[i, part] for part in own)
            for own in made.parts
        ]
        best = max(values, default=-np.inf)
        expected.append(-1 if best == -np.inf else values.index(best))
    found = best_remembered(readonly(scores), readonly(closed), made.parts, made.variables)
    assert found.tolist() == expected


def relative_to(scores, own, slots):
    """Scores less that of an output's own part in the same slot."""
    shifted = scores.copy()
    for s, part in enumerate(own):
        shifted[slots[s] : slots[s + 1]] -= scores[part]
    return shifted


def holds(scores, entry_scores, own, slots, epsilon, relative, absolute):
    """(2 z_p - 1)(c_p - c_q) <= ε |c_q|, all parts at once."""
    if relative:
        scores = relative_to(scores, own, slots)
        entry_scores = relative_to(entry_scores, own, slots)
    z = np.zeros(len(scores))
    z[own] = 1
    most = epsilon if absolute else epsilon * np.abs(scores)
    return bool(((2 * z - 1) * (entry_scores - scores) <= most).all())


@given(seeds, st.booleans(), st.booleans(), st.sampled_from([0.0, 0.25, 1.0, 8.0]))
def test_the_first_entry_that_meets_the_condition_is_found(seed, relative, absolute, epsilon):
    """Eq. (4), raw and relative; with ε = 0 only entries whose margin is above the least."""
    made = Made(seed)
    m = 5
    scores = np.concatenate([made.near(m - 1), made.scores(1)])
    outputs = made.rng.integers(-1, len(made.parts), size=m)
    least = made.rng.choice([0.0, 0.125, 0.5], size=m)
    each = np.where(made.rng.random(m) < 0.5, epsilon, 0.0)
    expected, sums = np.full(m, -1), np.zeros(m)
    for i, k in enumerate(outputs):
        if k < 0:
            continue
        own = made.parts[k]
        for p in made.order[made.ptr[k] : made.ptr[k + 1]]:
            if each[i] == 0 and not made.margins[p] > least[i]:
                continue
            if holds(scores[i], made.entry_scores[p], own, made.slots, each[i], relative, absolute):
                compared = relative_to(scores[i], own, made.slots) if relative else scores[i]
                slots = np.split(np.abs(compared), made.slots[1:-1])
                expected[i] = p
                sums[i] = np.abs(compared)[own].sum() + sum(slot.max() for slot in slots)
                if absolute:
                    sums[i] = 2 * len(slots)
                break
    limits = readonly(least), readonly(each)
    found, most = first_that_holds(
        readonly(scores), whole(outputs), made.memory, *limits, relative, absolute
    )
    assert found.tolist() == expected.tolist()
    assert most.tolist() == sums.tolist()


@pytest.mark.parametrize("relative", [False, True])
def test_every_part_must_meet_the_condition(relative):
    """One slot of three labels; the output has the second. Any part by itself can fail it."""
    entry = np.array([[1.0, 2.0, 0.5]])
    cases = {
        (1.0, 2.0, 0.5): True,  # the same
        (0.5, 3.0, 0.0): True,  # better where the output is, worse elsewhere
        (1.25, 2.0, 0.5): False,  # a label elsewhere got better
        (1.0, 2.0, 0.75): False,
        (1.0, 1.75, 0.5): False,  # the output's own got worse
    }
    for scores, expected in cases.items():
        found, _ = first_that_holds(
            readonly(np.array([scores])),
            whole([0]),
            Memory(
                whole([[1]]),
                whole([0, 3]),
                readonly(entry),
                readonly(np.ones(1)),
                whole([0, 1]),
                whole([0]),
            ),
            readonly(np.array([1e-10])),
            readonly(np.zeros(1)),
            relative,
            False,
        )
        assert (found[0] >= 0) == expected, scores


def test_scores_are_the_same_if_all_are():
    scores = np.array([[0.0, 1.0, 2.0], [-0.0, 1.0, 3.0]])
    for i in range(2):
        assert is_same(scores, i, scores[i : i + 1].copy())
        assert not is_same(scores, i, scores[1 - i : 2 - i].copy())
    assert is_same(scores, 0, np.array([[-0.0, 1.0, 2.0]]))
    for wrong in (np.zeros((1, 2)), np.zeros((2, 3))):
        with pytest.raises(ValueError, match="remembered"):
            is_same(scores, 0, wrong)
    with pytest.raises(ValueError, match="rows"):
        is_same(scores, 2, scores[:1].copy())
