"""Whether learning from what is around the gold outputs is as good as learning from all outputs.

With a loss Δ and d(y) = φ(x, gold) - φ(x, y), these weights leave no slack (Samdani & Roth 2012,
section 5; they ask that the first set is not empty):

    W*    = { w :  w · d(y) ≥ Δ(gold, y)  for all examples and all outputs y }
    W_dec = { w :  the same for those y that are around gold }

W* lies inside W_dec, and a decomposition is *exact* for the examples if both are equal. It is,
unless for some y that is not around gold there is a w in W_dec with w · d(y) < Δ(gold, y). To look
for it is a linear program for each y, here written for the cone over W_dec:

    min  w · d(y) - t Δ(gold, y)      w · d(y') ≥ t Δ(gold, y')  for all y' that are around gold
                                      -1 ≤ w ≤ 1,   0 ≤ t ≤ 1

It has a solution always. Where its value is below 0, w / t is in W_dec and not in ``W*``; or t is
0, and w is a direction that leads out of ``W*`` and not out of W_dec.

*Tolerances.* Columns, then rows, are scaled to have 1 as their largest entry, so that answers do
not depend on the units of features and losses. Programs are solved to 1e-9 and only a value below
-1e-6 counts, far above what many small errors add up to. Weights that it takes for a counterexample
are then mixed with weights inside W*, as far as half of the violation allows: so they obey
W_dec with room to spare, wherever there is a loss. Examples count as separable when 1e-6 ≤ t is
possible, that is by weights up to a million on this scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rote import DataError, Loss, Problem, ScoreError, SettingError, UnsupportedSpace
from rote.engines import Decomposition
from rote.inference.wrappers.decomposed.sets import NeighbourhoodSets
from rote.kernels.learning.linear import add_label
from rote.learning.base import check_examples
from rote.model import Batch, Dataset
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

MAX_OUTPUTS = 1 << 12
SOLVED = 1e-9
LEAST = 1e-6
SAME = 12  # decimals in which rows, or columns, are equal


@dataclass(frozen=True, eq=False)
class Exactness:
    """The verdict; if it is no, weights of W_dec and the output that they do not keep away.

    ``example`` is the number of an example, and ``output`` its labels by position.
    """

    exact: bool
    weights: FloatArray | None = None
    example: int | None = None
    output: IntArray | None = None

    def __bool__(self) -> bool:
        return self.exact


def is_exact(
    prepared: Dataset,
    decomposition: Decomposition,
    loss: Loss | None,
    *,
    cone: AnyArray | None = None,
    max_outputs: int = MAX_OUTPUTS,
) -> Exactness:
    """Whether W_dec = W* for these examples; without a ``loss``, Δ is 0 as for a perceptron.

    ``cone`` is an array of shape (conditions, weights): both sets are then of weights with
    ``cone @ w >= 0`` only, such as those whose factors have known signs. Examples without
    importance are left out. Sets that are drawn anew for other scores are those for zero scores.
    """
    check_examples(prepared, loss)
    listed = list(_listed(prepared, decomposition, loss, max_outputs))
    conditions = _conditions(cone, prepared.layout.size)
    if not listed:
        return Exactness(True)
    rows = [conditions, *(one.rows for one in listed)]
    near = [np.ones(len(conditions), dtype=np.bool_), *(one.near for one in listed)]
    program = _Program(np.concatenate(rows), np.concatenate(near))
    inside = program.inside()
    for number in program.others:
        found = program.against(number, inside)
        if found is not None:
            at = number - len(conditions)
            for one in listed:
                if at < len(one.rows):
                    return Exactness(False, found, one.example, readonly(one.outputs[at]))
                at -= len(one.rows)
    return Exactness(True)


class _Listed(NamedTuple):
    """The outputs of one example, and d and -Δ of each as one row."""

    example: int
    outputs: IntArray
    rows: FloatArray
    near: BoolArray


def _listed(
    prepared: Dataset, decomposition: Decomposition, loss: Loss | None, max_outputs: int
) -> Iterator[_Listed]:
    for group in prepared.groups:
        space = group.space
        if space.outputs > max_outputs:
            raise UnsupportedSpace(
                f"{space!r} has {space.outputs:.4g} outputs, and no more than {max_outputs} of an "
                "example are written out; take smaller examples, or raise most_outputs"
            )
        outputs = np.array(list(np.ndindex(*space.sizes.tolist())), dtype=np.int64)
        outputs = readonly(outputs[space.holds(outputs)])
        assert group.gold is not None
        scores = readonly(np.zeros((len(group), space.parts)))
        split = decomposition.split(Problem(space, scores), group.gold)
        chosen = _chosen(group, outputs)
        right = _chosen(group, group.gold)
        for i in np.flatnonzero(group.sample_weight > 0).tolist():
            gold = readonly(np.broadcast_to(group.gold[i], outputs.shape))
            losses = np.zeros(len(outputs)) if loss is None else loss.value(space, gold, outputs)
            directions = (right[i] - chosen) @ _features(prepared, group, i)
            rows = np.column_stack([directions, -losses])
            near = _near(split, i, outputs != gold)
            yield _Listed(int(group.members[i]), outputs, rows, near)


def _chosen(group: Batch, labels: IntArray) -> FloatArray:
    """Which parts each output has."""
    chosen = np.zeros((len(labels), group.space.parts))
    np.put_along_axis(chosen, group.space.known_parts_of(labels), 1.0, axis=1)
    return chosen


def _features(prepared: Dataset, group: Batch, place: int) -> FloatArray:
    """The features of every part of one input, of shape (parts, weights)."""
    features = np.zeros((group.space.parts, prepared.layout.size))
    starts = group.frame.starts.tolist()
    for slot, (begin, end) in enumerate(pairwise(starts)):
        for label, row in enumerate(features[begin:end]):
            add_label(row, prepared.vectors, group.slots, slot, group.firsts[place], label, 1.0)
    return features


def _near(split: NeighbourhoodSets, place: int, differ: BoolArray) -> BoolArray:
    """Which outputs are looked at, by where they differ from the gold one."""
    near = np.zeros(len(differ), dtype=np.bool_)
    for around in split.sets:
        for s in range(around.begin[place], around.end[place]):
            beyond = np.ones(differ.shape[1], dtype=np.bool_)
            beyond[around.members[around.ptr[s] : around.ptr[s + 1]]] = False
            near |= ~(differ & beyond).any(axis=1) & (differ.sum(axis=1) <= around.most)
    near |= ~differ.any(axis=1)
    # With nothing possible around it, an example is learned from all outputs.
    return near if near.any() and not split.whole[place] else np.ones_like(near)


def _conditions(cone: AnyArray | None, weights: int) -> FloatArray:
    """A cone as rows whose loss is 0."""
    given = np.zeros((0, weights)) if cone is None else np.asarray(cone, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != weights or not np.isfinite(given).all():
        raise SettingError(
            f"a cone has finite numbers, one column for each of {weights} weights; got the shape "
            f"{given.shape}"
        )
    return np.column_stack([given, np.zeros(len(given))])


class _Program:
    """Rows of (w, t), scaled and without repeats, of which some have to be at least 0."""

    def __init__(self, rows: FloatArray, near: BoolArray) -> None:
        self.weights = rows.shape[1] - 1
        units = np.abs(rows).max(axis=0)
        scaled = rows / np.where(units > 0, units, 1.0)
        self.columns = np.append(_distinct_columns(scaled[:, :-1]), self.weights)
        self.units = units[self.columns]
        self.units[-1] = self.units[-1] or 1.0
        scaled = scaled[:, self.columns]
        largest = np.abs(scaled).max(axis=1)
        used = np.flatnonzero(largest > 0)
        used = used[np.argsort(~near[used], kind="stable")]  # of equal rows, one that is near
        scaled[used] /= largest[used, None]
        kept = np.sort(used[_first_of_equals(scaled[used])])
        self.rows = scaled
        self.all = scaled[kept]
        self.near = scaled[kept[near[kept]]]
        self.others: list[int] = kept[~near[kept]].tolist()

    def inside(self) -> FloatArray:
        """Some (w, t) of W* that is not at its border, where losses are above 0."""
        objective = np.zeros(len(self.units))
        objective[-1] = -1.0
        point = self._solve(objective, self.all)
        if point[-1] < LEAST:
            raise DataError(
                "no weights separate these examples from all their other outputs by the loss, so "
                "there is nothing that could be exact; take examples that are separable, such as "
                "those a model has labelled"
            )
        point[-1] /= 2.0
        return point

    def against(self, number: int, inside: FloatArray) -> FloatArray | None:
        """Weights of W_dec that row ``number`` forbids, or None if there are none."""
        row = self.rows[number]
        point = self._solve(row, self.near)
        violation = -float(row @ point)
        if violation <= LEAST:
            return None
        point += violation / (2.0 * max(float(row @ inside), violation)) * inside
        weights = np.zeros(self.weights)
        weights[self.columns[:-1]] = point[:-1] / self.units[:-1] * (self.units[-1] / point[-1])
        return readonly(weights)

    def _solve(self, objective: FloatArray, rows: FloatArray) -> FloatArray:
        """The (w, t) of the box where the objective is least."""
        from scipy.optimize import linprog

        found = linprog(
            objective,
            A_ub=-rows,
            b_ub=np.zeros(len(rows)),
            bounds=[(-1.0, 1.0)] * (len(objective) - 1) + [(0.0, 1.0)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": SOLVED, "dual_feasibility_tolerance": SOLVED},
        )
        if found.x is None:
            raise ScoreError(f"a linear program of these examples was not solved: {found.message}")
        return np.asarray(found.x, dtype=np.float64)


def _distinct_columns(rows: FloatArray) -> IntArray:
    """The columns that are neither zero nor, up to sign, another one again.

    The two labels of a variable have such columns, and one weight can do the work of both.
    """
    used = np.flatnonzero(rows.any(axis=0))
    columns = rows[:, used].T
    first = np.take_along_axis(columns, (columns != 0).argmax(axis=1)[:, None], axis=1)
    return used[_first_of_equals(columns * np.sign(first))]


def _first_of_equals(rows: FloatArray) -> IntArray:
    """In their order, the first of all rows that are equal."""
    return np.sort(np.unique(np.round(rows, SAME) + 0.0, axis=0, return_index=True)[1])
