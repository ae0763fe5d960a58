"""Arrays of .npz files, and what is answered to damage."""

import re

import numpy as np
import pytest

from papers.data.npz import Wanted, check_pointers, read_arrays
from rote import DataError

WANTED = {"a": Wanted("iu", (3,)), "b": Wanted("f", (None, 2)), "c": Wanted("U", (1,))}
A, B, C = np.array([1, 2, 3], dtype=np.uint8), np.eye(2), np.array(["é"])


def test_the_arrays_asked_for_come_back_as_they_are(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", a=A, b=B, c=C, more=B)
    found = read_arrays(tmp_path / "x.npz", WANTED)
    assert list(found) == ["a", "b", "c"]
    assert (found["a"].dtype, found["a"].tolist()) == (np.uint8, [1, 2, 3])
    np.testing.assert_array_equal(found["b"], B)
    assert found["c"].tolist() == ["é"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"a": None}, "array 'a': is missing; the file has b, c"),
        ({"a": B[0]}, "array 'a': expected whole numbers of shape (3), got float64 of shape (2,)"),
        ({"a": A[:2]}, "array 'a': expected whole numbers of shape (3), got uint8 of shape (2,)"),
        ({"b": B[0]}, "array 'b': expected decimals of shape (any, 2), got float64 of shape (2,)"),
        ({"b": np.full((1, 2), np.nan)}, "array 'b': expected finite numbers"),
        ({"b": np.full((1, 2), np.inf)}, "array 'b': expected finite numbers"),
        ({"c": A[:1]}, "array 'c': expected strings of shape (1), got uint8 of shape (1,)"),
    ],
    ids=["missing", "kind", "size", "axes", "not a number", "infinite", "no string"],
)
def test_an_array_that_is_not_as_it_should_be_is_named(tmp_path, changed, reason):
    arrays = {"a": A, "b": B, "c": C, **changed}
    path = tmp_path / "x.npz"
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(DataError, match=re.escape(f"{path}, {reason}")):
        read_arrays(path, WANTED)


def test_pickled_objects_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.array([{}, 1, 2], dtype=object), b=B, c=C)
    with pytest.raises(DataError, match=r"array 'a': cannot be read.*allow_pickle=False"):
        read_arrays(tmp_path / "x.npz", WANTED)


def test_a_missing_file_a_folder_and_a_lone_array_are_data_errors(tmp_path):
    with pytest.raises(DataError, match=r"x.npz: there is no such file"):
        read_arrays(tmp_path / "x.npz", WANTED)
    with pytest.raises(DataError, match="cannot be read: "):
        read_arrays(tmp_path, WANTED)
    np.save(tmp_path / "x.npy", A)
    with pytest.raises(DataError, match=r"expected an .npz file, got a single array"):
        read_arrays(tmp_path / "x.npy", WANTED)


def test_a_file_cut_off_or_overwritten_anywhere_is_whole_or_a_data_error(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, a=A, b=B, c=C)
    whole = path.read_bytes()
    answered = 0
    for at in range(len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]):
            path.write_bytes(damaged)
            try:
                found = read_arrays(path, WANTED)
            except DataError:
                answered += 1
            else:  # some bytes, such as the time of writing, do not matter
                assert found["a"].tolist() == [1, 2, 3]
                np.testing.assert_array_equal(found["b"], B)
                assert found["c"].tolist() == ["é"]
    assert answered > len(whole)


def test_pointers_rise_from_the_first_row_to_the_last(tmp_path):
    check_pointers(tmp_path, "p", np.array([0, 2, 2, 5], dtype=np.uint8), 5)
    check_pointers(tmp_path, "p", np.array([0]), 0)
    for wrong in ([1, 5], [0, 4], [0, 4, 3, 5]):
        with pytest.raises(DataError, match=r"array 'p': expected numbers that rise from 0 to 5"):
            check_pointers(tmp_path, "p", np.array(wrong, dtype=np.uint8), 5)
