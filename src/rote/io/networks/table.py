"""`CostNetwork`: a problem that somebody else wrote, as tables of scores over a few variables.

Whatever a file holds becomes scores to *maximise*: a probability its logarithm, a
cost its negative. What a file rules out is kept apart, as a mask:

- a probability of zero;
- a cost of the file's upper bound ("top") or more. Where other tables have negative
  costs these could pay for it, so with m the least cost of each table, an entry c of
  table t is forbidden when c + Σ_{s≠t} min(0, m_s) >= top.

A *total* of top or more is no answer either. No mask can say so; ``floor`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import fsum, prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rote.io.text import Words
from rote.types import BoolArray, FloatArray, IntArray, Scalar, readonly

MAX_ENTRIES = 1 << 24  # of one table: 128 MB
MAX_LABELS = 1 << 20  # of one variable
ROUNDING = 1e-9  # decimals of a file are not exact as floats; within this, a total is at top


class Measure(Enum):
    """What the numbers of a file are."""

    PROBABILITY = "probability"  # to maximise the product of
    COST = "cost"  # to minimise the sum of
    GAIN = "gain"  # to maximise the sum of; the CFN format calls them costs as well


@dataclass(frozen=True, eq=False)
class CostNetwork:
    """Variables, and tables of scores over some of them; the value of an output is their sum.

    Parameters
    ----------
    source
        The file's name, without its folder.
    measure
        What the numbers of the file are.
    names, labels
        The variables, and the labels of each.
    scopes, tables, allowed, table_names
        Scores ``tables[t]``, with one axis per variable of ``scopes[t]``. Where ``allowed[t]`` is
        False the entry is forbidden, and the score there is the least allowed one.
    constant
        Belongs to the value of every output.
    floor
        The value of an answer is above this.
    """

    source: str
    measure: Measure
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[FloatArray, ...]
    allowed: tuple[BoolArray, ...]
    table_names: tuple[str, ...]
    constant: float = 0.0
    floor: float = -np.inf

    def cost(self, value: float) -> float | None:
        """What the file's own cost functions add up to at this value; None for probabilities."""
        if self.measure is Measure.PROBABILITY:
            return None
        # Adding zero turns -0.0 into 0.0.
        return (value if self.measure is Measure.GAIN else -value) + 0.0


def probability_network(
    path: Path,
    sizes: Sequence[int],
    scopes: Sequence[tuple[int, ...]],
    probabilities: Sequence[FloatArray],
    evidence: Sequence[tuple[int, int]] = (),
) -> CostNetwork:
    """The network of probability tables; ``evidence`` are variables and their given labels."""
    names = tuple(_variable(j) for j in range(len(sizes)))
    tables, constant = [], []
    for t, (scope, table) in enumerate(zip(scopes, probabilities, strict=True)):
        if not scope and table:
            constant.append(np.log(table))
            continue
        with np.errstate(divide="ignore"):
            tables.append(_Table(f"table {t}", scope, np.log(table), np.asarray(table > 0)))
    for j, label in evidence:
        given = np.arange(sizes[j]) == label
        tables.append(_Table(f"the evidence on {names[j]}", (j,), np.zeros(sizes[j]), given))
    return _network(
        tables,
        source=path.name,
        measure=Measure.PROBABILITY,
        names=names,
        labels=tuple(numbered(size) for size in sizes),
        constant=fsum(constant),
    )


def cost_network(
    path: Path,
    names: Sequence[str] | None,
    labels: Sequence[tuple[str, ...]],
    scopes: Sequence[tuple[int, ...]],
    costs: Sequence[FloatArray],
    table_names: Sequence[str],
    top: float,
    measure: Measure = Measure.COST,
    rounding: float = 0.0,
) -> CostNetwork:
    """The network of cost tables whose total stays below ``top`` (a gain: above it)."""
    sign = 1.0 if measure is Measure.GAIN else -1.0
    scores = [sign * table for table in costs]
    floor = sign * top + rounding * max(1.0, abs(top))
    help_of = [max(0.0, float(table.max())) for table in scores]
    help_of_all = fsum(help_of)
    tables = [
        _Table(name, scope, table, table + (help_of_all - own) > floor)
        for name, scope, table, own in zip(table_names, scopes, scores, help_of, strict=True)
        if scope
    ]
    return _network(
        tables,
        source=path.name,
        measure=measure,
        names=tuple(names or (_variable(j) for j in range(len(labels)))),
        labels=tuple(labels),
        constant=fsum(float(s) for s, scope in zip(scores, scopes, strict=True) if not scope),
        floor=floor,
    )


def numbered(size: int) -> tuple[str, ...]:
    """Labels for a variable whose file only says how many there are."""
    return tuple(map(str, range(size)))


def check_scope(words: Words, scope: Sequence[int]) -> tuple[int, ...]:
    """A scope just read, in which no variable may stand twice."""
    if len(set(scope)) != len(scope):
        raise words.error(f"a scope names each variable once, got {list(scope)}")
    return tuple(scope)


def check_shape(words: Words, shape: tuple[int, ...]) -> int:
    """How many entries a table of this shape has, if that fits into memory."""
    entries = prod(shape)
    if entries > MAX_ENTRIES:
        raise words.error(
            f"this table is over {len(shape)} variables and has {entries} entries; "
            f"tables of up to {MAX_ENTRIES} are read"
        )
    return entries


def sparse_table(
    words: Words, shape: tuple[int, ...], default: float, tuples: IntArray, costs: FloatArray
) -> FloatArray:
    """A table that is ``default`` but for the ``tuples`` whose words were just taken."""
    table = np.full(shape, float(default))  # of whole numbers, it would cut and wrap costs
    # Over no variable there is one entry, which a list without tuples leaves alone.
    codes = (
        np.ravel_multi_index(tuple(tuples.T), shape) if shape else np.zeros(len(tuples), np.int64)
    )
    order = np.argsort(codes, kind="stable")
    again = order[1:][(np.diff(codes[order]) == 0) & (np.diff(costs[order]) != 0)]
    if len(again):
        k = int(again[0])
        raise words.error(
            f"the tuple {tuples[k].tolist()} stands twice in this table, with different costs",
            back=(len(tuples) - k) * (len(shape) + 1),
        )
    table.flat[codes] = costs
    return table


class _Table(NamedTuple):
    name: str
    scope: tuple[int, ...]
    scores: FloatArray
    allowed: BoolArray


def _network(tables: Sequence[_Table], **rest: Any) -> CostNetwork:
    return CostNetwork(
        scopes=tuple(table.scope for table in tables),
        tables=tuple(_filled(table.scores, table.allowed) for table in tables),
        allowed=tuple(_read_only(table.allowed) for table in tables),
        table_names=tuple(table.name for table in tables),
        **rest,
    )


def _variable(index: int) -> str:
    return f"x{index}"


def _filled(table: FloatArray, allowed: BoolArray) -> FloatArray:
    least = float(table[allowed].min()) if allowed.any() else 0.0
    return _read_only(np.where(allowed, table, least))


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    # `frozen` gives an array without axes one axis; a table over no variable has none.
    return readonly(array).reshape(array.shape)
