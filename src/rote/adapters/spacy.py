"""Components for spaCy pipelines that put rules on scores: of categories, and of candidate spans.

`RuledCats`, in a pipeline ``rote_cats``, decides which of ``doc.cats`` hold. `RuledSpans`,
``rote_spans``, chooses among the spans of a group that has scores, as a ``spancat`` leaves them.
Both are made by name, without an import of rote, and are saved with their pipeline:

    nlp.add_pipe("rote_cats", config={"rules": "if dog then animal"})

The factories are in `rote.adapters.spacy_factories`, which spaCy finds by itself.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from rote.errors import DataError
from rote.inference.exact.exact import Exact
from rote.settings import FLAG, Checked, number
from rote.space import Space, SpaceBuilder, at_most
from rote.space.rule_text import RULES, Rules, Vocabulary
from rote.tasks.external_scores import FLOOR
from rote.tasks.multilabel import MultiLabel
from rote.types import AnyArray, FloatArray

__all__ = ["RuledCats", "RuledSpans"]

NONE = "none"  # the label of a span that is not taken


class _Component(Checked, ABC):
    """What components share: batches, and settings as JSON, but for a function of rules."""

    def pipe(self, docs: Iterable[Any], batch_size: int = 256) -> Iterator[Any]:
        """The documents of a stream under rules, so many at a time."""
        stream = iter(docs)
        while batch := list(islice(stream, batch_size)):
            yield from self._ruled(batch)

    @abstractmethod
    def _ruled(self, docs: Sequence[Any]) -> Iterable[Any]:
        """Documents under rules."""

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The settings; a function of rules is left to the config of the pipeline."""
        settings = asdict(self)  # type: ignore[call-overload]
        return json.dumps({k: v for k, v in settings.items() if not callable(v)}).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Take over settings that were saved."""
        vars(self).update(json.loads(data))
        self.__post_init__()
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the settings into a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / "cfg").write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Take over settings from a folder."""
        return self.from_bytes((Path(path) / "cfg").read_bytes())


@dataclass
class RuledCats(_Component):
    """The likeliest categories of a document that obey rules.

    Each category is on or off, by itself where its score is above the threshold. What is left on
    has the score 1 in ``doc.cats`` and the others 0; the scores as they were are
    ``doc.user_data[name]``.

    Parameters
    ----------
    rules
        A text (`rote.space.rule_text`) about categories by their names, as in "if dog then animal",
        or a function that adds rules, given a builder and the variables.
    threshold
        Where on and off are as likely.
    name
        The component's name in its pipeline.
    """

    rules: Rules | None = None
    threshold: float = 0.5
    name: str = "rote_cats"

    checks: ClassVar = {"rules": RULES, "threshold": number(above=0, below=1)}

    def __call__(self, doc: Any) -> Any:
        """The document, its categories decided."""
        (found,) = self._ruled([doc])
        return found

    def _ruled(self, docs: Sequence[Any]) -> Iterable[Any]:
        groups: dict[tuple[str, ...], list[Any]] = {}
        for doc in docs:
            if doc.cats:
                groups.setdefault(tuple(doc.cats), []).append(doc)
        for labels, own in groups.items():
            space = _space_of_cats(labels, self.rules)
            on = _log_odds([list(doc.cats.values()) for doc in own], self.threshold)
            scores = np.stack([np.zeros_like(on), on], axis=2).reshape(len(own), -1)
            chosen = Exact().solve(space, scores).require_outputs("document of the batch")
            for doc, row in zip(own, chosen.tolist(), strict=True):
                doc.user_data[self.name] = dict(doc.cats)
                doc.cats = dict(zip(labels, map(float, row), strict=True))
        return docs


