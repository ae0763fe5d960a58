"""Sequences as tensors."""

import numpy as np
import pytest
import torch

from rote.errors import DataError
from rote.torch.inputs import Dense, Vocabulary, is_dense

XS = [[("the", "D"), ("Dog", "N")], [], [("dog", "N")]]


def test_vectors_become_one_tensor():
    xs = [np.arange(6).reshape(2, 3), np.ones((2, 3))]
    (found,) = Dense.of(xs).tensors(xs)
    assert found.dtype == torch.float32
    assert found.tolist() == [[[0, 1, 2], [3, 4, 5]], [[1, 1, 1], [1, 1, 1]]]


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.zeros((2, 4)), "shape \\(2, 3\\) here; got \\(2, 4\\)"),
        (np.zeros(2), "got \\(2,\\)"),
        (np.full((1, 3), np.inf), "finite"),
    ],
    ids=["wider", "flat", "infinite"],
)
def test_vectors_of_another_kind_are_refused(x, words):
    with pytest.raises(DataError, match=words):
        Dense(3).tensors([x])


def test_words_are_numbered_from_1_and_0_is_an_unknown_one():
    vocabulary = Vocabulary.of(XS, characters=False, lower=False)
    assert vocabulary.columns == (("Dog", "dog", "the"), ("D", "N"))
    assert vocabulary.counts == ((1, 1, 1), (1, 2))
    (words,) = vocabulary.tensors([[("dog", "N"), ("cat", "D")]])
    assert words.tolist() == [[[2, 2], [0, 1]]]


def test_case_is_kept_by_characters_alone():
    vocabulary = Vocabulary.of(XS, characters=True, lower=True)
    assert vocabulary.columns[0] == ("dog", "the")
    assert vocabulary.counts[0] == (2, 1)
    assert vocabulary.characters == "Ddeghot"
    words, letters = vocabulary.tensors([[("DOG", "N"), ("do!t", "N")]])
    assert words[0, :, 0].tolist() == [1, 0]
    assert letters.tolist() == [[[2, 3, 1, 1, 2, 0], [2, 4, 8, 1, 9, 2]]]


def test_a_token_may_be_a_plain_word():
    vocabulary = Vocabulary.of([["b", "a"]], characters=False, lower=False)
    assert vocabulary.tensors([["a"], ["b"]])[0].tolist() == [[[1]], [[2]]]


@pytest.mark.parametrize("token", [("dog",), ("dog", "N", "x"), ("dog", 3)], ids=str)
def test_a_token_with_other_columns_is_refused(token):
    vocabulary = Vocabulary.of(XS, characters=False, lower=False)
    with pytest.raises(DataError, match="2 texts"):
        vocabulary.tensors([[token]])


def test_vectors_are_told_from_words():
    assert is_dense([[], np.zeros((2, 3))])
    assert is_dense([[[0.5, 1.0]]])
    assert not is_dense([["a", "b"]])
    assert not is_dense(XS)


def test_dicts_are_not_taken_for_their_keys():
    token = {"word": "dog", "pos": "N"}
    assert not is_dense([[token]])
    with pytest.raises(DataError, match="texts in a fixed order, got a dict"):
        Vocabulary.of([[token]], characters=False, lower=False)
