"""Chunks and their F1 against hand-worked cases and a definition by starts and ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import DataError
from rote.metrics import F1, chunk_f1, spans_of

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]
tags = st.lists(st.sampled_from(TAGS), max_size=10)

# What the tags say, by the rules of conlleval: "start-stop kind" of every chunk.
CASES = {
    "nothing": ("", ""),
    "all outside": ("O O", ""),
    "IOB2": ("B-X I-X O B-Y", "0-2X 3-4Y"),
    "IOB2, neighbours of one kind": ("B-X B-X I-X", "0-1X 1-3X"),
    "IOB1": ("I-X I-X O I-Y", "0-2X 3-4Y"),
    "IOB1, neighbours of one kind": ("I-X I-X B-X I-X", "0-2X 2-4X"),
    "IOB1, neighbours of two kinds": ("I-X I-Y", "0-1X 1-2Y"),
    "inside after outside": ("O I-X I-X", "1-3X"),
    "inside of another kind": ("B-X I-Y I-Y", "0-1X 1-3Y"),
    "inside of another kind and back": ("B-X I-Y I-X", "0-1X 1-2Y 2-3X"),
    "a chunk up to the end": ("O B-X I-X", "1-3X"),
    "a dash in the kind": ("B-X-Y I-X-Y I-X", "0-2X-Y 2-3X"),
}


@pytest.mark.parametrize("case", CASES)
def test_chunks_of_tags(case):
    given_tags, expected = CASES[case]
    found = spans_of(given_tags.split())
    assert [f"{s.start}-{s.stop}{s.label}" for s in found] == expected.split()


def test_tags_without_a_kind_are_of_one_kind():
    assert spans_of(["B", "I", "O", "I"]) == [(0, 2, ""), (3, 4, "")]


@pytest.mark.parametrize("tag", ["E-X", "S-X", "X", "", "O-X", "b-X"])
def test_another_scheme_is_refused(tag):
    with pytest.raises(DataError, match=f"tag 1: expected B-KIND, I-KIND or O, got '{tag}'"):
        spans_of(["O", tag])


def starts_and_ends(tags):
    """Chunks by what separates two neighbouring tags, each boundary judged on its own."""
    ends = ["O", *tags, "O"]

    def parted(left, right):
        return left[2:] != right[2:] or right[0] != "I"

    start = [i for i, t in enumerate(tags) if t != "O" and parted(ends[i], t)]
    stop = [i + 1 for i, t in enumerate(tags) if t != "O" and parted(t, ends[i + 2])]
    return [(a, b, tags[a][2:]) for a, b in zip(start, stop, strict=True)]


@given(tags)
def test_chunks_run_from_each_start_to_the_next_end(sentence):
    assert spans_of(sentence) == starts_and_ends(sentence)


def test_a_hand_worked_f1_by_kind():
    gold = [["B-X", "I-X", "O", "B-Y"], ["B-X", "B-X"]]
    # A chunk too short; one right; then two chunks taken for one.
    predicted = [["B-X", "O", "O", "I-Y"], ["B-X", "I-X"]]
    table = chunk_f1(gold, predicted)
    assert table.by_label == {"X": F1.of(3, 2, 0), "Y": F1.of(1, 1, 1)}
    assert table.micro == F1.of(4, 3, 1)
    assert table.macro.f1 == pytest.approx((0 + 1) / 2)


def test_a_chunk_of_the_wrong_kind_is_missed_and_wrong():
    table = chunk_f1([["B-X", "I-X"]], [["B-Y", "I-Y"]])
    assert table.by_label == {"X": F1.of(1, 0, 0), "Y": F1.of(0, 1, 0)}


def test_a_chunk_ends_with_its_sentence():
    assert chunk_f1([["B-X"], ["I-X"]], [["B-X"], ["I-X"]]).micro == F1.of(2, 2, 2)


def test_bad_input_is_answered_with_a_sentence():
    with pytest.raises(DataError, match=r"sentence 1: .* got 2 gold and 1 predicted"):
        chunk_f1([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(DataError, match="there are no sentences"):
        chunk_f1([], [])
    with pytest.raises(DataError, match="as many predicted sentences"):
        chunk_f1([["O"]], [])
