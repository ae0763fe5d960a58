"""What is maximised, and what an engine may know beside it: `Problem` and `Context`.

We always maximise. A problem has the scores of m inputs that share one space, the labels that are
closed for single inputs, and what no sum over parts can say: a loss term, and global features of
whole outputs. A context has what stands behind a problem and does not change its answer: gold
outputs, feature vectors, a warm start. Engines that do not use it pass it on.

Ties. What a score lacks of the best one of its variable or factor is its *loss*, closed labels left
out, and the losses of an output are those of its parts. Losses more than `WIDE` times as large as
all losses of the best output together do not count: no output that has one comes near. Two values
closer than ``tie = TIE · largest loss that counts`` are equal. Among the outputs whose value is
within one tie of the best, every exact engine returns the one with the lexicographically smallest
labels, in the order of the space's variables. So all exact engines give the same answer, every
time, and no number of a vector blurs others that it has nothing to do with.

Engines know nothing of this. They are given ``ties``, from all losses, and where these turn out to
be too large, or scores are large beside their differences, `rote.inference.asking` asks them for
the same in other numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, TypeAlias

import numpy as np

from rote.errors import LabelError, RoteError, ScoreError, SpaceError, locate
from rote.kernels.bundles import Questions, Slots, Vectors
from rote.kernels.constants import LARGEST_SCORE
from rote.kernels.learning.linear import scores_of
from rote.kernels.outputs import all_finite, spreads, ties_of
from rote.space.space import Space
from rote.types import (
    UNKNOWN,
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    is_unknown,
    readonly,
)

if TYPE_CHECKING:
    from rote.inference.exact.duals import Duals
    from rote.space.global_features import GlobalFeatureScores, GlobalFeatureSet
    from rote.space.losses import Loss, LossTerm

TIE = 1e-10
NO_INFINITY = "forbid a label with a rule, with clamp or with -inf"
TOO_LARGE = "features and weights are too large together; scale the features, or take smaller steps"
Index: TypeAlias = AnyArray | Sequence[int] | slice | int  # of rows: one of them, or several
NONE_CLOSED = readonly(np.empty((0, 0), dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class Problem:
    """What is maximised over the outputs of a space, for each of m inputs.

    Making one checks it; what engines make of a checked one is not checked again.

    Parameters
    ----------
    space
        The variables, factors and rules that all inputs share.
    scores
        One number per part, of shape (m, parts), or (parts,) for one input. -inf forbids a label or
        a label tuple of a factor: the label is closed, and the tuple gets a score so low that no
        output without it is worse.
    closed
        Of shape (m, labels): the labels that an input may not have. None closes nothing. `clamp`
        makes one where some variables are given.
    loss_term
        Added to the score of an output, and not a sum over parts: a loss such as F1. Only engines
        with `Capability.LOSS_TERMS` take it.
    global_scores
        Weights of features of whole outputs; only engines with `Capability.GLOBAL_FEATURES` take
        them.
    floor
        An output whose value is below it has a forbidden tuple, and so is none.
    """

    space: Space
    scores: FloatArray
    closed: BoolArray | None = None
    loss_term: LossTerm | None = None
    global_scores: GlobalFeatureScores | None = field(default=None, repr=False)
    floor: float = field(default=-np.inf, repr=False)

    is_asked: ClassVar[bool] = False  # whether its numbers are such that engines can be asked
    if TYPE_CHECKING:  # what `measure` finds
        as_it_is: bool
        best_of_slots: FloatArray
        as_losses: FloatArray

    def __post_init__(self) -> None:
        scores = _as_scores(self.space, self.scores)
        vars(self)["scores"] = scores
        if self.loss_term is not None and len(self.loss_term) != len(scores):
            raise ScoreError(
                f"the loss term is for {len(self.loss_term)} inputs, and there are {len(scores)}"
            )
        if self.closed is not None:
            closed = np.atleast_2d(self.closed)
            if closed.dtype != np.bool_:
                raise ScoreError(f"closed holds True and False, got {closed.dtype}")
            shape = len(scores), self.space.labels
            if closed.shape != shape:
                raise ScoreError(
                    f"closed has the shape {shape}, one column per label; got {closed.shape}"
                )
            vars(self)["closed"] = readonly(closed)
        if not self._is_measured():
            _forbid_by_infinity(self)

    @classmethod
    def of(cls, space: Space, scores: Problem | AnyArray) -> Problem:
        """A checked problem; plain scores of shape (parts,) or (m, parts) will do."""
        if not isinstance(scores, Problem):
            return cls(space, scores)
        if scores.space is not space and scores.space != space:
            raise SpaceError("the problem was made for another space than the one it came with")
        return scores

    @staticmethod
    def built(space: Space, scores: FloatArray, **more: Any) -> Problem:
        """A problem made of arrays that are right already: nothing is checked."""
        problem = object.__new__(Problem)
        vars(problem).update(space=space, scores=scores, **more)
        return problem

    def changed(self, **changes: Any) -> Problem:
        """The same with some fields changed, which are right already."""
        same = {} if "scores" in changes else {"ties": self.ties, "is_asked": self.is_asked}
        return Problem.built(**{name: getattr(self, name) for name in FIELDS} | same | changes)

    def measure(self, advice: str) -> Problem:
        """Work out ties, and how engines are asked; refuses scores whose sums are not finite."""
        if not self._is_measured():
            raise_too_large(self.scores, advice)
        return self

    def _is_measured(self) -> bool:
        """Whether scores and their sums are finite, so that ties could be worked out."""
        scores = self.scores
        found = np.empty((3, len(scores)))
        ties, best, as_losses = found
        questions = Questions(scores, self.closed_rows, ties)
        as_it_is, finite = spreads(questions, self.space.layout, TIE, found)
        if not self.decomposes:  # what is added may be as large as 1, and scores zero
            np.maximum(found[0], TIE, out=found[0])
        ties.flags.writeable = False
        vars(self).update(questions=questions, ties=ties, best_of_slots=best)
        vars(self).update(as_it_is=as_it_is, as_losses=as_losses)
        return finite

    def __len__(self) -> int:
        return len(self.scores)

    def rows(self, index: Index) -> Problem:
        """The problem of some of the inputs."""
        rows = _rows_at(index, len(self))
        part = index if isinstance(index, slice) else rows  # of which a slice is no copy
        return self.changed(
            scores=readonly(self.scores[part]),
            ties=readonly(self.ties[part]),
            is_asked=self.is_asked,
            closed=None if self.closed is None else readonly(self.closed[part]),
            loss_term=None if self.loss_term is None else self.loss_term.rows(rows),
        )

    def with_space(self, space: Space) -> Problem:
        """The same scores over a space with the same variables and factors, and other rules."""
        return self.changed(space=space)

    def with_open(self, open_labels: BoolArray) -> Problem:
        """The same with no label open but these, of shape (m, labels)."""
        return self.changed(closed=readonly(~open_labels))

    def with_known(self, labels: IntArray) -> Problem:
        """The same with some labels given, of shape (m, variables); -1 leaves a variable open."""
        own = np.repeat(labels, self.space.sizes, axis=1)
        places = np.arange(self.space.labels) - np.repeat(self.space.offsets[:-1], self.space.sizes)
        return self.with_open(self.open_labels() & ((own == UNKNOWN) | (own == places)))

    def scaled(self, scale: float) -> Problem:
        """The same with all weights times a number."""
        more = self.global_scores
        if more is not None:
            more = replace(more, weights=readonly(scale * more.weights))
        scores = readonly(self.scores * scale)
        floor = self.floor * scale if self.floor > -np.inf else -np.inf
        return self.changed(scores=scores, global_scores=more, floor=floor).measure(TOO_LARGE)

    def with_loss(self, loss: Loss, gold: IntArray) -> Problem:
        """The loss-augmented problem: score(y) + Δ(gold, y)."""
        offsets = loss.offsets(self.space, gold)
        if offsets is None:
            own = self.space.own
            if own == len(self.space.variables):
                return self.changed(loss_term=loss.term(gold)).measure(TOO_LARGE)
            from rote.space.losses import OwnTerm

            term = OwnTerm(loss.term(readonly(gold[:, :own])), own)
            return self.changed(loss_term=term).measure(TOO_LARGE)
        scores = self.scores.copy()
        scores[:, : self.space.labels] += offsets
        return self.changed(scores=readonly(scores)).measure(TOO_LARGE)

    @property
    def decomposes(self) -> bool:
        """Whether the value of an output is the sum of its parts' scores."""
        return self.loss_term is None and self.global_scores is None

    def value(self, labels: IntArray) -> FloatArray:
        """The value of one output of each input, loss term and global features included."""
        value = self.space.known_value(self.scores, labels)
        if not self.decomposes:
            there = labels.min(axis=1, initial=0) >= 0
            value[there] += self.global_value(labels[:, None, :])[there, 0]
        return np.asarray(value)

    def global_value(self, labels: IntArray) -> FloatArray:
        """What loss term and global features add to outputs of shape (m, k, variables): (m, k)."""
        m, k, n = labels.shape
        value = np.zeros((m, k)) if self.loss_term is None else self.loss_term.value(labels)
        if self.global_scores is not None:
            whole = np.maximum(labels, 0).reshape(m * k, n)
            value = value + self.global_scores.known_value(whole).reshape(m, k)
        return np.asarray(value)

    def above_floor(self, values: FloatArray) -> FloatArray:
        """Values of outputs, -inf in place of those of outputs with a forbidden tuple."""
        return np.where(values < self.floor, -np.inf, values)

    @property
    def closed_rows(self) -> BoolArray:
        """The closed labels for kernels: no row at all where nothing is closed."""
        return NONE_CLOSED if self.closed is None else self.closed

    @cached_property
    def questions(self) -> Questions:
        """Scores, closed labels and ties, as kernels take them."""
        return Questions(self.scores, self.closed_rows, self.ties)

    @property
    def closed_labels(self) -> BoolArray:
        """The labels that no input may have, or not this one, of shape (m, labels)."""
        never = ~self.space.network.allowed[: self.space.labels]
        if self.closed is None:
            return readonly(np.tile(never, (len(self), 1)))
        return readonly(never | self.closed)

    def open_labels(self) -> BoolArray:
        """The labels that are not closed, of shape (m, labels), to be changed by the caller."""
        if self.closed is None:
            return np.ones((len(self), self.space.labels), np.bool_)
        return ~self.closed

    @cached_property
    def ties(self) -> FloatArray:
        """How close two values of each input are when they count as equal."""
        self.measure(TOO_LARGE)
        return vars(self)["ties"]  # type: ignore[no-any-return]


