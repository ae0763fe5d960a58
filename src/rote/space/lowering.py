"""Constraints as linear rows: lower <= A z <= upper over the columns of a space.

A column is one label of one variable (1 when the variable takes it), or, after
these, one auxiliary 0/1 column. An output obeys the rules exactly when some
choice of the auxiliary columns satisfies every row.

How a rule becomes rows:

1. Everything is rewritten over *set literals* "variable j takes a label in S".
   Labels of one variable exclude each other, so not, and, or of literals of one
   variable are set literals again.
2. What remains is brought into clauses. A clause Σ_j z_j(S_j) >= 1 is one row; a
   clause with one count inside, "literals or Σ c z <= b", is the row
   Σ c z <= b + M · Σ_j z_j(S_j) with the least M that is safe.
3. Clauses that differ in one variable only are merged by intersecting its sets.
   This is what turns r=Kill >> e=Peop and r=Live_In >> e=Peop into the single
   tight row z_r(Kill) + z_r(Live_In) <= z_e(Peop).
4. An auxiliary column is made only where clauses would multiply (`MAX_CLAUSES`)
   or where a count counts something that is not a literal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, product
from math import gcd
from typing import TypeAlias

import numpy as np

from rote.errors import RuleError
from rote.space.language import (
    Acyclic,
    And,
    Implies,
    Is,
    Linear,
    LinearRows,
    Not,
    Or,
    Rule,
    Tuples,
    check_exact,
)
from rote.types import FloatArray, IntArray, offsets_from_counts, readonly

MAX_CLAUSES = 24


@dataclass(frozen=True, eq=False)
class Rows:
    """Sparse rows: ``lower <= A z <= upper``, columns as in the module's docstring.

    Without rows there are no auxiliary columns.
    """

    indptr: IntArray
    indices: IntArray
    data: FloatArray
    lower: FloatArray
    upper: FloatArray
    labels: int
    auxiliary: int

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def columns(self) -> int:
        return self.labels + self.auxiliary


# A formula in normal form. Literals come first; TRUE and FALSE are the empty forms.
@dataclass(frozen=True)
class Literal:
    variable: int
    labels: frozenset[int]


@dataclass(frozen=True)
class Joint:
    """Every one of some formulas holds, or one of them."""

    every: bool
    of: tuple[Formula, ...]


@dataclass(frozen=True)
class Sum:
    """lower <= Σ coefficient · [formula] <= upper."""

    terms: tuple[tuple[int, Formula], ...]
    lower: int | None
    upper: int | None


Formula: TypeAlias = Literal | Joint | Sum
TRUE, FALSE = Joint(True, ()), Joint(False, ())
_Weights: TypeAlias = dict[tuple[int, int], float]  # by variable and label
_Row: TypeAlias = tuple[_Weights, float, float]  # and its two ends


@dataclass(frozen=True)
class Clause:
    """At least one literal is true, or the sum (if there is one) is within its bounds."""

    literals: tuple[tuple[int, frozenset[int]], ...]
    sum: Sum | None = None


def lower(sizes: Sequence[int], rules: Iterable[Rule]) -> Rows:
    """Rows that hold exactly on the outputs that obey ``rules``."""
    writer = _Writer([int(size) for size in sizes])
    for rule in rules:
        if isinstance(rule, Acyclic):  # what stands for a path need not say that there is none
            writer.clauses += writer.clausal(writer.acyclic(rule, (False,)))
        else:
            writer.clauses += writer.clausal(writer.normal(rule, True))
    return writer.rows()


def lower_as_written(sizes: Sequence[int], rules: Iterable[Rule]) -> Rows:
    """Rows that hold exactly on the outputs that obey ``rules``, clause by clause as they stand.

    Several times as quick as `lower` for clauses of labels and counts of labels; what else there
    is goes there. No clauses are merged, so bounds from these rows are weaker: they are for
    propagation. Auxiliary columns are the second labels of variables after the others.
    """
    offsets = [0, *accumulate(sizes)]
    ends, columns, lows, ups = [0], list[int](), list[float](), list[float]()
    weights: list[float] = []
    others = []

    def write(row: dict[int, float], low: float, up: float) -> None:
        for column in sorted(row):
            columns.append(column)
            weights.append(row[column])
        ends.append(len(columns))
        lows.append(low)
        ups.append(up)

    tables = []
    for rule in rules:
        if isinstance(rule, LinearRows):
            tables.append(as_rows(rule, np.array(offsets)))
            continue
        counted = _count_of_literals(offsets, rule) if isinstance(rule, Linear) else None
        if counted is not None:
            write(*counted)
            continue
        clauses = _clauses(offsets, rule, True)
        if clauses is None:
            others.append(rule)
            continue
        for clause in clauses:
            row: dict[int, float] = {}
            low = 1
            for literal in clause:
                if literal < 0:
                    row[~literal] = row.get(~literal, 0) - 1
                    low -= 1
                else:
                    row[literal] = row.get(literal, 0) + 1
            write(row, low, np.inf)
    rows = Rows(
        readonly(np.array(ends, dtype=np.int64)),
        readonly(np.array(columns, dtype=np.int64)),
        readonly(np.array(weights, dtype=np.float64)),
        readonly(np.array(lows, dtype=np.float64)),
        readonly(np.array(ups, dtype=np.float64)),
        offsets[-1],
        0,
    )
    if others:
        tables.append(lower(sizes, others))
    return reduce(stacked, tables, rows)


def as_rows(table: LinearRows, offsets: IntArray) -> Rows:
    """A table of rows as it stands, in a space whose variables' labels begin there."""
    coefficients = readonly(table.coefficient.astype(np.float64))
    column, labels = readonly(offsets[table.owner] + table.label), int(offsets[-1])
    return Rows(table.ptr, column, coefficients, table.lower, table.upper, labels, 0)


