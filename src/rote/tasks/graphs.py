"""Labelled graphs and grids: one label per node, from the node's features and its neighbours'.

    score(x, y) = Σ_i U[y_i] · nodes_i  +  Σ_ij P[y_i, y_j] · edges_ij       (nodes i, edges ij)

All nodes share U, with weights for each label; all edges share P, with weights for each ordered
pair of labels. Which node of an edge comes first can thus mean something, such as which of two
neighbours is the upper one.

An output is an array with the position of each node's label, or the labels themselves. In JSON, a
graph is {"nodes": [[0.5, ...], ...], "edges": [[0, 1], ...], "edge_features": [[...], ...]}, the
last of which may be left out, or has "grid": [rows, columns] in place of its edges; an output is a
list of labels.

Nobody may have said the label of
some nodes: they are UNLABELLED. Such a node can be predicted, and nothing can be learned from it,
so that it must be taken out of a graph before learning (`drop_unlabelled`). Its edges go with it:
what its neighbours could have told each other through it is not learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rote.errors import DataError, LabelError
from rote.features import Features
from rote.io.shapes import check_shape
from rote.settings import FLAG, LIST, Checked, whole
from rote.space import SpaceBuilder
from rote.space.compiled import keep_recent
from rote.space.global_features import LabelCounts
from rote.space.rule_text import Rules, Vocabulary
from rote.tasks.adapter import (
    Adapter,
    Measured,
    label_of_each,
    labels_in,
    register,
)
from rote.tasks.show import differing, rules_broken
from rote.tasks.task import Frame, Slot, Task, positions
from rote.types import UNKNOWN, AnyArray, FloatArray, IntArray, readonly
from rote.viz import Picture, picture_of_grid, picture_of_labels

UNLABELLED = -1  # the label of a node that nobody labelled


NODE, EDGE = "node", "edge"


MAX_NODES = 1000  # of one input of a service


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes and the edges between them; all arrays are copied and read-only.

    Parameters
    ----------
    nodes
        The features of nodes, of shape (n, d).
    edges
        Pairs of different nodes, of shape (m, 2), each pair once.
    edge_features
        Of shape (m, k); k is 0 where they are left out.
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
        object.__setattr__(self, "nodes", readonly(nodes))
        object.__setattr__(self, "edges", readonly(edges.astype(np.int64)))
        object.__setattr__(self, "edge_features", readonly(features))

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True)
class GraphLabelling(Checked, Task[Graph, IntArray]):
    """A label for every node of a graph, from its features and its neighbours' labels.

    Parameters
    ----------
    labels
        The labels of a node, in an order that counts.
    constant
        Whether nodes and edges get one more feature that is always 1.
    scores_per_label
        The features of a node speak for one label each, those of one kind in the order of labels:
        all log-probabilities, say, then all probabilities. Labels then share one weight for each
        kind, instead of a column of U each: far fewer, where another model has learned already.
    potts
        An edge has weights for equal and for different labels only, instead of P for every pair:
        far fewer, where there are many labels.
    histogram
        So many bins score, for every label, which share of the nodes has it: global features, for
        engines that search (`RGS`). 0 is none.
    rules
        A text (`rote.space.rule_text`) about node i and its neighbour node j, or a function that
        adds rules, given a builder and its variables.

    Examples
    --------
    >>> task = GraphLabelling(("land", "sea"))
    >>> task.frame(Graph(np.zeros((6, 3)), grid(2, 3))).space
    Space(6 variables, 7 factors, 0 rules, 40 parts)
    """

    labels: tuple[str, ...]
    constant: bool = True
    scores_per_label: bool = False
    potts: bool = False
    histogram: int = 0
    rules: Rules | None = None

    checks: ClassVar = {
        "labels": LIST,
        **dict.fromkeys(("constant", "scores_per_label", "potts"), FLAG),
        "histogram": whole(0),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        _vocabulary(self.labels).check(self.rules)

    def frame(self, x: Graph) -> Frame:
        joined = len(x), x.edges.tobytes()
        return _frame(
            self.labels, *joined, self.scores_per_label, self.potts, self.histogram, self.rules
        )

    def vectors(self, x: Graph) -> Sequence[Features]:
        nodes = self._scores_per_label(x.nodes) if self.scores_per_label else self._rows(x.nodes)
        return [*nodes, *self._rows(x.edge_features)]

    def encode(self, x: Graph, y: AnyArray | Sequence[int] | Sequence[str]) -> list[int]:
        labels = np.asarray(y)
        if labels.dtype.kind in "UO" and labels.shape == (len(x),):
            return positions(self.labels, labels.tolist(), unknown=True)
        if labels.shape != (len(x),) or (len(x) and labels.dtype.kind not in "iu"):
            raise LabelError(
                f"an output has the position of one label for each of {len(x)} nodes; got the "
                f"shape {labels.shape} of {labels.dtype}"
            )
        wrong = np.flatnonzero((labels < UNKNOWN) | (labels >= len(self.labels)))
        if len(wrong):
            raise LabelError(
                f"labels are positions from 0 to {len(self.labels) - 1}, node {wrong[0]} has "
                f"{labels[wrong[0]]}; take void nodes, which have -1, out with drop_unlabelled"
            )
        return [int(label) for label in labels]

    def decode(self, x: Graph, labels: Sequence[int]) -> IntArray:
        return readonly(np.array(labels, dtype=np.int64))

    def _scores_per_label(self, features: FloatArray) -> list[AnyArray]:
        """A vector for every label of every node; a label's constant is one that no other has."""
        nodes, labels = len(features), len(self.labels)
        if features.shape[1] % labels:
            raise DataError(
                f"with scores_per_label, each of {labels} labels has as many features of a node; "
                f"got {features.shape[1]} in all"
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

    Parameters
    ----------
    rows, columns
        How many there are, at least 0.

    Examples
    --------
    >>> grid(2, 2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    if rows < 0 or columns < 0:
        raise DataError(f"a grid has no fewer than 0 rows and columns, got {rows} and {columns}")
    node = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    return readonly(np.concatenate([across, down]))


def drop_unlabelled(x: Graph, y: AnyArray) -> tuple[Graph, IntArray]:
    """What can be learned from: the nodes that have a label, and the edges between them.

    Parameters
    ----------
    x
        The graph.
    y
        The position of each node's label, UNLABELLED where nobody said it.
    """
    labels = np.asarray(y, dtype=np.int64)
    if labels.shape != (len(x),):
        raise LabelError(f"{len(x)} nodes have as many labels, got the shape {labels.shape}")
    kept = labels != UNLABELLED
    number = np.cumsum(kept) - 1
    inside = kept[x.edges].all(axis=1)
    graph = Graph(x.nodes[kept], number[x.edges[inside]], x.edge_features[inside])
    return graph, readonly(labels[kept])


def _check_edges(edges: AnyArray, nodes: int) -> None:
    if edges.size and edges.dtype.kind not in "iu":
        raise DataError(f"edges are pairs of whole numbers, got {edges.dtype}")
    if (edges < 0).any() or (edges >= nodes).any() or (edges[:, 0] == edges[:, 1]).any():
        raise DataError(f"an edge joins two different nodes from 0 to {nodes - 1}")
    if len(np.unique(np.sort(edges, axis=1), axis=0)) != len(edges):
        raise DataError("two nodes are joined twice; give each pair of neighbours one edge")


@keep_recent
def _frame(
    labels: tuple[str, ...],
    nodes: int,
    edges: bytes,
    scores_per_label: bool,
    potts: bool,
    histogram: int,
    rules: Rules | None,
) -> Frame:
    builder = SpaceBuilder()
    variables = [builder.variable(str(i), labels) for i in range(nodes)]
    each = len(labels) if scores_per_label else 1  # vectors of a node
    slots = [Slot(NODE, each * i, each=scores_per_label) for i in range(nodes)]
    pairs = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    tied = tuple(int(a != b) for a in labels for b in labels) if potts else None
    for number, (i, j) in enumerate(pairs.tolist()):
        builder.factor(variables[i], variables[j])
        slots.append(Slot(EDGE, each * nodes + number, tied=tied))
    global_features = (LabelCounts("shares", len(labels), histogram),) if histogram else ()
    joined = [(a, b) for i, j in pairs.tolist() for a, b in ((i, j), (j, i))]
    places = {NODE: {(i,): variable for i, variable in enumerate(variables)}}
    _vocabulary(labels).require(builder, rules, variables, places, joined)
    kinds = (NODE,) * (each * nodes) + (EDGE,) * len(pairs)
    return Frame(builder.build(), tuple(slots), kinds, global_features)


def _vocabulary(labels: tuple[str, ...]) -> Vocabulary:
    return Vocabulary({NODE: (1, labels)})


def grid_shape(x: Graph) -> tuple[int, int] | None:
    """The rows and columns of the grid that a graph is, its nodes numbered row by row, if it is."""

    def ordered(edges: AnyArray) -> AnyArray:
        return np.unique(np.sort(edges, axis=1), axis=0)

    n, own = len(x), ordered(x.edges)
    for rows in (rows for rows in range(1, n + 1) if n % rows == 0):
        edges = grid(rows, n // rows)
        if len(edges) == len(own) and np.array_equal(ordered(edges), own):
            return rows, n // rows
    return None


_GRAPH = {"nodes": [[float]], "edges?": [[int]], "grid?": [int], "edge_features?": [[float]]}


def _graph(_task: GraphLabelling | None, value: Any) -> Graph:
    check_shape("a graph", value, _GRAPH)
    nodes, edges, shape = value["nodes"], value.get("edges"), value.get("grid")
    if (edges is None) == (shape is None):
        raise DataError('a graph has "edges": [[0, 1], ...] or "grid": [rows, columns], and one')
    if shape is not None:
        if len(shape) != 2 or min(shape) < 0 or shape[0] * shape[1] != len(nodes):
            raise DataError(
                f'"grid" is the numbers of rows and columns of all {len(nodes)} nodes; got {shape}'
            )
        edges = grid(*shape)
    for name in ("nodes", "edge_features"):
        if len({len(row) for row in value.get(name, ())}) > 1:
            raise DataError(f'"{name}" is a list of lists of numbers, all as long')
    rows = np.array(nodes, dtype=np.float64).reshape(len(nodes), -1) if nodes else np.zeros((0, 0))
    return Graph(rows, np.array(edges), np.array(value.get("edge_features", [])))


def _shape(x: Graph) -> dict[str, str]:
    rows = {"nodes": x.nodes, "edge_features": x.edge_features}
    return {f'a row of "{k}"': f"{own.shape[1]} numbers" for k, own in rows.items() if len(own)}


def _names(task: GraphLabelling, y: Sequence[Any]) -> list[str]:
    """The labels of an output that may be positions."""
    return [label if isinstance(label, str) else task.labels[int(label)] for label in y]


def _show(task: GraphLabelling, x: Graph, y: Any, gold: Any, facts: Sequence[str]) -> Picture:
    labels = np.array(task.encode(x, y))
    right = None if gold is None else np.asarray(gold)
    if right is not None and right.dtype.kind == "U":
        right = np.array(task.encode(x, gold))
    if right is not None and right.shape != labels.shape:
        raise LabelError(f"gold has one label for each of {len(x)} nodes; got {right.shape}")
    shape = grid_shape(x)
    differ = [] if right is None else ((right >= 0) & (right != labels)).tolist()
    said = [*facts, *differing(differ, "nodes")]
    if shape is None:
        known = None if right is None else np.where(right < 0, labels, right)
        return picture_of_labels(task.frame(x).space, labels, gold=known, facts=said)
    broken, about = rules_broken(task, x, y)
    return picture_of_grid(
        labels.reshape(shape),
        task.labels,
        gold=None if right is None else right.reshape(shape),
        broken=broken,
        facts=[*said, *about],
    )


def _measure(task: GraphLabelling, gold: Sequence[Any], found: Sequence[Any]) -> Measured:
    from rote.metrics.labels import exact_match, known_only, label_f1, token_accuracy

    gold, found = known_only(gold, found, task.labels)
    true, said = ([_names(task, y) for y in side] for side in (gold, found))
    labels = label_f1([one for y in true for one in y], [one for y in said for one in y])
    return {
        "node accuracy": token_accuracy(true, said),
        "exact match": exact_match(true, said),
        "macro F1": labels.macro.f1,
    }, {"labels": labels}


register(
    Adapter(
        "graph",
        GraphLabelling,
        from_json=_graph,
        output_from_json=label_of_each,
        to_json=lambda task, _, y: _names(task, y),
        shape=_shape,
        settings=("potts",),
        build=lambda examples, own: GraphLabelling(labels_in(examples.ys), **own),
        hint=lambda _: 'A graph as JSON: features of its nodes, and its edges or "grid".',
        example=lambda _: '{"nodes": [[0.5], [2.0], [1.5], [0]], "grid": [2, 2]}',
        limits=(("nodes", len, MAX_NODES), ("edges", lambda x: len(x.edges), 4 * MAX_NODES)),
        show=_show,
        measure=_measure,
    )
)
