"""Data sets of Table 1 of Ma et al. (2019), as tasks: coreference and labelled images.

LitBank and GUM, with the mentions that people marked, stand in for ACE 2005, which is not free; so
the paper has no figures of them. GUM has parts of its own, of which `train` is cut short to the
documents drawn by a fixed seed; the test documents of LitBank are drawn. Both have the traits of
entities.

Images of MSRC-21 have probabilities of their own, which are not those of the paper, and traits that
say which share of an image has which class. Classes share the weights of probabilities: with a
weight for every pair of classes, models were no better on new images than the probabilities alone.
A superpixel is learned from only if most of its pixels have a class, and is judged by all pixels
that have one. Slacks of images are not squared: with squares, the hardest images count too much.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from papers.data.coreference import load_gum_coref, load_litbank_coref
from papers.data.examples import Example
from papers.data.msrc21 import CLASSES, Image, image_graph, load_msrc21
from papers.ma2019.tasks import SEED, Case, Examples, drawn, held_out
from papers.metrics.images import pixel_accuracy
from rote import Coreference, DataError, Frame, GraphLabelling, StructuredSVM, Task
from rote.features import Features
from rote.metrics import coreference_scores
from rote.tasks import Document, Graph, drop_unlabelled
from rote.tasks.coreference import clusters_of
from rote.tasks.graphs import UNLABELLED
from rote.types import AnyArray, IntArray

ANTECEDENTS = 30  # mentions before it that a mention may be linked to
BINS = 8  # of the share of an image that a class has
DEEPEST = 14.0  # how far below 0 logarithms of probabilities go
LITBANK_TEST = 20  # documents
GUM_TRAIN = 60  # documents


@dataclass(frozen=True, eq=False)
class Painted:
    """The classes of superpixels, and how many pixels of each belong to each class, void last."""

    labels: IntArray
    pixels: IntArray


@dataclass(frozen=True)
class Photographs(Task[Graph, Any]):
    """A `GraphLabelling` whose outputs to learn from are `Painted`; it answers with labels."""

    graphs: GraphLabelling

    def frame(self, x: Graph) -> Frame:
        return self.graphs.frame(x)

    def vectors(self, x: Graph) -> Sequence[Features]:
        return self.graphs.vectors(x)

    def encode(self, x: Graph, y: Painted) -> list[int]:
        return self.graphs.encode(x, y.labels)

    def decode(self, x: Graph, labels: Sequence[int]) -> IntArray:
        return self.graphs.decode(x, labels)


def known_only(examples: Examples) -> Examples:
    """Images without the superpixels that have no class: what can be learned from."""
    xs, ys = [], []
    for x, y in zip(*examples, strict=True):
        graph, labels = drop_unlabelled(x, y.labels)
        xs.append(graph)
        ys.append(Painted(labels, y.pixels[y.labels != UNLABELLED]))
    return Examples(xs, ys)


def image_measures(gold: Sequence[Painted], predicted: Sequence[AnyArray]) -> dict[str, float]:
    """Pixel accuracy in per cent, over all images together: of all pixels, and class by class."""
    if len(gold) != len(predicted):
        raise DataError(f"there are {len(gold)} images and {len(predicted)} outputs")
    found = pixel_accuracy(
        np.concatenate([y.pixels for y in gold]), np.concatenate([*predicted]), void=-1
    )
    return {"global_accuracy": 100 * found.overall, "class_average": 100 * found.class_average}


def coreference_measures(
    gold: Sequence[Collection[Collection[int]]], predicted: Sequence[Collection[Collection[int]]]
) -> dict[str, float]:
    """F1 by MUC, B-cubed and CEAF_e, their mean, and how many mentions are linked rightly.

    All are in per cent. A mention is linked rightly if the mention of its cluster that is closest
    before it is the same in both, or if both have none.
    """
    found = coreference_scores(gold, predicted)
    right = total = 0
    for g, p in zip(gold, predicted, strict=True):
        ours, theirs = _antecedents(g), _antecedents(p)
        right += sum(theirs.get(mention) == before for mention, before in ours.items())
        total += len(ours)
    return {
        "conll": 100 * found.conll,
        "muc": 100 * found.muc.f1,
        "b_cubed": 100 * found.b_cubed.f1,
        "ceaf_e": 100 * found.ceaf_e.f1,
        "mention_accuracy": 100 * right / max(1, total),
    }


def _antecedents(clusters: Collection[Collection[int]]) -> dict[int, int | None]:
    """For each mention, the closest before it in its cluster."""
    found: dict[int, int | None] = {}
    for cluster in clusters:
        ordered = sorted(cluster)
        found.update(zip(ordered, [None, *ordered[:-1]], strict=True))
    return found


def _clusters(examples: Sequence[Example[Document, tuple[int, ...]]]) -> Examples:
    return Examples([e.x for e in examples], [clusters_of(e.y) for e in examples])


def _drawn_places(count: int) -> list[int]:
    return [int(k) for k in np.random.default_rng(SEED).permutation(count)]


# Slacks are squared, and those of long documents are large. Chosen on few documents of LitBank.
LINKS = StructuredSVM(1e-4, iterations=8, passes=20)


def _litbank() -> Case:
    everything = _clusters(load_litbank_coref()["all"])
    order = _drawn_places(len(everything.ys))
    test, whole = (
        everything.rows(sorted(places)) for places in (order[:LITBANK_TEST], order[LITBANK_TEST:])
    )
    task = Coreference(ANTECEDENTS, entities=True)
    return drawn("litbank-coref", task, LINKS, {}, whole, test, coreference_measures)


def _gum() -> Case:
    data = load_gum_coref()
    own, validation, test = (_clusters(data[part]) for part in ("train", "dev", "test"))
    train = own.rows(sorted(_drawn_places(len(own.ys))[:GUM_TRAIN]))
    task = Coreference(ANTECEDENTS, entities=True)
    return Case("gum-coref", task, LINKS, {}, train, validation, test, train, coreference_measures)


def likely_graph(image: Image) -> Graph:
    """The graph of an image whose nodes have probabilities, and logarithms from 0 to 1 or so."""
    plain = image_graph(image)
    nodes = np.hstack([1 + plain.nodes / DEEPEST, np.exp(plain.nodes)])
    return Graph(nodes, plain.edges, plain.edge_features)


def _images() -> Case:
    data = load_msrc21()
    everything, test = (
        Examples(
            [likely_graph(e.x) for e in data[part]],
            [Painted(e.y, e.x.pixel_counts) for e in data[part]],
        )
        for part in ("train", "test")
    )
    train, validation = (everything.rows(places) for places in held_out(len(everything.ys)))
    task = Photographs(GraphLabelling(CLASSES, scores_per_label=True, potts=True, histogram=BINS))
    learner = StructuredSVM(0.003, squared=False, iterations=20, passes=20)
    paper = {"global_accuracy": 85.29, "class_average": 78.92}
    return Case(
        "msrc21",
        task,
        learner,
        paper,
        known_only(train),
        validation,
        test,
        known_only(everything),
        image_measures,
    )


STRUCTURES: Mapping[str, Callable[[], Case]] = MappingProxyType(
    {"litbank-coref": _litbank, "gum-coref": _gum, "msrc21": _images}
)
