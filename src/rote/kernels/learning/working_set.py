"""Candidate outputs of the structural SVM, as its dual coordinate descent needs them.

A candidate c is an output y of an example i, with a dual α ≥ 0 and the direction
φ = φ(x_i, gold) - φ(x_i, y).

Candidates of one example differ from gold in much the same places. A direction is therefore
kept as a list of *atoms*, one per slot that differs: the feature vectors of the right and the
wrong label, and where in the weights these begin. So the weights are read and written once per atom
of an example, and not once per candidate; the products φ · φ' of its candidates are remembered.
"""

from __future__ import annotations

import cython
import numpy as np

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Slots, Vectors
    from rote.kernels.learning.linear import place_of

    MANY = 64  # slots that differ from gold, from which on atoms are looked up in a table

    # What is known of an atom stands in one row, and so in one line of the processor's cache.
    OWNER = 0  # its example
    VECTOR = 1  # of the right label
    OTHER = 2  # the vector of the wrong label, mostly the same
    RIGHT = 3  # where the weights of the right label begin
    WRONG = 4
    STRIDE = 5
    BEFORE = 6  # the atom of its example before it, or -1
    VALUE = 0  # room for w · atom
    STEP = 1  # room for a step, 0 in between
    ATOM_FIELDS = 8  # one is not used: rows are as long as a line
    WORK_FIELDS = 2


class Candidates(Bundle):
    """Candidates, atoms and examples; arrays may be longer than what is in them."""

    def __init__(
        self,
        example: OutInts,  # per candidate
        dual: OutFloats,  # per candidate
        loss: OutFloats,  # per candidate
        rank: OutInts,  # per candidate: its place among those of its example
        previous: OutInts,  # per candidate: the one of its example before it, or -1
        atom_ptr: OutInts,  # per candidate, and one more
        product_ptr: OutInts,  # per candidate, and one more
        atoms: OutInts,  # of candidates, one after the other
        products: OutFloats,  # φ · φ' with the candidates of its example up to itself, by rank
        atom: OutInts2,  # per atom a row of OWNER, VECTOR, …
        work: OutFloats2,  # per atom a row of VALUE and STEP
        last: OutInts,  # per example: its last candidate, or -1
        last_atom: OutInts,  # per example, or -1
        size: OutInts,  # per example: how many candidates it has
        total: OutFloats,  # per example: A_i
    ) -> None:
        self.example = example
        self.dual = dual
        self.loss = loss
        self.rank = rank
        self.previous = previous
        self.atom_ptr = atom_ptr
        self.product_ptr = product_ptr
        self.atoms = atoms
        self.products = products
        self.atom = atom
        self.work = work
        self.last = last
        self.last_atom = last_atom
        self.size = size
        self.total = total


class Dual(Bundle):
    """The dual of a structural SVM, and the weights that it makes."""

    def __init__(
        self,
        weights: OutFloats,
        vectors: Vectors,
        candidates: Candidates,
        costs: Floats,  # per example: C_i
        squared: Bool,  # slacks
        delta: float,  # gains up to this are none
    ) -> None:
        self.weights = weights
        self.vectors = vectors
        self.candidates = candidates
        self.costs = costs
        self.squared = squared
        self.delta = delta


class Offers(Bundle):
    """Outputs that may become candidates."""

    def __init__(
        self,
        members: Ints,  # per output: its example
        firsts: Ints,  # the first vector of each input
        gold: Ints2,  # (outputs, slots): columns
        found: Ints2,  # (outputs, slots): columns
        losses: Floats,
        slacks: Floats,  # Δ - w · φ, as inference found them
    ) -> None:
        count = members.shape[0]
        expect("firsts", "entries", count, firsts.shape[0])
        expect("gold", "rows", count, gold.shape[0])
        expect("found", "rows", count, found.shape[0])
        expect("losses", "entries", count, losses.shape[0])
        expect("slacks", "entries", count, slacks.shape[0])
        self.members = members
        self.firsts = firsts
        self.gold = gold
        self.found = found
        self.losses = losses
        self.slacks = slacks


class Growth(Bundle):
    """How many candidates and atoms there are, and a hash table for the atoms of one example."""

    def __init__(self, count: Int, known: Int) -> None:
        self.count, self.known = count, known
        self.places = 0  # of the table: a power of 2, or 0 where atoms are few
        self.room = 0  # for places; it grows when an example needs more

    def reserve(self, places: Int) -> None:
        """Room for so many places."""
        self.room = places
        self.index = ints(places)  # atoms; -1 is free


