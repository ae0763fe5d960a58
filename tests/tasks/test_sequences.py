"""Sequences scored elsewhere, in every form in which people have them, judged by enumeration."""

from __future__ import annotations

import re
import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rote import DataError, NoSolution, RoteError, ScoreError, SettingError
from rote.tasks import label_sequences

EXAMPLE = Path(__file__).parents[2] / "examples/integrations/frames.py"
LABELS = ("O", "B-X", "I-X")
ONE = "exactly 1 token is B-X"


def best_of(matrix, rules=False):
    """The best tags of a sentence by enumeration: I-X follows B-X or I-X; under a rule, one B-X."""
    best, top = None, -np.inf
    for tags in product(range(3), repeat=len(matrix)):
        broken = any(b == 2 and a == 0 for a, b in zip((0, *tags), tags, strict=False))
        if broken or (rules and tags.count(1) != 1):
            continue
        value = sum(row[tag] for row, tag in zip(matrix, tags, strict=True))
        if value > top:
            best, top = tags, value
    return list(best)


@pytest.fixture(scope="module")
def sentences():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(length, 3)) for length in (3, 1, 5, 3, 2, 5, 1)]


@pytest.fixture(scope="module")
def table(sentences):
    """A row for each token, sentences mixed; columns in another order, and one more."""
    rows = np.concatenate(sentences)
    frame = pd.DataFrame(rows, columns=list(LABELS))[["I-X", "O", "B-X"]]
    frame["sentence"] = [f"s{k}" for k, one in enumerate(sentences) for _ in one]
    frame["word"] = "w"
    places = np.concatenate([np.arange(len(one)) for one in sentences])
    order = np.lexsort((np.random.default_rng(1).random(len(rows)), places))
    return frame.iloc[order], order


def padded(sentences):
    scores = np.full((len(sentences), 6, 3), np.nan)  # nobody may look at what is not there
    mask = np.zeros(scores.shape[:2], dtype=np.int64)
    for k, one in enumerate(sentences):
        scores[k, : len(one)], mask[k, : len(one)] = one, 1
    return scores, mask


def named(tags):
    return [LABELS[tag] for tag in tags]


@pytest.mark.parametrize("rules", [None, ONE])
def test_a_list_of_arrays_gives_a_list_of_labels(sentences, rules):
    found = label_sequences(sentences, LABELS, encoding="BIO", rules=rules)
    assert found == [named(best_of(one, rules is not None)) for one in sentences]


@pytest.mark.parametrize("kind", [np.float32, "torch", "bfloat16", "gold labels", "booleans"])
def test_padded_scores_give_positions_and_the_ignored_ones_are_left(sentences, kind):
    scores, mask = padded(sentences)
    if kind in ("torch", "bfloat16"):
        torch = pytest.importorskip("torch")
        dtype = torch.bfloat16 if kind == "bfloat16" else torch.float64
        tensor = torch.tensor(scores, dtype=dtype, requires_grad=True)
        found = label_sequences(tensor, LABELS, encoding="BIO", mask=torch.tensor(mask))
        assert found.dtype == torch.int64
        scores, found = tensor.detach().double().numpy(), found.numpy()
    else:
        scores = scores.astype(np.float32)
        given = mask.astype(bool) if kind == "booleans" else mask
        if kind == "gold labels":  # of some tokens in the middle, the first of each word
            mask[2, 1] = mask[5, 3] = 0
            given = np.where(mask, 2, -100)
        found = label_sequences(scores, LABELS, encoding="BIO", mask=given)
    for tags, row, there in zip(found, scores, mask.astype(bool), strict=True):
        assert tags[there].tolist() == best_of(row[there])
        assert (tags[~there] == -100).all()


@pytest.mark.parametrize("form", ["pandas", "groupby", "polars", "group_by", "arrow", "list"])
def test_a_table_gives_a_column_by_the_names_of_its_columns(sentences, table, form):
    frame, order = table
    expected = np.array([tag for one in sentences for tag in named(best_of(one))], object)[order]
    group = {"group": "sentence"}
    if form == "groupby":
        frame, group = frame.groupby("sentence"), {}
    elif form in ("polars", "group_by"):
        frame = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
        if form == "group_by":
            frame, group = frame.group_by("sentence"), {}
    elif form == "arrow":
        frame = pytest.importorskip("pyarrow").table(frame.to_dict("list"))
    elif form == "list":
        tables = [pd.DataFrame(one, columns=list(LABELS))[::-1][::-1] for one in sentences]
        assert label_sequences(tables, LABELS, encoding="BIO") == [
            named(best_of(s)) for s in sentences
        ]
        return
    found = label_sequences(frame, LABELS, encoding="BIO", **group)
    values = found.to_pylist() if form == "arrow" else found.to_list()
    assert values == expected.tolist()
    if form == "pandas":
        assert found.index.equals(frame.index)


