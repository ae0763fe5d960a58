"""Examples made ready, against the examples themselves."""

import numpy as np
import pandas as pd
import pytest

from rote.datasets import english_sentences
from rote.errors import DataError, LabelError, SettingError
from rote.features import HashedIndex, Templates
from rote.model import prepare
from rote.space import SpaceBuilder
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.entity_relation_features import SentenceReader
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot, Task
from tests.learning.small import as_given, chains, phi
from tests.strategies import Judge, known_value

WORDS = Templates(("word",), ("word[0]", "word[-1]"))


def sentence(text):
    return [[word] for word in text.split()]


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_score_of_every_output_is_its_feature_vector_times_the_weights(order):
    task, xs, ys = chains(order, count=6, order=order)
    prepared = prepare(task, xs, ys)
    weights = np.random.default_rng(0).normal(size=prepared.layout.size)
    seen = []
    for group in prepared.groups:
        scores = prepared.scores(weights, group)
        for row, member in zip(scores, group.members, strict=True):
            seen.append(int(member))
            for labels in Judge(group.space).outputs:
                expected = weights @ phi(task, prepared.layout, xs[member], labels)
                assert known_value(group.space, row, labels) == pytest.approx(expected)
    assert sorted(seen) == list(range(6))


def test_names_are_scored_as_arrays_are():
    task = Tagging(("a", "b"), WORDS)
    xs = [sentence("the dog runs"), sentence("the cat"), sentence("the dog runs")]
    prepared = prepare(task, xs)
    weights = np.random.default_rng(0).normal(size=prepared.layout.size)
    for group in prepared.groups:
        scores = prepared.scores(weights, group)
        for row, member in zip(scores, group.members, strict=True):
            for labels in Judge(group.space).outputs:
                expected = weights @ phi(task, prepared.layout, xs[member], labels)
                assert known_value(group.space, row, labels) == pytest.approx(expected)


def test_examples_of_one_shape_are_one_group_in_their_order():
    task, xs, ys = chains(0, count=20)
    prepared = prepare(task, xs, ys)
    assert len(prepared) == 20
    lengths = [len(group.space.variables) for group in prepared.groups]
    assert len(set(lengths)) == len(lengths)
    for group in prepared.groups:
        own = [k for k, x in enumerate(xs) if len(x) == len(group.space.variables)]
        assert group.members.tolist() == own
        assert group.gold.tolist() == [task.encode(xs[k], ys[k]) for k in own]
        assert len(group) == len(own)
    for number, (group, place) in enumerate(prepared.places):
        assert group.members[place] == number


class Forgetful(Task):
    """A task that builds its frames anew whenever it is asked."""

    def frame(self, x):
        builder = SpaceBuilder()
        for t in range(len(x)):
            builder.variable(str(t), "ab")
        slots = tuple(Slot("label", t) for t in range(len(x)))
        return Frame(builder.build(), slots, ("word",) * len(x))

    def vectors(self, x):
        return [[word] for word in x]

    def encode(self, x, y):
        return ["ab".index(label) for label in y]

    def decode(self, x, labels):
        return "".join("ab"[label] for label in labels)


def test_frames_that_are_built_anew_each_time_do_not_get_mixed_up():
    rng = np.random.default_rng(0)
    xs = ["w" * int(rng.integers(1, 4)) for _ in range(200)]
    prepared = prepare(Forgetful(), xs, ["a" * len(x) for x in xs])
    assert len(prepared.groups) == 3
    for group in prepared.groups:
        assert {len(xs[k]) for k in group.members} == {len(group.space.variables)}


def test_the_label_tuple_of_a_factor_is_counted_with_the_last_variable_fastest():
    task = Tagging(("a", "b", "c"), as_given)
    prepared = prepare(task, [np.ones((2, 1))] * 2, [("c", "b"), ("a", "c")])
    group = prepared.groups[0]
    assert group.gold_slots.tolist() == [[2, 1, 7], [0, 2, 2]]
    assert group.columns(np.array([[1, 1]])).tolist() == [[1, 1, 4]]


def test_rows_of_a_group_are_a_group():
    task, xs, ys = chains(0, count=12, longest=1)
    group = prepare(task, xs, ys, sample_weight=np.arange(12)).groups[0]
    some = group.rows(np.array([3, 1]))
    assert some.members.tolist() == [3, 1]
    assert some.sample_weight.tolist() == [3.0, 1.0]
    assert some.gold.tolist() == group.gold[[3, 1]].tolist()
    assert some.firsts.tolist() == group.firsts[[3, 1]].tolist()
    assert group.rows(slice(0, 2)).members.tolist() == [0, 1]
    assert prepare(task, xs).groups[0].rows(slice(0, 2)).gold is None


