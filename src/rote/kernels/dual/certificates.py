"""Proofs that an output is the best one, from duals, without branching.

Let θ be the scores of a network reparametrised by duals, with bound B = Σ_j top_j + Σ_f top_f
+ u·rhs, and let y be an output. Its *gap* is what it loses against the bound,

    gap = Σ_j [top_j - θ_j(y_j)] + Σ_f [top_f - θ_f(y_f)] + (what rows with room to spare lose)

so gap = B - value(y). Any output that has label a at variable j loses at least

    loss_j(a) = [top_j - θ_j(a)] + Σ_{f ∋ j} [top_f - max_{t: t_j = a} θ_f(t)]

so it is worth at most value(y) + gap - loss_j(a). If loss_j(a) - gap is more than a tie for every
label a ≠ y_j of every variable, every other output is worth less than y by more than a tie: y is
the answer, though the bound need not be reached. Labels with loss_j(a) > gap are in no better
output; closing them makes the next sweep's bound tighter.

Variables that a plan eliminates first have their best labels given the others, and a margin of
their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import DualRows, Graph, Questions, Reduced
from rote.kernels.dual.ascent import (
    Ascent,
    apply_duals,
    begin,
    complete,
    find_tops,
    marginalise,
    new_ascent,
    new_memory,
    row_constant,
    sweep,
)
from rote.kernels.jit import kernel, lean
from rote.kernels.outputs import copy_into, entry_at
from rote.kernels.search.nodes import row_loss
from rote.types import FloatArray, IntArray

PROBE_SWEEPS = 5
LARGE = 1e12  # in ties: a hundred times the largest score


class Desk(NamedTuple):
    """Room to work in."""

    marginals: FloatArray  # per place and label
    losses: FloatArray  # per label
    trial: IntArray  # per variable
    chosen: IntArray  # per variable, in the case that is supposed
    case: Ascent


class Aim(NamedTuple):
    """When sweeping ends."""

    rest: float  # worth the same in every output
    floor: float  # of what is of use
    tie: float
    epsilon: float  # how much worse than the best an output may be, relative to it
    sweeps: int


class Proof(NamedTuple):
    """What sweeps have shown of the best output known."""

    bound: float
    value: float  # -inf if there is no output
    runner: float  # the most that any other output can be worth
    shut: float  # the same of outputs with a label that was closed on the way
    sweeps: int  # how many were made


@kernel
def new_desk(graph: Graph) -> Desk:
    n = graph.sizes.shape[0]
    return Desk(
        np.empty(graph.flow.message_ptr[-1]),
        np.empty(graph.offsets[n]),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        new_ascent(graph),
    )


@lean
def gap_of(graph: Graph, ascent: Ascent, labels: IntArray) -> float:
    """What an output loses against the bound; inf where it breaks a rule."""
    theta, tops = ascent.theta, ascent.tops
    n = graph.sizes.shape[0]
    lost = 0.0
    for j in range(n):
        lost += tops[j] - theta[graph.offsets[j] + labels[j]]
    for b in range(tops.shape[0] - n):
        lost += tops[n + b] - theta[entry_at(graph.tables, b, labels)]
    if graph.rows.lower.shape[0] > 0:
        lost += row_loss(graph, ascent.multipliers, labels)
    return lost


@lean
def find_losses(graph: Graph, ascent: Ascent, desk: Desk) -> None:
    """loss_j(a) for every label, and the marginals max_{t: t_j = a} θ_f(t) of every place."""
    theta, tops, losses = ascent.theta, ascent.tops, desk.losses
    n = graph.sizes.shape[0]
    tables = graph.tables
    for j in range(n):
        first, size = graph.offsets[j], graph.sizes[j]
        for a in range(size):
            losses[first + a] = tops[j] - theta[first + a]
        for p in range(tables.place_ptr[j], tables.place_ptr[j + 1]):
            k = tables.places[p]
            b = tables.place_table[k]
            at = graph.flow.message_ptr[k]
            marginal = desk.marginals[at : at + size]
            marginalise(theta, tables.ptr[b], tables.ptr[b + 1], tables.strides[k], marginal)
            for a in range(size):
                losses[first + a] += tops[n + b] - marginal[a]


@lean
def decode(graph: Graph, theta: FloatArray, marginals: FloatArray, labels: IntArray) -> None:
    """The best label of one variable after the other, given the labels before it.

    A table whose other variables all have labels speaks by the one entry that fits; the
    others by their marginals.
    """
    tables = graph.tables
    for j in range(graph.sizes.shape[0]):
        first, size = graph.offsets[j], graph.sizes[j]
        best = -np.inf
        labels[j] = 0
        for a in range(size):
            value = theta[first + a]
            for p in range(tables.place_ptr[j], tables.place_ptr[j + 1]):
                k = tables.places[p]
                b = tables.place_table[k]
                e = tables.ptr[b] + a * tables.strides[k]
                settled = True
                for q in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
                    if tables.scope[q] < j:
                        e += tables.strides[q] * labels[tables.scope[q]]
                    elif q != k:
                        settled = False
                value += theta[e] if settled else marginals[graph.flow.message_ptr[k] + a]
            if value > best:
                best = value
                labels[j] = a


@lean
def lead_of(graph: Graph, losses: FloatArray, labels: IntArray) -> float:
    """The least loss of any label that is not the output's own."""
    lead = np.inf
    for j in range(graph.sizes.shape[0]):
        for a in range(graph.sizes[j]):
            if a != labels[j] and losses[graph.offsets[j] + a] < lead:
                lead = losses[graph.offsets[j] + a]
    return lead