FIELDS = tuple(each.name for each in fields(Problem))


class LazyScores(ABC):
    """Scores of m inputs of one space, each worked out when it is first asked for.

    They are asked for by slots: those of the variables of the space, and then of its factors.
    """

    def __init__(self, space: Space, count: int) -> None:
        self.space = space
        # Where nothing is known yet: what soft rules cost.
        self.array: FloatArray = np.tile(space.penalties, (count, 1))
        slots = len(space.variables) + len(space.factors)
        self.known: BoolArray = np.zeros((count, slots), dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.array)

    @abstractmethod
    def fill(self, wanted: Sequence[Wanted]) -> None:
        """Work out what is wanted of these scores, and of others of the same data, all at once."""

    def rows(self, index: Index) -> FloatArray:
        """All scores of some inputs."""
        rows = _rows_at(index, len(self))
        places, slots = np.nonzero(~self.known[rows])
        if len(places):
            self.fill([Wanted(self, rows[places], slots)])
        self.check()
        return readonly(self.array[rows])

    def check(self) -> None:
        """Refuse scores that are known and too large."""
        check_scores(self.array)


class Wanted(NamedTuple):
    """Scores that a search needs to go on: of some variables and factors, each of one input."""

    scores: LazyScores
    inputs: IntArray
    slots: IntArray  # beside the inputs


