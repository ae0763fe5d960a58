"""`SpaceBuilder` collects variables, factors and constraints; `template` caches spaces by shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from rote.errors import InfeasibleSpace, LabelError, RuleError, SpaceError
from rote.settings import check, number
from rote.space.compiled import keep_recent
from rote.space.language import Rule, Variable
from rote.space.network import holds_everywhere
from rote.space.space import Factor, NamedRule, SoftRule, Space

Shape = ParamSpec("Shape")
Shared = TypeVar("Shared", Variable, Factor)

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
        return variable

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

        A rule that always holds, or never, makes no difference and is left out.

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
                if holds.all() or not holds.any():
                    continue
                if len(scope) > 1:
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
