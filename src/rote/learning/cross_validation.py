"""Cross-validation whose runs share what inference has found out: settings x folds, one cache.

Runs are made setting by setting, and within a setting fold by fold. A *policy* says how long what
is remembered lasts (Chang et al. 2015):

    none      nothing is remembered: every inference is solved
    reset     every setting begins with an empty cache, which its folds share
    forward   one cache goes through all runs

Processes share solved problems through a store. Which of them finds a problem solved by another
is a matter of time, and so counts differ from one parallel run to the next. Scores and weights do
not: while ε is 0 they are the same, to the last bit, whatever the policy and however many
processes there are. With ε above 0 an answer hangs on what is remembered, and scores on it too.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args
from uuid import uuid4

import numpy as np

from rote.errors import DataError, SettingError, check_whole, relocate
from rote.inference import Engine, Exact
from rote.inference.engine import find
from rote.inference.stores import MemoryStore, SqliteStore, Store
from rote.inference.wrappers.amortized import Amortized, Counters
from rote.learning.base import Learner, State, check_learner, fit
from rote.model import Dataset, Model, prepare
from rote.model.dataset import check_many
from rote.tasks.task import Task
from rote.types import AnyArray

X = TypeVar("X")
Y = TypeVar("Y")
Setting = TypeVar("Setting", bound=Hashable)
Policy: TypeAlias = Literal["none", "reset", "forward"]
POLICIES: Final = get_args(Policy)
KEPT = 10  # folds that stay prepared for the next setting


@dataclass(frozen=True)
class Run(Generic[Setting]):
    """One training, and how good it is on the examples it has not seen."""

    setting: Setting
    fold: int
    score: float
    iterations: int
    done: bool  # the learner's stop rule was met
    digest: str  # of the weights; equal where these are, to the last bit
    counters: Counters  # of the training alone
    seconds: float


@dataclass(frozen=True)
class Validation(Generic[Setting]):
    """All runs, setting by setting and fold by fold, and how long they took together."""

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

    ``learners`` has a learner for each setting, by a name of your choice. ``folds`` are pairs of
    arrays of places, to learn from and to be judged on, such as ``KFold(5).split(xs)`` gives.
    ``score`` gets the right outputs and those found; more is better. ``watch`` sees every run once
    it is made. Outputs that break a rule are refused, unless ``allow_infeasible_gold``.

    The ``engine`` is `Amortized` as you set it up, or another one that is to be amortized. Outputs
    that are scored are found by the engine underneath.

    With ``n_jobs`` above 1, so many processes share a store: the engine's own, or else an SQLite
    file that is gone afterwards. A store of the engine's own is for ``cache="forward"`` alone,
    and what lies in it already is made use of.

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
    _check(cache, n_jobs)
    if not isinstance(learners, Mapping):
        raise SettingError(
            f"learners has a learner by the name of each setting, as in {{0.1: StructuredSVM(C=0.1)"
            f"}}; got {learners!r:.80}"
        )
    for learner in learners.values():
        check_learner(learner)
    check_many("inputs", xs)
    check_many("outputs", ys)
    own = Exact() if engine is None else engine
    wrapped = find(own, Amortized) or Amortized(own)
    if wrapped.store is not None:
        _check_store(wrapped.store, cache, n_jobs)
    xs = tuple(xs)
    bench = _Bench(
        task,
        xs,
        tuple(ys),
        tuple(learners.items()),
        _pairs(folds, len(xs)),
        score,
        wrapped,
        cache,
        allow_infeasible_gold,
    )
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
    name: str = field(default_factory=lambda: uuid4().hex)
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
        last: list[State] = []

        def watch(state: State) -> None:
            last[:] = [state]

        learned, judged = (places.tolist() for places in self.folds[fold])
        with _called_as_of_all(learned):
            before, start = engine.counters, perf_counter()
            model = fit(learner, model, prepared, watch=watch)
            seconds, counters = perf_counter() - start, engine.counters - before
        with _called_as_of_all(judged):
            found = model.with_engine(engine.inner).predict(self.xs[k] for k in judged)
        return Run(
            setting,
            fold,
            _number(self.score([self.ys[k] for k in judged], found)),
            last[0].iteration if last else 0,
            bool(last) and last[0].done,
            hashlib.sha256(model.weights.tobytes()).hexdigest()[:16],
            counters,
            seconds,
        )

    def _engine(self, at: int) -> Amortized:
        """The engine with what it remembers; that of the last setting only is kept."""
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


def _number(given: float) -> float:
    """What a score gave, by which settings can be compared."""
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = nan
    if isnan(number):
        raise SettingError(f"score gives a number, and more is better; it gave {given!r:.80}")
    return number


@contextmanager
def _shared(bench: _Bench, n_jobs: int) -> Iterator[_Bench]:
    """The bench with a store that processes share, where they need one and have none."""
    if n_jobs == 1 or bench.cache == "none" or bench.engine.store is not None:
        yield bench
        return
    with TemporaryDirectory(prefix="rote-", ignore_cleanup_errors=True) as folder:

        def store(name: int) -> Store:
            return SqliteStore(Path(folder) / f"{name}.sqlite", bench.engine.max_bytes)

        settings = range(len(bench.learners))
        forward = bench.cache == "forward"
        stores = tuple(store(0 if forward else at) for at in settings)
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
        yield from parallel(delayed(_run)(bench.name, file, place) for place in bench.places)


# The bench of the runs that this process makes for another one. It is read for the first run and
# kept for those that follow, with what it has prepared and remembers.
_kept: dict[str, _Bench] = {}


def _run(name: str, file: Path, place: tuple[int, int]) -> tuple[tuple[int, int], Run[Any]]:
    if name not in _kept:
        _kept.clear()
        _kept[name] = pickle.loads(file.read_bytes())  # noqa: S301  # of the process that asks
    return place, _kept[name].run(*place)


def _pairs(
    folds: Iterable[tuple[AnyArray, AnyArray]], count: int
) -> tuple[tuple[AnyArray, AnyArray], ...]:
    if not isinstance(folds, Iterable):
        raise SettingError(
            "folds are pairs of arrays of places, to learn from and to be judged on, as in "
            f"KFold(5).split(xs); got {folds!r:.80}"
        )
    return tuple((_places(learned, count), _places(judged, count)) for learned, judged in folds)


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


def _check(cache: str, n_jobs: int) -> None:
    if cache not in POLICIES:
        raise SettingError(f"cache is one of {', '.join(POLICIES)}; got {cache!r}")
    check_whole("n_jobs", n_jobs, least=1)


def _check_store(store: Store, cache: str, n_jobs: int) -> None:
    if cache != "forward":
        raise SettingError(
            f"with cache={cache!r} runs begin with nothing remembered, and the engine has a store, "
            "which may hold something; leave the store out, or say cache='forward'"
        )
    if n_jobs > 1 and isinstance(store, MemoryStore):
        raise SettingError(
            "processes cannot share a store in memory; give the engine one in a file or on a "
            "server, or none at all"
        )
