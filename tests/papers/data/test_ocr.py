"""The reader of handwritten words: the format, folds, damage, and the real file."""

import numpy as np
import pytest

from papers.data import ocr
from papers.data.ocr import load_ocr, read_ocr
from rote import DataError

# Three words, "ab", "z" and "ba", in folds 0, 9 and 0. The first pixel of the first letter and
# the last pixel of the last one are black.
PIXELS = np.zeros((5, 16), dtype=np.uint8)
PIXELS[0, 0], PIXELS[4, 15] = 0b1000_0000, 0b0000_0001
ARRAYS = {
    "pixels": PIXELS,
    "labels": np.array([0, 1, 25, 1, 0], dtype=np.uint8),
    "word_ptr": np.array([0, 2, 3, 5], dtype=np.int32),
    "fold": np.array([0, 9, 0], dtype=np.uint8),
}

GROW = "'word_ptr': expected numbers that grow from 0 to 5"


@pytest.fixture
def write(tmp_path):
    def write_arrays(**changes):
        np.savez(tmp_path / "ocr_letters.npz", **{**ARRAYS, **changes})
        return tmp_path / "ocr_letters.npz"

    return write_arrays


def test_a_word_is_an_image_per_letter_and_the_letters(write):
    data = read_ocr(write())
    assert [example.y for example in data["all"]] == [("a", "b"), ("z",), ("b", "a")]
    assert [example.x.shape for example in data["all"]] == [(2, 128), (1, 128), (2, 128)]
    first, middle, last = (example.x for example in data["all"])
    assert first.dtype == np.uint8
    assert np.argwhere(first).tolist() == [[0, 0]]
    assert not middle.any()
    assert np.argwhere(last).tolist() == [[1, 127]]
    assert not first.flags.writeable
    assert data.folds == (0, 9, 0)


def test_small_trains_on_one_fold_and_large_on_all_others(write):
    data = read_ocr(write())
    words = {
        name: {part: ["".join(e.y) for e in examples] for part, examples in fold.parts.items()}
        for name, fold in {"small": data.small(0), "large": data.large(0)}.items()
    }
    assert words == {
        "small": {"train": ["ab", "ba"], "test": ["z"]},
        "large": {"train": ["z"], "test": ["ab", "ba"]},
    }
    assert data.small(3)["train"] == ()
    for k in (-1, 10):
        with pytest.raises(DataError, match=f"ocr has the folds 0 to 9; got {k}"):
            data.large(k)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pixels": PIXELS[:4]}, "'pixels': expected a row of bytes for each of 5 labels, got 4"),
        ({"pixels": PIXELS.astype(int)}, "'pixels': expected a row of bytes .*5 rows of int64"),
        ({"pixels": PIXELS[:, :8]}, r"'pixels': .* of shape \(any, 16\), got .*\(5, 8\)"),
        ({"labels": np.array([0, 1, 26, 1, 0])}, "'labels': expected numbers from 0 to 25, got 26"),
        ({"labels": np.array([0, 1, -1, 1, 0])}, "'labels': expected numbers from 0 to 25, got -1"),
        ({"labels": np.ones(5)}, "'labels': expected whole numbers .*got float64"),
        ({"fold": np.array([0, 10, 0])}, "'fold': expected numbers from 0 to 9, got 10"),
        ({"fold": np.array([0, 9])}, "'word_ptr': expected 3 entries for 2 folds, got 4"),
        ({"word_ptr": np.array([], dtype=int)}, "'word_ptr': expected 4 entries for 3 folds"),
        ({"word_ptr": np.array([0, 3, 3, 5])}, GROW),
        ({"word_ptr": np.array([1, 2, 3, 5])}, GROW),
        ({"word_ptr": np.array([0, 2, 3, 4])}, GROW),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_arrays_that_do_not_fit_together_are_a_data_error(write, changes, reason):
    with pytest.raises(DataError, match=reason):
        read_ocr(write(**changes))


def test_other_words_are_not_taken_for_the_real_ones(write, monkeypatch):
    folder = write().parent
    with pytest.raises(DataError, match="all words: 6877 expected, 3 found; all letters: 52152"):
        load_ocr(folder)
    monkeypatch.setattr(ocr, "COUNTS", {"distinct words": 3, "words of fold 0": 2})
    assert load_ocr(folder).folds == (0, 9, 0)


@pytest.mark.usefixtures("real_data")
def test_the_real_words_are_as_published():
    data = load_ocr()
    assert "".join(data["all"][0].y) == "ommanding"
    assert data.folds[0] == 0
    assert set(np.unique(np.concatenate([e.x for e in data["all"]]))) == {0, 1}
    sizes = [len(data.small(k)["train"]) for k in range(10)]
    assert sizes == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    assert [len(data.large(k)["train"]) for k in range(10)] == [6877 - size for size in sizes]
