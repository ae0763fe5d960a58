"""Labelled graphs and grids: one label per node, from the node's features and its neighbours'.

    score(x, y) = Σ_i U[y_i] · nodes_i  +  Σ_ij P[y_i, y_j] · edges_ij       (nodes i, edges ij)

All nodes share U, with weights for each label; all edges share P, with weights for each ordered
pair of labels. Which node of an edge comes first can thus mean something, such as which of two
neighbours is the upper one.

An output is an array with the position of each node's label. Nobody may have said the label of
some nodes: they are VOID. Such a node can be predicted, and nothing can be learned from it, so
that it must be taken out of a graph before learning (`without_void`). Its edges go with it: what
its neighbours could have told each other through it is not learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rote.errors import DataError, LabelError, in_order
from rote.features import Features
from rote.space import SpaceBuilder
from rote.space.compiled import keep_recent
from rote.space.global_features import Histogram
from rote.tasks.task import Frame, Slot, Task
from rote.types import AnyArray, FloatArray, IntArray, frozen

VOID = -1  # the label of a node that nobody labelled


NODE, EDGE = "node", "edge"


@dataclass(frozen=True, eq=False)
class Graph:
    """Features of nodes (n, d), edges (m, 2) between them, features of edges (m, k).

    Without edge features, k is 0. All arrays are copied and read-only.
    """

    nodes: FloatArray
    edges: IntArray
    edge_features: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        nodes = np.array(self.nodes, dtype=np.float64)
        edges = np.array(self.edges)
        edges = edges.reshape(0, 2) if edges.size == 0 else edges
        if nodes.ndim != 2 or edges.ndim != 2 or edges.shape[1] != 2:
            raise DataError(
                "a graph has nodes of the shape (n, d) and edges of the shape (m, 2); got "
                f"{nodes.shape} and {edges.shape}"
            )
        features = np.array(self.edge_features, dtype=np.float64)
        features = np.zeros((len(edges), 0)) if features.size == 0 else features
        if features.ndim != 2 or len(features) != len(edges):
            raise DataError(
                f"the features of {len(edges)} edges have the shape ({len(edges)}, k); got "
                f"{features.shape}"
            )
        _check_edges(edges, len(nodes))
        object.__setattr__(self, "nodes", frozen(nodes))
        object.__setattr__(self, "edges", frozen(edges.astype(np.int64)))
        object.__setattr__(self, "edge_features", frozen(features))

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True)
class LabelledGraph(Task[Graph, IntArray]):
    """With ``constant``, nodes and edges get one more feature that is always 1.

    With ``opinions``, the features of a node speak for one label each, those of one kind in the
    order of labels: all log-probabilities, say, then all probabilities. Labels then share one
    weight for each kind, instead of a column of U each: far fewer, where another model has learned
    already.

    With ``potts``, an edge has weights for equal and for different labels only, instead of P for
    every pair: far fewer, where there are many labels. A ``histogram`` of so many bins scores, for
    every label, which share of the nodes has it, for engines that search (`RGS`).

    >>> task = LabelledGraph(("land", "sea"))
    >>> task.frame(Graph(np.zeros((6, 3)), grid(2, 3))).space
    Space(6 variables, 7 factors, 0 rules, 40 parts)
    """

    labels: tuple[str, ...]
    constant: bool = True
    opinions: bool = False
    potts: bool = False
    histogram: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", in_order("labels", self.labels))

    def frame(self, x: Graph) -> Frame:
        joined = len(x), x.edges.tobytes()
        return _frame(self.labels, *joined, self.opinions, self.potts, self.histogram)

    def vectors(self, x: Graph) -> Sequence[Features]:
        nodes = self._opinions(x.nodes) if self.opinions else self._rows(x.nodes)
        return [*nodes, *self._rows(x.edge_features)]

    def encode(self, x: Graph, y: AnyArray | Sequence[int]) -> list[int]:
        labels = np.asarray(y)
        if labels.shape != (len(x),) or (len(x) and labels.dtype.kind not in "iu"):
            raise LabelError(
                f"an output has the position of one label for each of {len(x)} nodes; got the "
                f"shape {labels.shape} of {labels.dtype}"
            )
        if (labels == VOID).any():
            raise LabelError(
                f"node {int(np.argmax(labels == VOID))} is void: nobody said its label; take such "
                "nodes out with without_void before learning"
            )
        wrong = labels[(labels < 0) | (labels >= len(self.labels))]
        if len(wrong):
            raise LabelError(
                f"labels are positions from 0 to {len(self.labels) - 1}, got {wrong[0]}"
            )
        return [int(label) for label in labels]

    def decode(self, x: Graph, labels: Sequence[int]) -> IntArray:
        return frozen(np.array(labels, dtype=np.int64))

    def _opinions(self, features: FloatArray) -> list[AnyArray]:
        """A vector for every label of every node; a label's constant is one that no other has."""
        nodes, labels = len(features), len(self.labels)
        if features.shape[1] % labels:
            raise DataError(
                f"opinions are as many for each of {labels} labels; got {features.shape[1]} "
                "features of nodes"
            )
        kinds = features.reshape(nodes, -1, labels).swapaxes(1, 2).reshape(nodes * labels, -1)
        if not self.constant:
            return list(kinds)
        return list(np.hstack([kinds, np.tile(np.eye(labels), (nodes, 1))]))

    def _rows(self, features: FloatArray) -> list[AnyArray]:
        if not self.constant:
            return list(features)
        return list(np.hstack([features, np.ones((len(features), 1))]))


