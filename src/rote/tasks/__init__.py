"""Tasks: what inputs look like and what outputs mean, and scores that come from other models."""

from rote.space.global_features import Own
from rote.tasks.adapter import Adapter, Examples, Scores, adapter_of, register, show
from rote.tasks.coreference import Coreference, Document, Mention, ParsedSentence
from rote.tasks.entity_relation import EntityRelation, Extraction
from rote.tasks.external_scores import Mixture, Opinion, learn_mixture, opinion_of, scores_from
from rote.tasks.graphs import Graph, LabelledGraph, grid, without_void
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel, correlated_pairs
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot, Task, WithoutRules

__all__ = [
    "Adapter",
    "Coreference",
    "Document",
    "EntityRelation",
    "Examples",
    "Extraction",
    "Frame",
    "Graph",
    "LabelledGraph",
    "Mention",
    "Mixture",
    "MultiLabel",
    "Multiclass",
    "Opinion",
    "Own",
    "ParsedSentence",
    "Scores",
    "Slot",
    "Tagging",
    "Task",
    "WithoutRules",
    "adapter_of",
    "correlated_pairs",
    "grid",
    "learn_mixture",
    "opinion_of",
    "register",
    "scores_from",
    "show",
    "without_void",
]
