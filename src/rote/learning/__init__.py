"""Learners: they move weights with an engine's answers."""

from rote.learning.base import Learner, State, fit
from rote.learning.epsilon_schedule import (
    EpsilonSchedule,
    EpsilonStage,
    adaptive_schedule,
    exact_at_times,
    geometric,
)
from rote.learning.independent import IndependentPerceptron
from rote.learning.perceptron import Perceptron
from rote.learning.subgradient import Subgradient
from rote.learning.svm import StructuredSVM

__all__ = [
    "EpsilonSchedule",
    "EpsilonStage",
    "IndependentPerceptron",
    "Learner",
    "Perceptron",
    "State",
    "StructuredSVM",
    "Subgradient",
    "adaptive_schedule",
    "exact_at_times",
    "fit",
    "geometric",
]
