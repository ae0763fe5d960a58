"""`Decomposed`: the best output around the gold one, for learning; anywhere else, the best of all.

    max_{s ∈ S, y_s}  score(y_s, gold_{-s})        over those that obey the rules     (their eq. 4)

How it looks there is in `rote.inference.wrappers.decomposed.search`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np

from rote.inference.solutions import Solutions
from rote.inference.engine import Engine, check_engine
from rote.inference.problem import Problem
from rote.inference.solutions import Solutions, Source, Status
from rote.inference.exact.exact import Exact
from rote.inference.exact.tie_breaking import canonical
from rote.inference.wrappers.decomposed.search import Search
from rote.inference.wrappers.decomposed.sets import (
    Decomposition,
    Function,
    as_decomposition,
    of_inputs,
)
from rote.inference.wrappers.decomposed.subsets import Subsets
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, frozen


@dataclass(frozen=True)
class Looked:
    """What a decomposed engine has done for inputs with a gold output."""

    inputs: int = 0
    whole: int = 0  # of them, those for which all outputs were looked at
    sets: int = 0  # searched as a whole
    calls: int = 0  # of the engine underneath: whole inputs, and sets that needed it

    def after(self, inputs: int, whole: int, search: Search) -> Looked:
        """And then some more."""
        return Looked(
            self.inputs + inputs,
            self.whole + whole,
            self.sets + search.sets,
            self.calls + search.calls + whole,
        )


@dataclass(frozen=True, eq=False)
class Decomposed(Wrapper):
    """An engine over an engine that looks only at what is around the gold output.

    The ``decomposition`` says what that is: `Subsets`, `SignedComponents`, `Chosen`, a `Union` of
    several, or a function of your own from a space and a gold output to sets of positions. For an
    problem with gold outputs, values, bounds and statuses speak of their neighbourhoods. An input
    with nothing possible around its gold output (which breaks a rule then, unless labels are
    closed), and an problem without gold outputs, as in prediction, go to the engine underneath.

    >>> from rote import Decomposed, Exact, Problem, SpaceBuilder, Subsets
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["b"] >> y["b"])
    >>> space, engine = builder.build(), Decomposed(Exact(), Subsets(1))
    >>> scores = space.scores({"x": {"b": 2.0}, "y": {"b": -1.0}})[None]
    >>> space.decode(engine.solve(space, Problem(scores, gold=np.array([[0, 0]]))).labels)
    [{'x': 'a', 'y': 'a'}]
    >>> space.decode(engine.solve(space, scores).labels)
    [{'x': 'b', 'y': 'b'}]
    """

    inner: Engine = field(default_factory=Exact)
    decomposition: Decomposition | Function = field(default_factory=lambda: Subsets(2))
    _tally: list[Looked] = field(init=False, repr=False)
    _lock: Lock = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_engine("the engine underneath", self.inner)
        object.__setattr__(self, "decomposition", as_decomposition(self.decomposition))
        object.__setattr__(self, "_tally", [Looked()])
        object.__setattr__(self, "_lock", Lock())

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Decomposed, (self.inner, self.decomposition)

    def __deepcopy__(self, memo: dict[int, object]) -> Decomposed:
        return Decomposed(self.inner, self.decomposition)

    @property
    def looked(self) -> Looked:
        """What has been done so far."""
        return self._tally[0]

    def over(self, engine: Engine) -> Decomposed:
        """The same over another engine; they count together."""
        other = replace(self, engine=engine)
        object.__setattr__(other, "_tally", self._tally)
        object.__setattr__(other, "_lock", self._lock)
        return other

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        if problem.gold is None:
            return self.inner.solve(space, problem)
        split = self._decomposition.split(space, problem)
        near = np.flatnonzero(~split.whole)
        search = Search(self.inner, space, problem.rows(near))
        search.look([of_inputs(sets, near) for sets in split.sets])
        # Where labels are closed, it may be that nothing is left around gold.
        kept = np.flatnonzero(search.found | (problem.closed is not None))
        around = np.zeros(len(problem), dtype=np.bool_)
        around[near[kept]] = True
        whole = np.flatnonzero(~around)
        with self._lock:
            self._tally[0] = self._tally[0].after(len(problem), len(whole), search)
        if not len(kept):
            return self.inner.solve(space, problem)
        answers = self._answers(space, problem.rows(near), search, kept)
        if not len(whole):
            return answers
        place = np.zeros(len(problem), dtype=np.int64)
        place[near[kept]] = np.arange(len(kept))
        others = self.inner.solve(space, problem.rows(whole))
        return answers.rows(place).with_rows(whole, others)

    def _answers(
        self, space: Space, problem: Problem, search: Search, kept: IntArray
    ) -> Solutions:
        """What was found around gold, ties broken."""
        labels = search.labels
        # Ties are told by sums of scores, which terms and traits do not enter.
        if search.doubtful.any() and problem.decomposes:
            labels = canonical(space, problem, labels, search.doubtful, self._some_best)
        unsettled = search.bounds > search.values + problem.ties
        status = np.where(
            search.found,
            np.where(unsettled, Status.FEASIBLE, Status.OPTIMAL),
            np.where(unsettled, Status.TIMED_OUT, Status.INFEASIBLE),
        )
        return Solutions.of(problem.rows(kept),
            frozen(labels[kept]),
            Source.NEIGHBOUR,
            bound=search.bounds[kept],
            status=status[kept],
        )

    def _some_best(self, space: Space, problem: Problem, floor: FloatArray) -> IntArray:
        """Some best output around each gold one, ties or not."""
        split = self._decomposition.split(space, problem)
        search = Search(self.inner, space, problem)
        search.look(split.sets)
        with self._lock:
            self._tally[0] = self._tally[0].after(0, 0, search)
        return search.labels

    @property
    def _decomposition(self) -> Decomposition:
        return self.decomposition  # type: ignore[return-value]  # functions are wrapped


def looks_around(engine: Engine) -> bool:
    """Whether an engine, or one that it wraps, is `Decomposed`."""
    while not isinstance(engine, Decomposed):
        if not hasattr(engine, "engine"):
            return False
        engine = engine.engine
    return True
