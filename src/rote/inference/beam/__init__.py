"""Inference as search over partial outputs, and search that learns to mimic an engine."""

from rote.inference.beam.constrained import ConstrainedBeam
from rote.inference.beam.engine import Beam
from rote.inference.beam.patterns import Patterns
from rote.inference.beam.speedup import Served, Speedup

__all__ = ["Beam", "ConstrainedBeam", "Patterns", "Served", "Speedup"]
