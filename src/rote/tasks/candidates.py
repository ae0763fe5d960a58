"""Candidates of joint extraction: which of them are taken, so that their scores add up to the most.

A candidate is a span with an entity type, or a relation between two such candidates; a relation
that is taken has both of its ends taken. `CandidateRules` is what a schema says, as arrays and once
for all inputs. An input becomes rules in bulk over options, and an answer is exact and proved.

Rules only ever forbid, so a relation whose score is not above 0 is never taken, nor an entity with
such a score that no other relation needs; they are left out before any rule is said. With a
relation that is taken its *companions* are there as well: the other way round where it is
symmetric, and its inverse. Companions that were not taken themselves have no score, and limits,
types and acyclicity hold for them.

That a relation is acyclic is said of pairs in both directions, and of longer cycles as soon as an
answer has one: what answers the question without them and has no cycle is the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rote.inference.engine import Engine
from rote.inference.solutions import Status
from rote.space.builder import SpaceBuilder
from rote.types import BoolArray, FloatArray, IntArray, joined, offsets_from_counts

REPEATED, DIRECTED, UNDIRECTED = 0, 1, 2  # how often a pair may have a relation
ALLOW, NESTED, DISALLOW = "allow", "nested", "disallow"  # what entities may overlap
_NAMES: list[str] = []


@dataclass(frozen=True, eq=False)
class Limit:
    """At most so many relations per head or tail, of each kind or of several kinds together."""

    per_tail: bool
    relations: BoolArray  # which ones count
    together: bool
    most: int


@dataclass(frozen=True, eq=False)
class CandidateRules:
    """What a schema says of candidates whose types and relations are numbers."""

    heads: BoolArray  # (relations, types): what a head may be
    tails: BoolArray
    loops: BoolArray  # per relation: whether head and tail may be one candidate
    pairs: IntArray  # per relation: REPEATED, or how a pair has it once at most
    limits: tuple[Limit, ...] = ()
    companions: tuple[tuple[tuple[int, bool], ...], ...] = ()  # per relation, itself first
    acyclic: tuple[BoolArray, ...] = ()  # which relations together have no cycle
    overlap: str = DISALLOW


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of one input."""

    start: IntArray  # per entity
    end: IntArray
    type: IntArray
    score: FloatArray  # -inf: never taken
    head: IntArray  # per relation: an entity
    tail: IntArray
    relation: IntArray
    gain: FloatArray
    exclusive: tuple[IntArray, ...] = ()  # at most one relation of each number; -1 has none
    choice: IntArray | None = None  # relations of one choice are of one alternative; -1 is free
    alternative: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Taken:
    """Which candidates are taken, what they add up to, and whether that is proved."""

    entities: IntArray
    relations: IntArray
    value: float
    status: Status
    rounds: int  # how often cycles were looked for


@dataclass(frozen=True, eq=False)
class _Present:
    """The relations that come with candidates: what, from where to where, with whom."""

    relation: IntArray
    head: IntArray
    tail: IntArray
    by: IntArray  # the candidate
    own: BoolArray  # it is the candidate itself, and no companion


def companions_of(
    relations: int, links: Sequence[tuple[int, int]]
) -> tuple[tuple[tuple[int, bool], ...], ...]:
    """All that is there with each relation, itself first, and whether it leads the other way.

    Two relations that are linked are inverse; one that is linked with itself is symmetric.
    """
    near = defaultdict[int, list[int]](list)
    for one, other in links:
        near[one].append(other)
        near[other].append(one)
    found = []
    for relation in range(relations if links else 0):
        seen = {(relation, False): None}
        waiting = list(seen)
        while waiting:
            at, flipped = waiting.pop()
            for other in near[at]:
                if (other, not flipped) not in seen:
                    seen[other, not flipped] = None
                    waiting.append((other, not flipped))
        found.append(tuple(seen))
    return tuple(found)


