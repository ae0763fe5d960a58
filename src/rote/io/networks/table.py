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

import numpy as np
from numpy.typing import NDArray

from rote.io.text import Words
from rote.types import BoolArray, FloatArray, IntArray, Scalar, frozen

MOST_ENTRIES = 1 << 24  # of one table: 128 MB
MOST_LABELS = 1 << 20  # of one variable
ROUNDING = 1e-9  # decimals of a file are not exact as floats; within this, a total is at top


class Measure(Enum):
    """What the numbers of a file are."""

    PROBABILITY = "probability"  # to maximise the product of
    COST = "cost"  # to minimise the sum of
    GAIN = "gain"  # to maximise the sum of; the CFN format calls them costs as well


@dataclass(frozen=True, eq=False)
class CostNetwork:
    """Variables, and tables of scores over some of them; the value of an output is their sum.

    ``tables[t]`` has one axis per variable of ``scopes[t]``. Where ``allowed[t]`` is
    False the entry is forbidden, and the score there is the least allowed one.
    """

    source: str  # the file's name, without its folder
    measure: Measure
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[FloatArray, ...]
    allowed: tuple[BoolArray, ...]
    table_names: tuple[str, ...]
    constant: float = 0.0  # belongs to the value of every output
    floor: float = -np.inf  # the value of an answer is above this

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
    constant = fsum(
        np.log(p) for p, scope in zip(probabilities, scopes, strict=True) if not scope and p
    )
    kept = [
        t for t, (p, scope) in enumerate(zip(probabilities, scopes, strict=True)) if scope or not p
    ]
    masks = [np.asarray(probabilities[t] > 0) for t in kept]
    with np.errstate(divide="ignore"):
        tables = [np.log(probabilities[t]) for t in kept]
    for variable, label in evidence:
        tables.append(np.zeros(sizes[variable]))
        masks.append(np.arange(sizes[variable]) == label)
    return CostNetwork(
        path.name,
        Measure.PROBABILITY,
        tuple(_variable(j) for j in range(len(sizes))),
        tuple(numbered(size) for size in sizes),
        (*(scopes[t] for t in kept), *((variable,) for variable, _ in evidence)),
        tuple(_filled(table, mask) for table, mask in zip(tables, masks, strict=True)),
        tuple(_read_only(mask) for mask in masks),
        (
            *(f"table {t}" for t in kept),
            *(f"the evidence on {_variable(variable)}" for variable, _ in evidence),
        ),
        constant,
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
    kept = [t for t, scope in enumerate(scopes) if scope]
    masks = [scores[t] + (help_of_all - help_of[t]) > floor for t in kept]
    return CostNetwork(
        path.name,
        measure,
        tuple(names or (_variable(j) for j in range(len(labels)))),
        tuple(labels),
        tuple(scopes[t] for t in kept),
        tuple(_filled(scores[t], mask) for t, mask in zip(kept, masks, strict=True)),
        tuple(_read_only(mask) for mask in masks),
        tuple(table_names[t] for t in kept),
        fsum(float(table) for table, scope in zip(scores, scopes, strict=True) if not scope),
        floor,
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
    if entries > MOST_ENTRIES:
        raise words.error(
            f"this table is over {len(shape)} variables and has {entries} entries; "
            f"tables of up to {MOST_ENTRIES} are read"
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


def _variable(index: int) -> str:
    return f"x{index}"


def _filled(table: FloatArray, allowed: BoolArray) -> FloatArray:
    least = float(table[allowed].min()) if allowed.any() else 0.0
    return _read_only(np.where(allowed, table, least))


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    # `frozen` gives an array without axes one axis; a table over no variable has none.
    return frozen(array).reshape(array.shape)