@lean
def close_losers(losses: FloatArray, room: float, theta: FloatArray) -> float:
    """Close the labels that lose more than ``room``; returns the least loss among them."""
    least = np.inf
    for e in range(losses.shape[0]):
        if losses[e] > room and theta[e] > -np.inf:
            theta[e] = -np.inf
            least = min(least, losses[e])
    return least


@lean
def settle(
    graph: Graph, ascent: Ascent, desk: Desk, chosen: IntArray, known: bool, aim: Aim
) -> Proof:
    """Sweep until the best output is proved, or nothing can reach the floor.

    ``chosen`` is an output to begin with, if ``known``, and the best one found in the end.
    """
    theta, tops = ascent.theta, ascent.tops
    value, runner, shut, made = -np.inf, np.inf, -np.inf, 0
    while True:
        bound = aim.rest + find_tops(graph, theta, 0.0, tops)
        bound += row_constant(graph.rows, ascent.multipliers)
        if bound < aim.floor or bound == -np.inf:
            break
        find_losses(graph, ascent, desk)
        gap = gap_of(graph, ascent, chosen) if known else np.inf
        decode(graph, theta, desk.marginals, desk.trial)
        lost = gap_of(graph, ascent, desk.trial)
        if lost < gap:
            gap = lost
            copy_into(chosen, desk.trial)
        known = gap < np.inf
        if known:
            value = bound - gap
            runner = max(shut, bound - lead_of(graph, desk.losses, chosen))
            near = aim.epsilon > 0 and gap <= aim.epsilon * abs(value)
            if value - runner > aim.tie or near:
                break
        if made == aim.sweeps:
            break
        if known:
            least = close_losers(desk.losses, gap + 4 * aim.tie, theta)
            shut = max(shut, bound - least)
        sweep(graph, ascent, False)
        made += 1
    return Proof(bound, value, runner, shut, made)


@lean
def suppose(graph: Graph, ascent: Ascent, case: Ascent, j: int, label: int) -> None:
    """The case that variable j has a label: the same, with all its others closed."""
    copy_into(case.theta, ascent.theta)
    copy_into(case.messages, ascent.messages)
    copy_into(case.multipliers, ascent.multipliers)
    for e in range(graph.offsets[j], graph.offsets[j + 1]):
        if e != graph.offsets[j] + label:
            case.theta[e] = -np.inf


