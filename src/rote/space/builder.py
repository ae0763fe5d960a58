"""`SpaceBuilder` collects variables, factors and constraints; `template` caches spaces by shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from math import prod
from typing import Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from rote.errors import InfeasibleSpace, LabelError, RuleError, SpaceError
from rote.settings import check, number
from rote.space.compiled import keep_recent
from rote.space.language import Is, LinearRows, Rule, Variable, check_exact, whole
from rote.space.network import holds_everywhere
from rote.space.space import Factor, NamedRule, SoftRule, Space
from rote.types import AnyArray, FloatArray, IntArray, joined, offsets_from_counts, readonly

Shape = ParamSpec("Shape")
Shared = TypeVar("Shared", Variable, Factor)

Labels: TypeAlias = AnyArray | Sequence[Is] | Sequence[int]

NO_YES = ("no", "yes")
NO_LABELS = readonly(np.empty(0, dtype=np.int64))
KEPT_BROKEN = ("kept", "broken")
# Joint labels of two variables, or of more, for which a soft rule is a factor.
FEW_PAIRS, FEW_TUPLES = 1 << 12, 1 << 8
MAX_TUPLES = 1 << 31  # of a factor: each has a score, and no memory holds so many


class Pool:
    """The variables and factors of some builders: those that say the same are one object.

    One builder by itself never says the same twice, and shares nothing.
    """

    def __init__(self, *, shared: bool = True) -> None:
        self.owner = object()
        self._known = WeakValueDictionary[object, Any]() if shared else None

    def share(self, kind: type[Shared], *content: Any) -> Shared:
        """The one object of this content."""
        if self._known is None:
            return kind(*content)
        found: Shared | None = self._known.get((kind, content))
        if found is None:
            found = self._known[kind, content] = kind(*content)
        return found


@dataclass(frozen=True, eq=False)
class Options(Sequence[Is]):
    """Yes/no candidates, each a rule: it is taken. Made by `SpaceBuilder.options`.

    Parameters
    ----------
    variables
        A variable with the labels "no" and "yes" for each.
    positions
        Where "yes" of each stands among the labels of the space, for rules in bulk.
    """

    variables: tuple[Variable, ...]
    positions: IntArray

    def __len__(self) -> int:
        return len(self.variables)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return Options(self.variables[i], self.positions[i])
        return Is(self.variables[i], 1)


class SpaceBuilder:
    """Collects variables, factors and rules, then builds a frozen `Space`.

    Parameters
    ----------
    pool
        What `template` gives, so that its spaces share variables and factors.

    >>> builder = SpaceBuilder()
    >>> x = builder.variable("x", ["a", "b"])
    >>> y = builder.variable("y", ["a", "b", "c"])
    >>> builder.require(x["a"] >> y["c"])
    >>> builder.build()
    Space(2 variables, 0 factors, 1 rules, 5 parts)
    """

    def __init__(self, pool: Pool | None = None) -> None:
        self._pool = pool or Pool(shared=False)
        self._variables: list[Variable] = []
        self._names: set[str] = set()
        self._starts = [0]  # of the labels of each variable; one more ends the last
        self._factors: list[Factor] = []
        self._scopes: set[tuple[int, ...]] = set()
        self._rules: list[NamedRule] = []
        self._soft: list[tuple[str, Rule, float | None]] = []

    def variable(self, name: str, labels: Sequence[str]) -> Variable:
        """A new variable; its labels are distinct strings, in the order of their scores."""
        if not isinstance(name, str):
            raise SpaceError(f"a variable's name is a string, got {name!r}")
        if not isinstance(labels, Sequence):
            raise LabelError(
                f"the labels of variable {name!r} are a list or tuple of strings, because their "
                f"order counts; got {type(labels).__name__}"
            )
        listed = tuple(labels)
        if not listed:
            raise SpaceError(f"variable {name!r} has no labels; give it at least one")
        wrong = [label for label in listed if not isinstance(label, str)]
        if wrong:
            raise LabelError(f"labels are strings; variable {name!r} has {wrong[0]!r}")
        if len(set(listed)) != len(listed):
            twice = next(label for label in listed if listed.count(label) > 1)
            raise LabelError(f"variable {name!r} has the label {twice!r} twice; drop one")
        if name in self._names:
            raise SpaceError(f"a variable is called {name!r} already; give this one another name")
        pool = self._pool
        variable = pool.share(Variable, name, listed, len(self._variables), pool.owner)
        self._variables.append(variable)
        self._names.add(name)
        self._starts.append(self._starts[-1] + len(listed))
        return variable

    def option(self, name: str) -> Is:
        """A yes/no candidate: the rule that it is taken.

        It is the label "yes" of a new variable, whose other label is "no".

        >>> builder = SpaceBuilder()
        >>> wine, dessert = builder.option("wine"), builder.option("dessert")
        >>> builder.require(dessert >> ~wine)
        """
        return Is(self.variable(name, NO_YES), 1)

    def options(self, names: Iterable[str]) -> Options:
        """Many yes/no candidates at once.

        >>> from rote import SpaceBuilder, at_most
        >>> builder = SpaceBuilder()
        >>> cities = builder.options(["Bonn", "Berlin", "Paris"])
        >>> builder.require(at_most(1, cities))
        """
        named = list(names)
        wrong = [name for name in named if not isinstance(name, str)]
        if wrong:
            raise SpaceError(f"an option's name is a string, got {wrong[0]!r}")
        if len(self._names.union(named)) < len(self._names) + len(named):
            twice = next(n for n in named if n in self._names or named.count(n) > 1)
            raise SpaceError(f"an option or variable is called {twice!r} already; names differ")
        pool, first, start = self._pool, len(self._variables), self._starts[-1]
        made = tuple(
            [
                pool.share(Variable, name, NO_YES, j, pool.owner)
                for j, name in enumerate(named, first)
            ]
        )
        self._variables += made
        self._names.update(named)
        self._starts += range(start + 2, start + 2 * len(made) + 1, 2)
        return Options(made, readonly(np.arange(start + 1, self._starts[-1], 2)))

    def factor(self, *variables: Variable, name: str | None = None) -> Factor:
        """Scores for every joint labelling of two or more variables."""
        for variable in variables:
            self._check_own(variable, "a factor", SpaceError)
        scope = tuple(v.index for v in variables)
        if len(scope) < 2 or len(set(scope)) != len(scope):
            names = [v.name for v in variables]
            raise SpaceError(f"a factor is over two or more different variables, got {names}")
        if prod(len(v.labels) for v in variables) > MAX_TUPLES:
            raise SpaceError(
                f"a factor has a score for each of at most {MAX_TUPLES} label tuples, and one "
                f"over these {len(scope)} variables has more; use global "
                "features (rote.space.global_features), rules, or smaller factors"
            )
        if scope in self._scopes:
            names = [v.name for v in variables]
            raise SpaceError(f"there is a factor over {names} already; add the scores up instead")
        factor = self._pool.share(Factor, name or "-".join(v.name for v in variables), scope)
        self._factors.append(factor)
        self._scopes.add(scope)
        return factor

    def require(self, rule: Rule, name: str | None = None) -> None:
        """Every output obeys ``rule``; errors speak of it by ``name`` or by its text.

        A rule about no variable, such as ``all_of()``, is always or never obeyed: the one
        is left out, the other raises `InfeasibleSpace` here.
        """
        self._check_rule(rule, "require")
        named = NamedRule(name, rule)
        if rule.variables:
            self._rules.append(named)
        elif not rule.holds({0: np.zeros(1, dtype=np.int64)}).all():
            raise InfeasibleSpace([named.name])

    def prefer(
        self, rule: Rule, weight: float | Literal["learned"], name: str | None = None
    ) -> None:
        """Outputs that break ``rule`` are worth less.

        A rule about no variable, such as ``all_of()``, makes no difference and is left out.

        Parameters
        ----------
        rule
            What is better kept.
        weight
            By how much an output that breaks it is worth less, at least 0; or "learned": it is a
            feature of the output, and its weight is `Model.rule_costs` ``[name]``.
        name
            What it is called, its text unless given; rules of one name share a learned weight.
        """
        self._check_rule(rule, "prefer")
        if weight != "learned":
            check("the weight of a soft rule", weight, number(least=0))
        if rule.variables:
            given = None if weight == "learned" else float(weight)
            self._soft.append((name or str(rule), rule, given))

    def _check_rule(self, rule: Rule, what: str) -> None:
        if not isinstance(rule, Rule):
            raise RuleError(
                f"{what} takes a rule such as x['a'] >> y['b'], got {rule!r}"
                + (
                    "; == and != compare Python objects, write x['a'] >> y['b'] "
                    "and y['b'] >> x['a'] instead"
                    if isinstance(rule, bool)
                    else ""
                )
            )
        variables, own = rule.variables, self._variables
        for variable in variables:
            if variable.index >= len(own) or own[variable.index] is not variable:
                self._check_own(variable, "this rule", RuleError)

    def require_implications(self, first: Labels, then: Labels, name: str | None = None) -> None:
        """Where an output has the label ``first[i]``, it has ``then[i]``, for every i.

        Parameters
        ----------
        first, then
            Labels, by their positions among the labels of the space as `Options.positions` has
            them, or rules such as x["a"] and options.
        name
            What errors call these rules, each with its number behind.

        >>> builder = SpaceBuilder()
        >>> towns, trips = builder.options(["Bonn", "Paris"]), builder.options(["there", "back"])
        >>> builder.require_implications(trips.positions, towns.positions[[1, 0]])
        >>> builder.build().satisfied([[0, 1, 1, 0], [0, 1, 0, 1]])
        array([ True, False])
        """
        pairs = [self._positions(each) for each in (first, then)]
        if pairs[0].shape != pairs[1].shape:
            raise RuleError(
                f"an implication is from one label to another one; got {len(pairs[0])} labels and "
                f"{len(pairs[1])}"
            )
        count = len(pairs[0])
        signs = np.tile(np.array([-1, 1]), count)
        self.require_rows(
            np.stack(pairs, axis=1).ravel(), signs, 2 * np.arange(count), at_least=0, name=name
        )

    def require_counts(
        self,
        groups: AnyArray | Sequence[Labels],
        *,
        at_least: AnyArray | int | None = None,
        at_most: AnyArray | int | None = None,
        name: str | None = None,
    ) -> None:
        """At least and at most so many labels of each group are taken.

        With ``at_most=1`` those of a group exclude each other.

        Parameters
        ----------
        groups
            A row of labels for each, as an array of two dimensions or as a list of lists; labels
            as in `require_implications`.
        at_least, at_most
            Whole numbers for all groups, or one for each; None is no limit.
        name
            What errors call these rules, each with its number behind.

        >>> builder = SpaceBuilder()
        >>> towns = builder.options(["Bonn", "Berlin", "Paris"]).positions
        >>> builder.require_counts([towns, towns[:2]], at_most=[2, 1])
        >>> builder.build().satisfied([[1, 1, 0], [1, 0, 1]])
        array([False,  True])
        """
        own = [self._positions(group) for group in groups]
        starts = offsets_from_counts([len(group) for group in own])[:-1]
        labels, ends = joined(own), {"at_least": at_least, "at_most": at_most}
        self.require_rows(labels, np.ones(len(labels), np.int64), starts, **ends, name=name)

    def require_rows(
        self,
        labels: Labels,
        coefficients: AnyArray | Sequence[int],
        starts: AnyArray | Sequence[int],
        *,
        at_least: AnyArray | Sequence[int] | int | None = None,
        at_most: AnyArray | Sequence[int] | int | None = None,
        name: str | None = None,
    ) -> None:
        """The coefficients of those labels of a row that are taken add up to so much.

        Parameters
        ----------
        labels
            Those of all rows, one row after the other, as in `require_implications`.
        coefficients
            A whole number for each of them.
        starts
            Where each row begins in ``labels``.
        at_least, at_most
            Whole numbers for all rows, or one for each; None is no limit.
        name
            What errors call these rules, each with its number behind.

        >>> builder = SpaceBuilder()
        >>> x, y, z = builder.options("xyz")
        >>> builder.require_rows([x, y, z], [2, 1, 1], [0], at_most=2)
        >>> builder.build().satisfied([[1, 1, 0], [0, 1, 1]])
        array([False,  True])
        """
        column, given = self._positions(labels), np.asarray(coefficients)
        if given.shape != column.shape or not (
            given.size == 0 or np.issubdtype(given.dtype, np.integer)
        ):
            raise RuleError(
                f"rows have a whole number for each of their {len(column)} labels; got "
                f"{coefficients!r:.80}"
            )
        first = np.asarray(starts, dtype=np.int64)
        ptr = np.append(first, len(column))
        if (first[:1] != 0).any() or (np.diff(ptr) < 0).any():
            raise RuleError(f"the first row starts at 0, others behind it; got {starts!r:.80}")
        count, coefficient = len(first), given.astype(np.int64, copy=False)
        if not count:
            return
        low = self._limits(at_least, count, -np.inf)
        high = self._limits(at_most, count, np.inf)
        ends = np.abs(np.concatenate([low, high]))
        check_exact(float(np.abs(coefficient).sum() + ends.max(where=ends < np.inf, initial=0)))
        row = np.repeat(np.arange(count), np.diff(ptr))
        entries = (row, column, coefficient)
        rows = LinearRows.of(tuple(self._variables), np.array(self._starts), *entries, low, high)
        never = (np.diff(rows.ptr) == 0) & ((low > 0) | (high < 0))
        if never.any():
            r = int(never.argmax())
            raise InfeasibleSpace([f"{name or 'rows'}, row {r}: {rows.row(r)}"])
        if len(rows.column):
            self._rules.append(NamedRule(name, rows))

    def build(self) -> Space:
        """The space as it stands now; the builder may go on."""
        space = Space(tuple(self._variables), tuple(self._factors), tuple(self._rules))
        return self._with_soft(space) if self._soft else space

    def _with_soft(self, space: Space) -> Space:
        """The space with a factor for each soft rule over few labels, or a variable."""
        variables, factors, rules = list(space.variables), list(space.factors), list(space.rules)
        added: list[tuple[str, Rule, float | None, Variable | Factor]] = []
        for name, rule, weight in self._soft:
            scope = tuple(v.index for v in rule.variables)
            shape = [len(v.labels) for v in rule.variables]
            if prod(shape) <= (FEW_PAIRS if len(scope) == 2 else FEW_TUPLES):
                holds = holds_everywhere(rule, scope, shape)
                if holds.all():
                    continue
                if len(scope) > 1 and holds.any():
                    factors.append(self._pool.share(Factor, name, scope))
                    added.append((name, rule, weight, factors[-1]))
                    continue
            said = f"rule {len(added)}: {name}"
            if said in self._names:
                raise SpaceError(f"a variable is called {said!r}; give it another name")
            own = (said, KEPT_BROKEN, len(variables), self._pool.owner)
            variables.append(self._pool.share(Variable, *own))
            kept, broken = variables[-1]["kept"], variables[-1]["broken"]
            rules.append(NamedRule(said, (kept >> rule) & (broken >> ~rule)))
            added.append((name, rule, weight, variables[-1]))
        first = len(variables) + len(space.factors)
        soft = []
        for name, rule, weight, at in added:
            slot = at.index if isinstance(at, Variable) else first
            first += isinstance(at, Factor)
            soft.append(SoftRule(name, rule, weight, slot))
        return Space(tuple(variables), tuple(factors), tuple(rules), tuple(soft))

    def _positions(self, labels: Labels) -> IntArray:
        """Labels by their positions, checked."""
        if not isinstance(labels, np.ndarray):
            labels = [self._position(label) for label in labels]
        found = np.asarray(labels)
        if not found.size:
            return NO_LABELS
        if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
            raise RuleError(
                "rules in bulk take lists of labels, by position or such as x['a']; got an array "
                f"of {found.dtype} of shape {found.shape}"
            )
        if found.min() < 0 or found.max() >= self._starts[-1]:
            wrong = found[(found < 0) | (found >= self._starts[-1])][0]
            raise LabelError(
                f"{wrong} is the position of no label; there are {self._starts[-1]} labels so far"
            )
        return found.astype(np.int64, copy=False)

    def _position(self, label: object) -> int:
        if isinstance(label, Is):
            self._check_own(label.variable, "this rule", RuleError)
            return self._starts[label.variable.index] + label.label
        return whole(label, "a label is given as a rule such as x['a'] or by its position,")

    def _limits(self, limit: object, count: int, none: float) -> FloatArray:
        """The limit of each row."""
        if limit is None:
            return np.full(count, none)
        found = np.asarray(limit)
        if isinstance(limit, np.ndarray) and found.dtype == np.float64 and found.shape == (count,):
            return found
        if not np.issubdtype(found.dtype, np.integer) or found.shape not in ((), (count,)):
            raise RuleError(
                f"at_least and at_most are a whole number, or one for each of {count} groups; "
                f"got {limit!r:.80}"
            )
        return np.broadcast_to(found, count).astype(np.float64)

    def _check_own(self, variable: object, what: str, error: type[SpaceError]) -> None:
        if not isinstance(variable, Variable):
            raise SpaceError(f"{what} is over variables made by builder.variable, got {variable!r}")
        known = variable.owner is self._pool.owner and variable.index < len(self._variables)
        if not known or self._variables[variable.index] is not variable:
            raise error(
                f"{what} speaks of the variable {variable.name!r} of another space; "
                "use the variables that this builder made"
            )


def template(
    write: Callable[Concatenate[SpaceBuilder, Shape], None],
) -> Callable[Shape, Space]:
    """Make a function that writes a space by shape build each shape once.

    While anybody holds the space of a shape, it is the one that is returned. Beyond that, those
    that were asked for last are kept, within a limit of bytes (`rote.space.compiled`).

    Parameters
    ----------
    write
        Gets a builder and hashable arguments, and adds what the space of this shape has.

    >>> @template
    ... def pairs(builder: SpaceBuilder, n: int) -> None:
    ...     for i in range(n):
    ...         builder.variable(f"x{i}", ["a", "b"])
    >>> pairs(4) is pairs(4)
    True
    """
    pool = Pool()

    @keep_recent
    @wraps(write)
    def build(*args: Shape.args, **kwargs: Shape.kwargs) -> Space:
        builder = SpaceBuilder(pool)
        write(builder, *args, **kwargs)
        return builder.build()

    return build
