"""Decompositions: which sets of variables may differ from the gold output together.

The *neighbourhood* of a gold output y is all that the sets S of its decomposition reach,

    nbr(y) = { y' that obey the rules :  y' differs from y inside one s ∈ S }

A set inside another one reaches nothing of its own, and is left out. `HammingBall` is DecL-k: all
sets of k variables, or a few of them drawn afresh for every problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from rote.errors import SettingError
from rote.inference.problem import Problem
from rote.kernels.bundles import VariableSets
from rote.kernels.local_search.hash_random import draw_subsets
from rote.settings import SEED, Checked, Setting, check, is_number, optional, whole
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, IntArray, offsets_from_counts, readonly

EVERY = 1 << 62  # no limit on how many variables of a set may differ
Function: TypeAlias = Callable[[Space, IntArray], Iterable[Iterable[int]]]
FUNCTION = Setting(
    "a function of a space and a gold output",
    lambda value: callable(value) and not isinstance(value, type),
)


@dataclass(frozen=True, eq=False)
class NeighbourhoodSets:
    """Sets for every input of a batch; and the inputs for which all outputs are to be looked at."""

    sets: tuple[VariableSets, ...]
    whole: BoolArray  # (m,)


class Decomposition(Protocol):
    """Says what is around gold outputs."""

    def split(self, problem: Problem, gold: IntArray) -> NeighbourhoodSets: ...


@dataclass(frozen=True)
class CustomSets(Checked):
    """Sets by a function of your own.

    Parameters
    ----------
    function
        From a space and one gold output (its labels by position) to sets of variables, by number.

    >>> from rote import SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y, z = (builder.variable(name, "ab") for name in "xyz")
    >>> halves = CustomSets(lambda space, gold: [[0, 1], [1], [2]])
    >>> halves.lists(builder.build(), np.zeros((1, 3), np.int64))
    [[(0, 1), (2,)]]
    """

    function: Function

    checks: ClassVar = {"function": FUNCTION}

    def lists(self, space: Space, gold: IntArray) -> list[list[tuple[int, ...]]]:
        """The sets of each gold output, none of them inside another."""
        return [normalised(self.function(space, row), len(space.variables)) for row in gold]

    def split(self, problem: Problem, gold: IntArray) -> NeighbourhoodSets:
        return NeighbourhoodSets((as_around(self.lists(problem.space, gold)),), no_input(gold))


@dataclass(frozen=True)
class Union:
    """All sets of several decompositions."""

    decompositions: tuple[Decomposition, ...]

    def __init__(self, *decompositions: Decomposition | Function) -> None:
        if not decompositions:
            raise SettingError("a union is of at least one decomposition")
        each = tuple(as_decomposition(one) for one in decompositions)
        object.__setattr__(self, "decompositions", each)

    def split(self, problem: Problem, gold: IntArray) -> NeighbourhoodSets:
        parts = [each.split(problem, gold) for each in self.decompositions]
        whole = np.logical_or.reduce([part.whole for part in parts])
        return NeighbourhoodSets(
            tuple(around for part in parts for around in part.sets), readonly(whole)
        )


@dataclass(frozen=True)
class HammingBall(Checked):
    """All outputs that differ from the gold one in at most k variables.

    Parameters
    ----------
    k
        How many variables may differ at once, at least 1; the cost grows as the number of such
        sets.
    sample
        So many sets of k variables are drawn, uniformly, for every input; None for all of them.
    seed
        Of the draw, which is a function of it, the scores and the gold output: other weights draw
        other sets, and the same problem has the same answer.
    """

    k: int
    sample: int | None = None
    seed: int = 0

    checks: ClassVar = {"k": whole(1), "sample": optional(whole(1)), "seed": SEED}

    def split(self, problem: Problem, gold: IntArray) -> NeighbourhoodSets:
        (m, n), k = gold.shape, min(self.k, gold.shape[1])
        arrays: tuple[AnyArray, ...] = np.zeros(m), np.ones(m), np.array([0, n]), np.arange(n)
        is_sampled = self.sample is not None and k < n
        if self.sample is not None and is_sampled:
            members = draw_subsets(problem.scores, gold, k, self.sample, self.seed)
            first = np.arange(m) * self.sample
            arrays = first, first + self.sample, np.arange(m * self.sample + 1) * k, members
        begin, end, ptr, own = (readonly(array.astype(np.int64)) for array in arrays)
        around = VariableSets(begin, end, ptr, own, EVERY if is_sampled else k)
        return NeighbourhoodSets((around,), no_input(gold))


DECOMPOSITION = Setting(
    "one such as HammingBall(2), or a function from a space and a gold output to sets of positions",
    lambda value: FUNCTION.accepts(value) or _splits(value),
    lambda value: value if _splits(value) else CustomSets(value),
)


def _splits(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(value, "split") and not isinstance(value, str)


def as_decomposition(given: Decomposition | Function) -> Decomposition:
    """A decomposition; functions from a space and a gold output to sets will do."""
    found: Decomposition = check("decomposition", given, DECOMPOSITION)
    return found


def no_input(gold: IntArray) -> BoolArray:
    return readonly(np.zeros(len(gold), dtype=np.bool_))


def normalised(sets: Iterable[Iterable[int]], variables: int) -> list[tuple[int, ...]]:
    """Sets in order, each sorted, without those inside another one."""
    try:
        given = [list(one) for one in sets]
    except TypeError:
        raise SettingError(
            f"a decomposition is a list of sets of positions of variables; got {sets!r:.80}"
        ) from None
    for j in (j for one in given for j in one):
        if not is_number(j, Integral) or not 0 <= j < variables:
            raise SettingError(
                "a set of a decomposition holds positions of variables, counted from 0, and "
                f"there are {variables}; got {j!r}"
            )
    distinct = {frozenset(int(j) for j in one) for one in given}
    kept = [one for one in distinct if one and not any(one < other for other in distinct)]
    return sorted(tuple(sorted(one)) for one in kept)


def as_around(lists: Sequence[Sequence[Sequence[int]]]) -> VariableSets:
    """Sets of each input, flat."""
    counts = np.array([len(sets) for sets in lists], dtype=np.int64)
    end = np.cumsum(counts)
    sizes = [len(one) for sets in lists for one in sets]
    members = [j for sets in lists for one in sets for j in one]
    return VariableSets(
        readonly(end - counts),
        readonly(end),
        readonly(offsets_from_counts(sizes)),
        readonly(np.array(members, dtype=np.int64)),
        EVERY,
    )


def sets_per_input(around: VariableSets) -> IntArray:
    """How many sets each input has."""
    return around.end - around.begin


def of_inputs(around: VariableSets, inputs: IntArray) -> VariableSets:
    """The sets of some of the inputs."""
    begin, end = around.begin, around.end
    if len(inputs) == len(begin):
        return around
    if around.most < EVERY:  # all inputs share one
        return VariableSets(
            readonly(begin[inputs]), readonly(end[inputs]), around.ptr, around.members, around.most
        )
    which = np.zeros(len(around.ptr) - 1, dtype=np.bool_)
    for i in inputs.tolist():
        which[begin[i] : end[i]] = True
    return some_sets(around, which, readonly(sets_per_input(around)[inputs]))


def some_sets(around: VariableSets, which: BoolArray, counts: IntArray) -> VariableSets:
    """Some of the sets, so many of each input."""
    sizes, end = np.diff(around.ptr), np.cumsum(counts)
    return VariableSets(
        readonly(end - counts),
        readonly(end),
        readonly(offsets_from_counts(sizes[which])),
        readonly(around.members[np.repeat(which, sizes)]),
        around.most,
    )
