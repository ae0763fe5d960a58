"""Labels of tokens against all label sequences; `tests/integrations` runs the package itself."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from rote import at_most
from rote.adapters.huggingface import RuledTokens
from rote.errors import DataError, NoSolution, RuleError, ScoreError, SettingError

LABELS = ("O", "B-X", "I-X", "L-X", "U-X")
ONE = "exactly 1 tokens are U-X"


def one(builder, tokens):
    builder.require(at_most(1, [token["U-X"] for token in tokens]), "one of one token")


def valid(labels):
    """BILOU of one kind by a regular expression."""
    text = "".join(LABELS[a][0] for a in labels)
    return re.fullmatch(r"(O|U|BI*L)*", text) is not None


@pytest.mark.parametrize(("rules", "most"), [(None, 9), (one, 1), (ONE, 1)])
def test_the_labels_are_the_best_of_all_that_are_valid(rules, most):
    rng = np.random.default_rng(0)
    tokens = RuledTokens(dict(enumerate(LABELS)), "BILOU", rules)
    logits = rng.normal(size=(40, 5, len(LABELS))).astype(np.float32)
    logits[rng.random(logits.shape) < 0.05] = -np.inf
    logits[..., 0] = np.maximum(logits[..., 0], -9.0)
    logits[..., 4] = np.maximum(logits[..., 4], -9.0)
    mask = rng.random((40, 5)) < 0.8
    gold = np.where(rng.random((40, 5)) < 0.8, 1, -100)
    counts = mask & (gold != -100)
    counts[:, 0] = mask[:, 0] = True
    gold[:, 0] = 0
    found = tokens.predict(logits, mask.astype(int), gold)
    assert (found[~counts] == -100).all()
    for scores, row, there in zip(logits.astype(float), found, counts, strict=True):
        own, length = scores[there], int(there.sum())
        best = max(
            (y for y in itertools.product(range(5), repeat=length) if valid(y)
             and y.count(4) <= most and (rules != ONE or y.count(4) == 1)),
            key=lambda y: sum(own[t, a] for t, a in enumerate(y)),
        )  # fmt: skip
        assert tuple(row[there]) == best


def test_ids_are_read_as_numbers_and_as_texts():
    texts = RuledTokens({str(k): label for k, label in reversed(list(enumerate(LABELS)))}, "BILOU")
    assert texts.labels == RuledTokens(dict(enumerate(LABELS)), "BILOU").labels == LABELS


def test_what_does_not_fit_is_refused():
    with pytest.raises(SettingError, match="id2label is a mapping from the ids 0, 1"):
        RuledTokens({0: "O", 2: "B-X"})
    with pytest.raises(SettingError, match="nothing opens I-X"):
        RuledTokens({0: "O", 1: "I-X"})
    with pytest.raises(RuleError, match="line 1, column"):
        RuledTokens({0: "N", 1: "V"}, None, "token i is A")
    tokens = RuledTokens({0: "N", 1: "V"}, None, "not token first is N")
    with pytest.raises(ScoreError, match=r"logits have the shape \(batch, tokens, 2\).*\(1, 2\)"):
        tokens.predict(np.zeros((1, 2)))
    with pytest.raises(ScoreError, match="attention_mask has the shape"):
        tokens.predict(np.zeros((1, 2, 2)), np.ones(2))
    with pytest.raises(DataError, match="of the same sentences; got 1, 0 and 1"):
        tokens.entities(np.zeros((1, 2, 2)), {"offset_mapping": []}, ["a"])
    impossible = [[[0.0, 0.0]] * 2, [[0.0, -np.inf]] * 2]
    with pytest.raises(NoSolution, match="input 1"):
        tokens.predict(np.array(impossible))


def test_nothing_to_label_is_an_answer():
    tokens = RuledTokens({0: "N", 1: "V"}, None)
    assert tokens.predict(np.zeros((0, 3, 2))).shape == (0, 3)
    assert (tokens.predict(np.zeros((2, 3, 2)), np.zeros((2, 3))) == -100).all()
