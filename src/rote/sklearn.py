"""Estimators for scikit-learn: structured models in `GridSearchCV`; rules on any classifier."""

from rote.learning.ruled_classifier import RuledClassifier
from rote.learning.sklearn import MulticlassEstimator, StructuredEstimator

__all__ = ["MulticlassEstimator", "RuledClassifier", "StructuredEstimator"]
