"""Randomised greedy search, for scores that no exact engine can take."""

from rote.inference.greedy.engine import RGS
from rote.inference.greedy.guesses import IID, Guesses

__all__ = ["IID", "RGS", "Guesses"]
