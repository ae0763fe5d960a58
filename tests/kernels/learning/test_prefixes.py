"""Which prefix to learn from, against a naive look at every prefix."""

from __future__ import annotations

import numpy as np
import pytest

from rote.kernels.learning.prefixes import wrong_prefix
from rote.types import frozen
from tests.kernels.bodies import plain
from tests.kernels.parts import whole

BOTH = pytest.mark.parametrize(
    "run", [wrong_prefix, plain(wrong_prefix)], ids=["compiled", "plain"]
)


def naive(scores, starts, ends, gold, found, early):
    leads = []
    for k in range(max(ends, default=-1) + 1):
        inside = [s for s in range(len(ends)) if ends[s] <= k]
        if any(gold[s] != found[s] for s in inside):
            lead = sum(scores[starts[s] + found[s]] - scores[starts[s] + gold[s]] for s in inside)
            if lead >= 0:
                leads.append((lead, k))
    if not leads:
        return list(gold)
    most = max(lead for lead, _ in leads)
    chosen = leads[0][1] if early else next(k for lead, k in leads if lead == most)
    return [f if end <= chosen else g for g, f, end in zip(gold, found, ends, strict=True)]


@BOTH
@pytest.mark.parametrize("early", [True, False])
def test_the_prefix_is_that_of_a_naive_search(run, early):
    seen = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        variables = int(rng.integers(1, 6))
        # Slots of variables come first; factors end anywhere, in any order.
        ends = [*range(variables), *rng.integers(variables, size=rng.integers(4)).tolist()]
        widths = rng.integers(1, 4, size=len(ends))
        starts = np.cumsum([0, *widths])
        # Whole numbers: their sums are exact in any order, and ties occur.
        scores = rng.integers(-2, 3, size=starts[-1]).astype(np.float64)
        gold, found = ([int(rng.integers(w)) for w in widths] for _ in range(2))
        chosen = run(
            frozen(scores), whole(starts), whole(ends), whole(gold), whole(found), early
        ).tolist()
        assert chosen == naive(scores, starts, ends, gold, found, early)
        seen.add("gold" if chosen == gold else "whole" if chosen == found else "part")
    assert seen == {"gold", "whole", "part"}


@BOTH
def test_early_and_largest_differ_where_the_lead_grows(run):
    scores = frozen(np.array([0.0, 1.0, 0.0, 5.0, 3.0, 0.0]))
    shape = whole([0, 2, 4, 6]), whole([0, 1, 2])
    gold, found = whole([0, 0, 0]), whole([1, 1, 1])
    assert run(scores, *shape, gold, found, True).tolist() == [1, 0, 0]
    assert run(scores, *shape, gold, found, False).tolist() == [1, 1, 0]


@BOTH
def test_gold_itself_and_nothing_at_all_come_back(run):
    gold = whole([1, 0])
    scores = frozen(np.ones(4))
    assert run(scores, whole([0, 2, 4]), whole([0, 1]), gold, gold, True).tolist() == [1, 0]
    none = whole([])
    assert run(frozen(np.zeros(0)), whole([0]), none, none, none, False).tolist() == []
