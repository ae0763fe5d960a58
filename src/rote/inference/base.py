"""The seam: an engine takes a space and an objective and returns `Solutions`.

We always maximise. Every answer is a proof: its ``value``, an upper ``bound`` on
what any output could reach, a ``status``, and the ``source`` that found it.

Ties. Two values closer than ``tie = TIE · max(1, max |score|)`` count as equal.
Among the outputs whose value is within one tie of the best, every exact engine
returns the one with the lexicographically smallest labels, in the order of the
space's variables. So all exact engines give the same answer, every time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rote.errors import LabelError, ScoreError, SettingError, SpaceError, UnsupportedSpace
from rote.kernels.bundles import Questions, Slots, Vectors
from rote.kernels.learning.linear import scores_of
from rote.kernels.outputs import all_finite, ties_of
from rote.space.global_features import TraitScores, TraitSet
from rote.space.losses import Term
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, Scalar, frozen

if TYPE_CHECKING:
    from rote.viz import Picture

TIE = 1e-10
Index: TypeAlias = AnyArray | Sequence[int] | slice | int  # of rows: one of them, or several
NONE_CLOSED = frozen(np.empty((0, 0), dtype=np.bool_))


class Status(IntEnum):
    """What is known of an answer."""

    OPTIMAL = 0  # no output is better
    FEASIBLE = 1  # obeys the rules; something better may exist
    INFEASIBLE = 2  # nothing obeys the rules and the given labels
    TIMED_OUT = 3  # a limit was hit before any output was found


class Source(IntEnum):
    """What found an answer."""

    ENUMERATION = 0
    ARGMAX = 1
    CHAIN = 2
    TREE = 3
    ELIMINATION = 4
    BRANCH = 5
    MILP = 6
    CACHE = 7  # an output remembered, proved from what is known of its problem
    CERTIFICATE = 8  # an output proved by duals
    NEIGHBOUR = 9  # the best of the outputs around the gold one
    GREEDY = 10  # the best of those that a greedy search came to
    BEAM = 11  # the best of those that were left in a beam


class Inputs(NamedTuple):
    """Feature vectors of the inputs of a batch, and which weights each part of a space uses."""

    vectors: Vectors
    slots: Slots
    firsts: IntArray  # the first vector of each input
    size: int  # how many weights there are
    traits: TraitSet | None = None  # of the space, whose slots are the last ones

    def rows(self, index: Index) -> Inputs:
        """Some of the inputs."""
        return self._replace(firsts=frozen(self.firsts[_rows_at(index, len(self.firsts))]))

    def scores(self, weights: FloatArray) -> FloatArray:
        """The scores of all parts, of shape (m, parts), under some weights."""
        if weights.shape != (self.size,):
            raise ScoreError(f"these inputs have {self.size} weights, got {weights.shape}")
        return frozen(scores_of(frozen(weights), self.vectors, self.slots, self.firsts))

    def label_scores(self, weights: FloatArray, variables: int) -> FloatArray:
        """Of the parts, the labels of so many variables alone: those come first."""
        slots = self.slots
        return self._replace(
            slots=slots._replace(
                vector=frozen(slots.vector[:variables]),
                start=frozen(slots.start[: variables + 1]),
                tied=frozen(slots.tied[:variables]),
            )
        ).scores(weights)

    def objective(
        self, space: Space, weights: FloatArray, gold: IntArray | None = None
    ) -> Objective:
        """What outputs are worth under some weights."""
        scores, traits = self.scores(weights), self.trait_scores(weights)
        return checked_for(space, Objective(scores, gold=gold, inputs=self, traits=traits))

    def trait_scores(self, weights: FloatArray) -> TraitScores | None:
        """The scores of traits under some weights."""
        if self.traits is None:
            return None
        first = len(self.slots.origin) - int(self.traits.counts.sum())
        return TraitScores(self.traits, frozen(self.slots.origin[first:]), frozen(weights))


@dataclass(frozen=True, eq=False)
class Objective:
    """Scores of shape (m, parts): m inputs that share one space.

    ``allowed`` of shape (m, labels) closes labels for single inputs; this is how
    variables are clamped (see `clamp`). None leaves every label open. A ``term`` adds to an
    output's score what no sum over parts can say, and so do the ``traits`` of whole outputs, which
    have weights of their own; engines that look at parts alone refuse both.
    Learners say which outputs are right, the ``gold`` ones of shape (m, variables): `Decomposed`
    looks around them, and other engines do not look at them at all. Learners and models also say
    what the scores come from, the ``inputs``: engines that learn score them with weights of their
    own.
    """

    scores: FloatArray
    allowed: BoolArray | None = None
    term: Term | None = None
    gold: IntArray | None = None
    inputs: Inputs | None = field(default=None, repr=False)
    traits: TraitScores | None = field(default=None, repr=False)
    # The space it was checked for; not for callers to say, and lost when anything is replaced.
    checked: Space | None = field(default=None, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.scores)

    def rows(self, index: Index) -> Objective:
        """The objective of some of the inputs."""
        rows = _rows_at(index, len(self))
        part = Objective(
            frozen(self.scores[rows]),
            None if self.allowed is None else frozen(self.allowed[rows]),
            None if self.term is None else self.term.rows(rows),
            None if self.gold is None else frozen(self.gold[rows]),
            None if self.inputs is None else self.inputs.rows(rows),
            self.traits,
        )
        return checked_for(self.checked, part)

    @property
    def adds_up(self) -> bool:
        """Whether outputs are worth the sum of their parts."""
        return self.term is None and self.traits is None

    def worth(self, space: Space, labels: IntArray) -> FloatArray:
        """What one output of each input is worth, term and traits included."""
        worth = space.worth(self.scores, labels)
        if not self.adds_up:
            there = labels.min(axis=1, initial=0) >= 0
            worth[there] += self.beyond_parts(labels[:, None, :])[there, 0]
        return np.asarray(worth)

    def beyond_parts(self, labels: IntArray) -> FloatArray:
        """What term and traits add to outputs of shape (m, k, variables): (m, k)."""
        m, k, n = labels.shape
        worth = np.zeros((m, k)) if self.term is None else self.term.value(labels)
        if self.traits is not None:
            whole = np.maximum(labels, 0).reshape(m * k, n)
            worth = worth + self.traits.worth(whole).reshape(m, k)
        return np.asarray(worth)

    @property
    def closed(self) -> BoolArray:
        """The labels that are not allowed, for kernels: no row at all when all are."""
        if self.allowed is None:
            return NONE_CLOSED
        return frozen(~self.allowed)

    @cached_property
    def questions(self) -> Questions:
        """Scores, closed labels and ties, for kernels."""
        return Questions(frozen(self.scores), self.closed, self.ties)

    def closed_labels(self, space: Space) -> BoolArray:
        """The labels that no input may have, or not this one, of shape (m, labels)."""
        never = ~space.network.allowed[: space.labels]
        return frozen(
            np.tile(never, (len(self), 1)) if self.allowed is None else never | ~self.allowed
        )

    @cached_property
    def ties(self) -> FloatArray:
        """How close two values of each input are when they count as equal."""
        return frozen(ties_of(self.scores, TIE))


@dataclass(frozen=True, eq=False)
class Solutions:
    """One answer per input. Infeasible inputs have labels -1 and value -inf."""

    labels: IntArray  # (m, variables)
    value: FloatArray  # (m,)
    bound: FloatArray  # (m,) no output has a value above this
    status: IntArray  # (m,) of Status
    source: IntArray  # (m,) of Source

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, index: Index) -> Solutions:
        """The answers to some of the inputs."""
        rows = _rows_at(index, len(self))
        return Solutions(
            frozen(self.labels[rows]),
            frozen(self.value[rows]),
            frozen(self.bound[rows]),
            frozen(self.status[rows]),
            frozen(self.source[rows]),
        )

    @staticmethod
    def joined(parts: Sequence[Solutions]) -> Solutions:
        """The answers of several batches of one space, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return Solutions(
            frozen(np.concatenate([part.labels for part in parts])),
            frozen(np.concatenate([part.value for part in parts])),
            frozen(np.concatenate([part.bound for part in parts])),
            frozen(np.concatenate([part.status for part in parts])),
            frozen(np.concatenate([part.source for part in parts])),
        )

    def with_rows(self, index: IntArray, answers: Solutions) -> Solutions:
        """The same with other answers to some of the inputs."""

        def replaced(old: NDArray[Scalar], new: NDArray[Scalar]) -> NDArray[Scalar]:
            array = old.copy()
            array[index] = new
            return frozen(array)

        return Solutions(
            replaced(self.labels, answers.labels),
            replaced(self.value, answers.value),
            replaced(self.bound, answers.bound),
            replaced(self.status, answers.status),
            replaced(self.source, answers.source),
        )

    @property
    def optimal(self) -> BoolArray:
        """Which answers are proved optimal."""
        return np.asarray(self.status == Status.OPTIMAL, dtype=np.bool_)

    @property
    def gap(self) -> FloatArray:
        """bound - value: how much better any output could be."""
        with np.errstate(invalid="ignore"):
            gap = self.bound - self.value
        return np.where(np.isnan(gap), 0.0, gap)

    def proof(self, i: int = 0) -> str:
        """What is known of the answer to one input, as a sentence."""
        source = Source(int(self.source[i])).name.lower()
        match Status(int(self.status[i])):
            case Status.INFEASIBLE:
                return "infeasible: no output obeys the rules and the given labels"
            case Status.TIMED_OUT:
                return f"timed out: no output was found, by {source}"
            case status:
                value, bound = float(self.value[i]), float(self.bound[i])
                return f"value {value:.6g}, bound {bound:.6g}: {status.name.lower()}, by {source}"

    def show(self, space: Space, i: int = 0) -> Picture:
        """The answer to one input, to look at in a notebook or a terminal."""
        from rote.viz import Picture, picture_of_labels
        from rote.viz.listing import Listing

        if Status(int(self.status[i])) in (Status.INFEASIBLE, Status.TIMED_OUT):
            return Picture("No output", Listing(()), (), (self.proof(i),))
        return picture_of_labels(space, self.labels[i], facts=(self.proof(i),))

    def __repr__(self) -> str:
        statuses = _tally(self.status, Status)
        return f"Solutions({len(self)}: {statuses}; by {_tally(self.source, Source)})"


