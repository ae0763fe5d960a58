"""The interface of MAP inference: an engine answers a problem, a wrapper is one around another.

Engines declare what they can do (`Capability`), and nobody probes. `Engine.solve` is what users
call: it checks the problem and the context, asks once whether the engine can take them, and says
all that is missing in one sentence. Engines and wrappers call each other's `Engine.answer`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from enum import Enum
from threading import RLock
from typing import Any, ClassVar, TypeVar

from rote.errors import UnsupportedSpace
from rote.inference.asking import ask
from rote.inference.problem import NO_CONTEXT, Context, Problem
from rote.inference.solutions import Solutions
from rote.kernels.bundles import ChainPlan
from rote.settings import Checked, check, instance_of, whole
from rote.space.space import Space
from rote.types import AnyArray, FloatArray


class Capability(Enum):
    """What an engine can take or do beyond scores of parts."""

    LOSS_TERMS = "a loss that is no sum over parts; use RGS or Exhaustive, or Hamming"
    GLOBAL_FEATURES = "global features of whole outputs; use RGS or Exhaustive, or leave them out"
    LAZY_SCORES = "scores that are worked out when they are asked for"
    WARM_STARTS = "an output or duals to start from"
    GOLD = "outputs around the gold one alone, where there is a gold one"
    FEATURES = "the feature vectors behind the scores"


class Locked:
    """What changes while an engine works, under a lock; a copy has the contents, not the lock."""

    def __init__(self) -> None:
        self.lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, contents: dict[str, Any]) -> None:
        self.lock = RLock()
        vars(self).update(contents)


class Stats(Locked):
    """What an engine has done so far: named numbers, counted over all threads.

    A copy begins to count anew.

    >>> stats = Stats("inputs", "calls")
    >>> stats.add(inputs=3)
    >>> stats["inputs"], stats["calls"]
    (3, 0)
    """

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._counts: dict[str, float] = dict.fromkeys(names, 0)

    def __getstate__(self) -> dict[str, Any]:
        return {"_counts": dict.fromkeys(self._counts, 0)}

    def add(self, **more: float) -> None:
        """Count some more."""
        with self.lock:
            for name, count in more.items():
                self._counts[name] = self._counts.get(name, 0) + count

    def __getitem__(self, name: str) -> float:
        return self._counts[name]

    def now(self) -> Mapping[str, float]:
        """All numbers as they are."""
        with self.lock:
            return dict(self._counts)

    def __repr__(self) -> str:
        return f"Stats({', '.join(f'{name}={count}' for name, count in self.now().items())})"


class Engine(Checked, ABC):
    """Finds the best output of a space under scores (MAP inference), for every input of a batch.

    An engine of your own is a class with a method `answer`; a frozen dataclass whose fields are its
    settings can be saved with a model. ``capabilities`` says what it takes beyond scores of parts.
    A wrapper has an ``inner`` engine; one that is ``transparent`` is not part of a saved model,
    since it changes what answers cost and not what they are.
    """

    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    transparent: ClassVar[bool] = False
    one_pass: ClassVar[bool] = False  # whether nothing is faster where it accepts a space
    inner: Engine | None = None

    @property
    def supports(self) -> frozenset[Capability]:
        """What it can take or do."""
        return self.capabilities

    @property
    def stats(self) -> Stats:
        """What it has done so far; nothing is counted where an engine does not say so."""
        return Stats()

    def solve(
        self,
        space: Space,
        scores: Problem | AnyArray,
        context: Context = NO_CONTEXT,
        *,
        n_jobs: int = 1,
    ) -> Solutions:
        """The best output of each input.

        Parameters
        ----------
        space
            The outputs that are possible.
        scores
            One number per part, of shape (m, parts), or a `Problem`.
        context
            What the engine may know beside the scores.
        n_jobs
            How many threads share the inputs; the answers are the same, unless the engine learns
            from one for the next.
        """
        problem = Problem.of(space, scores)
        context = context.checked(problem)
        require(self, problem)
        if n_jobs != 1:
            check("n_jobs", n_jobs, whole(1))
        if n_jobs == 1 or len(problem) < 2:
            return ask(self, problem, context)
        size = -(-len(problem) // n_jobs)
        shares = [slice(first, first + size) for first in range(0, len(problem), size)]

        def answer(share: slice) -> Solutions:
            return ask(self, problem.rows(share), context.rows(share))

        return Solutions.joined(list(in_threads(answer, shares, n_jobs)))

    @abstractmethod
    def answer(self, problem: Problem, context: Context) -> Solutions:
        """The best output of each input of a problem that was checked."""

    def answer_all(self, pairs: Sequence[tuple[Problem, Context]]) -> Iterator[Solutions]:
        """The answers to several problems, of as many spaces, one after the other.

        An engine with `Capability.LAZY_SCORES` asks for the scores of all of them at once.
        """
        return (self.answer(problem, context) for problem, context in pairs)

    def refuses(self, space: Space) -> str | None:
        """Why the engine cannot solve a space, as a sentence; None where it can."""
        return None

    def accepts(self, space: Space) -> bool:
        """Whether the engine can solve a space."""
        return self.refuses(space) is None

    def warm_starts(self, space: Space) -> bool:
        """Whether a search of this space goes faster from the answer to an earlier one.

        If it can use duals as well as the output, it returns `Solutions.duals` where
        `Context.record` asks for them. The answer may change once it has searched the space.
        """
        return False

    def is_quick(self, space: Space) -> bool:
        """Whether it answers sooner than a certificate could, so that none is worth a try."""
        return False

    def chain(self, space: Space) -> ChainPlan | None:
        """The space as a chain, where this engine would solve it as one, for compiled learners."""
        return None

    def saved(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        """The settings to make an equal engine of, and the arrays that it has learned."""
        if not is_dataclass(self):
            return {}, {}
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}, {}

    @classmethod
    def restored(cls, settings: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> Engine:
        """The engine that was `saved`."""
        return cls(**settings, **arrays)


class Wrapper(Engine):
    """An engine around another one: it can take what the inner one can, as far as it passes it on.

    ``passes`` are the capabilities of the inner engine that stay its own, and ``adds`` are those
    that it has whatever is inside. A wrapper that passes `Capability.LAZY_SCORES` hands
    `Engine.answer_all` on as well.
    """

    inner: Engine
    passes: ClassVar[frozenset[Capability]] = frozenset(Capability) - {Capability.LAZY_SCORES}
    adds: ClassVar[frozenset[Capability]] = frozenset()

    @property
    def supports(self) -> frozenset[Capability]:
        return (self.inner.supports & self.passes) | self.adds

    def refuses(self, space: Space) -> str | None:
        return self.inner.refuses(space)

    def warm_starts(self, space: Space) -> bool:
        return self.inner.warm_starts(space)

    def is_quick(self, space: Space) -> bool:
        return self.inner.is_quick(space)


E = TypeVar("E", bound=Engine)
Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], n_jobs: int
) -> Iterator[Result]:
    """What comes of each piece of work, in order; kernels let several threads run at once."""
    if n_jobs == 1 or len(pieces) < 2:
        return map(work, pieces)
    return _pooled(work, pieces, n_jobs)


def _pooled(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], n_jobs: int
) -> Iterator[Result]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_jobs) as pool:
        yield from pool.map(work, pieces)


def layers(engine: Engine) -> Iterator[Engine]:
    """An engine, the one inside it, and so on to the innermost.

    Parameters
    ----------
    engine
        The outermost layer.
    """
    layer: Engine | None = engine
    while layer is not None:
        yield layer
        layer = layer.inner


def find(engine: Engine, kind: type[E]) -> E | None:
    """The outermost layer of a kind, or None.

    Parameters
    ----------
    engine
        The outermost layer of all.
    kind
        The class to look for, such as `Amortized`.
    """
    return next((layer for layer in layers(engine) if isinstance(layer, kind)), None)


def rebuilt(engine: Engine, kind: type[E], change: Callable[[E], Engine]) -> Engine:
    """An engine with its outermost layer of a kind changed; the layers around it count on."""
    if isinstance(engine, kind):
        return change(engine)
    return engine if engine.inner is None else _over(engine, rebuilt(engine.inner, kind, change))


def _over(engine: Engine, inner: Engine) -> Engine:
    """The same layer around another engine; it shares what it has counted and learned."""
    outer = copy(engine)
    object.__setattr__(outer, "inner", inner)
    return outer


def persistent(engine: Engine) -> Engine:
    """What a saved model predicts with: the engine without its transparent layers."""
    while engine.transparent and engine.inner is not None:
        engine = engine.inner
    if engine.inner is None:
        return engine
    inner = persistent(engine.inner)
    return engine if inner is engine.inner else _over(engine, inner)


def require(engine: Engine, problem: Problem) -> None:
    """Refuse a problem that an engine cannot take, and say all that it lacks."""
    refusal = engine.refuses(problem.space)
    if refusal is None and problem.decomposes:
        return  # as a rule: this is asked at every call
    lacks = [
        f"it does not take {capability.value}"
        for capability, needed in (
            (Capability.LOSS_TERMS, problem.loss_term is not None),
            (Capability.GLOBAL_FEATURES, problem.global_scores is not None),
        )
        if needed and capability not in engine.supports
    ]
    if refusal is not None:
        lacks.append(refusal)
    if lacks:
        raise UnsupportedSpace(f"{type(engine).__name__} cannot solve this: {'; '.join(lacks)}")


ANY_ENGINE = "Exact(), or a class of your own that derives from rote.engines.Engine"


def check_engine(
    what: str, engine: object, kind: type[Engine] = Engine, such_as: str = ANY_ENGINE
) -> None:
    """Refuse what is no engine of a kind, such as the class of one."""
    check(what, engine, instance_of(kind, such_as))
