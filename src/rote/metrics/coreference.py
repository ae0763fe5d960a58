"""MUC, B-cubed, CEAF_e and their average, as the CoNLL shared tasks report them.

A document is a collection of clusters, a cluster a collection of mentions, which may be any
hashable values; no mention is twice in one document. Over several documents, numerators and
denominators are added up before anything is divided, and a ratio without a denominator is 0.

With K the gold clusters and R the predicted ones, recall is, and precision with the two
exchanged:

- MUC: Σ_K (|K| - parts of K) / Σ_K (|K| - 1), where R cuts K into parts;
- B-cubed: Σ_K Σ_R |K ∩ R|² / |K|, divided by Σ_K |K|;
- CEAF_e: the largest sum of φ4(K, R) = 2 |K ∩ R| / (|K| + |R|) over one-to-one alignments of
  clusters, divided by the number of gold clusters.

The two sides need not have the same mentions. One that is missing on the other side stands in
a part of its own for MUC and adds nothing to the sums of the other two. Clusters of one mention
count as they are given: MUC does not see them, the other two do. OntoNotes has none; where a
corpus does, `without_singletons` gives the other reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rote.errors import DataError
from rote.metrics.labels import ratio
from rote.metrics.pairing import paired

Document: TypeAlias = Collection[Collection[Hashable]]
Clusters: TypeAlias = list[frozenset[Hashable]]


@dataclass(frozen=True)
class ClusterF1:
    """Precision, recall and F1, the first two with numerators of their own.

    Recall is the share of what is ``true`` that was ``found``, precision the share of what is
    ``predicted`` that can be ``kept``.
    """

    found: float
    true: int
    kept: float
    predicted: int

    @property
    def recall(self) -> float:
        return ratio(self.found, self.true)

    @property
    def precision(self) -> float:
        return ratio(self.kept, self.predicted)

    @property
    def f1(self) -> float:
        return ratio(2 * self.precision * self.recall, self.precision + self.recall)

    def __add__(self, other: ClusterF1) -> ClusterF1:
        return ClusterF1(
            self.found + other.found,
            self.true + other.true,
            self.kept + other.kept,
            self.predicted + other.predicted,
        )


@dataclass(frozen=True)
class CoreferenceScores:
    """The three metrics; ``conll`` is the mean of their F1."""

    muc: ClusterF1
    b_cubed: ClusterF1
    ceaf_e: ClusterF1

    @property
    def conll(self) -> float:
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3


def coreference_scores(
    gold: Sequence[Document], predicted: Sequence[Document]
) -> CoreferenceScores:
    """MUC, B-cubed and CEAF_e over documents.

    >>> scores = coreference_scores([["ab", "cd"]], [["ab", "c", "d"]])
    >>> scores.muc.recall, scores.b_cubed.recall, scores.b_cubed.precision
    (0.5, 0.75, 1.0)
    """
    return CoreferenceScores(
        muc(gold, predicted), b_cubed(gold, predicted), ceaf_e(gold, predicted)
    )


def muc(gold: Sequence[Document], predicted: Sequence[Document]) -> ClusterF1:
    """The links of Vilain et al. (1995): how many it would take to join the parts of a cluster."""
    return _over_documents(_muc, gold, predicted)


def b_cubed(gold: Sequence[Document], predicted: Sequence[Document]) -> ClusterF1:
    """Bagga and Baldwin (1998): for each mention, how much its two clusters share."""
    return _over_documents(_b_cubed, gold, predicted)


def ceaf_e(gold: Sequence[Document], predicted: Sequence[Document]) -> ClusterF1:
    """Luo (2005), by entities (φ4): clusters aligned one to one, as well as can be."""
    return _over_documents(_ceaf_e, gold, predicted)


def without_singletons(documents: Sequence[Document]) -> list[list[Collection[Hashable]]]:
    """The documents without their clusters of one mention.

    >>> without_singletons([["ab", "c"]])
    [['ab']]
    """
    return [[cluster for cluster in document if len(cluster) > 1] for document in documents]


def _over_documents(
    metric: Callable[[Clusters, Clusters], ClusterF1],
    gold: Sequence[Document],
    predicted: Sequence[Document],
) -> ClusterF1:
    total = ClusterF1(0.0, 0, 0.0, 0)
    for number, (g, p) in enumerate(paired(gold, predicted, "documents")):
        total += metric(
            _clusters(g, f"gold document {number}"), _clusters(p, f"predicted document {number}")
        )
    return total


def _clusters(document: Document, name: str) -> Clusters:
    times = Counter(mention for cluster in document for mention in cluster)
    twice = [mention for mention, count in times.items() if count > 1]
    if twice:
        raise DataError(
            f"{name}: mention {twice[0]!r} is given {times[twice[0]]} times; "
            "a mention is in one cluster, and once"
        )
    clusters = [frozenset(cluster) for cluster in document]
    if not all(clusters):
        raise DataError(f"{name}: a cluster is empty; leave it out")
    return clusters


def _overlaps(one: Clusters, other: Clusters) -> list[Counter[int]]:
    """For each cluster, how many of its mentions each cluster of the other side has."""
    home = {mention: number for number, cluster in enumerate(other) for mention in cluster}
    return [Counter(home[mention] for mention in cluster if mention in home) for cluster in one]


def _muc(gold: Clusters, predicted: Clusters) -> ClusterF1:
    def links(one: Clusters, other: Clusters) -> int:
        # |K| minus its parts: whatever is missing on the other side is a part of its own.
        return sum(shared.total() - len(shared) for shared in _overlaps(one, other))

    def all_links(clusters: Clusters) -> int:
        return sum(len(cluster) - 1 for cluster in clusters)

    return ClusterF1(
        links(gold, predicted), all_links(gold), links(predicted, gold), all_links(predicted)
    )


def _b_cubed(gold: Clusters, predicted: Clusters) -> ClusterF1:
    def overlap(one: Clusters, other: Clusters) -> float:
        return sum(
            sum(count * count for count in shared.values()) / len(cluster)
            for cluster, shared in zip(one, _overlaps(one, other), strict=True)
        )

    return ClusterF1(
        overlap(gold, predicted),
        sum(map(len, gold)),
        overlap(predicted, gold),
        sum(map(len, predicted)),
    )


def _ceaf_e(gold: Clusters, predicted: Clusters) -> ClusterF1:
    from scipy.optimize import linear_sum_assignment

    similarity = np.zeros((len(gold), len(predicted)))
    for row, shared in enumerate(_overlaps(gold, predicted)):
        for column, count in shared.items():
            similarity[row, column] = 2 * count / (len(gold[row]) + len(predicted[column]))
    best = float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())
    return ClusterF1(best, len(gold), best, len(predicted))
