"""Dual coordinate descent over candidate outputs, for the structural SVM.

A candidate c is an output y of an example i, with a dual α ≥ 0 and the direction
φ = φ(x_i, gold) - φ(x_i, y). With w = Σ α φ and the sum A_i of an example's duals, we minimise

    D(α) = ½ ‖w‖² + Σ_i A_i² / (4 C_i) - Σ Δ α           (squared slacks)
    D(α) = ½ ‖w‖² - Σ Δ α   with  A_i ≤ C_i               (plain slacks)

one α after the other; its gain is -∂D/∂α = Δ - w · φ - A_i / (2 C_i), the last part only for
squared slacks. Where A_i has reached C_i, what one candidate gains another of the same example
must give.

Candidates of one example differ from gold in much the same places. A direction is therefore
kept as a list of *atoms*, one per slot that differs: the feature vectors of the right and the
wrong label, and where in the weights these begin. A visit of an example reads the weights once
per atom, takes its steps with the products φ · φ' of its candidates, which are remembered, and
writes the weights once per atom.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.linear import place_of
from rote.kernels.structs import Slots, Vectors
from rote.types import BoolArray, FloatArray, IntArray

FULL = 1.0 - 1e-12  # of C_i: from here on A_i has no room left
ROUNDS = 8  # over the candidates of one example in one visit
MANY = 64  # slots that differ from gold, from which on atoms are looked up in a table


# What is known of an atom stands in one row, and so in one line of the processor's cache.
OWNER = 0  # its example
VECTOR = 1  # of the right label
OTHER = 2  # the vector of the wrong label, mostly the same
RIGHT = 3  # where the weights of the right label begin
WRONG = 4
STRIDE = 5
BEFORE = 6  # the atom of its example before it, or -1
ATOM_FIELDS = 8  # one is not used: rows are as long as a line
VALUE = 0  # room for w · atom
STEP = 1  # room for a step, 0 in between
WORK_FIELDS = 2


class Candidates(NamedTuple):
    """Candidates, atoms and examples; arrays may be longer than what is in them."""

    example: IntArray  # per candidate
    dual: FloatArray  # per candidate
    loss: FloatArray  # per candidate
    rank: IntArray  # per candidate: its place among those of its example
    previous: IntArray  # per candidate: the one of its example before it, or -1
    atom_ptr: IntArray  # per candidate, and one more
    product_ptr: IntArray  # per candidate, and one more
    atoms: IntArray  # of candidates, one after the other
    products: FloatArray  # φ · φ' with the candidates of its example up to itself, by rank
    atom: IntArray  # per atom a row of OWNER, VECTOR, …
    work: FloatArray  # per atom a row of VALUE and STEP
    last: IntArray  # per example: its last candidate, or -1
    last_atom: IntArray  # per example, or -1
    size: IntArray  # per example: how many candidates it has
    total: FloatArray  # per example: A_i


class Desk(NamedTuple):
    """Room for the candidates of one example, by rank."""

    ids: IntArray
    gains: FloatArray  # Δ - w · φ
    steps: FloatArray  # what each dual was moved by
    products: FloatArray  # φ · φ' of each two


@kernel
def along(weights: FloatArray, vectors: Vectors, candidates: Candidates, atom: int) -> float:
    """w · atom."""
    v, other = candidates.atom[atom, VECTOR], candidates.atom[atom, OTHER]
    right, wrong = candidates.atom[atom, RIGHT], candidates.atom[atom, WRONG]
    stride = candidates.atom[atom, STRIDE]
    value = 0.0
    if v == other:
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = vectors.column[k] * stride
            value += vectors.value[k] * (weights[right + at] - weights[wrong + at])
        return value
    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
        value += vectors.value[k] * weights[right + vectors.column[k] * stride]
    for k in range(vectors.ptr[other], vectors.ptr[other + 1]):
        value -= vectors.value[k] * weights[wrong + vectors.column[k] * stride]
    return value


@kernel
def shift(
    weights: FloatArray, vectors: Vectors, candidates: Candidates, atom: int, step: float
) -> None:
    """w += step · atom."""
    v, other = candidates.atom[atom, VECTOR], candidates.atom[atom, OTHER]
    stride = candidates.atom[atom, STRIDE]
    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
        weights[candidates.atom[atom, RIGHT] + vectors.column[k] * stride] += (
            step * vectors.value[k]
        )
    for k in range(vectors.ptr[other], vectors.ptr[other + 1]):
        weights[candidates.atom[atom, WRONG] + vectors.column[k] * stride] -= (
            step * vectors.value[k]
        )


@kernel
def clear(scratch: FloatArray, vectors: Vectors, candidates: Candidates, atom: int) -> None:
    """0 wherever an atom may have left something."""
    v, other = candidates.atom[atom, VECTOR], candidates.atom[atom, OTHER]
    stride = candidates.atom[atom, STRIDE]
    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
        scratch[candidates.atom[atom, RIGHT] + vectors.column[k] * stride] = 0.0
    for k in range(vectors.ptr[other], vectors.ptr[other + 1]):
        scratch[candidates.atom[atom, WRONG] + vectors.column[k] * stride] = 0.0


@kernel
def is_atom(
    candidates: Candidates, atom: int, vector: int, other: int, right: int, wrong: int
) -> bool:
    """Whether an atom is this one."""
    row = candidates.atom[atom]
    return bool(
        row[WRONG] == wrong
        and row[RIGHT] == right
        and row[VECTOR] == vector
        and row[OTHER] == other
    )


@kernel
def walk_to(
    candidates: Candidates, example: int, vector: int, other: int, right: int, wrong: int
) -> int:
    """The atom of an example that is this one, or -1; for few atoms faster than a table."""
    atom = candidates.last_atom[example]
    while atom >= 0 and not is_atom(candidates, atom, vector, other, right, wrong):
        atom = candidates.atom[atom, BEFORE]
    return int(atom)


@kernel
def index_of(candidates: Candidates, example: int, more: int) -> IntArray:
    """A hash table of an example's atoms, at most half full with so many more; -1 is free."""
    count, atom = more, candidates.last_atom[example]
    while atom >= 0:
        count += 1
        atom = candidates.atom[atom, BEFORE]
    size = 8
    while size < 2 * count:
        size *= 2
    index = np.full(size, -1)
    atom = candidates.last_atom[example]
    while atom >= 0:
        row = candidates.atom[atom]
        index[room_of(candidates, index, row[VECTOR], row[OTHER], row[RIGHT], row[WRONG])] = atom
        atom = row[BEFORE]
    return index


