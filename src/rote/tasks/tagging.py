"""Tagging: one label per token of a sequence, with label pairs, triples, … and any rules.

An input is a sequence of tokens; an output is as many labels. The vectors of an input come from
templates (`rote.features.Templates`) over tokens with named columns, or from a function of the
whole input, which may return arrays. A factor over k neighbours has one weight per label tuple. So
has a trait, which is not written out as a table: greedy search can look at four neighbours at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rote.errors import LabelError, SettingError, check_whole, in_order
from rote.features import FeatureReader, Features, Templates
from rote.space import Space, SpaceBuilder, Variable, any_of, template
from rote.space.compiled import keep_recent
from rote.space.global_features import tuples_along
from rote.tasks.task import Frame, Slot

KIND = "token"
Rules = Callable[[SpaceBuilder, Sequence[Variable]], None]


@dataclass(frozen=True)
class Tagging:
    """``order`` 0 scores tokens alone, 1 also pairs of neighbours, 2 also triples, and so on.

    ``features`` are templates, or a function from an input to one vector per token. With ``bio``,
    labels I-X may follow only B-X and I-X. ``rules`` adds rules to the space of a sequence, given
    its builder and variables. Tuples of up to ``wide`` neighbours that no factor has are traits of
    the output, for engines that search (`RGS`).

    >>> from rote.features import Templates
    >>> task = Tagging(("B-NP", "I-NP", "O"), Templates(("word",), ("word[0]",)), bio=True)
    >>> task.frame([["the"], ["dog"]]).space
    Space(2 variables, 1 factors, 2 rules, 15 parts)
    """

    labels: tuple[str, ...]
    features: Templates | Callable[[Any], Sequence[Features]]
    order: int = 1
    bio: bool = False
    rules: Rules | None = None
    wide: int = 0

    def __post_init__(self) -> None:
        check_whole("order", self.order, least=0)
        check_whole("wide", self.wide, least=0)
        if not callable(self.features) and not isinstance(self.features, Templates):
            raise SettingError(
                "features are Templates, or a function from an input to one vector per token; "
                f"got {self.features!r:.80}"
            )
        object.__setattr__(self, "labels", in_order("labels", self.labels))
        if self.bio:
            check_bio(self.labels)

    def frame(self, x: Sequence[Any]) -> Frame:
        return _frame(len(x), self.labels, self.order, self.bio, self.rules, self.wide)

    def vectors(self, x: Sequence[Any]) -> Sequence[Features]:
        if isinstance(self.features, Templates):
            return self.features.rows(x)
        return self.features(x)

    @property
    def feature_reader(self) -> FeatureReader | None:
        """Templates are read from many inputs at once."""
        return self.features.reader(KIND) if isinstance(self.features, Templates) else None

    def encode(self, x: Sequence[Any], y: Sequence[str]) -> list[int]:
        if len(y) != len(x):
            raise LabelError(f"an output has one label per token; got {len(y)} for {len(x)} tokens")
        positions = _positions(self.labels)
        try:
            return [positions[label] for label in y]
        except KeyError as error:
            known = ", ".join(self.labels)
            raise LabelError(f"{error.args[0]!r} is not a label; the labels are {known}") from None

    def decode(self, x: Sequence[Any], labels: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.labels[label] for label in labels)


@lru_cache(maxsize=64)
def _positions(labels: tuple[str, ...]) -> dict[str, int]:
    return {label: position for position, label in enumerate(labels)}


@keep_recent
def _frame(
    length: int, labels: tuple[str, ...], order: int, bio: bool, rules: Rules | None, wide: int
) -> Frame:
    space: Space = _space(length, labels, order, bio, rules)
    slots = [_slot("label", t) for t in range(length)]
    slots += [_slot(f"{len(factor.variables)} labels") for factor in space.factors]
    traits = tuple(
        tuples_along(f"{span} labels", length, span, len(labels))
        for span in range(order + 2, wide + 1)
    )
    return Frame(space, tuple(slots), (KIND,) * length, traits)


_slot = lru_cache(maxsize=4096)(Slot)  # frames of different lengths share theirs


@template
def _space(
    builder: SpaceBuilder,
    length: int,
    labels: tuple[str, ...],
    order: int,
    bio: bool,
    rules: Rules | None,
) -> None:
    tokens = [builder.variable(str(t), labels) for t in range(length)]
    for span in range(2, order + 2):
        for first in range(length - span + 1):
            builder.factor(*tokens[first : first + span])
    if bio:
        require_bio(builder, tokens)
    if rules is not None:
        rules(builder, tokens)


def check_bio(labels: Sequence[str]) -> None:
    """Refuse labels that are not spelled as `require_bio` reads them: it would require nothing.

    And labels I-X without B-X, which it would forbid everywhere.

    Where spans have one token each, there are labels B-X and no I-X, and nothing is to be required.
    """
    if not any(label.startswith(("B-", "I-")) for label in labels):
        raise SettingError(
            "with bio, labels I-X may follow only B-X and I-X, and there are no labels of either "
            f"spelling; got {', '.join(labels):.80}; spell labels so, or leave bio out"
        )
    unopened = [a for a in labels if a.startswith("I-") and f"B-{a[2:]}" not in labels]
    if unopened:
        missing = ", ".join(f"B-{label[2:]}" for label in unopened)
        raise SettingError(
            "with bio, labels I-X may follow only B-X and I-X, and nothing opens "
            f"{', '.join(unopened):.80}, so that no output could have it; add {missing:.80} to the "
            "labels, or leave bio out"
        )


def require_bio(builder: SpaceBuilder, tokens: Sequence[Variable]) -> None:
    """Rules that let I-X follow only B-X and I-X."""
    for t, token in enumerate(tokens):
        for label in token.labels:
            if not label.startswith("I-"):
                continue
            kind = label.removeprefix("I-")
            openers = [a for a in (f"B-{kind}", label) if a in token.labels]
            if t == 0:
                builder.require(~token[label], f"no {label} at the start")
            else:
                before = any_of([tokens[t - 1][a] for a in openers])
                builder.require(token[label] >> before, f"{label} at {t} goes on")
