"""The gold side and the predicted side, one by one, or a sentence that says why not."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import DataError
from rote.metrics.pairing import paired, paired_outputs, plain


def test_unequal_numbers_are_answered_with_both_of_them():
    with pytest.raises(DataError, match="as many predicted tags as gold ones, got 2 gold and 1"):
        paired("ab", "a", "tags")


def test_nothing_is_no_basis_for_a_metric():
    with pytest.raises(DataError, match="there are no documents to evaluate"):
        paired([], [], "documents")


def test_an_output_of_another_length_is_named_by_its_number():
    with pytest.raises(DataError, match=r"output 1: expected .* got 2 gold and 3 predicted"):
        paired_outputs(["a", "ab"], ["a", "abc"])


def test_arrays_become_the_values_of_python():
    assert plain(np.array([1, 2], dtype=np.int8)) == [1, 2]
    assert {type(label) for label in plain(np.array(["a", "b"]))} == {str}
    assert plain(("a", "b")) == ["a", "b"]


def test_arrays_and_lists_may_stand_side_by_side():
    assert paired_outputs([np.array([0, 1])], [[0, 2]]) == [([0, 1], [0, 2])]
