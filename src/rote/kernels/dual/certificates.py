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

import cython
import numpy as np

from rote.types import FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import DualRows, Graph, Questions, Reduced, past_all
    from rote.kernels.constants import LARGE
    from rote.kernels.dp.elimination import Eliminated
    from rote.kernels.dual.ascent import (
        Ascent,
        apply_duals,
        begin,
        complete,
        find_tops,
        marginalise,
        row_constant,
        sweep,
    )
    from rote.kernels.inlined import entry_at
    from rote.kernels.search.nodes import row_loss

    PROBE_SWEEPS = 5


class Aim(Bundle):
    """When sweeping ends."""

    def __init__(self) -> None:
        self.rest = 0.0  # worth the same in every output
        self.floor = -inf  # of what is of use
        self.tie = 0.0
        self.epsilon = 0.0  # how much worse than the best an output may be, relative to it
        self.sweeps = 0


class Proof(Bundle):
    """What sweeps have shown of the best output known."""

    def __init__(self) -> None:
        self.bound = inf
        self.value = -inf  # if there is no output
        self.runner = inf  # the most that any other output can be worth
        self.shut = -inf  # the same of outputs with a label that was closed on the way
        self.sweeps = 0  # how many were made


class CertificateRoom(Bundle):
    """Room to work in."""

    def __init__(self, graph: Graph) -> None:
        n = graph.sizes.shape[0]
        self.marginals = floats(graph.flow.message_ptr[graph.flow.message_ptr.shape[0] - 1])
        self.losses = floats(graph.offsets[n])  # per label
        self.trial = ints(n)  # per variable
        self.chosen = ints(n)  # per variable, in the case that is supposed
        self.case = Ascent(graph)
        self.aim, self.case_aim = Aim(), Aim()
        self.proof, self.case_proof = Proof(), Proof()


def gap_of(graph: Graph, ascent: Ascent, labels: Ints) -> float:
    """What an output loses against the bound; inf where it breaks a rule."""
    n = graph.sizes.shape[0]
    lost = 0.0
    for j in range(n):
        lost += ascent.tops[j] - ascent.theta[graph.offsets[j] + labels[j]]
    for b in range(ascent.tops.shape[0] - n):
        lost += ascent.tops[n + b] - ascent.theta[entry_at(graph.tables, b, labels)]
    if graph.rows.lower.shape[0] > 0:
        lost += row_loss(graph, ascent.multipliers, labels)
    return lost


def find_losses(graph: Graph, ascent: Ascent, room: CertificateRoom) -> None:
    """loss_j(a) for every label, and the marginals max_{t: t_j = a} θ_f(t) of every place."""
    n = graph.sizes.shape[0]
    for j in range(n):
        first, size = graph.offsets[j], graph.sizes[j]
        for a in range(size):
            room.losses[first + a] = ascent.tops[j] - ascent.theta[first + a]
        for p in range(graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]):
            k = graph.tables.places[p]
            b = graph.tables.place_table[k]
            at, stop = graph.tables.ptr[b], graph.tables.ptr[b + 1]
            own, inner = graph.flow.message_ptr[k], graph.tables.strides[k]
            marginalise(ascent.theta, at, stop, inner, room.marginals, own, size)
            for a in range(size):
                room.losses[first + a] += ascent.tops[n + b] - room.marginals[own + a]


def decode(graph: Graph, theta: Floats, marginals: Floats, labels: OutInts) -> None:
    """The best label of one variable after the other, given the labels before it.

    A table whose other variables all have labels speaks by the one entry that fits; the
    others by their marginals.
    """
    for j in range(graph.sizes.shape[0]):
        first, size = graph.offsets[j], graph.sizes[j]
        best = -inf
        labels[j] = 0
        for a in range(size):
            value = theta[first + a]
            for p in range(graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]):
                k = graph.tables.places[p]
                b = graph.tables.place_table[k]
                e: Int = graph.tables.ptr[b] + a * graph.tables.strides[k]
                settled: Bool = True
                for q in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
                    if graph.tables.scope[q] < j:
                        e += graph.tables.strides[q] * labels[graph.tables.scope[q]]
                    elif q != k:
                        settled = False
                value += theta[e] if settled else marginals[graph.flow.message_ptr[k] + a]
            if value > best:
                best = value
                labels[j] = a


def lead_of(graph: Graph, losses: Floats, labels: Ints) -> float:
    """The least loss of any label that is not the output's own."""
    lead = inf
    for j in range(graph.sizes.shape[0]):
        for a in range(graph.sizes[j]):
            if a != labels[j] and losses[graph.offsets[j] + a] < lead:
                lead = losses[graph.offsets[j] + a]
    return lead


