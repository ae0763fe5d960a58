"""Data sets of Table 1 of Ma et al. (2019), as tasks: sequences and sets of labels.

A `Case` is a data set with its task, and the settings that were chosen for it on validation
examples alone: features (`papers.ma2019.features`), label tuples and C, that of its learner.
Validation examples are a fifth of the training examples, drawn by a fixed seed; tweets have their
own, and chains of one protein stay together. When all is chosen, a model is learned from
`Case.whole`, which has the validation examples in it again where they had been drawn from it.

Delicious stands in for bookmarks, so the paper has no figures of it; its settings were found on
bibtex. Labels of both have factors only for the pairs that go together most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from papers.data.examples import Example
from papers.data.multilabel import Labelled, load_multilabel
from papers.data.nettalk import OUTPUTS, load_nettalk
from papers.data.ocr import LABELS as LETTERS
from papers.data.ocr import load_ocr
from papers.data.protein import LABELS as STRUCTURES
from papers.data.protein import load_protein, protein_numbers
from papers.data.twitter_pos import LABELS as TAGS
from papers.data.twitter_pos import load_twitter_pos
from papers.ma2019.features import (
    PHONEME,
    STRESS,
    TWEETS,
    SecondLook,
    dictionaries,
    pixel_pairs,
    with_tags,
)
from rote import F1Loss, Hamming, MultiLabel, SettingError, StructuredSVM, Tagging, Task
from rote.metrics import example_scores, token_accuracy
from rote.tasks import correlated_pairs
from rote.types import FloatArray, IntArray

SEED = 0
SHARE = 0.2  # of training examples that are for validation
# Folds of ocr: to train on in the small case, and to test on in the large one. Settings of both
# were chosen on the first, so the second must be another.
SMALL, LARGE = 0, 9
ACCURACY = "accuracy"

Judge: TypeAlias = Callable[[Sequence[Any], Sequence[Any]], dict[str, float]]


class Examples(NamedTuple):
    """Inputs and their outputs."""

    xs: Sequence[Any]
    ys: Sequence[Any]

    def rows(self, places: Sequence[int]) -> Examples:
        """Some of them, in the order given."""
        return Examples([self.xs[k] for k in places], [self.ys[k] for k in places])


@dataclass(frozen=True, eq=False)
class Case:
    """A data set and how it is learned; ``paper`` has the figures of RGS(α), in per cent."""

    name: str
    task: Task[Any, Any]
    learner: StructuredSVM
    paper: Mapping[str, float]
    _train: Examples = field(repr=False)
    _validation: Examples = field(repr=False)
    _test: Examples = field(repr=False)
    _whole: Examples = field(repr=False)
    judge: Judge | None = None  # of what is neither a sequence nor a set of labels

    def train(self) -> Examples:
        """What is learned from while settings are chosen."""
        return self._train

    def validation(self) -> Examples:
        """What settings are chosen by."""
        return self._validation

    def test(self) -> Examples:
        """What is judged in the end."""
        return self._test

    def whole(self) -> Examples:
        """What is learned from when all settings are chosen."""
        return self._whole

    def measures(self, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        """Of outputs, all in per cent; what settings are chosen by comes first."""
        if self.judge is not None:
            return self.judge(gold, predicted)
        if isinstance(self.task, Tagging):
            return {ACCURACY: 100 * token_accuracy(gold, predicted)}
        scores = example_scores(*(self._on(ys) for ys in (gold, predicted)))
        return {
            "example_f1": float(100 * scores.f1.mean()),
            "hamming_accuracy": float(100 * scores.hamming.mean()),
            "example_accuracy": float(100 * scores.accuracy.mean()),
        }

    def _on(self, ys: Sequence[Any]) -> IntArray:
        return np.array([self.task.encode([], y) for y in ys], dtype=np.int64)


def held_out(count: int, seed: int = SEED) -> tuple[list[int], list[int]]:
    """Places of the examples to train on, and of the fifth for validation, both in order."""
    order = np.random.default_rng(seed).permutation(count)
    cut = round(SHARE * count)
    return sorted(order[cut:].tolist()), sorted(order[:cut].tolist())


def protein_folds(numbers: Sequence[int], seed: int = SEED) -> list[int]:
    """A fold for each chain, a fifth of the proteins each; the first is that for validation.

    All chains of a protein, which may be alike, are in one fold.
    """
    proteins = sorted(set(numbers))
    order = np.random.default_rng(seed).permutation(len(proteins)).tolist()
    size, last = round(SHARE * len(proteins)), round(1 / SHARE) - 1
    fold = {proteins[k]: min(rank // size, last) for rank, k in enumerate(order)}
    return [fold[number] for number in numbers]


def by_protein(numbers: Sequence[int], seed: int = SEED) -> tuple[list[int], list[int]]:
    """As `held_out`, a fifth of the proteins with all their chains."""
    folds = protein_folds(numbers, seed)
    places = range(len(folds))
    return [k for k in places if folds[k] > 0], [k for k in places if folds[k] == 0]


def case_of(name: str) -> Case:
    """One of `CASES`, from ROTE_DATA."""
    if name not in CASES:
        raise SettingError(f"the cases are {', '.join(CASES)}; got {name!r}")
    return CASES[name]()


def _parts(examples: Sequence[Example[Any, Any]]) -> Examples:
    return Examples([e.x for e in examples], [e.y for e in examples])


def drawn(
    name: str,
    task: Task[Any, Any],
    learner: StructuredSVM,
    paper: Mapping[str, float],
    whole: Examples,
    test: Examples,
    judge: Judge | None = None,
) -> Case:
    """A case whose validation examples are a fifth of the whole."""
    train, validation = (whole.rows(places) for places in held_out(len(whole.ys)))
    return Case(name, task, learner, paper, train, validation, test, whole, judge)


def _handwriting(name: str) -> Case:
    ocr, small = load_ocr(), name == "hw-small"
    data = ocr.small(SMALL) if small else ocr.large(LARGE)
    task = Tagging(LETTERS, pixel_pairs, order=2)
    learner = StructuredSVM(1.0, iterations=15)
    paper = {ACCURACY: 92.56 if small else 97.96}
    return drawn(name, task, learner, paper, _parts(data["train"]), _parts(data["test"]))


def _phoneme() -> Case:
    data = load_nettalk(output="phoneme")
    task = Tagging(OUTPUTS["phoneme"], PHONEME)
    learner = StructuredSVM(0.3, iterations=20)
    whole, test = _parts(data["train"]), _parts(data["test"])
    return drawn("phoneme", task, learner, {ACCURACY: 82.45}, whole, test)


def _stress() -> Case:
    data = load_nettalk(output="stress")
    task = Tagging(OUTPUTS["stress"], STRESS, order=3)
    learner = StructuredSVM(0.03, iterations=20)
    whole, test = _parts(data["train"]), _parts(data["test"])
    return drawn("stress", task, learner, {ACCURACY: 81.00}, whole, test)


def _protein() -> Case:
    data, numbers = load_protein(), protein_numbers()["train"]
    whole, test = _parts(data["train"]), _parts(data["test"])
    train, validation = (whole.rows(places) for places in by_protein(numbers))
    # The first look at validation chains has learned from the others alone.
    features = SecondLook.learned(*whole, protein_folds(numbers))
    task = Tagging(STRUCTURES, features, order=2)
    # Slacks are squared, and those of long chains are large.
    learner = StructuredSVM(1e-4, iterations=40, passes=10)
    paper = {ACCURACY: 65.20}
    return Case("protein", task, learner, paper, train, validation, test, whole)


def _twitter() -> Case:
    data, tags = load_twitter_pos(), dictionaries()
    train, dev, test = (
        Examples([with_tags(e.x, tags) for e in data[part]], [e.y for e in data[part]])
        for part in ("train", "dev", "daily547")
    )
    task, learner = Tagging(TAGS, TWEETS), StructuredSVM(0.1, iterations=20)
    return Case("twitter-pos", task, learner, {ACCURACY: 90.2}, train, dev, test, train)


def _figures(hamming: float, f1: float, accuracy: float) -> dict[str, float]:
    return {"hamming_accuracy": hamming, "example_f1": f1, "example_accuracy": accuracy}


class _Sets(NamedTuple):
    """A multi-label set: how it is learned, how many pairs of labels, how long vectors are made."""

    learner: StructuredSVM
    pairs: int | None  # None for all
    length: float | None  # None to leave them as they are
    rare: float  # the power of log(examples / examples with the word) that a word is weighed by
    paper: Mapping[str, float]


# The length says how much an input counts beside pairs of labels. F1 itself was learned slowly.
_TEXTS = StructuredSVM(0.015, Hamming({"on": 3.0}), iterations=20, passes=20)
# Plain slacks did better than squared ones here, on two different fifths for validation.
_BIBTEX = StructuredSVM(0.09, Hamming({"on": 3.0}), squared=False, iterations=20, passes=20)
SETS: Mapping[str, _Sets] = MappingProxyType(
    {
        "yeast": _Sets(
            StructuredSVM(0.03, F1Loss(), iterations=40),
            None,
            None,
            0.0,
            _figures(80.10, 63.90, 52.90),
        ),
        "bibtex": _Sets(_BIBTEX, 800, 5.0, 0.5, _figures(98.62, 44.86, 36.78)),
        "delicious": _Sets(_TEXTS, 200, 5.0, 0.5, {}),
    }
)


def _sets(name: str) -> Case:
    data, own = load_multilabel(name), SETS[name]
    learned, _ = held_out(len(data["train"]))
    weights = _rarity(data["train"].X, learned, own.rare) if own.rare else None
    whole, test = (
        _rows(data[part], length=own.length, weights=weights) for part in ("train", "test")
    )
    table = data["train"].Y[learned]
    task = MultiLabel(
        data.label_names, "complete" if own.pairs is None else correlated_pairs(table, own.pairs)
    )
    return drawn(name, task, own.learner, own.paper, whole, test)


def _rarity(X: Any, learned: Sequence[int], power: float) -> FloatArray:  # noqa: N803
    """How much each word counts; validation examples have no say in it."""
    seen = np.asarray((X[learned] > 0).sum(axis=0)).ravel()
    weights: FloatArray = np.log(len(learned) / np.maximum(1, seen)) ** power
    return weights


def _rows(part: Labelled, *, length: float | None, weights: FloatArray | None) -> Examples:
    X: Any = part.X
    sparse = not isinstance(X, np.ndarray)
    if weights is not None:
        from scipy.sparse import diags_array

        X = (X @ diags_array(weights)).tocsr()
    if length is not None:
        from scipy.sparse import diags_array

        lengths = np.sqrt(X.multiply(X).sum(axis=1))
        X = (diags_array(length / np.where(lengths > 0, lengths, 1.0)) @ X).tocsr()
    return Examples([X[[k]] if sparse else X[k] for k in range(len(part))], list(part.Y))


CASES: Mapping[str, Callable[[], Case]] = MappingProxyType(
    {
        **{name: partial(_handwriting, name) for name in ("hw-small", "hw-large")},
        "phoneme": _phoneme,
        "stress": _stress,
        "twitter-pos": _twitter,
        "protein": _protein,
        **{name: partial(_sets, name) for name in SETS},
    }
)
