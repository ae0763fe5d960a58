"""Sequential tree-reweighted message passing (TRW-S) on networks whose tables are over pairs.

Messages λ_fj(a) move scores from table f to label a of its variable j, as in
`rote.inference.exact.duals`; tables are read and never written. A pass visits the variables in
order, or backwards. A visit of j collects

    own(a) = c_j(a) + Σ_f λ_fj(a),

hands an equal share of it to each table f that reaches further, and lets f send the other variable
all that it has: λ_fi(b) = max_a [c_f(a, b) - λ_fj(a)]. Whatever the messages were before, the bound
never rises. When j has collected, an output with label a is worth at most the bound less
max own - own(a): the *loss* of a.

Labels that lose more than what lies between the bound and an output in hand are closed. The network
of what is still open, with its messages, is small, and it is bounded, eliminated and searched in
turn. Labels of outputs within a tie of the best are never closed.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Flow, FoundBy, Graph, Questions, RowGroups, Tables
    from rote.kernels.dual.ascent import Ascent, apply_duals, close_below, load, sweep
    from rote.kernels.inlined import largest_size
    from rote.kernels.search.branch import Parts, search, search_parts
    from rote.kernels.search.nodes import Node

    SWEEPS = 8  # before a sweep has to show what it is good for
    ROUNDS = 2  # of single changes to an output
    MAX_SWEEPS = 64  # of one network
    FIRST_NODES = 16  # of the first search; each further one has more sweeps and four times as many
    NODES_IN_ORDER = 1 << 10  # to tell equal outputs apart, and some for each variable
    MAX_MESSAGE = 100  # times the largest score; what is larger drowns the digits of the others


class PairNetwork(Bundle):
    """A network over pairs with the scores, messages and incumbent of one input."""

    def __init__(self, graph: Graph) -> None:
        n, blocks = graph.sizes.shape[0], graph.tables.ptr.shape[0] - 1
        labels, entries = graph.offsets[n], graph.tables.ptr[blocks]
        sent = graph.flow.message_ptr[2 * blocks]
        pool, integers = Pool(sent + labels + 3 * graph.widest), IntPool(5 * n + labels)
        self.graph = graph
        self.entries = floats(entries)  # room for theta, where scores are not taken as they are
        self.theta = self.entries  # scores of labels and tables
        self.messages = pool.take(sent)
        self.losses = pool.take(labels)
        self.opened = flags(labels)
        self.found, self.trial = integers.take(n), integers.take(n)  # the best output, and another
        self.variable, self.label = integers.take(n), integers.take(labels)  # which ones these are
        self.number, self.only = integers.take(n), integers.take(n)  # room for `compact`
        self.own, self.guess = pool.take(graph.widest), pool.take(graph.widest)
        self.sent = pool.take(graph.widest)
        self.value, self.bound = -inf, inf
        self.given = False  # whether the incumbent came from elsewhere, and was not changed yet


class SmallNetwork(Bundle):
    """Room for what closing leaves of a network: made once, cut to size for each input."""

    def __init__(self, graph: Graph) -> None:
        n, blocks = graph.sizes.shape[0], graph.tables.ptr.shape[0] - 1
        pool = IntPool(4 * n + 12 * blocks + 6)
        self.sizes, self.offsets, self.place_ptr = pool.take(n), pool.take(n + 1), pool.take(n + 1)
        self.scope, self.strides = pool.take(2 * blocks), pool.take(2 * blocks)
        self.places, self.place_table = pool.take(2 * blocks), pool.take(2 * blocks)
        self.ptr, self.scope_ptr = pool.take(blocks + 1), pool.take(blocks + 1)
        self.message_ptr, self.zeros = pool.take(2 * blocks + 1), pool.take(n + 1)
        for b in range(blocks):
            self.scope_ptr[b] = 2 * b
            self.place_table[2 * b] = b
            self.place_table[2 * b + 1] = b
        self.scope_ptr[blocks] = 2 * blocks
        fill(self.zeros, 0)
        directions = flags(4 * blocks)
        self.share, self.up = floats(n), directions[: 2 * blocks]
        self.down = directions[2 * blocks :]
        none, no, nothing = floats(0), ints(0), flags(0)
        one = self.zeros[:1]
        self.net = PairNetwork(graph)
        self.net.graph = Graph(
            self.sizes,
            self.offsets,
            Tables(
                self.scope_ptr,
                self.scope,
                self.strides,
                self.ptr,
                self.place_ptr,
                self.places,
                self.place_table,
            ),
            Flow(self.share, self.up, self.down, self.message_ptr, 1),
            FoundBy(nothing, one, no),
            RowGroups(none, none, one, no, no, one, none, none, self.zeros, no, no, none),
            1,
            1,
        )

    def cut(self, n: Int, blocks: Int) -> None:
        """Let the graph have so many variables and tables."""
        self.net.graph.sizes = self.sizes[:n]
        self.net.graph.offsets = self.offsets[: n + 1]
        self.net.graph.rows.of_ptr = self.zeros[: n + 1]
        self.net.graph.tables.scope_ptr = self.scope_ptr[: blocks + 1]
        self.net.graph.tables.scope = self.scope[: 2 * blocks]
        self.net.graph.tables.strides = self.strides[: 2 * blocks]
        self.net.graph.tables.ptr = self.ptr[: blocks + 1]
        self.net.graph.tables.place_ptr = self.place_ptr[: n + 1]
        self.net.graph.tables.places = self.places[: 2 * blocks]
        self.net.graph.tables.place_table = self.place_table[: 2 * blocks]
        self.net.graph.flow.share = self.share[:n]
        self.net.graph.flow.up = self.up[: 2 * blocks]
        self.net.graph.flow.down = self.down[: 2 * blocks]
        self.net.graph.flow.message_ptr = self.message_ptr[: 2 * blocks + 1]


def pass_messages(net: PairNetwork, backward: Bool) -> float:
    """One pass; returns the bound that the messages give at its end, -inf if nothing is open.

    Forwards it writes down the losses of all labels.
    """
    sizes: Ints = net.graph.sizes
    offsets: Ints = net.graph.offsets
    place_ptr: Ints = net.graph.tables.place_ptr
    places: Ints = net.graph.tables.places
    scope: Ints = net.graph.tables.scope
    ptr: Ints = net.graph.tables.ptr
    message_ptr: Ints = net.graph.flow.message_ptr
    up: Flags = net.graph.flow.up
    theta: Floats = net.theta
    messages: OutFloats = net.messages
    own: OutFloats = net.own
    sent: OutFloats = net.sent
    n = sizes.shape[0]
    bound = 0.0
    for step in range(n):
        j = n - 1 - step if backward else step
        size, first = sizes[j], offsets[j]
        for a in range(size):
            own[a] = theta[first + a]
        for p in range(place_ptr[j], place_ptr[j + 1]):
            k = places[p]
            at = message_ptr[k]
            for a in range(size):
                own[a] += messages[at + a]
        top = own[0]
        for a in range(1, size):
            top = max(top, own[a])
        if top == -inf:
            return -inf
        bound += top
        for a in range(size):
            own[a] -= top
        if not backward:
            for a in range(size):
                net.losses[first + a] = -own[a]
        share: float = net.graph.flow.share[j]
        for p in range(place_ptr[j], place_ptr[j + 1]):
            k = places[p]
            if up[k] == backward:
                continue
            at = message_ptr[k]
            for a in range(size):
                if own[a] == -inf:
                    sent[a] = -inf
                    messages[at + a] = 0.0
                else:
                    sent[a] = share * own[a] - messages[at + a]
                    messages[at + a] = -sent[a]
            e = ptr[k // 2]
            if k % 2 == 0:
                to, width = message_ptr[k + 1], sizes[scope[k + 1]]
                for b in range(width):
                    messages[to + b] = sent[0] + theta[e + b]
                for a in range(1, size):
                    e += width
                    for b in range(width):
                        messages[to + b] = max(messages[to + b], sent[a] + theta[e + b])
            else:
                to, width = message_ptr[k - 1], sizes[scope[k - 1]]
                for b in range(width):
                    top = sent[0] + theta[e]
                    for a in range(1, size):
                        top = max(top, sent[a] + theta[e + a])
                    messages[to + b] = top
                    e += size
            top = messages[to]
            for b in range(1, width):
                top = max(top, messages[to + b])
            if top == -inf:
                return -inf
            bound += top
            for b in range(width):
                messages[to + b] -= top
    return bound


def decode(net: PairNetwork) -> float:
    """Read an output from the messages of a backward pass, to ``net.trial``.

    Each variable takes what is best given those before it, as the messages of those behind it say.
    Returns the least lead of any label over the next best. Another output has a first variable
    where it differs, and is worth at most the bound less the lead there.
    """
    sizes: Ints = net.graph.sizes
    scope: Ints = net.graph.tables.scope
    theta: Floats = net.theta
    messages: Floats = net.messages
    guess: OutFloats = net.guess
    least = inf
    for j in range(sizes.shape[0]):
        size, first = sizes[j], net.graph.offsets[j]
        for a in range(size):
            guess[a] = theta[first + a]
        for p in range(net.graph.tables.place_ptr[j], net.graph.tables.place_ptr[j + 1]):
            k = net.graph.tables.places[p]
            if net.graph.flow.up[k]:
                at = net.graph.flow.message_ptr[k]
                for a in range(size):
                    guess[a] += messages[at + a]
            elif k % 2 == 0:
                e = net.graph.tables.ptr[k // 2] + net.trial[scope[k + 1]]
                for a in range(size):
                    guess[a] += theta[e]
                    e += sizes[scope[k + 1]]
            else:
                e = net.graph.tables.ptr[k // 2] + net.trial[scope[k - 1]] * size
                for a in range(size):
                    guess[a] += theta[e + a]
        best, top, second = 0, guess[0], -inf
        for a in range(1, size):
            if guess[a] > top:
                best, second, top = a, top, guess[a]
            elif guess[a] > second:
                second = guess[a]
        net.trial[j] = best
        if top - second < least:
            least = top - second
    return least


def value_of(net: PairNetwork, labels: Ints) -> float:
    """What an output is worth; -inf where it has a closed label or entry."""
    value = 0.0
    for j in range(net.graph.sizes.shape[0]):
        value += net.theta[net.graph.offsets[j] + labels[j]]
    for b in range(net.graph.tables.ptr.shape[0] - 1):
        first, second = net.graph.tables.scope[2 * b], net.graph.tables.scope[2 * b + 1]
        entry = labels[first] * net.graph.sizes[second] + labels[second]
        value += net.theta[net.graph.tables.ptr[b] + entry]
    return value


def improve(net: PairNetwork, rounds: Int) -> None:
    """Change single labels of ``net.trial`` as long as that gains (iterated conditional modes)."""
    sizes: Ints = net.graph.sizes
    scope: Ints = net.graph.tables.scope
    theta: Floats = net.theta
    guess: OutFloats = net.guess
    for _ in range(rounds):
        moved: Bool = False
        for j in range(sizes.shape[0]):
            size = sizes[j]
            for a in range(size):
                guess[a] = theta[net.graph.offsets[j] + a]
            for p in range(net.graph.tables.place_ptr[j], net.graph.tables.place_ptr[j + 1]):
                k = net.graph.tables.places[p]
                e = net.graph.tables.ptr[k // 2]
                if k % 2 == 0:
                    e += net.trial[scope[k + 1]]
                    for a in range(size):
                        guess[a] += theta[e]
                        e += sizes[scope[k + 1]]
                else:
                    e += net.trial[scope[k - 1]] * size
                    for a in range(size):
                        guess[a] += theta[e + a]
            best = net.trial[j]
            for a in range(size):
                if guess[a] > guess[best]:
                    best = a
            if best != net.trial[j]:
                net.trial[j] = best
                moved = True
        if not moved:
            break


def take(net: PairNetwork) -> None:
    """Let ``net.trial`` be the incumbent if it is better."""
    value = value_of(net, net.trial)
    if value > net.value:
        net.value = value
        copy_into(net.found, net.trial)


def is_found(net: PairNetwork) -> bool:
    """Whether ``net.trial`` is the incumbent."""
    if net.value == -inf:
        return False
    for j in range(net.graph.sizes.shape[0]):
        if net.trial[j] != net.found[j]:
            return False
    return True


def close_losses(net: PairNetwork, room: float) -> int:
    """Close the labels that lose more than ``room``; how many are open where there is a choice."""
    left = 0
    for j in range(net.graph.sizes.shape[0]):
        count = 0
        for e in range(net.graph.offsets[j], net.graph.offsets[j + 1]):
            if net.losses[e] > room or net.losses[e] == inf:
                net.opened[e] = False
            if net.opened[e]:
                count += 1
        if count > 1:
            left += count
    return left


def narrow(net: PairNetwork, tie: float) -> int:
    """Sweep and close labels until half of them are closed, or sweeps change little.

    Returns how many labels are open where there is a choice, or -1 if nothing is feasible.
    """
    labels = net.graph.offsets[net.graph.sizes.shape[0]]
    left = labels
    before = inf
    for turn in range(MAX_SWEEPS):
        net.bound = pass_messages(net, True)
        if net.bound == -inf:
            return -1
        lead = decode(net)
        known: Bool = is_found(net)
        if not known:
            take(net)
        if lead > net.bound - net.value + 4 * tie and is_found(net):
            return 0
        if not known:
            improve(net, ROUNDS)
            take(net)
        if net.given:
            net.given = False
            copy_into(net.trial, net.found)
            improve(net, ROUNDS)
            take(net)
        if pass_messages(net, False) == -inf:
            return -1
        gap = net.bound - net.value
        was = left
        left = close_losses(net, gap + 4 * tie)
        if 2 * left <= labels:
            break
        if turn + 1 >= SWEEPS and gap > 0.9 * before and left > 0.9 * was:
            break
        before = gap
    return left


def compact(net: PairNetwork, to: SmallNetwork, labels: OutInts) -> None:
    """The network of the variables with a choice, and of their open labels, messages included.

    The labels of the others are written to ``labels``.
    """
    sizes: Ints = net.graph.sizes
    offsets: Ints = net.graph.offsets
    scope: Ints = net.graph.tables.scope
    theta: Floats = net.theta
    entries: OutFloats = to.net.entries
    number: OutInts = net.number
    n = sizes.shape[0]
    count, at, widest = 0, 0, 1
    to.offsets[0] = 0
    for j in range(n):
        begin = at
        for a in range(sizes[j]):
            if net.opened[offsets[j] + a]:
                if net.found[j] == a:
                    to.net.found[count] = at - begin
                to.net.label[at] = net.label[offsets[j] + a]
                entries[at] = theta[offsets[j] + a]
                to.net.opened[at] = True
                net.only[j] = a
                at += 1
        number[j] = count
        to.sizes[count] = at - begin
        to.net.variable[count] = net.variable[j]
        if at - begin == 1:
            number[j] = -1
            at = begin
            labels[net.variable[j]] = net.label[offsets[j] + net.only[j]]
            continue
        widest = max(widest, at - begin)
        count += 1
        to.offsets[count] = at
    for v in range(count + 1):
        to.place_ptr[v] = 0
    blocks, message = 0, 0
    for b in range(net.graph.tables.ptr.shape[0] - 1):
        i, j = scope[2 * b], scope[2 * b + 1]
        v, w = number[i], number[j]
        base = net.graph.tables.ptr[b]
        if v < 0 and w < 0:
            continue
        if v < 0:
            base += net.only[i] * sizes[j]
            e = to.offsets[w]
            for a in range(sizes[j]):
                if net.opened[offsets[j] + a]:
                    entries[e] += theta[base + a]
                    e += 1
            continue
        if w < 0:
            base += net.only[j]
            e = to.offsets[v]
            for a in range(sizes[i]):
                if net.opened[offsets[i] + a]:
                    entries[e] += theta[base + a * sizes[j]]
                    e += 1
            continue
        to.ptr[blocks] = at
        for a in range(sizes[i]):
            if net.opened[offsets[i] + a]:
                for c in range(sizes[j]):
                    if net.opened[offsets[j] + c]:
                        entries[at] = theta[base + a * sizes[j] + c]
                        at += 1
        for side in range(2):
            k = 2 * blocks + side
            j = scope[2 * b + side]
            v = number[j]
            to.scope[k] = v
            to.strides[k] = 1 if side == 1 else to.sizes[number[scope[2 * b + 1]]]
            to.up[k] = v < number[scope[2 * b + 1 - side]]
            to.down[k] = not to.up[k]
            to.message_ptr[k] = message
            to.place_ptr[v + 1] += 1
            source = net.graph.flow.message_ptr[2 * b + side]
            for a in range(sizes[j]):
                if net.opened[offsets[j] + a]:
                    to.net.messages[message] = net.messages[source + a]
                    message += 1
        blocks += 1
    to.ptr[blocks] = at
    to.message_ptr[2 * blocks] = message
    lay_out(to, count, blocks)
    to.net.graph.widest = widest
    to.net.graph.trail = 4 * count + 2 * blocks * (widest + 3)
    to.net.value = value_of(to.net, to.net.found) if net.value > -inf else -inf


def lay_out(to: SmallNetwork, n: Int, blocks: Int) -> None:
    """Which tables each variable has, and what each of them gets in a pass."""
    for v in range(n):
        to.place_ptr[v + 1] += to.place_ptr[v]
        to.net.number[v] = to.place_ptr[v]
    for k in range(2 * blocks):
        v = to.scope[k]
        to.places[to.net.number[v]] = k
        to.net.number[v] += 1
    most: Int = 1
    for v in range(n):
        ahead = 0
        count = to.place_ptr[v + 1] - to.place_ptr[v]
        for p in range(to.place_ptr[v], to.place_ptr[v + 1]):
            if to.up[to.places[p]]:
                ahead += 1
        to.share[v] = 1.0 / max(1, ahead, count - ahead)
        most = max(most, count * to.sizes[v])
    to.cut(n, blocks)
    to.net.graph.flow.max_marginals = most


class SearchRoom(Bundle):
    """Room for the search of a small network."""

    def reserve(self, graph: Graph) -> None:
        """Make it for this graph."""
        self.ascent, self.node, self.parts = Ascent(graph), Node(graph), Parts()


def finish(net: PairNetwork, room: SearchRoom, tie: float, node_limit: Int) -> bool:
    """Search what is left, given an incumbent; whether ``net.found`` is the answer now."""
    room.reserve(net.graph)
    copy_into(room.ascent.theta, net.theta[: room.ascent.theta.shape[0]])
    copy_into(room.ascent.messages, net.messages[: room.ascent.messages.shape[0]])
    for e in range(net.graph.offsets[net.graph.sizes.shape[0]]):
        if not net.opened[e]:
            room.ascent.theta[e] = -inf
    apply_duals(net.graph, room.ascent)
    sweeps, limit, visited = 0, FIRST_NODES, 0
    value, runner = net.value, -inf
    while True:
        for k in range(sweeps + 1):
            sweep(net.graph, room.ascent, k == sweeps)
        close_below(net.graph, room.ascent, value - 4 * tie)
        limit = min(limit, node_limit - visited)
        value, bound, runner, nodes = search_parts(
            net.graph, room.ascent, room.node, room.parts, value, tie, limit, net.found
        )
        visited += nodes
        if bound <= value:
            break
        if visited >= node_limit:
            net.bound = min(net.bound, bound)
            net.value = value_of(net, net.found)
            return False
        sweeps = min(max(2, 2 * sweeps), 64)
        limit *= 4
    net.value = value_of(net, net.found)
    if runner < value - tie:
        return True
    floor = net.value - tie
    limit = NODES_IN_ORDER + 8 * net.graph.sizes.shape[0]
    first, bound, runner, nodes = search(
        net.graph, room.ascent, room.node, floor, tie, limit, True, net.found
    )
    return first > floor


class TrwsRoom(Bundle):
    """Room for a batch: the network of the space, and two that take turns as what is left of it."""

    def __init__(self, graph: Graph) -> None:
        self.whole = PairNetwork(graph)
        self.made = 0
        self.search = SearchRoom()
        for j in range(graph.sizes.shape[0]):
            self.whole.variable[j] = j
            for a in range(graph.sizes[j]):
                self.whole.label[graph.offsets[j] + a] = a

    def reserve(self) -> None:
        """Make one more small network."""
        if self.made == 0:
            self.even = SmallNetwork(self.whole.graph)
        else:
            self.odd = SmallNetwork(self.whole.graph)
        self.made += 1


def begin(
    questions: Questions, i: Int, net: PairNetwork, plain: Bool, start: Floats2, incumbents: Ints2
) -> None:
    """Scores, messages and incumbent of one input; a start that is of no use is left out."""
    if plain and questions.closed.shape[0] == 0:
        net.theta = questions.scores[i]
    else:
        load(questions.scores[i], net.graph.source, net.entries)
        if questions.closed.shape[0] > 0:
            for e in range(questions.closed.shape[1]):
                if questions.closed[i, e]:
                    net.entries[e] = -inf
        net.theta = net.entries
    fill(net.opened, True)
    net.value, net.bound, net.given = -inf, inf, False
    large = MAX_MESSAGE * 1e10 * questions.ties[i]
    if start.shape[0] > 0 and largest_size(start, i) <= large:
        copy_into(net.messages, start[i])
    else:
        fill(net.messages, 0.0)
    known: Bool = incumbents.shape[0] > 0
    for j in range(net.graph.sizes.shape[0]):
        if not known or incumbents[i, j] < 0 or incumbents[i, j] >= net.graph.sizes[j]:
            known = False
            break
        net.trial[j] = incumbents[i, j]
    if known:
        take(net)
        net.given = net.value > -inf


def settle(room: TrwsRoom, tie: float, node_limit: Int, labels: OutInts) -> tuple[int, bool]:
    """Narrow, compact and search; where what is left stands, and whether it is settled.

    It stands in the whole network (0) or in one of the small ones (1, 2); -1 says that nothing is
    feasible.
    """
    count: Int = room.whole.losses.shape[0]
    left = narrow(room.whole, tie)
    if left < 0:
        return -1, True
    if left == 0 or room.whole.value == -inf:
        return 0, left == 0 and room.whole.value > -inf
    if room.made == 0:
        room.reserve()
    compact(room.whole, room.even, labels)
    turn = 1
    while left > 0 and 2 * left <= count:
        count = left
        if turn == 1:
            left = narrow(room.even.net, tie)
            if left > 0 and 2 * left <= count:
                if room.made == 1:
                    room.reserve()
                compact(room.even.net, room.odd, labels)
                turn = 2
        else:
            left = narrow(room.odd.net, tie)
            if left > 0 and 2 * left <= count:
                compact(room.odd.net, room.even, labels)
                turn = 1
    if left == 0:
        return turn, True
    if turn == 1:
        return turn, finish(room.even.net, room.search, tie, node_limit)
    return turn, finish(room.odd.net, room.search, tie, node_limit)


def write(
    net: PairNetwork, offsets: Ints, settled: Bool, labels: OutInts, opened: OutFlags
) -> None:
    """The labels of the incumbent; and which are open, where it is not settled yet."""
    if not settled:
        for j in range(labels.shape[0]):
            if labels[j] >= 0:
                opened[offsets[j] + labels[j]] = True
    for j in range(net.graph.sizes.shape[0]):
        if net.value > -inf:
            labels[net.variable[j]] = net.label[net.graph.offsets[j] + net.found[j]]
        if settled:
            continue
        for e in range(net.graph.offsets[j], net.graph.offsets[j + 1]):
            if net.opened[e]:
                opened[offsets[net.variable[j]] + net.label[e]] = True


def message_passing(
    questions: Questions,
    graph: Graph,
    plain: Bool,
    start: Floats2,
    incumbents: Ints2,
    messages: OutFloats2,
    node_limit: Int,
) -> tuple[IntArray, FloatArray, BoolArray, BoolArray]:
    """The best output of every input of a batch, where bounds and a short search prove it.

    ``plain`` says that scores are the entries of the graph as they stand. ``start`` and
    ``incumbents`` have messages and outputs to begin with, or no row at all; the messages before
    any label was closed are written to ``messages``, if that has rows. Returns labels (-1 where
    there is no output), bounds, what is settled, and the open labels of what is not.
    """
    m, n = questions.scores.shape[0], graph.sizes.shape[0]
    sent_by_all = graph.flow.message_ptr[graph.flow.message_ptr.shape[0] - 1]
    questions.fit(graph.source.reach, graph.offsets[n])
    if plain:
        questions.fit(graph.tables.ptr[graph.tables.ptr.shape[0] - 1], 0)
    if start.shape[0] > 0:
        expect("start", "rows", m, start.shape[0])
        expect("start", "columns", sent_by_all, start.shape[1])
    if incumbents.shape[0] > 0:
        expect("incumbents", "rows", m, incumbents.shape[0])
        expect("incumbents", "columns", n, incumbents.shape[1])
    if messages.shape[0] > 0:
        expect("messages", "rows", m, messages.shape[0])
        expect("messages", "columns", sent_by_all, messages.shape[1])
    room = TrwsRoom(graph)
    outputs, bound = np.full((m, n), -1, np.int64), np.full(m, -inf)
    done, still_open = np.ones(m, np.bool_), np.zeros((m, graph.offsets[n]), np.bool_)
    labels: OutInts2 = outputs
    bounds: OutFloats = bound
    settled: OutFlags = done
    opened: OutFlags2 = still_open
    with cython.nogil:
        for i in range(m):
            begin(questions, i, room.whole, plain, start, incumbents)
            where, proved = settle(room, questions.ties[i], node_limit, labels[i])
            if messages.shape[0] > 0:
                for k in range(messages.shape[1]):  # those to closed labels are -inf
                    sent = room.whole.messages[k]
                    messages[i, k] = 0.0 if sent == -inf else sent
            if where < 0:
                continue
            settled[i] = proved
            bounds[i] = room.whole.bound
            if where == 0:
                write(room.whole, graph.offsets, proved, labels[i], opened[i])
            elif where == 1:
                write(room.even.net, graph.offsets, proved, labels[i], opened[i])
            else:
                write(room.odd.net, graph.offsets, proved, labels[i], opened[i])
    return outputs, bound, done, still_open
