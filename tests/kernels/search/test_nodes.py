"""One node of the search: giving a label and taking it back, and bounds that hold on the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.dual.ascent import sweep
from rote.kernels.search.nodes import (
    Node,
    alone,
    assign,
    row_loss,
    start,
    undo,
)
from tests.kernels import bodies
from tests.kernels.bodies import ascent_of, networks, random_duals, scores_of

seeds = st.integers(0, 2**32 - 1)


class At:
    """The state of a search, handled by the kernels."""

    def __init__(self, found, seed, duals=False):
        space, net = found
        self.graph = graph = net.graph
        self.theta = bodies.loaded(graph, scores_of(space, seed))
        self.n, self.blocks = len(graph.sizes), len(graph.tables.ptr) - 1
        self.rows = len(graph.rows.lower)
        self.multipliers = np.zeros(self.rows)
        if duals:
            messages, self.multipliers = random_duals(graph, np.random.default_rng(seed))
            for c, r in _columns(graph):
                self.theta[graph.rows.column[c]] -= self.multipliers[r] * graph.rows.coefficient[c]
            ascent = ascent_of(graph, self.theta, messages, self.multipliers)
            sweep(graph, ascent, True)
            self.theta = ascent.theta
            self.multipliers = ascent.multipliers
        self.node = Node(graph)
        constant = bodies.constant_of(graph, self.multipliers)
        self.possible = start(graph, self.theta, constant, self.node)
        self.state, self.labels = self.node.state, self.node.labels
        self.whole = self.node.whole
        self.top = self.height = 0

    @property
    def bound(self):
        return self.state[self.whole]

    def best(self):
        """The best label of each variable by itself."""
        own = np.split(self.theta[: self.graph.offsets[self.n]], self.graph.offsets[1 : self.n])
        best = [int(part.argmax()) for part in own]
        self.node.argmax[:] = best
        return tuple(best)

    def everything(self):
        return self.state.tolist(), list(self.node.free), self.labels.tolist()

    def assign(self, v, label) -> bool:
        """True while there may be an output below."""
        top = assign(self.graph, self.theta, self.node, v, label, self.top)
        self.top = top if top >= 0 else -1 - top
        self.node.stack[self.height] = v
        self.height += 1
        return top >= 0

    def undo(self, low, mark):
        undo(self.graph, self.node, self.height, low, self.top, mark)
        self.top, self.height = mark, low

    def completions(self, outputs):
        """The outputs that have the labels given so far."""
        given_labels = [(j, a) for j, a in enumerate(self.labels) if a >= 0]
        return [y for y in outputs if all(y[j] == a for j, a in given_labels)]


def _columns(graph):
    rows = graph.rows
    for g, r in enumerate(rows.row):
        for c in range(rows.start[g], rows.start[g + 1]):
            yield c, r


@given(networks(least=1), seeds, st.booleans())
def test_bounds_hold_on_the_way_down_and_everything_comes_back(found, seed, duals):
    node = At(found, seed, duals)
    graph = node.graph
    outputs = bodies.feasible(graph, node.theta)
    if not node.possible:
        assert not outputs
        return
    rng = np.random.default_rng(seed)
    before = [(node.everything(), node.top)]
    alive = True
    for v in rng.permutation(node.n):
        open_labels = np.flatnonzero(node.state[graph.offsets[v] : graph.offsets[v + 1]] > -np.inf)
        if not len(open_labels):
            assert not node.completions(outputs)
            break
        alive = node.assign(int(v), int(rng.choice(open_labels)))
        left = node.completions(outputs)
        if not alive:
            assert not left
            break
        for y in left:
            known_value = bodies.worth_of(graph, node.theta, node.multipliers, y)
            assert node.bound >= known_value - 1e-9
            # No label that some output below needs has been closed.
            entries = [int(graph.offsets[j]) + a for j, a in enumerate(y) if node.labels[j] < 0]
            assert (node.state[entries] > -np.inf).all()
        before.append((node.everything(), node.top))
    if alive and node.height == node.n:
        y = tuple(node.labels.tolist())
        assert y in outputs
        lost = row_loss(graph, node.multipliers, node.labels)
        known_value = bodies.worth_of(graph, node.theta, node.multipliers, y)
        assert node.bound - lost == pytest.approx(known_value, abs=1e-9)
    for low in reversed(range(len(before))):
        state, top = before[low]
        node.undo(low, top)
        assert node.everything() == state


@given(networks(least=1), seeds, st.sampled_from([1e-6, 0.3, 2.0]))
def test_an_output_said_to_be_alone_has_no_equal(found, seed, tie):
    node = At(found, seed, duals=True)
    graph = node.graph
    if not node.possible or node.bound == -np.inf:
        return
    y = node.best()
    said = alone(graph, node.theta, node.node, tie)
    outputs = bodies.feasible(graph, node.theta)
    close = [
        other
        for other in outputs
        if bodies.worth_of(graph, node.theta, node.multipliers, other) >= node.bound - tie + 1e-9
    ]
    if said and y in outputs:
        assert set(close) <= {y}


def test_a_single_best_entry_everywhere_is_alone():
    from rote.space import SpaceBuilder

    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    space = builder.build()
    node = At((space, space.network), 0)
    graph = node.graph
    for scores, expected in (
        ([0, 0, 0, 0, 5, 0, 0, 0], True),  # labels are equal, but only one entry is best
        ([0, 0, 0, 0, 5, 0, 0, 5], False),  # two outputs are equal
        ([1, 0, 1, 0, 0, 0, 0, 0], True),  # one label each
    ):
        theta = bodies.loaded(graph, np.array(scores, dtype=np.float64))
        start(graph, theta, 0.0, node.node)
        node.node.argmax[:] = 0
        assert alone(graph, theta, node.node, 1e-9) == expected
