"""Approximate engines: randomized greedy search, beam search, and learned variants of both."""

from rote.inference.approximate.beam import Beam
from rote.inference.approximate.beam_plan import Patterns
from rote.inference.approximate.constrained_beam import ConstrainedBeam
from rote.inference.approximate.greedy import RGS
from rote.inference.approximate.initial import IID, Guesses
from rote.inference.approximate.learned_beam import Speedup
from rote.inference.approximate.learned_restarts import AmortizedRGS
from rote.inference.approximate.search_trace import Paths, climb_from

__all__ = [
    "IID",
    "RGS",
    "AmortizedRGS",
    "Beam",
    "ConstrainedBeam",
    "Guesses",
    "Paths",
    "Patterns",
    "Speedup",
    "climb_from",
]
