"""Global features: of whole outputs, which no sum over variables and written-out tables can say.

A global feature has one of so many values, and every value has a weight; a family of features
shares a block of weights. So are label tuples of many neighbours scored without a table of all of
them, how often each label occurs, or whatever a function of your own says. The value of an
output is that of its parts plus, for every global feature, the weight of the value it has there.
Only engines that search (`RGS`, `LearnedRestarts`) and `Exhaustive` take them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from rote.errors import SpaceError
from rote.kernels.bundles import GlobalFeatures, Items
from rote.kernels.constants import STATES
from rote.kernels.local_search.clusters import cluster_values
from rote.kernels.local_search.global_features import no_items
from rote.settings import Checked, whole
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, joined, offsets_from_counts, readonly

FORMS = 4  # of mentions


class GlobalFeature(Protocol):
    """A family of features. Frames are compared by their families, so these can be hashed."""

    @property
    def block(self) -> str:
        """The name of its weights."""
        ...

    @property
    def width(self) -> int:
        """How many values there are, and so weights."""
        ...

    @property
    def count(self) -> int:
        """How many features an output has."""
        ...

    def values(self, labels: IntArray) -> IntArray:
        """For outputs of shape (k, variables), the values of their features: (k, count)."""
        ...


@dataclass(frozen=True)
class Tuples:
    """The labels of some variables together; all scopes have labels of the same ``sizes``.

    >>> pairs = Tuples("pairs", ((0, 1), (1, 2)), (3, 3))
    >>> pairs.values(np.array([[2, 0, 1]])).tolist()
    [[6, 1]]
    """

    block: str
    scopes: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        for scope in self.scopes:
            if len(scope) != len(self.sizes) or len(set(scope)) != len(scope):
                raise SpaceError(
                    f"a tuple of block {self.block!r} is over {len(self.sizes)} different "
                    f"variables, got {scope}"
                )

    @property
    def width(self) -> int:
        return int(np.prod(self.sizes, dtype=object))

    @property
    def count(self) -> int:
        return len(self.scopes)

    @cached_property
    def strides(self) -> IntArray:
        """What the label at each place of a tuple moves its value by."""
        return readonly(np.cumprod((1, *self.sizes[:0:-1]))[::-1].astype(np.int64))

    @cached_property
    def places(self) -> IntArray:
        """The scopes as rows."""
        return readonly(np.array(self.scopes, dtype=np.int64).reshape(-1, len(self.sizes)))

    def values(self, labels: IntArray) -> IntArray:
        return np.asarray(labels[:, self.places] @ self.strides)


@dataclass(frozen=True)
class LabelCounts(Checked):
    """For every label, which share of the variables has it, in ``bins``; the first is for none.

    All variables have the same labels, so many.

    >>> LabelCounts("shares", 2, 3).values(np.array([[1, 1, 1, 0], [1, 1, 1, 1]])).tolist()
    [[1, 5], [0, 5]]
    """

    block: str
    labels: int
    bins: int

    checks: ClassVar = {"bins": whole(2)}

    @property
    def width(self) -> int:
        return self.labels * self.bins

    @property
    def count(self) -> int:
        return self.labels

    def values(self, labels: IntArray) -> IntArray:
        n = labels.shape[1]
        having = (labels[:, :, None] == np.arange(self.labels)).sum(axis=1)
        bins = np.minimum(self.bins - 1, 1 + (having - 1) * (self.bins - 1) // max(1, n))
        return np.asarray(np.arange(self.labels) * self.bins + np.where(having == 0, 0, bins))


@dataclass(frozen=True)
class ClusterAgreement:
    """What mentions have in common with those before them in the entity that links make.

    Label b > 0 of mention i links it to mention i - b, and label 0 makes it new. ``attributes`` has
    for each mention the same number of values, such as its gender, number and head; 0 stands for
    what is not known. ``forms`` is a number for each mention: weights are learned for each form
    apart. A mention has a feature for every attribute: whether it is the first of its entity,
    unknown against those before it, the same as one of them, or other than all; and one for how
    many there are.

    >>> two = ClusterAgreement("entity", ((1,), (2,), (1,)), (0, 0, 0))
    >>> two.values(np.array([[0, 1, 2]])).tolist()  # first, other, same; none, one, two before
    [[0, 20, 3, 21, 2, 22]]
    """

    block: str
    attributes: tuple[tuple[int, ...], ...]
    forms: tuple[int, ...]

    def __post_init__(self) -> None:
        widths, values = set(map(len, self.attributes)), {v for own in self.attributes for v in own}
        if len(widths) > 1 or len(self.attributes) != len(self.forms):
            raise SpaceError("mentions have one form and equally many attributes each")
        if min(values, default=0) < 0 or not set(self.forms) <= set(range(FORMS)):
            raise SpaceError(f"attributes are whole numbers >= 0, and forms those below {FORMS}")

    @property
    def width(self) -> int:
        return (self._each + 1) * FORMS * STATES

    @property
    def count(self) -> int:
        return (self._each + 1) * len(self.forms)

    @property
    def _each(self) -> int:
        return len(self.attributes[0]) if self.attributes else 0

    def values(self, labels: IntArray) -> IntArray:
        return cluster_values(self.items(0), readonly(labels))

    def items(self, origin: int) -> Items:
        """What kernels are told."""
        return Items(origin, *self._arrays)

    @cached_property
    def _arrays(self) -> tuple[IntArray, IntArray, int, int]:
        given = np.array(self.attributes, dtype=np.int64).reshape(len(self.forms), self._each)
        # No two attributes share a value but 0.
        shift = offsets_from_counts(given.max(axis=0, initial=0))[:-1]
        values = np.where(given > 0, given + shift, 0)
        form = readonly(np.array(self.forms, dtype=np.int64))
        return readonly(values), form, FORMS, int(values.max(initial=0)) + 1


@dataclass(frozen=True)
class CustomFeature:
    """Global features of your own.

    Parameters
    ----------
    block
        The name of their weights.
    width
        How many values a feature may have, and so how many weights there are.
    count
        How many features an output has.
    function
        For outputs of shape (k, variables) the values of their features, whole numbers of shape
        (k, count). It is asked about all outputs around one at once.

    >>> same_ends = CustomFeature("ends", 2, 1, lambda y: (y[:, :1] == y[:, -1:]).astype(int))
    >>> same_ends.values(np.array([[0, 1, 0], [0, 1, 1]])).tolist()
    [[1], [0]]
    """

    block: str
    width: int
    count: int
    function: Callable[[IntArray], AnyArray]

    def values(self, labels: IntArray) -> IntArray:
        values = np.asarray(self.function(labels))
        if values.shape != (len(labels), self.count) or values.dtype.kind not in "iub":
            raise SpaceError(
                f"the features of block {self.block!r} have whole numbers of the shape "
                f"({len(labels)}, {self.count}); got {values.dtype} of {values.shape}"
            )
        if values.size and not (values.min() >= 0 and values.max() < self.width):
            raise SpaceError(
                f"the features of block {self.block!r} have values from 0 to {self.width - 1}; got "
                f"{values.min()} to {values.max()}"
            )
        return values.astype(np.int64)


@dataclass(frozen=True, eq=False)
class GlobalFeatureSet:
    """All families of a frame. Those that kernels know are told to them as `GlobalFeatures`."""

    families: tuple[GlobalFeature, ...]
    variables: int  # of the space

    @cached_property
    def counts(self) -> IntArray:
        """How many features each family has."""
        return readonly(np.array([family.count for family in self.families], dtype=np.int64))

    def values(self, labels: IntArray) -> IntArray:
        """The values of all features, of shape (k, features), family after family."""
        return np.hstack([family.values(labels) for family in self.families])

    @property
    def is_known(self) -> bool:
        """Whether kernels know all families."""
        kinds = [type(family) for family in self.families]
        once = (kinds.count(LabelCounts), kinds.count(ClusterAgreement))
        return set(kinds) <= {Tuples, LabelCounts, ClusterAgreement} and max(once) <= 1

    def compiled(self, weights: FloatArray, origins: IntArray) -> GlobalFeatures:
        """What kernels are told, given where the weights of each feature begin."""
        shares, bins, items = 0, 0, no_items()
        tuples = np.repeat([isinstance(f, Tuples) for f in self.families], self.counts)
        for family, first in zip(self.families, np.cumsum(self.counts) - self.counts, strict=True):
            if isinstance(family, LabelCounts):
                shares, bins = int(origins[first]), family.bins
            if isinstance(family, ClusterAgreement) and family.count:
                items = family.items(int(origins[first]))
        return GlobalFeatures(
            weights, readonly(origins[tuples]), *self._places, shares, bins, items
        )

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
        """The places of all tuples: tuple by tuple, and then variable by variable."""
        families = [family for family in self.families if isinstance(family, Tuples)]
        lengths = joined(np.full(family.count, len(family.sizes)) for family in families)
        variable = readonly(joined(family.places.ravel() for family in families))
        stride = readonly(joined(np.tile(family.strides, family.count) for family in families))
        order = np.argsort(variable, kind="stable")
        counts = np.bincount(variable, minlength=self.variables)
        of = readonly(np.repeat(np.arange(len(lengths)), lengths)[order])
        of_ptr, of_stride = readonly(offsets_from_counts(counts)), readonly(stride[order])
        return readonly(offsets_from_counts(lengths)), variable, stride, of_ptr, of, of_stride


@dataclass(frozen=True, eq=False)
class GlobalFeatureScores:
    """Global features under weights; all inputs of a batch share them."""

    global_features: GlobalFeatureSet
    origins: IntArray  # per feature: where its block begins among the weights
    weights: FloatArray

    def known_value(self, labels: IntArray) -> FloatArray:
        """What the features of outputs of shape (k, variables) add to their scores."""
        return np.asarray(
            self.weights[self.origins + self.global_features.values(labels)].sum(axis=1)
        )

    @cached_property
    def most(self) -> float:
        """The most they can add."""
        total, first = 0.0, 0
        for family in self.global_features.families:
            if family.count:
                begin = int(self.origins[first])
                total += family.count * float(self.weights[begin : begin + family.width].max())
            first += family.count
        return total

    @cached_property
    def compiled(self) -> GlobalFeatures:
        """What kernels are told."""
        return self.global_features.compiled(self.weights, self.origins)


def columns_of(
    space: Space, global_features: GlobalFeatureSet | None, labels: IntArray
) -> IntArray:
    """What stands for outputs in learning: labels, then tuples of factors, then global features.

    Outputs are those that an engine found, of shape (k, variables).
    """
    columns = space.known_parts_of(labels) - space.starts[:-1]
    if global_features is not None:
        columns = np.hstack([columns, global_features.values(labels)])
    return readonly(columns)


def tuples_along(block: str, variables: int, span: int, labels: int) -> Tuples:
    """The tuples of so many neighbours in a sequence; none where it is too short."""
    scopes = tuple(tuple(range(t, t + span)) for t in range(variables - span + 1))
    return Tuples(block, scopes, (labels,) * span)