class Engine(Protocol):
    """Finds the best output of a space under scores, for every input of a batch."""

    def solve(self, space: Space, objective: Objective | AnyArray) -> Solutions:
        """The best output of each input; plain scores of shape (m, parts) are an objective too."""
        ...


def checked_for(space: Space | None, objective: Objective) -> Objective:
    """The objective, just made of what is right for a space: engines take it as it is."""
    object.__setattr__(objective, "checked", space)
    return objective


def as_objective(
    space: Space, objective: Objective | AnyArray, *, terms: bool = False
) -> Objective:
    """A checked objective; plain scores of shape (parts,) or (m, parts) will do.

    ``terms`` says that the engine takes them.
    """
    if not isinstance(objective, Objective):
        return checked_for(space, Objective(_as_scores(space, objective)))
    if objective.term is not None and not terms:
        raise UnsupportedSpace(
            "the objective has a term that does not add up over parts, and this engine takes "
            "none; use RGS or Exhaustive, or a loss that adds up, such as Hamming"
        )
    if objective.traits is not None and not terms:
        raise UnsupportedSpace(
            "the objective has traits of whole outputs, and this engine looks at parts alone; use "
            "RGS or Exhaustive, or a task without traits"
        )
    if objective.checked is space:
        return objective
    scores = _as_scores(space, objective.scores)
    if objective.term is not None and len(objective.term) != len(scores):
        raise ScoreError(
            f"the term is for {len(objective.term)} inputs, and there are {len(scores)}"
        )
    gold = objective.gold
    if gold is not None:
        gold = frozen(space.as_labels(gold))
        if len(gold) != len(scores):
            raise LabelError(f"gold has {len(gold)} outputs, and there are {len(scores)} inputs")
    inputs = objective.inputs
    if inputs is not None and len(inputs.firsts) != len(scores):
        raise ScoreError(
            f"feature vectors are of {len(inputs.firsts)} inputs, and there are {len(scores)}"
        )
    checked = replace(objective, scores=scores, gold=gold)
    if objective.allowed is None:
        return checked_for(space, checked)
    allowed = np.asarray(objective.allowed)
    if allowed.dtype != np.bool_:
        raise ScoreError(f"allowed holds True and False, got {allowed.dtype}")
    if allowed.ndim == 1:
        allowed = allowed[None, :]
    if allowed.shape != (len(scores), space.labels):
        raise ScoreError(
            f"allowed has the shape ({len(scores)}, {space.labels}), one column per label; "
            f"got {allowed.shape}"
        )
    return checked_for(space, replace(checked, allowed=frozen(allowed)))


