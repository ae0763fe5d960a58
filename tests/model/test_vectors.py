"""Lazy prediction: the same outputs as from all scores, with fewer vectors worked out."""

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pytest

from rote.datasets import english_sentences
from rote.engines import Exact
from rote.errors import DataError, SettingError
from rote.inference.approximate import LearnedBeam
from rote.inference.engine import Capability, Wrapper
from rote.inference.problem import LazyProblem, Wanted
from rote.inference.wrappers.amortized import Amortized, EqualScores
from rote.inference.wrappers.decomposed import Decomposed
from rote.inference.wrappers.timed import Timed
from rote.model import Model, prepare
from rote.tasks.coreference import Coreference, Document, Mention, ParsedSentence
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.entity_relation_features import SentenceReader
from rote.tasks.graphs import Graph, GraphLabelling, grid
from rote.tasks.tagging import Tagging
from tests.bundles import fields_of
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
    "coreference": (Coreference(max_antecedents=3), stories()),
    "graphs": (GraphLabelling(("land", "sea", "sky")), graphs()),
    "tied factors": (GraphLabelling(("land", "sea", "sky"), potts=True), graphs()),
    "a task of one's own": (Order(), [x for x, _ in ORDERS]),
}
every_task = pytest.mark.parametrize(("task", "xs"), CASES.values(), ids=CASES.keys())


def model_of(task, xs, seed=0, **options):
    """Random weights, under an engine that has learned from the same inputs."""
    prepared = prepare(task, xs)
    weights = np.random.default_rng(seed).normal(size=prepared.layout.size)
    speedup = LearnedBeam(**{"width": 2, "step": 1.0, **options})
    for group in prepared.groups:
        speedup.learn(group.space, prepared.problem(weights, group))
    return Model(task, prepared.layout, weights, speedup)


def eagerly(model, xs):
    """By all scores."""
    return model.decode(xs, model.answers(prepare(model.task, xs, layout=model.layout)))


def lazily(model, xs):
    """Outputs, and what they were made of."""
    prepared = model.prepare(xs)
    return model.decode(xs, model.answers(prepared)), prepared


def counted(prepared):
    return prepared.source.computed, prepared.source.count


def equal(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(one, other, strict=True)
    )


@every_task
def test_with_a_huge_theta_outputs_are_those_without_one(task, xs):
    model = model_of(task, xs)
    lazy = model.with_engine(model.engine.with_theta(1e100))
    outputs, prepared = lazily(lazy, xs)
    assert equal(outputs, model.predict(xs))
    assert prepared.skipped == 0.0
    computed, count = counted(prepared)
    assert computed == count > 0


@every_task
@pytest.mark.parametrize("theta", [0.0, 0.3])
def test_lazily_outputs_are_those_by_all_scores(task, xs, theta):
    model = model_of(task, xs, theta=theta)
    assert equal(model.predict(xs), eagerly(model, xs))


def scores_of(model, xs, group):
    prepared = prepare(model.task, xs, layout=model.layout, lazy=True)
    problem, _ = prepared.question(model.weights, group, lazy=True)
    assert isinstance(problem, LazyProblem)
    return problem.lazy


@every_task
def test_scores_of_single_slots_are_those_of_the_model(task, xs):
    model = model_of(task, xs)
    for group in (prepared := model.prepare(xs)).groups:
        expected = prepared.scores(model.weights, group)
        frame = group.frame
        lazy = scores_of(model, xs, group)
        some = np.arange(len(group.members))[::2]
        for s in range(len(frame.slots)):
            lazy.fill([Wanted(lazy, some, np.full(len(some), s))])
            span = slice(int(frame.starts[s]), int(frame.starts[s + 1]))
            assert lazy.array[some, span].tolist() == expected[some, span].tolist()
            assert lazy.known[some, s].all()
            lazy.array[:, span] = 0.0
            assert not lazy.array.any()
        every, slots = np.arange(len(group.members)), np.arange(len(frame.slots))
        wanted = Wanted(lazy, np.repeat(every, len(slots)), np.tile(slots, len(every)))
        for _ in range(2):  # again, and it is the same
            lazy.fill([wanted])
            assert lazy.array.tolist() == expected.tolist()
        assert scores_of(model, xs, group).rows(some).tolist() == expected[some].tolist()


