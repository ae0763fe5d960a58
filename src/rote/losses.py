"""Losses: how wrong an output is, in learning."""

from rote.space.losses import Hamming, Loss, OneMinusF1, OneMinusJaccard, Term, ZeroOne

__all__ = [
    "Hamming",
    "Loss",
    "OneMinusF1",
    "OneMinusJaccard",
    "Term",
    "ZeroOne",
]
