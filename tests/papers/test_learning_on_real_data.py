"""Tasks learned on small parts of real data: factors help, and no figure is that of chance."""

import numpy as np
import pytest

from papers.data.coreference import load_gum_coref, load_litbank_coref
from papers.data.msrc21 import CLASSES, image_graph, load_msrc21
from papers.data.multilabel import load_multilabel
from papers.data.ocr import load_ocr
from rote.engines import BranchAndBound
from rote.learners import IndependentPerceptron, Perceptron, StructuredSVM, fit
from rote.metrics import coreference_scores, multilabel_scores
from rote.model import Model, prepare
from rote.tasks import Coreference, Graph, GraphLabelling, Multiclass, MultiLabel, drop_unlabelled
from rote.tasks.coreference import clusters_of
from rote.tasks.graphs import UNLABELLED

pytestmark = pytest.mark.usefixtures("real_data")


def trained(task, xs, ys, learner, engine=None):
    prepared = prepare(task, xs, ys)
    model = Model(task, prepared.layout, prepared.layout.zeros())
    return fit(learner, model if engine is None else model.with_engine(engine), prepared)


@pytest.mark.parametrize("name", ["litbank", "gum"])
def test_documents_are_read_better_than_with_one_cluster_or_none(name):
    if name == "litbank":
        documents = load_litbank_coref()["all"]
        train, test = documents[:6], documents[50:54]
    else:
        data = load_gum_coref()
        train, test = data["train"][::30], data["dev"][::8]
    xs, ys = [x for x, _ in train], [clusters_of(y) for _, y in train]
    model = trained(Coreference(max_antecedents=40), xs, ys, Perceptron(5))
    gold = [clusters_of(y) for _, y in test]
    sizes = [len(x.mentions) for x, _ in test]
    ours = coreference_scores(gold, model.predict([x for x, _ in test])).conll
    alone = coreference_scores(gold, [clusters_of(range(n)) for n in sizes]).conll
    together = coreference_scores(gold, [clusters_of([0] * n) for n in sizes]).conll
    assert ours > 0.55
    assert ours > max(alone, together) + 0.1


def test_superpixels_gain_from_their_neighbours():
    data = load_msrc21()
    names = ("grass", "sky", "other")

    def example(image, labels, joined):
        y = np.full(len(labels), names.index("other"))
        for name in ("grass", "sky"):
            y[labels == CLASSES.index(name)] = names.index(name)
        y[labels == UNLABELLED] = UNLABELLED
        described = image_graph(image)
        if joined:
            return Graph(image.colors / 255, described.edges, described.edge_features), y
        return Graph(image.colors / 255, []), y

    # Some graphs are hard while weights are still bad; a limit on nodes gives the same every time.
    engine = BranchAndBound(node_limit=200)
    found = {}
    for joined in (False, True):
        train = [example(x, y, joined) for x, y in data["train"][::8]]
        test = [example(x, y, joined) for x, y in data["test"][::8]]
        xs, ys = zip(*(drop_unlabelled(x, y) for x, y in train), strict=True)
        learner = StructuredSVM(C=0.01, iterations=15)
        model = trained(GraphLabelling(names), xs, ys, learner, engine)
        predicted = np.concatenate(model.predict([x for x, _ in test]))
        gold = np.concatenate([y for _, y in test])
        found[joined] = np.mean((predicted == gold)[gold != UNLABELLED])
    assert found[True] > 0.8  # "other" everywhere has 0.62
    assert found[True] > found[False]


def test_handwritten_letters_are_told_apart_by_their_pixels():
    words = [word for part in load_ocr().parts.values() for word in part][:450]
    letters = [
        (np.asarray(x, dtype=np.float64), y)
        for word in words
        for x, y in zip(word.x, word.y, strict=True)
    ]
    task = Multiclass(tuple(sorted({y for _, y in letters})))
    xs, ys = zip(*letters[:2000], strict=True)
    model = trained(task, xs, ys, Perceptron(5))
    unseen = letters[2000:3000]
    found = model.predict([x for x, _ in unseen])
    right = np.mean([a == y for a, (_, y) in zip(found, unseen, strict=True)])
    assert right > 0.6  # the most frequent letter alone has 0.1


def scores_of(task, test, predicted):
    return multilabel_scores(test, np.array([task.encode([], y) for y in predicted]))


def test_scenes_gain_from_pairs_of_labels():
    data = load_multilabel("scene")
    train, test = data["train"], data["test"]
    found = {}
    for pairs in ("none", "complete"):
        task = MultiLabel(data.label_names, pairs)
        model = trained(task, list(train.X), list(train.Y), Perceptron(5))
        found[pairs] = scores_of(task, test.Y, model.predict(list(test.X)))
    assert found["complete"].example_f1 > 0.6  # no label at all has 0, all of them 0.3
    assert found["complete"].exact_match > found["none"].exact_match


def test_articles_with_159_labels():
    data = load_multilabel("bibtex")
    train, test = data["train"], data["test"]
    task = MultiLabel(data.label_names, "none")
    rows = [train.X[[i]] for i in range(1500)]
    model = trained(task, rows, list(train.Y[:1500]), IndependentPerceptron(5))
    predicted = model.predict([test.X[[i]] for i in range(500)])
    assert scores_of(task, test.Y[:500], predicted).example_f1 > 0.25