@dataclass(frozen=True)
class Watched(EntityRelation):
    """Keeps which vectors were read."""

    seen: list[tuple[int, int]] = field(default_factory=list, compare=False)
    calls: list[int] = field(default_factory=list, compare=False)

    @property
    def feature_reader(self):
        return self.watching

    def watching(self, xs, names):
        reader, seen, calls = SentenceReader(xs, names), self.seen, self.calls

        class Watching:
            def lines(self, inputs, vectors):
                calls.append(len(inputs))
                seen.extend(zip([id(xs[i]) for i in inputs], vectors.tolist(), strict=True))
                return reader.lines(inputs, vectors)

        return Watching()


def unrepaired(model, xs):
    """The inputs whose output the search finds to obey by itself."""
    prepared = prepare(model.task, xs, layout=model.layout)
    for group in prepared.groups:
        problem = prepared.problem(model.weights, group)
        yield from group.members[model.engine.searched(group.space, problem).is_feasible]


def test_what_is_skipped_is_never_worked_out():
    task = Watched()
    xs = [x for x in SENTENCES if len(x.entities) < 6]
    model = model_of(task, xs, theta=0.05)
    task.seen.clear()  # what learning read
    prepared = model.prepare(xs)
    assert prepared.skipped == 1.0
    assert not task.seen
    was_feasible = {id(xs[k]) for k in unrepaired(model, xs)}
    task.seen.clear()
    before = model.engine.stats.now()
    model.answers(prepared)
    worked_out = set(task.seen)
    assert len(worked_out) == len(task.seen)  # nothing twice
    computed, count = counted(prepared)
    assert count == sum(len(x.entities) ** 2 for x in xs)
    assert len(worked_out) == computed < count
    assert prepared.skipped == pytest.approx(1 - computed / count)
    # What was searched for again needed all of its vectors.
    again = [x for x in xs if id(x) not in was_feasible]
    assert {number for number, _ in worked_out} >= {id(x) for x in again if x.entities}
    assert sum(1 for number, _ in worked_out if number not in was_feasible) == sum(
        len(x.entities) ** 2 for x in again
    )
    stats = {name: now - before[name] for name, now in model.engine.stats.now().items()}
    assert stats["steps"] == count  # here every decision has one vector
    assert 0 < count - computed <= stats["skipped"]
    assert 0 < stats["broken"] == len(again)


def test_a_task_without_a_reader_saves_nothing():
    xs = tagged(10)[0]
    plain = replace(TAGGING, features=TAGGING.vectors)
    _, prepared = lazily(model_of(plain, xs, theta=0.0), xs)
    assert prepared.skipped == 0.0
    assert counted(prepared) == (sum(map(len, xs)),) * 2


def test_every_output_obeys_even_where_the_search_did_not():
    xs = [x for x in SENTENCES if len(x.entities) > 1]
    task, broken = EntityRelation(), 0
    for theta, seed in product((0.0, 0.5), range(3)):
        model = model_of(task, xs, seed, theta=theta, width=1, step=0.1)
        outputs = model.predict(xs)
        broken += model.engine.stats["broken"]
        for x, y in zip(xs, outputs, strict=True):
            assert task.frame(x).space.holds(np.array([task.encode(x, y)])).all()
    assert broken > 0


def test_no_inputs_and_inputs_without_variables_have_their_outputs():
    model = model_of(EntityRelation(), SENTENCES, theta=0.1)
    assert model.predict([]) == []
    empty = replace(SENTENCES[0], entities=(), relations=())
    (found,) = model.predict([empty])
    assert found.entities == ()
    assert model.prepare([]).skipped == 0.0


