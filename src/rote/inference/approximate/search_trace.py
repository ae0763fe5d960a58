"""Paths of greedy search: a start for every input, where the climb ends, and what lies between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.problem import Problem
from rote.kernels.bundles import GlobalFeatures
from rote.kernels.constants import NO_TERM
from rote.kernels.local_search.global_features import no_global_features
from rote.kernels.local_search.greedy import Instances, all_entries, climb_all, outputs_along
from rote.kernels.local_search.hash_random import draw_starts, note_starts, seeds_of
from rote.space.losses import KnownTerm
from rote.space.network import Network
from rote.types import BoolArray, FloatArray, IntArray, readonly

NO_GLOBAL_FEATURES = no_global_features()
MAX_STEPS = 4  # per variable: of longer ways the first are kept


@dataclass(frozen=True, eq=False)
class SearchTrace:
    """One path for every input of a batch."""

    starts: IntArray  # (m, variables)
    ends: IntArray  # (m, variables)
    is_feasible: BoolArray  # (m,): whether the end does
    steps: IntArray  # (m, most, 2): a variable and its new label
    counts: IntArray  # (m,): how many steps there are

    def outputs(self, most: int | None = None) -> tuple[IntArray, IntArray]:
        """The outputs on all paths, each start first and each end last; and whose they are.

        All of them, or ``most`` of each path, evenly spread, with its start and its end.
        """
        outputs, owner = outputs_along(self.starts, self.steps, self.counts)
        if most is not None:
            steps = self.counts[owner]
            place = np.arange(len(owner)) - (np.cumsum(self.counts + 1) - self.counts - 1)[owner]
            # A place is kept where the way so far, in parts of the whole, enters another part.
            part, before = (
                where * (most - 1) // np.maximum(1, steps) for where in (place, place - 1)
            )
            kept = (steps < most) | (part != before)
            outputs, owner = outputs[kept], owner[kept]
        return readonly(outputs), readonly(owner)


@dataclass(frozen=True, eq=False)
class RestartResult:
    """What a search has after so many climbs of every input."""

    labels: IntArray  # (m, variables): the best so far, -1 where there is none
    values: FloatArray  # (m,): theirs
    needed: IntArray  # (m,): the climb that found them, counted from 1; 0 where there is none
    climbed: IntArray  # the inputs that were climbed for in this round
    paths: SearchTrace  # theirs


class Best:
    """The best outputs found so far."""

    def __init__(self, inputs: int, variables: int) -> None:
        self.labels = np.full((inputs, variables), -1, dtype=np.int64)
        self.values = np.full(inputs, -np.inf)
        self.needed = np.zeros(inputs, dtype=np.int64)
        self.rounds = 0

    def take(
        self, inputs: IntArray, paths: SearchTrace, values: FloatArray, ties: FloatArray
    ) -> BoolArray:
        """Take the ends that are better than what there is; which of them are."""
        self.rounds += 1
        better = np.asarray(paths.is_feasible & (values > self.values[inputs] + ties))
        rows = inputs[better]
        self.labels[rows], self.values[rows] = paths.ends[better], values[better]
        self.needed[rows] = self.rounds
        return better

    def now(self, climbed: IntArray, paths: SearchTrace) -> RestartResult:
        """As it stands."""
        return RestartResult(
            readonly(self.labels.copy()),
            readonly(self.values.copy()),
            readonly(self.needed.copy()),
            readonly(climbed),
            paths,
        )


class RestartSampler:
    """The starts of inputs, climb after climb; none is drawn that was there before."""

    def __init__(self, problem: Problem, seed: int, climbs: int) -> None:
        self._space, self._closed = problem.space, problem.closed_labels
        self._seeds = seeds_of(problem.scores, seed)
        self._seen = np.empty((len(problem), climbs), dtype=np.int64)  # their prints
        self._count = 0

    def drawn(self, initial: IntArray, n_resampled: int) -> IntArray:
        """The next start of every input: its initial output, at least so many labels redrawn."""
        starts = self._draw(np.arange(len(initial)), initial, n_resampled)
        self._count += 1
        return starts

    def given(
        self, starts: IntArray, good: BoolArray, initial: IntArray, n_resampled: int
    ) -> tuple[IntArray, BoolArray]:
        """The next start of every input: a given one that is good and new, or else a drawn one.

        And of which inputs it is the given one.
        """
        taken = good & note_starts(starts, self._seen, self._count)
        rows, chosen = np.flatnonzero(~taken), starts.copy()
        chosen[rows] = self._draw(rows, readonly(initial[rows]), n_resampled)
        self._count += 1
        return readonly(chosen), taken

    def keep(self, kept: BoolArray) -> None:
        """Go on with some of the inputs."""
        self._closed, self._seeds = readonly(self._closed[kept]), self._seeds[kept]
        self._seen = self._seen[kept]

    def _draw(self, rows: IntArray, initial: IntArray, n_resampled: int) -> IntArray:
        space, seen = self._space, self._seen[rows]
        seeds, closed = readonly(self._seeds[rows]), readonly(self._closed[rows])
        starts = draw_starts(seeds, closed, initial, space.offsets, n_resampled, seen, self._count)
        self._seen[rows] = seen
        return readonly(starts)


class HillClimber:
    """Climbs the scores of inputs, as often as asked, and reads them once."""

    def __init__(self, problem: Problem) -> None:
        known = compiled_terms(problem)
        if known is None:
            raise UnsupportedSpace(
                "paths are kept for rules without auxiliary columns, and for loss terms and global "
                "features that kernels know; use RGS without asking for paths"
            )
        self.kind, self.gold, features = known
        self.ties, self.network = problem.ties, problem.space.network.per_factor_tables
        network = self.network
        entries = all_entries(problem.questions, network.graph, network.is_plain)
        self.instances = Instances(entries, network.graph, features)

    def climb(self, starts: IntArray, members: IntArray | None = None) -> SearchTrace:
        """The path of every input from a start of its own; ``members`` are which, if not all."""
        rows = np.arange(len(starts)) if members is None else members
        ends, is_feasible, steps, counts = climb_all(
            self.instances,
            readonly(rows),
            readonly(self.ties[rows]),
            starts,
            starts if self.gold is None else readonly(self.gold[rows]),
            self.kind,
            is_paired(self.network),
            MAX_STEPS * max(1, starts.shape[1]),
        )
        return SearchTrace(
            starts, readonly(ends), readonly(is_feasible), readonly(steps), readonly(counts)
        )


def hill_climb(problem: Problem, starts: IntArray) -> SearchTrace:
    """The path of every input from a start of its own."""
    return HillClimber(problem).climb(starts)


def compiled_terms(problem: Problem) -> tuple[int, IntArray | None, GlobalFeatures] | None:
    """The kind of the loss term, its gold, and global features; None where kernels know less."""
    term, more, network = problem.loss_term, problem.global_scores, problem.space.network
    if network.variables > network.own or not (more is None or more.global_features.is_known):
        return None
    features = NO_GLOBAL_FEATURES if more is None else more.compiled
    if term is None:
        return NO_TERM, None, features
    # Kernels are compiled anew for arrays that may be written to.
    return (term.kind, readonly(term.gold), features) if isinstance(term, KnownTerm) else None


def is_paired(network: Network) -> bool:
    """Whether a matrix of pairs says all there is to say of the tables of a network."""
    return bool(
        network.blocks
        and (network.sizes == 2).all()
        and (np.diff(network.scope_ptr) == 2).all()
        and network.allowed.all()
    )
