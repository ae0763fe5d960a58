"""Learners: how weights are learned from examples, and what training returns."""

from rote.learning import EpsilonSchedule as EpsilonSchedule
from rote.learning import EpsilonStage as EpsilonStage
from rote.learning import IndependentPerceptron as IndependentPerceptron
from rote.learning import Learner as Learner
from rote.learning import Perceptron as Perceptron
from rote.learning import State as State
from rote.learning import StructuredSVM as StructuredSVM
from rote.learning import Subgradient as Subgradient
from rote.learning import adaptive_schedule as adaptive_schedule
from rote.learning import exact_at_times as exact_at_times
from rote.learning import fit as fit
from rote.learning import geometric as geometric
from rote.learning.checkpoints import load_state as load_state
from rote.learning.checkpoints import save_state as save_state
from rote.learning.cross_validation import Run as Run
from rote.learning.cross_validation import Validation as Validation
from rote.learning.cross_validation import cross_validate as cross_validate
from rote.learning.distill import distill as distill
from rote.learning.training import train as train
from rote.learning.unary_classifier import fit_unary_classifier as fit_unary_classifier
from rote.model import Batch as Batch
from rote.model import Block as Block
from rote.model import Dataset as Dataset
from rote.model import Layout as Layout
from rote.model import prepare as prepare
