"""The data sets of Ma et al. as tasks: their parts, their measures, and learning from them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from papers.data.examples import DataSet, Example
from papers.data.multilabel import Labelled, LabelSets
from papers.data.ocr import Ocr
from papers.ma2019 import tasks as ma_tasks
from papers.ma2019.features import Dictionaries
from papers.ma2019.tasks import (
    CASES,
    Case,
    Examples,
    by_protein,
    case_of,
    held_out,
    protein_folds,
)
from rote import MultiLabel, SettingError, StructuredSVM, Tagging, train

NONE = Examples([], [])
WORDS = ("oak", "ash", "elm", "fir", "yew", "bay", "fig", "tea", "rye", "oat")
SIZES = {  # train, validation, test, whole
    "hw-small": (501, 125, 6251, 626),
    "hw-large": (4962, 1240, 675, 6202),
    "phoneme": (800, 200, 1000, 1000),
    "stress": (800, 200, 1000, 1000),
    "twitter-pos": (1000, 327, 547, 1000),
    "protein": (90, 21, 17, 111),
    "yeast": (1200, 300, 917, 1500),
    "bibtex": (3904, 976, 2515, 4880),
    "delicious": (10336, 2584, 3185, 12920),
}


def case(task):
    return Case("made up", task, StructuredSVM(), {}, NONE, NONE, NONE, NONE)


def spelled(words, labels):
    return tuple(Example(tuple((a,) for a in word), tuple(labels[: len(word)])) for word in words)


def handwriting():
    rng = np.random.default_rng(1)
    images = [rng.integers(0, 2, (len(word), 128)).astype(np.uint8) for word in WORDS]
    examples = tuple(Example(x, tuple(word)) for x, word in zip(images, WORDS, strict=True))
    return Ocr("ocr", {"all": examples}, (0,) * 5 + (9,) * 5)


def label_sets(*, sparse):
    rng = np.random.default_rng(2)
    parts = {}
    for part, rows in (("train", 10), ("test", 4)):
        X = rng.integers(0, 2, (rows, 6)).astype(np.float64)
        X[0], X[1:, 0] = 0, 1
        Y = rng.integers(0, 2, (rows, 3)).astype(np.uint8)
        parts[part] = Labelled(csr_array(X) if sparse else X, Y)
    return LabelSets("made up", ("a", "b", "c"), parts)


@pytest.fixture
def made_up(monkeypatch):
    """Ten examples in place of every data set."""

    def spoken(output):
        labels = ("o", "-", "k") if output == "phoneme" else "1<>"
        return DataSet(
            output, {"train": spelled(WORDS, labels), "test": spelled(WORDS[:4], labels)}
        )

    chains = {"train": spelled(["GVGTV"] * 10, "__ehh"), "test": spelled(["GVG"], "__e")}
    tweets = {part: spelled(WORDS, "NVA") for part in ("train", "dev", "daily547")}
    monkeypatch.setattr(ma_tasks, "load_nettalk", spoken)
    monkeypatch.setattr(ma_tasks, "load_protein", lambda: DataSet("protein", chains))
    numbers = {"train": (0, 1, 2, 2, 3, 4, 5, 6, 7, 8), "test": (9,)}
    monkeypatch.setattr(ma_tasks, "protein_numbers", lambda: numbers)
    monkeypatch.setattr(ma_tasks, "load_twitter_pos", lambda: DataSet("tweets", tweets))
    monkeypatch.setattr(ma_tasks, "dictionaries", lambda: Dictionaries({"a": "DT"}, {}))
    monkeypatch.setattr(ma_tasks, "load_ocr", handwriting)
    monkeypatch.setattr(
        ma_tasks, "load_multilabel", lambda name: label_sets(sparse=name != "yeast")
    )


def test_a_fifth_is_held_out_and_nothing_is_in_both():
    train_places, validation = held_out(50)
    assert len(validation) == 10
    assert sorted(train_places + validation) == list(range(50))
    assert train_places == sorted(train_places)


def test_all_chains_of_a_protein_are_on_one_side():
    numbers = [k // 3 for k in range(30)]
    learned, validation = by_protein(numbers)
    assert sorted(learned + validation) == list(range(30))
    assert len(validation) == 6
    assert not {numbers[k] for k in learned} & {numbers[k] for k in validation}


def test_proteins_have_five_folds_and_the_first_is_for_validation():
    numbers = [k // 3 for k in range(33)]
    folds = protein_folds(numbers)
    assert [folds.count(fold) for fold in range(5)] == [6, 6, 6, 6, 9]
    assert [k for k, fold in enumerate(folds) if fold == 0] == by_protein(numbers)[1]


def test_accuracy_is_over_all_tokens_together():
    tagged = case(Tagging(("a", "b"), lambda x: x))
    gold, predicted = [("a", "a", "b"), ("b",)], [("a", "b", "b"), ("b",)]
    assert tagged.measures(gold, predicted) == {"accuracy": 75.0}


def test_measures_of_label_sets_take_arrays_and_names():
    sets = case(MultiLabel(("a", "b", "c", "d")))
    gold = [np.array([1, 1, 0, 0]), np.array([0, 0, 0, 1])]
    found = sets.measures(gold, [("a", "c"), ("d",)])
    # Of the first, two of four labels are right, one is shared of two and two, and of three.
    assert found["hamming_accuracy"] == pytest.approx(100 * (0.5 + 1) / 2)
    assert found["example_f1"] == pytest.approx(100 * (0.5 + 1) / 2)
    assert found["example_accuracy"] == pytest.approx(100 * (1 / 3 + 1) / 2)


def test_a_case_that_is_not_there_is_refused_by_name():
    with pytest.raises(SettingError, match="'hw-medium'"):
        case_of("hw-medium")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("made_up")
def test_a_case_can_be_learned_and_judged(name):
    found = case_of(name)
    xs, ys = found.train()
    learner = StructuredSVM(0.1, iterations=2)
    model = train(found.task, xs, ys, learner=learner)
    measures = found.measures(found.test().ys, model.predict(found.test().xs))
    assert found.name == name
    assert all(0 <= value <= 100 for value in measures.values())
    assert set(found.paper) in (set(measures), set())


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("twitter-pos", "protein")])
@pytest.mark.usefixtures("made_up")
def test_validation_examples_are_a_fifth_of_the_whole_and_no_others(name):
    found = case_of(name)
    parts = [*found.train().xs, *found.validation().xs]
    whole = found.whole().xs
    assert len(found.validation().xs) == round(len(whole) / 5)
    assert sorted(map(id, parts)) == sorted(map(id, whole))


@pytest.mark.usefixtures("made_up")
def test_chains_of_the_made_up_protein_stay_together():
    protein = case_of("protein")
    assert len(protein.train().xs) + len(protein.validation().xs) == len(protein.whole().xs)
    sides = [{id(x) for x in part.xs} for part in (protein.train(), protein.validation())]
    third, fourth = (id(protein.whole().xs[k]) for k in (2, 3))
    assert [third in side for side in sides] == [fourth in side for side in sides]


@pytest.mark.usefixtures("made_up")
def test_the_fold_that_handwriting_was_tried_on_is_never_tested_on():
    small, large = case_of("hw-small"), case_of("hw-large")
    assert {"".join(y) for y in small.whole().ys} == set(WORDS[:5])
    assert {"".join(y) for y in small.test().ys} == set(WORDS[5:])
    assert {"".join(y) for y in large.whole().ys} == set(WORDS[:5])
    assert {"".join(y) for y in large.test().ys} == set(WORDS[5:])


@pytest.mark.usefixtures("made_up")
def test_tweets_have_a_part_of_their_own_for_validation():
    tweets = case_of("twitter-pos")
    assert tweets.whole() is tweets.train()
    assert tweets.validation().xs[0][0] == ("o", "o", "?", "?")
    assert tweets.validation().xs[0][1] == ("a", "a", "DT", "?")


@pytest.mark.usefixtures("made_up")
def test_vectors_of_bibtex_are_as_long_as_was_chosen_and_those_of_yeast_are_as_they_are():
    plain = label_sets(sparse=False)["train"].X
    lengths = [np.sqrt((x.toarray() ** 2).sum()) for x in case_of("bibtex").whole().xs]
    assert lengths == pytest.approx([0.0] + [5.0] * 9)
    np.testing.assert_array_equal(np.array(case_of("yeast").whole().xs), plain)


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("name", CASES)
def test_real_parts_are_as_large_as_in_the_paper(name):
    found = case_of(name)
    parts = (found.train(), found.validation(), found.test(), found.whole())
    assert tuple(len(part.ys) for part in parts) == SIZES[name]
