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
corpus has them, leave them out for the other reading.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from rote.errors import DataError
from rote.metrics.labels import paired, ratio

Document: TypeAlias = Collection[Collection[Hashable]]


class ClusterF1(NamedTuple):
    """Precision, recall and F1, the first two with numerators of their own.

    Parameters
    ----------
    found, true
        Recall is the share of what is true that was found.
    kept, predicted
        Precision is the share of what is predicted that can be kept.
    """

    found: float
    true: float
    kept: float
    predicted: float

    @property
    def recall(self) -> float:
        return ratio(self.found, self.true)

    @property
    def precision(self) -> float:
        return ratio(self.kept, self.predicted)

    @property
    def f1(self) -> float:
        return ratio(2 * self.precision * self.recall, self.precision + self.recall)


class CoreferenceScores(NamedTuple):
    """The three metrics of the CoNLL shared tasks.

    Parameters
    ----------
    muc
        That of Vilain et al. (1995).
    b_cubed
        That of Bagga and Baldwin (1998).
    ceaf_e
        That of Luo (2005), with φ4.
    """

    muc: ClusterF1
    b_cubed: ClusterF1
    ceaf_e: ClusterF1

    @property
    def conll(self) -> float:
        """The mean of the three F1."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3


def coreference_scores(
    gold: Sequence[Document], predicted: Sequence[Document]
) -> CoreferenceScores:
    """MUC, B-cubed and CEAF_e over documents.

    Parameters
    ----------
    gold, predicted
        For each document its clusters; a mention is any hashable value, in one cluster at most.

    >>> scores = coreference_scores([["ab", "cd"]], [["ab", "c", "d"]])
    >>> scores.muc.recall, scores.b_cubed.recall, scores.b_cubed.precision
    (0.5, 0.75, 1.0)
    """
    totals = np.zeros((3, 4))
    for number, (g, p) in enumerate(paired(gold, predicted, "documents")):
        totals += _counts(g, p, f"document {number}")
    return CoreferenceScores(*(ClusterF1(*row) for row in totals.tolist()))


def _counts(gold: Document, predicted: Document, name: str) -> list[tuple[float, ...]]:
    """The four numbers of each metric for one document."""
    from scipy.optimize import linear_sum_assignment

    home, other = _clusters(gold, f"gold {name}"), _clusters(predicted, f"predicted {name}")
    shared = np.zeros((len(gold), len(predicted)))  # |K ∩ R|
    for mention in home.keys() & other.keys():
        shared[home[mention], other[mention]] += 1
    true, said = np.array([*map(len, gold)]), np.array([*map(len, predicted)])
    links = shared.sum() - np.count_nonzero(shared)  # a missing mention is a part of its own
    squares = shared * shared
    found = sum((squares.sum(axis=1) / true).tolist())
    kept = sum((squares.sum(axis=0) / said).tolist())
    similar = 2 * shared / (true[:, None] + said)
    aligned = similar[linear_sum_assignment(similar, maximize=True)].sum()
    return [
        (links, len(home) - len(gold), links, len(other) - len(predicted)),
        (found, len(home), kept, len(other)),
        (aligned, len(gold), aligned, len(predicted)),
    ]


def _clusters(document: Document, name: str) -> dict[Hashable, int]:
    """The number of each mention's cluster."""
    home: dict[Hashable, int] = {}
    for number, cluster in enumerate(document):
        if not cluster:
            raise DataError(f"{name}: a cluster is empty; leave it out")
        for mention in cluster:
            if mention in home:
                raise DataError(
                    f"{name}: mention {mention!r} is given twice; a mention is in one cluster, "
                    "and once"
                )
            home[mention] = number
    return home
