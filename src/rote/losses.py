"""Losses: how wrong an output is, in learning."""

from rote.space.losses import F1Loss, Hamming, JaccardLoss, Loss, LossTerm, ZeroOne

__all__ = [
    "F1Loss",
    "Hamming",
    "JaccardLoss",
    "Loss",
    "LossTerm",
    "ZeroOne",
]
