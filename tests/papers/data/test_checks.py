"""Complaints name the file, the line, what was expected and what came."""

from pathlib import Path

import pytest

from papers.data.checks import check_counts, check_label, part_sizes
from papers.data.examples import Example
from rote import DataError

PATH = Path("a.tsv")


def test_an_unknown_label_is_named_beside_the_known_ones():
    check_label(PATH, 3, "B", ("B", "O"))
    with pytest.raises(DataError, match="line 3: expected one of B O, got 'I'"):
        check_label(PATH, 3, "I", ("B", "O"))


def test_only_the_wrong_counts_are_listed():
    expected = {"train words": 2, "test words": 3, "dev words": 4}
    check_counts("toy", PATH, expected, {**expected, "extra": 1})
    with pytest.raises(DataError) as caught:
        check_counts("toy", PATH, expected, {"train words": 2, "test words": 1})
    assert str(caught.value) == (
        "a.tsv: not the whole of toy, or another version of it: "
        "test words: 3 expected, 1 found; dev words: 4 expected, 0 found"
    )


def test_sizes_count_inputs_and_their_tokens():
    parts = {"train": [Example("abc", ()), Example("de", ())], "test": []}
    assert part_sizes(parts, "words", "letters") == {
        "train words": 2,
        "train letters": 5,
        "test words": 0,
        "test letters": 0,
    }