def close_losers(losses: Floats, room: float, theta: OutFloats) -> float:
    """Close the labels that lose more than ``room``; returns the least loss among them."""
    least = inf
    for e in range(losses.shape[0]):
        if losses[e] > room and theta[e] > -inf:
            theta[e] = -inf
            least = min(least, losses[e])
    return least


def settle(
    graph: Graph,
    ascent: Ascent,
    room: CertificateRoom,
    chosen: OutInts,
    known: Bool,
    aim: Aim,
    proof: Proof,
) -> None:
    """Sweep until the best output is proved, or nothing can reach the floor.

    ``chosen`` is an output to begin with, if ``known``, and the best one found in the end.
    """
    proof.value, proof.runner, proof.shut, proof.sweeps = -inf, inf, -inf, 0
    while True:
        proof.bound = aim.rest + find_tops(graph, ascent.theta, 0.0, ascent.tops)
        proof.bound += row_constant(graph.rows, ascent.multipliers)
        if proof.bound < aim.floor or proof.bound == -inf:
            return
        find_losses(graph, ascent, room)
        gap = gap_of(graph, ascent, chosen) if known else inf
        decode(graph, ascent.theta, room.marginals, room.trial)
        lost = gap_of(graph, ascent, room.trial)
        if lost < gap:
            gap = lost
            copy_into(chosen, room.trial)
        known = gap < inf
        if known:
            proof.value = proof.bound - gap
            lead = lead_of(graph, room.losses, chosen)
            proof.runner = max(proof.shut, proof.bound - lead)
            near: Bool = aim.epsilon > 0 and gap <= aim.epsilon * abs(proof.value)
            if proof.value - proof.runner > aim.tie or near:
                return
        if proof.sweeps == aim.sweeps:
            return
        if known:
            least = close_losers(room.losses, gap + 4 * aim.tie, ascent.theta)
            proof.shut = max(proof.shut, proof.bound - least)
        sweep(graph, ascent, False)
        proof.sweeps += 1


def suppose(graph: Graph, ascent: Ascent, case: Ascent, j: Int, label: Int) -> None:
    """The case that variable j has a label: the same, with all its others closed."""
    copy_into(case.theta, ascent.theta)
    copy_into(case.messages, ascent.messages)
    copy_into(case.multipliers, ascent.multipliers)
    for e in range(graph.offsets[j], graph.offsets[j + 1]):
        if e != graph.offsets[j] + label:
            case.theta[e] = -inf


def probe(
    graph: Graph, ascent: Ascent, room: CertificateRoom, chosen: OutInts, failures: Int
) -> tuple[float, float]:
    """Suppose one label after the other, and close it when nothing with it can be the best.

    Begins where `settle` gave up. Gives up after so many ``failures`` in one round. Returns the
    output's value, and the most that any other can be worth, which is inf where some label stays
    open.
    """
    tie, value, bound = room.aim.tie, room.proof.value, room.proof.bound
    closed = close_losers(room.losses, bound - value + 4 * tie, ascent.theta)
    shut = max(room.proof.shut, bound - closed)
    while True:
        progress: Bool = False
        again: Bool = False
        left = 0
        for j in range(graph.sizes.shape[0]):
            for a in range(graph.sizes[j]):
                if a == chosen[j] or ascent.theta[graph.offsets[j] + a] == -inf:
                    continue
                suppose(graph, ascent, room.case, j, a)
                room.case_aim.rest, room.case_aim.tie, room.case_aim.sweeps = (
                    room.aim.rest,
                    tie,
                    PROBE_SWEEPS,
                )
                room.case_aim.floor = value - 2 * tie
                settle(graph, room.case, room, room.chosen, False, room.case_aim, room.case_proof)
                if room.case_proof.bound < value - 2 * tie:
                    most = room.case_proof.bound
                elif (
                    room.case_proof.value - room.case_proof.runner > tie
                ):  # the best of this case is known
                    most = room.case_proof.value
                else:
                    left += 1
                    if left >= failures:
                        return value, inf
                    continue
                if most > value - 2 * tie:
                    if most <= value + 2 * tie:
                        return value, inf
                    shut = max(shut, value, room.case_proof.runner)
                    value = room.case_proof.value
                    copy_into(chosen, room.chosen)
                    again = True
                else:
                    shut = max(shut, most)
                    ascent.theta[graph.offsets[j] + a] = -inf
                progress = True
        if left == 0 and not again:
            return value, shut
        if not progress:
            return value, inf
        sweep(graph, ascent, False)


