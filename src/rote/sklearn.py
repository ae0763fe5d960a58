"""Estimators for scikit-learn: a structured model in `GridSearchCV` and in pipelines."""

from rote.learning.sklearn import MulticlassEstimator, StructuredEstimator

__all__ = ["MulticlassEstimator", "StructuredEstimator"]