class LazyProblem(Problem):
    """A problem whose scores are worked out when they are asked for.

    Engines that read ``scores`` have all of them worked out; those with `Capability.LAZY_SCORES`
    ask ``lazy`` for what they need.
    """

    lazy: LazyScores

    def __init__(self, lazy: LazyScores) -> None:
        vars(self).update(space=lazy.space, lazy=lazy)

    @cached_property
    def scores(self) -> FloatArray:
        """All scores."""
        return self.lazy.rows(slice(None))

    def __len__(self) -> int:
        return len(self.lazy)

    def rows(self, index: Index) -> Problem:
        """The problem of some of the inputs, with all of their scores."""
        return Problem.built(self.space, self.lazy.rows(index))


class FeatureRows(NamedTuple):
    """Feature vectors of the inputs of a batch, and which weights each part of a space uses.

    Parameters
    ----------
    vectors
        All feature vectors, sparse, one after the other.
    slots
        For each variable and factor, which vector it has and where its weights begin.
    firsts
        The first vector of each input.
    size
        How many weights there are.
    global_features
        Features of whole outputs, whose slots are the last ones; None without any.
    """

    vectors: Vectors
    slots: Slots
    firsts: IntArray
    size: int
    global_features: GlobalFeatureSet | None = None

    def rows(self, index: Index) -> FeatureRows:
        """Some of the inputs."""
        return self._replace(firsts=readonly(self.firsts[_rows_at(index, len(self.firsts))]))

    def scores(self, weights: FloatArray) -> FloatArray:
        """The scores of all parts, of shape (m, parts), under some weights."""
        scores = self._scores(weights)
        check_scores(scores)
        return scores

    def label_scores(self, weights: FloatArray, variables: int) -> FloatArray:
        """Of the parts, the labels of so many variables alone: those come first."""
        all_slots = self.slots
        slots = Slots(
            all_slots.vector[:variables],
            all_slots.origin,
            all_slots.stride,
            all_slots.each,
            all_slots.tied[:variables],
            all_slots.start[: variables + 1],
            all_slots.column,
        )
        return self._replace(slots=slots).scores(weights)

    def problem(self, space: Space, weights: FloatArray) -> Problem:
        """The problem of scores, and of global features, under some weights."""
        scores, more = self._scores(weights), self.global_scores(weights)
        if space.soft:
            scores = readonly(scores + space.penalties)
        return Problem.built(space, scores, global_scores=more).measure(TOO_LARGE)

    def _scores(self, weights: FloatArray) -> FloatArray:
        if weights.shape != (self.size,):
            raise ScoreError(f"these inputs have {self.size} weights, got {weights.shape}")
        return readonly(scores_of(readonly(weights), self.vectors, self.slots, self.firsts))

    def global_scores(self, weights: FloatArray) -> GlobalFeatureScores | None:
        """The scores of global features under some weights."""
        if self.global_features is None:
            return None
        from rote.space.global_features import GlobalFeatureScores

        first = len(self.slots.origin) - int(self.global_features.counts.sum())
        return GlobalFeatureScores(
            self.global_features, readonly(self.slots.origin[first:]), readonly(weights)
        )


