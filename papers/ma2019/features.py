"""Features of the data sets of Ma et al. (2019): letters, residues, tweets and handwriting.

Letters and residues are looked at through `Templates`, alone and joined with their neighbours.
Handwritten letters are looked at by pixels and by pairs of near pixels that are both black; a
vector has length 1, or else the weights of label tuples would have to be large beside those of
some hundred pixels, and a learner that keeps weights small would not let them be.

Residues are looked at twice, as by the cascaded networks of Qian and Sejnowski (1988). What a first
look thinks of the residues around one, and of the whole chain, are the features of the model.

A word of a tweet gets three more columns. Where a spelling is common elsewhere, the tags it has
there say more than a thousand tweets do: *known* are its usual tags in news (CoNLL-2000) and on
the web (English Web Treebank), and *web* those on the web alone. Both are of other texts, and
Gimpel et al. (2011) use the Penn Treebank for the same. Nothing is taken from tweets.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from papers.data.conll2000 import load_conll2000
from papers.data.examples import Labels, Tokens
from papers.data.ocr import HEIGHT, WIDTH, Images
from papers.data.protein import LABELS as STRUCTURES
from papers.data.up_english_ewt import load_up_english_ewt
from rote import Tagging, Templates, fit_unary_classifier, prepare
from rote.engines import UnaryClassifier
from rote.features import POS_TAGGING
from rote.model import Layout
from rote.types import FloatArray

NEAR = ((0, 1), (1, 0), (1, 1), (1, -1))  # down and right, from a pixel to the other of its pair
UNKNOWN = "?"
SHARE = 0.1  # of the uses of a spelling that a tag has, to be one of its usual ones
MOST = 3  # usual tags of a spelling
WEB_COUNTS = 3  # times as much as news does

AROUND = 8  # places on either side of a residue that a second look takes in
LOOK_COST = 0.01  # of the logistic regression of first looks
LOOK_SCALE = 0.3  # of what they think, beside label tuples

_RUN = re.compile(r"(.)\1{2,}")
_DIGIT = re.compile(r"\d")


def windows(column: str, alone: int, joined: Mapping[int, int]) -> tuple[str, ...]:
    """Templates for what stands up to ``alone`` places away, and runs of neighbours.

    ``joined`` says for the length of a run how far away it may reach.

    >>> windows("letter", 1, {2: 1})
    ('bias', 'letter[-1]', 'letter[0]', 'letter[1]', 'letter[-1]|letter[0]', 'letter[0]|letter[1]')
    """
    spans = [(k, k + 1) for k in range(-alone, alone + 1)]
    for length, reach in joined.items():
        spans += [(k, k + length) for k in range(-reach, reach - length + 2)]
    return ("bias", *("|".join(f"{column}[{k}]" for k in range(*span)) for span in spans))


def spread_pairs(column: str, reach: int, most: int) -> tuple[str, ...]:
    """Templates for two places at most ``most`` apart, both up to ``reach`` places away.

    >>> spread_pairs("residue", 1, 2)[-1]
    'residue[-1]|residue[1]'
    """
    return tuple(
        f"{column}[{k}]|{column}[{k + apart}]"
        for apart in range(1, most + 1)
        for k in range(-reach, reach - apart + 1)
    )


PHONEME = Templates(("letter",), windows("letter", 4, {2: 3, 3: 3, 4: 3}))
STRESS = Templates(("letter",), windows("letter", 6, {2: 4, 3: 4, 4: 4}))
PROTEIN = Templates(
    ("residue", "class"), (*windows("residue", 8, {}), *spread_pairs("class", reach=6, most=4))
)
_SINGLY = Tagging(STRUCTURES, PROTEIN, order=0)
# Residues that like oil, like water, have a charge of either sign, or are like no other.
CLASSES = {
    residue: name
    for name, residues in (
        ("oily", "VILMFWYC"),
        ("polar", "STNQH"),
        ("positive", "KR"),
        ("negative", "DE"),
        *((residue, residue) for residue in "AGP"),
    )
    for residue in residues
}
TWEETS = Templates(
    ("word", "plain", "known", "web"),
    (
        *POS_TAGGING,
        "prefix5(lower(word[0]))",
        "suffix5(lower(word[0]))",
        "suffix3(lower(word[-1]))",
        "suffix3(lower(word[1]))",
        "lower(word[-1])|lower(word[0])",
        "lower(word[0])|lower(word[1])",
        "short_shape(word[-1])|short_shape(word[0])|short_shape(word[1])",
        *(f"plain[{k}]" for k in (0, -1, 1)),
        "plain[-1]|plain[0]",
        "plain[0]|plain[1]",
        *(f"known[{k}]" for k in range(-2, 3)),
        "known[-2]|known[-1]",
        "known[-1]|known[0]",
        "known[0]|known[1]",
        "known[-1]|known[1]",
        "known[-1]|known[0]|known[1]",
        "known[0]|short_shape(word[0])",
        "known[0]|suffix2(plain[0])",
        "web[0]",
        "web[-1]|web[0]",
        "web[0]|web[1]",
    ),
)


def pixel_pairs(x: Images) -> list[FloatArray]:
    """Black pixels, pairs of near pixels that are both black, and a constant, as unit vectors."""
    grid = x.reshape(-1, HEIGHT, WIDTH)
    columns = [x]
    for down, right in NEAR:
        upper = grid[:, : HEIGHT - down, max(0, -right) : WIDTH - max(0, right)]
        lower = grid[:, down:, max(0, right) : WIDTH + min(0, right)]
        columns.append((upper & lower).reshape(len(x), -1))
    columns.append(np.ones((len(x), 1), dtype=np.uint8))
    vectors = np.concatenate(columns, axis=1).astype(np.float64)
    return list(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def with_classes(x: Tokens) -> Tokens:
    """A chain with the columns of `PROTEIN`."""
    return tuple((residue, CLASSES[residue]) for (residue,) in x)


@dataclass(frozen=True, eq=False)
class FirstLook:
    """Logistic regression over `PROTEIN`, of each residue by itself."""

    layout: Layout
    classifier: UnaryClassifier

    @staticmethod
    def learned(xs: Sequence[Tokens], ys: Sequence[Labels]) -> FirstLook:
        prepared = prepare(_SINGLY, [with_classes(x) for x in xs], ys)
        return FirstLook(prepared.layout, fit_unary_classifier(prepared, cost=LOOK_COST))

    def __call__(self, x: Tokens) -> FloatArray:
        """How likely each label of each residue is, with 1 for what all would be by chance."""
        prepared = prepare(_SINGLY, [with_classes(x)], layout=self.layout)
        scores = prepared.scores(self.classifier.weights, prepared.groups[0])
        likely = np.exp(scores.reshape(len(x), -1))
        found: FloatArray = likely / likely.mean(axis=1, keepdims=True)
        return found


@dataclass(frozen=True, eq=False)
class SecondLook:
    """What a first look thinks of the residues up to `AROUND` places away, and of the chain.

    ``known`` has the first looks at the chains that were learned from, each by one that had learned
    from other proteins: of those it knows, it would be too sure. These features, those of the first
    look and C were chosen by cross-validation over training proteins.
    """

    first: FirstLook
    known: Mapping[Tokens, FloatArray]

    @staticmethod
    def learned(xs: Sequence[Tokens], ys: Sequence[Labels], folds: Sequence[int]) -> SecondLook:
        """``folds`` says of each chain which others it is looked at with."""
        known: dict[Tokens, FloatArray] = {}
        for fold in sorted(set(folds)):
            others = [k for k, own in enumerate(folds) if own != fold]
            first = FirstLook.learned([xs[k] for k in others], [ys[k] for k in others])
            known |= {x: first(x) for x, own in zip(xs, folds, strict=True) if own == fold}
        return SecondLook(FirstLook.learned(xs, ys), known)

    def __call__(self, x: Sequence[Sequence[str]]) -> list[FloatArray]:
        chain = tuple((str(residue),) for (residue,) in x)
        likely = self.known[chain] if chain in self.known else self.first(chain)
        count, labels = likely.shape
        padded = np.pad(np.log(likely), ((AROUND, AROUND), (0, 0)))
        vectors = np.ones((count, (2 * AROUND + 2) * labels + 1))
        for k in range(2 * AROUND + 1):
            vectors[:, k * labels : (k + 1) * labels] = LOOK_SCALE * padded[k : k + count]
        vectors[:, -labels - 1 : -1] = LOOK_SCALE * likely.mean(axis=0)
        return list(vectors)


def plain(word: str) -> str:
    """A word as it would be spelled elsewhere, all names and all addresses as one.

    >>> [plain(word) for word in ("@ada", "Sooooo", "9pm", "http://a.b")]
    ['@', 'soo', '0pm', '<address>']
    """
    small = word.lower()
    if small.startswith("@") and len(small) > 1:
        return "@"
    if small.startswith("http") or "www." in small:
        return "<address>"
    return _DIGIT.sub("0", _RUN.sub(r"\1\1", small).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))


class Dictionaries(NamedTuple):
    """The usual tags of plain words, as texts such as "NN/VB"."""

    known: Mapping[str, str]
    web: Mapping[str, str]


def usual_tags(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The usual tags of every plain word, of words and their tags.

    >>> usual_tags([("Run", "NN"), ("run", "VB"), ("run", "VB")])
    {'run': 'VB/NN'}
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in pairs:
        counts[plain(word)][tag] += 1
    return {
        word: "/".join(tag for tag, n in own.most_common(MOST) if n >= SHARE * own.total())
        for word, own in counts.items()
    }


@cache
def dictionaries() -> Dictionaries:
    """Those of CoNLL-2000 and the English Web Treebank, from ROTE_DATA."""
    chunked, roles = load_conll2000(), load_up_english_ewt(auxiliaries=True)
    news = [(token[0], token[1]) for p in ("train", "test") for e in chunked[p] for token in e.x]
    # A sentence is there once for each of its predicates.
    sentences = {e.x.words: e.x.xpos for p in ("dev", "test") for e in roles[p]}
    web = [pair for words, tags in sentences.items() for pair in zip(words, tags, strict=True)]
    return Dictionaries(usual_tags(news + web * WEB_COUNTS), usual_tags(web))


def with_tags(x: Tokens, tags: Dictionaries) -> Tokens:
    """A tweet with the columns of `TWEETS`; a hashtag that is not known counts as its word."""
    rows = []
    for (word,) in x:
        own = plain(word)
        known = tags.known.get(own) or tags.known.get(own.lstrip("#"), UNKNOWN)
        rows.append((word, own, known, tags.web.get(own, UNKNOWN)))
    return tuple(rows)