def best_candidates(rules: CandidateRules, given: Candidates, engine: Engine) -> Taken:
    """The candidates that are taken."""
    present = _present(rules, given)
    kept = np.unique(present.by) if rules.companions else present.by
    useful = given.score > 0
    useful[given.head[kept]] = useful[given.tail[kept]] = True
    entities, number = np.flatnonzero(useful), np.cumsum(useful) - 1
    n, count = len(entities), len(entities) + len(kept)

    builder = SpaceBuilder()
    at = builder.options(_names(count)).positions
    option = np.empty(len(given.gain), np.int64)  # of relations
    option[kept] = at[n:]
    rows = _Rows(builder)
    rows.imply(option[kept], at[number[given.head[kept]]])
    rows.imply(option[kept], at[number[given.tail[kept]]])
    _say_overlap(rows, rules.overlap, given.start[entities], given.end[entities], at)
    _say_pairs(rows, rules, given, kept, option)
    for numbers in given.exclusive:
        one = kept[numbers[kept] >= 0]
        rows.count(numbers[one], option[one], 1)
    _say_choices(rows, given, kept, option)
    _say_limits(rows, rules, present, option)
    arcs = [_Arcs.of(present, mask) for mask in rules.acyclic]
    for each in arcs:
        rows.count(*each.opposite(option), 1)
    rows.say()

    rounds = 0
    while True:
        rounds += 1
        space = builder.build()
        scores = np.zeros((1, space.parts))
        scores[0, at[:n]], scores[0, at[n:]] = given.score[entities], given.gain[kept]
        found = engine.solve(space, scores)
        yes = found.labels[0, :count] == 1
        taken = kept[yes[n:]]
        cycles = [option[cycle] for each in arcs for cycle in each.cycles(taken)]
        if not cycles:
            break
        builder.require_counts(cycles, at_most=[len(cycle) - 1 for cycle in cycles])
    status = Status(int(found.status[0]))
    return Taken(entities[yes[:n]], taken, float(found.value[0]), status, rounds)


def _names(count: int) -> list[str]:
    while len(_NAMES) < count:
        _NAMES.append(str(len(_NAMES)))
    return _NAMES[:count]


def _present(rules: CandidateRules, given: Candidates) -> _Present:
    """What comes with the candidates that may help, but for those that the schema rules out."""
    there = given.score > -np.inf
    by = np.flatnonzero((given.gain > 0) & there[given.head] & there[given.tail])
    relation, head, tail = given.relation[by], given.head[by], given.tail[by]
    own = np.ones(len(by), np.bool_)
    if rules.companions:
        counts = np.array([len(each) for each in rules.companions], np.int64)
        first = offsets_from_counts(counts)
        every = np.array([both for each in rules.companions for both in each], np.int64)
        own_start = offsets_from_counts(counts[relation])
        place = np.repeat(np.arange(len(by)), counts[relation])
        which = first[relation[place]] + np.arange(len(place)) - own_start[place]
        own = np.zeros(len(place), np.bool_)
        own[own_start[:-1]] = True
        flipped = every[which, 1] == 1
        relation, by, head, tail = every[which, 0], by[place], head[place], tail[place]
        head, tail = np.where(flipped, tail, head), np.where(flipped, head, tail)
    right = rules.heads[relation, given.type[head]] & rules.tails[relation, given.type[tail]]
    right &= rules.loops[relation] | (head != tail)
    wrong = by[~right]
    found = _Present(relation, head, tail, by, own)
    if rules.companions:  # a candidate whose companions lead both ways is a cycle by itself
        for mask in rules.acyclic:
            arcs = _Arcs.of(found, mask)
            wrong = np.concatenate([wrong, arcs.by[arcs.pairs[0]][arcs.same]])
    if not len(wrong):
        return found
    kept = ~np.isin(by, wrong)
    return _Present(relation[kept], head[kept], tail[kept], by[kept], own[kept])


