"""Columns of names, whether listed, hashed or counted, and what is read back from JSON."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import DataError, SettingError
from rote.features import FeatureIndex, HashedIndex, Index, Positions, index_from_json

any_text = st.text(st.characters(exclude_categories=()))  # halves of surrogate pairs as well
names = st.lists(st.text("abc", max_size=2), max_size=12)
distinct = st.lists(any_text, unique=True, max_size=12)


def listed(names, readonly):
    index = FeatureIndex(names)
    if readonly:
        index.freeze()
    return index


indices = st.one_of(
    st.builds(listed, distinct, st.booleans()),
    st.builds(HashedIndex, st.integers(1, 30)),
    st.builds(Positions, st.integers(0, 50)),
)


@given(names)
def test_a_name_has_the_place_where_it_was_first_seen(given_names):
    order = list(dict.fromkeys(given_names))
    index = FeatureIndex()
    assert index.columns(given_names) == [order.index(name) for name in given_names]
    assert index.names() == tuple(order)
    assert [index.name(k) for k in range(len(index))] == order
    assert len(index) == len(order)


@given(names, names)
def test_a_frozen_index_answers_what_it_knew(before, after):
    index = FeatureIndex(dict.fromkeys(before))
    known = dict(zip(index.names(), range(len(index)), strict=True))
    assert not index.frozen
    index.freeze()
    index.freeze()
    assert index.frozen
    assert index.columns(after) == [known.get(name, -1) for name in after]
    assert [index.column(name) for name in after] == index.columns(after)
    assert index.names() == tuple(known)
    assert [name in index for name in after] == [name in known for name in after]


def test_names_are_up_to_date_while_the_index_grows():
    index = FeatureIndex()
    assert index.names() == ()
    index.column("a")
    assert index.names() == ("a",)
    index.columns(iter(["b", "a"]))
    assert index.names() == ("a", "b")
    assert index.name(1) == "b"


@pytest.mark.parametrize("index", [FeatureIndex(["a", "b"]), Positions(2)], ids=repr)
@pytest.mark.parametrize("column", [-1, 2])
def test_a_column_that_is_not_there_has_no_name(index, column):
    with pytest.raises(SettingError, match=f"column is below 2, .* got {column}"):
        index.name(column)


@pytest.mark.parametrize("wrong", [3, None, b"a", ("a",)], ids=repr)
@pytest.mark.parametrize("make", [FeatureIndex, lambda: HashedIndex(4), lambda: Positions(4)])
def test_names_that_are_no_strings_are_refused_and_not_kept(make, wrong):
    index = make()
    for _ in range(2):
        for ask in (lambda: index.columns(iter(["1", wrong])), lambda: index.column(wrong)):
            with pytest.raises(DataError, match="names of features are strings, got"):
                ask()
        with pytest.raises(DataError, match=r"expected a list of names, got the string 'dog'"):
            index.columns("dog")
        assert not isinstance(index, FeatureIndex) or index.names() == ("1",)
        index.freeze()


def test_a_list_with_a_name_twice_makes_no_index():
    with pytest.raises(DataError, match="'b' is listed for columns 1 and 3; list it once"):
        FeatureIndex(["a", "b", "c", "b"])


def test_indices_are_equal_when_names_order_and_state_are():
    assert FeatureIndex(["a", "b"]) == FeatureIndex(["a", "b"])
    assert FeatureIndex(["a", "b"]) != FeatureIndex(["b", "a"])
    assert listed(["a"], readonly=True) != listed(["a"], readonly=False)
    assert FeatureIndex() != Positions(0)


def test_an_index_that_grows_is_no_key():
    with pytest.raises(TypeError, match="unhashable"):
        hash(FeatureIndex())


# Hashing


def test_the_hash_is_the_checksum_that_zip_files_have():
    # The published check value of CRC-32: its low 30 bits, and its low 8.
    assert HashedIndex(30).column("123456789") == 0xCBF43926 & (2**30 - 1)
    assert HashedIndex(8).column("123456789") == 0x26


@given(st.integers(1, 30), st.lists(any_text))
def test_every_text_has_a_column_below_the_length(bits, texts):
    index = HashedIndex(bits)
    columns = index.columns(texts)
    assert all(0 <= column < len(index) == 2**bits for column in columns)
    assert columns == [index.column(text) for text in texts]
    assert all(text in index for text in texts)


def test_a_hashed_index_has_no_names_to_show():
    index = HashedIndex(3)
    index.freeze()
    assert index.frozen
    assert 3 not in index
    for ask in (index.names, lambda: index.name(5)):
        with pytest.raises(SettingError, match=r"keeps no names.*use a FeatureIndex"):
            ask()


# Positions


def test_the_names_of_positions_are_their_numbers():
    index = Positions(12)
    index.freeze()
    assert index.frozen
    assert len(index) == 12
    assert index.names() == tuple(str(k) for k in range(12))
    assert index.columns(index.names()) == list(range(12))
    assert index.name(11) == "11"
    assert "11" in index


@pytest.mark.parametrize(
    "name", ["12", "99", "007", "01", "-1", "+1", "1.0", "", "a", "²", "٣", "1" * 10_000, " 3"]
)
def test_what_is_no_position_has_no_column(name):
    index = Positions(12)
    assert index.column(name) == -1
    assert name not in index


# JSON


@given(indices)
def test_json_and_back_is_the_same_index(index: Index):
    text = json.dumps(index.to_json())
    assert index_from_json(json.loads(text)) == index


@given(indices)
def test_copies_and_what_travels_between_processes_are_the_same_index(index: Index):
    assert copy.deepcopy(index) == index
    assert pickle.loads(pickle.dumps(index)) == index  # noqa: S301


def test_the_json_form_is_as_documented():
    assert listed(["b", "a"], readonly=True).to_json() == {
        "index": "names",
        "names": ["b", "a"],
        "frozen": True,
    }
    assert HashedIndex(18).to_json() == {"index": "hashed", "bits": 18}
    assert Positions(128).to_json() == {"index": "positions", "width": 128}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, 'an index has the key "index", .* got None; it may have been'),
        ([], r'an index has the key "index", .* got \[\]'),
        ({}, r"is names \(.*\), hashed \(with bits\) or positions \(with width\); got {}"),
        ({"index": "trie"}, "got {'index': 'trie'}; .* later version"),
        ({"index": ["names"]}, r"got {'index': \['names'\]}"),
        ({"index": "names", "names": []}, "whether it is frozen.*got {'index'"),
        ({"index": "hashed", "bits": 3, "seed": 1}, "hashed .with bits.* got .*'seed'"),
        ({"index": "names", "names": "ab", "frozen": True}, "a list of names.* 'ab'"),
        ({"index": "names", "names": [], "frozen": 1}, "whether it is frozen.*'frozen': 1"),
        ({"index": "names", "names": ["a", 3], "frozen": True}, r"a list of names.*\['a', 3\]"),
        ({"index": "names", "names": ["a", "a"], "frozen": True}, "'a' is listed for columns 0"),
        ({"index": "names", "names": [["a"]], "frozen": True}, "a list of names"),
        *(
            ({"index": "hashed", "bits": bits}, f"an index of hashed: bits is .* 30, got {bits!r}")
            for bits in (3.0, True, 0, 31, None)
        ),
        *(
            ({"index": "positions", "width": wide}, f"of positions: width is .*, got {wide!r}")
            for wide in (-2, "2", 2.0, True)
        ),
    ],
    ids=str,
)
def test_json_of_something_else_is_refused_with_a_reason(value, reason):
    with pytest.raises(DataError, match=reason):
        index_from_json(value)
