"""Approximate engines: randomized greedy search, beam search, and learned variants of both."""

from rote.inference.approximate.beam import Beam as Beam
from rote.inference.approximate.beam import ConstrainedBeam as ConstrainedBeam
from rote.inference.approximate.beam_plan import HeuristicFeatures as HeuristicFeatures
from rote.inference.approximate.greedy import RGS as RGS
from rote.inference.approximate.initial import Initializer as Initializer
from rote.inference.approximate.initial import UnaryClassifier as UnaryClassifier
from rote.inference.approximate.learned_beam import LearnedBeam as LearnedBeam
from rote.inference.approximate.learned_restarts import LearnedRestarts as LearnedRestarts
from rote.inference.approximate.search_trace import SearchTrace as SearchTrace
from rote.inference.approximate.search_trace import hill_climb as hill_climb
