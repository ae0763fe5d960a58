"""Who takes which shift tonight? A task of one's own: features of people, and a rule."""

from collections.abc import Sequence
from functools import lru_cache

from rote import Frame, Perceptron, Slot, SpaceBuilder, Task, exactly, train

SHIFTS = ("day", "night", "off")
Named = dict[str, str]  # an input says something of each person, an output gives each a shift


@lru_cache  # one space for all nights with so many people
def roster_of(people: int) -> Frame:
    builder = SpaceBuilder()
    shifts = [builder.variable(str(i), SHIFTS) for i in range(people)]
    builder.require(exactly(1, [shift["night"] for shift in shifts]), "one person at night")
    slots = tuple(Slot("shift", i) for i in range(people))
    return Frame(builder.build(), slots, ("person",) * people)


class Roster(Task[Named, Named]):
    def frame(self, x: Named) -> Frame:
        return roster_of(len(x))

    def vectors(self, x: Named) -> list[list[str]]:
        return [about.split() for about in x.values()]

    def encode(self, x: Named, y: Named) -> list[int]:
        return [SHIFTS.index(y[name]) for name in x]

    def decode(self, x: Named, labels: Sequence[int]) -> Named:
        return {name: SHIFTS[label] for name, label in zip(x, labels, strict=True)}


xs = [
    {"Ada": "owl young", "Ben": "lark", "Cem": "tired"},
    {"Ada": "owl tired", "Ben": "lark young", "Dov": "owl"},
]
ys = [
    {"Ada": "night", "Ben": "day", "Cem": "off"},
    {"Ada": "off", "Ben": "day", "Dov": "night"},
]
model = train(Roster(), xs, ys, learner=Perceptron())
tonight = {"Ada": "owl", "Dov": "owl young", "Ben": "lark", "Fay": "tired"}
for name, shift in model.predict([tonight])[0].items():
    print(f"{name} ({tonight[name]}): {shift}")
