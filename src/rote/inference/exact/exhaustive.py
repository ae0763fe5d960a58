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
    """Exact for any space with at most ``max_outputs`` joint labellings.

    Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules.
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
        if not problem.decomposes:
            labels = _best_global(problem)
            return Solutions.of(problem, labels, FoundBy.ENUMERATION)
        feasible, factors = space.once(_feasible), space.once(_factors)
        labels = best_outputs(problem.questions, feasible, space.sizes, space.offsets, factors)
        return Solutions.of(problem, labels, FoundBy.ENUMERATION)


def _factors(space: Space) -> EndingFactors:
    firsts = space.factor_offsets[:-1].tolist()
    pairs = zip(space.factors, firsts, strict=True)
    ordered = sorted(pairs, key=lambda pair: max(pair[0].variables))
    ends = np.array([max(factor.variables) for factor, _ in ordered], dtype=np.int64)
    strides: list[int] = []
    for factor, _ in ordered:
        shape = [int(space.sizes[j]) for j in factor.variables]
        strides.extend(int(np.prod(shape[k + 1 :])) for k in range(len(shape)))
    return EndingFactors(
        readonly(offsets_from_counts(np.bincount(ends, minlength=len(space.variables)))),
        readonly(np.array([first for _, first in ordered], dtype=np.int64)),
        readonly(offsets_from_counts([len(factor.variables) for factor, _ in ordered])),
        readonly(np.array([j for factor, _ in ordered for j in factor.variables], dtype=np.int64)),
        readonly(np.array(strides, dtype=np.int64)),
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
    """What `best_outputs` does, block by block, where a term or traits have a say.

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
        known_value = _worth(problem, outputs_between(first, end, space.sizes))
        known_value[:, ~feasible[first:end]] = -np.inf
        for i, row in enumerate(known_value):
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


def _worth(problem: Problem, outputs: IntArray) -> FloatArray:
    """What the same outputs are worth to every input; -inf where a label is closed."""
    space, m = problem.space, len(problem)
    known_value = np.empty((m, len(outputs)))
    for i in range(m):
        known_value[i] = space.value(problem.scores[i], outputs)
        if problem.closed is not None:
            shut = problem.closed[i][space.offsets[:-1] + outputs].any(axis=1)
            known_value[i, shut] = -np.inf
    known_value += problem.global_value(readonly(np.broadcast_to(outputs, (m, *outputs.shape))))
    return known_value