def _count_of_literals(
    offsets: Sequence[int], rule: Linear
) -> tuple[dict[int, float], float, float] | None:
    """The row of a count of labels, taken or not; None where it counts something else."""
    row: dict[int, float] = {}
    constant = 0
    for weight, term in rule.terms:
        if isinstance(term, Not):
            constant += weight
            weight, term = -weight, term.of
        if not isinstance(term, Is):
            return None
        column = offsets[term.variable.index] + term.label
        row[column] = row.get(column, 0) + weight
    low = -np.inf if rule.lower is None else rule.lower - constant
    return row, low, np.inf if rule.upper is None else rule.upper - constant


def _clauses(offsets: Sequence[int], rule: Rule, positive: bool) -> list[list[int]] | None:
    """Clauses of columns, ~column where a label is not taken; None for rules that need more."""
    if isinstance(rule, Is):
        column = offsets[rule.variable.index] + rule.label
        return [[column if positive else ~column]]
    if isinstance(rule, Not):
        return _clauses(offsets, rule.of, not positive)
    if isinstance(rule, Implies):
        parts = [_clauses(offsets, rule.first, not positive)]
        parts.append(_clauses(offsets, rule.then, positive))
    elif isinstance(rule, And | Or):
        parts = [_clauses(offsets, inner, positive) for inner in rule.of]
    else:
        return None
    every = isinstance(rule, And) is positive
    joined: list[list[int]] = [] if every else [[]]
    for part in parts:
        if part is None:
            return None
        joined = joined + part if every else [one + other for one in joined for other in part]
        if len(joined) > MAX_CLAUSES and not every:
            return None
    return joined


def stacked(first: Rows, second: Rows) -> Rows:
    """The rows of both; the second's auxiliary columns come after the first's."""
    moved = second.indices + first.auxiliary * (second.indices >= second.labels)
    return Rows(
        readonly(np.concatenate([first.indptr, second.indptr[1:] + first.indptr[-1]])),
        readonly(np.concatenate([first.indices, moved])),
        readonly(np.concatenate([first.data, second.data])),
        readonly(np.concatenate([first.lower, second.lower])),
        readonly(np.concatenate([first.upper, second.upper])),
        first.labels,
        first.auxiliary + second.auxiliary,
    )