def test_a_sequence_without_an_output_gets_what_was_chosen(sentences, table):
    masked = [one.copy() for one in sentences]
    masked[2][:, 1:] = -np.inf  # nothing is left but O, and the rule wants one B-X
    options = {"encoding": "BIO", "rules": ONE}
    expected = [named(best_of(one, rules=True)) for k, one in enumerate(masked) if k != 2]
    with pytest.raises(NoSolution, match=r"^input 2: infeasible"):
        label_sequences(masked, LABELS, **options)
    for chosen, said in (("skip", None), ("without_rules", ["O"] * 5)):
        found = label_sequences(masked, LABELS, on_infeasible=chosen, **options)
        assert found.pop(2) == said
        assert found == expected
    scores, mask = padded(masked)
    found = label_sequences(scores, LABELS, mask=mask, on_infeasible="skip", **options)
    assert (found[2] == -100).all()
    frame, order = table
    rows = frame.copy()
    rows[list(LABELS)] = np.concatenate(masked)[order]
    with pytest.raises(NoSolution, match=r"^group 's2', input \d: infeasible"):
        label_sequences(rows, LABELS, group="sentence", **options)
    found = label_sequences(rows, LABELS, group="sentence", on_infeasible="skip", **options)
    assert found.isna().tolist() == (rows["sentence"] == "s2").tolist()


def frame(columns=LABELS, groups=("a", "a"), dtype=float):
    made = pd.DataFrame(np.zeros((2, len(columns)), dtype=dtype), columns=list(columns))
    return made.assign(g=list(groups))


@pytest.mark.parametrize(
    ("scores", "options", "error", "match"),
    [
        (
            np.zeros((2, 3)),
            {},
            ScoreError,
            r"tokens, 3\).*; got \(2, 3\); one sequence goes",
        ),
        (np.zeros((1, 2, 4)), {}, ScoreError, r"got \(1, 2, 4\)"),
        ([np.zeros((2, 3)), np.zeros((2, 2))], {}, ScoreError, r"input 1: .*\(tokens, 3\)"),
        ([np.zeros((2, 3)), np.full((2, 3), np.nan)], {}, ScoreError, "input 1: .* nan for label"),
        ([np.zeros((2, 3))], {"mask": [[1, 1]]}, SettingError, "a mask is for padded"),
        ([np.zeros((2, 3))], {"group": "g"}, SettingError, "group names the column"),
        (np.zeros((1, 2, 3)), {"mask": [[1]]}, ScoreError, r"\(1, 2\); got \(1, 1\)"),
        (np.zeros((1, 2, 3)), {"mask": [[1, 7]]}, ScoreError, "0 and 1, or gold labels .* got 7"),
        (frame(), {}, SettingError, "group names the column"),
        (frame(), {"group": "no"}, DataError, "no column 'no'; there are O, B-X, I-X, g"),
        (frame(["O", "B-Y"]), {"group": "g"}, ScoreError, "missing: B-X, I-X"),
        (frame(["O", "B-X", "I-X", "O"]), {"group": "g"}, DataError, "two columns called 'O'"),
        (frame(dtype=str), {"group": "g"}, ScoreError, "'O' .* is not one of numbers"),
        (frame(groups=["a", None]), {"group": "g"}, DataError, "row 1 is of no group"),
        ([], {"labels": ("O", "X")}, SettingError, "the encoding BIO is"),
        ([], {"on_infeasible": "stop"}, SettingError, "on_infeasible is one of"),
        ([], {"rules": 3}, SettingError, "rules is"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(scores, options, error, match):
    with pytest.raises(error, match=match) as raised:
        label_sequences(scores, **{"labels": LABELS, "encoding": "BIO", **options})
    assert isinstance(raised.value, RoteError)


def test_probabilities_are_warned_of_where_the_call_stands(sentences):
    raised = [np.exp(one) / np.exp(one).sum(axis=1, keepdims=True) for one in sentences]
    with pytest.warns(UserWarning, match=r"look like probabilities.*np\.log") as seen:
        label_sequences(raised, LABELS)
    assert seen[0].filename == __file__
    label_sequences([np.eye(3)], LABELS)  # no doubt at all is no sign of probabilities
    label_sequences([np.log(one) for one in raised], LABELS)


def test_empty_sequences_and_none_at_all():
    assert label_sequences([], LABELS) == []
    assert label_sequences([np.zeros((0, 3)), np.zeros((1, 3))], LABELS) == [[], ["O"]]
    assert label_sequences(np.zeros((0, 4, 3)), LABELS).shape == (0, 4)


def test_the_example_of_frames_stays_within_a_tenth_of_a_millisecond(capsys):
    pytest.importorskip("polars")
    runpy.run_path(str(EXAMPLE))
    said = re.findall(
        r"(pandas|polars)\S*: 105000 tokens, (\S+) ms a sentence", capsys.readouterr().out
    )
    assert [name for name, _ in said] == ["pandas", "polars"]
    assert all(float(milliseconds) < 0.1 for _, milliseconds in said)
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 20
