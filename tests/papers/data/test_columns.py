"""Column files: tables, blocks, and examples out of them."""

from __future__ import annotations

import pytest

from papers.data.columns import read_tagged, spelled
from rote import DataError
from rote.io.columns import Row


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="rows.tsv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write_text


def test_the_last_column_is_the_output(write):
    first, second = read_tagged(write("a x B\nb y I\n\nc z O\n"), 3, "BIO", separator=" ")
    assert first == ((("a", "x"), ("b", "y")), ("B", "I"))
    assert second == ((("c", "z"),), ("O",))


def test_an_unknown_label_is_answered_with_its_line(write):
    with pytest.raises(DataError, match="line 3: expected one of B I O, got 'Q'"):
        read_tagged(write("a\tB\n\nc\tQ\n"), 2, "BIO")


def test_words_of_one_length_are_spelled_out(tmp_path):
    row = Row(4, ("abc", "010", "xyz"))
    assert spelled(tmp_path, row, ("abc", "01", "xyz"), 1) == (
        (("a",), ("b",), ("c",)),
        ("0", "1", "0"),
    )
    assert spelled(tmp_path, row, ("abc", "01", "xyz"), 2).y == ("x", "y", "z")
    with pytest.raises(DataError, match="line 4: expected 3 signs as in 'abc', got '01'"):
        spelled(tmp_path, Row(4, ("abc", "01")), ("abc", "01"), 1)
    with pytest.raises(DataError, match="line 4: expected one of 0 1, got '2'"):
        spelled(tmp_path, Row(4, ("abc", "012")), ("abc", "01"), 1)
