"""Sequences whose tokens another model has scored: lists, padded arrays and tables, all at once.

A token classifier gives a score for each label of each token. `label_sequences` takes them as they
come, solves all sequences of one length together, and answers in the form that was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from rote.errors import RoteError, ScoreError, SettingError, locate
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.many import check_solving, solve_group
from rote.io.tables import as_array, column, columns_of, grouped, in_runs, like, numbers
from rote.metrics.labels import IGNORED
from rote.settings import LIST, check, one_of, optional
from rote.space.rule_text import RULES, Rules
from rote.tasks.encodings import Encoding, check_encoding
from rote.tasks.external_scores import warn_of_probabilities
from rote.tasks.tagging import tokens_space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, offsets_from_counts

ENCODING = optional(one_of(*get_args(Encoding)))


def label_sequences(
    scores: Any,
    labels: Sequence[str],
    *,
    encoding: Encoding | None = None,
    rules: Rules | None = None,
    group: str | None = None,
    mask: Any = None,
    engine: Engine | None = None,
    on_infeasible: str = "error",
    n_jobs: int = 1,
) -> Any:
    """The best labels of sequences under rules, in the form in which their scores came.

    A list of arrays of shape (tokens, labels) gives a list with a list of labels for each. An array
    or tensor of shape (batch, tokens, labels) gives the positions of labels, of shape (batch,
    tokens), with -100 where ``mask`` says that there is no token. A DataFrame or an Arrow table
    gives a column of labels beside its rows.

    Parameters
    ----------
    scores
        The higher, the better: logits or log-probabilities; -inf forbids a label. A table, or what
        ``groupby`` makes of it, has a row for each token, and a column for each label by its name.
    labels
        What the scores are of, in the order of their last axis; of a table, the names of columns.
    encoding
        How labels spell spans: "BIO" (IOB2), "IOB1", "BILOU" or "BIOES"; None requires nothing.
    rules
        Those of `rote.Tagging`.
    group
        The column of a table that says which sequence a row is of; its rows need not stand
        together. Not for what ``groupby`` made.
    mask
        For padded scores: True or 1 where there is a token, of shape (batch, tokens); an attention
        mask. Or gold labels with -100 in them: everything else is a token.
    engine
        What solves them; None is `rote.Exact`.
    on_infeasible
        What becomes of a sequence without an output: "error", or "skip", whose labels are None or
        -100, or "without_rules", the best labels that break rules.
    n_jobs
        How many threads share the sequences of a length.

    Examples
    --------
    >>> padded = np.array([[[0.0, 2.0, 1.0], [0.5, 0.0, 1.0]], [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]])
    >>> label_sequences(padded, ("O", "B-PER", "I-PER"), encoding="BIO", mask=[[1, 1], [1, 0]])
    array([[   1,    2],
           [   0, -100]])
    """
    engine = Exact() if engine is None else engine
    check_solving(engine, on_infeasible)
    names = check("labels", labels, LIST)
    check("rules", rules, RULES)
    check("encoding", encoding, ENCODING)
    if encoding is not None:
        check_encoding(names, encoding)
    known = grouped(scores)
    frame, keys = known or (scores, None)
    table = columns_of(frame)
    if (table is None) != (group is None and keys is None):
        raise SettingError(
            "group names the column that says which sequence a row of a table is of; say it for "
            "tables, and for nothing else"
        )
    if mask is not None and (table is not None or isinstance(scores, list | tuple)):
        raise SettingError("a mask is for padded scores of shape (batch, tokens, labels)")

    def solved(flat: FloatArray, lengths: IntArray) -> IntArray:
        warn_of_probabilities(flat, stacklevel=4)
        return labelled(flat, lengths, names, encoding, rules, engine, on_infeasible, n_jobs)

    if table is not None:
        if keys is None:
            keys = column(table, str(group)).to_numpy().tolist()
        order, lengths, every = in_runs(keys)
        flat = numbers(table, names)[order]
        try:
            found = solved(flat, lengths)
        except RoteError as error:
            if error.about is not None:
                locate(error, f"group {every[error.about[1]]!r}, input", error.about[1])
            raise
        said = np.empty(len(order), dtype=object)
        said[order] = np.array([*names, None], dtype=object)[found]
        return like(frame, said.tolist(), "label")
    if isinstance(scores, list | tuple):
        each = [_matrix(k, one, names) for k, one in enumerate(scores)]
        lengths = np.array(list(map(len, each)), np.int64)
        flat = np.concatenate(each) if each else np.empty((0, len(names)))
        words = np.array([*names, None], dtype=object)[solved(flat, lengths)].tolist()
        runs = pairwise(offsets_from_counts(lengths).tolist())
        return [None if words[a:b][:1] == [None] else words[a:b] for a, b in runs]
    padded = as_array(scores)
    if padded.ndim != 3 or padded.shape[2] != len(names):
        raise ScoreError(
            f"padded scores have the shape (batch, tokens, {len(names)}), one number per label; "
            f"got {padded.shape}; one sequence goes into a list"
        )
    there = _mask(mask, padded.shape[:2])
    found = np.full(there.shape, IGNORED, dtype=np.int64)
    answers = solved(padded[there], there.sum(axis=1))
    found[there] = np.where(answers < 0, IGNORED, answers)
    if isinstance(scores, np.ndarray):
        return found
    from torch import as_tensor

    return as_tensor(found, device=scores.device)


def labelled(
    flat: AnyArray,
    lengths: IntArray,
    labels: tuple[str, ...],
    encoding: Encoding | None,
    rules: Rules | None,
    engine: Engine,
    on_infeasible: str = "error",
    n_jobs: int = 1,
) -> IntArray:
    """The label of each token of sequences that lie end to end; -1 in those without an output."""
    found = np.full(len(flat), -1, dtype=np.int64)
    starts = offsets_from_counts(lengths)[:-1]
    for length in np.unique(lengths[lengths > 0]).tolist():
        members = np.flatnonzero(lengths == length)
        places = starts[members, None] + np.arange(length)
        scores = flat[places].reshape(len(members), length * len(labels))
        space = tokens_space(length, labels, 0, encoding, rules)
        answers = solve_group(engine, space, scores, members, on_infeasible, n_jobs)
        found[places] = answers.labels
    return found


def _matrix(number: int, given: Any, labels: tuple[str, ...]) -> AnyArray:
    """The scores of one sequence of a list; those of a table by the names of its columns."""
    table = columns_of(given)
    try:
        matrix = as_array(given) if table is None else numbers(table, labels)
        if matrix.ndim != 2 or matrix.shape[1] != len(labels):
            raise ScoreError(
                f"the scores of a sequence have the shape (tokens, {len(labels)}), one number per "
                f"label; got {matrix.shape}"
            )
    except RoteError as error:
        locate(error, "input", number)
        raise
    return matrix


def _mask(given: Any, shape: tuple[int, ...]) -> BoolArray:
    if given is None:
        return np.ones(shape, dtype=np.bool_)
    mask = as_array(given)
    if mask.shape != shape:
        raise ScoreError(
            f"a mask has the shape (batch, tokens), as the scores: {shape}; got {mask.shape}"
        )
    ignored = mask == IGNORED
    if not ignored.any() and not np.isin(mask, (0, 1)).all():
        stray = mask[~np.isin(mask, (0, 1))][0]
        raise ScoreError(
            f"a mask holds 0 and 1, or gold labels with {IGNORED} in them; got {stray}"
        )
    return np.asarray(~ignored if ignored.any() else mask != 0)
