"""Tasks: what inputs look like and what outputs mean, and scores that come from other models."""

from rote.space.global_features import CustomFeature
from rote.tasks.adapter import Adapter, Examples, Scores, adapter_of, register, show
from rote.tasks.coreference import Coreference, Document, Mention, ParsedSentence
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput, marked_sentences
from rote.tasks.external_scores import (
    ExternalScores,
    Mixture,
    external_scores_of,
    learn_mixture,
    scores_from,
)
from rote.tasks.extraction import (
    EntityCandidate,
    Extracted,
    ExtractionSchema,
    RelationCandidate,
    RelationType,
)
from rote.tasks.graphs import Graph, GraphLabelling, drop_unlabelled, grid
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel, correlated_pairs
from rote.tasks.sequences import label_sequences
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot, Task, WithoutRules

__all__ = [
    "Adapter",
    "Coreference",
    "CustomFeature",
    "Document",
    "EntityCandidate",
    "EntityRelation",
    "EntityRelationOutput",
    "Examples",
    "ExternalScores",
    "Extracted",
    "ExtractionSchema",
    "Frame",
    "Graph",
    "GraphLabelling",
    "Mention",
    "Mixture",
    "MultiLabel",
    "Multiclass",
    "ParsedSentence",
    "RelationCandidate",
    "RelationType",
    "Scores",
    "Slot",
    "Tagging",
    "Task",
    "WithoutRules",
    "adapter_of",
    "correlated_pairs",
    "drop_unlabelled",
    "external_scores_of",
    "grid",
    "label_sequences",
    "learn_mixture",
    "marked_sentences",
    "register",
    "scores_from",
    "show",
]
