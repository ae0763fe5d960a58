"""What the experiments on amortized greedy search share: four cases made ready, searches watched.

The cases are those of Section 6.3 of Ma et al. (2019): yeast learned for F1, handwriting with label
tuples of up to four, MSRC-21, and LitBank in the place of ACE 2005. How much of each is learned
from, and for how long, is said by a `Share`. Without ROTE_DATA there are made-up inputs of the same
kinds: points, words, grids and documents.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from time import process_time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from papers.base import Settings
from papers.data.folder import VARIABLE
from papers.data.msrc21 import CLASSES
from papers.data.synthetic import linked_labels
from papers.ma2019.bench import fit_quietly
from papers.ma2019.structures import (
    STRUCTURES,
    Painted,
    Photographs,
    coreference_measures,
    image_measures,
)
from papers.ma2019.tasks import SEED, Case, Examples, case_of
from rote import (
    RGS,
    Context,
    Coreference,
    F1Loss,
    GraphLabelling,
    LearnedRestarts,
    Model,
    MultiLabel,
    Problem,
    SettingError,
    Solutions,
    StructuredSVM,
    Tagging,
    Task,
    Wrapper,
    prepare,
)
from rote.engines import Initializer
from rote.metrics import example_scores, token_accuracy
from rote.model import Dataset
from rote.tasks import Document, Graph, Mention, ParsedSentence, grid
from rote.tasks.coreference import clusters_of
from rote.types import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PAPER = "Ma et al. (2019)"
YEAST, HANDWRITING, IMAGES, DOCUMENTS = "yeast", "hw-large", "msrc21", "litbank-coref"
BIBTEX = "bibtex"  # for the time of learning alone
NAMES = (YEAST, HANDWRITING, IMAGES, DOCUMENTS)
HARDER = (IMAGES, DOCUMENTS)  # large outputs, where climbs are long and end in many places
CLASSIFIER = 60  # iterations of the classifier
WIDE = 4  # neighbours whose labels are scored together
Measures = Callable[[Sequence[Any], Sequence[Any]], dict[str, float]]


@dataclass(frozen=True)
class Share:
    """How many inputs a case is learned from and judged on at most, and how it is learned.

    ``alpha`` is the one that ma2019-accuracy chooses on validation examples.
    """

    train: int
    test: int
    iterations: int
    restarts: int = 50  # of a search in learning
    alpha: float = 0.0


@dataclass(frozen=True, eq=False)
class Ready:
    """A case that can be learned; ``metric`` is the measure that the paper gives, in per cent."""

    name: str
    source: str
    task: Task[Any, Any]
    learner: StructuredSVM
    learned: Examples
    judged: Examples
    measures: Measures
    metric: str

    def judge(self, predicted: Sequence[Any]) -> float:
        """The measure of the paper."""
        return self.measures(self.judged.ys, predicted)[self.metric]


class Learned(NamedTuple):
    """A model without weights, its examples, and the classifier that starts are drawn around."""

    model: Model[Any, Any]
    prepared: Dataset
    classifier: Initializer


class Watched(Wrapper):
    """A search, how long it took, what its answers are worth, and how many climbs they needed.

    Times are those of the processor: what else a machine does matters less to them.
    """

    inner: RGS | LearnedRestarts

    def __init__(self, inner: RGS | LearnedRestarts) -> None:
        self.inner, self.seconds = inner, 0.0
        self._values: list[FloatArray] = []
        self._needed: list[IntArray] = []

    def answer(self, problem: Problem, context: Context) -> Solutions:
        start = process_time()
        found, needed = self.inner.searched(problem, context)
        self.seconds += process_time() - start
        self._values.append(found.value)
        self._needed.append(needed)
        return found

    @property
    def values(self) -> FloatArray:
        return np.concatenate(self._values)

    @property
    def needed(self) -> IntArray:
        return np.concatenate(self._needed)

    @property
    def climbs(self) -> float:
        """How many there were for an input, on average."""
        if isinstance(self.inner, RGS):
            return float(self.inner.restarts)
        spent = self.inner.stats
        return spent["climbs"] / max(1, spent["inputs"])


def ready(name: str, share: Share, seed: int = SEED) -> Ready:
    """One of `NAMES`, as much of it as a share says; without ROTE_DATA, made-up inputs."""
    if name not in READY:
        raise SettingError(f"the cases are {', '.join(READY)}; got {name!r}")
    if os.environ.get(VARIABLE):
        case = READY[name]()
    else:
        case = MADE_UP[name](share.train + share.test, share.train, seed)
    return replace(
        case,
        learner=replace(case.learner, iterations=share.iterations, seed=seed),
        learned=_first(case.learned, share.train),
        judged=_first(case.judged, share.test),
    )


def each_case(shares: Mapping[str, Share], settings: Settings) -> Iterator[tuple[Ready, Share]]:
    """The cases to be done, one after the other, each with its share."""
    names = settings.among(shares)
    for done, name in enumerate(names, start=1):
        yield ready(name, shares[name], settings.seed), shares[name]
        settings.progress(done, len(names))


def said(settings: Settings, plan: DataclassInstance, cases: Sequence[Ready]) -> dict[str, Any]:
    """What a record says of how it was made."""
    usual = LearnedRestarts()
    return {
        "quick": settings.quick,
        "seed": settings.seed,
        "plan": asdict(plan),
        "A-RGS": {
            name: getattr(usual, name) for name in ("step", "passes", "tolerance", "outputs")
        },
        "data": {case.name: case.source for case in cases},
        "accuracy": {case.name: case.metric for case in cases},
    }


def start_learning(case: Ready) -> Learned:
    """What all that is learned of a case begins with."""
    prepared = prepare(case.task, case.learned.xs, case.learned.ys)
    layout = prepared.layout
    return Learned(
        Model(case.task, layout, layout.zeros()), prepared, fit_quietly(prepared, CLASSIFIER)
    )


def _first(examples: Examples, count: int) -> Examples:
    return Examples(examples.xs[:count], examples.ys[:count])


def _as_it_is(case: Case, metric: str) -> Ready:
    whole, test = case.whole(), case.test()
    return Ready(case.name, case.name, case.task, case.learner, whole, test, case.measures, metric)


def _mixed(case: Ready) -> Ready:
    """In another order: the first words of a fold are by few people, and first images are alike."""
    order = np.random.default_rng(SEED).permutation(len(case.learned.ys))
    return replace(case, learned=case.learned.rows(order.tolist()))


def _handwriting() -> Ready:
    case = _mixed(_as_it_is(case_of(HANDWRITING), "accuracy"))
    assert isinstance(case.task, Tagging)
    return replace(case, task=replace(case.task, order=1, max_ngram=WIDE))


def _documents() -> Ready:
    case = _as_it_is(STRUCTURES[DOCUMENTS](), "conll")
    # Those that are learned from are few, and the shortest are learned from soonest.
    order = sorted(range(len(case.learned.ys)), key=lambda k: len(case.learned.xs[k].mentions))
    return replace(case, learned=case.learned.rows(order))


READY: Mapping[str, Callable[[], Ready]] = MappingProxyType(
    {
        YEAST: lambda: _as_it_is(case_of(YEAST), "example_f1"),
        BIBTEX: lambda: _as_it_is(case_of(BIBTEX), "example_f1"),
        HANDWRITING: _handwriting,
        IMAGES: lambda: _mixed(_as_it_is(STRUCTURES[IMAGES](), "global_accuracy")),
        DOCUMENTS: _documents,
    }
)

SOURCE = f"made up, as {VARIABLE} is not set"
LETTERS = tuple("abcde")
WORDS = ("abba", "cede", "deed", "bead", "acbd", "cab", "bee", "dad")
PEOPLE = (("Anna", "she"), ("Paul", "he"), ("Rome", "it"))


def _cut(xs: Sequence[Any], ys: Sequence[Any], train: int) -> tuple[Examples, Examples]:
    return Examples(xs[:train], ys[:train]), Examples(xs[train:], ys[train:])


def _made_up_sets(count: int, train: int, seed: int) -> Ready:
    points, labels = linked_labels(count, 8, 12, seed)
    task = MultiLabel(tuple(f"label {k}" for k in range(8)))
    learner = StructuredSVM(1.0, F1Loss())

    def measures(gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        rows = (np.array([task.encode([], y) for y in ys]) for ys in (gold, predicted))
        return {"example_f1": float(100 * example_scores(*rows).f1.mean())}

    cut = _cut(list(points), list(labels), train)
    return Ready(YEAST, SOURCE, task, learner, *cut, measures, "example_f1")


def _seen(letters: AnyArray) -> list[AnyArray]:
    return list(letters)


def _made_up_words(count: int, train: int, seed: int) -> Ready:
    """Letters seen through noise, which their neighbours help to tell."""
    rng = np.random.default_rng(seed)
    ys = [tuple(WORDS[k]) for k in rng.integers(0, len(WORDS), count)]
    xs = [
        np.eye(len(LETTERS))[[LETTERS.index(a) for a in y]] + rng.normal(0, 0.6, (len(y), 5))
        for y in ys
    ]
    task, learner = Tagging(LETTERS, _seen, order=1, max_ngram=WIDE), StructuredSVM(0.1)

    def measures(gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        return {"accuracy": 100 * token_accuracy(gold, predicted)}

    return Ready(HANDWRITING, SOURCE, task, learner, *_cut(xs, ys, train), measures, "accuracy")


def _made_up_images(count: int, train: int, seed: int) -> Ready:
    """Grids of 3 × 4, the left of one class and the right of another, seen through noise."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(count):
        classes, border = rng.permutation(4)[:2], rng.integers(1, 4)
        labels = np.tile(np.where(np.arange(4) < border, *classes), 3)
        seen = np.eye(4)[labels] + rng.normal(0, 0.7, (12, 4))
        xs.append(Graph(seen, grid(3, 4)))
        ys.append(Painted(labels, 10 * np.eye(5, dtype=np.int64)[labels]))
    task = Photographs(GraphLabelling(CLASSES[:4], potts=True, histogram=4))
    cut = _cut(xs, ys, train)
    learner = StructuredSVM(0.1)
    return Ready(IMAGES, SOURCE, task, learner, *cut, image_measures, "global_accuracy")


