"""Minimal sets of rules that forbid something, and minimal sets to leave out so that it is allowed.

"Forbidden" is a question about the rules that are kept; whatever it means, what some rules forbid
more rules forbid as well. A *conflict* is a minimal set of rules that forbids, a *correction* a
minimal set without which the others do not: corrections are the minimal hitting sets of conflicts.

The search knows rules by their numbers only. It is a generator: it yields the rules to keep and is
sent None where these forbid, or else a *witness*: the rules that one allowed output breaks.
Few rules are asked about at a time: those that witnesses broke are added until they forbid.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from rote.inference.problem import Problem
from rote.space.builder import SpaceBuilder
from rote.space.quantifiers import any_of

Rules: TypeAlias = frozenset[int]
Result = TypeVar("Result")
Search: TypeAlias = Generator[Rules, Rules | None, Result]
NONE: Rules = frozenset()


class MinimalSets(NamedTuple):
    """Conflicts and corrections, the smallest first.

    ``complete`` is False where there may be more: a limit was reached.
    """

    conflicts: tuple[Rules, ...]
    corrections: tuple[Rules, ...]
    complete: bool


class _Asked:
    """What is known already, so that it need not be asked again."""

    def __init__(self) -> None:
        self.conflicts: list[Rules] = []
        self.witnesses: list[Rules] = []

    def witness(self, kept: Rules) -> Search[Rules | None]:
        """What an output that obeys these rules breaks; None where they forbid all."""
        for broken in self.witnesses:
            if not broken & kept:
                return broken
        if any(conflict <= kept for conflict in self.conflicts):
            return None
        found = yield kept
        if found is not None:
            self.witnesses.append(found)
        return found

    def conflict_among(self, allowed: Rules) -> Search[Rules | None]:
        """A minimal conflict of some rules; None where they do not forbid."""
        kept = NONE
        while (broken := (yield from self.witness(kept))) is not None:
            if not broken & allowed:
                return None
            kept |= broken & allowed
        self.conflicts.append((yield from self._needed(NONE, False, sorted(kept))))
        return self.conflicts[-1]

    def _needed(self, kept: Rules, added: bool, rules: list[int]) -> Search[Rules]:
        """A minimal part of ``rules`` that forbids together with ``kept`` (QuickXplain)."""
        if (added and (yield from self.witness(kept)) is None) or not rules:
            return NONE
        if len(rules) == 1:
            return frozenset(rules)
        first, second = rules[: len(rules) // 2], rules[len(rules) // 2 :]
        later = yield from self._needed(kept.union(first), True, second)
        return later | (yield from self._needed(kept | later, bool(later), first))


def one_conflict(count: int) -> Search[Rules | None]:
    """A minimal conflict of so many rules, or None."""
    return _Asked().conflict_among(frozenset(range(count)))


def minimal_sets(count: int, limit: int, most: int | None = None) -> Search[MinimalSets]:
    """All conflicts and corrections among so many rules.

    It stops at ``limit`` conflicts or corrections, and before corrections of more than ``most``
    rules. Each correction to be tried is a smallest set that hits all known conflicts (implicit
    hitting sets): it is one, or there is a conflict among the other rules.
    """
    asked, every = _Asked(), frozenset(range(count))
    corrections: list[Rules] = []
    complete = True
    while (left_out := _smallest_hitting_set(asked.conflicts, corrections)) is not None:
        at_limit = max(len(asked.conflicts), len(corrections)) >= limit
        if at_limit or (most is not None and len(left_out) > most):
            complete = False
            break
        if (yield from asked.conflict_among(every - left_out)) is None:
            corrections.append(left_out)
    return MinimalSets(_in_order(asked.conflicts), _in_order(corrections), complete)


def run(search: Search[Result], witness: Callable[[Rules], Rules | None]) -> Result:
    """What a search finds, where a function answers its questions."""
    try:
        kept = next(search)
        while True:
            kept = search.send(witness(kept))
    except StopIteration as stop:
        found: Result = stop.value
        return found


def _in_order(sets: Sequence[Rules]) -> tuple[Rules, ...]:
    return tuple(sorted(sets, key=lambda each: (len(each), sorted(each))))


def _smallest_hitting_set(conflicts: Sequence[Rules], known: Sequence[Rules]) -> Rules | None:
    """The smallest set with a rule of each conflict that has no known one inside; None without."""
    from rote.inference.exact.exact import Exact  # which explains infeasible spaces itself

    if any(not each for each in (*conflicts, *known)):
        return None
    builder = SpaceBuilder()
    rules = sorted(frozenset().union(*conflicts))
    out = {rule: builder.variable(str(rule), ("keep", "leave out")) for rule in rules}
    for conflict in conflicts:
        builder.require(any_of(out[rule]["leave out"] for rule in sorted(conflict)))
    for correction in known:
        builder.require(any_of(out[rule]["keep"] for rule in sorted(correction)))
    space = builder.build()
    scores = space.scores({str(rule): {"leave out": -1.0} for rule in rules})
    # An input that could be closed: without an output it is infeasible, and no error.
    problem = Problem(space, scores, ~Problem(space, scores).open_labels())
    labels = Exact().solve(space, problem).labels[0]
    if rules and labels[0] < 0:
        return None
    return frozenset(rule for rule, label in zip(rules, labels.tolist(), strict=True) if label)
