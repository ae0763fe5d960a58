"""The convolutional network for images of letters."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from papers.data.ocr import LABELS, load_ocr  # noqa: E402
from papers.ma2019.cnn import (  # noqa: E402
    CNN,
    _shifted,
)
from rote import DataError, SettingError  # noqa: E402
from rote.torch import Training  # noqa: E402
from tests.torch.small import accuracy, bars  # noqa: E402

SMALL = {"shape": (4, 6), "channels": 4, "hidden": 16}


def test_bars_are_told_apart_wherever_they_are():
    xs, ys = bars(80)
    training = Training(epochs=10, rate=0.01)
    network = CNN(("-", "|"), **SMALL, shift=0, training=training).fit(xs, ys)
    more, right = bars(40, seed=1)
    assert accuracy(network.predict(more), right) > 0.95
    best = [np.argmax(rows, axis=1) for rows in network.log_probabilities_of(more)]
    assert [tuple("-|"[label] for label in own) for own in best] == network.predict(more)


def test_an_image_is_labelled_by_itself():
    xs, ys = bars(10)
    network = CNN(("-", "|"), **SMALL, training=Training(epochs=1)).fit(xs, ys)
    for x in xs:
        alone = [network.log_probabilities(x[k : k + 1])[0] for k in range(len(x))]
        np.testing.assert_allclose(network.log_probabilities(x), alone, atol=1e-6)


def test_shifts_move_an_image_by_no_more_than_they_may():
    image = np.zeros((5, 6))
    image[2, 3] = 1.0
    torch.manual_seed(0)
    moved = _shifted(torch.from_numpy(image).expand(300, 1, 5, 6), 1)
    assert moved.shape == (300, 1, 5, 6)
    places = {tuple(one[1:]) for one in torch.nonzero(moved)[:, 1:].tolist()}
    assert places == {(row, column) for row in (1, 2, 3) for column in (2, 3, 4)}
    assert moved.sum() == 300


def test_what_leaves_an_image_does_not_come_back_at_the_other_side():
    edge = torch.zeros(200, 1, 2, 2)
    edge[:, 0, 0, 0] = 1.0
    torch.manual_seed(0)
    moved = _shifted(edge, 1).flatten(1).sum(dim=1)
    assert set(moved.tolist()) == {0.0, 1.0}


def test_images_of_another_size_are_refused():
    with pytest.raises(DataError, match="24 pixels, and these have 20"):
        CNN(("-", "|"), **SMALL).fit([np.zeros((1, 20))], [("-",)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"shape": (3, 8)},
        {"shape": (8,)},
        {"shape": (0, 2)},
        {"dropout": 1.0},
        {"channels": 0},
        {"hidden": 0},
        {"shift": -1},
    ],
    ids=str,
)
def test_settings_are_checked(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        CNN(("-", "|"), **wrong)


@pytest.mark.usefixtures("real_data")
def test_handwritten_letters_fit_the_shape_that_is_the_default():
    examples = load_ocr()["all"][:40]
    xs, ys = [e.x for e in examples], [e.y for e in examples]
    network = CNN(LABELS, channels=4, hidden=16, training=Training(epochs=1)).fit(xs, ys)
    assert [len(found) for found in network.predict(xs)] == [len(y) for y in ys]
