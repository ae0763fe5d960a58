"""The reader of multi-label sets: small files of each form, damage, and the real sets."""

import numpy as np
import pytest

from papers.data.multilabel import FORMS, Form, LabelSets, load_multilabel, read_multilabel
from rote import DataError

Y = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=np.uint8)

DENSE = Form("dense", {"all": 4}, 2, 3, 7)
DENSE_ARRAYS = {
    "X": np.array([[0.5, 1], [0, 2], [1, 1], [3, 0]]),
    "Y": Y,
    "label_names": np.array(["red", "green", "blue"]),
}

# Row 1 of the train part has no feature at all.
BINARY = Form("binary", {"train": 3, "test": 1}, 4, 3, 7)
BINARY_ARRAYS = {
    "X_train_indptr": np.array([0, 2, 2, 3], dtype=np.int32),
    "X_train_indices": np.array([1, 3, 0], dtype=np.uint16),
    "Y_train": Y[:3],
    "X_test_indptr": np.array([0, 1], dtype=np.int32),
    "X_test_indices": np.array([2], dtype=np.uint16),
    "Y_test": Y[3:],
    "n_features": np.array(4),
    "label_names": np.array(["red", "green", "blue"]),
}

WEIGHTED = Form("weighted", {"all": 4}, 4, 3, 7, named=False, top=2, halves=True)
WEIGHTED_ARRAYS = {
    "X_indptr": np.array([0, 2, 2, 3, 4], dtype=np.int32),
    "X_indices": np.array([1, 3, 0, 2], dtype=np.uint16),
    "X_data": np.array([0.5, 0.25, 1, 2], dtype=np.float32),
    "Y": Y,
    "n_features": np.array(4),
    "top30": np.array([2, 0], dtype=np.int16),
}


@pytest.fixture
def read(tmp_path):
    def write_and_read(form, arrays) -> LabelSets:
        kept = {name: array for name, array in arrays.items() if array is not None}
        np.savez(tmp_path / "toy.npz", **kept)
        return read_multilabel(tmp_path / "toy.npz", "toy", form)

    return write_and_read


def test_a_dense_set_is_two_arrays_and_names(read):
    data = read(DENSE, DENSE_ARRAYS)
    assert data.label_names == ("red", "green", "blue")
    assert list(data.parts) == ["all"]
    np.testing.assert_array_equal(data["all"].X, DENSE_ARRAYS["X"])
    np.testing.assert_array_equal(data["all"].Y, Y)
    assert repr(data) == "<LabelSets toy (all: 4; 3 labels)>"
    with pytest.raises(DataError, match="toy has the parts all; got 'train'"):
        data["train"]


def test_a_binary_set_has_ones_where_its_columns_say(read):
    data = read(BINARY, BINARY_ARRAYS)
    assert data["train"].X.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert data["test"].X.toarray().tolist() == [[0, 0, 1, 0]]
    assert data["train"].X.dtype == np.float64
    np.testing.assert_array_equal(np.vstack([data["train"].Y, data["test"].Y]), Y)
    assert (len(data["train"]), len(data["test"])) == (3, 1)


def test_a_weighted_set_is_whole_and_in_halves(read):
    data = read(WEIGHTED, WEIGHTED_ARRAYS)
    whole = [[0, 0.5, 0, 0.25], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 2, 0]]
    assert data["all"].X.toarray().tolist() == whole
    assert data["train"].X.toarray().tolist() == whole[:2]
    assert data["test"].X.toarray().tolist() == whole[2:]
    np.testing.assert_array_equal(data["test"].Y, Y[2:])
    assert data.label_names == ("0", "1", "2")
    assert data.top30 == (2, 0)


def test_some_of_the_labels_are_a_set_of_their_own(read):
    data = read(WEIGHTED, WEIGHTED_ARRAYS)
    some = data.only(data.top30)
    assert some.label_names == ("2", "0")
    np.testing.assert_array_equal(some["all"].Y, Y[:, [2, 0]])
    assert some["all"].X is data["all"].X
    with pytest.raises(DataError, match="toy has the label columns 0 to 2; got 3"):
        data.only([0, 3])


def test_nothing_in_a_set_can_be_written_to(read):
    dense, sparse = read(DENSE, DENSE_ARRAYS), read(WEIGHTED, WEIGHTED_ARRAYS)
    arrays = [dense["all"].X, dense["all"].Y, sparse.only([1])["train"].Y]
    for part in sparse.parts.values():
        arrays += [part.Y, part.X.data, part.X.indices, part.X.indptr]
    assert [array.flags.writeable for array in arrays] == [False] * len(arrays)


