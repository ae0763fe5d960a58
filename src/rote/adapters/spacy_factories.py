"""The factories of `rote.adapters.spacy`, which spaCy finds by entry points of the package."""
# ruff: noqa: ARG001 (a factory is given the pipeline)

# Annotations are read by spaCy as they are, so that they are no texts here.
from collections.abc import Callable
from typing import Any

from spacy.language import Language

from rote.adapters.spacy import RuledCats, RuledSpans


@Language.factory(  # type: ignore[untyped-decorator]
    "rote_cats",
    default_config={"rules": None, "threshold": 0.5},
    assigns=["doc.cats"],
    requires=["doc.cats"],
)
def make_cats(
    nlp: Language, name: str, rules: str | Callable[..., Any] | None, threshold: float
) -> RuledCats:
    """`RuledCats` for a pipeline."""
    return RuledCats(rules, threshold, name)


@Language.factory(  # type: ignore[untyped-decorator]
    "rote_spans",
    default_config={
        "spans_key": "sc",
        "rules": None,
        "threshold": 0.5,
        "overlap": False,
        "ents": False,
    },
    assigns=["doc.spans"],
    requires=["doc.spans"],
)
def make_spans(
    nlp: Language,
    name: str,
    spans_key: str,
    rules: str | Callable[..., Any] | None,
    threshold: float,
    overlap: bool,
    ents: bool,
) -> RuledSpans:
    """`RuledSpans` for a pipeline."""
    return RuledSpans(spans_key, rules, threshold, overlap, ents, name)
