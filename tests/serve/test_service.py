"""Requests from many threads are answered together, each rightly, and fail alone."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import ClassVar

import pytest

from rote import Amortized, Engine, Exact, LearnedBeam
from rote.errors import DataError, InputTooLarge, ModelError, Overloaded, ServiceError, SettingError
from rote.inference.stores import MemoryStore
from rote.inference.wrappers.amortized import EqualScores
from rote.serve import Limits, Service
from rote.tasks.adapter import Adapter, adapter_of
from rote.tasks.tagging import Tagging

SECONDS = 30  # far more than anything here takes


class Gate(Engine):
    """An engine that waits until it is let go, and fails for spaces of one size."""

    def __init__(self, fails_at=-1):
        self.entered, self.open = Event(), Event()
        self.calls = []
        self.fails_at = fails_at

    def answer(self, problem, context):
        space = problem.space
        self.entered.set()
        assert self.open.wait(SECONDS)
        self.calls.append((len(space.variables), len(problem)))
        if len(space.variables) == self.fails_at:
            raise ZeroDivisionError
        return Exact().answer(problem, context)


@pytest.fixture
def gated(tagger):
    """A service that is busy with a first request, so that others come to wait."""
    gate = Gate(fails_at=3)
    made = []

    def start(**options):
        service = Service(tagger.with_engine(gate), remember=False, **options)
        made.append(service)
        first = service.submit(["first"])
        assert gate.entered.wait(SECONDS)
        return service, gate, first

    yield start
    gate.open.set()
    for service in made:
        service.close()


def test_what_comes_while_others_are_answered_is_one_batch(gated, tagger):
    service, gate, first = gated()
    words = [f"{a} {b}" for a in ("the", "a", "old", "saw", "barked") for b in map(str, range(10))]
    with ThreadPoolExecutor(16) as pool:
        waiting = list(pool.map(lambda text: service.submit([text]), words))
    gate.open.set()
    found = [future.result(SECONDS)[0].output for future in waiting]
    expected = tagger.predict([[[word] for word in text.split()] for text in words])
    assert found == [list(y) for y in expected]
    assert len({tuple(labels) for labels in found}) > 1
    assert first.result()[0].output
    assert gate.calls == [(1, 1), (2, 50)]
    stats = service.stats()
    assert (stats["requests"], stats["batches"], stats["largest_batch"]) == (51, 2, 50)
    assert stats["solved"] == 51
    assert (stats["reused"], stats["warm"], stats["cold"]) == (0, 0, 51)


def test_a_batch_has_a_limit_and_a_larger_request_is_not_cut(gated):
    service, gate, _ = gated(limits=Limits(batch=3))
    sizes = [2, 2, 4, 1]
    waiting = [service.submit([f"a {k}{i}" for i in range(size)]) for k, size in enumerate(sizes)]
    gate.open.set()
    assert [len(future.result(SECONDS)) for future in waiting] == sizes
    assert [count for _, count in gate.calls] == [1, 2, 2, 4, 1]


def test_a_bad_request_and_one_on_which_the_engine_fails_spoil_no_other(gated, tagger):
    service, gate, _ = gated()
    good = service.submit(["the dog", "a cat barked again"])
    bad = service.submit(["the dog", 7])
    fatal = service.submit(["one two three"])
    last = service.submit(["the cat"])
    gate.open.set()
    assert [a.output[0] for a in good.result(SECONDS)] == ["B-NP", "B-NP"]
    with pytest.raises(DataError, match=r"input 1: .* got 7"):
        bad.result(SECONDS)
    with pytest.raises(ServiceError, match="ZeroDivisionError"):
        fatal.result(SECONDS)
    assert last.result(SECONDS)[0].output == ["B-NP", "I-NP"]
    assert service.predict(["the dog"])[0].output == ["B-NP", "I-NP"]  # it goes on
    assert service.stats()["refused"] == {"not understood": 1, "failed": 1}
    assert service.is_open


@pytest.mark.parametrize("value", ["the dog", {"the": 1.0, "dog": 1.0}])
def test_a_single_input_is_no_request(tagger, value):
    with Service(tagger) as service, pytest.raises(DataError, match="put a single input into a li"):
        service.predict(value)


def test_too_much_is_refused_at_once_and_taken_again_later(gated):
    service, gate, first = gated(limits=Limits(waiting=3, inputs=3))
    second = service.submit(["a", "b"])
    with pytest.raises(Overloaded, match="3 inputs are waiting, and at most 3 may") as raised:
        service.submit(["c"])
    assert raised.value.seconds >= 1
    with pytest.raises(InputTooLarge, match="at most 3 inputs in a request, got 4"):
        service.submit(["a"] * 4)
    gate.open.set()
    assert len(second.result(SECONDS)) == 2
    assert len(first.result(SECONDS)) == 1
    assert service.predict(["c"])[0].status == "optimal"


def test_a_service_that_closes_answers_what_it_has_taken_and_takes_nothing_more(gated):
    service, gate, first = gated()
    taken = [service.submit([f"a {k}"]) for k in range(5)]
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(service.close)
        while service.is_open:
            pass
        with pytest.raises(Overloaded, match="is closing"):
            service.submit(["late"])
        assert not closing.done()
        gate.open.set()
        closing.result(SECONDS)
    assert all(future.done() for future in (first, *taken))
    assert all(len(future.result()) == 1 for future in taken)


def test_a_request_that_nobody_waits_for_is_passed_over(gated):
    service, gate, _ = gated()
    gone, there = service.submit(["gone away"]), service.submit(["still there"])
    assert gone.cancel()
    gate.open.set()
    assert len(there.result(SECONDS)) == 1
    assert gate.calls == [(1, 1), (2, 1)]
    assert service.stats()["waiting"] == 0


def test_there_is_room_again_as_soon_as_an_answer_is_there(tagger):
    with Service(tagger, limits=Limits(waiting=1)) as service:
        for k in range(200):
            assert len(service.predict([f"word {k}"])) == 1
        with pytest.raises(DataError):
            service.predict([7])
        assert len(service.predict(["word"])) == 1


def test_answers_say_where_they_come_from_and_counts_agree(extractor, sentences, as_json):
    engine = Amortized(Exact(), certificate="condition", admission="always")
    with Service(extractor.with_engine(engine)) as service:
        values = [as_json(x) for x in sentences]
        first = service.predict(values)
        calls = engine.counters.solver_calls
        again = service.predict(values)
        stats = service.stats()
    assert [a.output for a in again] == [a.output for a in first]
    assert {a.source for a in again} == {"cache"}
    assert 0 < stats["solved"] == engine.counters.solver_calls == calls
    assert stats["by_source"]["cache"] >= len(values)
    counters = engine.counters
    assert stats["reused"] == len(values) + counters.reused
    assert (stats["warm"], stats["cold"]) == (counters.warm, counters.cold)
    assert stats["reused"] + stats["warm"] + stats["cold"] == stats["asked"]
    assert (stats["asked"], stats["remembered"]) == (2 * len(values), len(values))
    assert stats["engine"] == "Amortized over Exact"
    assert stats["task"] == "EntityRelation"


def test_answers_under_other_rules_are_not_repeated_from_a_store(tagger):
    def no_noun_phrase(builder, tokens):
        for token in tokens:
            builder.require(token["O"])

    def none(builder, tokens):
        pass

    store, found = MemoryStore(), []
    for rules in (none, no_noun_phrase):
        ruled = replace(tagger, task=replace(tagger.task, rules=rules))
        with Service(ruled, store=store) as service:
            found += service.predict(["the dog"])
            assert service.predict(["the dog"])[0].source == "cache"  # in memory all the same
    assert [answer.output for answer in found] == [["B-NP", "I-NP"], ["O", "O"]]


def test_answers_of_an_adapter_of_ones_own_are_not_repeated_from_a_store(tagger):
    shouting = replace(adapter_of(tagger.task), to_json=lambda task, x, y: "!".join(y))
    store, found = MemoryStore(), []
    for adapter in (None, shouting, None):
        with Service(tagger, adapter=adapter, store=store) as service:
            found += service.predict(["the dog"])
    assert [answer.output for answer in found] == [["B-NP", "I-NP"], "B-NP!I-NP", ["B-NP", "I-NP"]]
    assert [answer.source == "cache" for answer in found] == [False, False, True]


def test_an_adapter_that_lacks_something_is_refused_when_the_service_is_made(tagger):
    half = Adapter("half", Tagging, from_json=lambda task, value: value)
    with pytest.raises(SettingError, match="the adapter of half has no to_json"):
        Service(tagger, adapter=half)
    with pytest.raises(SettingError, match=r"as in rote\.Adapter\(\.\.\.\)"):
        Service(tagger, adapter=Adapter)
    bare = replace(tagger, task=replace(tagger.task, features=lambda x: [["bias"] for _ in x]))
    with pytest.raises(ModelError, match=r"Service\(model, adapter=\.\.\.\)"):
        Service(bare)


def test_the_store_is_let_go_even_if_what_was_learned_cannot_be_saved(tagger, tmp_path):
    class Open(MemoryStore):
        closed = False

        def close(self):
            self.closed = True

    (tmp_path / "file").write_text("in the way")
    store = Open()
    service = Service(tagger.with_engine(LearnedBeam()), store=store, learned=tmp_path / "file")
    with pytest.raises(Exception, match="cannot be written"):
        service.close()
    assert store.closed


@pytest.mark.parametrize(
    "limit", [{"max_bytes": 0}, {"inputs": 1.5}, {"waiting": -1}, {"batch": True}]
)
def test_a_limit_is_a_whole_number_above_zero(limit):
    with pytest.raises(SettingError, match="whole number of at least 1"):
        Limits(**limit)


class Counting(Engine):
    """An engine that shares what it has met with all of its copies."""

    met: ClassVar[list[int]] = []

    def answer(self, problem, context):
        self.met.append(len(problem.space.variables))
        return Exact().answer(problem, context)


@pytest.mark.parametrize("layers", [1, 2])
def test_warming_up_answers_the_example_and_leaves_nothing_behind(tagger, layers):
    Counting.met.clear()
    store, engine = MemoryStore(), Counting()
    for _ in range(layers):
        engine = Amortized(engine, store, EqualScores(), admission="always")
    with Service(tagger.with_engine(engine), store=store) as service:
        before = service.stats()
        service.warm_up()
        assert Counting.met == [len(adapter_of(tagger.task).example(tagger.task).split())]
        assert service.stats() | {"seconds_up": before["seconds_up"]} == before
        assert store.info() == {}
        service.predict([adapter_of(tagger.task).example(tagger.task)])
        assert len(Counting.met) == 2
        assert store.info() != {}


def test_warming_up_teaches_nothing(tagger):
    engine = LearnedBeam(Exact(), share=1.0)
    with Service(tagger.with_engine(engine)) as service:
        service.warm_up()
        assert service.stats()["speedup"]["taught"] == 0
        service.predict(["the dog"])
        assert service.stats()["speedup"]["taught"] == 1


class Failing(Engine):
    def answer(self, problem, context):
        raise ZeroDivisionError


@pytest.mark.parametrize("engine", [Failing(), Gate()], ids=["fails", "cannot be copied"])
def test_what_cannot_warm_up_serves_all_the_same(tagger, engine):
    with Service(tagger.with_engine(engine), remember=False) as service:
        service.warm_up()
        assert service.is_open
        if isinstance(engine, Failing):
            with pytest.raises(ServiceError, match="ZeroDivisionError"):
                service.predict(["the dog"])
        else:
            assert engine.calls == []
