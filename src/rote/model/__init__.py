"""Weights over a task's features, and what predicts with them."""

from rote.model.dataset import Group, Prepared, prepare
from rote.model.layout import Block, Layout
from rote.model.model import Model

__all__ = ["Block", "Group", "Layout", "Model", "Prepared", "prepare"]
