"""Files to values: one reader per format; a damaged file is answered with its line and a reason."""

from rote.io.conll import ENTITIES, RELATIONS, Entity, Relation, Sentence
from rote.io.networks import CostNetwork, Measure, read_network

__all__ = [
    "ENTITIES",
    "RELATIONS",
    "CostNetwork",
    "Entity",
    "Measure",
    "Relation",
    "Sentence",
    "read_network",
]