@kernel
def room_of(
    candidates: Candidates, index: IntArray, vector: int, other: int, right: int, wrong: int
) -> int:
    """Where an atom stands in a hash table, or where it may."""
    mask = index.shape[0] - 1
    room = (vector * 31 + other * 17 + right * 7 + wrong * 3) & mask
    while index[room] >= 0 and not is_atom(candidates, index[room], vector, other, right, wrong):
        room = (room + 1) & mask
    return int(room)


@kernel
def read_atoms(weights: FloatArray, vectors: Vectors, candidates: Candidates, example: int) -> None:
    """Put w · atom into ``value``, for every atom of an example."""
    atom = candidates.last_atom[example]
    while atom >= 0:
        candidates.work[atom, VALUE] = along(weights, vectors, candidates, atom)
        atom = candidates.atom[atom, BEFORE]


@kernel
def summed(candidates: Candidates, c: int) -> float:
    """The ``value`` of a candidate's atoms in all."""
    value = 0.0
    for k in range(candidates.atom_ptr[c], candidates.atom_ptr[c + 1]):
        value += candidates.work[candidates.atoms[k], VALUE]
    return value


@kernel
def is_known(candidates: Candidates, example: int, begin: int, end: int) -> bool:
    """Whether an example has a candidate with the atoms listed from ``begin`` to ``end``."""
    c = candidates.last[example]
    while c >= 0:
        first = candidates.atom_ptr[c]
        same = candidates.atom_ptr[c + 1] - first == end - begin
        k = 0
        while same and k < end - begin:
            same = candidates.atoms[first + k] == candidates.atoms[begin + k]
            k += 1
        if same:
            return True
        c = candidates.previous[c]
    return False


