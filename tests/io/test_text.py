"""Words know their line, and compressed files are read as plain ones."""

import gzip
import lzma
from pathlib import Path

import pytest

from rote.errors import DataError
from rote.io.text import Words, json_text, line_error, numbered_lines, plain_suffix, read_text

TEXT = "one 2\n\n  3.5   x\n"


def words(text: str = TEXT) -> Words:
    return Words(Path("some.txt"), text)


@pytest.mark.parametrize(
    ("name", "pack"),
    [("a.txt", bytes), ("a.txt.gz", gzip.compress), ("a.txt.xz", lzma.compress)],
)
def test_plain_and_compressed_files_have_the_same_text(tmp_path, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(TEXT.encode()))
    assert read_text(path) == TEXT


def test_the_suffix_below_a_compression_counts():
    assert plain_suffix(Path("dir.cfn/a.WCSP.gz")) == ".wcsp"
    assert plain_suffix(Path("a.cfn.xz")) == ".cfn"
    assert plain_suffix(Path("a.uai")) == ".uai"
    assert plain_suffix(Path("a")) == ""


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.gz", b"not gzip", "not a whole gzip file"),
        ("a.gz", gzip.compress(TEXT.encode() * 99)[:-12], "not a whole gzip file"),
        ("a.gz", gzip.compress(TEXT.encode())[:12] + b"\xff" * 20, "not a whole gzip file"),
        ("a.xz", lzma.compress(TEXT.encode())[:-5], "not a whole xz file"),
        ("a.txt", b"fine\nf\xffne", "line 2: is not UTF-8"),
    ],
    ids=["no gzip", "cut gzip", "damaged gzip", "cut xz", "no text"],  # gzip writes the time
)
def test_bytes_that_are_no_text_are_a_data_error(tmp_path, name, data, reason):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError, match=reason) as caught:
        read_text(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_are_data_errors(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_text(tmp_path / "none.uai")
    with pytest.raises(DataError, match="cannot be read"):
        read_text(tmp_path)


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\u2028b\x0b\r\n\nc", encoding="utf-8", newline="")
    assert list(numbered_lines(path)) == [(1, "a\u2028b\x0b"), (2, ""), (3, "c")]


def test_a_complaint_about_a_line_starts_with_file_and_line():
    assert str(line_error(Path("a.tsv"), 3, "is odd")) == "a.tsv, line 3: is odd"


def test_words_are_taken_in_order_and_counted():
    it = words()
    assert it.peek() == "one"
    assert it.take("a word") == "one"
    assert it.whole("a count", most=2) == 2
    assert it.numbers(1, "a number").tolist() == [3.5]
    assert (it.taken, it.left) == (3, 1)
    with pytest.raises(DataError, match=r"some.txt, line 3: expected the end of the file, got 'x'"):
        it.end()


@pytest.mark.parametrize(
    ("take", "reason"),
    [
        (lambda it: it.whole("a count"), "line 1: expected a count, a whole number, got 'one'"),
        (
            lambda it: it.numbers(4, "a value"),
            "line 1: expected a value, a finite number, got 'one'",
        ),
        (lambda it: it.take_many(5, "a pair"), "line 3: expected a pair, and the file ends here"),
        (lambda it: (it.take(""), it.whole("a", 3)), "line 1: expected a, at least 3, got 2"),
        (lambda it: (it.take(""), it.whole("a", 0, 1)), "expected a, between 0 and 1, got 2"),
        (lambda it: (it.take(""), it.whole("a", None, 1)), "expected a, at most 1, got 2"),
        (lambda it: (it.take_many(2, ""), it.whole("a")), "line 3: .*got '3.5'"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(take, reason):
    with pytest.raises(DataError, match=reason):
        take(words())


def test_the_first_number_that_is_not_finite_is_named():
    with pytest.raises(DataError, match="line 2: expected v, a finite number, got 'inf'"):
        words("1 2\n3 inf\nnan").numbers(5, "v")


def test_an_empty_file_ends_on_its_first_line():
    with pytest.raises(DataError, match="line 1: expected MARKOV, and the file ends here"):
        words("").take("MARKOV")


def test_json_is_written_in_letters_where_utf_8_has_them():
    assert json_text({"é": [1]}) == '{"é": [1]}'
    assert json_text(["é"], indent=1) == '[\n "é"\n]'
    assert json_text(["\ud83c", "é"]) == '["\\ud83c", "\\u00e9"]'