def grid(rows: int, columns: int) -> IntArray:
    """The edges of a grid whose nodes are numbered row by row: to the right, then down.

    >>> grid(2, 2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    if rows < 0 or columns < 0:
        raise DataError(f"a grid has no fewer than 0 rows and columns, got {rows} and {columns}")
    node = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    return frozen(np.concatenate([across, down]))


def without_void(x: Graph, y: AnyArray) -> tuple[Graph, IntArray]:
    """What can be learned from: the nodes that have a label, and the edges between them."""
    labels = np.asarray(y, dtype=np.int64)
    if labels.shape != (len(x),):
        raise LabelError(f"{len(x)} nodes have as many labels, got the shape {labels.shape}")
    kept = labels != VOID
    number = np.cumsum(kept) - 1
    inside = kept[x.edges].all(axis=1)
    graph = Graph(x.nodes[kept], number[x.edges[inside]], x.edge_features[inside])
    return graph, frozen(labels[kept])


def _check_edges(edges: AnyArray, nodes: int) -> None:
    if edges.size and edges.dtype.kind not in "iu":
        raise DataError(f"edges are pairs of whole numbers, got {edges.dtype}")
    if (edges < 0).any() or (edges >= nodes).any() or (edges[:, 0] == edges[:, 1]).any():
        raise DataError(f"an edge joins two different nodes from 0 to {nodes - 1}")
    if len(np.unique(np.sort(edges, axis=1), axis=0)) != len(edges):
        raise DataError("two nodes are joined twice; give each pair of neighbours one edge")


@keep_recent
def _frame(
    labels: tuple[str, ...], nodes: int, edges: bytes, opinions: bool, potts: bool, histogram: int
) -> Frame:
    builder = SpaceBuilder()
    variables = [builder.variable(str(i), labels) for i in range(nodes)]
    each = len(labels) if opinions else 1  # vectors of a node
    slots = [Slot(NODE, each * i, each=opinions) for i in range(nodes)]
    pairs = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    tied = tuple(int(a != b) for a in labels for b in labels) if potts else None
    for number, (i, j) in enumerate(pairs.tolist()):
        builder.factor(variables[i], variables[j])
        slots.append(Slot(EDGE, each * nodes + number, tied=tied))
    traits = (Histogram("shares", len(labels), histogram),) if histogram else ()
    kinds = (NODE,) * (each * nodes) + (EDGE,) * len(pairs)
    return Frame(builder.build(), tuple(slots), kinds, traits)
