"""Random searches for beam kernels, and the same search over dictionaries from the definition."""

import numpy as np

from rote.inference.approximate.beam_plan import HeuristicFeatures, WeightIndex, beam_plan_of
from rote.kernels.constants import MAX_COUNTED
from rote.types import readonly


def eighths(rng, few, size):
    """Numbers whose sums are exact in any order; with ``few`` of them there are many ties."""
    top = 2 if few else 1 << 12
    return readonly(rng.integers(-top, top + 1, size=size) / 8)


class Case:
    """A space, its course, and m inputs."""

    def __init__(self, space, seed, m=3, patterns=None, closed=0.1, heavy=1.0):
        rng = np.random.default_rng(seed)
        ledger, few = WeightIndex(), bool(rng.integers(2))
        order = rng.permutation(len(space.variables)).tolist()
        every = HeuristicFeatures() if patterns is None else patterns
        self.space, self.order = space, order
        self.course = beam_plan_of(space, lambda _: order, every, ledger)
        self.weights = readonly(heavy * eighths(rng, few, ledger.size))
        self.scores = eighths(rng, few, (m, space.parts))
        self.shut = readonly(rng.random((m, space.labels)) < closed)
        self.ledger, self.rng = ledger, rng

    def input(self, i, weights=None):
        return Naive(
            self, self.scores[i], self.shut[i], self.weights if weights is None else weights
        )


class Naive:
    """One input: nodes are dictionaries from variables to labels."""

    def __init__(self, case, scores, shut, weights):
        self.case, self.scores, self.shut, self.weights = case, scores, shut, weights

    def g(self, node):
        """The parts that lie in a node."""
        space = self.case.space
        total = sum(self.scores[space.offsets[j] + label] for j, label in node.items())
        for f, factor in enumerate(space.factors):
            if set(factor.variables) <= set(node):
                own = [node[j] for j in factor.variables]
                shape = [len(space.variables[j].labels) for j in factor.variables]
                total += self.scores[space.factor_offsets[f] + np.ravel_multi_index(own, shape)]
        return float(total)

    def phi(self, node):
        """How often each weight counts in a node: as a course is defined."""
        course, found = self.case.course, np.zeros(len(self.weights))
        tallies = {}
        for t, j in enumerate(self.case.order):
            if j not in node:
                break
            for p in range(course.pattern_ptr[t], course.pattern_ptr[t + 1]):
                others = zip(course.other[p], course.other_stride[p], strict=True)
                moved = sum(stride * node[k] for k, stride in others if k >= 0)
                found[course.origin[p] + node[j] + moved] += 1
            for k in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
                if course.counted[k, node[j]]:
                    before = tallies.get(course.tally[k], 0)
                    found[course.tally_origin[k] + min(before, MAX_COUNTED - 1)] += 1
                    tallies[course.tally[k]] = before + 1
        return found

    def h(self, node):
        return float(self.phi(node) @ self.weights)

    def successors(self, node, j):
        start = self.case.space.offsets[j]
        count = len(self.case.space.variables[j].labels)
        return [{**node, j: label} for label in range(count) if not self.shut[start + label]]

    def search(self, width, theta):
        """The last beam as (node, g, h), and the steps that h decided."""
        beam, skipped = [({}, 0.0)], 0
        for j in self.case.order:
            found = [(n, v, g) for v, g in beam for n in self.successors(v, j)]
            by_h = sorted(found, key=lambda one: -self.h(one[0]))
            heuristics = [self.h(n) for n, _, _ in by_h]
            if len(found) > width and heuristics[width - 1] - heuristics[width] > theta:
                beam, skipped = [(n, g) for n, _, g in by_h[:width]], skipped + 1
                continue
            grown = [(n, g + self.g(n) - self.g(v)) for n, v, g in found]
            beam = sorted(grown, key=lambda one: -(one[1] + self.h(one[0])))[:width]
        return [(n, g, self.h(n)) for n, g in beam], skipped


def as_node(labels):
    return {j: int(label) for j, label in enumerate(labels) if label >= 0}


def left_in(nodes, i):
    """What a kernel left, as the naive search has it."""
    labels = nodes.labels
    return [
        (as_node(labels[i, k]), float(nodes.score[i, k]), float(nodes.heuristic[i, k]))
        for k in range(nodes.size[i])
    ]