@kernel
def add_candidates(
    candidates: Candidates,
    count: int,
    known: int,
    scratch: FloatArray,
    weights: FloatArray,
    vectors: Vectors,
    slots: Slots,
    members: IntArray,
    firsts: IntArray,
    gold: IntArray,
    found: IntArray,
    losses: FloatArray,
    slacks: FloatArray,
    costs: FloatArray,
    squared: bool,
    delta: float,
) -> tuple[int, int]:
    """Take in the outputs whose gain is above δ and that are not candidates yet.

    There are ``count`` candidates and ``known`` atoms, and room for more; ``slacks`` are
    Δ - w · φ of the outputs, as inference found them. ``scratch`` is as long as the weights, and 0
    before and after. Returns how many candidates and atoms there are then.
    """
    for i in range(members.shape[0]):
        example = members[i]
        cost = costs[example]
        if cost <= 0.0:
            continue
        bar = candidates.total[example] / (2.0 * cost) if squared else 0.0
        if not slacks[i] > bar + delta:
            continue
        if not squared:
            read_atoms(weights, vectors, candidates, example)
            c = candidates.last[example]
            while c >= 0:
                bar = max(bar, candidates.loss[c] - summed(candidates, c))
                c = candidates.previous[c]
            if not slacks[i] > bar + delta:
                continue
        before = known
        begin = end = candidates.atom_ptr[count]
        different = 0
        for s in range(slots.vector.shape[0]):
            different += int(gold[i, s] != found[i, s])
        many = different >= MANY
        index = index_of(candidates, example, different) if many else candidates.atoms[:0]
        for s in range(slots.vector.shape[0]):
            if gold[i, s] == found[i, s]:
                continue
            vector, right = place_of(slots, s, firsts[i], gold[i, s])
            other, wrong = place_of(slots, s, firsts[i], found[i, s])
            room = room_of(candidates, index, vector, other, right, wrong) if many else -1
            if many:
                atom = index[room]
            else:
                atom = walk_to(candidates, example, vector, other, right, wrong)
            if atom < 0:
                atom = known
                if many:
                    index[room] = atom
                candidates.atom[atom, OWNER] = example
                candidates.atom[atom, VECTOR] = vector
                candidates.atom[atom, OTHER] = other
                candidates.atom[atom, RIGHT] = right
                candidates.atom[atom, WRONG] = wrong
                candidates.atom[atom, STRIDE] = slots.stride[s]
                candidates.atom[atom, BEFORE] = candidates.last_atom[example]
                candidates.work[atom, STEP] = 0.0
                candidates.last_atom[example] = atom
                known += 1
            candidates.atoms[end] = atom
            end += 1
        if known == before and is_known(candidates, example, begin, end):
            continue
        candidates.atom_ptr[count + 1] = end
        candidates.example[count] = example
        candidates.dual[count] = 0.0
        candidates.loss[count] = losses[i]
        candidates.rank[count] = candidates.size[example]
        candidates.size[example] += 1
        candidates.previous[count] = candidates.last[example]
        candidates.last[example] = count
        first = candidates.product_ptr[count]
        candidates.product_ptr[count + 1] = first + candidates.size[example]
        for k in range(begin, end):
            shift(scratch, vectors, candidates, candidates.atoms[k], 1.0)
        read_atoms(scratch, vectors, candidates, example)
        c = count
        while c >= 0:
            candidates.products[first + candidates.rank[c]] = summed(candidates, c)
            c = candidates.previous[c]
        for k in range(begin, end):
            clear(scratch, vectors, candidates, candidates.atoms[k])
        count += 1
    return count, known


@kernel
def gains_of(
    weights: FloatArray,
    vectors: Vectors,
    candidates: Candidates,
    example: int,
    ids: IntArray,
    gains: FloatArray,
) -> int:
    """The candidates of an example by rank, and Δ - w · φ of each; returns how many."""
    read_atoms(weights, vectors, candidates, example)
    size = candidates.size[example]
    c = candidates.last[example]
    while c >= 0:
        r = candidates.rank[c]
        ids[r] = c
        gains[r] = candidates.loss[c] - summed(candidates, c)
        c = candidates.previous[c]
    return int(size)


@kernel
def product_of(candidates: Candidates, ids: IntArray, r: int, s: int) -> float:
    """φ · φ' of the candidates at two ranks."""
    if r < s:
        r, s = s, r
    return float(candidates.products[candidates.product_ptr[ids[r]] + s])


