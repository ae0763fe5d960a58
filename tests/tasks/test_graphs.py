"""Labelled graphs: grids, void nodes, scores worked out by hand, and learning from neighbours."""

import re

import numpy as np
import pytest

from papers.data.msrc21 import Image, image_graph
from rote.engines import Exhaustive
from rote.errors import DataError, LabelError
from rote.learning import Perceptron, fit
from rote.model import Model, prepare
from rote.tasks.graphs import UNLABELLED, Graph, GraphLabelling, drop_unlabelled, grid

LAND_SEA = ("land", "sea")


def trained(task, xs, ys, learner, engine=None):
    prepared = prepare(task, xs, ys)
    model = Model(task, prepared.layout, prepared.layout.zeros())
    return fit(learner, model if engine is None else model.with_engine(engine), prepared)


def test_a_grid_joins_each_node_to_the_right_and_down():
    assert grid(2, 3).tolist() == [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]]
    assert [grid(*shape).shape for shape in ((1, 1), (0, 3), (1, 4))] == [(0, 2), (0, 2), (3, 2)]
    with pytest.raises(DataError, match="no fewer than 0 rows"):
        grid(-1, 2)


@pytest.mark.parametrize(
    ("nodes", "edges", "features", "message"),
    [
        (np.zeros(3), [[0, 1]], np.zeros((1, 0)), "nodes of the shape (n, d)"),
        (np.zeros((3, 1)), [0, 1], np.zeros((2, 0)), "edges of the shape (m, 2)"),
        (np.zeros((3, 1)), [[0, 1]], np.zeros((2, 4)), "features of 1 edges"),
        (np.zeros((3, 1)), [[0, 3]], np.zeros((1, 0)), "from 0 to 2"),
        (np.zeros((3, 1)), [[-1, 1]], np.zeros((1, 0)), "from 0 to 2"),
        (np.zeros((3, 1)), [[1, 1]], np.zeros((1, 0)), "two different nodes"),
        (np.zeros((3, 1)), [[0, 1], [1, 0]], np.zeros((2, 0)), "joined twice"),
        (np.zeros((3, 1)), [[0.0, 1.0]], np.zeros((1, 0)), "pairs of whole numbers"),
    ],
)
def test_a_graph_that_cannot_be_is_refused(nodes, edges, features, message):
    with pytest.raises(DataError, match=re.escape(message)):
        Graph(nodes, edges, features)


def test_a_graph_may_have_no_edges_and_no_edge_features():
    lonely = Graph(np.ones((2, 1)), [])
    assert (lonely.edges.shape, lonely.edge_features.shape) == ((0, 2), (0, 0))
    plain = Graph(np.ones((2, 1)), [[0, 1]])
    assert plain.edge_features.shape == (1, 0)
    assert [v.tolist() for v in GraphLabelling(LAND_SEA).vectors(plain)] == [[1, 1], [1, 1], [1]]


def test_graphs_of_one_shape_share_a_frame():
    task = GraphLabelling(LAND_SEA)
    one, other = Graph(np.zeros((4, 2)), grid(2, 2)), Graph(np.ones((4, 2)), grid(2, 2))
    assert task.frame(one) is task.frame(other)
    assert task.frame(one) is not task.frame(Graph(np.zeros((4, 2)), grid(1, 4)))


def test_the_score_of_an_output_is_the_sum_over_nodes_and_edges():
    task = GraphLabelling(LAND_SEA, constant=False)
    x = Graph([[1.0, 2.0], [3.0, 4.0]], [[1, 0]], [[10.0]])
    prepared = prepare(task, [x], [[0, 1]])
    weights = np.zeros(prepared.layout.size)
    prepared.layout.block(weights, "node")[:] = [[1, 2], [3, 5]]
    prepared.layout.block(weights, "edge")[:] = [[0.1, 0.2, 0.3, 0.4]]
    (group,) = prepared.groups
    scores = prepared.scores(weights, group)
    # Node 0 is land, 1 + 6; node 1 is sea, 6 + 20; the edge goes from sea to land, 10 times 0.3.
    assert task.frame(x).space.value(scores, [[0, 1]])[0] == pytest.approx(7 + 26 + 3)


def test_with_scores_per_label_labels_share_one_weight_for_each_kind_of_them():
    task = GraphLabelling(("land", "sea", "sky"), scores_per_label=True)
    first, second = [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]  # two kinds, each with one of every label
    x = Graph([first + second, second + first], [[0, 1]])
    prepared = prepare(task, [x], [[0, 1]])
    weights = np.zeros(prepared.layout.size)
    shared = prepared.layout.block(weights, "node")
    assert shared.shape == (2 + 3, 1)  # and a constant for each label
    shared[:, 0] = [1.0, 0.1, 0.01, 0.02, 0.03]
    (group,) = prepared.groups
    scores = prepared.scores(weights, group)
    # Node 0 is land and node 1 is sky.
    expected = (1 + 0.1 * 10 + 0.01) + (30 + 0.1 * 3 + 0.03)
    assert task.frame(x).space.value(scores, [[0, 2]])[0] == pytest.approx(expected)
    with pytest.raises(DataError, match=r"each of 3 labels has as many features of a node; got 4"):
        task.vectors(Graph(np.zeros((1, 4)), []))


