"""Candidate outputs of the structural SVM, as its dual coordinate descent needs them.

A candidate c is an output y of an example i, with a dual α ≥ 0 and the direction
φ = φ(x_i, gold) - φ(x_i, y).

Candidates of one example differ from gold in much the same places. A direction is therefore
kept as a list of *atoms*, one per slot that differs: the feature vectors of the right and the
wrong label, and where in the weights these begin. So the weights are read and written once per atom
of an example, and not once per candidate; the products φ · φ' of its candidates are remembered.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Slots, Vectors
from rote.kernels.jit import kernel, lean
from rote.kernels.learning.linear import place_of
from rote.types import BoolArray, FloatArray, IntArray

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


class Dual(NamedTuple):
    """The dual of a structural SVM, and the weights that it makes."""

    weights: FloatArray
    vectors: Vectors
    candidates: Candidates
    costs: FloatArray  # per example: C_i
    squared: bool  # slacks
    delta: float  # gains up to this are none


class Atom(NamedTuple):
    """What tells atoms of one example apart."""

    vector: int
    other: int
    right: int
    wrong: int


class Offers(NamedTuple):
    """Outputs that may become candidates."""

    members: IntArray  # per output: its example
    firsts: IntArray  # the first vector of each input
    gold: IntArray  # (outputs, slots): columns
    found: IntArray  # (outputs, slots): columns
    losses: FloatArray
    slacks: FloatArray  # Δ - w · φ, as inference found them


@lean
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


@lean
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


@lean
def clear(scratch: FloatArray, vectors: Vectors, candidates: Candidates, atom: int) -> None:
    """0 wherever an atom may have left something."""
    v, other = candidates.atom[atom, VECTOR], candidates.atom[atom, OTHER]
    stride = candidates.atom[atom, STRIDE]
    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
        scratch[candidates.atom[atom, RIGHT] + vectors.column[k] * stride] = 0.0
    for k in range(vectors.ptr[other], vectors.ptr[other + 1]):
        scratch[candidates.atom[atom, WRONG] + vectors.column[k] * stride] = 0.0


@lean
def is_atom(candidates: Candidates, number: int, atom: Atom) -> bool:
    """Whether an atom is this one."""
    row = candidates.atom[number]
    same: bool = row[WRONG] == atom.wrong and row[RIGHT] == atom.right
    return same and row[VECTOR] == atom.vector and row[OTHER] == atom.other


@lean
def walk_to(candidates: Candidates, example: int, wanted: Atom) -> int:
    """The atom of an example that is this one, or -1; for few atoms faster than a table."""
    atom = candidates.last_atom[example]
    while atom >= 0 and not is_atom(candidates, atom, wanted):
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
        own = Atom(row[VECTOR], row[OTHER], row[RIGHT], row[WRONG])
        index[room_of(candidates, index, own)] = atom
        atom = row[BEFORE]
    return index


@lean
def room_of(candidates: Candidates, index: IntArray, atom: Atom) -> int:
    """Where an atom stands in a hash table, or where it may."""
    mask = index.shape[0] - 1
    room = (atom.vector * 31 + atom.other * 17 + atom.right * 7 + atom.wrong * 3) & mask
    while index[room] >= 0 and not is_atom(candidates, index[room], atom):
        room = (room + 1) & mask
    return int(room)


@lean
def read_atoms(weights: FloatArray, vectors: Vectors, candidates: Candidates, example: int) -> None:
    """Put w · atom into ``value``, for every atom of an example."""
    atom = candidates.last_atom[example]
    while atom >= 0:
        candidates.work[atom, VALUE] = along(weights, vectors, candidates, atom)
        atom = candidates.atom[atom, BEFORE]


@lean
def summed(candidates: Candidates, c: int) -> float:
    """The ``value`` of a candidate's atoms in all."""
    value = 0.0
    for k in range(candidates.atom_ptr[c], candidates.atom_ptr[c + 1]):
        value += candidates.work[candidates.atoms[k], VALUE]
    return value


@lean
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
    dual: Dual, slots: Slots, offers: Offers, count: int, known: int, scratch: FloatArray
) -> tuple[int, int]:
    """Take in the outputs whose gain is above δ and that are not candidates yet.

    There are ``count`` candidates and ``known`` atoms, and room for more. ``scratch`` is as long as
    the weights, and 0 before and after. Returns how many candidates and atoms there are then.
    """
    weights, vectors, candidates, costs, squared, delta = dual
    gold, found, slacks = offers.gold, offers.found, offers.slacks
    for i in range(offers.members.shape[0]):
        example, first = offers.members[i], offers.firsts[i]
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
            vector, right = place_of(slots, s, first, gold[i, s])
            other, wrong = place_of(slots, s, first, found[i, s])
            wanted = Atom(vector, other, right, wrong)
            room = room_of(candidates, index, wanted) if many else -1
            atom = index[room] if many else walk_to(candidates, example, wanted)
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
        candidates.loss[count] = offers.losses[i]
        candidates.rank[count] = candidates.size[example]
        candidates.size[example] += 1
        candidates.previous[count] = candidates.last[example]
        candidates.last[example] = count
        product = candidates.product_ptr[count]
        candidates.product_ptr[count + 1] = product + candidates.size[example]
        for k in range(begin, end):
            shift(scratch, vectors, candidates, candidates.atoms[k], 1.0)
        read_atoms(scratch, vectors, candidates, example)
        c = count
        while c >= 0:
            candidates.products[product + candidates.rank[c]] = summed(candidates, c)
            c = candidates.previous[c]
        for k in range(begin, end):
            clear(scratch, vectors, candidates, candidates.atoms[k])
        count += 1
    return count, known


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