@kernel
def weakest(candidates: Candidates, ids: IntArray, gains: FloatArray, size: int) -> int:
    """The rank of the candidate with a dual above 0 and the least gain, or -1."""
    chosen = -1
    for r in range(size):
        if candidates.dual[ids[r]] > 0.0 and (chosen < 0 or gains[r] < gains[chosen]):
            chosen = r
    return chosen


@kernel
def projected(
    candidates: Candidates,
    ids: IntArray,
    gains: FloatArray,
    size: int,
    r: int,
    example: int,
    cost: float,
    squared: bool,
) -> float:
    """How much a candidate would still gain, or lose too much, where its dual can move."""
    dual, total = candidates.dual[ids[r]], candidates.total[example]
    if squared:
        gain = gains[r] - total / (2.0 * cost)
    else:
        gain = gains[r]
        if gain > 0.0 and total >= cost * FULL:
            giver = weakest(candidates, ids, gains, size)
            return max(0.0, float(gain - gains[giver])) if giver >= 0 else 0.0
    return abs(float(gain)) if dual > 0.0 else max(0.0, float(gain))


@kernel
def take(candidates: Candidates, desk: Desk, size: int, r: int, step: float) -> None:
    """α += step, with what it does to the gains of the example."""
    candidates.dual[desk.ids[r]] += step
    desk.steps[r] += step
    products = desk.products[r]
    for s in range(size):
        desk.gains[s] -= step * products[s]


@kernel
def visit(
    weights: FloatArray,
    vectors: Vectors,
    candidates: Candidates,
    example: int,
    cost: float,
    squared: bool,
    desk: Desk,
    delta: float,
) -> float:
    """Rounds over the candidates of one example; returns the largest projected gain before."""
    ids, gains = desk.ids, desk.gains
    size = gains_of(weights, vectors, candidates, example, ids, gains)
    before = 0.0
    for r in range(size):
        desk.steps[r] = 0.0
        for s in range(size):
            desk.products[r, s] = product_of(candidates, ids, r, s)
        own = projected(candidates, ids, gains, size, r, example, cost, squared)
        before = max(before, own)
    largest = before
    rounds = 0
    while largest > 0.1 * delta and rounds < ROUNDS:
        largest = 0.0
        rounds += 1
        for r in range(size):
            own = projected(candidates, ids, gains, size, r, example, cost, squared)
            largest = max(largest, own)
            norm = desk.products[r, r]
            if own == 0.0:
                continue
            dual, total = candidates.dual[ids[r]], candidates.total[example]
            if squared:
                gain = gains[r] - total / (2.0 * cost)
                step = max(-dual, gain / (norm + 0.5 / cost))
                candidates.total[example] += step
                take(candidates, desk, size, r, step)
            elif gains[r] > 0.0 and total >= cost * FULL:
                giver = weakest(candidates, ids, gains, size)
                both = norm + desk.products[giver, giver] - 2.0 * desk.products[r, giver]
                step = candidates.dual[ids[giver]]
                if both > 0.0:
                    step = min(step, own / both)
                take(candidates, desk, size, r, step)
                take(candidates, desk, size, giver, -step)
            else:
                # Where φ is 0, w does not mind: α goes as far as it may.
                best = gains[r] / norm if norm > 0.0 else np.copysign(np.inf, gains[r])
                step = min(cost - total, max(-dual, best))
                candidates.total[example] += step
                take(candidates, desk, size, r, step)
    for r in range(size):
        if desk.steps[r] != 0.0:
            c = ids[r]
            for k in range(candidates.atom_ptr[c], candidates.atom_ptr[c + 1]):
                candidates.work[candidates.atoms[k], STEP] += desk.steps[r]
    atom = candidates.last_atom[example]
    while atom >= 0:
        if candidates.work[atom, STEP] != 0.0:
            shift(weights, vectors, candidates, atom, candidates.work[atom, STEP])
            candidates.work[atom, STEP] = 0.0
        atom = candidates.atom[atom, BEFORE]
    return before