class _Rows:
    """Rows over options, collected for one table; a row is what has the same number in a call."""

    def __init__(self, builder: SpaceBuilder) -> None:
        self.builder = builder
        self.codes: list[IntArray] = []
        self.members: list[IntArray] = []
        self.weights: list[IntArray] = []
        self.most: list[IntArray] = []
        self.next = 0

    def add(self, code: IntArray, members: IntArray, weights: IntArray, most: int) -> None:
        """Weights of options that are taken add up to at most so much."""
        if len(code):
            self.codes.append(code + self.next)
            self.members.append(members)
            self.weights.append(weights)
            self.most.append(np.full(len(code), most))
            self.next += int(code.max()) + 1

    def count(self, code: IntArray, members: IntArray, most: int) -> None:
        """At most so many options of each group."""
        self.add(code, members, np.ones(len(code), np.int64), most)

    def imply(self, first: IntArray, then: IntArray) -> None:
        """``first[k]`` is taken only if ``then[k]`` is."""
        code = np.repeat(np.arange(len(first)), 2)
        members = np.stack([then, first], axis=1).ravel()
        self.add(code, members, np.tile(np.array([-1, 1]), len(first)), 0)

    def define(self, at: IntArray, number: IntArray, options: IntArray) -> None:
        """The option ``at[k]`` is taken if, and only if, one of those with this number is."""
        self.imply(options, at[number])
        both = np.concatenate([number, np.arange(len(at))])
        weights = np.concatenate([np.full(len(number), -1), np.ones(len(at), np.int64)])
        self.add(both, np.concatenate([options, at]), weights, 0)

    def say(self) -> None:
        """Have the builder require them, but for counts that no output breaks."""
        codes, members, weights, most = map(
            joined, (self.codes, self.members, self.weights, self.most)
        )
        order = np.argsort(codes, kind="stable")
        codes, members, weights, most = codes[order], members[order], weights[order], most[order]
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        if not len(first):
            return
        binding = np.add.reduceat(np.maximum(weights, 0), first) > most[first]
        sizes = np.diff(first, append=len(codes))
        kept = np.repeat(binding, sizes)
        starts = offsets_from_counts(sizes[binding])[:-1]
        ends = most[first[binding]]
        self.builder.require_rows(members[kept], weights[kept], starts, at_most=ends)


def _say_overlap(rows: _Rows, policy: str, start: IntArray, end: IntArray, at: IntArray) -> None:
    if policy == DISALLOW:  # of all that are over the first token of one of them
        firsts = np.unique(start)
        group, member = np.nonzero((start <= firsts[:, None]) & (firsts[:, None] < end))
        rows.count(group, at[member], 1)
    elif policy == NESTED:
        one, other = start[:, None], end[:, None]
        pairs = np.argwhere((one < start) & (start < other) & (other < end))
        rows.count(np.repeat(np.arange(len(pairs)), 2), at[pairs.ravel()], 1)


def _say_pairs(
    rows: _Rows, rules: CandidateRules, given: Candidates, kept: IntArray, option: IntArray
) -> None:
    """A pair has a relation once at most."""
    relation, head, tail = given.relation[kept], given.head[kept], given.tail[kept]
    how, n = rules.pairs[relation], len(given.score)
    turned = (how == UNDIRECTED) & (head > tail)
    head, tail = np.where(turned, tail, head), np.where(turned, head, tail)
    once = how != REPEATED
    rows.count(((relation * n + head) * n + tail)[once], option[kept[once]], 1)


def _say_choices(rows: _Rows, given: Candidates, kept: IntArray, option: IntArray) -> None:
    """Relations of one choice are of one alternative: an option for each alternative."""
    if given.choice is None or given.alternative is None:
        return
    some, width = kept[given.choice[kept] >= 0], int(given.alternative.max(initial=0)) + 1
    both, of = np.unique(given.choice[some] * width + given.alternative[some], return_inverse=True)
    choice = both // width
    several = np.bincount(choice)[choice] > 1 if len(both) else np.zeros(0, np.bool_)
    if several.any():
        at = rows.builder.options(f"alternative {k}" for k in range(several.sum())).positions
        number, real = np.cumsum(several) - 1, several[of]
        rows.define(at, number[of[real]], option[some[real]])
        rows.count(choice[several], at, 1)


def _say_limits(rows: _Rows, rules: CandidateRules, present: _Present, option: IntArray) -> None:
    """At most so many relations per head or tail, companions included."""
    if not rules.limits:
        return
    edges = present.relation, present.head, present.tail, option[present.by]
    if not present.own.all():
        edges = _edges(rows, present, option)
    relation, head, tail, at = edges
    for limit in rules.limits:
        counted = limit.relations[relation]
        side = (tail if limit.per_tail else head)[counted]
        if not limit.together:
            side = side * len(limit.relations) + relation[counted]
        rows.count(side, at[counted], limit.most)


