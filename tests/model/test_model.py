"""Models: prediction, against enumeration over dense feature vectors."""

import numpy as np
import pytest

from rote import EntityRelation, EntityRelationOutput, Multiclass, Templates, adapter_of, train
from rote.engines import Chain, Engine, Exact, Exhaustive, Solutions, Status
from rote.errors import (
    DataError,
    InfeasibleSpace,
    LabelError,
    NoSolution,
    ScoreError,
    SettingError,
)
from rote.inference.approximate import LearnedBeam
from rote.io.conll import Entity, Sentence
from rote.model import Model
from rote.tasks.tagging import Tagging
from tests.learning.small import as_given, chains, phi, start
from tests.small_tasks import LABELS, TAGGING, tagged
from tests.strategies import Judge

PAIR = Sentence(0, ("Ada", "Rome"), ("", ""), (Entity(0, 1, ""), Entity(1, 2, "")), ())


def random_model(seed=0, engine=None, **options):
    task, xs, ys = chains(seed, **options)
    model, _ = start(task, xs, ys, engine)
    rng = np.random.default_rng(seed)
    return model.with_weights(rng.normal(size=model.layout.size)), xs


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("engine", [Exact(), Exhaustive(), Chain()], ids=lambda e: type(e).__name__)
def test_predictions_are_the_best_outputs_in_the_order_of_the_inputs(order, engine):
    model, xs = random_model(order, engine, count=12, order=order)
    for x, found in zip(xs, model.predict(xs), strict=True):
        outputs = Judge(model.task.frame(x).space).outputs
        best = max(outputs, key=lambda y: model.weights @ phi(model.task, model.layout, x, y))
        assert found == model.task.decode(x, best)


def test_predictions_obey_rules_even_where_scores_do_not():
    task, xs, _ = chains(1, count=12, labels=("B-X", "I-X", "O"), bio=True)
    model, _ = start(task, xs, [("O",) * len(x) for x in xs])
    for seed in range(5):
        weights = np.random.default_rng(seed).normal(size=model.layout.size)
        for labels in model.with_weights(weights).predict(xs):
            for before, label in zip(("O", *labels), labels, strict=False):
                assert label != "I-X" or before != "O"


def test_solving_gives_every_group_its_proved_answers():
    model, xs = random_model(2, count=10)
    prepared = model.prepare(xs)
    found = model.answers(prepared)
    assert [group for group, _ in found] == list(prepared.groups)
    for group, solutions in found:
        assert solutions.optimal.all()
        for member, labels, value in zip(
            group.members, solutions.labels, solutions.value, strict=True
        ):
            dense = phi(model.task, model.layout, xs[member], labels.tolist())
            assert value == pytest.approx(model.weights @ dense)
    assert model.decode(xs, reversed(found)) == model.predict(xs)


def test_features_the_model_does_not_know_are_left_out():
    task = Tagging(("a", "b"), lambda x: [[word] for word in x], order=0)
    model, _ = start(task, [("dog",)], [("b",)])
    weights = model.layout.zeros()
    model.layout.block(weights, "label")[0] = [0.0, 1.0]
    model = model.with_weights(weights)
    assert model.predict([("dog", "cat"), ("cat",)]) == [("b", "a"), ("a",)]
    assert model.predict([]) == []


def test_a_model_shows_what_it_predicts_with_its_proof():
    model, xs = random_model(2, count=3)
    for x in xs:
        (y,) = model.predict([x])
        picture = model.show(x, gold=y)
        assert tuple(span.text for span in picture.drawing.spans) == y
        assert "optimal, by" in picture.facts[0]
        assert picture.facts[1] == "equal to gold"


def test_a_model_is_frozen_and_its_copies_differ_in_one_thing():
    model, _ = random_model()
    other = model.with_engine(Exhaustive())
    assert other.weights is model.weights or (other.weights == model.weights).all()
    assert (other.engine, other.layout) == (Exhaustive(), model.layout)
    assert not model.weights.flags.writeable
    with pytest.raises(AttributeError):
        model.weights = model.weights


def test_weights_of_another_shape_are_refused():
    model, _ = random_model()
    with pytest.raises(ScoreError, match=f"has {model.layout.size} weights"):
        Model(model.task, model.layout, np.zeros(model.layout.size + 1))


@pytest.mark.parametrize("status", [Status.TIMED_OUT, Status.INFEASIBLE])
def test_an_input_without_an_answer_is_named(status):
    class Tired(Engine):
        """Gives up on all but the first input."""

        def answer(self, problem, context):
            found = Exact().answer(problem, context)
            codes = found.status.copy()
            codes[1:] = status
            return Solutions(found.labels, found.value, found.bound, codes, found.source)

    task = Tagging(("a", "b"), as_given)
    xs = [np.ones((1, 2)), np.ones((2, 2)), np.ones((2, 2))]
    model, _ = start(task, xs, [("a",), ("a", "a"), ("a", "a")])
    with pytest.raises(NoSolution, match=r"^input 2: "):
        model.with_engine(Tired()).predict(xs)


def test_rules_that_cannot_be_obeyed_are_named_with_their_input():
    def rules(builder, tokens):
        builder.require(tokens[0]["a"], "it is a")
        if len(tokens) > 1:
            builder.require(tokens[0]["b"], "it is b")

    task = Tagging(("a", "b"), as_given, order=0, rules=rules)
    model, _ = start(task, [np.ones((1, 2))], [("a",)])
    with pytest.raises(InfeasibleSpace, match=r"(?s)^input 1: .*it is a.*it is b"):
        model.predict([np.ones((1, 2)), np.ones((2, 2)), np.ones((2, 2))])