def test_a_layout_that_is_given_is_kept_and_learns_no_new_names():
    task = Tagging(("a", "b"), WORDS)
    first = prepare(task, [sentence("the dog")])
    again = prepare(task, [sentence("the zebra")], layout=first.layout)
    assert again.layout is first.layout
    assert first.layout.indices["token"].frozen
    fresh = np.ones(first.layout.size)
    known = prepare(task, [sentence("the dog")], layout=first.layout)
    one, other = (each.scores(fresh, each.groups[0])[0] for each in (known, again))
    assert one[0] == other[0]
    assert one[2] > other[2]  # "zebra" says nothing


def test_names_may_be_hashed():
    task = Tagging(("a", "b"), WORDS)
    prepared = prepare(task, [sentence("the dog")], hashed={"token": 5})
    assert prepared.layout.indices["token"] == HashedIndex(5)
    assert prepared.layout.size == 32 * 2 + 4


@pytest.mark.parametrize("hashed", [{"tokn": 5}, {"token": 5, "constant": 3}], ids=repr)
def test_a_kind_without_names_to_hash_is_refused(hashed):
    task = Tagging(("a", "b"), WORDS)
    with pytest.raises(SettingError, match=r"no names of that kind; they have names of 'token'$"):
        prepare(task, [sentence("the dog")], hashed=hashed)
    with pytest.raises(SettingError, match=r"of kind 'token' .* they have names of no kind$"):
        prepare(Tagging(("a", "b"), as_given), [np.ones((1, 2))], hashed={"token": 5})


def test_names_of_a_layout_that_is_given_are_not_hashed_anew():
    task = Tagging(("a", "b"), WORDS)
    layout = prepare(task, [sentence("the dog")]).layout
    with pytest.raises(SettingError, match=r"the layout given has columns already; leave one"):
        prepare(task, [sentence("the dog")], layout=layout, hashed={"token": 5})


def test_sample_weights_are_one_unless_given():
    task, xs, ys = chains(0, count=5)
    given = np.array([0.0, 1.0, 2.0, 0.5, 3.0])
    for sample_weight, expected in ((None, np.ones(5)), (given, given)):
        prepared = prepare(task, xs, ys, sample_weight=sample_weight)
        for group in prepared.groups:
            assert group.sample_weight.tolist() == expected[group.members].tolist()


@pytest.mark.parametrize(
    "sample_weight",
    [np.ones(4), np.ones((5, 1)), [1, 1, 1, 1, -1], [1, 1, 1, 1, np.nan]],
    ids=range(4),
)
def test_a_sample_weight_that_makes_no_sense_is_refused(sample_weight):
    task, xs, ys = chains(0, count=5)
    with pytest.raises(DataError, match="sample_weight"):
        prepare(task, xs, ys, sample_weight=sample_weight)


def test_as_many_outputs_as_inputs():
    task, xs, ys = chains(0, count=3)
    with pytest.raises(DataError, match="input 2 has no output"):
        prepare(task, xs, ys[:2])
    with pytest.raises(DataError, match="3 inputs and more outputs"):
        prepare(task, xs, [*ys, ys[0]])
    with pytest.raises(DataError, match="3 inputs and more outputs"):
        prepare(task, xs, [*ys, None])


@pytest.mark.parametrize("single", ["ab", b"ab", {"a": "b"}], ids=["text", "bytes", "mapping"])
def test_a_single_input_or_output_is_not_taken_for_many(single):
    with pytest.raises(DataError, match=r"a list of inputs, got .*; put a single one into a list"):
        prepare(Forgetful(), single)
    with pytest.raises(DataError, match="a list of outputs, got"):
        prepare(Forgetful(), ["a", "b"], single)


def test_inputs_and_outputs_may_be_generators():
    task, xs, ys = chains(0, count=3)
    assert len(prepare(task, iter(xs), iter(ys))) == 3


def test_an_output_that_breaks_a_rule_is_refused_unless_said_otherwise():
    def rules(builder, tokens):
        builder.require(~tokens[0]["b"], "never b first")

    task = Tagging(("a", "b"), as_given, rules=rules)
    xs, ys = [np.ones((1, 2))] * 2, [("a",), ("b",)]
    with pytest.raises(LabelError, match=r"^example 1: the output breaks the rule 'never b first'"):
        prepare(task, xs, ys)
    assert prepare(task, xs, ys, allow_infeasible_gold=True).groups[0].gold.tolist() == [[0], [1]]


