"""Independent examples over small spaces: labelled by weights, with all there is to compare."""

from dataclasses import dataclass

import numpy as np

from rote.engines import Exact, Exhaustive
from rote.inference.wrappers.decomposed import Decomposed
from rote.learning.loss_augmented import most_violated_outputs
from rote.model import Model, prepare
from rote.space import SpaceBuilder
from rote.space.losses import Hamming
from rote.tasks.task import Frame, Slot, Task
from tests.learning.small import phi

OFF_ON = ("off", "on")


def binary(n, edges=(), write=None):
    """A space of n variables, off or on; ``write`` adds rules to a builder, given "on" of each."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"v{j}", OFF_ON) for j in range(n)]
    for u, v in edges:
        builder.factor(variables[u], variables[v])
    if write is not None:
        write(builder, [variable["on"] for variable in variables])
    return builder.build()


@dataclass(frozen=True)
class CustomFeature(Task):
    """Every variable and factor of a space has weights of its own, and looks at its own vector."""

    space: object

    def frame(self, x):
        variables, factors = len(self.space.variables), len(self.space.factors)
        slots = tuple(Slot(f"block {s}", s) for s in range(variables + factors))
        return Frame(self.space, slots, ("variable",) * variables + ("factor",) * factors)

    def vectors(self, x):
        return list(x)

    def encode(self, x, y):
        return y

    def decode(self, x, labels):
        return tuple(labels)


def ready(space, xs, ys):
    """The examples made ready."""
    return prepare(CustomFeature(space), xs, ys)


def drawn(space, seed, count=2, features=2, draw=None):
    """Inputs, and the best outputs under some weights: nothing but ties could not be separated.

    All variables look at one vector and factors at a constant; ``draw`` changes the weights.
    """
    rng = np.random.default_rng(seed)
    task = CustomFeature(space)
    xs = []
    for _ in range(count):
        x = np.append(rng.normal(size=features - 1), 1.0)
        xs.append([x] * len(space.variables) + [np.ones(1)] * len(space.factors))
    layout = prepare(task, xs).layout
    weights = rng.normal(size=layout.size)
    if draw is not None:
        weights = draw(layout, weights)
    return xs, Model(task, layout, weights, Exhaustive()).predict(xs)


def slacks(prepared, weights, loss, engine=None):
    """Of every example, the largest slack that an engine finds: 0 for weights that separate."""
    found = np.zeros(len(prepared))
    for worst in most_violated_outputs(engine or Exact(), prepared, weights, loss):
        found[worst.group.members] = worst.slacks
    return found


def directions(prepared, xs, number, outputs):
    """d(y) of some outputs of an example, by the plain φ of the tests."""
    group, place = prepared.places[number]
    task, layout = CustomFeature(group.space), prepared.layout
    right = phi(task, layout, xs[number], group.gold[place].tolist())
    return np.array([right - phi(task, layout, xs[number], y) for y in outputs])


@dataclass(frozen=True)
class AsTerm:
    """A loss that engines are asked to look at as a term, whatever it is."""

    loss: object

    def value(self, space, gold, labels):
        return self.loss.value(space, gold, labels)

    def offsets(self, space, gold):
        return None

    def term(self, gold):
        return self.loss.term(gold)


def is_counterexample(found, prepared, decomposition, loss):
    """Whether engines agree: no slack around gold, and some among all outputs."""
    if not isinstance(loss, Hamming):
        loss = AsTerm(loss)
    room = 1e-6 * max(1.0, float(np.abs(found.weights).max()))
    around = slacks(prepared, found.weights, loss, Decomposed(Exhaustive(), decomposition))
    everywhere = slacks(prepared, found.weights, loss, Exhaustive())
    return bool(around.max() <= room < everywhere[found.example])
