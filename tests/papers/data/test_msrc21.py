"""The reader of image graphs: two small images, damage, and the real set."""

import re
from functools import cache

import numpy as np
import pytest

from papers.data.msrc21 import CLASSES, load_msrc21, read_msrc21
from rote import DataError
from rote.tasks.graphs import UNLABELLED

# Image "a" is 2 x 3 pixels in three superpixels in a row, "b" is 1 x 2 in two.
PIXELS = np.zeros((5, 22), dtype=np.uint16)
PIXELS[[0, 1, 2, 3, 4], [1, 5, 21, 0, 20]] = [2, 2, 2, 1, 1]
GRAPHS = {
    "names": np.array(["a", "b"]),
    "is_train": np.array([0, 1], dtype=np.uint8),
    "image_size": np.array([[2, 3], [1, 2]], dtype=np.uint16),
    "class_names": np.array(CLASSES),
    "sp_ptr": np.array([0, 3, 5], dtype=np.int32),
    "edge_ptr": np.array([0, 2, 3], dtype=np.int32),
    "labels": np.array([1, 5, 255, 0, 20], dtype=np.uint8),
    "pixel_counts": PIXELS,
    "unary": np.log(np.full((5, 21), 1 / 21)).astype(np.float16),
    "edges": np.array([[0, 1], [1, 2], [0, 1]], dtype=np.uint8),
    "edge_attr": np.array([[2, 0.5], [3, 0.25], [1, 0.125]], dtype=np.float16),
}
FEATURES = {
    "base": np.arange(5 * 17).reshape(5, 17).astype(np.float16),
    "color_hist": np.full((5, 64), 51, dtype=np.uint8),
    "texton_hist": np.zeros((5, 128), dtype=np.uint8),
    "daisy_hist": np.full((5, 160), 255, dtype=np.uint8),
}


@pytest.fixture
def read(tmp_path):
    def write_and_read(graphs=None, features=None):
        np.savez(tmp_path / "msrc21_graphs.npz", **{**GRAPHS, **(graphs or {})})
        np.savez(tmp_path / "msrc21_features.npz", **{**FEATURES, **(features or {})})
        return read_msrc21(tmp_path / "msrc21_graphs.npz", tmp_path / "msrc21_features.npz")

    return write_and_read


def test_an_image_is_a_graph_of_superpixels(read):
    data = read()
    ((image, labels),) = data["test"]
    assert (image.name, image.size, len(image)) == ("a", (2, 3), 3)
    assert labels.tolist() == [1, 5, UNLABELLED]
    assert image.edges.tolist() == [[0, 1], [1, 2]]
    assert image.edge_attributes.tolist() == [[2, 0.5], [3, 0.25]]
    assert image.unary.shape == (3, 21)
    np.testing.assert_array_equal(image.pixel_counts, PIXELS[:3])
    ((other, labels),) = data["train"]
    assert (other.name, labels.tolist()) == ("b", [0, 20])
    assert other.edges.tolist() == [[0, 1]]
    assert other.base[0, :2].tolist() == [51, 52]


def test_features_are_measures_and_histograms_as_shares(read):
    features = read()["train"][0].x.features()
    assert features.shape == (2, 17 + 64 + 128 + 160)
    assert features[0, :17].tolist() == list(range(51, 68))
    assert features[0, 17:81] == pytest.approx(np.full(64, 0.2))
    assert not features[0, 81:209].any()
    assert (features[0, 209:] == 1).all()


def test_arrays_are_of_one_type_everywhere_and_read_only(read):
    image, labels = read()["test"][0]
    floats = [image.unary, image.base, image.edge_attributes]
    wholes = [image.edges, image.pixel_counts, labels]
    small = [image.colors, image.textons, image.daisies]
    assert {a.dtype for a in floats} == {np.dtype(np.float64)}
    assert {a.dtype for a in wholes} == {np.dtype(np.int64)}
    assert {a.dtype for a in small} == {np.dtype(np.uint8)}
    assert not any(a.flags.writeable for a in [*floats, *wholes, *small])


@pytest.mark.parametrize(
    ("graphs", "features", "reason"),
    [
        ({"unary": GRAPHS["unary"][:4]}, {}, r"array 'unary': expected .*\(5, 21\), got"),
        ({"sp_ptr": np.array([0, 6, 5])}, {}, "array 'sp_ptr': expected numbers that rise"),
        ({"edge_ptr": np.array([0, 2, 2])}, {}, "array 'edge_ptr': expected .* 0 to 3"),
        ({"labels": np.array([1, 5, 21, 0, 20])}, {}, "'labels': expected 0 to 20 or 255, got 21"),
        ({"class_names": np.array(CLASSES[::-1])}, {}, "array 'class_names': expected building"),
        ({"names": np.array(["a", "a"])}, {}, "array 'names': expected names that differ"),
        (
            {"edges": np.array([[0, 1], [1, 3], [0, 1]])},
            {},
            "array 'edges': expected pairs of superpixels of 'a', which has 3",
        ),
        ({"edges": np.array([[1, 1], [1, 2], [0, 1]])}, {}, "array 'edges': expected pairs"),
        ({"image_size": np.array([[2, 3], [2, 2]])}, {}, "'b' has 2 x 2 pixels, .* add up to 2"),
        ({}, {"base": FEATURES["base"][:4]}, r"features.npz, array 'base': .*\(5, 17\), got"),
        ({}, {"color_hist": np.ones((5, 64), dtype=np.int64)}, "'color_hist': expected bytes"),
    ],
)
def test_damage_is_answered_with_the_file_and_the_array(read, graphs, features, reason):
    with pytest.raises(DataError, match=r"msrc21_(graphs|features)\.npz") as caught:
        read(graphs, features)
    assert re.search(reason, str(caught.value))


def test_another_set_is_not_taken_for_the_real_one(read, tmp_path):
    read()
    with pytest.raises(DataError, match="train: 335 expected, 1 found"):
        load_msrc21(tmp_path)


images = cache(load_msrc21)


@pytest.mark.usefixtures("real_data")
def test_the_real_set_has_its_images_by_train_and_test():
    assert {part: len(images()[part]) for part in images().parts} == {"train": 335, "test": 256}
    sizes = [len(x) for part in images().parts for x, _ in images()[part]]
    assert (min(sizes), max(sizes), sum(sizes)) == (93, 150, 76002)
    assert images()["train"][0].x.name == "10_10_s"
    names = {part: {x.name for x, _ in images()[part]} for part in images().parts}
    assert not names["train"] & names["test"]


# Pixel accuracies as measured by those who made the features.
@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(("part", "accuracy"), [("train", 0.784), ("test", 0.807)])
def test_the_real_log_probabilities_have_the_known_pixel_accuracy(part, accuracy):
    right = total = 0
    for x, _ in images()[part]:
        right += x.pixel_counts[np.arange(len(x)), x.unary.argmax(axis=1)].sum()
        total += x.pixel_counts[:, :21].sum()
    assert right / total == pytest.approx(accuracy, abs=1e-3)


@pytest.mark.usefixtures("real_data")
def test_the_real_labels_are_what_most_pixels_say():
    for x, y in images()["test"]:
        known = y != UNLABELLED
        assert (x.pixel_counts[known, :21].argmax(axis=1) == y[known]).all()
