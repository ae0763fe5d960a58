"""Inputs to sparse rows: names of features, the columns they have, and rows computed on demand."""

from rote.features.batches import Lines, Reader, Runs, spelled
from rote.features.index import (
    FeatureIndex,
    HashedIndex,
    Index,
    Positions,
    index_from_json,
)
from rote.features.lazy import LazyRows
from rote.features.templates import CHUNKING, EDGE, POS_TAGGING, Templates
from rote.features.trie import Names, NamesOf, Span
from rote.features.vectors import CONSTANT, Features, VectorBuilder

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
    "Lines",
    "Names",
    "NamesOf",
    "Positions",
    "Reader",
    "Runs",
    "Span",
    "Templates",
    "VectorBuilder",
    "index_from_json",
    "spelled",
]
