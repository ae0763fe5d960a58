"""`Amortized`: an engine that remembers, and solves only what it cannot prove from memory.

Inputs of a batch go through the certificates in turn; what none of them settles goes to the engine
underneath, and its answers are remembered. With ``epsilon=0`` and an exact engine underneath, the
answers are the same as without the wrapper, to the last bit.

Learners ask about the same examples again and again, in the same order. So when a batch has as
many inputs as the one before it on a shelf, each input is first compared with what came in its
place then, before the whole shelf is looked through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import RLock
from time import perf_counter
from typing import Final

import numpy as np

from rote.errors import SettingError
from rote.inference.amortized.certificates import (
    Asked,
    Certificate,
    Condition,
    DualBound,
    Margin,
    Same,
)
from rote.inference.amortized.counters import Counters
from rote.inference.amortized.entries import Entry, pack, shelf_name, unpack
from rote.inference.amortized.shelf import Shelf
from rote.inference.amortized.stores.base import Store
from rote.inference.amortized.thrift import Thrift
from rote.inference.base import Engine, Objective, Solutions, Source, Status, as_objective
from rote.inference.exact import Exact
from rote.inference.kbest import k_best
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, frozen

LIMIT = 1 << 29  # bytes of entries in memory, where nothing else is said
FEW = 8  # inputs asked at once of an empty shelf
CERTIFICATES: Final[dict[str, tuple[Certificate, ...]]] = {
    "auto": (DualBound(), Same()),
    "condition": (Condition(), Same()),
    "relative": (Condition(relative=True), Same()),
    "duals": (DualBound(),),
    "margin": (Margin(), Same()),
    "none": (),
}


class _Memory:
    """Shelves and counters, shared by engines that differ in ε alone."""

    def __init__(self, store: Store | None, limit: int) -> None:
        self.store = store
        self.limit = limit
        self.shelves: dict[Space, Shelf] = {}
        self.thrifts: dict[Space, Thrift] = {}
        self.marks: dict[Space, int] = {}
        self.digests: set[bytes] = set()  # of packs put into the store or read from it
        self.counters = Counters()
        self.lock = RLock()

    def shelf(self, space: Space) -> Shelf:
        shelf = self.shelves.get(space)
        if shelf is None:
            shelf = self.shelves[space] = Shelf(space)
        return shelf

    def thrift(self, space: Space) -> Thrift:
        thrift = self.thrifts.get(space)
        if thrift is None:
            thrift = self.thrifts[space] = Thrift()
        return thrift

    def fetch(self, shelf: Shelf) -> None:
        """Take from the store what has come since the last time."""
        if self.store is None:
            return
        packs, mark = self.store.read(shelf_name(shelf.space), self.marks.get(shelf.space, 0))
        self.marks[shelf.space] = mark
        new = [each for each in packs if each[-16:] not in self.digests]
        self.digests.update(each[-16:] for each in new)
        entries = [e for e in map(unpack, new) if e is not None and shelf.fits(e)]
        if not entries:
            return
        labels = frozen(np.stack([e.labels for e in entries]))
        rows = shelf.put(
            np.full(len(entries), -1, dtype=np.int64),
            shelf.numbers(labels)[0],
            np.stack([e.scores for e in entries]),
            np.stack([e.messages for e in entries]),
            np.stack([e.multipliers for e in entries]),
            np.array([e.margin for e in entries]),
        )
        shelf.solved(rows)
        self.keep_within_limit()

    def keep(self, shelf: Shelf, rows: IntArray) -> None:
        """Put solved problems into the store."""
        if self.store is None or not len(rows):
            return
        packs = [
            pack(
                Entry(
                    shelf.outputs[shelf.output_of[row]],
                    shelf.scores[row],
                    shelf.messages[row],
                    shelf.multipliers[row],
                    float(shelf.margins[row]),
                )
            )
            for row in rows.tolist()
        ]
        self.digests.update(each[-16:] for each in packs)
        self.store.add(shelf_name(shelf.space), packs)

    def keep_within_limit(self) -> None:
        """Let the largest shelf forget what has been of no use for longest."""
        while sum(shelf.size for shelf in self.shelves.values()) > self.limit:
            largest = max(self.shelves.values(), key=lambda shelf: shelf.size)
            if largest.count <= 1:
                return
            largest.forget()


@dataclass(frozen=True, eq=False)
class Amortized:
    """An engine over an engine, whose answers get cheaper with use.

    ``certificate`` is one of "auto" (duals, then equal scores: the best exact combination),
    "condition", "relative", "duals", "margin", "none", or certificates of your own choice, tried
    in order. ``epsilon`` above 0 takes outputs that may be that much worse, relative to their
    value (with a condition: see Theorem 1); every ``exact_every``-th input is then treated as if
    it were 0.

    Entries are kept in memory up to ``limit`` bytes, beyond which those that have been of no use
    for longest are forgotten. A ``store`` keeps solved problems beyond the process and shares them
    with others. ``thrifty`` engines do not test where that takes longer than solving; it changes
    times and counts, not answers, and has no say when ``epsilon`` is above 0.

    >>> from rote import Amortized, Milp, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["a"] >> y["b"])
    >>> space = builder.build()
    >>> engine = Amortized(Milp(), thrifty=False)
    >>> scores = [[2.0, 0.0, 1.0, 0.0], [2.1, 0.0, 1.3, 0.0]]
    >>> space.decode(engine.solve(space, scores).labels)
    [{'x': 'a', 'y': 'b'}, {'x': 'a', 'y': 'b'}]
    >>> engine.counters.queries, engine.counters.solver_calls
    (2, 0)
    """

    engine: Engine = field(default_factory=Exact)
    store: Store | None = None
    certificate: str | Sequence[Certificate] = "auto"
    epsilon: float = 0.0
    exact_every: int | None = None
    thrifty: bool = True
    limit: int = LIMIT
    _memory: _Memory = field(init=False, repr=False)
    _certificates: tuple[Certificate, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.certificate, str) and self.certificate not in CERTIFICATES:
            raise SettingError(
                f"certificate is one of {', '.join(CERTIFICATES)}, or a list of certificates; "
                f"got {self.certificate!r}"
            )
        if not 0 <= self.epsilon < np.inf:
            raise SettingError(f"epsilon is a number of at least 0, got {self.epsilon!r}")
        if self.exact_every is not None and self.exact_every < 1:
            raise SettingError(f"exact_every is at least 1, or None; got {self.exact_every!r}")
        if self.limit < 1:
            raise SettingError(f"limit is a number of bytes above 0, got {self.limit!r}")
        chosen = self.certificate
        certificates = CERTIFICATES[chosen] if isinstance(chosen, str) else tuple(chosen)
        object.__setattr__(self, "_certificates", certificates)
        object.__setattr__(self, "_memory", _Memory(self.store, self.limit))

    def at(self, epsilon: float, exact_every: int | None = None) -> Amortized:
        """The same engine, memory and counters with another ε."""
        other = Amortized(
            self.engine,
            self.store,
            self.certificate,
            epsilon,
            exact_every,
            self.thrifty,
            self.limit,
        )
        object.__setattr__(other, "_memory", self._memory)
        return other

    @property
    def counters(self) -> Counters:
        """What has been done so far."""
        return self._memory.counters

    def solve(self, space: Space, objective: Objective | AnyArray) -> Solutions:
        objective = as_objective(space, objective, terms=True)
        if objective.term is not None or not len(space.variables) or not len(objective):
            return self._untested(space, objective)
        thrift = self._memory.thrift(space)
        quota = len(objective)
        if self.thrifty and self.epsilon == 0:
            quota = thrift.quota(quota)
        if quota == 0:
            return self._untested(space, objective)
        if quota == len(objective):
            return self._tested(space, objective)
        cut = np.arange(len(objective))
        first = self._tested(space, objective.rows(cut[:quota]))
        second = self._untested(space, objective.rows(cut[quota:]))
        return _joined([first, second])

    def _untested(self, space: Space, objective: Objective) -> Solutions:
        """Straight to the engine underneath."""
        start = perf_counter()
        solutions = self.engine.solve(space, objective)
        took = perf_counter() - start
        m, memory = len(objective), self._memory
        with memory.lock:
            memory.thrift(space).solved(m, took)
            memory.counters += Counters(queries=m, solver_calls=m, untested=m, solving_seconds=took)
        return solutions

    def _tested(self, space: Space, objective: Objective) -> Solutions:
        """Certificates first. A young shelf is asked about few inputs at a time."""
        shelf = self._memory.shelf(space)
        answered: list[Solutions] = []
        start, asked = 0, shelf.asked
        size = len(objective) if objective.allowed is not None else max(FEW, shelf.count)
        entries = []
        while start < len(objective):
            rows = np.arange(start, min(start + size, len(objective)))
            part = objective if len(rows) == len(objective) else objective.rows(rows)
            starts = asked[rows] if len(asked) == len(objective) else np.full(len(rows), -1)
            solutions, used = self._batch(shelf, part, starts)
            answered.append(solutions)
            entries.append(used)
            start, size = start + len(rows), 2 * size
        shelf.asked = np.concatenate(entries)
        return answered[0] if len(answered) == 1 else _joined(answered)

    def _batch(
        self, shelf: Shelf, objective: Objective, starts: IntArray
    ) -> tuple[Solutions, IntArray]:
        """Answers, and the entry that each input now has on the shelf, or -1."""
        memory, m = self._memory, len(objective)
        begun = perf_counter()
        answers = _Answers(shelf.space, m, shelf.wide)
        with memory.lock:
            memory.fetch(shelf)
            asked = Asked(
                shelf, objective, self._epsilons(m), np.where(starts < shelf.count, starts, -1)
            )
            hits = self._test(asked, answers)
        testing = perf_counter() - begun
        left = np.flatnonzero(~answers.taken)
        solved, calls, solving = None, 0, 0.0
        if len(left):
            begun = perf_counter()
            solved, calls = self._solve(shelf.space, objective, left)
            solving = perf_counter() - begun
        begun = perf_counter()
        with memory.lock:
            if solved is not None:
                answers.solved(left, solved)
            entries, new, searched = self._remember(shelf, objective, answers, starts, left)
            testing += perf_counter() - begun
            thrift = memory.thrift(shelf.space)
            thrift.tested(m, m - calls, testing)
            thrift.solved(calls, solving)
            memory.counters += Counters(
                m, calls, hits, 0, new, searched, testing, solving, answers.largest_m
            )
        return answers.solutions(), entries

    def _epsilons(self, m: int) -> FloatArray:
        """ε of each input."""
        epsilon = np.full(m, float(self.epsilon))
        if self.exact_every is not None:
            number = self._memory.counters.queries + np.arange(m)
            epsilon[number % self.exact_every == 0] = 0.0
        return epsilon

    def _test(self, asked: Asked, answers: _Answers) -> dict[str, int]:
        hits: dict[str, int] = {}
        for certificate in self._certificates:
            left = np.flatnonzero(~answers.taken)
            if not len(left):
                break
            part = asked if len(left) == len(asked) else asked.rows(left)
            count = answers.proved(left, certificate, part)
            if count:
                hits[certificate.name] = count
        return hits

    def _solve(self, space: Space, objective: Objective, left: IntArray) -> tuple[Solutions, int]:
        """The engine's answers; equal questions are asked once."""
        rest = objective if len(left) == len(objective) else objective.rows(left)
        if rest.allowed is not None or len(left) == 1 or not self._certificates:
            return self.engine.solve(space, rest), len(left)
        _, first, place = np.unique(rest.scores, axis=0, return_index=True, return_inverse=True)
        if len(first) == len(left):
            return self.engine.solve(space, rest), len(left)
        return self.engine.solve(space, rest.rows(first)).rows(place), len(first)

    def _remember(
        self,
        shelf: Shelf,
        objective: Objective,
        answers: _Answers,
        starts: IntArray,
        left: IntArray,
    ) -> tuple[IntArray, int, int]:
        """Put what is proved on the shelf: entries, how many outputs are new, and margins sought.

        Problems with closed labels are of another feasible set, and are not remembered.
        """
        entries = np.where(answers.known, answers.entries, -1)
        found = np.flatnonzero(answers.labels[:, 0] >= 0)
        if not len(found):
            return entries, 0, 0
        numbers, new = shelf.numbers(frozen(answers.labels[found]))
        if objective.allowed is not None or not self._certificates:
            return entries, new, 0
        searched = self._find_margins(shelf, objective, answers, left)
        proved = (answers.status[found] == Status.OPTIMAL) & ~answers.known[found]
        rows = found[proved]
        kept = np.where(starts < shelf.count, starts, -1)
        entries[rows] = shelf.put(
            kept[rows],
            numbers[proved],
            objective.scores[rows],
            answers.messages[rows],
            answers.multipliers[rows],
            answers.margin[rows],
        )
        fresh = entries[left][entries[left] >= 0]
        shelf.solved(fresh)
        self._memory.keep(shelf, fresh)
        before = shelf.count
        self._memory.keep_within_limit()
        if shelf.count != before:
            entries[:] = -1
        return entries, new, searched

    def _find_margins(
        self, shelf: Shelf, objective: Objective, answers: _Answers, left: IntArray
    ) -> int:
        """Margins of solved problems, by their second best outputs, where a certificate asks."""
        asks = any(isinstance(each, Margin | Condition) for each in self._certificates)
        if not asks or self.epsilon > 0:
            return 0
        rows = left[(answers.status[left] == Status.OPTIMAL)]
        if not len(rows):
            return 0
        part = objective.rows(rows)
        asked = Asked(shelf, part, np.zeros(len(rows)), np.full(len(rows), -1))
        answers.margin[rows] = DualBound().test(asked).margin
        hard = rows[~(answers.margin[rows] > part.ties)]
        if len(hard):
            best, second = k_best(shelf.space, objective.rows(hard), 2)
            lead = best.value - second.value
            answers.margin[hard] = np.where(second.status == Status.INFEASIBLE, np.inf, lead)
        return len(hard)


