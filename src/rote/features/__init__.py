"""Inputs to sparse rows: names of features, and the columns they have."""

from rote.features.batches import FeatureReader, Lines, Reader, Runs, spelled
from rote.features.index import (
    FeatureIndex,
    HashedIndex,
    Index,
    Positions,
    index_from_json,
)
from rote.features.templates import CHUNKING, EDGE, POS_TAGGING, Templates
from rote.features.trie import Names, NamesOf, Span
from rote.features.vectors import CONSTANT, Features, VectorBuilder

__all__ = [
    "CHUNKING",
    "CONSTANT",
    "EDGE",
    "POS_TAGGING",
    "FeatureIndex",
    "FeatureReader",
    "Features",
    "HashedIndex",
    "Index",
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