WITH_ARRAYS = {
    "dense": (DENSE, DENSE_ARRAYS),
    "binary": (BINARY, BINARY_ARRAYS),
    "weighted": (WEIGHTED, WEIGHTED_ARRAYS),
}


@pytest.mark.parametrize(
    ("kind", "array", "changed", "reason"),
    [
        ("dense", "Y", None, "is missing"),
        ("dense", "X", np.ones((4, 3)), "expected decimals of shape"),
        ("dense", "Y", 2 * Y, "expected 0 and 1 only"),
        ("dense", "label_names", np.array(["red", "red", "blue"]), "expected names that differ"),
        ("dense", "X", DENSE_ARRAYS["X"].astype(object), "cannot be read, .*allow_pickle=False"),
        ("binary", "n_features", np.array(5), "expected 4, got 5"),
        ("binary", "X_train_indptr", np.array([0, 2, 1, 3]), "numbers that rise from 0 to 3"),
        ("binary", "X_train_indices", np.array([3, 1, 0]), "columns that rise in each row"),
        ("binary", "X_test_indices", np.array([4]), "expected columns that .* less than 4"),
        ("binary", "X_test_indices", np.array([-1]), "expected columns"),
        ("weighted", "X_data", np.ones(3), "expected 4 values, got 3"),
        ("weighted", "top30", np.array([1, 1]), "expected different columns from 0 to 2"),
        ("weighted", "top30", np.array([1, 3]), "expected different columns from 0 to 2"),
    ],
)
def test_damage_is_answered_with_the_file_and_the_array(read, kind, array, changed, reason):
    form, arrays = WITH_ARRAYS[kind]
    with pytest.raises(DataError, match=rf"toy\.npz, array '{array}': .*{reason}"):
        read(form, {**arrays, array: changed})


def test_another_set_is_not_taken_for_the_real_one(read):
    with pytest.raises(DataError, match=r"toy\.npz: not the whole of toy.* labels given: 7 exp"):
        read(DENSE, {**DENSE_ARRAYS, "Y": 1 - Y})


def test_a_set_nobody_knows_and_a_folder_without_the_file_are_data_errors(tmp_path):
    with pytest.raises(DataError, match=r"the multi-label sets are scene, .*; got 'bookmarks'"):
        load_multilabel("bookmarks", tmp_path)
    with pytest.raises(DataError, match=r"scene\.npz: there is no such file"):
        load_multilabel("scene", tmp_path)


# Mean labels per input and distinct label sets, as measured by those who collected the sets.
@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(
    ("name", "cardinality", "label_sets"),
    [
        ("scene", 1.074, 15),
        ("yeast", 4.237, 198),
        ("bibtex", 2.402, 2856),
        ("enron", 3.378, 753),
        ("corel5k", 3.522, 3175),
        ("delicious", 19.020, 15806),
        ("cal500", 26.044, 502),
        ("rcv1subset1", 2.895, 811),
    ],
)
def test_a_real_set_has_the_statistics_that_are_known_of_it(name, cardinality, label_sets):
    data, form = load_multilabel(name), FORMS[name]
    whole = np.vstack([data[part].Y for part in form.rows])
    assert whole.sum() / len(whole) == pytest.approx(cardinality, abs=5e-4)
    assert len({row.tobytes() for row in whole}) == label_sets
    assert len(data.label_names) == form.labels
    for part, rows in form.rows.items():
        assert data[part].X.shape == (rows, form.features)


@pytest.mark.usefixtures("real_data")
def test_the_first_rows_of_real_sets_are_the_published_ones():
    scene = load_multilabel("scene")["train"]
    assert scene.X[0, :3] == pytest.approx([0.646467, 0.666435, 0.685047], abs=1e-6)
    assert scene.Y[0].tolist() == [1, 0, 0, 0, 1, 0]
    assert load_multilabel("bibtex")["train"].X.indices[:6].tolist() == [0, 5, 6, 20, 33, 35]


@pytest.mark.usefixtures("real_data")
def test_the_frequent_topics_of_the_real_newswire_set_come_by_falling_count():
    data = load_multilabel("rcv1subset1")
    counts = data["all"].Y.sum(axis=0, dtype=int)
    top = [counts[k] for k in data.top30]
    assert top == sorted(counts, reverse=True)[:30]
    frequent = data.only(data.top30)["all"].Y
    assert frequent.sum() / len(frequent) == pytest.approx(2.417, abs=5e-4)
    first = data["train"].X[[0]]
    assert first.indices[:3].tolist() == [439, 586, 2119]
    assert first.data[:3] == pytest.approx([0.037683, 0.085132, 0.094169], abs=1e-6)
    norms = np.sqrt(data["all"].X.multiply(data["all"].X).sum(axis=1))
    assert norms == pytest.approx(np.ones(6000), abs=5e-3)
