"""Learners: how weights are learned from examples, and what training returns."""

from rote.learning import (
    EpsilonSchedule,
    EpsilonStage,
    IndependentPerceptron,
    Learner,
    Perceptron,
    State,
    StructuredSVM,
    Subgradient,
    adaptive_schedule,
    exact_at_times,
    fit,
    geometric,
)
from rote.learning.checkpoints import load_state, save_state
from rote.learning.cross_validation import Run, Validation, cross_validate
from rote.learning.distill import distill
from rote.learning.training import train
from rote.learning.unary_classifier import fit_unary_classifier
from rote.model import Batch, Block, Dataset, Layout, prepare

__all__ = [
    "Batch",
    "Block",
    "Dataset",
    "EpsilonSchedule",
    "EpsilonStage",
    "IndependentPerceptron",
    "Layout",
    "Learner",
    "Perceptron",
    "Run",
    "State",
    "StructuredSVM",
    "Subgradient",
    "Validation",
    "adaptive_schedule",
    "cross_validate",
    "distill",
    "exact_at_times",
    "fit",
    "fit_unary_classifier",
    "geometric",
    "load_state",
    "prepare",
    "save_state",
    "train",
]
