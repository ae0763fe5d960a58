"""Minimal sets of rules: those that are enough to forbid something, those to leave out, and others.

Rules are known by their numbers here. A search is a generator, for whoever answers its questions
may answer those of many searches together. A *witness* is an output that some rules allow, known by
the rules that it breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from rote.inference.problem import Problem
from rote.space.builder import SpaceBuilder
from rote.space.quantifiers import any_of

Rules: TypeAlias = frozenset[int]
Result = TypeVar("Result")
Search: TypeAlias = Generator[Any, Any, Result]
NONE: Rules = frozenset()
TRIES = 5  # sets that are refuted, for each set that is looked for


class Clause(NamedTuple):
    """What a set has to obey: not all of some rules are in it, or one of others is."""

    all_of: Rules
    one_of: Rules


class SmallestSets(NamedTuple):
    """The sets that were found, the smallest first.

    ``complete`` is False where there may be more: a limit was reached.
    """

    found: tuple[Rules, ...]
    complete: bool

    def hit(self, limit: int) -> SmallestSets:
        """The minimal sets that have a rule of each of these; none where not all are known."""
        if not self.complete:
            return SmallestSets((), False)

        def refuted(some: Rules) -> Search[Clause | None]:
            missed = yield some
            return None if missed is None else Clause(NONE, missed)

        def missed(some: Rules) -> Rules | None:
            return next((each for each in self.found if not each & some), None)

        return run(smallest_sets(refuted, limit), missed)


def minimal_conflict(
    allowed: Rules, witness: Callable[[Rules], Search[Rules | None]]
) -> Search[Rules | None]:
    """A minimal set among some rules that has no witness; None where all of them have one.

    ``witness`` says what an output that obeys some rules breaks, or None. Few rules are asked about
    at a time: those that witnesses break are added until there is none.
    """
    kept = NONE
    while (broken := (yield from witness(kept))) is not None:
        if not broken & allowed:
            return None
        kept |= broken & allowed

    def needed(kept: Rules, added: bool, rules: list[int]) -> Search[Rules]:
        """A minimal part of ``rules`` that has no witness together with ``kept`` (QuickXplain)."""
        if not rules or (added and (yield from witness(kept)) is None):
            return NONE
        if len(rules) == 1:
            return frozenset(rules)
        first, second = rules[: len(rules) // 2], rules[len(rules) // 2 :]
        later = yield from needed(kept.union(first), True, second)
        return later | (yield from needed(kept | later, bool(later), first))

    found: Rules = yield from needed(NONE, False, sorted(kept))
    return found


def smallest_sets(
    refuted: Callable[[Rules], Search[Clause | None]], limit: int, most: int | None = None
) -> Search[SmallestSets]:
    """All sets of rules that are not refuted and have none of these sets inside.

    ``refuted`` says why a set is none of them, by a clause that it breaks and they all obey. Each
    set that is tried is a smallest one that obeys the clauses so far (implicit hitting sets). The
    search stops at ``limit`` sets, and before sets of more than ``most`` rules.
    """
    found: list[Rules] = []
    clauses: list[Clause] = []
    while (some := _smallest(clauses, found)) is not None:
        at_limit = len(found) == limit or len(clauses) == TRIES * limit
        if at_limit or (most is not None and len(some) > most):
            break
        clause = yield from refuted(some)
        if clause is None:
            found.append(some)
        else:
            clauses.append(clause)
    return SmallestSets(_in_order(found), some is None)


def _in_order(sets: Sequence[Rules]) -> tuple[Rules, ...]:
    """The smallest sets first."""
    return tuple(sorted(sets, key=lambda each: (len(each), sorted(each))))


def run(search: Search[Result], answer: Callable[[Any], Any]) -> Result:
    """What a search finds, where a function answers its questions."""
    try:
        question = next(search)
        while True:
            question = search.send(answer(question))
    except StopIteration as stop:
        found: Result = stop.value
        return found


def _smallest(clauses: Sequence[Clause], known: Sequence[Rules]) -> Rules | None:
    """A smallest set that obeys the clauses and has no known one inside; None where none does."""
    from rote.inference.exact.exact import Exact  # which explains infeasible spaces itself

    # What a set may not have, all of it, unless it has one of others.
    every = [*clauses, *(Clause(each, NONE) for each in known)]
    if Clause(NONE, NONE) in every:
        return None
    builder = SpaceBuilder()
    rules = sorted(NONE.union(*(clause.all_of | clause.one_of for clause in every)))
    chosen = {rule: builder.variable(str(rule), ("out", "in")) for rule in rules}
    for clause in every:
        builder.require(
            any_of(
                [chosen[rule]["out"] for rule in sorted(clause.all_of)],
                [chosen[rule]["in"] for rule in sorted(clause.one_of)],
            )
        )
    space = builder.build()
    scores = space.scores({str(rule): {"in": -1.0} for rule in rules})
    # A problem that closes labels, none here, is infeasible without an output, and no error.
    closed = ~Problem(space, scores).open_labels()
    labels = Exact().solve(space, Problem(space, scores, closed)).labels[0].tolist()
    if -1 in labels:
        return None
    return frozenset(rule for rule, label in zip(rules, labels, strict=True) if label)
