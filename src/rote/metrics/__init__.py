"""Metrics, and whether their differences mean anything; the gold side always comes first."""

from rote.metrics.compare import (
    BootstrapComparison,
    Comparison,
    Interval,
    f1_of_sums,
    mean_interval,
    paired_bootstrap,
    randomization_test,
    share_of_sums,
)
from rote.metrics.coreference import (
    ClusterF1,
    CoreferenceScores,
    b_cubed,
    ceaf_e,
    coreference_scores,
    muc,
    without_singletons,
)
from rote.metrics.labels import (
    F1,
    Confusion,
    F1Table,
    confusion,
    exact_match,
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
    "BootstrapComparison",
    "ClusterF1",
    "Comparison",
    "Confusion",
    "CoreferenceScores",
    "EntityRelations",
    "ExampleScores",
    "F1Table",
    "Interval",
    "MultilabelScores",
    "Span",
    "b_cubed",
    "ceaf_e",
    "chunk_f1",
    "confusion",
    "coreference_scores",
    "entity_f1",
    "exact_match",
    "example_scores",
    "f1_of_sums",
    "label_f1",
    "mean_interval",
    "muc",
    "multilabel_scores",
    "paired_bootstrap",
    "randomization_test",
    "relation_f1",
    "right_labels",
    "share_of_sums",
    "spans_of",
    "token_accuracy",
    "without_singletons",
]