def _as_scores(space: Space, given: AnyArray) -> FloatArray:
    """Scores of shape (m, parts), finite, as kernels take them."""
    if not isinstance(space, Space):
        raise SpaceError(f"expected a space, as builder.build() gives it; got {space!r:.80}")
    try:
        scores = np.asarray(given)
        if np.iscomplexobj(scores):
            raise TypeError
        scores = scores.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ScoreError(
            f"scores are an array of real numbers, one row per input; got {given!r:.80}"
        ) from None
    if scores.ndim == 1:
        scores = scores[None, :]
    if scores.ndim != 2 or scores.shape[1] != space.parts:
        raise ScoreError(
            f"scores have the shape (m, {space.parts}), one column per part of {space!r}; "
            f"got {np.shape(given)}"
        )
    scores = frozen(scores)
    if not all_finite(scores):
        i, part = np.argwhere(~np.isfinite(scores))[0]
        raise ScoreError(
            f"scores are finite; input {i} has {scores[i, part]} at part {part}; "
            "forbid a label with a rule or with clamp instead of an infinite score"
        )
    return scores


def check_engine(what: str, engine: object) -> None:
    """Refuse what is no engine, such as the class of one."""
    if isinstance(engine, type) or not callable(getattr(engine, "solve", None)):
        raise SettingError(f"{what} is one such as Exact(); got {engine!r}")