def along(dual: Dual, atom: Int) -> float:
    """w · atom."""
    v: Int = dual.candidates.atom[atom, VECTOR]
    other: Int = dual.candidates.atom[atom, OTHER]
    right: Int = dual.candidates.atom[atom, RIGHT]
    wrong: Int = dual.candidates.atom[atom, WRONG]
    stride: Int = dual.candidates.atom[atom, STRIDE]
    value = 0.0
    if v == other:
        for k in range(dual.vectors.ptr[v], dual.vectors.ptr[v + 1]):
            at = dual.vectors.column[k] * stride
            value += dual.vectors.value[k] * (dual.weights[right + at] - dual.weights[wrong + at])
        return value
    for k in range(dual.vectors.ptr[v], dual.vectors.ptr[v + 1]):
        value += dual.vectors.value[k] * dual.weights[right + dual.vectors.column[k] * stride]
    for k in range(dual.vectors.ptr[other], dual.vectors.ptr[other + 1]):
        value -= dual.vectors.value[k] * dual.weights[wrong + dual.vectors.column[k] * stride]
    return value


def shift(dual: Dual, atom: Int, step: float) -> None:
    """w += step · atom."""
    v: Int = dual.candidates.atom[atom, VECTOR]
    other: Int = dual.candidates.atom[atom, OTHER]
    right: Int = dual.candidates.atom[atom, RIGHT]
    wrong: Int = dual.candidates.atom[atom, WRONG]
    stride: Int = dual.candidates.atom[atom, STRIDE]
    for k in range(dual.vectors.ptr[v], dual.vectors.ptr[v + 1]):
        dual.weights[right + dual.vectors.column[k] * stride] += step * dual.vectors.value[k]
    for k in range(dual.vectors.ptr[other], dual.vectors.ptr[other + 1]):
        dual.weights[wrong + dual.vectors.column[k] * stride] -= step * dual.vectors.value[k]


def clear(dual: Dual, atom: Int) -> None:
    """0 wherever an atom may have left something."""
    v: Int = dual.candidates.atom[atom, VECTOR]
    other: Int = dual.candidates.atom[atom, OTHER]
    right: Int = dual.candidates.atom[atom, RIGHT]
    wrong: Int = dual.candidates.atom[atom, WRONG]
    stride: Int = dual.candidates.atom[atom, STRIDE]
    for k in range(dual.vectors.ptr[v], dual.vectors.ptr[v + 1]):
        dual.weights[right + dual.vectors.column[k] * stride] = 0.0
    for k in range(dual.vectors.ptr[other], dual.vectors.ptr[other + 1]):
        dual.weights[wrong + dual.vectors.column[k] * stride] = 0.0


def is_atom(
    candidates: Candidates, number: Int, vector: Int, other: Int, right: Int, wrong: Int
) -> bool:
    """Whether an atom has these vectors, and its weights begin there."""
    return (
        candidates.atom[number, WRONG] == wrong
        and candidates.atom[number, RIGHT] == right
        and candidates.atom[number, VECTOR] == vector
        and candidates.atom[number, OTHER] == other
    )


def walk_to(
    candidates: Candidates, example: Int, vector: Int, other: Int, right: Int, wrong: Int
) -> int:
    """The atom of an example that is this one, or -1; for few atoms faster than a table."""
    atom: Int = candidates.last_atom[example]
    while atom >= 0 and not is_atom(candidates, atom, vector, other, right, wrong):
        atom = candidates.atom[atom, BEFORE]
    return atom


def place_in(
    candidates: Candidates, growth: Growth, vector: Int, other: Int, right: Int, wrong: Int
) -> int:
    """Where an atom stands in the hash table, or where it may."""
    mask = growth.places - 1
    place = (vector * 31 + other * 17 + right * 7 + wrong * 3) & mask
    while growth.index[place] >= 0 and not is_atom(
        candidates, growth.index[place], vector, other, right, wrong
    ):
        place = (place + 1) & mask
    return place


def list_atoms(candidates: Candidates, growth: Growth, example: Int, more: Int) -> None:
    """Put an example's atoms into the hash table, at most half full with so many more."""
    count = more
    atom: Int = candidates.last_atom[example]
    while atom >= 0:
        count += 1
        atom = candidates.atom[atom, BEFORE]
    growth.places = 8
    while growth.places < 2 * count:
        growth.places *= 2
    if growth.places > growth.room:
        growth.reserve(growth.places)
    for k in range(growth.places):
        growth.index[k] = -1
    atom = candidates.last_atom[example]
    while atom >= 0:
        place = place_in(
            candidates,
            growth,
            candidates.atom[atom, VECTOR],
            candidates.atom[atom, OTHER],
            candidates.atom[atom, RIGHT],
            candidates.atom[atom, WRONG],
        )
        growth.index[place] = atom
        atom = candidates.atom[atom, BEFORE]


def read_atoms(dual: Dual, example: Int) -> None:
    """Put w · atom into ``value``, for every atom of an example."""
    atom: Int = dual.candidates.last_atom[example]
    while atom >= 0:
        dual.candidates.work[atom, VALUE] = along(dual, atom)
        atom = dual.candidates.atom[atom, BEFORE]