def test_with_potts_an_edge_knows_equal_from_different_and_no_more():
    task = GraphLabelling(("land", "sea", "sky"), constant=False, potts=True)
    x = Graph([[1.0], [1.0], [1.0]], [[0, 1], [1, 2]], [[10.0], [100.0]])
    prepared = prepare(task, [x], [[0, 0, 2]])
    weights = np.zeros(prepared.layout.size)
    assert prepared.layout.block(weights, "edge").shape == (1, 2)
    prepared.layout.block(weights, "edge")[:] = [[0.5, -0.25]]
    (group,) = prepared.groups
    scores = prepared.scores(weights, group)
    space = task.frame(x).space
    for labels in ([0, 0, 2], [1, 1, 0], [2, 2, 1]):
        assert space.value(scores, [labels])[0] == pytest.approx(5 - 25)
    assert space.value(scores, [[1, 2, 2]])[0] == pytest.approx(-2.5 + 50)


def test_an_output_is_an_array_of_positions():
    task = GraphLabelling(LAND_SEA)
    x = Graph(np.zeros((3, 1)), [[0, 1]])
    assert task.encode(x, np.array([1, 0, 1])) == [1, 0, 1]
    assert task.decode(x, [1, 0, 1]).tolist() == [1, 0, 1]
    for wrong, message in (
        ([1, 0], "each of 3 nodes"),
        ([0.0, 1.0, 0.0], "each of 3 nodes"),
        ([0, 1, 2], "from 0 to 1, node 2 has 2"),
        ([0, -2, 1], "node 1 has -2; take void nodes"),
    ):
        with pytest.raises(LabelError, match=message):
            task.encode(x, np.array(wrong))


def test_void_nodes_leave_with_their_edges():
    x = Graph([[0.0], [1.0], [2.0], [3.0]], [[0, 1], [1, 2], [2, 3], [0, 3]], [[5], [6], [7], [8]])
    kept, y = drop_unlabelled(x, np.array([4, UNLABELLED, 2, 9]))
    assert y.tolist() == [4, 2, 9]
    assert kept.nodes.tolist() == [[0], [2], [3]]
    assert kept.edges.tolist() == [[1, 2], [0, 2]]
    assert kept.edge_features.tolist() == [[7], [8]]
    same, all_of_it = drop_unlabelled(x, np.array([0, 1, 0, 1]))
    assert (len(same), same.edges.tolist()) == (4, x.edges.tolist())
    assert all_of_it.tolist() == [0, 1, 0, 1]
    nothing, labels = drop_unlabelled(x, np.full(4, UNLABELLED))
    assert (len(nothing), len(nothing.edges), len(labels)) == (0, 0, 0)
    with pytest.raises(LabelError, match="4 nodes have as many labels"):
        drop_unlabelled(x, np.array([1]))


def test_the_edges_of_an_image_say_how_alike_their_sides_are():
    image = Image(
        "a",
        (1, 3),
        np.zeros((3, 21)),
        *(np.zeros((3, k)) for k in (17, 64, 128, 160)),
        edges=np.array([[0, 1], [1, 2]]),
        edge_attributes=np.array([[0.0, 0.0], [np.e - 1, 2.0]]),
        pixel_counts=np.zeros((3, 22)),
    )
    graph = image_graph(image)
    np.testing.assert_allclose(graph.edge_features, [[1, 0, 0], [np.exp(-2), 1, np.exp(-2)]])


def noisy_maps(count, seed):
    """Grids whose left columns are land and right columns sea, seen through noise."""
    rng = np.random.default_rng(seed)
    maps = []
    for _ in range(count):
        coast = rng.integers(1, 4)
        y = np.tile(np.arange(4) >= coast, 3).astype(np.int64)
        maps.append((Graph((y + rng.normal(size=12))[:, None], grid(3, 4)), y))
    return maps


def accuracy(model, examples):
    found = model.predict([x for x, _ in examples])
    pairs = zip(found, examples, strict=True)
    return np.mean([np.mean(labels == y) for labels, (_, y) in pairs])


def test_neighbours_correct_what_noise_hides():
    train, test = noisy_maps(40, seed=1), noisy_maps(40, seed=2)
    task = GraphLabelling(LAND_SEA)
    joined = trained(task, *zip(*train, strict=True), Perceptron(5))
    apart = [[(Graph(x.nodes, []), y) for x, y in part] for part in (train, test)]
    alone = trained(task, *zip(*apart[0], strict=True), Perceptron(5))
    assert accuracy(joined, test) > accuracy(alone, apart[1]) + 0.1
    slow = joined.with_engine(Exhaustive())
    some = [x for x, _ in test[:3]]
    for ours, exhaustive in zip(joined.predict(some), slow.predict(some), strict=True):
        assert ours.tolist() == exhaustive.tolist()


def test_a_histogram_lets_nodes_learn_how_many_of_them_have_a_label():
    # Nodes look all the same, and one of three is on: no node can know by itself.
    graph = Graph(np.zeros((3, 1)), np.empty((0, 2), dtype=int))
    found = []
    for bins in (0, 4):
        task = GraphLabelling(("off", "on"), histogram=bins)
        prepared = prepare(task, [graph], [[0, 0, 1]])
        model = Model(task, prepared.layout, prepared.layout.zeros(), Exhaustive())
        learned = fit(Perceptron(iterations=20, average=False), model, prepared)
        found.append(sorted(learned.predict([graph])[0].tolist()))
    assert found == [[0, 0, 0], [0, 0, 1]]
