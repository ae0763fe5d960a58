"""Metrics, and whether their differences mean anything; the gold side always comes first."""

from rote.metrics.compare import Comparison, compare_systems, f1_of_sums
from rote.metrics.coreference import ClusterF1, CoreferenceScores, coreference_scores
from rote.metrics.labels import (
    F1,
    F1Table,
    exact_match,
    known_only,
    label_f1,
    right_labels,
    token_accuracy,
)
from rote.metrics.multilabel import (
    ExampleScores,
    MultilabelScores,
    example_scores,
    multilabel_scores,
)
from rote.metrics.relations import EntityRelations, entity_f1, relation_f1
from rote.metrics.spans import Span, chunk_f1, spans_of

__all__ = [
    "F1",
    "ClusterF1",
    "Comparison",
    "CoreferenceScores",
    "EntityRelations",
    "ExampleScores",
    "F1Table",
    "MultilabelScores",
    "Span",
    "chunk_f1",
    "compare_systems",
    "coreference_scores",
    "entity_f1",
    "exact_match",
    "example_scores",
    "f1_of_sums",
    "known_only",
    "label_f1",
    "multilabel_scores",
    "relation_f1",
    "right_labels",
    "spans_of",
    "token_accuracy",
]
