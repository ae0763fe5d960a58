"""Weights over a task's features, and what predicts with them."""

from rote.model.layout import Block, Layout
from rote.model.model import Model
from rote.model.prepared import Group, Prepared, prepare

__all__ = ["Block", "Group", "Layout", "Model", "Prepared", "prepare"]
