"""Exact by looking at every output: slow, plain, and the judge of all other engines.

It reads factors and asks `Space.holds`, and uses nothing that the other engines
use: neither tables nor rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.engine import Capability, Engine
from rote.inference.exact.tables import int_array, strides_of
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions
from rote.kernels.dp.enumeration import EndingFactors, best_outputs, outputs_between
from rote.settings import whole
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, offsets_from_counts, readonly

MAX_OUTPUTS = 1 << 22
BLOCK = 1 << 16  # outputs whose rules are checked at once


@dataclass(frozen=True)
class Exhaustive(Engine):
    """Exact for any space with few joint labellings, loss terms and global features included.

    Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules.

    Parameters
    ----------
    max_outputs
        The most joint labellings that a space may have, at least 1; all are looked at.
    """

    max_outputs: int = MAX_OUTPUTS

    checks: ClassVar = {"max_outputs": whole(1)}
    capabilities = frozenset({Capability.LOSS_TERMS, Capability.GLOBAL_FEATURES})

    def refuses(self, space: Space) -> str | None:
        if space.outputs <= self.max_outputs:
            return None
        return (
            f"{space!r} has {space.outputs:.4g} outputs and Exhaustive looks at no more than "
            f"{self.max_outputs}; use Exact, or raise max_outputs"
        )

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        if not self.accepts(space):
            raise UnsupportedSpace(str(self.refuses(space)))
        if problem.decomposes:
            feasible, factors = space.once(_feasible), space.once(_factors)
            labels = best_outputs(problem.questions, feasible, space.sizes, space.offsets, factors)
        else:
            labels = _best_global(problem)
        return Solutions.of(problem, labels, FoundBy.ENUMERATION)


def _factors(space: Space) -> EndingFactors:
    pairs = zip(space.factors, space.factor_offsets.tolist(), strict=False)
    ordered = sorted(pairs, key=lambda pair: max(pair[0].variables))
    scopes = [factor.variables for factor, _ in ordered]
    ends = np.array([max(scope) for scope in scopes], dtype=np.int64)
    return EndingFactors(
        readonly(offsets_from_counts(np.bincount(ends, minlength=len(space.variables)))),
        int_array([first for _, first in ordered]),
        readonly(offsets_from_counts([len(scope) for scope in scopes])),
        int_array([j for scope in scopes for j in scope]),
        strides_of(scopes, space.sizes),
    )


def _feasible(space: Space) -> AnyArray:
    """One bit per output, in lexicographic order: half a megabyte for four million outputs."""
    outputs = int(space.outputs)
    bits = np.full((outputs + 7) // 8, 255, dtype=np.uint8)
    if space.rules:
        for first in range(0, outputs, BLOCK):
            labels = outputs_between(first, min(first + BLOCK, outputs), space.sizes)
            packed = np.packbits(space.holds(labels))
            bits[first // 8 : first // 8 + len(packed)] = packed
    return readonly(bits)


def _best_global(problem: Problem) -> IntArray:
    """What `best_outputs` does, block by block, for a loss term or global features.

    The first output within a tie of the best is better than all before it. So of each input those
    outputs are held that are, as long as they are within a tie of the best so far.
    """
    space = problem.space
    m, count = len(problem), int(space.outputs)
    block = max(1, BLOCK // max(1, m))
    feasible = np.unpackbits(space.once(_feasible), count=count).astype(np.bool_)
    best, ties = np.full(m, -np.inf), problem.ties
    held: list[list[tuple[float, int]]] = [[] for _ in range(m)]
    for first in range(0, count, block):
        end = min(first + block, count)
        values = _values(problem, outputs_between(first, end, space.sizes))
        values[:, ~feasible[first:end]] = -np.inf
        for i, row in enumerate(values):
            before = np.maximum.accumulate(np.append(best[i], row))[:-1]
            rises = np.flatnonzero(row > before)
            if len(rises):
                best[i] = row[rises[-1]]
                held[i] += zip(row[rises].tolist(), (first + rises).tolist(), strict=True)
                held[i] = [pair for pair in held[i] if pair[0] >= best[i] - ties[i]]
    labels = np.full((m, len(space.sizes)), -1, dtype=np.int64)
    for i, close in enumerate(held):
        if close:
            number = close[0][1]
            labels[i] = outputs_between(number, number + 1, space.sizes)[0]
    return labels


def _values(problem: Problem, outputs: IntArray) -> FloatArray:
    """The values of the same outputs for every input; -inf where a label is closed."""
    space, shape = problem.space, (len(problem), *outputs.shape)
    own = (len(outputs), space.parts)
    values = np.array(
        [space.known_value(np.broadcast_to(scores, own), outputs) for scores in problem.scores]
    )
    if problem.closed is not None:
        values[problem.closed[:, space.offsets[:-1] + outputs].any(axis=2)] = -np.inf
    return values + problem.global_value(readonly(np.broadcast_to(outputs, shape)))
