"""Brackets mark spans of words; those that do not match are said."""

import pytest

from rote.errors import DataError
from rote.tasks.bracketed import bracketed


def test_spans_are_in_reading_order_and_a_longer_one_comes_first():
    words, spans = bracketed("[[her] cat] and[Bo]", "mentions", nested=True)
    assert words == ["her", "cat", "and", "Bo"]
    assert spans == [(0, 2), (0, 1), (3, 4)]


@pytest.mark.parametrize(
    ("text", "nested", "said"),
    [
        ("[a [b]]", False, "brackets are around entities.* none of which is inside another"),
        ("a]", True, "brackets are around entities"),
        ("[a", True, "a bracket is open at the end"),
        ("a", False, "no entities are marked"),
    ],
)
def test_brackets_that_do_not_match_are_said(text, nested, said):
    with pytest.raises(DataError, match=said):
        bracketed(text, "entities", nested=nested)