@dataclass
class _Writer:
    """Collects clauses; the sizes grow by one two-valued variable per auxiliary column."""

    sizes: list[int]
    clauses: list[Clause] = field(default_factory=list)
    named: dict[tuple[Formula, tuple[bool, ...]], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.variables = len(self.sizes)

    # -- normal form ------------------------------------------------------------------

    def normal(self, rule: Rule, positive: bool) -> Formula:
        match rule:
            case Is(variable=variable, label=label):
                literal = Literal(variable.index, frozenset([label]))
                return self.simple(literal) if positive else self.negated(literal)
            case Not(of=inner):
                return self.normal(inner, not positive)
            case And(of=inner_rules) | Or(of=inner_rules):
                parts = [self.normal(inner, positive) for inner in inner_rules]
                return self.joined(isinstance(rule, And) is positive, parts)
            case Implies(first=first, then=then):
                return self.normal(Or((Not(first), then)), positive)
            case LinearRows():
                return self.normal(And(rule.each), positive)
            case Acyclic():
                acyclic = self.acyclic(rule, (True, False))
                return acyclic if positive else self.negated(acyclic)
            case Tuples(over=over, allowed=allowed):
                return self.tuples([v.index for v in over], allowed, positive)
            case Linear(terms=terms, lower=low, upper=up):
                counted = tuple((c, self.normal(term, True)) for c, term in terms if c)
                total = Sum(counted, low, up)
                return total if positive else self.negated(total)
            case _:
                raise RuleError(f"expected a rule such as variable['label'], got {rule!r}")

    def negated(self, formula: Formula) -> Formula:
        match formula:
            case Literal(variable=j, labels=labels):
                return self.simple(Literal(j, frozenset(range(self.sizes[j])) - labels))
            case Joint(every=every, of=parts):
                return self.joined(not every, [self.negated(part) for part in parts])
            case Sum(terms=terms, lower=low, upper=up):
                outside = [] if low is None else [Sum(terms, None, low - 1)]
                outside += [] if up is None else [Sum(terms, up + 1, None)]
                return self.joined(False, outside)

    def simple(self, literal: Literal) -> Formula:
        if not literal.labels:
            return FALSE
        return TRUE if len(literal.labels) == self.sizes[literal.variable] else literal

    def joined(self, every: bool, parts: Sequence[Formula]) -> Formula:
        """Flattened, with the literals of one variable combined into one."""
        neutral, end = (TRUE, FALSE) if every else (FALSE, TRUE)
        literals: dict[int, frozenset[int]] = {}
        others: dict[Formula, None] = {}
        stack = list(reversed(parts))
        while stack:
            part = stack.pop()
            if part == end:
                return end
            if isinstance(part, Joint) and part.every is every:
                stack.extend(reversed(part.of))
            elif isinstance(part, Literal):
                known = literals.get(part.variable, part.labels)
                joint = known & part.labels if every else known | part.labels
                literals[part.variable] = joint
            else:
                others[part] = None
        simple = [self.simple(Literal(j, labels)) for j, labels in literals.items()]
        if end in simple:
            return end
        kept = (*[part for part in simple if part != neutral], *others)
        return kept[0] if len(kept) == 1 else Joint(every, kept)

    def tuples(
        self, over: list[int], allowed: frozenset[tuple[int, ...]], positive: bool
    ) -> Formula:
        """A list of tuples, label by label of the first variable, equal rests together."""
        if not over or not allowed:
            return TRUE if bool(allowed) == positive else FALSE
        rests = defaultdict[int, set[tuple[int, ...]]](set)
        for labels in allowed:
            rests[labels[0]].add(labels[1:])
        groups = defaultdict[frozenset[tuple[int, ...]], set[int]](set)
        for label in range(self.sizes[over[0]]):
            groups[frozenset(rests[label])].add(label)
        parts = []
        for rest, labels_of_first in groups.items():
            here = Literal(over[0], frozenset(labels_of_first))
            inner = self.tuples(over[1:], rest, positive)
            parts.append(self.joined(False, [self.negated(here), inner]))
        return self.joined(True, parts)

    def acyclic(self, rule: Acyclic, directions: tuple[bool, ...]) -> Formula:
        """No cycle is left when nodes are taken out one by one, those of fewest arcs first.

        What is left says by an arc from u to w that a path goes there through nodes taken out. An
        output closes a cycle exactly where a node that is taken out has arcs to u and back.
        """
        paths = defaultdict[int, dict[int, list[Formula]]](lambda: defaultdict(list))
        for arc, (u, w) in zip(rule.arcs, rule.nodes, strict=True):
            paths[u][w].append(self.normal(arc, True))
        into = defaultdict[int, set[int]](set)
        for u, ends in paths.items():
            for w in ends:
                into[w].add(u)
        closed: list[Formula] = []
        left = {*paths, *into}
        while left:
            node = min(left, key=lambda v: (len(into[v]) * len(paths[v]), v))
            left.remove(node)
            before, after = into.pop(node, set()), paths.pop(node, {})
            if node in after:
                closed.append(self.negated(self.joined(False, after.pop(node))))
                before.discard(node)
            to = {u: self.named_once(paths[u].pop(node), directions) for u in sorted(before)}
            fro = {w: self.named_once(after[w], directions) for w in sorted(after)}
            for w in fro:
                into[w].discard(node)
            for (u, first), (w, then) in product(to.items(), fro.items()):
                if u == w:
                    closed.append(self.negated(self.joined(True, [first, then])))
                else:
                    paths[u][w].append(self.joined(True, [first, then]))
                    into[w].add(u)
        return self.joined(True, closed)

    def named_once(self, ways: list[Formula], directions: tuple[bool, ...]) -> Formula:
        """Whether one of these holds, as a literal."""
        formula = self.joined(False, ways)
        simple = isinstance(formula, Literal) or formula in (TRUE, FALSE)
        return formula if simple else self.auxiliary(formula, *directions)

    # -- clauses ----------------------------------------------------------------------

    def clausal(self, formula: Formula) -> list[Clause]:
        match formula:
            case Literal(variable=j, labels=labels):
                return [Clause(((j, labels),))]
            case Sum():
                return [Clause((), self.over_literals(formula))]
            case Joint(every=True, of=parts):
                return [clause for part in parts for clause in self.clausal(part)]
            case Joint(of=parts):
                product = [Clause(())]
                options = [(self.clausal(part), part) for part in parts]
                for clauses, part in sorted(options, key=lambda option: len(option[0])):
                    # However long, a part alone is not: naming it would make it no shorter.
                    crowded = len(product) > 1 and len(product) * len(clauses) > MAX_CLAUSES
                    two_sums = any(c.sum for c in product) and any(c.sum for c in clauses)
                    if crowded or two_sums:
                        clauses = self.clausal(self.auxiliary(part, True))
                    product = [self.union(a, b) for a in product for b in clauses]
                return [
                    clause
                    for clause in product
                    if all(len(labels) < self.sizes[j] for j, labels in clause.literals)
                ]

    def union(self, a: Clause, b: Clause) -> Clause:
        literals = dict(a.literals)
        for j, labels in b.literals:
            literals[j] = literals.get(j, frozenset()) | labels
        return Clause(tuple(sorted(literals.items(), key=lambda item: item[0])), a.sum or b.sum)

    def auxiliary(self, formula: Formula, *directions: bool) -> Literal:
        """A column that is 1 only if the formula holds (True), whenever it does (False), both."""
        if (formula, directions) not in self.named:
            column = self.named[formula, directions] = len(self.sizes)
            self.sizes.append(2)
            for only_if in directions:
                unset = Literal(column, frozenset([0 if only_if else 1]))
                then = formula if only_if else self.negated(formula)
                self.clauses += self.clausal(self.joined(False, [unset, then]))
        return Literal(self.named[formula, directions], frozenset([1]))

    def over_literals(self, total: Sum) -> Sum:
        """The same sum with every counted formula replaced by a literal."""
        terms: list[tuple[int, Formula]] = []
        for coefficient, formula in total.terms:
            if not isinstance(formula, Literal) and formula not in (TRUE, FALSE):
                # Only the direction in which counting wrongly could help must be forbidden.
                bounded = {coefficient > 0: total.lower, coefficient < 0: total.upper}
                directions = [way for way in (True, False) if bounded[way] is not None]
                formula = self.auxiliary(formula, *directions)
            terms.append((coefficient, formula))
        return Sum(tuple(terms), total.lower, total.upper)

    # -- rows -------------------------------------------------------------------------

    def rows(self) -> Rows:
        clauses = dict.fromkeys(self.clauses)
        rows: list[_Row] = []
        for clause in _merged([clause for clause in clauses if clause.sum is None]):
            weights, constant = self.linear([(1, Literal(*lit)) for lit in clause.literals])
            rows.append((weights, 1 - constant, np.inf))
        for clause in clauses:
            if clause.sum is not None:
                rows += self.sum_rows(clause.sum, clause.literals)
        rows = [_reduced(*row) for row in rows]
        *offsets, labels = offsets_from_counts(self.sizes[: self.variables]).tolist()
        # An auxiliary column stands for the second label of its variable.
        offsets += range(labels - 1, labels - 1 + len(self.sizes) - self.variables)
        placed = [
            sorted((offsets[j] + label, w) for (j, label), w in weights.items() if w)
            for weights, _, _ in rows
        ]
        return Rows(
            readonly(offsets_from_counts(list(map(len, placed)))),
            readonly(np.array([column for row in placed for column, _ in row], dtype=np.int64)),
            readonly(np.array([weight for row in placed for _, weight in row], dtype=np.float64)),
            readonly(np.array([low for _, low, _ in rows], dtype=np.float64)),
            readonly(np.array([up for _, _, up in rows], dtype=np.float64)),
            labels,
            # Where every row fell away, nothing is left that could hold an auxiliary column.
            len(self.sizes) - self.variables if rows else 0,
        )

    def linear(self, terms: Iterable[tuple[int, Formula]]) -> tuple[_Weights, float]:
        """Σ coefficient · literal as weights on labels and a constant, the sparser way round."""
        weights: _Weights = {}
        constant = 0.0
        for coefficient, formula in terms:
            if not isinstance(formula, Literal):
                constant += coefficient * (formula == TRUE)
                continue
            j, labels = formula.variable, formula.labels
            auxiliary = j >= self.variables
            complement = labels == {0} if auxiliary else 2 * len(labels) > self.sizes[j]
            if complement:
                labels = frozenset(range(self.sizes[j])) - labels
                constant += coefficient
                coefficient = -coefficient
            for label in labels:
                weights[j, label] = weights.get((j, label), 0.0) + coefficient
        return weights, constant

    def sum_rows(self, total: Sum, literals: Iterable[tuple[int, frozenset[int]]]) -> list[_Row]:
        """The rows of a sum, which need not hold where one of the literals does."""
        weights, constant = self.linear(total.terms)
        low = -np.inf if total.lower is None else total.lower - constant
        up = np.inf if total.upper is None else total.upper - constant
        if not literals:
            return [(weights, low, up)]
        least, most = self.reach(weights)
        escape, free = self.linear([(1, Literal(*lit)) for lit in literals])
        found: list[_Row] = []
        if most > up:  # Σ c z <= up + (most - up) · (escape + free)
            room = most - up
            found.append((_plus(weights, escape, -room), -np.inf, up + room * free))
        if least < low:
            room = low - least
            found.append((_plus(weights, escape, room), low - room * free, np.inf))
        return found

    def reach(self, weights: _Weights) -> tuple[float, float]:
        """The least and the most Σ c z can be, one label per variable."""
        by_variable = defaultdict[int, list[float]](list)
        for (j, _), weight in weights.items():
            by_variable[j].append(weight)
        each = [own + [0.0] * (len(own) < self.sizes[j]) for j, own in by_variable.items()]
        return sum(map(min, each)), sum(map(max, each))


def _plus(a: _Weights, b: _Weights, scale: float) -> _Weights:
    return a | {key: a.get(key, 0.0) + scale * weight for key, weight in b.items()}


def _reduced(weights: _Weights, low: float, up: float) -> _Row:
    """A row divided by what divides all of its coefficients, its ends rounded inwards."""
    ends = [abs(end) for end in (low, up) if abs(end) < np.inf]
    check_exact(sum(abs(weight) for weight in weights.values()) + max(ends, default=0.0))
    divisor = gcd(*(int(weight) for weight in weights.values()))
    if divisor < 2:
        return weights, low, up
    # Over the whole numbers: as floats, quotients may be off by one.
    inner_low = low if low == -np.inf else float(-(-int(low) // divisor))
    inner_up = up if up == np.inf else float(int(up) // divisor)
    if inner_low > inner_up:  # no output obeys: said by ends that are in order
        return weights, low, up
    return {key: weight // divisor for key, weight in weights.items()}, inner_low, inner_up


def _merged(clauses: list[Clause]) -> list[Clause]:
    """Clauses with all pairs that differ in one variable only joined, until none is left."""
    changed = True
    while changed:
        changed = False
        for place in range(max((len(clause.literals) for clause in clauses), default=0)):
            groups = defaultdict[object, list[Clause]](list)
            for clause in clauses:
                here, rest = clause.literals[place : place + 1], clause.literals[place + 1 :]
                key = (here[0][0], clause.literals[:place], rest) if here else clause
                groups[key].append(clause)
            if len(groups) < len(clauses):
                changed = True
                joint = (_intersected(group, place) for group in groups.values())
                clauses = list(dict.fromkeys(joint))
    return clauses


def _intersected(group: list[Clause], place: int) -> Clause:
    if len(group) == 1:
        return group[0]
    literals = list(group[0].literals)
    labels = frozenset.intersection(*[clause.literals[place][1] for clause in group])
    # With no label left the variable drops out: the clause rests on the others.
    literals[place : place + 1] = [(literals[place][0], labels)] if labels else []
    return Clause(tuple(literals))