def positive(name: str, value: float | None) -> None:
    """Refuse a limit that is not above zero; None is no limit."""
    if value is not None and not (isinstance(value, Real) and value > 0):
        raise SettingError(f"{name} is a number above 0, or None for no limit; got {value!r}")


def clamp(
    space: Space,
    scores: Objective | AnyArray,
    given: Mapping[str, str] | Sequence[Mapping[str, str]],
) -> Objective:
    """The objective with some variables given: ``{"variable": "label"}``, one or one per input.

    >>> from rote import Exact, SpaceBuilder, clamp
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["a"] >> y["b"])
    >>> space = builder.build()
    >>> scores = space.scores({"x": {"b": 1.0}, "y": {"a": 1.0}})
    >>> space.decode(Exact().solve(space, clamp(space, scores, {"x": "a"})).labels)
    [{'x': 'a', 'y': 'b'}]
    """
    objective = as_objective(space, scores, terms=True)
    m = len(objective)
    each = [given] * m if isinstance(given, Mapping) else list(given)
    if len(each) != m:
        raise LabelError(f"clamp got {len(each)} sets of given labels for {m} inputs")
    shape = (m, space.labels)
    allowed = np.ones(shape, np.bool_) if objective.allowed is None else objective.allowed.copy()
    for row, labels in zip(allowed, each, strict=True):
        for name, label in labels.items():
            variable = space[name]
            start = int(space.offsets[variable.index])
            chosen = start + variable.position(label)
            was = row[chosen]
            row[start : start + len(variable.labels)] = False
            row[chosen] = was
    own = frozen(objective.scores.copy())  # the caller's may change after they were checked
    return checked_for(space, replace(objective, scores=own, allowed=frozen(allowed)))


def _rows_at(index: Index, count: int) -> IntArray:
    """Which of so many rows are meant, as a list even of one: part of a batch is a batch."""
    return np.atleast_1d(np.arange(count)[index])


def _tally(codes: IntArray, names: type[Status] | type[Source]) -> str:
    counts = {name: int((codes == name).sum()) for name in names}
    return ", ".join(f"{count} {name.name.lower()}" for name, count in counts.items() if count)
