"""Dual bounds: every (λ, u) bounds the value of any output.

With c the part scores, λ_fj(a) the messages between table f and label a of its
variable j, u one multiplier per row of ``space.rows``, and A, lower, upper those rows,

    g_c(λ, u) = Σ_r [u_r⁺ upper_r - u_r⁻ lower_r]
              + Σ_j max_a [c_ja + Σ_f λ_fj(a) - (Aᵀu)_ja] + Σ_k max(0, -(Aᵀu)_k)
              + Σ_f max_t [c_ft - Σ_{j∈f} λ_fj(t_j)]

where j runs over variables, k over auxiliary columns, f over the tables of
``space.network``, and a and t over what they allow, open labels only. Proof: for an
output y with z its 0/1 columns, the λ terms at y cancel, the u terms at y are
Σ_r [u_r⁺ (upper_r - (Az)_r) + u_r⁻ ((Az)_r - lower_r)] >= 0, and each max is at
least its value at y; so g_c(λ, u) >= c·z(y).

A multiplier is >= 0 on a row without lower end and <= 0 on one without upper end.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from rote.errors import ScoreError
from rote.inference.problem import Index, Problem
from rote.kernels.bundles import DualRows, SparseRows
from rote.kernels.dual.bounds import dual_bounds
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, readonly


@dataclass(frozen=True, eq=False)
class Duals:
    """λ and u for every input of a batch; `zero_duals` makes the plainest ones.

    Parameters
    ----------
    messages
        λ, of shape (m, ``network.message_ptr[-1]``): one per label of each variable of a table.
    multipliers
        u, of shape (m, rows): one for each row of ``space.rows``.
    """

    messages: FloatArray
    multipliers: FloatArray

    def __len__(self) -> int:
        return len(self.messages)

    def rows(self, index: Index) -> Duals:
        """Those of some of the inputs."""
        return Duals(readonly(self.messages[index]), readonly(self.multipliers[index]))

    def scaled(self, scale: FloatArray) -> Duals:
        """Those of the same problems with all scores of each input times a number above 0."""
        messages, multipliers = scale[:, None] * self.messages, scale[:, None] * self.multipliers
        return Duals(readonly(messages), readonly(multipliers))


def dual_sizes(space: Space) -> tuple[int, int]:
    """How many messages and multipliers an input has."""
    return space.once(_sizes)


def _sizes(space: Space) -> tuple[int, int]:
    return int(space.network.message_ptr[-1]), len(space.rows)


def zero_duals(space: Space, m: int) -> Duals:
    """λ = 0, u = 0: the bound that takes every table and variable by itself.

    Parameters
    ----------
    space
        The space of all inputs.
    m
        How many inputs there are.
    """
    return Duals(*(readonly(np.zeros((m, size))) for size in dual_sizes(space)))


def dual_bound(space: Space, scores: Problem | AnyArray, duals: Duals) -> FloatArray:
    """g_c(λ, u) for every input: no output has a larger value.

    Parameters
    ----------
    space
        The space of all inputs.
    scores
        Scores of shape (m, parts), or a problem.
    duals
        Any finite numbers, with multipliers that push against no open end of their rows.
    """
    problem = Problem.of(space, scores)
    network, rows = space.network, space.rows
    shapes = tuple((len(problem), size) for size in dual_sizes(space))
    if (duals.messages.shape, duals.multipliers.shape) != shapes:
        raise ScoreError(
            f"duals of this space have the shapes {shapes[0]} and {shapes[1]}; "
            f"got {duals.messages.shape} and {duals.multipliers.shape}"
        )
    if not (np.isfinite(duals.messages).all() and np.isfinite(duals.multipliers).all()):
        raise ScoreError("duals are finite numbers; these hold NaN or an infinity")
    u = duals.multipliers
    if ((u > 0) & np.isinf(rows.upper) | (u < 0) & np.isinf(rows.lower)).any():
        raise ScoreError("a multiplier pushes against the open end of its row; see duals.py")
    return dual_bounds(
        problem.questions,
        DualRows(readonly(duals.messages), readonly(duals.multipliers)),
        network.graph,
        SparseRows(*(getattr(rows, each.name) for each in fields(rows))),
        network.own,
    )
