"""Candidates of joint extraction: which of them are taken, so that their scores add up to the most.

A candidate is a span with an entity type, or a relation between two such candidates; a relation
that is taken has both of its ends taken. `CandidateRules` is what a schema says, worked out once
for all inputs. An input becomes linear rows over options, and an answer is exact and proved.

Rules only ever forbid, so a relation whose score is not above 0 is never taken, nor an entity with
such a score that no other relation needs; they are left out before any row is made. With a relation
that is taken its *companions* are there as well: the other way round where it is symmetric, and its
inverse. Companions that were not taken themselves have no score, and limits, types and acyclicity
hold for them.

That a relation is acyclic is said of pairs in both directions, and of longer cycles as soon as an
answer has one: what answers the question without them and has no cycle is the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.exact.presolve import answer_at_once
from rote.inference.solutions import Status
from rote.space.builder import SpaceBuilder
from rote.space.lowering import Rows

ALLOW, NESTED, DISALLOW = "allow", "nested", "disallow"  # what entities may overlap
REPEATED, DIRECTED, UNDIRECTED = 0, 1, 2  # how often a pair may have a relation
AT_ONCE = Exact()  # whose answers need no space


class Limit(NamedTuple):
    """At most so many relations of one head or tail, counted with others of the same group."""

    group: Hashable
    per_tail: bool
    most: int


class RelationRules(NamedTuple):
    """What is said of one relation."""

    heads: frozenset[str] | None = None  # None: any type
    tails: frozenset[str] | None = None
    loops: bool = True  # whether head and tail may be one candidate
    pairs: int = DIRECTED
    limits: tuple[Limit, ...] = ()
    acyclic: tuple[Hashable, ...] = ()  # the graphs without cycles that it is part of


class Entity(NamedTuple):
    """A candidate for an entity; one whose score is -inf is never taken."""

    start: int
    end: int
    type: str
    score: float


class Relation(NamedTuple):
    """A candidate for a relation, between two candidates for entities by their positions.

    Of those with an equal key in ``once`` one is taken at most. Those of one ``choice`` that are
    taken have equal alternatives.
    """

    head: int
    type: str
    tail: int
    score: float
    once: Sequence[Hashable] = ()
    choice: tuple[Hashable, Hashable] | None = None


@dataclass(frozen=True)
class Taken:
    """Which candidates are taken, what they add up to, and whether that is proved."""

    entities: list[int]
    relations: list[int]
    value: float
    status: Status


Companion = tuple[str, bool]  # a relation, and whether it leads the other way


@dataclass(frozen=True, eq=False)
class CandidateRules:
    """A schema: the rules of each relation by its name, and which are inverse.

    A relation that is linked with itself is symmetric.
    """

    rules_of: Callable[[str], RelationRules]
    overlap: str = DISALLOW
    links: tuple[tuple[str, str], ...] = ()
    _known: dict[str, tuple[tuple[Companion, ...], tuple[RelationRules, ...], bool]] = field(
        default_factory=dict
    )

    @cached_property
    def linked(self) -> frozenset[str]:
        """The relations that have companions."""
        return frozenset(name for both in self.links for name in both)

    def of(self, name: str) -> tuple[tuple[Companion, ...], tuple[RelationRules, ...], bool]:
        """A relation and its companions, the rules of each, and whether it can be there at all."""
        known = self._known.get(name)
        if known is None:
            companions = self.companions(name)
            rules = tuple(self.rules_of(other) for other, _ in companions)
            ways = defaultdict[Hashable, set[bool]](set)
            for (_, flipped), own in zip(companions, rules, strict=True):
                for graph in own.acyclic:
                    ways[graph].add(flipped)
            both_ways = any(len(each) > 1 for each in ways.values())
            known = self._known[name] = companions, rules, not both_ways
        return known

    def companions(self, name: str) -> tuple[Companion, ...]:
        """All that is there with a relation, itself first, and whether it leads the other way."""
        seen, waiting = {(name, False): None}, [(name, False)]
        while waiting:
            at, flipped = waiting.pop()
            for one, other in (*self.links, *((b, a) for a, b in self.links)):
                if one == at and (other, not flipped) not in seen:
                    seen[other, not flipped] = None
                    waiting.append((other, not flipped))
        return tuple(seen)

    def allow(self, entities: Sequence[Entity], relation: Relation) -> bool:
        """Whether a candidate may be there, with its companions."""
        companions, every, possible = self.of(relation.type)
        first, second = entities[relation.head], entities[relation.tail]
        if not possible or min(first.score, second.score) == -np.inf:
            return False
        for (_, flipped), rules in zip(companions, every, strict=True):
            head, tail = (second, first) if flipped else (first, second)
            if (
                (rules.heads is not None and head.type not in rules.heads)
                or (rules.tails is not None and tail.type not in rules.tails)
                or (relation.head == relation.tail and not (rules.loops and not rules.acyclic))
            ):
                return False
        return True


def best_candidates(
    rules: CandidateRules,
    entities: Sequence[Entity],
    relations: Sequence[Relation],
    engine: Engine = AT_ONCE,
) -> Taken:
    """The candidates that are taken."""
    kept = [j for j, each in enumerate(relations) if each.score > 0 and rules.allow(entities, each)]
    needed = {end for j in kept for end in (relations[j].head, relations[j].tail)}
    own = [i for i, each in enumerate(entities) if each.score > 0 or i in needed]
    scores = [entities[i].score for i in own] + [relations[j].score for j in kept]
    rows = _Rows(rules, len(scores))
    rows.overlap([entities[i] for i in own])
    rows.relate({i: k for k, i in enumerate(own)}, len(own), [relations[j] for j in kept])
    while True:
        yes, status = rows.answered(scores, engine)
        cycles = [cycle for arcs in rows.arcs.values() for cycle in _cycles(arcs, yes)]
        if not cycles:
            break
        for cycle in cycles:
            rows.at_most(len(cycle) - 1, sorted(cycle))
    found = sorted(yes)
    return Taken(
        [own[k] for k in found if k < len(own)],
        [kept[k - len(own)] for k in found if k >= len(own)],
        sum([scores[k] for k in found]),
        status,
    )


class _Rows:
    """Linear rows over options: weights of those that are taken add up to so much at most."""

    def __init__(self, rules: CandidateRules, options: int) -> None:
        self.rules = rules
        self.options = options
        self.members: list[int] = []  # the labels "yes" of options, by their positions
        self.weights: list[int] = []
        self.ptr = [0]
        self.most: list[int] = []
        self.arcs = defaultdict[Hashable, list[tuple[int, int, int]]](list)

    def add(self, most: int, members: Sequence[int], weights: Sequence[int]) -> None:
        """One row; its members are in order, each there once."""
        self.members += [2 * option + 1 for option in members]
        self.weights += weights
        self.ptr.append(len(self.members))
        self.most.append(most)

    def at_most(self, most: int, members: Sequence[int]) -> None:
        """At most so many of some options; one that is there twice counts twice."""
        if len(members) <= most:
            return
        once = dict.fromkeys(members)
        if len(once) == len(members):
            self.add(most, members, [1] * len(members))
        else:
            self.add(most, sorted(once), [members.count(each) for each in sorted(once)])

    def new(self) -> int:
        """One option more, which has no score."""
        self.options += 1
        return self.options - 1

    def any_of(self, members: Sequence[int], unless: Sequence[int] = ()) -> int:
        """An option that is taken if, and only if, one of some is, and none of others."""
        found = self.new()
        for each in members:
            weights = {each: 1, found: -1} | dict.fromkeys(unless, -1)
            self.add(0, sorted(weights), [weights[k] for k in sorted(weights)])
        self.add(0, [*members, found], [*[-1] * len(members), 1])
        for each in unless:
            self.add(1, [each, found], [1, 1])
        return found

    def overlap(self, entities: Sequence[Entity]) -> None:
        """What entities may overlap, which are the first options."""
        policy = self.rules.overlap
        spans = [(each.start, each.end) for each in entities]
        if policy == DISALLOW:  # of all that are over the first token of one of them
            for first in dict.fromkeys([start for start, _ in spans]):
                over = [k for k, (start, end) in enumerate(spans) if start <= first < end]
                self.at_most(1, over)
        elif policy == NESTED:
            for k, (start, end) in enumerate(spans):
                for other in range(len(spans)):
                    if start < spans[other][0] < end < spans[other][1]:
                        self.at_most(1, sorted((k, other)))

    def relate(self, number: dict[int, int], first: int, relations: Sequence[Relation]) -> None:
        """What relations need and what they exclude; their options are numbered from ``first``."""
        once = defaultdict[Hashable, list[int]](list)
        choices = defaultdict[Hashable, dict[Hashable, list[int]]](dict)
        edges = list[tuple[str, int, int, int]]()  # relations that are there: by which option
        linked = defaultdict[tuple[str, int, int], dict[int, bool]](dict)
        for option, (head, name, tail, _, keys, choice) in enumerate(relations, start=first):
            for end in {number[head], number[tail]}:
                self.add(0, [end, option], [-1, 1])
            companions, every, _ = self.rules.of(name)
            if every[0].pairs != REPEATED:
                turned = every[0].pairs == UNDIRECTED and head > tail
                once[(name, tail, head) if turned else (name, head, tail)].append(option)
            for key in keys:
                once["key", key].append(option)
            if choice is not None:
                choices[choice[0]].setdefault(choice[1], []).append(option)
            for (other, flipped), rules in zip(companions, every, strict=True):
                ends = (tail, head) if flipped else (head, tail)
                for graph in rules.acyclic:
                    self.arcs[graph].append((*ends, option))
                if not rules.limits:
                    continue
                if other in self.rules.linked:
                    of = linked[(other, *ends)]
                    of[option] = of.get(option, False) or (other, ends) == (name, (head, tail))
                else:
                    edges.append((other, *ends, option))
        for group in once.values():
            self.at_most(1, group)
        for alternatives in choices.values():
            if len(alternatives) > 1:
                self.at_most(1, [self.any_of(group) for group in alternatives.values()])
        edges += self.present(linked)
        self.limit(edges)
        for arcs in self.arcs.values():
            self.no_pair(arcs)

    def present(
        self, linked: dict[tuple[str, int, int], dict[int, bool]]
    ) -> Iterable[tuple[str, int, int, int]]:
        """Relations that may be companions.

        A companion is there if one that it comes with is taken, and no candidate of its own.
        """
        known = dict[tuple[tuple[int, ...], tuple[int, ...]], int]()
        for place, options in linked.items():
            own = tuple(option for option, mine in options.items() if mine)
            others = tuple(option for option, mine in options.items() if not mine)
            for option in own:
                yield (*place, option)
            if len(others) == 1 and not own:
                yield (*place, others[0])
            elif others:
                if (others, own) not in known:
                    known[others, own] = self.any_of(others, own)
                yield (*place, known[others, own])

    def limit(self, edges: Iterable[tuple[str, int, int, int]]) -> None:
        """At most so many relations per head or tail."""
        groups = defaultdict[tuple[Limit, int], list[int]](list)
        for name, head, tail, option in edges:
            for limit in self.rules.of(name)[1][0].limits:
                groups[limit, tail if limit.per_tail else head].append(option)
        for (limit, _), members in groups.items():
            self.at_most(limit.most, sorted(members))

    def no_pair(self, arcs: Iterable[tuple[int, int, int]]) -> None:
        """No two arcs lead against each other."""
        at = defaultdict[tuple[int, int], list[int]](list)
        for head, tail, option in arcs:
            at[head, tail].append(option)
        for (head, tail), options in at.items():
            for option in options if head < tail else ():
                for other in at.get((tail, head), ()):
                    self.at_most(1, sorted((option, other)))

    def answered(self, scores: Sequence[float], engine: Engine) -> tuple[set[int], Status]:
        """The options with a score that are taken, the first ones, and whether that is proved."""
        gains = [0.0] * (2 * self.options)
        gains[1 : 2 * len(scores) : 2] = scores
        labels = None
        if engine is AT_ONCE:
            column, ptr = np.array(self.members, np.int64), np.array(self.ptr, np.int64)
            weight, most = np.array(self.weights, np.float64), np.array(self.most, np.float64)
            rows = Rows(ptr, column, weight, np.full(len(most), -np.inf), most, len(gains), 0)
            labels = answer_at_once(rows, np.array(gains))
        if labels is not None:
            return {
                k for k, yes in enumerate(labels[: len(scores)].tolist()) if yes
            }, Status.OPTIMAL
        builder = SpaceBuilder()
        builder.options(map(str, range(self.options)))
        builder.require_rows(self.members, self.weights, self.ptr[:-1], at_most=self.most)
        found = engine.solve(builder.build(), np.array(gains))
        taken = np.flatnonzero(found.labels[0, : len(scores)] == 1)
        return set(taken.tolist()), Status(int(found.status[0]))


def _cycles(arcs: Sequence[tuple[int, int, int]], taken: set[int]) -> Iterable[set[int]]:
    """Cycles of arcs that are taken, no option in two of them."""
    left = [arc for arc in arcs if arc[2] in taken]
    while True:
        before = -1
        while before != len(left):  # what leads nowhere is in no cycle
            before, heads = len(left), {head for head, _, _ in left}
            left = [arc for arc in left if arc[1] in heads]
        if not left:
            return
        step = {head: (tail, option) for head, tail, option in left}
        node, path = left[0][0], dict[int, int]()
        while node not in path:
            path[node] = step[node][1]
            node = step[node][0]
        nodes = list(path)
        cycle = {path[each] for each in nodes[nodes.index(node) :]}
        yield cycle
        left = [arc for arc in left if arc[2] not in cycle]
