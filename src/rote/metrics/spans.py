"""Chunks of a sentence from its tags, and F1 over whole chunks, as the conlleval script counts.

Tags are B-X, I-X and O. A chunk begins at B-X, and at an I-X that has nothing of the same
kind before it; it goes on through every I-X that follows. So tags in IOB2 are read, where
each chunk begins with B; tags in IOB1, where B only parts neighbours of one kind; and tags
that break either scheme, as free predictions do, with no tag thrown away. A tag without a
kind, B or I alone, is of the kind "".

A predicted chunk is right when a gold chunk has the same kind and the same two ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rote.errors import DataError
from rote.metrics.labels import F1Table, paired, table_of_pairs

OUTSIDE = "O"


class Span(NamedTuple):
    """A chunk of a sentence.

    Parameters
    ----------
    start, stop
        It is ``tags[start:stop]``.
    label
        Its kind.
    """

    start: int
    stop: int
    label: str


def spans_of(tags: Sequence[str]) -> list[Span]:
    """The chunks of one sentence, in order.

    Parameters
    ----------
    tags
        B-KIND, I-KIND or O for each token.

    >>> spans_of(["B-NP", "I-NP", "O", "I-VP"])
    [Span(start=0, stop=2, label='NP'), Span(start=3, stop=4, label='VP')]
    """
    found: list[Span] = []
    start, label = 0, None  # the chunk that is open, if any is
    for place, tag in enumerate([*tags, OUTSIDE]):
        prefix, _, kind = tag.partition("-")
        if prefix not in ("B", "I") and tag != OUTSIDE:
            raise DataError(
                f"tag {place}: expected B-KIND, I-KIND or {OUTSIDE}, got {tag!r}; "
                "turn other schemes into one of these"
            )
        if prefix == "I" and kind == label:
            continue
        if label is not None:
            found.append(Span(start, place, label))
        start, label = place, None if tag == OUTSIDE else kind
    return found


def chunk_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> F1Table:
    """F1 over the chunks of all sentences, by kind; conlleval's overall figures are ``micro``.

    Parameters
    ----------
    gold, predicted
        For each sentence its tags.

    >>> table = chunk_f1([["B-NP", "I-NP", "B-VP"]], [["B-NP", "O", "B-VP"]])
    >>> table.micro.f1, table.by_label["VP"].f1
    (0.5, 1.0)
    """
    pairs: list[tuple[str | None, str | None]] = []
    for number, (g, p) in enumerate(paired(gold, predicted, "sentences")):
        paired(g, p, "tags", f"sentence {number}: ")
        there, said = set(spans_of(g)), set(spans_of(p))
        pairs += [
            (span.label if span in there else None, span.label if span in said else None)
            for span in there | said
        ]
    return table_of_pairs(pairs)