class WarmStart(NamedTuple):
    """Where a search may begin: an incumbent output of each input, or duals.

    Parameters
    ----------
    incumbent
        An output of each input, of shape (m, variables).
    duals
        Messages and multipliers of each input, from an earlier search or `Milp.duals`.
    """

    incumbent: IntArray | None = None
    duals: Duals | None = None

    def rows(self, index: Index) -> WarmStart:
        """Those of some of the inputs."""
        return WarmStart(
            None if self.incumbent is None else readonly(self.incumbent[index]),
            None if self.duals is None else self.duals.rows(index),
        )


@dataclass(frozen=True, eq=False)
class Context:
    """What an engine may know beside the problem.

    Parameters
    ----------
    gold
        The right outputs, of shape (m, variables). Learners say them, and `Decomposed` looks only
        at outputs around them.
    features
        The feature vectors behind the scores: engines that learn score them with weights of their
        own.
    warm
        Where to start; it changes how long an answer takes, not the answer.
    keys
        A name for each question that stays the same when its scores change, such as the number of
        an example in training. Engines that remember look there first.
    record
        Whether `Solutions.duals` are wanted: where the next search for the same question may start.
    """

    gold: IntArray | None = None
    features: FeatureRows | None = field(default=None, repr=False)
    warm: WarmStart | None = field(default=None, repr=False)
    keys: Sequence[Hashable] | IntArray | None = field(default=None, repr=False)
    record: bool = False

    def rows(self, index: Index) -> Context:
        """The context of some of the inputs."""
        if self is NO_CONTEXT:
            return self
        gold, keys = self.gold, self.keys
        return replace(
            self,
            gold=None if gold is None else readonly(gold[_rows_at(index, len(gold))]),
            features=None if self.features is None else self.features.rows(index),
            warm=None if self.warm is None else self.warm.rows(index),
            keys=None if keys is None else [keys[i] for i in _rows_at(index, len(keys)).tolist()],
        )

    def without_gold(self) -> Context:
        """The same for a question about all outputs."""
        return self if self.gold is None else replace(self, gold=None)

    def checked(self, problem: Problem) -> Context:
        """The context, if it fits the problem."""
        checked, m = self, len(problem)
        if self.gold is not None:
            gold = readonly(problem.space.as_labels(self.gold))
            if len(gold) != m:
                raise LabelError(f"gold has {len(gold)} outputs, and there are {m} inputs")
            checked = replace(self, gold=gold)
        if self.features is not None and len(self.features.firsts) != m:
            raise ScoreError(
                f"feature vectors are of {len(self.features.firsts)} inputs, and there are {m}"
            )
        if self.warm is not None and self.warm.incumbent is not None:
            incumbent, shape = np.asarray(self.warm.incumbent), (m, len(problem.space.variables))
            if incumbent.shape != shape or incumbent.dtype != np.int64:
                raise LabelError(
                    f"an incumbent is a row of whole numbers (int64) for each input, of shape "
                    f"{shape}; got {incumbent.dtype} of shape {incumbent.shape}"
                )
        if self.keys is not None and len(self.keys) != m:
            raise ScoreError(f"there are {len(self.keys)} keys for {m} inputs")
        return checked


