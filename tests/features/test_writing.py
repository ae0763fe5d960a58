"""What a vector writes is the same as names and as columns, and memos stay small."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.features import (
    FeatureIndex,
    HashedIndex,
    Positions,
    VectorBuilder,
    Writer,
    Written,
    writing,
)
from rote.features.writing import NAMES


def spelled(writer, word):
    return writer.write([f"{word}{k}" for k in range(2)])


class Words(Written):
    """Two names for each word, behind a mark again but for some."""

    def __init__(self, words, mark="", alone=0):
        self.words, self.mark, self.alone = words, mark, alone

    def written(self, writer):
        return [token for word in self.words for token in writer.memo(spelled)[word]]


def plain(vector):
    names = [f"{word}{k}" for word in vector.words for k in range(2)]
    again = [vector.mark + name for name in names[vector.alone :]] if vector.mark else []
    return names + again


WORDS = st.lists(st.sampled_from("abc"), max_size=4)
VECTORS = st.builds(Words, WORDS, st.sampled_from(["", ">", "<<"]), st.integers(0, 3))
NAME = st.builds(
    "".join,
    st.tuples(st.sampled_from(["", ">", "<<"]), st.sampled_from("abc"), st.sampled_from("01")),
)


@given(VECTORS)
def test_a_written_vector_is_a_sequence_of_names(vector):
    names = plain(vector)
    assert list(vector) == vector.names() == names
    assert len(vector) == len(names)
    assert [vector[k] for k in range(len(names))] == names
    assert vector == names
    assert vector != [*names, "more"]


@given(st.lists(st.tuples(st.sampled_from(["one", "two"]), VECTORS)), st.sets(NAME), st.booleans())
def test_columns_are_those_that_names_alone_would_have(vectors, names, frozen):
    def built(how):
        index = FeatureIndex(sorted(names))
        if frozen:
            index.freeze()
        builder = VectorBuilder({"one": index}, hashed={"two": 8})
        for kind, vector in vectors:
            builder.add(kind, how(vector))
            builder.add("three", {"weight": 0.5, "more": 2.0})
        return [array.tolist() for array in builder.build()], index.names()

    assert built(lambda vector: vector) == built(plain)


def test_pieces_are_written_once_and_memos_are_emptied_when_full(monkeypatch):
    monkeypatch.setattr(writing, "LIMIT", 2)
    written = []
    writer = Writer(lambda names: written.extend(names) or names)
    memo = writer.memo(spelled)
    assert memo is writer.memo(spelled)
    for word in "aabab":
        assert memo[word] == [f"{word}0", f"{word}1"]
    assert written == ["a0", "a1", "b0", "b1"]
    assert memo["c"] == ["c0", "c1"]
    assert list(memo) == ["c"]


TEXT = st.text("ab ", max_size=4)


@given(st.sets(st.tuples(st.sampled_from(["x=", "xx=", "y="]), TEXT)), TEXT, TEXT)
def test_tables_have_the_columns_of_names_that_are_put_together(names, one, other):
    index, starts = FeatureIndex(sorted({"".join(name) for name in names})), ("x=", "y=", "xx=")
    index.freeze()
    for writer in (index.writer, NAMES):
        by_text, by_pair = writer.texts(*starts), writer.pairs(*starts)
        assert list(by_text[one]) == writer.write([start + one for start in starts])
        pairs = [table[other] for table in by_pair[one]]
        assert pairs == writer.write([f"{start}{one} {other}" for start in starts])
        assert by_text is writer.texts(*starts)
        assert by_pair is writer.pairs(*starts)


def test_a_copy_remembers_what_was_written_and_forgets_nothing_of_its_own():
    index = FeatureIndex(["a0", "b1"])
    index.freeze()
    index.writer.memo(spelled)["a"]
    again = copy.copy(index)
    assert again == index
    again.writer.memo(spelled)["b"]
    assert list(again.writer.memo(spelled)) == ["a", "b"]
    assert list(index.writer.memo(spelled)) == ["a"]
    assert again.writer.memo(spelled)["b"] == [-1, 1]
    growing = FeatureIndex(["a"])
    other = copy.copy(growing)
    assert (other.column("b"), len(growing), len(other)) == (1, 1, 2)
    assert copy.copy(index).writer is not index.writer


def test_only_a_frozen_list_of_names_has_a_writer():
    index = FeatureIndex(["a", ">a", "b"])
    assert index.writer is None
    assert index.behind(">") is None
    index.freeze()
    assert index.writer is index.writer
    assert index.writer.write(["b", "c", ">a"]) == [2, -1, 1]
    assert index.behind(">").tolist() == [1, -1, -1, -1]
    for other in (HashedIndex(4), Positions(2)):
        assert other.writer is None
        assert other.behind(">") is None


def test_a_name_known_only_behind_a_mark_has_no_column_to_tell_by():
    index = FeatureIndex(["a", ">b"])
    index.freeze()
    assert index.behind(">") is None
    assert index.behind("<").tolist() == [-1, -1, -1]


def pickled(index):
    return pickle.loads(pickle.dumps(index))  # noqa: S301


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_copies_and_files_leave_memos_out(copied):
    index = FeatureIndex(["a0", ">a0"])
    before = index.to_json()
    index.freeze()
    builder = VectorBuilder({"kind": index})
    builder.add("kind", Words(["a"], ">"))
    again = copied(index)
    assert again == index
    assert again.to_json() == {**before, "frozen": True}
    assert index.writer._memos
    assert not again.writer._memos
    assert again.behind(">").tolist() == index.behind(">").tolist()


def test_names_are_written_as_they_are():
    assert NAMES.write(["a", "b"]) == ["a", "b"]


def test_a_vector_that_cannot_be_written_is_none():
    with pytest.raises(TypeError, match="written"):
        Written()
