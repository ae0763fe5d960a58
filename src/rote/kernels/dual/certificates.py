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

from rote.kernels.bundles import Graph, Steps
from rote.kernels.dp.elimination import backward, forward, total
from rote.kernels.dual.ascent import apply_duals, load, marginalise, row_constant, sweep
from rote.kernels.jit import kernel
from rote.kernels.outputs import read_scores
from rote.kernels.search.nodes import row_loss
from rote.types import BoolArray, FloatArray, IntArray

PROBE_SWEEPS = 5
LARGE = 1e12  # in ties: a hundred times the largest score


class Desk(NamedTuple):
    """Room to work in."""

    tops: FloatArray  # per variable, then per table
    marginals: FloatArray  # per place and label
    visit: FloatArray
    losses: FloatArray  # per label
    opened: FloatArray  # per label of one variable
    trial: IntArray  # per variable
    chosen: IntArray  # per variable
    theta: FloatArray  # per entry
    messages: FloatArray
    multipliers: FloatArray


@kernel
def new_desk(graph: Graph) -> Desk:
    n = graph.sizes.shape[0]
    blocks = graph.tables.ptr.shape[0] - 1
    return Desk(
        np.empty(n + blocks),
        np.empty(graph.flow.message_ptr[-1]),
        np.empty(graph.flow.most_marginals),
        np.empty(graph.offsets[n]),
        np.empty(graph.widest),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(graph.tables.ptr[blocks]),
        np.empty(graph.flow.message_ptr[-1]),
        np.empty(graph.rows.lower.shape[0]),
    )


@kernel
def find_tops(graph: Graph, theta: FloatArray, tops: FloatArray) -> float:
    """The best label of every variable and the best entry of every table; returns their sum."""
    n = graph.sizes.shape[0]
    whole = 0.0
    for j in range(n):
        top = -np.inf
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            if theta[e] > top:
                top = theta[e]
        tops[j] = top
        whole += top
    for b in range(graph.tables.ptr.shape[0] - 1):
        top = -np.inf
        for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
            if theta[e] > top:
                top = theta[e]
        tops[n + b] = top
        whole += top
    return whole


@kernel
def gap_of(
    graph: Graph, theta: FloatArray, tops: FloatArray, multipliers: FloatArray, labels: IntArray
) -> float:
    """What an output loses against the bound; inf where it breaks a rule."""
    n = graph.sizes.shape[0]
    lost = 0.0
    for j in range(n):
        lost += tops[j] - theta[graph.offsets[j] + labels[j]]
    tables = graph.tables
    for b in range(tables.ptr.shape[0] - 1):
        e = tables.ptr[b]
        for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
            e += tables.strides[k] * labels[tables.scope[k]]
        lost += tops[n + b] - theta[e]
    if graph.rows.lower.shape[0] > 0:
        lost += row_loss(graph.offsets, graph.rows, multipliers, labels)
    return lost


@kernel
def find_losses(
    graph: Graph, theta: FloatArray, tops: FloatArray, marginals: FloatArray, losses: FloatArray
) -> None:
    """loss_j(a) for every label, and the marginals max_{t: t_j = a} θ_f(t) of every place."""
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
            marginal = marginals[at : at + size]
            marginalise(theta, tables.ptr[b], tables.ptr[b + 1], tables.strides[k], marginal)
            for a in range(size):
                losses[first + a] += tops[n + b] - marginal[a]


@kernel
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


@kernel
def lead_of(graph: Graph, losses: FloatArray, labels: IntArray) -> float:
    """The least loss of any label that is not the output's own."""
    lead = np.inf
    for j in range(graph.sizes.shape[0]):
        for a in range(graph.sizes[j]):
            if a != labels[j] and losses[graph.offsets[j] + a] < lead:
                lead = losses[graph.offsets[j] + a]
    return lead


