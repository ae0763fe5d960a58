"""Lines of names: what they are made of, and the columns that they come to."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import DataError
from rote.features import FeatureIndex, Lines, Names, Runs, VectorBuilder, spelled
from tests.bundles import fields_of

MARKS = (">", "<<")
NUMBERS = st.integers(-1, 5)
LINE = st.tuples(
    st.lists(NUMBERS, min_size=2, max_size=2), st.lists(NUMBERS, max_size=3), st.integers(0, 2)
)


def lines_of(rows, names, alone):
    """Lines that say "x=" of numbers, or nothing for those below 0."""
    lines = Lines(len(rows), MARKS, np.array([mark for _, _, mark in rows], dtype=np.int64), alone)

    def said(numbers):
        numbers = np.array(numbers, dtype=np.int64)
        found = np.full(len(numbers), -1)
        here = numbers >= 0
        found[here] = names.say("x=", names.texts(map(str, numbers[here].tolist())))
        return found

    for k in range(2):
        lines.add(said([single[k] for single, _, _ in rows]))
    ends = np.cumsum([len(run) for _, run, _ in rows])
    runs = Runs(
        said([number for _, run, _ in rows for number in run]),
        np.concatenate([[0], ends]).astype(np.int64),
    )
    lines.add_runs(runs)
    return lines


def plainly(rows, alone):
    found = []
    for single, run, mark in rows:
        own = [f"x={k}" if k >= 0 else None for k in (*single, *run)]
        more = [MARKS[mark - 1] + name for name in own[alone:] if name] if mark else []
        found.append([name for name in own if name] + more)
    return found


@given(st.lists(LINE, max_size=5), st.integers(0, 2))
def test_lines_are_spelled_as_they_are_said(rows, alone):
    names = Names()
    assert spelled(lines_of(rows, names, alone), names) == plainly(rows, alone)


NAME = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(("", *MARKS)), st.sampled_from("xy"), st.sampled_from(("=1", "=2", "=3"))
    ),
)


@given(
    st.lists(st.lists(LINE, max_size=4), max_size=3),
    st.sets(NAME),
    st.booleans(),
    st.integers(0, 2),
)
def test_columns_are_those_that_names_alone_would_have(batches, listed, readonly, alone):
    def built(how):
        index = FeatureIndex(sorted(listed))
        if readonly:
            index.freeze()
        builder = VectorBuilder({"one": index}, hashed={"two": 8})
        for rows in batches:
            builder.add("three", {"weight": 0.5, "more": 2.0})
            # Two kinds, whose vectors take turns.
            kinds = ["one", "two"] * len(rows)
            if how == "names":
                for k, row in enumerate(plainly(rows, alone)):
                    for kind in kinds[2 * k : 2 * k + 2]:
                        builder.add(kind, row)
            else:
                lines = {
                    kind: lines_of(rows, builder.names(kind, MARKS), alone)
                    for kind in ("one", "two")
                }
                builder.add_lines(kinds, lines)
        return [array.tolist() for array in fields_of(builder.build())], index.names()

    assert built("lines") == built("names")


def test_names_are_kept_for_vectors_that_come_later():
    builder = VectorBuilder({"one": FeatureIndex()})
    names = builder.names("one", MARKS)
    other = builder.emptied()
    assert other.names("one", MARKS) is names
    other.add_lines(["one"], {"one": lines_of([([1, 2], [], 0)], names, 0)})
    assert len(other) == 2
    assert len(builder) == 1
    assert builder.indices["one"].names() == ("x=1", "x=2")


def test_copies_and_files_leave_what_was_read_out():
    index = FeatureIndex(["x=1", ">x=1"])
    before = index.to_json()
    index.freeze()
    listing = index.listing((">",))
    for again in (copy.copy(index), copy.deepcopy(index), pickle.loads(pickle.dumps(index))):  # noqa: S301
        assert again == index
        assert again.to_json() == {**before, "frozen": True}
        assert again.listing((">",)) is not listing
    growing = FeatureIndex(["a"])
    other = copy.copy(growing)
    assert (other.column("b"), len(growing), len(other)) == (1, 1, 2)


@given(st.lists(LINE, min_size=1, max_size=5), st.booleans())
def test_what_was_listed_in_growing_is_kept_where_it_is_all_there_is(rows, others):
    index = FeatureIndex()
    builder = VectorBuilder({"one": index})
    builder.add_lines(["one"] * len(rows), {"one": lines_of(rows, builder.names("one", MARKS), 0)})
    names = builder.names("one", MARKS)
    if others:
        builder.add("one", ["another"])
    index.freeze()
    later = VectorBuilder({"one": index})
    assert (later.names("one", MARKS) is names) != others
    again = [([k, 7], [3], 1) for k in range(6)]
    kinds = ["one"] * len(again)
    later.add_lines(kinds, {"one": lines_of(again, later.names("one", MARKS), 0)})
    plain = VectorBuilder({"one": index})
    for row in plainly(again, 0):
        plain.add("one", row)
    found, expected = fields_of(later.build()), fields_of(plain.build())
    assert [a.tolist() for a in found] == [a.tolist() for a in expected]


def test_a_reader_that_gives_other_vectors_than_it_was_asked_for_is_refused():
    builder = VectorBuilder()
    names = builder.names("one", MARKS)
    lines = {"one": lines_of([([1, 2], [], 0)], names, 0)}
    for kinds in (["one", "one"], ["one", "two"], []):
        with pytest.raises(DataError, match=r"a reader gave [01] vectors of kind"):
            builder.add_lines(kinds, lines)
    assert len(builder) == 1


@pytest.mark.parametrize("readonly", [False, True])
def test_a_reader_that_uses_other_marks_than_it_asked_with_is_refused(readonly):
    index = FeatureIndex(["x=1", ">x=1"])
    if readonly:
        index.freeze()
    builder = VectorBuilder({"one": index})
    builder.names("one", MARKS)
    with pytest.raises(DataError, match=r"first asked for with .*'>', '<<'.* and then came \(\)"):
        builder.names("one", ())
    lines = Lines(1, ("<<", ">"), np.array([1]))
    with pytest.raises(DataError, match="use the same marks for all vectors of a kind"):
        builder.add_lines(["one"], {"one": lines})
    with pytest.raises(DataError, match="of kind 'two' and never asked for its names"):
        builder.add_lines(["two"], {"two": lines})


@pytest.mark.parametrize("marked", [[1, 3], [-1, 0], [1], [[1, 2]]], ids=repr)
def test_every_vector_has_one_of_the_marks_or_none(marked):
    with pytest.raises(DataError, match="marked has a number between 0 and 2 for each of 2"):
        Lines(2, MARKS, np.array(marked))
