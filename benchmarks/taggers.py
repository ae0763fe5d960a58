"""What the training benchmarks share: corpora, and taggers that learn from them.

A tagger loads a corpus first, off the clock: it reads features, all of them from the same function,
into arrays of its own. Then it learns, as often as it is asked. Seconds are of the processor, not
of the wall: everybody here uses one thread, and a machine that is busy with something else is then
unfair to none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple, Protocol

import numpy as np

from papers.data import conll2000, ocr, twitter_pos
from papers.data.examples import Example, Labels
from rote import Learner, Model, State, Tagging, Templates, prepare
from rote.features import CHUNKING, POS_TAGGING
from rote.model import Dataset

PIXELS = tuple(f"pixel {k}" for k in range(ocr.HEIGHT * ocr.WIDTH))


@dataclass(frozen=True, eq=False)
class Corpus:
    """Examples, and the names of the features of each token."""

    name: str
    labels: Labels
    features: Callable[[Any], Sequence[Sequence[str]]]
    train: Sequence[Example[Any, Labels]]
    test: Sequence[Example[Any, Labels]]
    chunks: bool = False  # labels are B-X, I-X and O

    @property
    def about(self) -> str:
        counts = [
            f"{len(part):,} {name} sequences with {sum(len(e.y) for e in part):,} tokens"
            for name, part in (("training", self.train), ("test", self.test))
        ]
        return f"{self.name}: {', '.join(counts)}, {len(self.labels)} labels"

    @property
    def gold(self) -> list[Labels]:
        return [example.y for example in self.test]

    def share(self, parts: int) -> Corpus:
        """The same with the first of so many equal parts of the training sequences."""
        return replace(self, train=self.train[: max(1, len(self.train) // parts)])


def chunking() -> Corpus:
    """conll2000, with words and parts of speech around a token."""
    data = conll2000.load_conll2000()
    templates = Templates(("word", "pos"), CHUNKING)
    return Corpus(
        "conll2000", conll2000.LABELS, templates.rows, data["train"], data["test"], chunks=True
    )


def letters() -> Corpus:
    """Handwritten words: nine folds to train on, fold 0 to test on; features are black pixels."""
    data = ocr.load_ocr().large(0)
    return Corpus("ocr", ocr.LABELS, pixels, data["train"], data["test"])


def pixels(image: Any) -> list[list[str]]:
    """For each letter of a word the names of its black pixels."""
    return [[PIXELS[k] for k in np.flatnonzero(row).tolist()] for row in image]


def tweets(train: Path, test: Path) -> Corpus:
    """Two files of tweets, with the letters, the look and the neighbours of a word."""
    templates = Templates(("word",), POS_TAGGING)
    return Corpus(
        "twitter_pos",
        twitter_pos.LABELS,
        templates.rows,
        twitter_pos.read_tweets(train),
        twitter_pos.read_tweets(test),
    )


class Learned(NamedTuple):
    """What one training took, and how the test sequences were tagged after it."""

    seconds: float
    iterations: int
    tagged: list[Labels]


class Tagger(Protocol):
    """What takes turns."""

    @property
    def name(self) -> str: ...

    def load(self, corpus: Corpus) -> None:
        """Make everything ready, off the clock."""
        ...

    def learn(self, seed: int) -> Learned:
        """Learn anew from the corpus that was loaded."""
        ...


class Ours:
    """A learner of rote, with `Exact`; ``enough`` may end it before it ends itself.

    Loading runs the first ``warm_up`` iterations once: what belongs to a space alone is
    built, as in any later training of the same process.
    """

    def __init__(
        self,
        name: str,
        learner: Callable[[int], Learner],
        enough: Callable[[State], bool] | None = None,
        warm_up: int = 1,
    ) -> None:
        self._name = name
        self._learner = learner
        self._enough = enough
        self._warm_up = warm_up
        self._test: list[Any] = []
        self._model: Model[Any, Labels] | None = None
        self._prepared: Dataset | None = None

    @property
    def name(self) -> str:
        return self._name

    def load(self, corpus: Corpus) -> None:
        task = Tagging(corpus.labels, corpus.features)
        xs, ys = (e.x for e in corpus.train), (e.y for e in corpus.train)
        self._prepared = prepare(task, xs, ys)
        layout = self._prepared.layout
        self._model = Model(task, layout, layout.zeros())
        self._test = [e.x for e in corpus.test]
        for _ in islice(self._learner(0).iterate(self._model, self._prepared), self._warm_up):
            pass

    def learn(self, seed: int) -> Learned:
        assert self._model is not None
        assert self._prepared is not None
        seconds, start = 0.0, process_time()
        for state in self._learner(seed).iterate(self._model, self._prepared):
            seconds += process_time() - start
            if self._enough is not None and self._enough(state):
                break
            start = process_time()
        tagged = self._model.with_weights(state.weights).predict(self._test)
        return Learned(seconds, state.iteration, tagged)


class CRFsuite:
    """python-crfsuite, by its own log, which has the processor time of all iterations.

    Its features are the pairs of a name and a label, and of two labels, that occur in training;
    ours are all pairs. Making a list of them is not in its time, as it is not in ours.
    """

    package = "pycrfsuite"

    def __init__(self, name: str, algorithm: str, **settings: float) -> None:
        self._name = name
        self._algorithm = algorithm
        self._settings = settings
        self._trainer: Any = None
        self._test: list[Any] = []

    @property
    def name(self) -> str:
        return self._name

    def load(self, corpus: Corpus) -> None:
        from pycrfsuite import ItemSequence, Trainer

        self._trainer = Trainer(self._algorithm, params=self._settings, verbose=False)
        for example in corpus.train:
            self._trainer.append(ItemSequence(corpus.features(example.x)), example.y)
        self._test = [ItemSequence(corpus.features(example.x)) for example in corpus.test]

    def learn(self, seed: int) -> Learned:  # it goes on drawing where it was
        from pycrfsuite import Tagger as Reader

        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            self._trainer.train(path)
            log = self._trainer.logparser
            with Reader().open(path) as reader:
                tagged = [tuple(reader.tag(sequence)) for sequence in self._test]
        return Learned(float(log.training_seconds), len(log.iterations), tagged)


class TokenByToken:
    """scikit-learn's LinearSVC, one against the rest, for each token by itself."""

    package = "sklearn"

    def __init__(self, name: str) -> None:
        self._name = name
        self._data: tuple[Any, Any] = (None, None)
        self._test: Any = None
        self._lengths: list[int] = []

    @property
    def name(self) -> str:
        return self._name

    def load(self, corpus: Corpus) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        rows = (row for example in corpus.train for row in corpus.features(example.x))
        reader = CountVectorizer(analyzer=_as_it_is, dtype=np.float64)
        self._data = reader.fit_transform(rows), [a for e in corpus.train for a in e.y]
        self._lengths = [len(example.y) for example in corpus.test]
        rows = (row for example in corpus.test for row in corpus.features(example.x))
        self._test = reader.transform(rows)

    def learn(self, seed: int) -> Learned:
        from sklearn.svm import LinearSVC

        start = process_time()
        machine = LinearSVC(random_state=seed).fit(*self._data)
        seconds = process_time() - start
        labels = iter(machine.predict(self._test).tolist())
        tagged = [tuple(islice(labels, length)) for length in self._lengths]
        return Learned(seconds, int(np.max(machine.n_iter_)), tagged)


def standard_error(share: float, count: int) -> float:
    """How much a share of ``count`` tokens varies by chance alone."""
    return math.sqrt(share * (1.0 - share) / count)


def _as_it_is(row: Sequence[str]) -> Sequence[str]:
    return row