@kernel
def close_losers(losses: FloatArray, room: float, theta: FloatArray) -> float:
    """Close the labels that lose more than ``room``; returns the least loss among them."""
    least = np.inf
    for e in range(losses.shape[0]):
        if losses[e] > room and theta[e] > -np.inf:
            theta[e] = -np.inf
            least = min(least, losses[e])
    return least


@kernel
def settle(
    graph: Graph,
    theta: FloatArray,
    messages: FloatArray,
    multipliers: FloatArray,
    desk: Desk,
    chosen: IntArray,
    known: bool,
    rest: float,
    floor: float,
    tie: float,
    epsilon: float,
    sweeps: int,
) -> tuple[float, float, float, float, int]:
    """Sweep until the best output is proved, or nothing can reach ``floor``.

    ``chosen`` is an output to begin with, if ``known``, and the best one found in the end.
    ``rest`` is worth the same in every output. Returns the bound, the output's value (-inf if
    there is none), the most that any other output can be worth, the same of outputs with a label
    that was closed on the way, and the number of sweeps.
    """
    value, runner, shut, made = -np.inf, np.inf, -np.inf, 0
    while True:
        bound = rest + find_tops(graph, theta, desk.tops) + row_constant(graph.rows, multipliers)
        if bound < floor or bound == -np.inf:
            break
        find_losses(graph, theta, desk.tops, desk.marginals, desk.losses)
        gap = gap_of(graph, theta, desk.tops, multipliers, chosen) if known else np.inf
        decode(graph, theta, desk.marginals, desk.trial)
        lost = gap_of(graph, theta, desk.tops, multipliers, desk.trial)
        if lost < gap:
            gap = lost
            chosen[:] = desk.trial
        known = gap < np.inf
        if known:
            value = bound - gap
            runner = max(shut, bound - lead_of(graph, desk.losses, chosen))
            if value - runner > tie or (epsilon > 0 and gap <= epsilon * abs(value)):
                break
        if made == sweeps:
            break
        if known:
            least = close_losers(desk.losses, gap + 4 * tie, theta)
            shut = max(shut, bound - least)
        sweep(graph, theta, messages, multipliers, desk.visit, False)
        made += 1
    return bound, value, runner, shut, made


@kernel
def probe(
    graph: Graph,
    theta: FloatArray,
    messages: FloatArray,
    multipliers: FloatArray,
    desk: Desk,
    chosen: IntArray,
    rest: float,
    bound: float,
    value: float,
    shut: float,
    tie: float,
    failures: int,
) -> tuple[float, float]:
    """Suppose one label after the other, and close it when nothing with it can be the best.

    Begins where `settle` gave up; ``shut`` is the most that outputs with a closed label can be
    worth. Gives up after so many ``failures`` in one round. Returns the output's value, and the
    most that any other can be worth, which is inf where some label stays open.
    """
    room = bound - value + 4 * tie
    shut = max(shut, bound - close_losers(desk.losses, room, theta))
    while True:
        progress = again = False
        left = 0
        for j in range(graph.sizes.shape[0]):
            first, size = graph.offsets[j], graph.sizes[j]
            for a in range(size):
                if a == chosen[j] or theta[first + a] == -np.inf:
                    continue
                desk.theta[:] = theta
                desk.messages[:] = messages
                desk.multipliers[:] = multipliers
                for b in range(size):
                    if b != a:
                        desk.theta[first + b] = -np.inf
                here, worth, second, _, _ = settle(
                    graph,
                    desk.theta,
                    desk.messages,
                    desk.multipliers,
                    desk,
                    desk.chosen,
                    False,
                    rest,
                    value - 2 * tie,
                    tie,
                    0.0,
                    PROBE_SWEEPS,
                )
                if here < value - 2 * tie:
                    most = here
                elif worth - second > tie:  # the best of this case is known
                    most = worth
                else:
                    left += 1
                    if left >= failures:
                        return value, np.inf
                    continue
                if most > value - 2 * tie:
                    if most <= value + 2 * tie:
                        return value, np.inf
                    shut = max(shut, value, second)
                    value = worth
                    chosen[:] = desk.chosen
                    again = True
                else:
                    shut = max(shut, most)
                    theta[first + a] = -np.inf
                progress = True
        if left == 0 and not again:
            return value, shut
        if not progress:
            return value, np.inf
        sweep(graph, theta, messages, multipliers, desk.visit, False)