def summed(candidates: Candidates, c: Int) -> float:
    """The ``value`` of a candidate's atoms in all."""
    value: float = 0.0
    for k in range(candidates.atom_ptr[c], candidates.atom_ptr[c + 1]):
        value += candidates.work[candidates.atoms[k], VALUE]
    return value


def is_known(candidates: Candidates, example: Int, begin: Int, end: Int) -> bool:
    """Whether an example has a candidate with the atoms listed from ``begin`` to ``end``."""
    c = candidates.last[example]
    while c >= 0:
        first = candidates.atom_ptr[c]
        same: Bool = candidates.atom_ptr[c + 1] - first == end - begin
        k: Int = 0
        while same and k < end - begin:
            same = candidates.atoms[first + k] == candidates.atoms[begin + k]
            k += 1
        if same:
            return True
        c = candidates.previous[c]
    return False


def gains_enough(dual: Dual, example: Int, slack: float) -> bool:
    """Whether an output has a gain above δ, and more than the candidates of its example."""
    cost = dual.costs[example]
    if cost <= 0.0:
        return False
    bar = dual.candidates.total[example] / (2.0 * cost) if dual.squared else 0.0
    if dual.squared or not slack > bar + dual.delta:
        return slack > bar + dual.delta
    read_atoms(dual, example)
    c = dual.candidates.last[example]
    while c >= 0:
        bar = max(bar, dual.candidates.loss[c] - summed(dual.candidates, c))
        c = dual.candidates.previous[c]
    return slack > bar + dual.delta


def find_atom(
    candidates: Candidates,
    growth: Growth,
    example: Int,
    vector: Int,
    other: Int,
    right: Int,
    wrong: Int,
    stride: Int,
) -> int:
    """The atom of an example that is this one; a new one if there is none."""
    place: Int = -1
    if growth.places > 0:
        place = place_in(candidates, growth, vector, other, right, wrong)
        atom = growth.index[place]
    else:
        atom = walk_to(candidates, example, vector, other, right, wrong)
    if atom >= 0:
        return atom
    atom = growth.known
    if place >= 0:
        growth.index[place] = atom
    candidates.atom[atom, OWNER] = example
    candidates.atom[atom, VECTOR] = vector
    candidates.atom[atom, OTHER] = other
    candidates.atom[atom, RIGHT] = right
    candidates.atom[atom, WRONG] = wrong
    candidates.atom[atom, STRIDE] = stride
    candidates.atom[atom, BEFORE] = candidates.last_atom[example]
    candidates.work[atom, STEP] = 0.0
    candidates.last_atom[example] = atom
    growth.known += 1
    return atom


def list_direction(
    candidates: Candidates, slots: Slots, offers: Offers, i: Int, growth: Growth
) -> int:
    """Write the atoms of output i behind those of all candidates; returns where they end."""
    example, first = offers.members[i], offers.firsts[i]
    end = candidates.atom_ptr[growth.count]
    different: Int = 0
    for s in range(slots.vector.shape[0]):
        if offers.gold[i, s] != offers.found[i, s]:
            different += 1
    growth.places = 0
    if different >= MANY:
        list_atoms(candidates, growth, example, different)
    for s in range(slots.vector.shape[0]):
        if offers.gold[i, s] != offers.found[i, s]:
            vector, right = place_of(slots, s, first, offers.gold[i, s])
            other, wrong = place_of(slots, s, first, offers.found[i, s])
            candidates.atoms[end] = find_atom(
                candidates, growth, example, vector, other, right, wrong, slots.stride[s]
            )
            end += 1
    return end


def append(candidates: Candidates, c: Int, example: Int, end: Int, products: Int) -> None:
    """Make c the last candidate of an example; its atoms and products end there."""
    candidates.example[c] = example
    candidates.rank[c] = candidates.size[example]
    candidates.size[example] += 1
    candidates.previous[c] = candidates.last[example]
    candidates.last[example] = c
    candidates.atom_ptr[c + 1] = end
    candidates.product_ptr[c + 1] = products


def multiply(scratch: Dual, c: Int) -> None:
    """The products of a candidate with those of its example up to itself."""
    begin, end = scratch.candidates.atom_ptr[c], scratch.candidates.atom_ptr[c + 1]
    for k in range(begin, end):
        shift(scratch, scratch.candidates.atoms[k], 1.0)
    read_atoms(scratch, scratch.candidates.example[c])
    product = scratch.candidates.product_ptr[c]
    other = c
    while other >= 0:
        at = product + scratch.candidates.rank[other]
        scratch.candidates.products[at] = summed(scratch.candidates, other)
        other = scratch.candidates.previous[other]
    for k in range(begin, end):
        clear(scratch, scratch.candidates.atoms[k])