def _edges(
    rows: _Rows, present: _Present, option: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Relations that are there, candidates and companions, each with an option that says so.

    A companion is there if one of those it comes with is taken and no candidate of its own.
    """
    places = defaultdict[tuple[int, ...], dict[tuple[int, bool], None]](dict)
    columns = (present.relation, present.head, present.tail, option[present.by], present.own)
    for relation, head, tail, at, own in zip(*(c.tolist() for c in columns), strict=True):
        places[relation, head, tail][at, own] = None
    edges, joint = [], dict[tuple[tuple[int, ...], tuple[int, ...]], list[tuple[int, ...]]]()
    for place, ways in places.items():
        own = tuple(at for at, mine in ways if mine)
        others = tuple(at for at, mine in ways if not mine and at not in own)
        edges += [(*place, at) for at in own]
        if len(others) == 1 and not own:
            edges.append((*place, others[0]))
        elif others:
            joint.setdefault((own, others), []).append(place)
    at = rows.builder.options(f"companion {k}" for k in range(len(joint))).positions
    for companion, ((own, others), where) in zip(at.tolist(), joint.items(), strict=True):
        edges += [(*place, companion) for place in where]
        one = others
        code = np.repeat(np.arange(len(one)), len(own) + 2)
        members = np.array([[*own, other, companion] for other in others])
        weights = np.array([*[-1] * len(own), 1, -1])
        rows.add(code, members.ravel(), np.tile(weights, len(one)), 0)
        code, members = np.zeros(len(one) + 1, np.int64), np.array([*others, companion])
        rows.add(code, members, np.array([*[-1] * len(one), 1]), 0)
        code = np.repeat(np.arange(len(own)), 2)
        rows.count(code, np.array([[mine, companion] for mine in own], np.int64).ravel(), 1)
    found = np.array(edges, np.int64).reshape(-1, 4)
    return found[:, 0], found[:, 1], found[:, 2], found[:, 3]


@dataclass(frozen=True, eq=False)
class _Arcs:
    """The arcs of a graph that has no cycle, each there by a candidate."""

    head: IntArray
    tail: IntArray
    by: IntArray

    @classmethod
    def of(cls, present: _Present, mask: BoolArray) -> _Arcs:
        here = mask[present.relation]
        return cls(present.head[here], present.tail[here], present.by[here])

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Arcs against each other, each two once."""
        n = int(max(self.head.max(initial=0), self.tail.max(initial=0))) + 1
        code, back = self.head * n + self.tail, self.tail * n + self.head
        order = np.argsort(code)
        low, high = (np.searchsorted(code[order], back, side) for side in ("left", "right"))
        counts = np.where(self.head < self.tail, high - low, 0)
        first = np.repeat(np.arange(len(code)), counts)
        behind = np.arange(len(first)) - np.repeat(offsets_from_counts(counts)[:-1], counts)
        return first, order[low[first] + behind]

    @property
    def same(self) -> BoolArray:
        """Which pairs are there by one candidate."""
        return self.by[self.pairs[0]] == self.by[self.pairs[1]]

    def opposite(self, option: IntArray) -> tuple[IntArray, IntArray]:
        """Pairs of options that exclude each other."""
        both = np.sort(option[self.by[np.stack(self.pairs, axis=1)]], axis=1)
        return np.repeat(np.arange(len(both)), 2), both.ravel()

    def cycles(self, taken: IntArray) -> list[IntArray]:
        """Cycles of taken candidates, no candidate in two of them."""
        chosen = np.isin(self.by, taken)
        arcs = list(
            zip(*(a[chosen].tolist() for a in (self.head, self.tail, self.by)), strict=True)
        )
        found: list[IntArray] = []
        while True:
            before = -1
            while before != len(arcs):  # what leads nowhere is in no cycle
                before, heads = len(arcs), {head for head, _, _ in arcs}
                arcs = [arc for arc in arcs if arc[1] in heads]
            if not arcs:
                return found
            step = {head: (tail, by) for head, tail, by in arcs}
            node, path = arcs[0][0], dict[int, int]()
            while node not in path:
                path[node] = step[node][1]
                node = step[node][0]
            nodes = list(path)
            cycle = {path[each] for each in nodes[nodes.index(node) :]}
            found.append(np.array(sorted(cycle)))
            arcs = [arc for arc in arcs if arc[2] not in cycle]
