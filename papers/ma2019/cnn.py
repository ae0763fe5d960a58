"""A small convolutional network that labels the letters of a word, each from its own image.

Two layers of convolutions, a layer that makes both sides half as long, and two linear layers. An
input is a sequence of images, each a vector of height · width numbers, row by row. A letter is
learned by itself, by cross-entropy; put rules and label pairs on top of the log-probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rote import DataError
from rote.settings import Setting, check, number, whole
from rote.torch.files import KINDS
from rote.torch.inputs import Dense, Inputs
from rote.torch.scorer import Scorer, cross_entropy
from rote.types import IntArray

SETTINGS = {
    "shape": Setting(
        "an even height and width",
        lambda shape: len(shape) == 2 and all(side >= 2 and side % 2 == 0 for side in shape),
    ),
    "channels": whole(1),
    "hidden": whole(1),
    "shift": whole(0),
    "dropout": number(least=0, below=1),
}


@dataclass(frozen=True, eq=False)
class CNN(Scorer):
    """``shape`` is the height and width of an image; both are even.

    The first convolution has ``channels`` and the second twice as many, and the linear layer is
    ``hidden`` wide. In training, every image is shifted by up to ``shift`` pixels each way, and a
    share ``dropout`` of what goes into the linear layers is left out.
    """

    shape: tuple[int, int] = (16, 8)
    channels: int = 24
    hidden: int = 128
    dropout: float = 0.4
    shift: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, setting in SETTINGS.items():
            check(name, getattr(self, name), setting)

    def inputs_of(self, xs: Sequence[Any]) -> Inputs:
        found, wanted = Dense.of(xs), self.shape[0] * self.shape[1]
        if found.width != wanted:
            raise DataError(
                f"an image of {self.shape[0]} x {self.shape[1]} has {wanted} pixels, and these "
                f"have {found.width}"
            )
        return found

    def network_of(self, inputs: Inputs) -> nn.Module:
        return _Convolutions(
            self.shape, self.channels, self.hidden, self.dropout, self.shift, len(self.labels)
        )

    def loss_of(self, network: nn.Module, scores: Tensor, gold: IntArray) -> Tensor:
        return cross_entropy(scores, gold)

    def best_of(self, network: nn.Module, scores: Tensor) -> IntArray:
        best: IntArray = scores.argmax(dim=-1).numpy()
        return best


class _Convolutions(nn.Module):
    """From vectors of pixels (m, n, height · width) to scores (m, n, labels)."""

    def __init__(
        self,
        shape: tuple[int, int],
        channels: int,
        hidden: int,
        dropout: float,
        shift: int,
        labels: int,
    ) -> None:
        super().__init__()
        self.shape, self.shift = shape, shift
        self.layers = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dropout(dropout),
            nn.Linear(2 * channels * (shape[0] // 2) * (shape[1] // 2), hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, labels),
        )

    def forward(self, vectors: Tensor) -> Tensor:
        images = vectors.reshape(-1, 1, *self.shape)
        if self.training and self.shift:
            images = _shifted(images, self.shift)
        scores: Tensor = self.layers(images)
        return scores.reshape(*vectors.shape[:2], -1)


def _shifted(images: Tensor, most: int) -> Tensor:
    """Each image (k, 1, height, width) moved by its own draw, with zeros where nothing was."""
    count, _, height, width = images.shape
    wide = nn.functional.pad(images, (most,) * 4)[:, 0]
    moves = torch.randint(0, 2 * most + 1, (2, count))
    rows = moves[0][:, None] + torch.arange(height)
    columns = moves[1][:, None] + torch.arange(width)
    each = torch.arange(count)[:, None, None]
    return wide[each, rows[:, :, None], columns[:, None, :]][:, None]


KINDS["CNN"] = CNN
