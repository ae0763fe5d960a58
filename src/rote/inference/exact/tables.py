"""The tables of a network, and `Planned`: what engines that compile a space to a plan share.

Only tables that score or forbid something join variables; a `Refusal` says which one an engine
cannot take.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from math import prod
from typing import Any, ClassVar, TypeVar

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.engine import Engine
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions
from rote.kernels.bundles import TableRuns
from rote.space.network import ALL_ZERO, Network, split
from rote.space.space import Space
from rote.types import IntArray, readonly

Form = TypeVar("Form")


@dataclass(frozen=True)
class Refusal:
    """Why an engine refuses a space: what is wrong with a table, or with a long rule.

    Holds no names, so that it can be kept for all spaces with the same fingerprint.
    """

    scope: tuple[int, ...] | None  # of the table; None for a rule that has no table
    why: str

    def described(self, space: Space) -> str:
        """What is in the way in this space, and why."""
        return f"{self._name(space)} {self.why}"

    def _name(self, space: Space) -> str:
        if self.scope is None:
            _, long_rules = split(space.sizes, [named.rule for named in space.each_rule])
            name = next(n.name for n in space.each_rule if any(n.rule is r for r in long_rules))
            return f"the rule {name!r}"
        scope = set(self.scope)
        for factor in space.factors:
            if set(factor.variables) == scope:
                return f"the factor {factor.name!r}"
        name = next(n.name for n in space.each_rule if {v.index for v in n.rule.variables} == scope)
        return f"the rule {name!r}"


LONG_RULE = Refusal(None, "joins too many labels for a table")


class Planned(Engine):
    """An engine that compiles a space to a plan once, and solves every input by it."""

    source: ClassVar[FoundBy]
    takes = ""  # what it takes or does, as the rest of a sentence that begins with its name

    @abstractmethod
    def plan(self, space: Space) -> Any:
        """The space as kernels take it, or a `Refusal`."""

    @abstractmethod
    def best(self, problem: Problem, plan: Any) -> IntArray:
        """The labels of the best output of each input."""

    def refuses(self, space: Space) -> str | None:
        plan = self.plan(space)
        if isinstance(plan, Refusal):
            return f"{type(self).__name__} {self.takes}, but {plan.described(space)}; use Exact"
        return None

    def required(self, space: Space) -> Any:
        """The plan of a space that is not refused."""
        plan = self.plan(space)
        if plan is None or isinstance(plan, Refusal):
            raise UnsupportedSpace(str(self.refuses(space)))
        return plan

    def answer(self, problem: Problem, context: Context) -> Solutions:
        labels = self.best(problem, self.required(problem.space))
        return Solutions.of(problem, labels, self.source)


def once_per_space(build: Callable[..., Form]) -> Callable[..., Form]:
    """A function of a space, and of more that can be hashed, worked out once (`Space.once`)."""

    @wraps(build)
    def found(space: Space, *more: Any) -> Form:
        return space.once(build, *more)

    return found


def int_array(values: Iterable[int]) -> IntArray:
    """Whole numbers that cannot be changed, as kernels take them."""
    return readonly(np.array(values, dtype=np.int64))


def strides_of(scopes: Iterable[Sequence[int]], sizes: IntArray) -> IntArray:
    """How far one label of each variable of each scope moves on in a table over the scope."""
    return int_array(
        [prod(sizes[[*scope[k + 1 :]]].tolist()) for scope in scopes for k in range(len(scope))]
    )


def active_tables(network: Network) -> list[tuple[int, tuple[int, ...]]]:
    """The tables that score or forbid something: number and scope."""
    found = []
    pointers, allowed = network.table_ptr.tolist(), network.allowed
    scored = np.diff(network.gather_ptr[network.table_ptr]).tolist()
    scope, scope_ptr = network.scope.tolist(), network.scope_ptr.tolist()
    for b in range(network.blocks):
        if scored[b] or not allowed[pointers[b] : pointers[b + 1]].all():
            found.append((b, tuple(scope[scope_ptr[b] : scope_ptr[b + 1]])))
    return found


def runs_of(network: Network) -> TableRuns:
    """Where the tables of a network lie."""
    moves = np.zeros(network.blocks, dtype=np.int64)
    contiguous = np.full(network.blocks, network.is_plain)
    for b in range(0 if network.is_plain else network.blocks):
        first, end = int(network.table_ptr[b]), int(network.table_ptr[b + 1])
        sources = network.gather_ptr[first : end + 1]
        parts = network.gather[sources[0] : sources[-1]]
        if len(parts) == end - first and (np.diff(sources) == 1).all():
            contiguous[b] = (np.diff(parts) == 1).all()
            moves[b] = parts[0] - first
    return TableRuns(
        network.table_ptr,
        ALL_ZERO.instead_of(moves)[0],
        readonly(contiguous),
        network.allowed,
        network.gather_ptr,
        network.gather,
    )
