"""Column files: tables, blocks, and examples out of them."""

import gzip

import pytest

from papers.data.columns import Row, read_blocks, read_table, read_tagged, spelled
from rote.errors import DataError
from tests.io.damage import refused


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


def test_every_line_of_a_table_is_a_row(write):
    assert list(read_table(write("a\t1\nb c\t2\n"), 2)) == [
        Row(1, ("a", "1")),
        Row(2, ("b c", "2")),
    ]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a\t1\nb\n", 2, "expected 2 columns, got 1 in 'b'"),
        ("a\t1\t2\n", 1, "expected 2 columns, got 3 in"),
        ("a\t1\n\nb\t2\n", 2, "expected 2 columns, got a blank line"),
        ("a\t1\n\t2\n", 2, "column 1 is empty"),
        ("", 1, "expected 2 columns, got a blank line"),
    ],
)
def test_a_damaged_table_is_answered_with_its_line_and_a_reason(write, text, line, reason):
    path = write(text)
    with refused(path, line, reason):
        list(read_table(path, 2))


def test_blocks_know_their_lines_and_comments(write):
    text = "# one\n# two\na\t1\n\n\n# three\nb\t2\n#c\t3\n"
    first, second = read_blocks(write(text), 2, comment="# ")
    assert first == (1, ("# one", "# two"), (Row(3, ("a", "1")),))
    assert second == (6, ("# three",), (Row(7, ("b", "2")), Row(8, ("#c", "3"))))


def test_rows_of_any_width_are_read_where_the_caller_checks_them(write):
    (block,) = read_blocks(write("a\nb\t\t2\n"), None)
    assert [row.cells for row in block.rows] == [("a",), ("b", "", "2")]


def test_only_a_line_feed_ends_a_line(write):
    # Other marks that Unicode counts as line ends occur inside tokens.
    (block,) = read_blocks(write("a\u2028b\x0b\tN\r\n"), 2)
    assert block.rows == (Row(1, ("a\u2028b\x0b", "N")),)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a\t1\n# late\n", 2, "expected a row or a blank line, got the comment '# late'"),
        ("a\t1\n\n# one\n# two\n\nb\t2\n", 3, "no rows follow '# two'"),
        ("a\t1\n\n# one\n", 3, "no rows follow '# one'; the file may be cut off"),
        ("a\t1\n\nb\n", 3, "expected 2 columns, got 1 in 'b'"),
    ],
)
def test_damaged_blocks_are_answered_with_their_line_and_a_reason(write, text, line, reason):
    path = write(text)
    with refused(path, line, reason):
        list(read_blocks(path, 2, comment="# "))


def test_a_missing_or_cut_off_file_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_tagged(tmp_path / "none.tsv", 2, "BIO")
    cut = tmp_path / "cut.tsv.gz"
    cut.write_bytes(gzip.compress(b"a\tB\n" * 50)[:-12])
    with pytest.raises(DataError, match="not a whole gzip file"):
        read_tagged(cut, 2, "BIO")