def test_what_is_no_task_is_refused():
    with pytest.raises(SettingError, match=r"has the methods frame, .*'tagging' has no frame"):
        prepare("tagging", ["ww"], ["aa"])


@pytest.mark.parametrize("method", ["frame", "vectors", "encode"])
def test_an_error_of_a_task_keeps_its_kind_and_is_noted_with_its_example(method):
    class Odd(Forgetful):
        pass

    def fail(self, x, *y):
        if x == "w" * 3:
            raise ZeroDivisionError("mine")
        return getattr(Forgetful, method)(self, x, *y)

    setattr(Odd, method, fail)
    with pytest.raises(ZeroDivisionError, match="mine") as raised:
        prepare(Odd(), ["w", "ww", "www"], ["a", "aa", "aaa"])
    assert raised.value.__notes__ == ["in example 2"]


def test_a_table_of_all_inputs_is_not_taken_for_its_columns():
    rows = pd.DataFrame({"word": ["a", "b"], "sentence": [1, 2]})
    for xs in (rows, rows.groupby("sentence")):
        with pytest.raises(DataError, match=r"list of inputs, got a DataFrame.*for _, rows in"):
            prepare(Tagging(("a",), Templates(("word",), ("word[0]",))), xs)
    frames = [own for _, own in rows.groupby("sentence")]
    assert len(prepare(Tagging(("a",), Templates(("word",), ("word[0]",))), frames)) == 2


def test_of_several_outputs_the_wrong_one_is_named():
    class Found(Forgetful):
        def encode(self, x, y):
            return ["ab".find(label) for label in y]

    with pytest.raises(
        LabelError, match=r"^example 2: the label of variable '0' is unknown \(-1\)"
    ):
        prepare(Found(), ["w", "ww", "w"], ["a", "ab", "c"])


def test_labels_may_be_said_by_true_and_false():
    class Marked(Forgetful):
        def encode(self, x, y):
            return [label == "b" for label in y]

    (group,) = prepare(Marked(), ["ww"], ["ab"]).groups
    assert group.gold.tolist() == [[0, 1]]
    assert group.gold.dtype == np.int64


def test_a_feature_vector_that_is_refused_is_named_with_its_input():
    class Bare(Forgetful):
        def vectors(self, x):
            return [{word: float("nan") if x == "ww" else 1.0} for word in x]

    with pytest.raises(DataError, match=r"^input 1: feature values are finite numbers; 'w' is nan"):
        prepare(Bare(), ["w", "ww"])
    with pytest.raises(DataError, match=r"^input 1: token 0: expected a sequence of 1 values"):
        prepare(Tagging(("a", "b"), WORDS), [sentence("the dog"), ["the"]])


def test_of_inputs_that_are_read_together_the_wrong_one_is_named(monkeypatch):
    class Strict(EntityRelation):
        @property
        def feature_reader(self):
            return read

    def read(xs, names):
        if bad in xs:
            raise DataError("not this one")
        return SentenceReader(xs, names)

    sentences = english_sentences(40, seed=0)  # of which the first few are read by names
    bad = sentences[30]
    for together in (2, 3, 512):
        monkeypatch.setattr("rote.model.dataset.TOGETHER", together)
        with pytest.raises(DataError, match=r"^input 30: not this one"):
            prepare(Strict(), sentences)


@pytest.mark.parametrize(
    ("method", "given", "error", "said"),
    [
        ("vectors", [["a"]], DataError, "there are 1 feature vectors.*kinds of 2"),
        ("encode", [0], LabelError, "the output has 1 labels, and its space has 2 variables"),
        ("encode", [0, 2], LabelError, ".*beyond its variable's last label"),
        ("encode", ["a", "b"], LabelError, "labels are whole numbers, got <U1"),
        ("encode", [[0], [1]], LabelError, "labels have the shape"),
        ("frame", None, DataError, r"a task's frame\(x\).*got None"),
        ("vectors", None, DataError, r"a task's vectors\(x\).*got None"),
        ("encode", None, LabelError, r"a task's encode\(x, y\).*got None"),
    ],
)
def test_a_task_that_contradicts_itself_is_told_what_it_should_give(method, given, error, said):
    task = Forgetful()
    setattr(task, method, lambda *_: given)
    with pytest.raises(error, match=f"^example 0: {said}"):
        prepare(task, ["ww"], ["aa"])