NO_CONTEXT = Context()


def clamp(
    space: Space,
    scores: Problem | AnyArray,
    given: Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> Problem:
    """The problem with some variables given: ``{"variable": "label"}``, one or one per input.

    Parameters
    ----------
    space
        The space of all inputs.
    scores
        Scores of shape (m, parts), or a problem.
    given
        The labels of some variables, for all inputs or for each of them; None, "?" and -1 stand for
        one that is not known.

    >>> from rote import Exact, SpaceBuilder, clamp
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["a"] >> y["b"])
    >>> space = builder.build()
    >>> scores = space.scores({"x": {"b": 1.0}, "y": {"a": 1.0}})
    >>> space.decode(Exact().solve(space, clamp(space, scores, {"x": "a"})).labels)
    [{'x': 'a', 'y': 'b'}]
    """
    problem = Problem.of(space, scores)
    m = len(problem)
    each = [given] * m if isinstance(given, Mapping) else list(given)
    if len(each) != m:
        raise LabelError(f"clamp got {len(each)} sets of given labels for {m} inputs")
    known = np.full((m, len(space.variables)), UNKNOWN)
    for row, labels in zip(known, each, strict=True):
        for name, label in labels.items():
            variable = space[name]
            if not is_unknown(label, variable.labels):
                row[variable.index] = variable.position(label)
    # The caller's scores may change after they were checked.
    copied = problem.changed(scores=readonly(problem.scores.copy()), ties=problem.ties)
    return copied.with_known(known)


def check_scores(scores: FloatArray) -> None:
    """Refuse scores whose sums are not finite."""
    if not all_finite(ties_of(scores, TIE)):
        raise_too_large(scores, TOO_LARGE)


def raise_too_large(scores: FloatArray, advice: str) -> NoReturn:
    """An error about the first score that is too large, or none, and the input that has it."""
    i, part = np.argwhere(~(np.abs(scores) < LARGEST_SCORE))[0].tolist()
    error = ScoreError(
        f"scores are finite and below 2**1000 in size, got {scores[i, part]} at part {part}; "
        f"{advice}"
    )
    locate(error, "input", i)
    raise error


def _forbid_by_infinity(problem: Problem) -> None:
    """Give a problem finite scores, closed labels and the floor: what -inf forbids is in them.

    NaN and +inf are refused with their place.
    """
    space, scores = problem.space, problem.scores
    forbidden = scores == -np.inf
    wrong = np.argwhere(~(np.isfinite(scores) | forbidden))
    if len(wrong):
        i, part = wrong[0].tolist()
        error = ScoreError(
            f"scores are finite, or -inf for what is forbidden; got {scores[i, part]} for "
            f"{space.part_name(part)}"
        )
        locate(error, "input", i)
        raise error
    labels, tuples = forbidden[:, : space.labels], forbidden[:, space.labels :]
    closed = labels if problem.closed is None else problem.closed | labels
    # Ties are made of what is left: nothing is below the least score of its slot.
    finite = np.where(forbidden, np.inf, scores)
    least = np.repeat(
        np.minimum.reduceat(finite, space.starts[:-1], axis=1), np.diff(space.starts), axis=1
    )
    finite = np.where(forbidden, np.where(least < np.inf, least, 0.0), scores)
    vars(problem).update(scores=readonly(finite), closed=readonly(closed))
    problem.measure(NO_INFINITY)
    if tuples.any():
        if not problem.decomposes:
            raise ScoreError(
                "a label tuple can be forbidden by -inf only where values are sums of scores; "
                "with a loss term or global features, forbid it by a rule"
            )
        # No output without a forbidden tuple is below -total, and none with one above -2 total.
        largest = np.maximum.reduceat(np.abs(finite), space.starts[:-1], axis=1)
        total = float(largest.sum(axis=1).max()) + 1.0
        finite = finite.copy()
        finite[:, space.labels :][tuples] = -3.0 * total
        del vars(problem)["questions"]
        vars(problem).update(scores=readonly(finite), floor=-1.5 * total)


def _as_scores(space: Space, given: AnyArray) -> FloatArray:
    """Scores of shape (m, parts), as kernels take them."""
    if not isinstance(space, Space):
        raise SpaceError(f"expected a space, as builder.build() gives it; got {space!r:.80}")
    try:
        scores = given if isinstance(given, np.ndarray) else _read(space, given)
        if scores.dtype != np.float64:
            if np.iscomplexobj(scores):
                raise TypeError
            scores = scores.astype(np.float64)
    except RoteError:
        raise
    except (TypeError, ValueError):
        raise ScoreError(
            f"scores are an array of real numbers, one row per input; got {given!r:.80}"
        ) from None
    if scores.ndim == 1:
        scores = scores[None, :]
    if scores.ndim == 2:
        scores = space.penalized(scores)
    if scores.ndim != 2 or scores.shape[1] != space.parts:
        raise ScoreError(
            f"scores have the shape (m, {space.parts}), one column per part of {space!r}; "
            f"got {np.shape(given)}"
        )
    return readonly(scores)


def _read(space: Space, given: Any) -> AnyArray:
    """The scores of a list or a tensor, or of a table whose columns are "variable=label"."""
    from rote.io.tables import as_array, check_names, columns_of, numbers

    table = columns_of(given)
    if table is None:
        return as_array(given)
    names = [
        f"{variable.name}={label}" for variable in space.variables for label in variable.labels
    ]
    check_names(table, names)
    own = numbers(table, names)
    return np.pad(own, ((0, 0), (0, space.parts - own.shape[1])))  # 0 for factors


def _rows_at(index: Index, count: int) -> IntArray:
    """Which of so many rows are meant, as a list even of one: part of a batch is a batch."""
    return np.atleast_1d(np.arange(count)[index])
