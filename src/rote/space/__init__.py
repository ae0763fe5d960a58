"""Structured output spaces: variables, factors over them, and constraints (rules)."""

from rote.space.builder import SpaceBuilder, template
from rote.space.language import Rule, Variable
from rote.space.quantifiers import (
    all_different,
    all_of,
    any_of,
    at_least,
    at_most,
    count,
    exactly,
    one_of,
)
from rote.space.relations import (
    acyclic,
    functional,
    inverse,
    nested_or_apart,
    no_overlap,
    symmetric,
)
from rote.space.space import Factor, NamedRule, Space

__all__ = [
    "Factor",
    "NamedRule",
    "Rule",
    "Space",
    "SpaceBuilder",
    "Variable",
    "acyclic",
    "all_different",
    "all_of",
    "any_of",
    "at_least",
    "at_most",
    "count",
    "exactly",
    "functional",
    "inverse",
    "nested_or_apart",
    "no_overlap",
    "one_of",
    "symmetric",
    "template",
]
