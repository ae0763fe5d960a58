"""Lazy prediction: the same outputs as from all scores, with fewer vectors worked out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pytest

from rote.datasets import english_sentences
from rote.errors import DataError, InfeasibleSpace, SettingError, UnsupportedSpace
from rote.inference import Exact
from rote.inference.approximate import Speedup
from rote.inference.approximate.learned_beam import Wanted
from rote.model import Model, prepare
from rote.model.lazy import LazyScores, Vectors, fill, predict_lazily
from rote.space import SpaceBuilder
from rote.tasks.coreference import Coreference, Document, Mention, ParsedSentence
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.entity_relation_features import SentenceReader
from rote.tasks.graphs import Graph, LabelledGraph, grid
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot, Task
from tests.small_tasks import ORDERS, TAGGING, Order, tagged

SENTENCES = english_sentences(40, seed=0)


def graphs():
    rng = np.random.default_rng(0)
    edges = grid(2, 3)
    return [Graph(rng.normal(size=(6, 2)), edges, rng.normal(size=(7, 2))) for _ in range(8)]


def stories():
    words = ("Ann", "saw", "Mr.", "Hill", "and", "the", "dog", "he", "fed", "Ann")
    spans = ((0, 1), (2, 4), (5, 7), (7, 8), (9, 10))
    mentions = tuple(Mention(0, start, stop, "PER") for start, stop in spans)
    counts = (5, 1, 2, 3, 4, 5)
    return [Document("a", "fiction", (ParsedSentence(words),), mentions[:k]) for k in counts]


CASES = {
    "entities and relations": (EntityRelation(), SENTENCES),
    "tagging": (TAGGING, tagged(20)[0]),
    "longer factors": (Tagging(TAGGING.labels, TAGGING.features, order=2), tagged(12)[0]),
    "coreference": (Coreference(most_antecedents=3), stories()),
    "graphs": (LabelledGraph(("land", "sea", "sky")), graphs()),
    "tied factors": (LabelledGraph(("land", "sea", "sky"), potts=True), graphs()),
    "a task of one's own": (Order(), [x for x, _ in ORDERS]),
}
every_task = pytest.mark.parametrize(("task", "xs"), CASES.values(), ids=CASES.keys())


def model_of(task, xs, seed=0, **options):
    """Random weights, under an engine that has learned from the same inputs."""
    prepared = prepare(task, xs)
    weights = np.random.default_rng(seed).normal(size=prepared.layout.size)
    speedup = Speedup(**{"width": 2, "step": 1.0, **options})
    for group in prepared.groups:
        speedup.learn(group.space, prepared.inputs(group).objective(group.space, weights))
    return Model(task, prepared.layout, weights, speedup)


def eagerly(model, xs):
    """By all scores."""
    return model.decode(xs, model.answers(model.prepare(xs)))


def equal(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(one, other, strict=True)
    )


@every_task
def test_with_a_huge_theta_outputs_are_those_without_one(task, xs):
    model = model_of(task, xs)
    lazy = model.with_engine(model.engine.with_theta(1e100))
    found = predict_lazily(lazy, xs)
    assert equal(found.outputs, model.predict(xs))
    assert found.skipped == 0.0
    assert found.computed == found.vectors > 0


@every_task
@pytest.mark.parametrize("theta", [0.0, 0.3])
def test_lazily_outputs_are_those_by_all_scores(task, xs, theta):
    model = model_of(task, xs, theta=theta)
    assert equal(model.predict(xs), eagerly(model, xs))


@every_task
def test_scores_of_single_slots_are_those_of_the_model(task, xs):
    model = model_of(task, xs)
    for group in (prepared := model.prepare(xs)).groups:
        expected = prepared.inputs(group).objective(group.space, model.weights).scores
        frame = group.frame
        lazy = LazyScores(model, frame, group.members)
        some = np.arange(len(group.members))[::2]
        for s in range(len(frame.slots)):
            fill(model, Vectors(model, xs), [lazy], [Wanted(0, some, np.full(len(some), s))])
            span = slice(int(frame.starts[s]), int(frame.starts[s + 1]))
            assert lazy.scores[some, span].tolist() == expected[some, span].tolist()
            lazy.scores[:, span] = 0.0
            assert not lazy.scores.any()
        every, slots = np.arange(len(group.members)), np.arange(len(frame.slots))
        wanted = Wanted(0, np.repeat(every, len(slots)), np.tile(slots, len(every)))
        for _ in range(2):  # again, and it is the same
            fill(model, Vectors(model, xs), [lazy], [wanted])
            assert lazy.scores.tolist() == expected.tolist()


@dataclass(frozen=True)
class Watched(EntityRelation):
    """Keeps which vectors were read."""

    seen: list[tuple[int, int]] = field(default_factory=list, compare=False)

    @property
    def feature_reader(self):
        return self.watching

    def watching(self, xs, names):
        reader, seen = SentenceReader(xs, names), self.seen

        class Watching:
            def lines(self, inputs, vectors):
                seen.extend(zip([id(xs[i]) for i in inputs], vectors.tolist(), strict=True))
                return reader.lines(inputs, vectors)

        return Watching()


def test_what_is_skipped_is_never_worked_out():
    task = Watched()
    xs = [x for x in SENTENCES if len(x.entities) < 6]
    model = model_of(task, xs, theta=0.05)
    task.seen.clear()  # what learning read
    found = predict_lazily(model, xs)
    broken = {id(x) for x, obeyed in zip(xs, found.obeyed, strict=True) if not obeyed}
    worked_out = set(task.seen)
    assert len(worked_out) == len(task.seen)  # nothing twice
    assert found.vectors == sum(len(x.entities) ** 2 for x in xs)
    assert found.computed < found.vectors
    assert found.skipped == pytest.approx(1 - found.computed / found.vectors)
    # What was searched for again needed all of its vectors.
    again = sum(len(x.entities) ** 2 for x in xs if id(x) in broken)
    before = sum(1 for number, _ in worked_out if number not in broken)
    assert len(worked_out) == before + again
    assert before <= found.computed
    served = model.engine.served
    assert served.steps == found.vectors  # here every decision has one vector
    assert served.skipped == found.vectors - found.computed
    assert served.broken == len(broken)


def test_a_task_without_a_reader_saves_nothing():
    xs = tagged(10)[0]
    plain = replace(TAGGING, features=TAGGING.vectors)
    found = predict_lazily(model_of(plain, xs, theta=0.0), xs)
    assert found.skipped == 0.0
    assert found.computed == found.vectors == sum(map(len, xs))


def test_every_output_obeys_even_where_the_search_did_not():
    xs = [x for x in SENTENCES if len(x.entities) > 1]
    task, broken = EntityRelation(), 0
    for theta, seed in product((0.0, 0.5), range(3)):
        model = model_of(task, xs, seed, theta=theta, width=1, step=0.1)
        found = predict_lazily(model, xs)
        broken += int((~found.obeyed).sum())
        for x, y in zip(xs, found.outputs, strict=True):
            assert task.frame(x).space.holds(np.array([task.encode(x, y)])).all()
    assert broken > 0


def test_features_that_the_model_does_not_know_are_left_out():
    xs = tagged(10)[0]
    model = model_of(TAGGING, xs, theta=0.2)
    strange = [(("unheard",), ("of",)), *xs]
    assert model.predict(strange) == eagerly(model, strange)


def test_no_inputs_and_inputs_without_variables_have_their_outputs():
    model = model_of(EntityRelation(), SENTENCES, theta=0.1)
    assert model.predict([]) == []
    empty = replace(SENTENCES[0], entities=(), relations=())
    (found,) = model.predict([empty])
    assert found.entities == ()
    lazily = predict_lazily(model, [])
    assert (lazily.outputs, lazily.vectors, lazily.skipped) == ([], 0, 0.0)


def test_an_engine_that_is_not_lazy_sees_all_scores():
    xs = tagged(6)[0]
    model = model_of(TAGGING, xs)
    assert not model.engine.is_lazy
    assert model.predict(xs) == eagerly(model, xs)
    assert model.with_engine(Exact()).predict(xs) == eagerly(model.with_engine(Exact()), xs)


def test_traits_of_whole_outputs_are_refused():
    task = LabelledGraph(("land", "sea"), histogram=4)
    xs = graphs()[:2]
    prepared = prepare(task, xs)
    engine = Speedup(theta=0.5)
    model = Model(task, prepared.layout, prepared.layout.zeros(), engine)
    with pytest.raises(UnsupportedSpace, match="use RGS"):
        model.predict(xs)


class Never(Task):
    """A task whose rules cannot be obeyed."""

    def __init__(self):
        builder = SpaceBuilder()
        x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
        builder.require(x["a"] >> y["a"], "as x")
        builder.require(x["b"] >> y["a"], "nor b")
        builder.require(~y["a"], "no a")
        self.only = Frame(builder.build(), (Slot("x", 0), Slot("y")), ("words",))

    def frame(self, x):
        return self.only

    def vectors(self, x):
        return [[x]]

    def encode(self, x, y):
        return list(y)

    def decode(self, x, labels):
        return tuple(labels)


def test_rules_that_cannot_be_obeyed_are_named():
    task = Never()
    prepared = prepare(task, ["one"])
    model = Model(task, prepared.layout, prepared.layout.zeros(), Speedup(theta=0.5))
    with pytest.raises(InfeasibleSpace, match=r"(?s)^input 0: .*no a"):
        model.predict(["one", "two"])


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_share_of_inputs_is_given_to_the_teacher_and_learned_from(share):
    model = model_of(EntityRelation(), SENTENCES, theta=0.0, share=share)
    before = model.engine.served
    outputs = predict_lazily(model, SENTENCES).outputs
    taught = model.engine.served.taught - before.taught
    assert taught == share * len(SENTENCES)
    if share == 1:
        assert outputs == model.with_engine(Exact()).predict(SENTENCES)
        assert model.engine.served.mistakes > before.mistakes


def test_other_engines_have_to_look_at_all_inputs():
    model = model_of(EntityRelation(), SENTENCES).with_engine(Exact())
    with pytest.raises(SettingError, match="only a Speedup"):
        predict_lazily(model, SENTENCES[:1])


@pytest.mark.parametrize("method", ["frame", "vectors", "read"])
def test_an_error_of_a_task_says_which_input_it_is_about(method):
    xs, _ = tagged(4)
    model = model_of(TAGGING, xs, theta=1.0)

    class Odd(Tagging):
        @property
        def feature_reader(self):
            return read if method == "read" else None

        def frame(self, x):
            return fail(x, super().frame) if method == "frame" else super().frame(x)

        def vectors(self, x):
            return fail(x, super().vectors) if method == "vectors" else super().vectors(x)

    def fail(x, otherwise):
        if x is xs[2]:
            raise DataError("not this one")
        return otherwise(x)

    def read(inputs, names):
        for x in inputs:
            fail(x, len)
        return TAGGING.feature_reader(inputs, names)

    odd = Odd(TAGGING.labels, TAGGING.features, TAGGING.order, TAGGING.bio)
    with pytest.raises(DataError, match=r"^input 2: not this one"):
        predict_lazily(replace(model, task=odd), xs)
