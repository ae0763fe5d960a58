"""Cross-validation whose runs share one solution cache: settings x folds.

Runs are made setting by setting, and within a setting fold by fold. A *policy* says how long
solutions are kept (Chang et al. 2015):

    none      nothing is kept: every inference is solved
    reset     every setting begins with an empty cache, which its folds share
    forward   one cache goes through all runs

Processes share solved problems through a store. Which of them finds a problem solved by another
is a matter of time, and so counts differ from one parallel run to the next. Scores and weights do
not: while ε is 0 they are the same, to the last bit, whatever the policy and however many
processes there are. With ε above 0 answers and scores depend on what is in the cache.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from rote.errors import DataError, SettingError, relocate
from rote.inference.engine import Engine, find
from rote.inference.exact.exact import Exact
from rote.inference.stores import MemoryStore, SqliteStore, Store
from rote.inference.wrappers.amortized import Amortized, Counters
from rote.learning.base import LEARNER, Learner, State, fit
from rote.model import Dataset, Model, prepare
from rote.model.dataset import check_many
from rote.settings import Setting as Checks
from rote.settings import check, number, one_of, whole
from rote.tasks.task import Task
from rote.types import AnyArray, readonly

X = TypeVar("X")
Y = TypeVar("Y")
Setting = TypeVar("Setting", bound=Hashable)
Policy: TypeAlias = Literal["none", "reset", "forward"]
LEARNERS = Checks(
    "a mapping from the name of each setting to a learner, as in {0.1: StructuredSVM(C=0.1)}",
    lambda value: isinstance(value, Mapping) and all(map(LEARNER.accepts, value.values())),
)
FOLDS = Checks(
    "a list of pairs of arrays of places, to learn from and to be judged on, as in "
    "KFold(5).split(xs)",
    lambda value: isinstance(value, Iterable),
)
KEPT = 10  # folds that stay prepared for the next setting


@dataclass(frozen=True)
class Run(Generic[Setting]):
    """One training, and how good it is on the examples it has not seen.

    Parameters
    ----------
    setting
        The name of the learner.
    fold
        The number of the fold, from 0.
    score
        That of the examples which the fold leaves out.
    iterations
        How many the learner made.
    done
        Whether the learner's stop rule was met.
    digest
        Of the weights; equal where these are, to the last bit.
    counters
        What the training asked and solved.
    seconds
        How long the training took.
    """

    setting: Setting
    fold: int
    score: float
    iterations: int
    done: bool
    digest: str
    counters: Counters
    seconds: float


@dataclass(frozen=True)
class Validation(Generic[Setting]):
    """The result of a cross-validation.

    Parameters
    ----------
    runs
        Setting by setting and fold by fold.
    seconds
        How long they took together.
    """

    runs: tuple[Run[Setting], ...]
    seconds: float

    @property
    def counters(self) -> Counters:
        """What all trainings together asked and solved."""
        return sum((run.counters for run in self.runs), Counters())

    @property
    def scores(self) -> dict[Setting, float]:
        """The mean over folds, for each setting."""
        settings = dict.fromkeys(run.setting for run in self.runs)
        return {
            setting: fmean(run.score for run in self.runs if run.setting == setting)
            for setting in settings
        }

    @property
    def best(self) -> Setting:
        """The setting with the highest mean; the first, if several have it."""
        scores = self.scores
        return max(scores, key=scores.__getitem__)


def cross_validate(
    task: Task[X, Y],
    xs: Iterable[X],
    ys: Iterable[Y],
    learners: Mapping[Setting, Learner],
    folds: Iterable[tuple[AnyArray, AnyArray]],
    score: Callable[[Sequence[Y], Sequence[Y]], float],
    *,
    engine: Engine | None = None,
    cache: Policy = "forward",
    n_jobs: int = 1,
    watch: Callable[[Run[Setting]], None] | None = None,
    allow_infeasible_gold: bool = False,
) -> Validation[Setting]:
    """Train every learner on every fold, and score it on what the fold leaves out.

    Parameters
    ----------
    task
        What the examples are of.
    xs, ys
        Inputs and their outputs.
    learners
        A learner for each setting, by a name of your choice.
    folds
        Pairs of arrays of places, to learn from and to be judged on, such as
        ``KFold(5).split(xs)`` gives.
    score
        Of the gold outputs and those predicted; more is better.
    engine
        `Amortized` as you set it up, or another one that is to be amortized; `Exact` if not given.
        Outputs that are scored are found by the engine inside.
    cache
        How long solutions are kept: "none", "reset" or "forward".
    n_jobs
        So many processes share a store: the engine's own, or else an SQLite file that is gone
        afterwards. A store of the engine's own is for "forward" alone, and what lies in it already
        is made use of.
    watch
        Sees every run once it is made.
    allow_infeasible_gold
        Whether outputs that break a rule are learned from; they are refused otherwise.

    >>> from sklearn.model_selection import KFold
    >>> from rote import StructuredSVM
    >>> from rote.features import Templates
    >>> from rote.tasks.tagging import Tagging
    >>> task = Tagging(("N", "V"), Templates(("word",), ("word[0]",)))
    >>> xs = 2 * [[["dogs"], ["bark"]], [["bark"], ["dogs"]]]
    >>> ys = 2 * [("N", "V"), ("V", "N")]
    >>> learners = {C: StructuredSVM(C=C) for C in (0.1, 1.0)}
    >>> def right(ys, found):
    ...     return sum(y == z for y, z in zip(ys, found)) / len(ys)
    >>> result = cross_validate(task, xs, ys, learners, KFold(2).split(xs), right)
    >>> result.scores
    {0.1: 1.0, 1.0: 1.0}
    """
    start = perf_counter()
    check("cache", cache, one_of(*get_args(Policy)))
    check("n_jobs", n_jobs, whole(1))
    check("learners", learners, LEARNERS)
    check("folds", folds, FOLDS)
    check_many("inputs", xs)
    check_many("outputs", ys)
    own = Exact() if engine is None else engine
    wrapped = find(own, Amortized) or Amortized(own)
    if wrapped.store is not None and cache != "forward":
        raise SettingError(
            f"with cache={cache!r} runs begin with an empty cache, and the store of the engine may "
            "hold something; leave the store out, or say cache='forward'"
        )
    if n_jobs > 1 and isinstance(wrapped.store, MemoryStore):
        raise SettingError(
            "processes cannot share a store in memory; give the engine one in a file or on a "
            "server, or none at all"
        )
    xs, ys = tuple(xs), tuple(ys)
    pairs = tuple((_places(learned, len(xs)), _places(left, len(xs))) for learned, left in folds)
    settings = tuple(learners.items())
    bench = _Bench(task, xs, ys, settings, pairs, score, wrapped, cache, allow_infeasible_gold)
    runs: dict[tuple[int, int], Run[Setting]] = {}
    with _shared(bench, n_jobs) as ready:
        for place, run in _made(ready, n_jobs):
            runs[place] = run
            if watch is not None:
                watch(run)
    return Validation(tuple(runs[place] for place in bench.places), perf_counter() - start)


@dataclass(frozen=True, eq=False)
class _Bench:
    """What all runs have in common, and in each process what lasts from one to the next."""

    task: Task[Any, Any]
    xs: tuple[Any, ...]
    ys: tuple[Any, ...]
    learners: tuple[tuple[Any, Learner], ...]
    folds: tuple[tuple[AnyArray, AnyArray], ...]
    score: Callable[[Sequence[Any], Sequence[Any]], float]
    engine: Amortized
    cache: Policy
    allow_infeasible_gold: bool
    stores: tuple[Store | None, ...] = ()  # one for each setting
    _prepared: dict[int, Dataset] = field(default_factory=dict)
    _engines: dict[int, Amortized] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.xs) != len(self.ys):
            raise DataError(f"there are {len(self.xs)} inputs and {len(self.ys)} outputs")
        if not self.learners or not self.folds:
            raise SettingError("there is no run to make; give a learner and a fold at least")

    @property
    def places(self) -> list[tuple[int, int]]:
        """The number of the setting and of the fold, for each run."""
        return list(product(range(len(self.learners)), range(len(self.folds))))

    def run(self, at: int, fold: int) -> Run[Any]:
        setting, learner = self.learners[at]
        engine, prepared = self._engine(at), self._learned(fold)
        model: Model[Any, Any] = Model(self.task, prepared.layout, prepared.layout.zeros(), engine)
        states: deque[State] = deque(maxlen=1)
        learned, judged = (places.tolist() for places in self.folds[fold])
        with _called_as_of_all(learned):
            before, start = engine.counters, perf_counter()
            model = fit(learner, model, prepared, watch=states.append)
            seconds, counters = perf_counter() - start, engine.counters - before
        with _called_as_of_all(judged):
            found = model.with_engine(engine.inner).predict(self.xs[k] for k in judged)
        return Run(
            setting,
            fold,
            float(check("score", self.score([self.ys[k] for k in judged], found), number())),
            states[0].iteration if states else 0,
            bool(states) and states[0].done,
            hashlib.sha256(model.weights.tobytes()).hexdigest()[:16],
            counters,
            seconds,
        )

    def _engine(self, at: int) -> Amortized:
        """The engine with its cache; that of the last setting only is kept."""
        if self.cache == "none":
            return Amortized(self.engine.inner, certificate="none", admission="always")
        key = 0 if self.cache == "forward" else at
        if key not in self._engines:
            self._engines.clear()
            store = self.stores[at] if self.stores else self.engine.store
            self._engines[key] = replace(self.engine, store=store)
        return self._engines[key]

    def _learned(self, fold: int) -> Dataset:
        prepared = self._prepared.get(fold)
        if prepared is None:
            places = self.folds[fold][0].tolist()
            xs, ys = [self.xs[k] for k in places], [self.ys[k] for k in places]
            with _called_as_of_all(places):
                prepared = prepare(
                    self.task, xs, ys, allow_infeasible_gold=self.allow_infeasible_gold
                )
            # An example has one name in all folds, so that what is remembered of it is found.
            prepared = replace(prepared, keys=readonly(np.array(places)))
            if len(self._prepared) < KEPT:
                self._prepared[fold] = prepared
        return prepared


@contextmanager
def _called_as_of_all(places: Sequence[int]) -> Iterator[None]:
    """Errors call an example by its number among all, and not among those with these places."""
    try:
        yield
    except Exception as error:
        relocate(error, "example", places)
        raise


@contextmanager
def _shared(bench: _Bench, n_jobs: int) -> Iterator[_Bench]:
    """The bench with a store that processes share, where they need one and have none."""
    if n_jobs == 1 or bench.cache == "none" or bench.engine.store is not None:
        yield bench
        return
    with TemporaryDirectory(prefix="rote-", ignore_cleanup_errors=True) as folder:
        numbers = [0 if bench.cache == "forward" else at for at in range(len(bench.learners))]
        files = (Path(folder) / f"{number}.sqlite" for number in numbers)
        stores = tuple(SqliteStore(file, bench.engine.max_bytes) for file in files)
        yield replace(bench, stores=stores)


def _made(bench: _Bench, n_jobs: int) -> Iterator[tuple[tuple[int, int], Run[Any]]]:
    """Runs as they come, with their places."""
    if n_jobs == 1:
        yield from ((place, bench.run(*place)) for place in bench.places)
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky.backend.reduction import dumps

    parallel = Parallel(n_jobs, backend="loky", batch_size=1, return_as="generator_unordered")
    with TemporaryDirectory(prefix="rote-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "bench"  # all examples, which processes read once and not per run
        file.write_bytes(dumps(bench))
        yield from parallel(delayed(_run)(file, place) for place in bench.places)


# The bench of the runs that this process makes for another one. It is read for the first run and
# kept for those that follow, with its prepared folds and its cache.
_kept: dict[Path, _Bench] = {}


def _run(file: Path, place: tuple[int, int]) -> tuple[tuple[int, int], Run[Any]]:
    if file not in _kept:
        _kept.clear()
        _kept[file] = pickle.loads(file.read_bytes())  # noqa: S301  # of the process that asks
    return place, _kept[file].run(*place)


def _places(given: AnyArray, count: int) -> AnyArray:
    """One side of a fold. A mask would be read as places 0 and 1, and -1 as the last example."""
    places = np.asarray(given)
    if places.ndim != 1 or places.dtype.kind not in "iu":
        raise SettingError(
            "each side of a fold is an array of places, whole numbers along one axis; got shape "
            f"{places.shape} of {places.dtype}; np.flatnonzero makes places of a mask"
        )
    outside = places[(places < 0) | (places >= count)]
    if len(outside):
        raise SettingError(
            f"places of a fold are counted from 0, and there are {count} inputs; got {outside[0]}"
        )
    return places
