"""Encodings of spans as tags: which tag may stand beside which, and the spans that tags say.

BIO    I-X continues B-X and I-X (also called IOB2)
IOB1   B-X parts a span from one of its kind that ends right before it; others begin with I-X
BILOU  spans begin with B-X, go on with I-X and end with L-X; U-X is a span of one token
BIOES  the same, with E-X for L-X and S-X for U-X
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from rote.errors import SettingError
from rote.metrics.spans import OUTSIDE, Span, spans_of
from rote.space import SpaceBuilder, Variable, any_of

Encoding: TypeAlias = Literal["BIO", "IOB1", "BILOU", "BIOES"]


class _Neighbours(NamedTuple):
    """For some prefixes, those of which one must stand before, and after; both of the same kind."""

    before: Mapping[str, str]
    after: Mapping[str, str]


ENCODINGS: Mapping[Encoding, _Neighbours] = {
    "BIO": _Neighbours({"I": "BI"}, {}),
    "IOB1": _Neighbours({"B": "IB"}, {}),
    "BILOU": _Neighbours({"I": "BI", "L": "BI"}, {"B": "IL", "I": "IL"}),
    "BIOES": _Neighbours({"I": "BI", "E": "BI"}, {"B": "IE", "I": "IE"}),
}
_AS_BIO = {"U": "B", "S": "B", "L": "I", "E": "I"}


def check_encoding(
    labels: Sequence[str], encoding: Encoding = "BIO", setting: str = "encoding"
) -> None:
    """Refuse labels that are not spelled as `require_encoding` reads them.

    It would require nothing of them; or forbid them everywhere, as I-X of BIO where there is no
    B-X. Where spans have one token each, there are labels B-X and no I-X, and nothing is required.
    """
    prefixes = tuple(f"{letter}-" for letter in encoding if letter not in "O1")
    if not any(label.startswith(prefixes) for label in labels):
        raise SettingError(
            f"the encoding {encoding} is one of labels {', '.join(f'{p}X' for p in prefixes)}, and "
            f"none of the labels is spelled so; got {', '.join(labels):.80}; spell "
            f"labels so, or leave {setting} out"
        )
    for said, sides in zip(("opens", "closes"), ENCODINGS[encoding], strict=True):
        missing = {
            label: next(other for other in beside if other != label)
            for label in labels
            if (beside := _beside(label, sides)) and not set(beside) & (set(labels) - {label})
        }
        if missing:
            raise SettingError(
                f"in the encoding {encoding} nothing {said} {', '.join(missing):.80}, so that no "
                f"output could have it; add {', '.join(missing.values()):.80} to the labels, or "
                f"leave {setting} out"
            )


def require_encoding(
    builder: SpaceBuilder, tokens: Sequence[Variable], encoding: Encoding = "BIO"
) -> None:
    """Rules under which the labels of tokens are those of spans."""
    before, after = ENCODINGS[encoding]
    for t, token in enumerate(tokens):
        for label in token.labels:
            for sides, there, end, said in (
                (before, t - 1, "start", "goes on"),
                (after, t + 1, "end", "is gone on with"),
            ):
                beside = _beside(label, sides)
                if not beside:
                    continue
                if 0 <= there < len(tokens):
                    found = [tokens[there][a] for a in beside if a in tokens[there].labels]
                    builder.require(token[label] >> any_of(found), f"{label} at {t} {said}")
                else:
                    builder.require(~token[label], f"no {label} at the {end}")


def encoded_spans(tags: Sequence[str]) -> list[Span]:
    """The spans that tags of any of the encodings say.

    A tag X that is spelled otherwise, and is not O, is read as I-X.

    >>> encoded_spans(["B-PER", "L-PER", "O", "U-LOC"])
    [Span(start=0, stop=2, label='PER'), Span(start=3, stop=4, label='LOC')]
    """
    return spans_of(list(_as_bio(tags)))


def _as_bio(tags: Sequence[str]) -> Iterator[str]:
    for tag in tags:
        prefix, dash, kind = tag.partition("-")
        bio = _AS_BIO.get(prefix, prefix)
        read = dash and bio in ("B", "I")
        yield f"{bio}-{kind}" if read else tag if tag == OUTSIDE else f"I-{tag}"


def _beside(label: str, sides: Mapping[str, str]) -> list[str]:
    prefix, dash, kind = label.partition("-")
    return [f"{other}-{kind}" for other in sides.get(prefix, "")] if dash else []
