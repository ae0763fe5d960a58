"""A task of one's own, with an adapter, made of promised names alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rote import Frame, Model, Perceptron, Slot, SpaceBuilder, Task, exactly, train
from rote.tasks import Adapter, adapter_of, register


@cache
def frame_of(runners: int) -> Frame:
    builder = SpaceBuilder()
    variables = [builder.variable(str(i), ("loses", "wins")) for i in range(runners)]
    builder.require(exactly(1, [variable["wins"] for variable in variables]), "one wins")
    slots = tuple(Slot("runner", i) for i in range(runners))
    return Frame(builder.build(), slots, ("runner",) * runners)


@dataclass(frozen=True)
class Race(Task[Sequence[str], int]):
    """Who of some runners, of whom words are known, wins."""

    def frame(self, x: Sequence[str]) -> Frame:
        return frame_of(len(x))

    def vectors(self, x: Sequence[str]) -> list[list[str]]:
        return [words.split() for words in x]

    def encode(self, x: Sequence[str], y: int) -> list[int]:
        return [int(i == y) for i in range(len(x))]

    def decode(self, x: Sequence[str], labels: Sequence[int]) -> int:
        return list(labels).index(1)


XS = [["slow", "fast"], ["fast young", "slow old", "slow"], ["old slow", "young slow", "fast"]]
YS = [1, 0, 2]


def test_it_is_learned_saved_and_loaded(tmp_path):
    model = train(Race(), XS, YS, learner=Perceptron())
    assert model.predict(XS) == YS
    model.save(tmp_path / "race")
    again = Model.load(tmp_path / "race", task=Race())
    assert again.predict([["slow", "slow", "fast"]]) == [2]


def test_with_an_adapter_its_files_are_read_and_written(tmp_path):
    register(
        Adapter(
            "race",
            Race,
            from_json=lambda _, value: list(value),
            output_from_json=lambda _, value: int(value),
            to_json=lambda _task, _x, y: y,
            build=lambda _examples, _settings: Race(),
        )
    )
    file = tmp_path / "races.jsonl"
    file.write_text('{"x": ["slow", "fast"], "y": 1}\n{"x": ["fast", "slow"], "y": 0}\n')
    adapter = adapter_of("race")
    examples = adapter.read(file)
    assert list(examples.xs) == [["slow", "fast"], ["fast", "slow"]]
    assert list(examples.ys) == [1, 0]
    file.write_text(adapter.write(Race(), examples, [0, 1]))
    assert list(adapter.read(file).ys) == [0, 1]
