"""`AmortizedRGS`: greedy search that learns where to start, Algorithm 2 of Ma et al. (2019).

    climb the scores F from a start           → the path, and its end
    learn E(x, y) = θ · φ(x, y) ≈ F(end)      from all outputs on the path
    climb E from the end                      → the next start; a random one if E leads nowhere

until no better output has been found for some rounds. E says what an output is worth as a start,
and θ is kept from one question to the next, so that starts get better with use.

Beyond the paper, E can lead to the first start as well, from the classifier's guess; and it is not
followed to where a climb began before, or twice in a row in vain. The next start is then drawn
around where E leads, as those of `RGS` are around the guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Real
from threading import Lock

import numpy as np

from rote.errors import SettingError, check_number, check_whole
from rote.inference.answers import answered
from rote.inference.approximate.greedy import RGS
from rote.inference.approximate.search_trace import Best, Climber, Paths, Round, Starts, climb_from
from rote.inference.base import Objective, Solutions, Source, Status, as_objective
from rote.kernels.learning.value_regression import Outputs, Schedule, regress_all
from rote.space.global_features import columns_of
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, frozen

ROOM = 1 << 20  # features of outputs that are learned from together


@dataclass(frozen=True)
class Spent:
    """What an amortized search has done."""

    inputs: int = 0
    climbs: int = 0  # of the scores
    learned: int = 0  # climbs from where E led; the others were from starts that were drawn


@dataclass(frozen=True, eq=False)
class AmortizedRGS:
    """`RGS` whose later starts are learned.

    ``search`` says how starts are drawn, and how many climbs there are at most. An input is left
    when ``patience`` climbs in a row found nothing better. With ``leads_first``, E says where the
    first climb begins; otherwise it begins where that of ``search`` does. E is learned by
    ``passes`` over ``outputs`` of each path, evenly spread (None for all of them, as in the paper),
    as far as it is wrong about them by more than ``tolerance``, relative to what they are worth,
    with steps of ``step``, or by ``adagrad``. It needs feature vectors, and so a
    model that asks, or an objective with ``inputs``. A θ that was learned before can be given as
    ``learned``.
    """

    search: RGS = field(default_factory=RGS)
    step: float = 0.1
    passes: int = 5
    adagrad: bool = False
    patience: int = 2
    tolerance: float = 0.05
    outputs: int | None = 8
    leads_first: bool = True
    learned: FloatArray | None = field(default=None, repr=False)
    _state: list[tuple[FloatArray, FloatArray]] = field(init=False, repr=False)
    _spent: list[Spent] = field(init=False, repr=False)
    _lock: Lock = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.search, RGS):
            raise SettingError(f"search is one such as RGS(restarts=10); got {self.search!r}")
        if not isinstance(self.step, Real) or not 0 < self.step < 2:
            raise SettingError(f"step is above 0 and below 2, got {self.step!r}")
        check_number("tolerance", self.tolerance, least=0)
        if not isinstance(self.leads_first, bool):
            raise SettingError(f"leads_first is True or False, got {self.leads_first!r}")
        check_whole("passes", self.passes, least=1)
        check_whole("patience", self.patience, least=1)
        if self.outputs is not None:
            check_whole("outputs", self.outputs, least=2)
        object.__setattr__(self, "_state", [])
        if self.learned is not None:
            weights = np.array(self.learned, dtype=np.float64)
            self._state.append((weights, np.zeros(len(weights) if self.adagrad else 0)))
        object.__setattr__(self, "_spent", [Spent()])
        object.__setattr__(self, "_lock", Lock())

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        learning = self.step, self.passes, self.adagrad
        stopping = self.patience, self.tolerance, self.outputs, self.leads_first
        return AmortizedRGS, (self.search, *learning, *stopping, self.weights)

    @property
    def spent(self) -> Spent:
        """What has been done so far."""
        return self._spent[0]

    @property
    def weights(self) -> FloatArray | None:
        """θ, or None before anything was asked."""
        return frozen(self._state[0][0].copy()) if self._state else None

    def solve(self, space: Space, objective: Objective | AnyArray) -> Solutions:
        return self.searched(space, objective)[0]

    def searched(self, space: Space, objective: Objective | AnyArray) -> tuple[Solutions, IntArray]:
        """The answers, and how many climbs each of them needed; 0 where there is none."""
        objective = as_objective(space, objective, terms=True)
        if objective.inputs is None:
            raise SettingError(
                "what a start is worth is learned from feature vectors, and the objective has "
                "none; ask through a model, or use RGS"
            )
        rounds = self.rounds(space, objective)
        last = first = next(rounds)
        for later in rounds:  # one at a time: a round holds all of its paths
            last = later
        labels, needed = last.labels, last.needed
        # What is not even climbed for has a variable without a label.
        status = np.full(len(labels), Status.INFEASIBLE.value)
        status[first.climbed] = Status.TIMED_OUT
        status[needed > 0] = Status.FEASIBLE
        bound = np.full(len(labels), np.inf)
        found = answered(space, objective, labels, Source.GREEDY, bound=bound, status=status)
        return found, needed

    def rounds(self, space: Space, objective: Objective) -> Iterator[Round]:
        """Round after round, until all inputs are left; others may ask between two of them."""
        guess, redrawn = self.search.guesses(space, objective), self.search.redrawn(space)
        best, idle = Best(*guess.shape), np.zeros(len(guess), dtype=np.int64)
        active = np.flatnonzero(guess.min(axis=1, initial=0) >= 0)
        part, members = _some(objective, active), np.arange(len(active))
        starts = Starts(space, part, int(self.search.seed), self.search.restarts)
        climber, likely = Climber(space, part), frozen(guess[active])
        own, by_e = self._first(space, part, starts, likely)
        for restart in range(1, self.search.restarts + 1):
            paths = climber.climb(own, members)
            values = part.worth(space, paths.ends)
            better = best.take(active, paths, values, part.ties)
            self._count(len(active), int(by_e.sum()), len(guess) if restart == 1 else 0)
            yield best.now(active, paths)
            idle[active] = np.where(better, 0, idle[active] + 1)
            self._learn(space, part, paths, values)
            kept = idle[active] < self.patience
            if restart == self.search.restarts or not kept.any():
                return
            in_vain = by_e & ~better
            active, members, ends = active[kept], members[kept], frozen(paths.ends[kept])
            part = _some(part, np.flatnonzero(kept))
            starts.keep(kept)
            led, moved = self._led(space, part, ends)
            around = frozen(np.where(moved[:, None], led, guess[active]))
            own, by_e = starts.given(led, moved & ~in_vain[kept], around, redrawn)

    def _first(
        self, space: Space, objective: Objective, starts: Starts, guess: IntArray
    ) -> tuple[IntArray, BoolArray]:
        """The first starts, and which of them E led to."""
        redrawn = self.search.redrawn(space)
        if not self.leads_first:
            return starts.drawn(guess, redrawn), np.zeros(len(guess), dtype=np.bool_)
        led, moved = self._led(space, objective, guess)
        return starts.given(led, moved, guess, redrawn)

    def _count(self, climbs: int, led: int, inputs: int) -> None:
        with self._lock:
            past = self._spent[0]
            self._spent[0] = Spent(past.inputs + inputs, past.climbs + climbs, past.learned + led)

    def _learn(self, space: Space, objective: Objective, paths: Paths, values: FloatArray) -> None:
        """Every output on a path is worth its end; those are learned from that E is far from."""
        assert objective.inputs is not None
        inputs = objective.inputs
        outputs, owner = paths.outputs(self.outputs)
        columns = columns_of(space, inputs.traits, outputs)
        with self._lock:
            regress_all(
                *self._weights(inputs.size),
                inputs.vectors,
                inputs.slots,
                Outputs(frozen(inputs.firsts[owner]), columns, frozen(values[owner])),
                Schedule(float(self.step), int(self.passes), float(self.tolerance), ROOM),
            )

    def _led(self, space: Space, objective: Objective, ends: IntArray) -> tuple[IntArray, AnyArray]:
        """Where E leads from the ends of paths, and from which of them it leads anywhere."""
        assert objective.inputs is not None
        with self._lock:  # nobody learns while E is climbed
            weights = self._weights(objective.inputs.size)[0]
            worth = replace(objective.inputs.objective(space, weights), allowed=objective.allowed)
            paths = climb_from(space, worth, ends)
        return paths.ends, paths.obeys & (paths.counts > 0)

    def _weights(self, size: int) -> tuple[FloatArray, FloatArray]:
        if not self._state:
            self._state.append((np.zeros(size), np.zeros(size if self.adagrad else 0)))
        if len(self._state[0][0]) != size:
            raise SettingError(
                f"this search has learned {len(self._state[0][0])} weights, and the model that "
                f"asks has {size}; use another one for it"
            )
        return self._state[0]


def _some(objective: Objective, rows: IntArray) -> Objective:
    """The objective of some inputs; the same one for all of them, with what it knows already."""
    return objective if len(rows) == len(objective) else objective.rows(rows)
