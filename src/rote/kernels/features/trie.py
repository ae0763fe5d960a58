"""Names as ways through a tree: what they are made of, text after text.

An edge is a node and a text, and leads to a node. All edges lie in one table with open addresses:
where the place of an edge is taken by another, it is in the next that is free.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import IntArray

if not cython.compiled:
    from rote.kernels.arrays import *

    ROOT = 0
    NOWHERE = -1  # the node that no way leads to, and a text that is in no name
    NEW = -2  # the column of a name that nobody has asked for yet
    SPREAD = 0x9E3779B97F4A7C15


class Tree(Bundle):
    """Edges in a table whose size is a power of 2, and for each node where it hangs."""

    def __init__(
        self,
        edges: OutInts2,  # (places, 2): node * 2^32 + text, or -1; and the node that it leads to
        parents: OutInts,  # per node
        texts: OutInts,  # per node: the text of the edge that leads to it
        size: OutInts,  # of one entry: how many nodes there are
    ) -> None:
        self.edges = edges
        self.parents = parents
        self.texts = texts
        self.size = size


class Joined(Bundle):
    """Texts that stand for several: -2 for those of the first run, -3 for the second, and so on."""

    def __init__(self, texts: Ints, ptr: Ints) -> None:
        self.texts = texts
        self.ptr = ptr


class ChainPlan(Bundle):
    """Names made of what is said of things around a place: for each term a row, and how far away.

    The first term of a name is the node of its beginning, and each of the others is a text.
    """

    def __init__(
        self,
        ptr: Ints,  # where the terms of each name begin, and where those of the last end
        rows: Ints,
        offsets: Ints,
    ) -> None:
        self.ptr = ptr
        self.rows = rows
        self.offsets = offsets


def place_of(tree: Tree, node: Int, text: Int) -> int:
    """Where an edge is, or the free place where it would be."""
    key, last = (node << 32) + text, tree.edges.shape[0] - 1
    # Of the product, bits above 64 are never read.
    place = cython.cast(Int, (cython.cast(Word, key) * SPREAD) >> 32) & last
    while tree.edges[place, 0] >= 0 and tree.edges[place, 0] != key:
        place = (place + 1) & last
    return place


def step(tree: Tree, node: Int, text: Int, grows: Bool) -> int:
    """The node that an edge leads to; a new one if there is none, and the tree grows."""
    if text < 0:
        return NOWHERE
    place = place_of(tree, node, text)
    if tree.edges[place, 0] < 0:
        if not grows:
            return NOWHERE
        new = tree.size[0]
        tree.edges[place, 0] = (node << 32) + text
        tree.edges[place, 1] = new
        tree.parents[new] = node
        tree.texts[new] = text
        tree.size[0] = new + 1
    return tree.edges[place, 1]


def go(tree: Tree, joined: Joined, node: Int, text: Int, grows: Bool) -> int:
    """The node that a text leads to, or the texts that it stands for."""
    if text >= NOWHERE:
        return step(tree, node, text, grows)
    run = -2 - text
    for k in range(joined.ptr[run], joined.ptr[run + 1]):
        if node >= 0:
            node = step(tree, node, joined.texts[k], grows)
    return node


def follow(tree: Tree, nodes: OutInts, texts: Ints) -> None:
    """Go on from nodes, each along a text that stands for no others; the tree does not grow."""
    expect("texts", "entries", nodes.shape[0], texts.shape[0])
    with cython.nogil:
        for i in range(nodes.shape[0]):
            if nodes[i] >= 0:
                nodes[i] = step(tree, nodes[i], texts[i], False)


def name_around(
    tree: Tree,
    joined: Joined,
    windows: ChainPlan,
    said: Ints2,
    places: Ints2,
    i: Int,
    name: Int,
    grows: Bool,
) -> int:
    """The node of a name around place i."""
    node: Int = 0
    first = windows.ptr[name]
    for k in range(first, windows.ptr[name + 1]):
        place: Int = places[2, i] + windows.offsets[k]
        if place < places[0, i] or place >= places[1, i]:
            place = said.shape[1] - 1
        own: Int = said[windows.rows[k], place]
        if k == first:
            node = own
        elif node >= 0:
            node = go(tree, joined, node, own, grows)
    return node


def follow_windows(
    tree: Tree, joined: Joined, windows: ChainPlan, said: Ints2, places: Ints2, grows: Bool
) -> IntArray:
    """The nodes of names around places, of shape (places, names).

    ``said`` is by row and place; its last place stands for all that are outside. ``places`` has
    where things to look at begin and end, and the place itself.
    """
    nodes = ints2(places.shape[1], windows.ptr.shape[0] - 1)
    with cython.nogil:
        for i in range(nodes.shape[0]):
            for name in range(nodes.shape[1]):
                nodes[i, name] = name_around(tree, joined, windows, said, places, i, name, grows)
    return np.asarray(nodes)


def walk(
    tree: Tree,
    joined: Joined,
    nodes: OutInts,
    texts: Ints,
    begins: Ints,
    ends: Ints,
    empty: Int,
    grows: Bool,
) -> None:
    """Go on from nodes, each along some of the texts; along ``empty`` where these are none."""
    expect("begins", "entries", nodes.shape[0], begins.shape[0])
    expect("ends", "entries", nodes.shape[0], ends.shape[0])
    with cython.nogil:
        for i in range(nodes.shape[0]):
            node = nodes[i]
            if begins[i] >= ends[i] and node >= 0:
                node = step(tree, node, empty, grows)
            for k in range(begins[i], ends[i]):
                if node < 0:
                    break
                node = go(tree, joined, node, texts[k], grows)
            nodes[i] = node


def hang(tree: Tree) -> None:
    """Put the edges to all nodes into a table that is empty."""
    with cython.nogil:
        for node in range(1, tree.size[0]):
            place = place_of(tree, tree.parents[node], tree.texts[node])
            tree.edges[place, 0] = (tree.parents[node] << 32) + tree.texts[node]
            tree.edges[place, 1] = node


def give_numbers(nodes: Ints, numbers: OutInts, count: Int) -> tuple[IntArray, int]:
    """The numbers of nodes, -1 for those that are none, and how many numbers there are then.

    A node that has no number yet gets the next one.
    """
    given = np.empty(nodes.shape[0], np.int64)
    found: OutInts = given
    with cython.nogil:
        for i in range(nodes.shape[0]):
            number: Int = -1
            if nodes[i] >= 0:
                number = numbers[nodes[i]]
                if number < 0:
                    number = count
                    numbers[nodes[i]] = count
                    count += 1
            found[i] = number
    return given, count


def each_once(columns: Ints, begins: Ints, ends: Ints, most: Int) -> tuple[IntArray, IntArray]:
    """Of runs of columns, which may overlap, every column once, in the order they come in.

    Columns are below ``most``; unknown ones, below 0, are left out. The second are where runs begin
    in the first, and where the last ends.
    """
    expect("ends", "entries", begins.shape[0], ends.shape[0])
    total: Int = 0
    for i in range(begins.shape[0]):
        total += max(0, ends[i] - begins[i])
    every, where = np.empty(total + most, np.int64), np.empty(begins.shape[0] + 1, np.int64)
    room: OutInts = every  # columns, and behind them for each column the run in which it was last
    ptr: OutInts = where
    at: Int = 0
    ptr[0] = 0
    with cython.nogil:
        fill(room[total:], -1)
        for i in range(begins.shape[0]):
            for k in range(begins[i], ends[i]):
                column = columns[k]
                if column >= 0 and room[total + column] != i:
                    room[total + column] = i
                    room[at] = column
                    at += 1
            ptr[i + 1] = at
    return every[:at].copy(), where


def put_runs(out: OutInts, at: OutInts, columns: Ints, ptr: Ints, which: Ints) -> None:
    """Write a run for each line to where it stands, ``which`` of them, and go on behind."""
    expect("which", "entries", at.shape[0], which.shape[0])
    with cython.nogil:
        for i in range(at.shape[0]):
            here = at[i]
            for k in range(ptr[which[i]], ptr[which[i] + 1]):
                out[here] = columns[k]
                here += 1
            at[i] = here


def packed(
    numbers: Ints, ptr: Ints, marked: Ints, alone: Int, table: OutInts2
) -> tuple[IntArray, IntArray, IntArray]:
    """The columns of lines of names, without those that are unknown; and where lines begin.

    ``table`` has the columns of names by mark, or -1; mark 0 is none. A line that has a mark says
    all names but the first ``alone`` once more behind it. Numbers below 0 are no names. The last
    are names that are new, as mark and number, in the order in which they come first: to be asked
    for, and until then unknown.
    """
    expect("marked", "entries", ptr.shape[0] - 1, marked.shape[0])
    most: Int = 0
    for i in range(ptr.shape[0] - 1):
        most += ptr[i + 1] - ptr[i]
        if marked[i] != 0:
            most += max(0, ptr[i + 1] - ptr[i] - alone)
    every, where = np.empty(most, np.int64), np.empty(ptr.shape[0], np.int64)
    columns: OutInts = every
    starts: OutInts = where
    asked = np.empty((most, 2), np.int64)
    new: OutInts2 = asked
    at: Int = 0
    count: Int = 0
    starts[0] = 0
    with cython.nogil:
        for i in range(ptr.shape[0] - 1):
            for turn in range(1 if marked[i] == 0 else 2):
                mark = marked[i] if turn == 1 else 0
                for k in range(ptr[i] + turn * alone, ptr[i + 1]):
                    number = numbers[k]
                    if number < 0:
                        continue
                    column: Int = table[mark, number]
                    if column >= 0:
                        columns[at] = column
                        at += 1
                    elif column == NEW:
                        table[mark, number] = -1
                        new[count, 0], new[count, 1] = mark, number
                        count += 1
            starts[i + 1] = at
    return every if at == most else every[:at].copy(), where, asked[:count].copy()