class _Answers:
    """Answers to a batch as they come in."""

    def __init__(self, space: Space, m: int, wide: tuple[int, int]) -> None:
        self.space = space
        self.taken: BoolArray = np.zeros(m, dtype=np.bool_)
        self.known: BoolArray = np.zeros(m, dtype=np.bool_)  # an entry says more than this one
        self.labels = np.full((m, len(space.variables)), -1, dtype=np.int64)
        self.value = np.full(m, -np.inf)
        self.bound = np.full(m, np.inf)
        self.margin = np.full(m, -np.inf)
        self.status = np.full(m, Status.TIMED_OUT.value)
        self.source = np.full(m, Source.CACHE.value)
        self.messages = np.zeros((m, wide[0]))
        self.multipliers = np.zeros((m, wide[1]))
        self.entries = np.full(m, -1, dtype=np.int64)  # what was of use
        self.largest_m = 0.0

    def proved(self, rows: IntArray, certificate: Certificate, asked: Asked) -> int:
        """Enter what a certificate says; returns how many answers it gave."""
        proofs = certificate.test(asked)
        if proofs.messages is not None and proofs.multipliers is not None:
            self.messages[rows] = proofs.messages
            self.multipliers[rows] = proofs.multipliers
        hit = np.flatnonzero(proofs.taken)
        if not len(hit):
            return 0
        where = rows[hit]
        value = self.space.worth(asked.objective.scores, proofs.labels)[hit]
        self.taken[where] = True
        self.labels[where] = proofs.labels[hit]
        self.value[where] = value
        self.margin[where] = proofs.margin[hit]
        sure = (proofs.margin > asked.objective.ties)[hit] | (asked.epsilon[hit] == 0)
        self.bound[where] = np.where(sure, value, np.maximum(proofs.bound[hit], value))
        self.status[where] = np.where(sure, Status.OPTIMAL, Status.FEASIBLE)
        if isinstance(certificate, DualBound):
            self.source[where] = Source.CERTIFICATE
        elif isinstance(certificate, Condition) and not sure.all():
            off = ~sure & (value > 0)
            gap = (proofs.bound[hit] - value)[off] / asked.epsilon[hit][off]
            self.largest_m = max(self.largest_m, float((gap / value[off]).max(initial=0.0)))
        self.known[where] = isinstance(certificate, Margin | Same)
        self.entries[where] = used = proofs.entries[hit]
        asked.shelf.use(used[used >= 0])
        return len(hit)

    def solved(self, rows: IntArray, solutions: Solutions) -> None:
        """Enter the engine's answers."""
        self.labels[rows] = solutions.labels
        self.value[rows] = solutions.value
        self.bound[rows] = solutions.bound
        self.status[rows] = solutions.status
        self.source[rows] = solutions.source

    def solutions(self) -> Solutions:
        return Solutions(
            frozen(self.labels),
            frozen(self.value),
            frozen(self.bound),
            frozen(self.status),
            frozen(self.source),
        )


def _joined(pieces: Sequence[Solutions]) -> Solutions:
    def of(name: str) -> Iterator[AnyArray]:
        return (getattr(piece, name) for piece in pieces)

    names = ("labels", "value", "bound", "status", "source")
    return Solutions(*(frozen(np.concatenate(list(of(name)))) for name in names))
