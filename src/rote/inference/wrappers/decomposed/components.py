"""S_pair of Samdani & Roth (2012): variables connected by factors whose sign gold agrees with.

For a gold output y, an edge (u, v) is kept where y_u = y_v and the factor would rather have them
the same, or where y_u ≠ y_v and it would rather have them different. The sets are the connected
components of the kept edges. With subadditive losses and binary factors that do have these signs,
learning from such sets is exact without rules (their Theorem 2): where an output y' differs from y
in several components, factors between two of them are cut, as y disagrees with their signs, so

    φ(y'_u, y'_v) + φ(y_u, y_v)  ≤  φ(y'_u, y_v) + φ(y_u, y'_v)

and the lead of y' over y is at most the sum of the leads of y' in one component at a time.

Rules may take apart what theory wants to put together: exactness then asks that for every possible
y' and every set s, the labels of y' inside s and of y outside obey the rules. Where this cannot be
shown, by looking at rules one at a time, all outputs are looked at instead (``whole``).

*Signs.* A pairwise factor is submodular (`Sign.SAME`) where its scores of equal labels add up to
more than those of unequal ones, whatever the input, and supermodular (`Sign.DIFFERENT`) where to
less:

    φ(1,1) + φ(0,0)  >  φ(1,0) + φ(0,1)        φ(1,1) + φ(0,0)  <  φ(1,0) + φ(0,1)

Variables with more labels are taken by whether their labels have the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, TypeAlias

import numpy as np

from rote.errors import DataError, SettingError
from rote.inference.problem import Problem
from rote.inference.wrappers.decomposed.sets import (
    EVERY,
    NeighbourhoodSets,
    no_input,
    sets_per_input,
)
from rote.kernels.bundles import VariableSets
from rote.kernels.neighbourhood.components import may_swap, signed_components
from rote.settings import FLAG, Checked
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, IntArray, readonly

ROUNDING = 1e-12


class Sign(IntEnum):
    """What is known of a factor."""

    DIFFERENT = -1  # labels would rather be different
    UNKNOWN = 0  # its variables always stay together
    SAME = 1  # labels would rather be the same
    ABSENT = 2  # so weak that its variables may be taken apart


Signs: TypeAlias = (
    Sign | Sequence[int] | Mapping[Space, Sequence[int]] | Callable[[Space], Sequence[int]]
)


def signs_of(space: Space, signs: Signs) -> IntArray:
    """One sign for each factor; those that are not over two variables are unknown."""
    pairwise = np.diff(space.scope_ptr) == 2
    chosen: Sequence[int]
    if isinstance(signs, Sign):
        return readonly(np.where(pairwise, int(signs), int(Sign.UNKNOWN)))
    if isinstance(signs, Mapping):
        if space not in signs:
            raise SettingError(f"there are no signs for {space!r}")
        chosen = signs[space]
    else:
        chosen = signs(space) if callable(signs) else signs
    try:
        given = np.asarray(chosen)
    except ValueError:
        given = np.empty(0)
    if given.shape != (len(space.factors),) or not np.isin(given, list(Sign)).all():
        raise SettingError(
            f"signs are one of {', '.join(f'{s.name} ({s.value})' for s in Sign)} for each of the "
            f"{len(space.factors)} factors of {space!r}; got {chosen!r:.80}"
        )
    return readonly(np.where(pairwise, given, int(Sign.UNKNOWN)).astype(np.int64))


def estimate_signs(
    groups: Sequence[tuple[Space, AnyArray]], *, least: float = 0.0, pooled: bool = False
) -> dict[Space, IntArray]:
    """Signs from gold outputs.

    Two variables would rather have the same label if they have it more often than they would by
    chance, given how often each has which label, and different ones if less often.

    Parameters
    ----------
    groups
        Pairs of a space and its gold labels, of shape (m, variables).
    least
        Where the mutual information of two variables is not above this many bits, their factor
        counts as absent.
    pooled
        Whether all factors of all spaces are taken for one, as in a chain, whose factors share
        their weights.
    """
    groups = [(space, space.as_labels(labels)) for space, labels in groups]
    if not sum(len(labels) for _, labels in groups):
        raise DataError("there are no outputs to estimate signs from")
    pairs: dict[tuple[Space, int] | None, list[AnyArray]] = {}
    for space, labels in groups:
        batch = np.array(space.label_names)[space.offsets[:-1] + labels]
        for f, factor in enumerate(space.factors):
            if len(factor.variables) == 2:
                key = None if pooled else (space, f)
                pairs.setdefault(key, []).append(batch[:, list(factor.variables)])
    together = {key: np.concatenate(both) for key, both in pairs.items()}
    found = {key: _sign(both, least) for key, both in together.items() if len(both)}
    signs = {}
    for space, _ in groups:
        keys = [None if pooled else (space, f) for f in range(len(space.factors))]
        signs[space] = signs_of(space, [found.get(key, Sign.UNKNOWN) for key in keys])
    return signs


def _sign(both: AnyArray, least: float) -> Sign:
    """From pairs of label names."""
    names, codes = np.unique(both, return_inverse=True)
    codes = codes.reshape(both.shape)
    joint = np.zeros((len(names), len(names)))
    np.add.at(joint, (codes[:, 0], codes[:, 1]), 1.0 / len(both))
    by_chance = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    information = float((joint[seen] * np.log2(joint[seen] / by_chance[seen])).sum())
    if information <= least + ROUNDING:
        return Sign.ABSENT
    lead = float(np.trace(joint) - np.trace(by_chance))
    if abs(lead) <= ROUNDING:
        return Sign.UNKNOWN
    return Sign.SAME if lead > 0 else Sign.DIFFERENT


@dataclass(frozen=True, eq=False)
class SignedComponents(Checked):
    """The connected components of the factors with which the gold output agrees.

    Parameters
    ----------
    signs
        One `Sign` for all factors, or one for each factor of a space: as a sequence, as a mapping
        from spaces (see `estimate_signs`), or as a function of the space.
    fallback
        Whether all outputs are looked at where rules stand in the way of the theory; without it,
        sets are used everywhere, as the paper does in its experiments.
    """

    signs: Signs = Sign.SAME
    fallback: bool = True

    checks: ClassVar = {"fallback": FLAG}

    def split(self, problem: Problem, gold: IntArray) -> NeighbourhoodSets:
        space = problem.space
        first, ptr, members = signed_components(
            gold, space.layout, space.states, signs_of(space, self.signs)
        )
        around = VariableSets(
            readonly(first[:-1]), readonly(first[1:]), readonly(ptr), readonly(members), EVERY
        )
        return NeighbourhoodSets((around,), self._whole(space, gold, around))

    def _whole(self, space: Space, gold: IntArray, around: VariableSets) -> BoolArray:
        if not self.fallback or not space.rules:
            return no_input(gold)
        network = space.network
        if network.variables > network.own:
            return readonly(sets_per_input(around) > 1)
        return readonly(~may_swap(gold, network.graph, network.allowed, around))
