"""Features of the beam's heuristic, which share weights across spaces, and the plan of a search.

Two variables that a factor or a rule ties together have a feature for every pair of their labels,
and two variables tied to a third one have one for every triple. Variables tied alike share weights
(parameter tying): their labels are the same, and so is what the rule allows, or the place in the
factor. So what is learned from one sentence is known in all others, however many words they have.
Long rules, over more variables than have a table, are counted instead: a label that counts in the
rule has a feature for "none before it counts", for "one does", and so on.

Every space has a `BeamPlan`: the order in which variables get their labels, and the features that
each new label completes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, combinations
from operator import mul
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rote.errors import SettingError
from rote.inference.engine import Locked
from rote.kernels.beam.beam import BeamPlan
from rote.kernels.constants import MAX_COUNTED
from rote.settings import FLAG, Checked, Setting, optional
from rote.space.network import Table
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, IntArray, offsets_from_counts, readonly

MAX_PARTNERS = 4  # earlier variables of one that triples are made of
LARGEST_CODE = 1 << 62  # of what a step looks at
MAX_ROWS = 1 << 12  # of the table of h; no more than the largest code

Order = Callable[[Space], Sequence[int]]
ORDER = optional(
    Setting(
        "a function from a space to the numbers of its variables, such as lambda space: [1, 0]",
        callable,
    )
)


@dataclass(frozen=True)
class HeuristicFeatures(Checked):
    """Which features the heuristic of a `LearnedBeam` has; pairs are always there.

    Parameters
    ----------
    triples
        Whether two variables tied to a third one have features with it.
    tallies
        Whether the labels that count in a long rule are counted.
    by_name
        Whether variables with other names have weights of their own: for inputs that share one
        space, as in multi-label classification.
    """

    triples: bool = True
    tallies: bool = True
    by_name: bool = False

    checks: ClassVar = {"triples": FLAG, "tallies": FLAG, "by_name": FLAG}


class WeightIndex:
    """Where the weights of each family of features begin; families are known by a digest."""

    def __init__(self, origins: Mapping[str, int] | None = None, size: int = 0) -> None:
        self.origins = dict(origins or {})
        self.size = size
        if any(
            not 0 <= at <= size - int(key.rpartition(":")[2]) for key, at in self.origins.items()
        ):
            raise SettingError(
                f"learned is the knowledge of another one: {size} weights are fewer than its "
                "families of features have"
            )

    def origin(self, family: Hashable, size: int) -> int:
        """The place of the first weight of a family of so many."""
        key = f"{_digest(family)}:{size}"
        if key not in self.origins:
            self.origins[key] = self.size
            self.size += size
        return self.origins[key]


def in_order(space: Space) -> Sequence[int]:
    """The variables as the space has them."""
    return range(len(space.variables))


class BeamPlans(Locked):
    """The plans of spaces, in one order and with the features of one index, each made once.

    They are kept as long as the space that they were made for.
    """

    def __init__(
        self,
        order: Order | None,
        features: HeuristicFeatures | None = None,
        index: WeightIndex | None = None,
    ) -> None:
        super().__init__()
        self.order, self.features = order or in_order, features
        self.index = WeightIndex() if index is None else index
        self._kept: WeakKeyDictionary[Space, dict[tuple[str, ...], BeamPlan]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {name: own for name, own in super().__getstate__().items() if name != "_kept"}

    def __setstate__(self, contents: dict[str, Any]) -> None:
        super().__setstate__(contents)
        self._kept = WeakKeyDictionary()

    def of(self, space: Space) -> BeamPlan:
        """The plan of a space."""
        # Spaces are equal whatever names they have, and orders and features may look at names.
        with self.lock:
            kept = self._kept.setdefault(space, {})
            if space.names not in kept:
                kept[space.names] = beam_plan_of(space, self.order, self.features, self.index)
            return kept[space.names]


class _Step(NamedTuple):
    """One variable, and what its label completes."""

    variable: int
    factors: list[int]
    pairs: list[tuple[int, tuple[int, int], tuple[int, int]]]  # origin, other variables, strides
    tallies: list[tuple[int, int, list[bool]]]  # counter, origin, the labels that count

    def reads(self, space: Space) -> list[int]:
        """The earlier variables that it looks at."""
        found = {v for _, others, _ in self.pairs for v in others}
        found.update(v for f in self.factors for v in space.factors[f].variables)
        return sorted(found - {-1, self.variable})


def beam_plan_of(
    space: Space, order: Order, features: HeuristicFeatures | None, index: WeightIndex
) -> BeamPlan:
    """The plan of a space; without features, one that looks at scores alone."""
    variables, n = [int(j) for j in order(space)], len(space.variables)
    if sorted(variables) != list(range(n)):
        raise SettingError(
            f"an order has each of the {n} variables once, by number; got {variables[:20]}"
        )
    at = {j: t for t, j in enumerate(variables)}
    by_last: list[list[int]] = [[] for _ in range(n)]
    for f, factor in enumerate(space.factors):
        by_last[max((at[v] for v in factor.variables), default=0)].append(f)
    partners = {} if features is None else _partners(space, at, features)
    rows = [] if features is None or not features.tallies else _tallied(space, features)
    steps = []
    for t, j in enumerate(variables):
        own = partners.get(j, {})
        pairs = [] if features is None else _pairs(space, j, own, features.triples, index)
        tallies = [
            (counter, index.origin(family, MAX_COUNTED), counted[j])
            for counter, (family, counted) in enumerate(rows)
            if j in counted
        ]
        steps.append(_Step(j, by_last[t], pairs, tallies))
    return _packed(space, steps, len(rows))


def _named(space: Space, j: int, features: HeuristicFeatures) -> tuple[object, ...]:
    """How a variable is known to features."""
    variable = space.variables[j]
    return (variable.name, *variable.labels) if features.by_name else tuple(variable.labels)


def _digest(what: object) -> str:
    return blake2b(repr(what).encode(), digest_size=12).hexdigest()


def _partners(
    space: Space, at: dict[int, int], features: HeuristicFeatures
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
            what: tuple[object, ...] = (_named(space, j, features), _named(space, k, features))
            allowed = _allowed(table, one, other)
            if table.sources or allowed.all():  # what it allows does not tell its places apart
                what += (table.allowed.shape, table.allowed.tobytes(), one, other)
            what += (bool(table.sources), allowed.shape, allowed.tobytes())
            found.setdefault(j, {}).setdefault(k, []).append(_digest(what))
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
    every = list(combinations(range(len(table.scope)), 2))
    if table.sources:
        return every
    found = [pair for pair in every if not _allowed(table, *pair).all()]
    return found or ([] if table.allowed.all() else every)


def _pairs(
    space: Space, j: int, partners: dict[int, list[str]], triples: bool, index: WeightIndex
) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
    """The features of a variable with one partner each, and with two."""
    own, found = int(space.sizes[j]), []
    for k, how in partners.items():
        origin = index.origin(("pair", sorted(how)), own * int(space.sizes[k]))
        found.append((origin, (k, -1), (own, 0)))
    if not triples or len(partners) > MAX_PARTNERS:
        return found
    # Of two that are tied to a third in the same way, either may come first.
    for one, two in combinations(sorted(partners, key=lambda k: (sorted(partners[k]), k)), 2):
        first, second = int(space.sizes[one]), int(space.sizes[two])
        family = ("triple", sorted(partners[one]), sorted(partners[two]))
        origin = index.origin(family, own * first * second)
        found.append((origin, (one, two), (own * second, own)))
    return found


def _tallied(
    space: Space, features: HeuristicFeatures
) -> list[tuple[Hashable, dict[int, list[bool]]]]:
    """For each long row a family, and for each of its variables which labels count."""
    network = space.network
    rows, owner = network.rows, network.label_variable
    found: list[tuple[Hashable, dict[int, list[bool]]]] = []
    for r in range(len(rows)):
        span = slice(int(rows.indptr[r]), int(rows.indptr[r + 1]))
        counted: dict[int, list[bool]] = {}
        terms = set()
        columns = rows.indices[span].tolist()
        for column, weight in zip(columns, rows.data[span].tolist(), strict=True):
            j = int(owner[column])
            if j >= len(space.variables) or weight == 0:
                continue
            label = column - int(network.offsets[j])
            counted.setdefault(j, [False] * int(space.sizes[j]))[label] = True
            terms.add((_named(space, j, features), label, weight))
        limits = (float(rows.lower[r]), float(rows.upper[r]))
        found.append((("tally", limits, sorted(terms, key=repr)), counted))
    return found


def _packed(space: Space, steps: list[_Step], counters: int) -> BeamPlan:
    factors = [space.factors[f] for step in steps for f in step.factors]
    shapes = [space.sizes[list(factor.variables)].tolist() for factor in factors]
    strides = [np.cumprod([1, *shape[:0:-1]])[::-1].tolist() for shape in shapes]
    pairs = [pair for step in steps for pair in step.pairs]
    tallies = [tally for step in steps for tally in step.tallies]
    reads = [step.reads(space) for step in steps]
    codes = _Codes(space, steps, reads)
    counted = np.zeros((len(tallies), int(space.sizes.max(initial=1))), dtype=np.bool_)
    for k, (_, _, which) in enumerate(tallies):
        counted[k, : len(which)] = which
    return BeamPlan(
        _whole([step.variable for step in steps]),
        space.sizes,
        space.offsets,
        _ptr(step.factors for step in steps),
        _whole([space.factor_offsets[f] for step in steps for f in step.factors]),
        _ptr(factor.variables for factor in factors),
        _whole([v for factor in factors for v in factor.variables]),
        _whole([stride for own in strides for stride in own]),
        _ptr(step.pairs for step in steps),
        _whole([origin for origin, _, _ in pairs]),
        _whole([other for _, other, _ in pairs], width=2),
        _whole([stride for _, _, stride in pairs], width=2),
        _ptr(reads),
        _whole([v for own in reads for v in own]),
        _whole(codes.read),
        _ptr(step.tallies for step in steps),
        _whole([counter for counter, _, _ in tallies]),
        _whole([origin for _, origin, _ in tallies]),
        _whole(codes.tally),
        _whole(codes.apart),
        _whole(codes.row),
        codes.rows,
        readonly(counted),
        counters,
    )


class _Codes:
    """By what nodes are told apart in each step, and where the steps' rows of h begin."""

    def __init__(self, space: Space, steps: list[_Step], reads: list[list[int]]) -> None:
        self.read: list[int] = []
        self.tally: list[int] = []
        self.apart: list[int] = []
        self.row: list[int] = []
        self.rows = 0
        known: dict[str, int] = {}
        for step, own in zip(steps, reads, strict=True):
            counts = [*space.sizes[own].tolist(), *[MAX_COUNTED] * len(step.tallies)]
            *strides, codes = accumulate(counts, mul, initial=1)
            if codes > LARGEST_CODE:
                strides = [0] * len(counts)
            self.read += strides[: len(own)]
            self.tally += strides[len(own) :]
            self.apart.append(int(codes > LARGEST_CODE))
            # Steps that look at the same places of their codes in the same order add up the same.
            places = {v: k for k, v in enumerate(own)}
            looked_at = [(o, [places.get(v) for v in others], s) for o, others, s in step.pairs]
            tallies = [tally[1:] for tally in step.tallies]
            family = repr((int(space.sizes[step.variable]), counts, looked_at, tallies))
            if family not in known and self.rows + codes <= MAX_ROWS:
                known[family] = self.rows
                self.rows += codes
            self.row.append(known.get(family, -1))


def _ptr(lists: Iterable[Sized]) -> IntArray:
    return readonly(offsets_from_counts([len(own) for own in lists]))


def _whole(values: object, width: int | None = None) -> IntArray:
    array: AnyArray = np.array(values, dtype=np.int64)
    return readonly(array if width is None else array.reshape(-1, width))