def _made_up_documents(count: int, train: int, seed: int) -> Ready:
    """Of three that are named once or more, and of whom "she", "he" and "it" speak."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for number in range(count):
        who = rng.integers(0, 3, 10)
        named = [whose not in who[:k] or bool(rng.random() < 0.4) for k, whose in enumerate(who)]
        words = [PEOPLE[w][0 if name else 1] for w, name in zip(who, named, strict=True)]
        mentions = tuple(
            Mention(k, 0, 1, "PER", "PROP" if name else "PRON") for k, name in enumerate(named)
        )
        sentences = tuple(ParsedSentence((word, "went")) for word in words)
        xs.append(Document(f"made up {number}", "novel", sentences, mentions))
        ys.append(clusters_of(who))
    task, learner = Coreference(max_antecedents=10, entities=True), StructuredSVM(0.1)
    cut = _cut(xs, ys, train)
    return Ready(DOCUMENTS, SOURCE, task, learner, *cut, coreference_measures, "conll")


MADE_UP: Mapping[str, Callable[[int, int, int], Ready]] = MappingProxyType(
    {
        YEAST: _made_up_sets,
        BIBTEX: lambda *asked: replace(_made_up_sets(*asked), name=BIBTEX),
        HANDWRITING: _made_up_words,
        IMAGES: _made_up_images,
        DOCUMENTS: _made_up_documents,
    }
)