def add_output(dual: Dual, slots: Slots, offers: Offers, i: Int, growth: Growth) -> bool:
    """Make output i a candidate, unless it is one; its products are still to be found."""
    before, c, example = growth.known, growth.count, offers.members[i]
    end = list_direction(dual.candidates, slots, offers, i, growth)
    begin = dual.candidates.atom_ptr[c]
    if growth.known == before and is_known(dual.candidates, example, begin, end):
        return False
    dual.candidates.dual[c] = 0.0
    dual.candidates.loss[c] = offers.losses[i]
    products = dual.candidates.product_ptr[c] + dual.candidates.size[example] + 1
    append(dual.candidates, c, example, end, products)
    growth.count += 1
    return True


def add_candidates(
    dual: Dual, slots: Slots, offers: Offers, count: Int, known: Int, scratch: OutFloats
) -> tuple[int, int]:
    """Take in the outputs whose gain is above δ and that are not candidates yet.

    There are ``count`` candidates and ``known`` atoms, and room for more. ``scratch`` is as long as
    the weights, and 0 before and after. Returns how many candidates and atoms there are then.
    """
    expect("gold", "columns", slots.vector.shape[0], offers.gold.shape[1])
    expect("found", "columns", slots.vector.shape[0], offers.found.shape[1])
    expect("scratch", "entries", dual.weights.shape[0], scratch.shape[0])
    growth = Growth(count, known)
    apart = Dual(scratch, dual.vectors, dual.candidates, dual.costs, dual.squared, dual.delta)
    with cython.nogil:
        for i in range(offers.members.shape[0]):
            good: Bool = gains_enough(dual, offers.members[i], offers.slacks[i])
            if good and add_output(dual, slots, offers, i, growth):
                multiply(apart, growth.count - 1)
    return growth.count, growth.known


def compact(candidates: Candidates, count: Int, known: Int, kept: Flags) -> tuple[int, int]:
    """Drop the candidates that are not kept, and atoms that none of the others has.

    Everything moves forward in its array, never past what is still to be read. Returns how many
    candidates and atoms there are then.
    """
    expect_least("kept", "entries", count, kept.shape[0])
    first: OutInts = np.zeros(candidates.size.shape[0] + 1, np.int64)
    stays: OutFlags = np.zeros(count, np.bool_)  # by example and rank
    number: OutInts = np.full(
        known, -1, np.int64
    )  # per atom: its new one, or -1 where none is left
    with cython.nogil:
        for e in range(candidates.size.shape[0]):
            first[e + 1] = first[e] + candidates.size[e]
        for c in range(count):
            if kept[c]:
                stays[first[candidates.example[c]] + candidates.rank[c]] = True
                for k in range(candidates.atom_ptr[c], candidates.atom_ptr[c + 1]):
                    number[candidates.atoms[k]] = 0
        atoms = compact_atoms(candidates, number)
        left = compact_candidates(candidates, kept, number, first, stays)
    return left, atoms


def compact_atoms(candidates: Candidates, number: OutInts) -> int:
    """Move atoms forward that have a number of 0 or more, which is then their new one."""
    fill(candidates.last_atom, -1)
    atoms = 0
    for atom in range(number.shape[0]):
        if number[atom] >= 0:
            number[atom] = atoms
            for field in range(candidates.atom.shape[1]):
                candidates.atom[atoms, field] = candidates.atom[atom, field]
            owner: Int = candidates.atom[atom, OWNER]
            candidates.atom[atoms, BEFORE] = candidates.last_atom[owner]
            candidates.last_atom[owner] = atoms
            atoms += 1
    return atoms


def compact_candidates(
    candidates: Candidates, kept: Flags, number: Ints, first: Ints, stays: Flags
) -> int:
    """Move candidates forward that are kept, with what ``stays`` of their products."""
    fill(candidates.last, -1)
    fill(candidates.size, 0)
    left, end, product = 0, 0, 0
    begin, begin_product = candidates.atom_ptr[0], candidates.product_ptr[0]
    for c in range(stays.shape[0]):
        stop, stop_product = candidates.atom_ptr[c + 1], candidates.product_ptr[c + 1]
        if kept[c]:
            for k in range(begin, stop):
                candidates.atoms[end] = number[candidates.atoms[k]]
                end += 1
            example = candidates.example[c]
            for r in range(stop_product - begin_product):
                if stays[first[example] + r]:
                    candidates.products[product] = candidates.products[begin_product + r]
                    product += 1
            candidates.dual[left] = candidates.dual[c]
            candidates.loss[left] = candidates.loss[c]
            append(candidates, left, example, end, product)
            left += 1
        begin, begin_product = stop, stop_product
    return left
