"""Learners: they move weights with an engine's answers."""

from rote.learning.base import Learner, State, fit
from rote.learning.epsilon_schedule import Stage, Staged, adaptive, exact_at_times, geometric
from rote.learning.independent import Local
from rote.learning.perceptron import Perceptron
from rote.learning.subgradient import Subgradient
from rote.learning.svm import StructuredSVM

__all__ = [
    "Learner",
    "Local",
    "Perceptron",
    "Stage",
    "Staged",
    "State",
    "StructuredSVM",
    "Subgradient",
    "adaptive",
    "exact_at_times",
    "fit",
    "geometric",
]
