"""Learners: they move weights with an engine's answers."""

from rote.learning.base import Learner, State, fit
from rote.learning.local import Local
from rote.learning.perceptron import Perceptron
from rote.learning.subgradient import Subgradient
from rote.learning.svm import StructuredSVM

__all__ = ["Learner", "Local", "Perceptron", "State", "StructuredSVM", "Subgradient", "fit"]
