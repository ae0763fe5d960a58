"""Approximate engines: randomized greedy search, beam search, and learned variants of both."""

from rote.inference.approximate.beam import Beam, ConstrainedBeam
from rote.inference.approximate.beam_plan import HeuristicFeatures
from rote.inference.approximate.greedy import RGS
from rote.inference.approximate.initial import Initializer, UnaryClassifier
from rote.inference.approximate.learned_beam import LearnedBeam
from rote.inference.approximate.learned_restarts import LearnedRestarts
from rote.inference.approximate.search_trace import SearchTrace, hill_climb

__all__ = [
    "RGS",
    "Beam",
    "ConstrainedBeam",
    "HeuristicFeatures",
    "Initializer",
    "LearnedBeam",
    "LearnedRestarts",
    "SearchTrace",
    "UnaryClassifier",
    "hill_climb",
]
