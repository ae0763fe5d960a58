"""Learning from the outputs around the gold one: `Decomposed`, and ways to say what is around."""

from rote.inference.wrappers.decomposed.components import SignedComponents
from rote.inference.wrappers.decomposed.engine import Decomposed
from rote.inference.wrappers.decomposed.sets import Chosen, Decomposition, Split, Union
from rote.inference.wrappers.decomposed.signs import Sign, estimate_signs
from rote.inference.wrappers.decomposed.subsets import Subsets

__all__ = [
    "Chosen",
    "Decomposed",
    "Decomposition",
    "Sign",
    "SignedComponents",
    "Split",
    "Subsets",
    "Union",
    "estimate_signs",
]
