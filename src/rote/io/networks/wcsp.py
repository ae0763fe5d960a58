"""The WCSP format: weighted constraint satisfaction, costs to minimise.

A file is a sequence of words; line ends mean nothing:

    name, number of variables, largest number of labels, number of cost functions, top
    the number of labels of each variable
    for each cost function its arity, its variables, its default cost, its number of
    tuples, and for each of these the labels and the cost

A cost of top or more is forbidden, and so is a total of top or more. A function of
arity zero is a constant. A function whose arity has a minus sign is *shared*: later
ones may have its tuples by giving minus its place among the shared functions
instead of a number of tuples.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np

from rote.io.networks.table import (
    MAX_LABELS,
    CostNetwork,
    check_scope,
    check_shape,
    cost_network,
    numbered,
    sparse_table,
)
from rote.io.text import Words, read_text
from rote.types import FloatArray

EXACT = 1 << 53  # whole numbers below are exact as floats
NO_TOP = 1 << 1000  # more than any costs add up to
IN_EXTENSION = "only functions given as tuples are read"


def read_wcsp(path: str | Path, text: str | None = None) -> CostNetwork:
    """The network of a WCSP file, which may be compressed."""
    path = Path(path)
    words = Words(path, read_text(path) if text is None else text)
    words.take("the name of the problem")
    n = words.whole("the number of variables")
    largest = words.whole("the largest number of labels", most=MAX_LABELS)
    count = words.whole("the number of cost functions")
    top = words.whole("the upper bound of the total cost")
    sizes = [_size(words, largest) for _ in range(n)]
    scopes, tables = [], []
    shared: list[FloatArray] = []
    for t in range(count):
        arity = words.whole(f"the arity of cost function {t}", least=-n, most=n)
        scope = words.wholes(abs(arity), "the index of a variable", most=n - 1)
        scopes.append(check_scope(words, scope))
        table = _table(words, tuple(sizes[j] for j in scope), shared, top)
        tables.append(table)
        if arity < 0:
            shared.append(table)
    words.end()
    names = [f"cost function {t}" for t in range(count)]
    labels = [numbered(size) for size in sizes]
    return cost_network(path, None, labels, scopes, tables, names, float(min(top, NO_TOP)))


def _size(words: Words, largest: int) -> int:
    size = words.whole("a variable's number of labels", least=None, most=largest)
    if size < 0:
        raise words.error("a variable over an interval (a negative size) is not read")
    if size == 0:
        raise words.error("a variable has at least one label, got 0")
    return size


def _cost(words: Words, word: str, top: int, back: int) -> float:
    """A cost as a float: whole numbers below 2**53 are exact, and others must be forbidden."""
    if Decimal(word) < EXACT:
        return float(word)
    if Decimal(word) < top:
        raise words.error(
            f"a cost is below 2**53, or forbidden by being {top} or more, the upper bound; "
            f"got {word}; divide all costs by the same number",
            back,
        )
    return float(min(top, NO_TOP))


def _table(words: Words, shape: tuple[int, ...], shared: list[FloatArray], top: int) -> FloatArray:
    default = words.whole("a default cost", least=-1)
    if default == -1:
        keyword = words.take("the keyword of a cost function in intension")
        raise words.error(f"the cost function {keyword!r} is given by a formula; {IN_EXTENSION}")
    check_shape(words, shape)
    usual = _cost(words, str(default), top, 1)
    n_tuples = words.whole("a number of tuples", least=-len(shared))
    if n_tuples < 0:
        table = shared[-n_tuples - 1]
        if table.shape != shape:
            raise words.error(
                f"shared function {-n_tuples} is over variables with {list(table.shape)} labels, "
                f"this one over {list(shape)}"
            )
        return table
    if not shape:
        if n_tuples:
            raise words.error(f"a function of arity 0 has no tuples, got {n_tuples}")
        return np.array(usual)
    width = len(shape) + 1
    given = words.peek_many(n_tuples * width)
    numbers = words.numbers(n_tuples * width, "the labels and the cost of a tuple")
    rows = numbers.reshape(n_tuples, width)
    top_labels = np.array([*(size - 1 for size in shape), np.inf])
    wrong = (rows != np.floor(rows)) | (rows < 0) | (rows > top_labels)
    if wrong.any():
        k = int(wrong.ravel().argmax())
        what = "a cost" if k % width == len(shape) else f"a label below {shape[k % width]}"
        raise words.error(f"expected {what}, got {numbers[k]:g}", back=len(numbers) - k)
    for k in np.flatnonzero(rows[:, -1] >= EXACT).tolist():
        place = (k + 1) * width - 1
        rows[k, -1] = _cost(words, given[place], top, len(numbers) - place)
    return sparse_table(words, shape, usual, rows[:, :-1].astype(np.int64), rows[:, -1])
