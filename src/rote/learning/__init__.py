"""Learners: they move weights with an engine's answers."""

from rote.learning.base import Learner as Learner
from rote.learning.base import State as State
from rote.learning.base import fit as fit
from rote.learning.epsilon_schedule import EpsilonSchedule as EpsilonSchedule
from rote.learning.epsilon_schedule import EpsilonStage as EpsilonStage
from rote.learning.epsilon_schedule import adaptive_schedule as adaptive_schedule
from rote.learning.epsilon_schedule import exact_at_times as exact_at_times
from rote.learning.epsilon_schedule import geometric as geometric
from rote.learning.perceptron import IndependentPerceptron as IndependentPerceptron
from rote.learning.perceptron import Perceptron as Perceptron
from rote.learning.subgradient import Subgradient as Subgradient
from rote.learning.svm import StructuredSVM as StructuredSVM
