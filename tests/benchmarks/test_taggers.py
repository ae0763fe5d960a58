"""Every tagger learns what can be learned from a few sequences, and says how long it took."""

import math
from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks.taggers import (
    Corpus,
    CRFsuite,
    Ours,
    TokenByToken,
    pixels,
    standard_error,
    tweets,
)
from papers.data.examples import Example
from rote import Perceptron, StructuredSVM

SENTENCES = ["the dog saw a cat", "a bird heard the dog", "the cat heard a bird", "a dog ran"]
TAGS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "bird": "N"}


def example(text):
    words = tuple(text.split())
    return Example(words, tuple(TAGS.get(word, "V") for word in words))


CORPUS = Corpus(
    "animals",
    ("D", "N", "V"),
    lambda words: [[f"word={word}", f"ends={word[-1]}"] for word in words],
    [example(text) for text in SENTENCES],
    [example("a cat saw the bird")],
)
TAGGERS = {
    "perceptron": lambda: Ours("perceptron", lambda seed: Perceptron(5, seed=seed)),
    "svm": lambda: Ours("svm", lambda seed: StructuredSVM(C=1.0, iterations=8, seed=seed)),
    "ap": lambda: CRFsuite("ap", "ap", max_iterations=5),
    "pa": lambda: CRFsuite("pa", "pa", max_iterations=20, epsilon=1e-6),
    "lbfgs": lambda: CRFsuite("lbfgs", "lbfgs"),
    "tokens": lambda: TokenByToken("tokens"),
}


@pytest.mark.parametrize("name", TAGGERS)
def test_what_was_seen_in_training_is_tagged_right(name):
    tagger = TAGGERS[name]()
    package = getattr(tagger, "package", "rote")
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    tagger.load(CORPUS)
    for seed in (0, 1):
        learned = tagger.learn(seed)
        assert learned.tagged == CORPUS.gold
        assert 0 <= learned.seconds < 60
        assert learned.iterations >= 1
    assert tagger.name == name


def test_ours_stops_when_it_is_enough():
    tagger = Ours("svm", lambda seed: StructuredSVM(iterations=9), lambda s: s.iteration == 4)
    tagger.load(CORPUS)
    assert tagger.learn(0).iterations == 4


def test_the_share_of_a_corpus_is_its_first_sequences_and_all_of_its_test():
    half = CORPUS.share(2)
    assert half.train == CORPUS.train[:2]
    assert half.test == CORPUS.test
    assert len(CORPUS.share(100).train) == 1
    assert half.about == (
        "animals: 2 training sequences with 10 tokens, 1 test sequences with 5 tokens, 3 labels"
    )


def test_the_features_of_a_letter_are_its_black_pixels():
    image = np.zeros((2, 128), dtype=np.uint8)
    image[0, [3, 100]] = 1
    assert pixels(image) == [["pixel 3", "pixel 100"], []]


def test_tweets_come_from_two_files(tmp_path):
    train, test = tmp_path / "train", tmp_path / "test"
    train.write_text("@ada\t@\nruns\tV\n\nlol\t!\n", encoding="utf-8")
    test.write_text("ha\t!\n", encoding="utf-8")
    corpus = tweets(train, test)
    assert [e.y for e in corpus.train] == [("@", "V"), ("!",)]
    assert corpus.gold == [("!",)]
    assert "is_mention(word[0])" in corpus.features(corpus.train[0].x)[0]


def test_the_standard_error_is_that_of_a_coin():
    assert standard_error(0.5, 100) == pytest.approx(0.05)
    assert standard_error(1.0, 7) == 0.0
    assert math.isclose(standard_error(0.9, 10_000), 0.003)
