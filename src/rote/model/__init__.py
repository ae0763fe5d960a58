"""Weights over a task's features, and what predicts with them."""

from rote.model.dataset import Batch, Dataset, prepare
from rote.model.layout import Block, Layout
from rote.model.model import Model

__all__ = ["Batch", "Block", "Dataset", "Layout", "Model", "prepare"]
