"""The seam between people's data and everything else: what a task says of an input.

A task turns an input x into a `Frame` and feature vectors, and outputs y into labels and
back. The frame holds what inputs of one shape share, so it should be built once per shape
(decorate its builder with `rote.space.compiled.keep_recent`): the space, and for each variable and
factor of it a *slot*: the block of weights it uses, and which of the input's vectors it
looks at. Slots that name the same block share their weights. A frame may also have *global
features* of whole outputs (`rote.space.global_features`), with blocks of weights of their own.

A task derives from `Task`. It may say a ``feature_reader``, which reads the same vectors of many
inputs at once (`rote.features.Reader`), and is then asked instead of ``vectors``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from rote.errors import DataError, LabelError, SettingError, SpaceError
from rote.features import CONSTANT, FeatureReader, Features
from rote.space import Space
from rote.space.compiled import Forms
from rote.space.global_features import (
    ClusterAgreement,
    GlobalFeature,
    GlobalFeatureSet,
    LabelCounts,
    Tuples,
)
from rote.types import UNKNOWN, IntArray, is_unknown, readonly

GIVEN = "soft rules of given weight"  # their one weight in a model cannot change an answer
X_contra = TypeVar("X_contra", contravariant=True)
Y = TypeVar("Y")


class Slot(NamedTuple):
    """What a variable or factor is scored by: its block of weights, and a vector of the input.

    Parameters
    ----------
    block
        Slots that name the same block share their weights: parameter tying.
    vector
        The number of a feature vector, counted from 0 as ``Task.vectors`` gives them. Without one,
        a slot is scored by constants alone: one weight per label or label tuple.
    each
        Label a has a vector of its own, number ``vector + a``, and the labels share one weight per
        feature. This is for variables with different numbers of labels, such as the antecedents
        of a mention.
    tied
        The label tuples of a factor share columns of weights, tuple t has column ``tied[t]``: so do
        neighbours have one weight for "the same" and one for "different".
    """

    block: str
    vector: int | None = None
    each: bool = False
    tied: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Frame:
    """What inputs of one shape share: their space, its slots, and the kinds of their vectors.

    Parameters
    ----------
    space
        The variables, factors and rules.
    slots
        One slot per variable, in the order of the space, and then one per factor.
    kinds
        One name per feature vector, in the order in which ``Task.vectors`` gives them: vectors of
        one kind share their features' names, and so slots of one block look at vectors of one kind.
    global_features
        Features of whole outputs, for engines that search.

    Examples
    --------
    Two words with a tag each, a vector each, and a factor that looks at neither:

    >>> from rote import Frame, Slot, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> tags = [builder.variable(f"tag {i}", ("N", "V")) for i in range(2)]
    >>> _ = builder.factor(*tags)
    >>> slots = Slot("tag", 0), Slot("tag", 1), Slot("two tags")
    >>> Frame(builder.build(), slots, kinds=("word", "word")).widths.tolist()
    [2, 2, 4]
    """

    space: Space
    slots: tuple[Slot, ...]
    kinds: tuple[str, ...] = ()
    global_features: tuple[GlobalFeature, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.kinds, str):
            raise SpaceError(
                f"kinds names the kind of each vector of an input; got the text {self.kinds!r}; "
                f"for one vector write ({self.kinds!r},)"
            )
        for slot in self.slots:
            if not isinstance(slot, Slot):
                raise SpaceError(f"slots are such as Slot('block', 0); got {slot!r:.80}")
        for family in self.global_features:
            self._check_global(family)
        space = self.space
        if space.soft and len(self.slots) == space.own + len(space.own_factors):
            object.__setattr__(self, "slots", self._with_soft())
        expected = len(space.variables) + len(space.factors)
        if len(self.slots) != expected:
            raise SpaceError(
                f"a frame has one slot per variable and factor of its space, {expected} in all; "
                f"got {len(self.slots)}"
            )
        for s, (slot, width) in enumerate(
            zip(self.slots, np.diff(self.starts).tolist(), strict=True)
        ):
            if slot.tied is not None:
                self._check_tied(s, slot, slot.tied, width)
            if slot.vector is None:
                if slot.each:
                    raise SpaceError(f"a slot of block {slot.block!r} has each, but no vector")
                continue
            end = slot.vector + (width if slot.each else 1)
            if slot.vector < 0 or end > len(self.kinds):
                raise SpaceError(
                    f"a slot of block {slot.block!r} looks at vector {end - 1}, counted from 0; "
                    f"kinds names one kind per vector, and there are {len(self.kinds)}"
                )
            if len(set(self.kinds[slot.vector : end])) > 1:
                raise SpaceError(
                    f"a slot of block {slot.block!r} looks at vectors of several kinds; "
                    "those of its labels are of one kind"
                )

    def _with_soft(self) -> tuple[Slot, ...]:
        """All slots: those of soft rules are two weights, or one for both that never moves."""
        space, rest = self.space, iter(self.slots)
        found = dict[int, Slot]()
        for soft in space.soft:
            broken = space.breaks(soft)
            if soft.weight is None:
                tied = tuple(broken.astype(int).tolist())
                found[soft.slot] = Slot(soft.block, tied=tied if len(tied) > 2 else None)
            else:
                found[soft.slot] = Slot(GIVEN, tied=(0,) * len(broken))
        every = range(len(space.variables) + len(space.factors))
        return tuple(found[s] if s in found else next(rest) for s in every)

    def _check_tied(self, number: int, slot: Slot, tied: tuple[int, ...], width: int) -> None:
        if slot.each or number < self.space.own:
            raise SpaceError(f"a slot of block {slot.block!r} is tied, and is not that of a factor")
        if len(tied) != width or set(tied) != set(range(max(tied) + 1)):
            raise SpaceError(
                f"a tied slot of block {slot.block!r} says for each of {width} label tuples which "
                f"of the columns 0, 1, … it has; got {len(tied)} numbers"
            )

    def _check_global(self, family: GlobalFeature) -> None:
        sizes, n = self.space.sizes, len(self.space.variables)
        if self.space.own < n and not isinstance(family, Tuples):
            raise SpaceError(
                f"the global features {family.block!r} look at all variables, and a soft rule over "
                "many of them would add one; make the rule hard, or shorter, or leave one out"
            )
        if isinstance(family, Tuples):
            for scope in family.scopes:
                fits = min(scope) >= 0 and max(scope) < n
                if not fits or tuple(sizes[list(scope)].tolist()) != family.sizes:
                    raise SpaceError(
                        f"a tuple of block {family.block!r} is over the variables {scope}, which "
                        f"are to have {family.sizes} labels; those of the space are others"
                    )
        if isinstance(family, ClusterAgreement) and (
            len(family.forms) != n or (sizes > np.arange(1, n + 1)).any()
        ):
            raise SpaceError(
                f"the entities {family.block!r} are those of {len(family.forms)} mentions, each of "
                "which can be new or linked to one before it; the variables of the space are others"
            )
        if isinstance(family, LabelCounts) and (sizes != family.labels).any():
            raise SpaceError(
                f"the histogram {family.block!r} is over {family.labels} labels, and not all "
                "variables of the space have as many"
            )

    def without_rules(self) -> Frame:
        """The same with a space that has no rules."""
        return self._free if self.space.rules else self

    @cached_property
    def _free(self) -> Frame:
        return replace(self, space=self.space.without_rules())

    @property
    def forms(self) -> Forms:
        """The compiled forms of the space."""
        return self.space.forms

    @cached_property
    def global_feature_set(self) -> GlobalFeatureSet | None:
        """All global features together; None where there are none."""
        families = self.global_features
        return GlobalFeatureSet(families, len(self.space.variables)) if families else None

    @property
    def starts(self) -> IntArray:
        """The first part of each slot; one more entry ends the last."""
        return self.space.starts

    @property
    def widths(self) -> IntArray:
        """How many columns of weights each slot uses."""
        counts = np.diff(self.starts)
        for s, slot in enumerate(self.slots):
            if slot.each or slot.tied is not None:
                counts[s] = 1 if slot.tied is None else max(slot.tied) + 1
        return readonly(counts)

    @cached_property
    def needed(self) -> tuple[tuple[str, str, int, tuple[str, ...] | None], ...]:
        """What all slots need, each once: a block, its kind, columns and labels."""
        variables = self.space.variables
        found: dict[tuple[str, str, int, tuple[str, ...] | None], None] = {}
        for number, (slot, width) in enumerate(zip(self.slots, self.widths.tolist(), strict=True)):
            kind = CONSTANT if slot.vector is None else self.kinds[slot.vector]
            named = number < len(variables) and not slot.each
            found[slot.block, kind, width, variables[number].labels if named else None] = None
        for family in self.global_features:
            found[family.block, CONSTANT, family.width, None] = None
        return tuple(found)


class Task(Protocol[X_contra, Y]):
    """What an input looks like and what its outputs mean."""

    @abstractmethod
    def frame(self, x: X_contra) -> Frame:
        """What inputs of this shape share; the same object for the same shape."""
        ...

    @abstractmethod
    def vectors(self, x: X_contra) -> Sequence[Features]:
        """The feature vectors of an input, as many as its frame has kinds."""
        ...

    @property
    def feature_reader(self) -> FeatureReader | None:
        """What reads the same vectors of many inputs at once; None where ``vectors`` does."""
        return None

    @abstractmethod
    def encode(self, x: X_contra, y: Y) -> Sequence[int]:
        """The labels of an output, by their position, one per variable."""
        ...

    @abstractmethod
    def decode(self, x: X_contra, labels: Sequence[int]) -> Y:
        """The output of labels, one position per variable."""
        ...


@dataclass(frozen=True)
class WithoutRules:
    """A task whose outputs need not obey the rules, to see what rules change.

    A model of it has the same weights: `Model.without_rules` predicts as if there were no rules,
    and learning with it is learning without them.

    Parameters
    ----------
    task
        The task with rules.
    """

    task: Any

    def frame(self, x: Any) -> Frame:
        return cast(Frame, self.task.frame(x)).without_rules()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "task":  # while a copy is made there is none yet
            raise AttributeError(name)
        return getattr(self.task, name)


@lru_cache(maxsize=64)
def _numbered(labels: tuple[str, ...]) -> dict[str, int]:
    return {label: position for position, label in enumerate(labels)}


def positions(
    labels: tuple[str, ...], given: Sequence[Any], what: str = "a label", *, unknown: bool = False
) -> list[int]:
    """The positions of some labels; one that does not exist is refused.

    Where some may be ``unknown``, they have the position -1.

    >>> positions(("a", "b"), ["b", "b", "a"])
    [1, 1, 0]
    >>> positions(("a", "b"), ["b", None, "?"], unknown=True)
    [1, -1, -1]
    """
    known = _numbered(labels)
    try:
        return [known[label] for label in given]
    except (KeyError, TypeError):  # a list cannot even be looked up
        open_places = [unknown and is_unknown(label, labels) for label in given]
        for label, is_open in zip(given, open_places, strict=True):
            if not is_open and label not in labels:
                raise LabelError(
                    f"{label!r} is not {what}; the labels are {', '.join(labels)}"
                ) from None
        pairs = zip(given, open_places, strict=True)
        return [UNKNOWN if is_open else known[label] for label, is_open in pairs]


def labels_of(space: Space, encoded: Sequence[Any], *, unknown: bool = False) -> IntArray:
    """What a task's ``encode`` gave for some outputs, or for one, as a checked batch of labels.

    Those that are ``unknown`` stay -1 where they may be, and are refused elsewhere.
    """
    given = np.array(encoded)
    if given.dtype.kind == "i" and given.ndim and given.shape[-1] == len(space.variables):
        lacks = given == UNKNOWN
        if unknown:
            return np.where(lacks, UNKNOWN, space.as_labels(np.where(lacks, 0, given)))
        if lacks.any():
            raise LabelError(
                f"the label of variable {space.names[int(lacks.argmax()) % lacks.shape[-1]]!r} is "
                "unknown (-1), and learning needs all of them; let a model fill them in: "
                "model.predict(xs, given=ys)"
            )
    # Whether a label is on may well be said by True and False.
    return space.as_labels(given.astype(np.int64) if given.dtype == np.bool_ else given)


def check_task(task: Task[Any, Any]) -> None:
    """Refuse what is no task, such as the class of one."""
    if isinstance(task, type):
        raise SettingError(f"a task is made before it is used, as in Task(...); got {task!r}")
    methods = "frame", "vectors", "encode", "decode"
    missing = [name for name in methods if not callable(getattr(task, name, None))]
    if missing:
        raise SettingError(
            f"a task has the methods {', '.join(methods)}, as `rote.Task` says; {task!r:.80} has "
            f"no {missing[0]}"
        )
    if not hasattr(task, "feature_reader"):
        raise SettingError(
            f"a task has a feature_reader, which may be None; {task!r:.80} has none; derive its "
            "class from rote.Task, which says None"
        )


def check_frame(frame: Frame) -> None:
    """Refuse what is no frame, such as the None of a function that forgets to return one."""
    if not isinstance(frame, Frame):
        raise DataError(f"a task's frame(x) gives a Frame, got {frame!r:.80}")