@pytest.mark.parametrize(("n_jobs", "chunk"), [(1, 1), (2, 1), (2, 1 << 22), (5, 30)])
def test_answers_do_not_hang_on_how_many_are_asked_at_once_or_by_whom(n_jobs, chunk, monkeypatch):
    model, xs = random_model(count=12)
    prepared = model.prepare(xs)
    whole = model.answers(prepared)
    monkeypatch.setattr("rote.model.batch.CHUNK", chunk)
    pieces = [piece for group in prepared.groups for piece in group.chunks(n_jobs)]
    assert len(pieces) > len(prepared.groups)
    assert model.predict(xs, n_jobs) == model.predict(xs)
    for (_, one), (_, other) in zip(whole, model.answers(prepared, n_jobs), strict=True):
        for ours, theirs in zip(one.arrays, other.arrays, strict=True):
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_are_finite(bad):
    model, _ = random_model()
    weights = model.weights.copy()
    weights[3] = bad
    with pytest.raises(ScoreError, match=f"weights are finite; number 3 is {bad}"):
        model.with_weights(weights)


@pytest.mark.parametrize("engine", [Exact, "exact", None])
def test_a_model_wants_an_engine_and_not_its_class(engine):
    model, _ = random_model()
    with pytest.raises(SettingError, match=r"the engine of a model is one such as Exact\(\)"):
        model.with_engine(engine)


@pytest.mark.parametrize("engine", [Exact(), Exhaustive(), LearnedBeam(theta=1.0)])
def test_scores_that_overflow_are_told_with_their_input(engine):
    model, xs = random_model(1, engine, count=6)
    model = model.with_weights(np.full(model.layout.size, 1e200))
    for large in (1e200, -1e200, 1e105):
        xs[4] = np.full((3, 3), large)
        with pytest.raises(ScoreError, match=r"input 4: scores are finite .* scale the features"):
            model.predict(xs)


# -- outputs that are known in part -------------------------------------------------------


def random_tagger():
    xs, ys = tagged(20)
    model, _ = start(TAGGING, xs, ys)
    return model.with_weights(np.random.default_rng(0).normal(size=model.layout.size))


@pytest.mark.parametrize("unknown", [None, "?", -1, np.float64("nan")])
def test_given_labels_are_kept_and_the_rest_is_the_best_there_is(unknown):
    model, (xs, ys) = random_tagger(), tagged(8, seed=3)
    rng = np.random.default_rng(1)
    given = [[label if rng.random() < 0.4 else unknown for label in y] for y in ys]
    found = model.predict(xs, given=given)
    assert found != model.predict(xs)
    for x, partly, y in zip(xs, given, found, strict=True):
        (group,) = model.prepare([x]).groups
        space, scores = group.space, model.prepare([x]).scores(model.weights, group)[0]
        fits = [
            best
            for best in Judge(space).valued(scores)
            if all(
                p in (unknown, LABELS[a]) or p != p
                for p, a in zip(partly, best.labels, strict=True)
            )
        ]
        best = max(fits, key=lambda one: one.value)
        assert y == tuple(LABELS[a] for a in best.labels)
    assert model.predict(xs, given=[[unknown] * len(x) for x in xs]) == model.predict(xs)


def test_given_labels_against_the_rules_or_of_the_wrong_length_are_named():
    model, xs = random_tagger(), [(("red",),), (("red",), ("dog",))]
    with pytest.raises(NoSolution, match=r"input 1: infeasible: .* the given labels"):
        model.predict(xs, given=[["O"], ["O", "I-X"]])
    with pytest.raises(LabelError, match="input 1: an output has one label per token"):
        model.predict(xs, given=[["O"], ["O"]])
    with pytest.raises(LabelError, match="input 0: 'X' is not a label"):
        model.predict(xs, given=[["X"], [None, None]])


def test_learning_wants_all_labels_and_says_where_one_is_missing():
    xs, ys = [(("red",),), (("red",), ("dog",))], [["O"], ["O", "?"]]
    with pytest.raises(
        LabelError, match=r"example 1: the label of variable '1' is unknown.*given=ys"
    ):
        train(TAGGING, xs, ys)


def test_a_question_mark_that_is_a_label_is_known():
    task = Tagging(("?", "a"), Templates(("word",), ("word[0]",)))
    assert task.encode([("x",)] * 3, ["?", None, "a"]) == [0, -1, 1]


def test_unknown_labels_are_left_out_of_evaluation():
    adapter, labels = adapter_of(TAGGING), ["B-X", "I-X", "O"]
    numbers, _ = adapter.measure(TAGGING, [["B-X", None, "O"], ["?", "O"]], [labels, ["O", "B-X"]])
    assert numbers["token accuracy"] == 2 / 3
    assert numbers["exact match"] == 1 / 2
    assert numbers["chunk F1"] == 2 / 3  # B-X is found, and one too many
    fruit = Multiclass(("a", "b"))
    numbers, _ = adapter_of(fruit).measure(fruit, ["a", "?", "b"], ["a", "a", "a"])
    assert numbers["accuracy"] == 1 / 2
    task = EntityRelation()
    y = EntityRelationOutput(("Peop", "?"), {})
    assert task.encode(PAIR, y)[:2] == [0, -1]
    with pytest.raises(DataError, match="where all labels are known"):
        adapter_of(task).measure(task, [y], [y])