def test_an_engine_that_is_not_lazy_sees_all_scores():
    xs = tagged(6)[0]
    model = model_of(TAGGING, xs)
    assert not model.engine.supports
    assert model.prepare(xs).skipped == 0.0
    assert model.predict(xs) == eagerly(model, xs)
    assert model.with_engine(Exact()).predict(xs) == eagerly(model.with_engine(Exact()), xs)


def test_inputs_left_for_later_are_read_by_whoever_looks_at_all_of_them():
    model = model_of(EntityRelation(), SENTENCES, theta=0.05)
    prepared, every = model.prepare(SENTENCES), prepare(model.task, SENTENCES, layout=model.layout)
    exact = model.with_engine(Exact())
    assert exact.decode(SENTENCES, exact.answers(prepared)) == exact.predict(SENTENCES)
    assert prepared.skipped == 0.0
    for one, other in zip(fields_of(prepared.vectors), fields_of(every.vectors), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("around", [Timed, Decomposed, lambda inner: Timed(Decomposed(inner))])
def test_wrappers_that_need_no_scores_ask_for_no_more_of_them(around):
    model = model_of(EntityRelation(), SENTENCES, theta=0.05)
    expected, alone = lazily(model, SENTENCES)
    found, wrapped = lazily(model.with_engine(around(model.engine)), SENTENCES)
    assert found == expected
    assert wrapped.skipped == alone.skipped > 0


def test_wrappers_that_look_at_scores_have_all_of_them():
    model = model_of(EntityRelation(), SENTENCES, theta=0.05)
    remembering = model.with_engine(
        Amortized(model.engine, certificate=EqualScores(), admission="always")
    )
    assert Capability.LAZY_SCORES not in Wrapper.passes
    assert remembering.prepare(SENTENCES).skipped == 0.0
    assert remembering.predict(SENTENCES) == eagerly(model, SENTENCES)


def test_what_all_shapes_of_inputs_need_next_is_read_at_once():
    task = Watched()
    model = model_of(task, SENTENCES, theta=0.05)
    groups = model.prepare(SENTENCES).groups
    task.calls.clear()
    model.predict(SENTENCES)
    together, first = len(task.calls), task.calls[0]
    task.calls.clear()
    for group in groups:
        model.predict([SENTENCES[k] for k in group.members])
    assert len(groups) > 2
    assert together < len(task.calls) / 2
    assert first == len([x for x in SENTENCES if x.entities])


def test_vectors_can_be_left_for_later_only_where_names_have_columns():
    with pytest.raises(SettingError, match="give a layout"):
        prepare(EntityRelation(), SENTENCES, lazy=True)


@pytest.mark.parametrize("method", ["frame", "vectors", "read", "lines"])
def test_an_error_of_a_task_says_which_input_it_is_about(method):
    xs, _ = tagged(4)
    model = model_of(TAGGING, xs, theta=1.0)

    def check(name, *some):
        if name == method and any(x is xs[2] for x in some):
            raise DataError("not this one")

    class Odd(Tagging):
        @property
        def feature_reader(self):
            return None if method == "vectors" else read

        def frame(self, x):
            check("frame", x)
            return super().frame(x)

        def vectors(self, x):
            check("vectors", x)
            return super().vectors(x)

    def read(inputs, names):
        check("read", *inputs)
        reader = TAGGING.feature_reader(inputs, names)

        class Reading:
            def lines(self, asked, vectors):
                check("lines", *(inputs[i] for i in asked))
                return reader.lines(asked, vectors)

        return Reading()

    odd = Odd(TAGGING.labels, TAGGING.features, TAGGING.order, TAGGING.bio)
    with pytest.raises(DataError, match=r"^input 2: not this one"):
        replace(model, task=odd).predict(xs)
