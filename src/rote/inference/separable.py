"""Every variable by itself: exact where nothing joins two of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rote.errors import UnsupportedSpace
from rote.inference.answers import answered
from rote.inference.base import Objective, Solutions, Source, as_objective
from rote.kernels.chains import best_labels
from rote.space.network import Network, split
from rote.space.space import Space
from rote.types import AnyArray


@dataclass(frozen=True)
class Separable:
    """Exact for spaces whose variables have nothing to do with each other.

    Optimises Σ_j max_a scores_j(a) over the labels that rules over one variable allow.
    """

    def accepts(self, space: Space) -> bool:
        return _obstacle(space) is None

    def solve(self, space: Space, objective: Objective | AnyArray) -> Solutions:
        objective = as_objective(space, objective)
        obstacle = _obstacle(space)
        if obstacle is not None:
            raise UnsupportedSpace(
                "Separable decides every variable by itself, but "
                f"{obstacle.described(space)}; use Exact"
            )
        network = space.network
        labels = best_labels(
            objective.scores, objective.closed, objective.ties, network.offsets, network.allowed
        )
        return answered(space, objective, labels, Source.ARGMAX)


@dataclass(frozen=True)
class Obstacle:
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
            _, long_rules = split(space.sizes, [named.rule for named in space.rules])
            name = next(n.name for n in space.rules if any(n.rule is r for r in long_rules))
            return f"the rule {name!r}"
        scope = set(self.scope)
        for factor in space.factors:
            if set(factor.variables) == scope:
                return f"the factor {factor.name!r}"
        name = next(n.name for n in space.rules if {v.index for v in n.rule.variables} == scope)
        return f"the rule {name!r}"


@lru_cache(maxsize=256)
def _obstacle(space: Space) -> Obstacle | None:
    if len(space.network.rows):
        return Obstacle(None, "joins too many labels for a table")
    joined = tables_at_work(space.network)
    return Obstacle(joined[0][1], "joins variables") if joined else None


def tables_at_work(network: Network) -> list[tuple[int, tuple[int, ...]]]:
    """The tables that score or forbid something: number and scope."""
    found = []
    pointers, allowed, gather_ptr = network.table_ptr, network.allowed, network.gather_ptr
    for b in range(network.blocks):
        first, end = int(pointers[b]), int(pointers[b + 1])
        if gather_ptr[first] < gather_ptr[end] or not allowed[first:end].all():
            scope = network.scope[network.scope_ptr[b] : network.scope_ptr[b + 1]]
            found.append((b, tuple(scope.tolist())))
    return found
