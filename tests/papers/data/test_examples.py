"""Data sets are examples in parts that have a name."""

import pytest

from papers.data.examples import DataSet, Example
from rote import DataError

DATA = DataSet("toy", {"train": (Example("ab", 1), Example("c", 0)), "test": ()})


def test_an_example_is_an_input_and_its_output():
    x, y = DATA["train"][0]
    assert (x, y) == ("ab", 1) == (DATA["train"][0].x, DATA["train"][0].y)


def test_a_part_is_asked_for_by_name():
    assert [example.x for example in DATA["train"]] == ["ab", "c"]
    assert DATA["test"] == ()


def test_a_part_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(DataError, match="toy has the parts train, test; got 'dev'"):
        DATA["dev"]


def test_a_data_set_prints_as_its_name_and_sizes():
    assert repr(DATA) == "<DataSet toy (train: 2, test: 0)>"
