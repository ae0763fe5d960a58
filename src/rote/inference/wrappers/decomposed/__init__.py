"""Learning from the outputs around the gold one: `Decomposed`, and ways to say what is around."""

from rote.inference.wrappers.decomposed.components import SignedComponents
from rote.inference.wrappers.decomposed.engine import Decomposed
from rote.inference.wrappers.decomposed.sets import (
    CustomSets,
    Decomposition,
    HammingBall,
    NeighbourhoodSets,
    Union,
)
from rote.inference.wrappers.decomposed.signs import Sign, estimate_signs

__all__ = [
    "CustomSets",
    "Decomposed",
    "Decomposition",
    "HammingBall",
    "NeighbourhoodSets",
    "Sign",
    "SignedComponents",
    "Union",
    "estimate_signs",
]