@kernel
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
    scores: FloatArray,
    closed: BoolArray,
    ties: FloatArray,
    guesses: IntArray,
    starts: IntArray,
    messages: FloatArray,
    multipliers: FloatArray,
    steps: Steps,
    graph: Graph,
    core: IntArray,
    variables: int,
    epsilon: FloatArray,
    sweeps: int,
    failures: int,
) -> tuple[IntArray, FloatArray, FloatArray, IntArray, FloatArray, FloatArray]:
    """The best output known of every input, with what is proved of it.

    ``guesses`` are outputs to begin with, or -1. ``starts`` names a row of duals in ``messages``
    and ``multipliers`` to begin with; -1 begins with zero. Duals far larger than the scores
    are not used: their rounding would be larger than a tie. An input is given up after so many
    ``sweeps``, and, if there may be any, ``failures`` of probes.

    Returns labels (-1 for inputs without any output), bounds, margins (at least so much is every
    other output worth less; negative where nothing is proved), the sweeps made, and duals.
    """
    m, parts = scores.shape
    n = graph.sizes.shape[0]
    work = np.empty(parts + steps.entry_ptr[-1])
    best = np.empty(steps.entry_ptr[-1], np.int64)
    theta = np.empty(graph.tables.ptr[-1])
    desk = new_desk(graph)
    chosen = np.empty(n, np.int64)
    complete = np.empty(variables, np.int64)
    labels = np.full((m, variables), -1, np.int64)
    bounds = np.full(m, np.inf)
    margins = np.full(m, -np.inf)
    made = np.zeros(m, np.int64)
    sent = np.zeros((m, graph.flow.message_ptr[-1]))
    pushed = np.zeros((m, graph.rows.lower.shape[0]))
    for i in range(m):
        read_scores(scores, closed, i, work)
        forward(work, best, steps)
        rest = total(work, steps)
        load(work, graph.source, theta)
        start = starts[i]
        if start >= 0:
            moved = largest_move(messages[start], multipliers[start], graph.rows.coefficient)
            if moved > LARGE * ties[i]:
                start = -1
        if start >= 0:
            sent[i] = messages[start]
            pushed[i] = multipliers[start]
            apply_duals(graph, theta, sent[i], pushed[i])
        known = guesses[i, 0] >= 0
        for j in range(n):
            # An output says nothing of auxiliary variables; then it is no output to begin with.
            if known and core[j] < variables:
                chosen[j] = guesses[i, core[j]]
            else:
                known = False
        bound, value, runner, shut, made[i] = settle(
            graph,
            theta,
            sent[i],
            pushed[i],
            desk,
            chosen,
            known,
            rest,
            -np.inf,
            ties[i],
            epsilon[i],
            sweeps,
        )
        bounds[i] = bound
        if value == -np.inf:
            continue
        near = epsilon[i] > 0 and bound - value <= epsilon[i] * abs(value)
        if failures > 0 and not near and value - runner <= ties[i]:
            value, runner = probe(
                graph,
                theta,
                sent[i],
                pushed[i],
                desk,
                chosen,
                rest,
                bound,
                value,
                shut,
                ties[i],
                failures,
            )
        for j in range(n):
            if core[j] < variables:
                complete[core[j]] = chosen[j]
        margins[i] = min(value - runner, backward(complete, work, best, steps))
        labels[i] = complete
    return labels, bounds, margins, made, sent, pushed
