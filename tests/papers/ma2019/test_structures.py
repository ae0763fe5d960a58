"""Coreference and images of Ma et al. as tasks: their parts, their measures, learning from them."""

import numpy as np
import pytest

from papers.data.examples import DataSet, Example
from papers.data.msrc21 import CLASSES, Image
from papers.ma2019 import structures as ma_structures
from papers.ma2019.structures import (
    STRUCTURES,
    Painted,
    Photographs,
    coreference_measures,
    image_measures,
    known_only,
)
from papers.ma2019.tasks import Examples
from rote import RGS, DataError, GraphLabelling, LabelError, StructuredSVM, prepare, train
from rote.tasks.coreference import Document, Mention, ParsedSentence
from rote.tasks.graphs import UNLABELLED, Graph

SIZES = {  # train, validation, test, whole
    "litbank-coref": (64, 16, 20, 80),
    "gum-coref": (60, 30, 30, 60),
    "msrc21": (268, 67, 256, 335),
}


def document(name):
    words = ("Ada", "saw", "her", "dog", "and", "it", "saw", "Ada")
    mentions = tuple(Mention(0, k, k + 1, "PER", form) for k, form in MENTIONS)
    return Document(name, "fiction", (ParsedSentence(words),), mentions)


MENTIONS = ((0, "PROP"), (2, "PRON"), (3, "NOM"), (5, "PRON"), (7, "PROP"))


def documents(count):
    return tuple(Example(document(str(k)), (0, 0, 1, 1, 0)) for k in range(count))


def photograph(seed):
    rng = np.random.default_rng(seed)
    unary = np.log(rng.dirichlet(np.ones(len(CLASSES)), 5))
    counts = np.zeros((5, len(CLASSES) + 1), dtype=np.int64)
    labels = rng.integers(0, 3, 5)
    labels[seed % 5] = UNLABELLED
    counts[np.arange(5), labels] = 7  # void is the last column
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    none = np.zeros((5, 1), dtype=np.uint8)
    attributes = np.ones((4, 2))
    image = Image(
        str(seed), (4, 4), unary, np.zeros((5, 17)), none, none, none, edges, attributes, counts
    )
    return Example(image, labels)


@pytest.fixture
def made_up(monkeypatch):
    corpora = {part: documents(4) for part in ("train", "dev", "test")}
    pictures = {
        "train": tuple(map(photograph, range(10))),
        "test": tuple(map(photograph, range(3))),
    }
    monkeypatch.setattr(
        ma_structures, "load_litbank_coref", lambda: DataSet("litbank", {"all": documents(30)})
    )
    monkeypatch.setattr(ma_structures, "load_gum_coref", lambda: DataSet("gum", corpora))
    monkeypatch.setattr(ma_structures, "load_msrc21", lambda: DataSet("msrc21", pictures))


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.usefixtures("made_up")
def test_a_case_can_be_learned_and_judged(name):
    case = STRUCTURES[name]()
    learner = StructuredSVM(0.1, iterations=2)
    model = train(case.task, *case.train(), learner=learner, engine=RGS(restarts=2))
    measures = case.measures(case.test().ys, model.predict(case.test().xs))
    assert case.name == name
    assert all(0 <= value <= 100 for value in measures.values())
    assert set(case.paper) in (set(measures), set())


@pytest.mark.usefixtures("made_up")
def test_no_document_of_litbank_is_in_two_parts():
    case = STRUCTURES["litbank-coref"]()
    parts = [{x.name for x in part.xs} for part in (case.train(), case.validation(), case.test())]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 30
    assert {x.name for x in case.whole().xs} == parts[0] | parts[1]


@pytest.mark.usefixtures("made_up")
def test_superpixels_without_a_class_are_judged_and_not_learned_from():
    case = STRUCTURES["msrc21"]()
    assert {len(x) for part in (case.train(), case.whole()) for x in part.xs} == {4}
    assert {len(x) for part in (case.validation(), case.test()) for x in part.xs} == {5}
    assert len(case.train().xs) + len(case.validation().xs) == len(case.whole().xs)


def test_known_superpixels_keep_their_own_pixels():
    graph = Graph(np.arange(6.0).reshape(3, 2), np.array([[0, 1], [1, 2]]))
    painted = Painted(np.array([1, UNLABELLED, 0]), np.array([[0, 5, 0], [0, 1, 4], [3, 0, 0]]))
    (x,), (y,) = known_only(Examples([graph], [painted]))
    assert x.nodes.tolist() == [[0, 1], [4, 5]]
    assert len(x.edges) == 0
    assert y.labels.tolist() == [1, 0]
    assert y.pixels.tolist() == [[0, 5, 0], [3, 0, 0]]


def test_what_nobody_labelled_cannot_be_learned_from():
    task = Photographs(GraphLabelling(("a", "b")))
    graph = Graph(np.zeros((2, 1)), np.array([[0, 1]]))
    painted = Painted(np.array([0, UNLABELLED]), np.zeros((2, 3), dtype=np.int64))
    with pytest.raises(LabelError, match="example 0: the label of variable '1' is unknown"):
        prepare(task, [graph], [painted])


def test_pixels_are_counted_over_all_images_and_void_ones_are_not():
    gold = [
        Painted(np.array([0]), np.array([[6, 2, 9]])),
        Painted(np.array([1]), np.array([[0, 2, 0]])),
    ]
    found = image_measures(gold, [np.array([0]), np.array([1])])
    # Of eight and two pixels, six and two are right; of the second class, two of four.
    assert found == {"global_accuracy": pytest.approx(80), "class_average": pytest.approx(75)}


def test_as_many_images_as_outputs_are_judged():
    with pytest.raises(DataError, match="0 images and 1 outputs"):
        image_measures([], [np.array([0])])


def test_a_mention_is_right_if_the_closest_before_it_is_right():
    gold, predicted = [({0, 1, 3}, {2})], [({0, 1}, {2, 3})]
    found = coreference_measures(gold, predicted)
    # Mentions 0 and 2 are new in both, though 3 is linked to 1 in gold and to 2 here.
    assert found["mention_accuracy"] == 75
    assert found["muc"] == pytest.approx(50)
    assert found["conll"] == pytest.approx((found["muc"] + found["b_cubed"] + found["ceaf_e"]) / 3)


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("name", STRUCTURES)
def test_real_parts_have_their_sizes(name):
    case = STRUCTURES[name]()
    parts = (case.train(), case.validation(), case.test(), case.whole())
    assert tuple(len(part.ys) for part in parts) == SIZES[name]
