"""Small models to serve, each trained once."""

import pytest

from rote import Perceptron, train
from rote.datasets import english_sentences
from rote.features import Templates
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput
from rote.tasks.tagging import Tagging


@pytest.fixture(scope="session")
def tagger():
    features = Templates(("word",), ("word[0]", "word[-1]", "suffix2(word[0])"))
    task = Tagging(("B-NP", "I-NP", "O"), features, bio=True)
    xs = [[["the"], ["old"], ["dog"], ["barked"]], [["a"], ["dog"], ["saw"], ["the"], ["cat"]]]
    ys = [["B-NP", "I-NP", "I-NP", "O"], ["B-NP", "I-NP", "O", "B-NP", "I-NP"]]
    return train(task, xs, ys, learner=Perceptron(iterations=5))


@pytest.fixture(scope="session")
def sentences():
    """Those that the extractor was not trained on."""
    return english_sentences(110, 0)[80:]


@pytest.fixture(scope="session")
def extractor():
    xs = english_sentences(110, 0)[:80]
    return train(
        EntityRelation(), xs, map(EntityRelationOutput.of, xs), learner=Perceptron(iterations=3)
    )


@pytest.fixture(scope="session")
def as_json():
    """A sentence as a request has it."""

    def said(sentence):
        return {
            "words": list(sentence.words),
            "pos": list(sentence.pos),
            "entities": [{"start": e.start, "stop": e.stop} for e in sentence.entities],
        }

    return said
