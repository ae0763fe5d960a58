"""Inputs to sparse rows: names of features, the columns they have, and rows computed on demand."""

from rote.features.index import (
    FeatureIndex,
    HashedIndex,
    Index,
    Positions,
    Pruned,
    index_from_json,
)
from rote.features.lazy import LazyRows
from rote.features.templates import CHUNKING, EDGE, POS_TAGGING, Templates
from rote.features.vectors import CONSTANT, Features, VectorBuilder
from rote.features.writing import Writer, Written

__all__ = [
    "CHUNKING",
    "CONSTANT",
    "EDGE",
    "POS_TAGGING",
    "FeatureIndex",
    "Features",
    "HashedIndex",
    "Index",
    "LazyRows",
    "Positions",
    "Pruned",
    "Templates",
    "VectorBuilder",
    "Writer",
    "Written",
    "index_from_json",
]