@lean
def probe(
    graph: Graph,
    ascent: Ascent,
    desk: Desk,
    chosen: IntArray,
    proof: Proof,
    aim: Aim,
    failures: int,
) -> tuple[float, float]:
    """Suppose one label after the other, and close it when nothing with it can be the best.

    Begins where `settle` gave up. Gives up after so many ``failures`` in one round. Returns the
    output's value, and the most that any other can be worth, which is inf where some label stays
    open.
    """
    theta, tie, value = ascent.theta, aim.tie, proof.value
    room = proof.bound - value + 4 * tie
    shut = max(proof.shut, proof.bound - close_losers(desk.losses, room, theta))
    while True:
        progress = again = False
        left = 0
        for j in range(graph.sizes.shape[0]):
            for a in range(graph.sizes[j]):
                if a == chosen[j] or theta[graph.offsets[j] + a] == -np.inf:
                    continue
                suppose(graph, ascent, desk.case, j, a)
                short = Aim(aim.rest, value - 2 * tie, tie, 0.0, PROBE_SWEEPS)
                here = settle(graph, desk.case, desk, desk.chosen, False, short)
                if here.bound < value - 2 * tie:
                    most = here.bound
                elif here.value - here.runner > tie:  # the best of this case is known
                    most = here.value
                else:
                    left += 1
                    if left >= failures:
                        return value, np.inf
                    continue
                if most > value - 2 * tie:
                    if most <= value + 2 * tie:
                        return value, np.inf
                    shut = max(shut, value, here.runner)
                    value = here.value
                    copy_into(chosen, desk.chosen)
                    again = True
                else:
                    shut = max(shut, most)
                    theta[graph.offsets[j] + a] = -np.inf
                progress = True
        if left == 0 and not again:
            return value, shut
        if not progress:
            return value, np.inf
        sweep(graph, ascent, False)


@lean
def largest_move(messages: FloatArray, multipliers: FloatArray, coefficients: FloatArray) -> float:
    """The most by which duals move a score at once."""
    largest = 0.0
    for message in messages:
        largest = max(largest, abs(message))
    heaviest = 0.0
    for coefficient in coefficients:
        heaviest = max(heaviest, abs(coefficient))
    for multiplier in multipliers:
        largest = max(largest, heaviest * abs(multiplier))
    return largest


@kernel
def certify(
    questions: Questions,
    initials: IntArray,
    starts: IntArray,
    duals: DualRows,
    reduced: Reduced,
    epsilon: FloatArray,
    sweeps: int,
    failures: int,
) -> tuple[IntArray, FloatArray, FloatArray, IntArray, DualRows]:
    """The best output known of every input, with what is proved of it.

    ``guesses`` are outputs to begin with, or -1. ``starts`` names a row of ``duals`` to
    begin with; -1 begins with zero. Duals far larger than the scores
    are not used: their rounding would be larger than a tie. An input is given up after so many
    ``sweeps``, and, if there may be any, ``failures`` of probes.

    Returns labels (-1 for inputs without any output), bounds, margins (at least so much is every
    other output worth less; negative where nothing is proved), the sweeps made, and duals.
    """
    graph, ties = reduced.graph, questions.ties
    m, parts = questions.scores.shape
    n = graph.sizes.shape[0]
    memory, room, desk = new_memory(parts, reduced), new_ascent(graph), new_desk(graph)
    chosen = np.empty(n, np.int64)
    labels = np.full((m, reduced.variables), -1, np.int64)
    bounds, margins = np.full(m, np.inf), np.full(m, -np.inf)
    made = np.zeros(m, np.int64)
    found = DualRows(
        np.zeros((m, room.messages.shape[0])), np.zeros((m, room.multipliers.shape[0]))
    )
    for i in range(m):
        ascent = Ascent(
            room.theta, found.messages[i], found.multipliers[i], room.marginals, room.tops
        )
        rest = begin(questions, i, reduced, memory, ascent.theta)
        start = starts[i]
        if start >= 0:
            messages, multipliers = duals.messages[start], duals.multipliers[start]
            moved = largest_move(messages, multipliers, graph.rows.coefficient)
            if moved <= LARGE * ties[i]:
                ascent.messages[:] = messages
                ascent.multipliers[:] = multipliers
                apply_duals(graph, ascent)
        known = initials[i, 0] >= 0
        for j in range(n):
            # An output says nothing of auxiliary variables; then it is no output to begin with.
            if known and reduced.core[j] < reduced.variables:
                chosen[j] = initials[i, reduced.core[j]]
            else:
                known = False
        aim = Aim(rest, -np.inf, ties[i], epsilon[i], sweeps)
        proof = settle(graph, ascent, desk, chosen, known, aim)
        bounds[i], made[i], value, runner = proof.bound, proof.sweeps, proof.value, proof.runner
        if value == -np.inf:
            continue
        near = epsilon[i] > 0 and proof.bound - value <= epsilon[i] * abs(value)
        if failures > 0 and not near and value - runner <= ties[i]:
            value, runner = probe(graph, ascent, desk, chosen, proof, aim, failures)
        margins[i] = min(value - runner, complete(reduced, memory, chosen, labels[i]))
    return labels, bounds, margins, made, found
