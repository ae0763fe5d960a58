"""Feature vectors as arrays, against dictionaries."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from rote.errors import DataError
from rote.features import CONSTANT, FeatureIndex, HashedIndex, Positions, VectorBuilder
from tests.bundles import fields_of


def rows(built):
    """Each vector as a list of (column, value)."""
    ptr, column, value = (array.tolist() for array in fields_of(built))
    pairs = list(zip(column, value, strict=True))
    return [pairs[a:b] for a, b in pairwise(ptr)]


def test_the_constant_vector_comes_first():
    builder = VectorBuilder()
    assert len(builder) == 1
    assert rows(builder.build()) == [[(0, 1.0)]]
    assert builder.indices[CONSTANT] == Positions(1)


def test_names_mappings_arrays_and_sparse_rows_stay_in_order():
    builder = VectorBuilder()
    builder.add("word", ["a", "b", "a"])
    builder.add("dense", np.array([0.0, 2.0, 0.0, -1.0]))
    builder.add("word", {"c": 0.5, "a": 0.0})
    builder.add("dense", sparse.csr_array(np.array([[1.0, 0.0, 0.0, 3.0]])))
    builder.add("word", [])
    builder.add("dense", np.array([True, False, False, False]))
    builder.add("word", ("c",))
    assert len(builder) == 8
    assert rows(builder.build()) == [
        [(0, 1.0)],
        [(0, 1.0), (1, 1.0), (0, 1.0)],
        [(1, 2.0), (3, -1.0)],
        [(2, 0.5), (0, 0.0)],
        [(0, 1.0), (3, 3.0)],
        [],
        [(0, 1.0)],
        [(2, 1.0)],
    ]
    assert builder.indices["word"].names() == ("a", "b", "c")
    assert builder.indices["dense"] == Positions(4)


def test_names_that_a_frozen_index_does_not_know_are_left_out():
    index = FeatureIndex(["a", "b"])
    index.freeze()
    builder = VectorBuilder({"word": index})
    builder.add("word", ["new", "b", "newer"])
    builder.add("word", {"new": 7.0, "a": 2.0})
    assert rows(builder.build())[1:] == [[(1, 1.0)], [(0, 2.0)]]
    assert index.names() == ("a", "b")


def test_hashed_kinds_list_no_names():
    builder = VectorBuilder(hashed={"word": 4})
    builder.add("word", ["a", "b"])
    builder.add("other", ["a"])
    assert builder.indices["word"] == HashedIndex(4)
    columns = HashedIndex(4).columns(["a", "b"])
    assert rows(builder.build())[1] == [(column, 1.0) for column in columns]
    assert rows(builder.build())[2] == [(0, 1.0)]


def test_building_again_gives_what_came_since_too():
    builder = VectorBuilder()
    builder.add("word", ["a"])
    assert len(rows(builder.build())) == 2
    builder.add("word", ["b"])
    assert rows(builder.build()) == [[(0, 1.0)], [(0, 1.0)], [(1, 1.0)]]


def test_what_is_built_is_read_only_and_of_one_type():
    builder = VectorBuilder()
    builder.add("dense", np.array([1, 2], dtype=np.int8))
    built = builder.build()
    assert [array.dtype for array in fields_of(built)] == [np.int64, np.int64, np.float64]
    assert not any(array.flags.writeable for array in fields_of(built))


def test_a_long_random_sequence_is_that_of_a_dictionary():
    rng = np.random.default_rng(0)
    builder, known, expected = VectorBuilder(), {}, [[(0, 1.0)]]
    for _ in range(200):
        names = [f"f{k}" for k in rng.integers(30, size=rng.integers(6))]
        if rng.random() < 0.5:
            builder.add("word", names)
            expected.append([(known.setdefault(n, len(known)), 1.0) for n in names])
        elif rng.random() < 0.5:
            mapping = {n: float(rng.integers(5)) for n in names}
            builder.add("word", mapping)
            expected.append([(known.setdefault(n, len(known)), v) for n, v in mapping.items()])
        else:
            array = rng.integers(-1, 2, size=7)
            builder.add("dense", array)
            expected.append([(int(k), float(array[k])) for k in np.flatnonzero(array)])
    assert rows(builder.build()) == expected


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (["a"], np.zeros(2), "are names, got an array$"),
        (np.zeros(2), ["a"], "arrays of length 2, got names"),
        (np.zeros(2), {"a": 1.0}, "arrays of length 2, got names"),
        (np.zeros(2), np.zeros(3), "arrays of length 2, got an array of length 3; a constant"),
        (["a"], "word", "put it into a list"),
        (["a"], {"b": np.inf}, "'b' is inf"),
        (["a"], {"b": np.nan}, "'b' is nan"),
        (np.zeros(2), np.array([0.0, np.nan]), "position 1 is nan"),
        (np.zeros(2), np.zeros((1, 2)), r"shape \(1, 2\)"),
        (np.zeros(2), np.array(["a", "b"]), "real numbers"),
        (np.zeros(2), sparse.csr_array(np.zeros((2, 2))), "one row, got 2"),
        (["a"], [1, 2], "names of features are strings, .*make it a numpy array"),
        (["a"], {"zip": "90210"}, "'zip' is '90210'; put a text into the name"),
        (["a"], {"zip": b"90210"}, "'zip' is b'90210'"),
        (["a"], {"b": None}, "feature values are finite numbers; 'b' is None"),
        (["a"], {"b", "c"}, "put them into a list, in an order of your own"),
        (["a"], frozenset("a"), "put them into a list, in an order of your own"),
    ],
    ids=range(17),
)
def test_vectors_that_do_not_fit_are_refused(first, second, says):
    builder = VectorBuilder()
    builder.add("kind", first)
    with pytest.raises(DataError, match=says):
        builder.add("kind", second)