@dataclass
class RuledSpans(_Component):
    """The likeliest spans of a group that do not overlap and obey rules.

    The group has candidates and ``attrs["scores"]``, their probabilities, as ``spancat`` writes
    them: let its threshold be low, so that there are candidates to choose from. A span has one
    label at most. The group is replaced by one of the chosen spans with their scores.

    Parameters
    ----------
    spans_key
        The group, ``doc.spans[spans_key]``.
    rules
        A text about spans in their order, as in "at most 1 spans are PER" or "if span i is A then
        not span i+1 is B", or a function that adds rules, given a builder and the variables. A
        candidate that is not taken is "none".
    threshold
        Where taking a span and leaving it are as likely.
    overlap
        Whether spans may overlap.
    ents
        Whether the chosen spans are the entities of the document as well.
    name
        The component's name in its pipeline.
    """

    spans_key: str = "sc"
    rules: Rules | None = None
    threshold: float = 0.5
    overlap: bool = False
    ents: bool = False
    name: str = "rote_spans"

    checks: ClassVar = {
        "rules": RULES,
        "threshold": number(above=0, below=1),
        "overlap": FLAG,
        "ents": FLAG,
    }

    def __call__(self, doc: Any) -> Any:
        """The document, its spans chosen."""
        group = doc.spans.get(self.spans_key)
        if group is None or not len(group):
            return doc
        given = group.attrs.get("scores")
        if given is None or len(given) != len(group):
            raise DataError(
                f"doc.spans[{self.spans_key!r}] has no score for each of its {len(group)} spans in "
                'attrs["scores"], as spancat writes them; put rote_spans behind what scores spans'
            )
        worth = _log_odds(given, self.threshold)
        places: dict[tuple[int, int], dict[str, int]] = {}
        order = sorted(range(len(group)), key=lambda k: (group[k].start, group[k].end, worth[k]))
        for k in order:
            if self.rules is not None or worth[k] > 0:  # what no rule could ask for is left out
                places.setdefault((group[k].start, group[k].end), {})[group[k].label_] = k
        space = self._space(places)
        scores = [s for own in places.values() for s in (0.0, *(worth[k] for k in own.values()))]
        (chosen,) = Exact().solve(space, np.array(scores)).require_outputs().tolist()
        taken = [
            list(own.values())[label - 1]
            for own, label in zip(places.values(), chosen, strict=True)
            if label
        ]
        spans = [group[k] for k in taken]
        attrs = {**group.attrs, "scores": np.asarray(given)[taken]}
        doc.spans[self.spans_key] = type(group)(doc, name=self.spans_key, spans=spans, attrs=attrs)
        if self.ents:
            doc.ents = spans
        return doc

    def _ruled(self, docs: Sequence[Any]) -> Iterable[Any]:
        return (self(doc) for doc in docs)

    def _space(self, places: dict[tuple[int, int], dict[str, int]]) -> Space:
        builder = SpaceBuilder()
        spans = {
            place: builder.variable(f"{place[0]}-{place[1]}", (NONE, *own))
            for place, own in places.items()
        }
        if not self.overlap:
            over: dict[int, tuple[tuple[int, int], ...]] = {}
            for place in spans:
                for token in range(*place):
                    over[token] = (*over.get(token, ()), place)
            for several in dict.fromkeys(over.values()):
                if len(several) > 1:
                    taken = [~spans[place][NONE] for place in several]
                    builder.require(at_most(1, taken), "spans do not overlap")
        labels = tuple(dict.fromkeys(label for span in spans.values() for label in span.labels))
        known = {"span": {(k,): span for k, span in enumerate(spans.values())}}
        vocabulary = Vocabulary({"span": (1, _AnyLabel(labels))})
        vocabulary.require(builder, self.rules, list(spans.values()), known)
        return builder.build()


class _AnyLabel(tuple[str, ...]):
    """Labels of spans: a rule may speak of one that no candidate of a document has."""

    def __contains__(self, label: object) -> bool:
        return True


@lru_cache(maxsize=64)
def _space_of_cats(labels: tuple[str, ...], rules: Rules | None) -> Space:
    return MultiLabel(labels, pairs="none", rules=rules).frame([]).space


def _log_odds(probabilities: AnyArray | Sequence[Any], threshold: float) -> FloatArray:
    """How much likelier than the threshold, as the logarithm of odds, which are finite."""
    p = np.asarray(probabilities, dtype=np.float64)
    with np.errstate(divide="ignore"):
        odds = np.log(p) - np.log1p(-p)
    return np.asarray(np.clip(odds, FLOOR, -FLOOR) - np.log(threshold / (1 - threshold)))
