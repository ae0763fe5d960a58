"""Metrics, and whether their differences mean anything; the gold side always comes first."""

from rote.evaluation.classification import (
    F1,
    Confusion,
    F1Table,
    confusion,
    exact_match,
    label_f1,
    right_labels,
    token_accuracy,
)
from rote.evaluation.coreference import (
    ClusterF1,
    CoreferenceScores,
    b_cubed,
    ceaf_e,
    coreference_scores,
    muc,
    without_singletons,
)
from rote.evaluation.entities import EntityRelations, entity_f1, relation_f1
from rote.evaluation.images import PixelAccuracy, pixel_accuracy
from rote.evaluation.multilabel import (
    ExampleScores,
    MultilabelScores,
    example_scores,
    multilabel_scores,
)
from rote.evaluation.searches import Followed, follow, share_right
from rote.evaluation.significance import (
    BootstrapComparison,
    Comparison,
    Interval,
    f1_of_sums,
    mean_interval,
    paired_bootstrap,
    randomization_test,
    share_of_sums,
)
from rote.evaluation.spans import Span, chunk_f1, spans_of

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
    "Followed",
    "Interval",
    "MultilabelScores",
    "PixelAccuracy",
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
    "follow",
    "label_f1",
    "mean_interval",
    "muc",
    "multilabel_scores",
    "paired_bootstrap",
    "pixel_accuracy",
    "randomization_test",
    "relation_f1",
    "right_labels",
    "share_of_sums",
    "share_right",
    "spans_of",
    "token_accuracy",
    "without_singletons",
]
