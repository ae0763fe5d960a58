"""Randomised greedy search, for scores that no exact engine can take."""

from rote.inference.greedy.amortized import AmortizedRGS
from rote.inference.greedy.engine import RGS
from rote.inference.greedy.exact_every import ExactEvery
from rote.inference.greedy.guesses import IID, Guesses
from rote.inference.greedy.paths import Paths, climb_from

__all__ = ["IID", "RGS", "AmortizedRGS", "ExactEvery", "Guesses", "Paths", "climb_from"]