def largest_move(duals: DualRows, row: Int, coefficients: Floats) -> float:
    """The most by which a row of duals moves a score at once."""
    largest: float = 0.0
    for k in range(duals.messages.shape[1]):
        largest = max(largest, abs(duals.messages[row, k]))
    heaviest: float = 0.0
    for c in range(coefficients.shape[0]):
        heaviest = max(heaviest, abs(coefficients[c]))
    for r in range(duals.multipliers.shape[1]):
        largest = max(largest, heaviest * abs(duals.multipliers[row, r]))
    return largest


def take_output(reduced: Reduced, initials: Ints2, i: Int, chosen: OutInts) -> bool:
    """An output to begin with; False where there is none.

    An output says nothing of auxiliary variables; then it is no output to begin with.
    """
    if initials[i, 0] < 0:
        return False
    for j in range(chosen.shape[0]):
        if reduced.core[j] >= reduced.variables:
            return False
        chosen[j] = initials[i, reduced.core[j]]
    return True


def certify(
    questions: Questions,
    initials: Ints2,
    starts: Ints,
    duals: DualRows,
    reduced: Reduced,
    epsilon: Floats,
    sweeps: Int,
    failures: Int,
) -> tuple[IntArray, FloatArray, FloatArray, IntArray, DualRows]:
    """The best output known of every input, with what is proved of it.

    ``initials`` are outputs to begin with, or -1. ``starts`` names a row of ``duals`` to
    begin with; -1 begins with zero. Duals far larger than the scores
    are not used: their rounding would be larger than a tie. An input is given up after so many
    ``sweeps``, and, if there may be any, ``failures`` of probes.

    Returns labels (-1 for inputs without any output), bounds, margins (at least so much is every
    other output worth less; negative where nothing is proved), the sweeps made, and duals.
    """
    m = questions.scores.shape[0]
    expect("scores", "columns", reduced.steps.parts, questions.scores.shape[1])
    expect("initials", "rows", m, initials.shape[0])
    expect("initials", "columns", reduced.variables, initials.shape[1])
    expect("starts", "entries", m, starts.shape[0])
    expect("epsilon", "entries", m, epsilon.shape[0])
    expect_least("duals", "rows", past_all(starts), duals.messages.shape[0])
    duals.fit(reduced.graph, duals.messages.shape[0])
    graph = reduced.graph
    m = questions.scores.shape[0]
    memory = Eliminated(questions.scores.shape[1], reduced.steps)
    ascent, room = Ascent(graph), CertificateRoom(graph)
    aim, proof = room.aim, room.proof
    chosen = ints(graph.sizes.shape[0])
    labels: OutInts2 = np.full((m, reduced.variables), -1, np.int64)
    bounds: OutFloats = np.full(m, inf)
    margins: OutFloats = np.full(m, -inf)
    made: OutInts = np.zeros(m, np.int64)
    messages: OutFloats2 = np.zeros((m, ascent.messages.shape[0]))
    multipliers: OutFloats2 = np.zeros((m, ascent.multipliers.shape[0]))
    with cython.nogil:
        for i in range(m):
            fill(ascent.messages, 0.0)
            fill(ascent.multipliers, 0.0)
            aim.rest = begin(questions, i, reduced, memory, ascent.theta)
            aim.tie, aim.epsilon, aim.sweeps = questions.ties[i], epsilon[i], sweeps
            row = starts[i]
            if row >= 0 and largest_move(duals, row, graph.rows.coefficient) <= LARGE * aim.tie:
                copy_into(ascent.messages, duals.messages[row])
                copy_into(ascent.multipliers, duals.multipliers[row])
                apply_duals(graph, ascent)
            known: Bool = take_output(reduced, initials, i, chosen)
            settle(graph, ascent, room, chosen, known, aim, proof)
            bounds[i], made[i] = proof.bound, proof.sweeps
            value, runner = proof.value, proof.runner
            if value > -inf:
                near: Bool = aim.epsilon > 0 and proof.bound - value <= aim.epsilon * abs(value)
                if failures > 0 and not near and value - runner <= aim.tie:
                    value, runner = probe(graph, ascent, room, chosen, failures)
                margins[i] = min(value - runner, complete(reduced, memory, chosen, labels[i]))
            copy_into(messages[i], ascent.messages)
            copy_into(multipliers[i], ascent.multipliers)
    return (
        np.asarray(labels),
        np.asarray(bounds),
        np.asarray(margins),
        np.asarray(made),
        DualRows(np.asarray(messages), np.asarray(multipliers)),
    )
