"""Patterns: what outputs of a space have in common with those of others, whatever the input.

Two variables that a factor or a rule ties together have one pattern for every pair of their labels,
and two variables tied to a third one have one for every triple. Variables tied alike share weights:
their labels are the same, and so is what the rule allows, or the place in the factor. So a pattern
learned from one sentence is known in all others, however many words they have. Long rules, over
more variables than have a table, are counted instead: a label that counts in the rule has a pattern
for "none before it counts", for "one does", and so on.

Every space has a `BeamPlan`: the order in which variables get their labels, and the patterns that
each new label completes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, combinations
from operator import mul
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rote.errors import SettingError
from rote.inference.engine import Locked
from rote.kernels.beam.beam import MAX_COUNTED, BeamPlan
from rote.space.network import Table
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, offsets_from_counts, readonly

MAX_PARTNERS = 4  # earlier variables of one that triples are made of
LARGEST_CODE = 1 << 62  # of what a step looks at
MAX_ROWS = 1 << 12  # of the table of h; no more than the largest code

Order = Callable[[Space], Sequence[int]]


@dataclass(frozen=True)
class HeuristicFeatures:
    """Which patterns there are.

    Variables are told apart by their labels, or with ``by_name`` by their names too: where inputs
    share one space, as in multi-label classification, each pair of labels then has its own.
    """

    triples: bool = True
    tallies: bool = True
    by_name: bool = False


class WeightIndex:
    """Where the weights of each family of patterns begin; families are known by a digest."""

    def __init__(self) -> None:
        self.origins: dict[str, int] = {}
        self.size = 0

    def origin(self, family: Hashable, size: int) -> int:
        """The place of the first weight of a family of so many."""
        key = f"{blake2b(repr(family).encode(), digest_size=12).hexdigest()}:{size}"
        if key not in self.origins:
            self.origins[key] = self.size
            self.size += size
        return self.origins[key]

    @staticmethod
    def size_of(key: str) -> int:
        """How many weights the family of a key has."""
        return int(key.rpartition(":")[2])


def in_order(space: Space) -> Sequence[int]:
    """The variables as the space has them."""
    return range(len(space.variables))


class BeamPlans(Locked):
    """The courses of spaces, in one order and with the patterns of one ledger, each made once.

    They are kept as long as the space that they were made for.
    """

    def __init__(
        self,
        order: Order | None,
        patterns: HeuristicFeatures | None = None,
        ledger: WeightIndex | None = None,
    ) -> None:
        if order is not None and not callable(order):
            raise SettingError(
                "order is a function from a space to the numbers of its variables, such as "
                f"lambda space: [1, 0]; got {order!r}"
            )
        self.order, self.patterns = order or in_order, patterns
        self.ledger = WeightIndex() if ledger is None else ledger
        super().__init__()
        self._kept: WeakKeyDictionary[Space, dict[tuple[str, ...], BeamPlan]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {name: own for name, own in super().__getstate__().items() if name != "_kept"}

    def __setstate__(self, contents: dict[str, Any]) -> None:
        super().__setstate__(contents)
        self._kept = WeakKeyDictionary()

    def of(self, space: Space) -> BeamPlan:
        """The course of a space."""
        # Spaces are equal whatever names they have, and orders and patterns may look at names.
        with self.lock:
            kept = self._kept.setdefault(space, {})
            if space.names not in kept:
                kept[space.names] = beam_plan_of(space, self.order, self.patterns, self.ledger)
            return kept[space.names]


class _Lists:
    """What a course is made of, step by step."""

    def __init__(self) -> None:
        self.patterns: list[tuple[int, tuple[int, int], tuple[int, int]]] = []
        self.pattern_ptr = [0]
        self.tallies: list[tuple[int, int, list[bool]]] = []
        self.tally_ptr = [0]
        self.factors: list[int] = []
        self.factor_ptr = [0]


def beam_plan_of(
    space: Space, order: Order, patterns: HeuristicFeatures | None, ledger: WeightIndex
) -> BeamPlan:
    """The course of a space; without patterns, one that looks at scores alone."""
    steps = [int(j) for j in order(space)]
    n = len(space.variables)
    if sorted(steps) != list(range(n)):
        raise SettingError(
            f"an order has each of the {n} variables once, by number; got {steps[:20]}"
        )
    at = {j: t for t, j in enumerate(steps)}
    lists = _Lists()
    by_last: list[list[int]] = [[] for _ in range(n)]
    for f, factor in enumerate(space.factors):
        by_last[max((at[v] for v in factor.variables), default=0)].append(f)
    partners = _partners(space, at, patterns) if patterns is not None else {}
    rows = _tallied(space, patterns) if patterns is not None and patterns.tallies else []
    for t, j in enumerate(steps):
        lists.factors += by_last[t]
        lists.factor_ptr.append(len(lists.factors))
        if patterns is not None:
            _add_patterns(lists, space, j, partners.get(j, {}), patterns, ledger)
        for counter, (family, counted) in enumerate(rows):
            if j in counted:
                origin = ledger.origin(family, MAX_COUNTED)
                lists.tallies.append((counter, origin, counted[j]))
        lists.pattern_ptr.append(len(lists.patterns))
        lists.tally_ptr.append(len(lists.tallies))
    return _packed(space, steps, lists, len(rows))


def _named(space: Space, j: int, patterns: HeuristicFeatures) -> tuple[object, ...]:
    """How a variable is known to patterns."""
    variable = space.variables[j]
    return (variable.name, *variable.labels) if patterns.by_name else tuple(variable.labels)


def _partners(
    space: Space, at: dict[int, int], patterns: HeuristicFeatures
) -> dict[int, dict[int, list[str]]]:
    """For each variable those before it that it is tied to, and how: by digests of their ties."""
    found: dict[int, dict[int, list[str]]] = {}
    for table in space.network.apart or space.network.tables():
        if len(table.scope) < 2 or max(table.scope) >= len(space.variables):
            continue
        for pair in _tied(table):
            # The later one first, so that which of two variables a table names first is no matter.
            one, other = sorted(pair, key=lambda place: at[table.scope[place]], reverse=True)
            j, k = table.scope[one], table.scope[other]
            what: tuple[object, ...] = (_named(space, j, patterns), _named(space, k, patterns))
            allowed = _allowed(table, one, other)
            if table.sources or allowed.all():  # what it allows does not tell its places apart
                what += (table.allowed.shape, table.allowed.tobytes(), one, other)
            what += (bool(table.sources), allowed.shape, allowed.tobytes())
            digest = blake2b(repr(what).encode(), digest_size=12).hexdigest()
            found.setdefault(j, {}).setdefault(k, []).append(digest)
    return found


def _allowed(table: Table, one: int, other: int) -> BoolArray:
    """Which labels of two of its places a table allows together, whatever the others are."""
    rest = tuple(axis for axis in range(len(table.scope)) if axis not in (one, other))
    allowed: BoolArray = np.asarray(table.allowed.any(axis=rest))
    return np.ascontiguousarray(allowed if one < other else allowed.T)


def _tied(table: Table) -> list[tuple[int, int]]:
    """The pairs of places of a table that are tied.

    Two variables of a rule that can have any two labels are tied by the others alone, unless that
    is so of all of its pairs: then the rule would go unseen.
    """
    places = range(len(table.scope))
    every = list(combinations(places, 2))
    if table.sources:
        return every
    found = [pair for pair in every if not _allowed(table, *pair).all()]
    return found or ([] if table.allowed.all() else every)


def _add_patterns(
    lists: _Lists,
    space: Space,
    j: int,
    partners: dict[int, list[str]],
    patterns: HeuristicFeatures,
    ledger: WeightIndex,
) -> None:
    own = int(space.sizes[j])
    for k, how in partners.items():
        origin = ledger.origin(("pair", sorted(how)), own * int(space.sizes[k]))
        lists.patterns.append((origin, (k, -1), (own, 0)))
    if not patterns.triples or len(partners) > MAX_PARTNERS:
        return
    # Of two that are tied to a third in the same way, either may come first.
    for one, two in combinations(sorted(partners, key=lambda k: (sorted(partners[k]), k)), 2):
        first, second = int(space.sizes[one]), int(space.sizes[two])
        family = ("triple", sorted(partners[one]), sorted(partners[two]))
        origin = ledger.origin(family, own * first * second)
        lists.patterns.append((origin, (one, two), (own * second, own)))


def _tallied(
    space: Space, patterns: HeuristicFeatures | None
) -> list[tuple[Hashable, dict[int, list[bool]]]]:
    """For each long row a family, and for each of its variables which labels count."""
    assert patterns is not None
    network = space.network
    rows, owner = network.rows, network.label_variable
    found: list[tuple[Hashable, dict[int, list[bool]]]] = []
    for r in range(len(rows)):
        span = slice(int(rows.indptr[r]), int(rows.indptr[r + 1]))
        counted: dict[int, list[bool]] = {}
        terms = set()
        for column, weight in zip(
            rows.indices[span].tolist(), rows.data[span].tolist(), strict=True
        ):
            j = int(owner[column])
            if j >= len(space.variables) or weight == 0:
                continue
            label = column - int(network.offsets[j])
            counted.setdefault(j, [False] * int(space.sizes[j]))[label] = True
            terms.add((_named(space, j, patterns), label, weight))
        limits = (float(rows.lower[r]), float(rows.upper[r]))
        found.append((("tally", limits, sorted(terms, key=repr)), counted))
    return found


def _packed(space: Space, steps: list[int], lists: _Lists, counters: int) -> BeamPlan:
    scope_ptr, scope, strides, parts = [0], [], [], []
    for f in lists.factors:
        variables = list(space.factors[f].variables)
        shape = space.sizes[variables]
        scope += variables
        strides += (np.cumprod([1, *shape[:0:-1].tolist()])[::-1]).tolist()
        scope_ptr.append(len(scope))
        parts.append(int(space.factor_offsets[f]))
    reads = []
    for t, j in enumerate(steps):
        patterns = lists.patterns[lists.pattern_ptr[t] : lists.pattern_ptr[t + 1]]
        factors = lists.factors[lists.factor_ptr[t] : lists.factor_ptr[t + 1]]
        looked_at = {v for _, others, _ in patterns for v in others}
        looked_at.update(v for f in factors for v in space.factors[f].variables)
        reads.append(sorted(looked_at - {-1, j}))
    codes = _codes(space, steps, lists, reads)
    widest = int(space.sizes.max(initial=1))
    counted = np.zeros((len(lists.tallies), widest), dtype=np.bool_)
    for k, (_, _, which) in enumerate(lists.tallies):
        counted[k, : len(which)] = which
    return BeamPlan(
        _whole(steps),
        space.sizes,
        space.offsets,
        _whole(lists.factor_ptr),
        _whole(parts),
        _whole(scope_ptr),
        _whole(scope),
        _whole(strides),
        _whole(lists.pattern_ptr),
        _whole([origin for origin, _, _ in lists.patterns]),
        _whole([other for _, other, _ in lists.patterns], width=2),
        _whole([stride for _, _, stride in lists.patterns], width=2),
        readonly(offsets_from_counts([len(own) for own in reads])),
        _whole([v for own in reads for v in own]),
        _whole(codes.read),
        _whole(lists.tally_ptr),
        _whole([counter for counter, _, _ in lists.tallies]),
        _whole([origin for _, origin, _ in lists.tallies]),
        _whole(codes.tally),
        _whole(codes.apart),
        _whole(codes.row),
        codes.rows,
        readonly(counted),
        counters,
    )


class _Codes:
    """By what nodes are told apart in each step, and where the steps' rows of h begin."""

    def __init__(self) -> None:
        self.read: list[int] = []
        self.tally: list[int] = []
        self.apart: list[int] = []
        self.row: list[int] = []
        self.rows = 0


