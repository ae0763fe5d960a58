"""Weights over a task's features, and what predicts with them."""

from rote.model.batch import Batch
from rote.model.dataset import Dataset, prepare
from rote.model.layout import Block, Layout
from rote.model.model import Model

__all__ = ["Batch", "Block", "Dataset", "Layout", "Model", "prepare"]
