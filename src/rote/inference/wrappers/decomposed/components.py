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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rote.inference.problem import Problem
from rote.inference.wrappers.decomposed.sets import EVERY, NeighbourhoodSets, no_input
from rote.inference.wrappers.decomposed.signs import Sign, Signs, signs_of
from rote.kernels.bundles import VariableSets
from rote.kernels.neighbourhood.components import may_swap, signed_components
from rote.settings import FLAG, Checked
from rote.space.space import Space
from rote.types import BoolArray, IntArray, readonly


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
            return readonly((around.end - around.begin) > 1)
        return readonly(~may_swap(gold, network.graph, network.allowed, around))
