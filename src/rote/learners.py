"""Learners: how weights are learned from examples, and what training returns."""

from rote.learning import (
    Learner,
    Local,
    Perceptron,
    Stage,
    Staged,
    State,
    StructuredSVM,
    Subgradient,
    adaptive,
    exact_at_times,
    fit,
    geometric,
)
from rote.learning.checkpoints import load_state, save_state
from rote.learning.cross_validation import Run, Validation, cross_validate
from rote.learning.distill import teach
from rote.learning.training import train
from rote.learning.unary_classifier import fit_iid
from rote.model import Block, Group, Layout, Prepared, prepare

__all__ = [
    "Block",
    "Group",
    "Layout",
    "Learner",
    "Local",
    "Perceptron",
    "Prepared",
    "Run",
    "Stage",
    "Staged",
    "State",
    "StructuredSVM",
    "Subgradient",
    "Validation",
    "adaptive",
    "cross_validate",
    "exact_at_times",
    "fit",
    "fit_iid",
    "geometric",
    "load_state",
    "prepare",
    "save_state",
    "teach",
    "train",
]
