"""The cases of amortized greedy search: what is made up, and what is watched."""

import numpy as np
import pytest

from papers.ma2019.hard import (
    DOCUMENTS,
    HANDWRITING,
    IMAGES,
    NAMES,
    SOURCE,
    YEAST,
    Share,
    Watched,
    ready,
    start_learning,
)
from rote import RGS, LearnedRestarts, fit

FEW = Share(20, 10, iterations=4, restarts=3)


@pytest.mark.parametrize("name", NAMES)
def test_made_up_inputs_are_as_many_as_asked_for_and_hang_on_the_seed(name):
    case, other = ready(name, FEW, 0), ready(name, FEW, 1)
    assert (case.name, case.source) == (name, SOURCE)
    assert (len(case.learned.xs), len(case.judged.xs)) == (20, 10)
    assert case.learner.iterations == 4

    def told(one):
        return [one.task.encode(x, y) for x, y in zip(*one.learned, strict=True)]

    assert told(case) == told(ready(name, FEW, 0))
    assert told(case) != told(other)


@pytest.mark.parametrize("name", NAMES)
def test_gold_outputs_are_judged_as_wholly_right(name):
    case = ready(name, FEW)
    labels = [case.task.encode(x, y) for x, y in zip(*case.judged, strict=True)]
    gold = [case.task.decode(x, own) for x, own in zip(case.judged.xs, labels, strict=True)]
    assert case.judge(gold) == pytest.approx(100)


@pytest.mark.parametrize(
    ("name", "least"), [(YEAST, 50), (HANDWRITING, 70), (IMAGES, 70), (DOCUMENTS, 70)]
)
def test_something_is_learned_from_made_up_inputs(name, least):
    case = ready(name, Share(80, 40, iterations=5))
    model, prepared, classifier = start_learning(case)
    model = fit(case.learner, model.with_engine(RGS(0.5, 5, classifier)), prepared)
    assert case.judge(model.predict(case.judged.xs)) > least


def test_a_watched_search_tells_what_it_found():
    case = ready(HANDWRITING, FEW)
    model, prepared, _ = start_learning(case)
    model = fit(case.learner, model.with_engine(RGS(restarts=3)), prepared)
    drawn, led = Watched(RGS(restarts=3)), Watched(LearnedRestarts(RGS(restarts=3)))
    for watched in (drawn, led):
        answers = model.with_engine(watched).answers(prepared)
        values = np.concatenate([solutions.value for _, solutions in answers])
        assert watched.values.tolist() == values.tolist()
        assert watched.needed.min() >= 1
        assert watched.needed.max() <= 3
        assert watched.seconds > 0
    assert drawn.climbs == 3
    assert 1 <= led.climbs <= 3


@pytest.mark.usefixtures("real_data")
def test_real_cases_are_those_of_the_paper():
    case = ready(HANDWRITING, FEW)
    assert case.source == HANDWRITING
    assert case.task.max_ngram == 4
    documents = ready(DOCUMENTS, Share(3, 2, iterations=1))
    lengths = [len(x.mentions) for x in documents.learned.xs]
    assert lengths == sorted(lengths)
    images = ready(IMAGES, Share(5, 5, iterations=1))
    assert max(x.nodes.max() for x in images.learned.xs) <= 1
    assert (images.metric, documents.metric) == ("global_accuracy", "conll")