def _codes(space: Space, steps: list[int], lists: _Lists, reads: list[list[int]]) -> _Codes:
    found, known = _Codes(), dict[Hashable, int]()
    for t, (j, own) in enumerate(zip(steps, reads, strict=True)):
        patterns = lists.patterns[lists.pattern_ptr[t] : lists.pattern_ptr[t + 1]]
        tallies = lists.tallies[lists.tally_ptr[t] : lists.tally_ptr[t + 1]]
        counts = [*space.sizes[own].tolist(), *[MAX_COUNTED] * len(tallies)]
        *strides, codes = accumulate(counts, mul, initial=1)
        if codes > LARGEST_CODE:
            strides = [0] * len(counts)
        found.read += strides[: len(own)]
        found.tally += strides[len(own) :]
        found.apart.append(int(codes > LARGEST_CODE))
        # Steps that look at the same places of their codes in the same order add up the same.
        places = {v: k for k, v in enumerate(own)}
        looked_at = [(o, [places.get(v) for v in others], s) for o, others, s in patterns]
        family = repr((int(space.sizes[j]), counts, looked_at, [own[1:] for own in tallies]))
        if family not in known and found.rows + codes <= MAX_ROWS:
            known[family] = found.rows
            found.rows += codes
        found.row.append(known.get(family, -1))
    return found


def _whole(values: object, width: int | None = None) -> IntArray:
    array: AnyArray = np.array(values, dtype=np.int64)
    return readonly(array if width is None else array.reshape(-1, width))


def grown(values: FloatArray, size: int) -> FloatArray:
    """The same numbers with zeros after them."""
    return values if len(values) >= size else np.concatenate([values, np.zeros(size - len(values))])
