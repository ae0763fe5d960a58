"""Encodings against their definition: every set of spans has one sequence of tags, and no other."""

from __future__ import annotations

from functools import cache
from typing import get_args

import pytest

from rote import SpaceBuilder
from rote.errors import SettingError
from rote.tasks.encodings import Encoding, check_encoding, encoded_spans, require_encoding
from tests.strategies import Judge

ALL = get_args(Encoding)
KINDS = ("X", "Y-Z")
# First, middle and last token of a span, and its only one.
LETTERS = {"BIO": "BIIB", "BILOU": "BILU", "BIOES": "BIES"}


@cache
def segmentations(length):
    """Every way to lay spans that do not overlap: (start, stop, kind)."""
    if length == 0:
        return [()]
    found = list(segmentations(length - 1))  # the last token outside
    for start in range(length):
        found += [
            (*before, (start, length, kind)) for before in segmentations(start) for kind in KINDS
        ]
    return found


def tags_of(spans, length, encoding):
    tags = ["O"] * length
    for number, (start, stop, kind) in enumerate(spans):
        if encoding == "IOB1":
            touches = number and spans[number - 1][1:] == (start, kind)
            tags[start:stop] = [f"{'B' if touches else 'I'}-{kind}"] + [f"I-{kind}"] * (
                stop - start - 1
            )
        else:
            first, middle, last, only = LETTERS[encoding]
            inner = [first, *[middle] * (stop - start - 2), last]
            letters = [only] if stop - start == 1 else inner
            tags[start:stop] = [f"{letter}-{kind}" for letter in letters]
    return tuple(tags)


def labels_of(encoding):
    letters = "BI" if encoding == "IOB1" else sorted(set(LETTERS[encoding]))
    return ("O", *(f"{letter}-{kind}" for kind in KINDS for letter in letters))


@pytest.mark.parametrize("length", [0, 1, 2, 3])
@pytest.mark.parametrize("encoding", ALL)
def test_the_outputs_are_the_tags_of_all_sets_of_spans(encoding, length):
    builder, labels = SpaceBuilder(), labels_of(encoding)
    tokens = [builder.variable(str(t), labels) for t in range(length)]
    check_encoding(labels, encoding)
    require_encoding(builder, tokens, encoding)
    outputs = [tuple(labels[a] for a in y) for y in Judge(builder.build()).outputs]
    expected = {tags_of(spans, length, encoding): spans for spans in segmentations(length)}
    assert set(outputs) == set(expected)
    assert all(tuple(encoded_spans(tags)) == spans for tags, spans in expected.items())


@pytest.mark.parametrize(
    ("encoding", "labels", "said"),
    [
        ("BIO", ("O", "I-X"), "nothing opens I-X, .*; add B-X to"),
        ("IOB1", ("O", "B-X"), "nothing opens B-X, .*; add I-X to"),
        ("BILOU", ("O", "B-X", "I-X", "U-X"), "nothing closes I-X, .*; add L-X to"),
        ("BIOES", ("O", "I-X", "E-X"), "nothing opens I-X, .*; add B-X to"),
        ("BIOES", ("NN", "VB"), "labels B-X, I-X, E-X, S-X, and none .*; got NN, VB"),
    ],
)
def test_labels_that_no_output_could_have_are_refused(encoding, labels, said):
    with pytest.raises(SettingError, match=f"{said}.* leave encoding out"):
        check_encoding(labels, encoding)


def test_tags_of_another_spelling_are_spans_by_themselves():
    tags = ["O", "DATE", "DATE", "U-X", "X-ray", "B-Y", "E-Y"]
    spans = [(1, 3, "DATE"), (3, 4, "X"), (4, 5, "X-ray"), (5, 7, "Y")]
    assert encoded_spans(tags) == spans
