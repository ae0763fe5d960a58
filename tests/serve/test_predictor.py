"""A batch of inputs in JSON becomes answers with proofs, equal to what the model predicts."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rote import (
    Amortized,
    BranchAndBound,
    Engine,
    EntityRelation,
    Exact,
    FoundBy,
    LearnedBeam,
    Solutions,
    Status,
)
from rote.errors import DataError, ServiceError, StoreError
from rote.inference.stores import MemoryStore
from rote.inference.wrappers.amortized import EqualScores
from rote.serve.answer_cache import AnswerCache
from rote.serve.app import OneAnswer
from rote.serve.predictor import Answer, Predictor, digest_of
from rote.tasks.adapter import adapter_of
from rote.tasks.tagging import Tagging


def answering(model, remembered=None):
    return Predictor(model, adapter_of(model.task), remembered)


class CustomFeature(Tagging):
    """A task of one's own, whose code may be another tomorrow."""


class Broken(Engine):
    """Finds nothing, or fails."""

    def __init__(self, error=None):
        self.error = error

    def answer(self, problem, context):
        if self.error is not None:
            raise self.error
        m, n = len(problem), len(problem.space.variables)
        return Solutions(
            np.full((m, n), -1),
            np.full(m, -np.inf),
            np.full(m, np.inf),
            np.full(m, Status.TIMED_OUT.value),
            np.full(m, FoundBy.BRANCH.value),
        )


def test_outputs_are_those_that_the_model_predicts(extractor, sentences, as_json):
    found = answering(extractor).answers([as_json(x) for x in sentences])
    task, pairs = extractor.task, zip(sentences, extractor.predict(sentences), strict=True)
    expected = [adapter_of(task).to_json(task, x, y) for x, y in pairs]
    assert [answer.output for answer in found] == expected
    assert {answer.status for answer in found} == {"optimal"}
    assert all(answer.gap == 0 for answer in found)


def test_equal_inputs_are_solved_once(tagger):
    batch = answering(tagger)
    found = batch.answers(["the dog", "a cat", "the dog"])
    assert found[0] == found[2]
    assert batch.given == 2


def test_what_was_proved_is_remembered_and_nothing_is_solved_again(tagger):
    engine = Amortized(Exact(), certificate=EqualScores(), admission="always")
    batch = answering(tagger.with_engine(engine), AnswerCache("m"))
    first = batch.answers(["the dog", "a cat"])
    assert (engine.counters.queries, engine.counters.solver_calls) == (2, 2)
    again = batch.answers(["a cat", "the dog", "the dog"])
    assert [answer.source for answer in again] == ["cache"] * 3
    assert [answer.output for answer in again[:2]] == [answer.output for answer in first[::-1]]
    assert [answer.value for answer in again[:2]] == [answer.value for answer in first[::-1]]
    assert (engine.counters.queries, batch.given) == (2, 2)


def test_what_was_not_proved_is_not_remembered(tagger):
    remembered = AnswerCache("m")
    batch = answering(tagger.with_engine(BranchAndBound(node_limit=1)), remembered)
    found = batch.answers(["the old dog barked", "a cat"])
    optimal = sum(answer.status == "optimal" for answer in found)
    assert len(remembered) == optimal
    gone = answering(tagger.with_engine(Broken()), remembered)
    assert gone.answers(["never seen"])[0].status == "timed_out"
    assert len(remembered) == optimal


def test_a_record_has_all_that_is_known_and_null_for_numbers_that_json_does_not_have(tagger):
    none = answering(tagger.with_engine(Broken())).answers(["the dog"])[0]
    for answer, numbers in (
        (none, (None, None, 0.0)),
        (Answer("a", 1.0, 1.5, "feasible", "beam"), (1.0, 1.5, 0.5)),
        (Answer("a", 1.0, math.inf, "feasible", "beam"), (1.0, None, None)),
    ):
        found = OneAnswer.model_validate(answer).model_dump()
        assert (found["value"], found["bound"], found["gap"]) == numbers
        assert found["output"] == answer.output
        assert (found["status"], found["source"]) == (answer.status, answer.source)
    assert (none.output, none.status, none.source) == (None, "timed_out", "branch")