@kernel
def descend(
    weights: FloatArray,
    vectors: Vectors,
    candidates: Candidates,
    examples: IntArray,
    costs: FloatArray,
    squared: bool,
    passes: int,
    delta: float,
    seed: int,
) -> int:
    """Passes over examples in random order, until no projected gain is above δ.

    An example that had none above δ rests until the next call (shrinking). Returns the number of
    passes.
    """
    most = 1
    for example in examples:
        most = max(most, candidates.size[example])
    desk = Desk(np.empty(most, np.int64), np.empty(most), np.empty(most), np.empty((most, most)))
    order = examples.copy()
    active = order.shape[0]
    state = np.uint64(seed) | np.uint64(1)  # of a random generator; never 0
    done = 0
    while done < passes and active > 0:
        for a in range(active):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            b = a + int(state >> np.uint64(11)) % (active - a)
            order[a], order[b] = order[b], order[a]
        a = 0
        while a < active:
            example = order[a]
            gain = visit(
                weights,
                vectors,
                candidates,
                example,
                costs[example],
                squared,
                desk,
                delta,
            )
            if gain <= delta:
                active -= 1
                order[a], order[active] = order[active], order[a]
            else:
                a += 1
        done += 1
    return done


@kernel
def largest_gain(
    weights: FloatArray,
    vectors: Vectors,
    candidates: Candidates,
    costs: FloatArray,
    squared: bool,
) -> float:
    """The largest projected gain of all candidates, none of them moved."""
    most = 1
    for example in range(costs.shape[0]):
        most = max(most, candidates.size[example])
    ids, gains = np.empty(most, np.int64), np.empty(most)
    largest = 0.0
    for example in range(costs.shape[0]):
        size = gains_of(weights, vectors, candidates, example, ids, gains)
        for r in range(size):
            own = projected(candidates, ids, gains, size, r, example, costs[example], squared)
            largest = max(largest, own)
    return largest


@kernel
def compact(candidates: Candidates, count: int, known: int, kept: BoolArray) -> tuple[int, int]:
    """Drop the candidates that are not kept, and atoms that none of the others has.

    Everything moves forward in its array, never past what is still to be read. Returns how many
    candidates and atoms there are then.
    """
    examples = candidates.size.shape[0]
    first = np.zeros(examples + 1, np.int64)
    for e in range(examples):
        first[e + 1] = first[e] + candidates.size[e]
    stays = np.zeros(count, np.bool_)  # by example and rank
    used = np.zeros(known, np.bool_)
    for c in range(count):
        if kept[c]:
            stays[first[candidates.example[c]] + candidates.rank[c]] = True
            for k in range(candidates.atom_ptr[c], candidates.atom_ptr[c + 1]):
                used[candidates.atoms[k]] = True
    number = np.empty(known, np.int64)
    candidates.last_atom[:] = -1
    atoms = 0
    for atom in range(known):
        if used[atom]:
            number[atom] = atoms
            owner = candidates.atom[atom, OWNER]
            candidates.atom[atoms] = candidates.atom[atom]
            candidates.atom[atoms, BEFORE] = candidates.last_atom[owner]
            candidates.last_atom[owner] = atoms
            atoms += 1
    candidates.last[:] = -1
    candidates.size[:] = 0
    new, end, product = 0, 0, 0
    begin, begin_product = candidates.atom_ptr[0], candidates.product_ptr[0]
    for c in range(count):
        stop, stop_product = candidates.atom_ptr[c + 1], candidates.product_ptr[c + 1]
        if kept[c]:
            example = candidates.example[c]
            for k in range(begin, stop):
                candidates.atoms[end] = number[candidates.atoms[k]]
                end += 1
            for r in range(stop_product - begin_product):
                if stays[first[example] + r]:
                    candidates.products[product] = candidates.products[begin_product + r]
                    product += 1
            candidates.example[new] = example
            candidates.dual[new] = candidates.dual[c]
            candidates.loss[new] = candidates.loss[c]
            candidates.rank[new] = candidates.size[example]
            candidates.size[example] += 1
            candidates.previous[new] = candidates.last[example]
            candidates.last[example] = new
            candidates.atom_ptr[new + 1] = end
            candidates.product_ptr[new + 1] = product
            new += 1
        begin, begin_product = stop, stop_product
    return new, atoms
