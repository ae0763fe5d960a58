"""Every variable by itself: exact where nothing joins two of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rote.errors import UnsupportedSpace
from rote.inference.answers import answered
from rote.inference.base import Objective, Solutions, Source, as_objective
from rote.inference.exact.tables import Obstacle, tables_at_work
from rote.kernels.dp.chains import best_labels
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
        labels = best_labels(objective.questions, network.offsets, network.allowed)
        return answered(space, objective, labels, Source.ARGMAX)


@lru_cache(maxsize=256)
def _obstacle(space: Space) -> Obstacle | None:
    if len(space.network.rows):
        return Obstacle(None, "joins too many labels for a table")
    joined = tables_at_work(space.network)
    return Obstacle(joined[0][1], "joins variables") if joined else None