@pytest.mark.parametrize("value", [7, "\ud800"])
def test_a_bad_input_is_named_by_its_place(tagger, value):
    with pytest.raises(DataError, match="input 2: "):
        answering(tagger).answers(["the dog", "a cat", value])


def test_a_bad_input_that_only_the_features_notice_is_named_too():
    from rote import train
    from rote.tasks.multiclass import Multiclass

    model = train(Multiclass(("a", "b")), [np.ones(2), -np.ones(2)], ["a", "b"])
    batch = answering(model)
    assert batch.answers([[1, 1]])[0].output == "a"
    with pytest.raises(DataError, match=r"input 1: .*arrays of length 3"):
        batch.answers([[1, 1], [1, 1, 1]])


def test_a_task_that_fails_is_no_fault_of_the_input(tagger):
    class Failing(Tagging):
        def frame(self, x):
            raise ZeroDivisionError

    task = tagger.task
    broken = replace(tagger, task=Failing(task.labels, task.features, bio=True))
    with pytest.raises(ServiceError, match="the task failed with ZeroDivisionError"):
        answering(broken).answers(["the dog"])


@pytest.mark.parametrize("error", [ValueError("no"), DataError("not the input's fault")])
def test_an_engine_that_fails_is_no_fault_of_the_input(tagger, error):
    with pytest.raises(ServiceError, match=type(error).__name__):
        answering(tagger.with_engine(Broken(error))).answers(["the dog"])


def test_a_store_that_fails_costs_memory_and_no_answer(tagger):
    class Full(MemoryStore):
        def append(self, log, blobs):
            raise StoreError("full")

        def read(self, log, after=0):
            raise StoreError("gone")

    batch = answering(tagger, AnswerCache("m", Full()))
    assert batch.answers(["the dog"])[0].output == ["B-NP", "I-NP"]
    assert batch.answers(["the dog"])[0].source == "cache"


def test_the_digest_is_of_all_that_answers_hang_on(tagger, extractor):
    same = digest_of(tagger.with_weights(tagger.weights.copy()), "Exact")
    assert digest_of(tagger, "Exact") == same
    others = [
        digest_of(tagger, "Milp"),
        digest_of(tagger.with_weights(tagger.weights + 1), "Exact"),
        digest_of(replace(tagger, task=replace(tagger.task, bio=False)), "Exact"),
        digest_of(extractor, "Exact"),
    ]
    assert len({same, *others}) == 5
    assert None not in {same, *others}


def test_code_has_no_digest(tagger):
    ruled = replace(tagger.task, rules=lambda builder, tokens: None)
    assert digest_of(replace(tagger, task=ruled), "Exact") is None
    assert (
        digest_of(replace(tagger, task=CustomFeature(*vars(tagger.task).values())), "Exact") is None
    )


def test_an_input_that_cannot_be_read_while_it_is_searched_is_named(extractor, as_json, sentences):
    class Strict(EntityRelation):
        @property
        def feature_reader(self):
            class Reading(super().feature_reader):
                def __init__(self, xs, names):
                    super().__init__(xs, names)
                    self.own = xs

                def lines(self, inputs, vectors):
                    if any(self.own[i].words == sentences[2].words for i in inputs):
                        raise DataError("not this one")
                    return super().lines(inputs, vectors)

            return Reading

    lazy = replace(extractor, task=Strict(), engine=LearnedBeam(theta=0.1))
    batch = Predictor(lazy, adapter_of(extractor.task), None)
    with pytest.raises(DataError, match=r"^input 3: not this one"):
        batch.answers([as_json(x) for x in [sentences[0], *sentences[:3]]])
