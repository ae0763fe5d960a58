"""Small tasks and examples that tests of models and learners share."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rote.features import Templates
from rote.space import SpaceBuilder
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot, Task

LABELS = ("B-X", "I-X", "O")
WORDS = ("red", "big", "dog", "ran", "off", "up", ".")
TEMPLATES = Templates(("word",), ("bias", "word[0]", "word[-1]"))
TAGGING = Tagging(LABELS, TEMPLATES, bio=True)


def tagged(count: int, seed: int = 0, longest: int = 5) -> tuple[list, list]:
    """Sentences of ragged lengths whose labels obey the BIO rules and depend on words, mostly."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for _ in range(count):
        words = [WORDS[k] for k in rng.integers(len(WORDS), size=rng.integers(1, longest + 1))]
        labels: list[str] = []
        for word in words:
            inside = bool(labels) and labels[-1] != "O"
            if word in WORDS[:3] and rng.random() < 0.9:
                labels.append("I-X" if inside else "B-X")
            else:
                labels.append("O")
        xs.append(tuple((word,) for word in words))
        ys.append(tuple(labels))
    return xs, ys


@dataclass(frozen=True)
class Order(Task):
    """A user's own task: variables of three types, with names, an array or nothing to look at.

    A dish looks at words, a size at two numbers, a day at nothing; dish and size share a factor;
    no large salad is served.
    """

    dishes: tuple[str, ...] = ("pizza", "salad", "soup")
    sizes: tuple[str, ...] = ("small", "large")

    def frame(self, x):
        return _frame(self.dishes, self.sizes)

    def vectors(self, x):
        words, numbers = x
        return [words, np.array(numbers)]

    def encode(self, x, y):
        dish, size, day = y
        return [self.dishes.index(dish), self.sizes.index(size), day]

    def decode(self, x, labels):
        return self.dishes[labels[0]], self.sizes[labels[1]], labels[2]


@lru_cache(maxsize=16)
def _frame(dishes: tuple[str, ...], sizes: tuple[str, ...]) -> Frame:
    builder = SpaceBuilder()
    dish = builder.variable("dish", dishes)
    size = builder.variable("size", sizes)
    builder.variable("day", ("0", "1"))
    builder.factor(dish, size)
    builder.require(~(dish["salad"] & size["large"]), "no large salad")
    slots = (Slot("dish", 0), Slot("size", 1), Slot("day"), Slot("pair"))
    return Frame(builder.build(), slots, ("words", "numbers"))


ORDERS = [
    ((["cheese", "oven"], (1.0, 0.0)), ("pizza", "large", 1)),
    ((["green"], (0.0, 1.0)), ("salad", "small", 1)),
    ((["hot", "spoon"], (0.5, 1.0)), ("soup", "small", 1)),
    ((["hot", "oven"], (2.0, 0.5)), ("pizza", "large", 1)),
    ((["spoon"], (1.5, 0.0)), ("soup", "large", 1)),
]


@dataclass(frozen=True)
class Pick(Task):
    """A user's own task: one of the candidates of an input, each with features of its own."""

    def frame(self, x):
        return _pick_frame(len(x))

    def vectors(self, x):
        return x

    def encode(self, x, y):
        return [y]

    def decode(self, x, labels):
        return labels[0]


@lru_cache(maxsize=16)
def _pick_frame(count: int) -> Frame:
    builder = SpaceBuilder()
    builder.variable("pick", tuple(map(str, range(count))))
    return Frame(builder.build(), (Slot("pick", 0, each=True),), ("candidate",) * count)
