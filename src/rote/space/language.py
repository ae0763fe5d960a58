"""Variables and rules: the expressions in which constraints over variables are written.

``variable["label"]`` is the smallest rule. Rules combine with ``&``, ``|``, ``~``
and ``>>`` (implies); they add up to counts, ``2 * a + b``, that compare with
``<=``, ``>=`` and ``==``. What is said of many of them is in
`rote.space.quantifiers`.

The set of nodes is closed: `Is`, `Not`, `And`, `Or`, `Implies`, `Tuples`,
`Linear`, `Acyclic`, and `LinearRows` for thousands of rows at once. Each answers `holds` on
a batch of labels; `rote.space.lowering` turns the same nodes into linear rows, and
the two must agree on every assignment.
This module knows nothing of parts, columns or scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from numbers import Integral
from operator import attrgetter, iand, ior
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from rote.errors import LabelError, RuleError
from rote.types import BoolArray, FloatArray, IntArray, offsets_from_counts, readonly

Form: TypeAlias = tuple[object, ...]
MOST_AT_ONCE = 1 << 20  # numbers that rows are added up in
EXACT = 1 << 53  # whole numbers below are exact in 64 bits, as integers and as floats


def _without_label(operator: str) -> Callable[..., NoReturn]:
    """What an operator does to a variable that stands where a rule belongs."""

    def refuse(variable: Variable, *_: object) -> NoReturn:
        raise RuleError(
            f"{operator} got the variable {variable.name!r}; pick a label: "
            f"{variable.name}[{variable.labels[0]!r}]"
        )

    return refuse


@dataclass(frozen=True, eq=False)
class Variable:
    """One decision: a name and the labels it may take. Made by `SpaceBuilder.variable`.

    Parameters
    ----------
    name
        Different from that of every other variable of the space.
    labels
        What it may be.
    index
        Its position in the space.
    owner
        Who made it, so that a rule about another space's variable is noticed.
    """

    name: str
    labels: tuple[str, ...]
    index: int
    owner: object = field(repr=False)

    def __getitem__(self, label: str) -> Is:
        """The rule that this variable takes this label."""
        return Is(self, self.position(label))

    def __iter__(self) -> NoReturn:
        raise TypeError(f"a variable is not a sequence; its labels are {self.name}.labels")

    if not TYPE_CHECKING:  # a type checker sees these mistakes before they are made
        __and__ = _without_label("&")
        __or__ = _without_label("|")
        __xor__ = _without_label("^")
        __invert__ = _without_label("~")
        __rshift__ = _without_label(">>")
        __add__ = __radd__ = _without_label("+")
        __mul__ = __rmul__ = _without_label("*")

    def position(self, label: str) -> int:
        """Where ``label`` stands among the labels."""
        try:
            return _positions(self.labels)[label]
        except (KeyError, TypeError):
            raise LabelError(
                f"variable {self.name!r} has no label {label!r}; "
                f"its labels are {', '.join(map(repr, self.labels[:20]))}"
                f"{', …' if len(self.labels) > 20 else ''}"
            ) from None


@lru_cache(maxsize=1024)
def _positions(labels: tuple[str, ...]) -> Mapping[str, int]:
    return {label: i for i, label in enumerate(labels)}


class Summable:
    """What rules and counts share: they add up to counts, and compare to rules."""

    def __add__(self, other: Summable | int) -> Count:
        one, two = _count(self), _count(other)
        return Count(one.terms + two.terms, one.constant + two.constant)

    def __radd__(self, other: int) -> Count:
        return self + other

    def __sub__(self, other: Summable | int) -> Count:
        return self + _count(other) * -1

    def __rsub__(self, other: int) -> Count:
        return _count(other) - self

    def __mul__(self, factor: int) -> Count:
        one, factor = _count(self), whole(factor, "a count is multiplied by")
        return Count(tuple((factor * c, r) for c, r in one.terms), factor * one.constant)

    __rmul__ = __mul__

    def __neg__(self) -> Count:
        return self * -1

    def __le__(self, other: Summable | int) -> Linear:
        return _between(None, self - other, 0)

    def __ge__(self, other: Summable | int) -> Linear:
        return _between(0, self - other, None)

    def __lt__(self, other: Summable | int) -> Linear:
        return _between(None, self - other, -1)

    def __gt__(self, other: Summable | int) -> Linear:
        return _between(1, self - other, None)


class Rule(Summable):
    """What every node can do. Concrete nodes are final; see the module's docstring."""

    def __and__(self, other: Rule) -> And:
        return And((*_parts_of(And, self), *_parts_of(And, as_rule(other, "&"))))

    def __or__(self, other: Rule) -> Or:
        return Or((*_parts_of(Or, self), *_parts_of(Or, as_rule(other, "|"))))

    def __invert__(self) -> Rule:
        return self.of if isinstance(self, Not) else Not(self)

    def __rshift__(self, other: Rule) -> Implies:
        return Implies(self, as_rule(other, ">>"))

    if not TYPE_CHECKING:  # a type checker sees this mistake before it is made

        def __xor__(self, other: object) -> NoReturn:
            raise RuleError("^ joins no rules; for one of two, write exactly(1, a, b)")

    def __bool__(self) -> NoReturn:
        raise RuleError(
            f"the rule {self} is neither true nor false by itself; join rules with &, |, ~ "
            "and >> instead of and, or, not and if; bound a count once on each side instead of "
            "1 <= count <= 2; and ask space.holds(labels) about an output"
        )

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables it speaks of, each once, in the order of the space."""
        found: dict[Variable, None] = {}
        stack: list[Rule] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, Is):
                found[node.variable] = None
            elif isinstance(node, Linear):
                stack += [term for _, term in node.terms]
            elif isinstance(node, Tuples):
                found |= dict.fromkeys(node.over)
            elif isinstance(node, LinearRows):
                found |= dict.fromkeys(node.known[j] for j in np.unique(node.place).tolist())
            else:
                stack += children(node)
        return tuple(sorted(found, key=attrgetter("index")))

    def form(self, position: Mapping[int, int]) -> Form:
        """The rule as nested tuples, variable i called ``position[i]``; names do not enter."""
        match self:
            case Is(variable=variable, label=label):
                return ("is", position[variable.index], label)
            case Tuples(over=over, allowed=allowed):
                return ("tuples", tuple(position[v.index] for v in over), tuple(sorted(allowed)))
            case Linear(terms=terms, lower=lower, upper=upper):
                return ("linear", lower, upper, *((c, term.form(position)) for c, term in terms))
            case LinearRows():
                return self.table_form(position)
            case Acyclic(arcs=arcs, nodes=nodes):
                return ("acyclic", nodes, tuple(arc.form(position) for arc in arcs))
            case _:
                kind = type(self).__name__.lower()
                return (kind, *(inner.form(position) for inner in children(self)))

    def holds(self, columns: Mapping[int, IntArray]) -> BoolArray:
        """Whether it holds; ``columns[i]`` are the labels of the variable with index i.

        >>> from rote import SpaceBuilder
        >>> builder = SpaceBuilder()
        >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
        >>> (x["a"] >> y["b"]).holds({0: np.array([0, 0, 1]), 1: np.array([0, 1, 0])})
        array([False,  True,  True])
        """
        m = len(next(iter(columns.values()), ()))
        match self:
            case Is(variable=variable, label=label):
                return np.asarray(columns[variable.index] == label, dtype=np.bool_)
            case Not(of=inner):
                return ~inner.holds(columns)
            case And(of=inner_rules):
                every = (inner.holds(columns) for inner in inner_rules)
                return reduce(iand, every, np.ones(m, dtype=np.bool_))
            case Or(of=inner_rules):
                every = (inner.holds(columns) for inner in inner_rules)
                return reduce(ior, every, np.zeros(m, dtype=np.bool_))
            case Implies(first=first, then=then):
                return ~first.holds(columns) | then.holds(columns)
            case Tuples(over=over, allowed=allowed):
                if not over or not allowed:
                    return np.full(m, bool(allowed))
                # Looked up as they are: numbers of tuples of many variables would not fit 64 bits.
                asked = zip(*(columns[v.index].tolist() for v in over), strict=True)
                return np.fromiter((labels in allowed for labels in asked), np.bool_, m)
            case Linear(terms=terms, lower=lower, upper=upper):
                total = np.zeros(m, dtype=np.int64)
                for coefficient, term in terms:
                    total += coefficient * term.holds(columns)
                low, high = -EXACT if lower is None else lower, EXACT if upper is None else upper
                return np.asarray((low <= total) & (total <= high))
            case LinearRows():
                return self.all_hold(columns, m)
            case Acyclic():
                return self.close_no_cycle(columns, m)
            case _:
                raise no_rule(self)


@dataclass(frozen=True)
class Is(Rule):
    """The variable takes the label at this position."""

    variable: Variable
    label: int

    def __str__(self) -> str:
        return f'{self.variable.name}["{self.variable.labels[self.label]}"]'


@dataclass(frozen=True)
class Not(Rule):
    """The rule does not hold."""

    of: Rule

    def __str__(self) -> str:
        return f"~{_inside(self.of)}"


@dataclass(frozen=True)
class And(Rule):
    """All hold; the empty one is always true."""

    of: tuple[Rule, ...]

    def __str__(self) -> str:
        return " & ".join(map(_inside, self.of)) or "always"


@dataclass(frozen=True)
class Or(Rule):
    """At least one holds; the empty one is never true."""

    of: tuple[Rule, ...]

    def __str__(self) -> str:
        return " | ".join(map(_inside, self.of)) or "never"


@dataclass(frozen=True)
class Implies(Rule):
    """If the first holds, so does the second."""

    first: Rule
    then: Rule

    def __str__(self) -> str:
        return f"{_inside(self.first)} >> {_inside(self.then)}"


@dataclass(frozen=True)
class Tuples(Rule):
    """The labels of these variables form one of these tuples."""

    over: tuple[Variable, ...]
    allowed: frozenset[tuple[int, ...]]

    def __str__(self) -> str:
        names = ", ".join(variable.name for variable in self.over)
        return f"one_of([{names}], {len(self.allowed)} tuples)"


@dataclass(frozen=True)
class Linear(Rule):
    """lower <= Σ coefficient · [rule holds] <= upper; None leaves a side open."""

    terms: tuple[tuple[int, Rule], ...]
    lower: int | None
    upper: int | None

    def __post_init__(self) -> None:
        ends = [abs(int(end)) for end in (self.lower, self.upper) if end is not None]
        check_exact(sum(abs(int(c)) for c, _ in self.terms) + max(ends, default=0))

    def __str__(self) -> str:
        low, total, high = self.lower, _sum_text(self.terms), self.upper
        if low is None or low == high:
            return f"{total} {'<=' if low is None else '=='} {high}"
        return f"{total} >= {low}" if high is None else f"{low} <= {total} <= {high}"


@dataclass(frozen=True, eq=False)
class LinearRows(Rule):
    """Every one of many rows holds: lower <= Σ coefficient · [label is taken] <= upper.

    Says what as many `Linear` say, which `SpaceBuilder.require_implications` and
    `SpaceBuilder.require_counts` make without an object per row.

    Parameters
    ----------
    known
        Variables in the order of the space, among them all that rows speak of.
    starts
        Where the labels of each of them begin among those of all of them; one more ends the last.
    ptr
        Where each row begins among the entries; one more ends the last.
    column
        Per entry: a label, by its position among those of all known variables. In a row each
        stands once, and they are in order.
    coefficient
        Per entry: a whole number, not 0.
    lower, upper
        The ends of each row, -inf and inf where there is none.
    """

    known: tuple[Variable, ...]
    starts: IntArray
    ptr: IntArray
    column: IntArray
    coefficient: IntArray
    lower: FloatArray
    upper: FloatArray

    @classmethod
    def of(
        cls,
        known: tuple[Variable, ...],
        starts: IntArray,
        row: IntArray,
        column: IntArray,
        coefficient: IntArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> LinearRows:
        """Rows of entries in any order; what stands twice in a row counts twice."""
        if not ((np.diff(column) > 0) | (np.diff(row) > 0)).all() or not coefficient.all():
            # Rows and columns are sorted together, and the entries of each label added up.
            key, same = np.unique(row * starts[-1] + column, return_inverse=True)
            coefficient = np.bincount(same, coefficient).astype(np.int64)
            key, coefficient = key[coefficient != 0], coefficient[coefficient != 0]
            row, column = np.divmod(key, starts[-1])
        ptr = offsets_from_counts(np.bincount(row, minlength=len(lower)))
        starts, ptr, column, coefficient = map(readonly, (starts, ptr, column, coefficient))
        return cls(known, starts, ptr, column, coefficient, readonly(lower), readonly(upper))

    def __len__(self) -> int:
        return len(self.lower)

    def __str__(self) -> str:
        some = "; ".join(str(self.row(r)) for r in range(min(len(self), 3)))
        return f"{len(self)} rows: {some}{'; …' if len(self) > 3 else ''}"

    @cached_property
    def place(self) -> IntArray:
        """The variable of each entry, by its place among the known ones."""
        return np.searchsorted(self.starts, self.column, side="right") - 1

    @cached_property
    def owner(self) -> IntArray:
        """The variable of each entry, by its index."""
        return np.array([v.index for v in self.known], dtype=np.int64)[self.place]

    @property
    def label(self) -> IntArray:
        """The label of each entry, by its position in its variable."""
        return self.column - self.starts[self.place]

    def row(self, r: int) -> Linear | Implies:
        """One row as a rule."""
        own = slice(int(self.ptr[r]), int(self.ptr[r + 1]))
        labels_of = self.column[own] - self.starts[self.place[own]]
        places = zip(self.place[own].tolist(), labels_of.tolist(), strict=True)
        labels = [Is(self.known[j], label) for j, label in places]
        ends = self.lower[r], self.upper[r]
        low, up = (int(end) if abs(end) < np.inf else None for end in ends)
        coefficients = self.coefficient[own].tolist()
        if sorted(coefficients) == [-1, 1] and (low, up) == (0, None):
            return Implies(*(labels if coefficients[0] < 0 else labels[::-1]))
        return Linear(tuple(zip(coefficients, labels, strict=True)), low, up)

    @cached_property
    def each(self) -> tuple[Linear | Implies, ...]:
        """The rows as rules, but for those without entries, which always hold."""
        return tuple(self.row(r) for r in self.numbers)

    @property
    def numbers(self) -> list[int]:
        """Which rows have entries."""
        return np.flatnonzero(np.diff(self.ptr)).tolist()

    def table_form(self, position: Mapping[int, int]) -> Form:
        """What `Rule.form` gives."""
        owner = [position[j] for j in self.owner.tolist()]
        ends = [
            tuple(None if abs(end) == np.inf else int(end) for end in side.tolist())
            for side in (self.lower, self.upper)
        ]
        arrays = self.ptr, self.label, self.coefficient
        return ("rows", tuple(owner), *(tuple(array.tolist()) for array in arrays), *ends)

    def some(self, rows: IntArray) -> LinearRows:
        """The table of some of the rows."""
        counts = np.diff(self.ptr)[rows]
        ptr = offsets_from_counts(counts)
        entries = np.arange(ptr[-1]) + np.repeat(self.ptr[rows] - ptr[:-1], counts)
        own = self.column[entries], self.coefficient[entries], self.lower[rows], self.upper[rows]
        return LinearRows(self.known, self.starts, readonly(ptr), *map(readonly, own))

    def all_hold(self, columns: Mapping[int, IntArray], m: int) -> BoolArray:
        """What `Rule.holds` gives, for m outputs."""
        result = np.ones(m, dtype=np.bool_)
        for rows in self.each_holds(columns, m):
            result &= rows.all(axis=0)
        return result

    def each_holds(self, columns: Mapping[int, IntArray], m: int) -> Iterator[BoolArray]:
        """Whether each row holds for m outputs: so many rows at once as fit into some room."""
        used, owner = np.unique(self.owner, return_inverse=True)
        outputs = np.array([columns[j] for j in used.tolist()], dtype=np.int64).reshape(
            len(used), m
        )
        label = self.label[:, None]
        widest = int(np.diff(self.ptr).max(initial=1))
        step = max(1, MOST_AT_ONCE // (max(1, m) * widest))
        for first in range(0, len(self), step):
            ptr = self.ptr[first : first + step + 1]
            own = slice(int(ptr[0]), int(ptr[-1]))
            added = np.zeros((own.stop - own.start + 1, m), dtype=np.int64)
            added[1:] = (outputs[owner[own]] == label[own]) * self.coefficient[own, None]
            # Sums that wrap around wrap back: their difference is right, since it is small.
            total = np.diff(added.cumsum(axis=0)[ptr - own.start], axis=0)
            ends = self.lower[first : first + step, None], self.upper[first : first + step, None]
            yield (ends[0] <= total) & (total <= ends[1])


@dataclass(frozen=True)
class Acyclic(Rule):
    """The arcs that are taken close no directed cycle.

    Parameters
    ----------
    arcs
        Labels; an output that has one takes the arc.
    nodes
        For each arc the numbers of the nodes where it starts and where it ends.
    """

    arcs: tuple[Is, ...]
    nodes: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return f"acyclic({len(self.arcs)} arcs)"

    @cached_property
    def ends(self) -> IntArray:
        """Where each arc starts and ends, of shape (2, arcs)."""
        return np.array(self.nodes, dtype=np.int64).reshape(-1, 2).T

    def taken(self, columns: Mapping[int, IntArray], m: int) -> BoolArray:
        """Which arcs each of m outputs takes, of shape (m, arcs)."""
        found = [columns[arc.variable.index] == arc.label for arc in self.arcs]
        return np.array(found, dtype=np.bool_).reshape(len(self.arcs), m).T

    def close_no_cycle(self, columns: Mapping[int, IntArray], m: int) -> BoolArray:
        """What `Rule.holds` gives: arcs from nodes where none ends are dropped, until none is."""
        left, (first, last) = self.taken(columns, m), self.ends
        count = int(self.ends.max(initial=-1)) + 1
        rows = np.flatnonzero(left.any(axis=1))
        while len(rows):
            reached = np.zeros((len(rows), count), dtype=np.bool_)
            place, arc = np.nonzero(left[rows])
            reached[place, last[arc]] = True
            kept = left[rows] & reached[:, first]
            rows, before = rows[(kept != left[rows]).any(axis=1)], rows
            left[before] = kept
        return np.asarray(~left.any(axis=1))

    def cycle(self, taken: BoolArray) -> list[int]:
        """The arcs of a shortest cycle among those that one output takes; none without any."""
        leaving = dict[int, list[int]]()
        for arc in np.flatnonzero(taken).tolist():
            leaving.setdefault(self.nodes[arc][0], []).append(arc)
        best: list[int] = []
        for start in sorted(leaving):
            came, ahead = dict[int, int](), [start]  # breadth first
            while ahead and start not in came:
                behind: list[int] = []
                for node in ahead:
                    for arc in leaving.get(node, ()):
                        if came.setdefault(self.nodes[arc][1], arc) == arc:
                            behind.append(self.nodes[arc][1])
                ahead = behind
            if start in came:
                found = [came[start]]
                while self.nodes[found[-1]][0] != start:
                    found.append(came[self.nodes[found[-1]][0]])
                if not best or len(found) < len(best):
                    best = found
        return best


@dataclass(frozen=True, eq=False)
class Count(Summable):
    """A whole-number sum of rules; comparing it with a number makes a rule.

    >>> from rote import SpaceBuilder
    >>> x = SpaceBuilder().variable("x", "ab")
    >>> print(2 * x["a"] + x["b"] <= 1)
    2*x["a"] + x["b"] <= 1
    """

    terms: tuple[tuple[int, Rule], ...]
    constant: int = 0

    __hash__ = None  # type: ignore[assignment]  # == makes a rule, so counts cannot be keys

    def __eq__(self, other: object) -> Linear:  # type: ignore[override]
        return _between(0, self - _count(other), 0)

    def __ne__(self, other: object) -> Rule:  # type: ignore[override]
        return ~(self == other)

    def __bool__(self) -> NoReturn:
        raise RuleError("a count is not true or false; compare it with <=, >= or == to get a rule")

    def __str__(self) -> str:
        return _sum_text(self.terms) + (f" + {self.constant}" if self.constant else "")


def children(rule: Rule) -> tuple[Rule, ...]:
    """The rules directly inside a rule."""
    match rule:
        case Is() | Tuples():
            return ()
        case Not(of=inner):
            return (inner,)
        case And(of=inner_rules) | Or(of=inner_rules):
            return inner_rules
        case Implies(first=first, then=then):
            return (first, then)
        case Linear(terms=terms):
            return tuple(term for _, term in terms)
        case LinearRows():
            return rule.each
        case Acyclic(arcs=arcs):
            return arcs
        case _:
            raise no_rule(rule)


def no_rule(value: object) -> RuleError:
    """What is answered to somebody who gives something else for a rule."""
    return RuleError(f"expected a rule such as variable['label'], got {value!r}")


def _parts_of(kind: type[And] | type[Or], rule: Rule) -> tuple[Rule, ...]:
    return rule.of if isinstance(rule, kind) else (rule,)


def as_rule(value: object, operator: str) -> Rule:
    """A rule as it is; what is none is answered by what to write instead."""
    if isinstance(value, Rule):
        return value
    if isinstance(value, Variable):
        _without_label(operator)(value)
    raise RuleError(f"{operator} joins two rules such as variable['label'], got {value!r}")


def _between(lower: int | None, total: Count, upper: int | None) -> Linear:
    """The sum without its constant, which moves over to the ends."""
    low = None if lower is None else lower - total.constant
    return Linear(total.terms, low, None if upper is None else upper - total.constant)


def _count(value: object) -> Count:
    if isinstance(value, Count):
        return value
    if isinstance(value, Rule):
        return Count(((1, value),))
    return Count((), whole(value, "a count is added to or compared with"))


def whole(value: object, what: str) -> int:
    """A whole number; anything else is refused by a sentence that begins with ``what``."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    raise RuleError(f"{what} a whole number, got {value!r}; scale the coefficients until they fit")


def check_exact(size: float) -> None:
    """Refuse a sum whose coefficients and bound are too large together to be added up exactly."""
    if size >= EXACT:
        raise RuleError(
            "the coefficients of a rule and what they are compared with stay below 2**53 together, "
            f"each taken as positive; got {size}; divide them all by the same number"
        )


def _inside(rule: Rule) -> str:
    return str(rule) if isinstance(rule, Is | Not | Tuples) else f"({rule})"


def _sum_text(terms: tuple[tuple[int, Rule], ...]) -> str:
    words = (_inside(rule) if c == 1 else f"{c}*{_inside(rule)}" for c, rule in terms)
    return " + ".join(words) or "0"
