"""Names as ways through a tree: what they are made of, text after text.

An edge is a node and a text, and leads to a node. All edges lie in one table with open addresses:
where the place of an edge is taken by another, it is in the next that is free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.jit import inlined, kernel
from rote.types import IntArray

ROOT = 0
NOWHERE = -1  # the node that no way leads to, and a text that is in no name
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Tree(NamedTuple):
    """Edges in a table whose size is a power of 2, and for each node where it hangs."""

    edges: IntArray  # (places, 2): node * 2^32 + text, or -1; and the node that it leads to
    parents: IntArray  # per node
    texts: IntArray  # per node: the text of the edge that leads to it
    size: IntArray  # of one entry: how many nodes there are


@inlined
def place_of(edges: IntArray, node: int, text: int) -> int:
    """Where an edge is, or the free place where it would be."""
    key, last = (node << 32) + text, edges.shape[0] - 1
    mixed = np.uint64(key) * SPREAD
    place = int(np.int64(mixed >> np.uint64(32))) & last
    while edges[place, 0] >= 0 and edges[place, 0] != key:
        place = (place + 1) & last
    return int(place)


@inlined
def step(tree: Tree, node: int, text: int, grows: bool) -> int:
    """The node that an edge leads to; a new one if there is none, and the tree grows."""
    if text < 0:
        return NOWHERE
    place = place_of(tree.edges, node, text)
    if tree.edges[place, 0] < 0:
        if not grows:
            return NOWHERE
        tree.edges[place, 0] = (node << 32) + text
        tree.edges[place, 1] = tree.size[0]
        tree.parents[tree.size[0]] = node
        tree.texts[tree.size[0]] = text
        tree.size[0] += 1
    return int(tree.edges[place, 1])


@kernel
def follow(edges: IntArray, nodes: IntArray, texts: IntArray) -> None:
    """Go on from nodes, each along a text that stands for no others; the tree does not grow."""
    for i in range(nodes.shape[0]):
        node = nodes[i]
        if node >= 0:
            nodes[i] = NOWHERE
            if texts[i] >= 0:
                place = place_of(edges, node, texts[i])
                if edges[place, 0] >= 0:
                    nodes[i] = edges[place, 1]


class Joined(NamedTuple):
    """Texts that stand for several: -2 for those of the first run, -3 for the second, and so on."""

    texts: IntArray
    ptr: IntArray


@inlined
def go(tree: Tree, joined: Joined, node: int, text: int, grows: bool) -> int:
    """The node that a text leads to, or the texts that it stands for."""
    if text >= NOWHERE:
        return step(tree, node, text, grows)
    run = -2 - text
    for k in range(joined.ptr[run], joined.ptr[run + 1]):
        if node >= 0:
            node = step(tree, node, joined.texts[k], grows)
    return node


class ChainPlan(NamedTuple):
    """Names made of what is said of things around a place: for each term a row, and how far away.

    The first term of a name is the node of its beginning, and each of the others is a text.
    """

    ptr: IntArray  # where the terms of each name begin, and where those of the last end
    rows: IntArray
    offsets: IntArray


@kernel
def follow_windows(
    tree: Tree, joined: Joined, windows: ChainPlan, said: IntArray, places: IntArray, grows: bool
) -> IntArray:
    """The nodes of names around places, of shape (places, names).

    ``said`` is by row and place; its last place stands for all that are outside. ``places`` has
    where things to look at begin and end, and the place itself.
    """
    nodes = np.empty((places.shape[1], windows.ptr.shape[0] - 1), np.int64)
    for i in range(nodes.shape[0]):
        begin, end, at = places[0, i], places[1, i], places[2, i]
        for name in range(nodes.shape[1]):
            node = 0
            for k in range(windows.ptr[name], windows.ptr[name + 1]):
                place = at + windows.offsets[k]
                if place < begin or place >= end:
                    place = said.shape[1] - 1
                own = said[windows.rows[k], place]
                if k == windows.ptr[name]:
                    node = own
                elif node >= 0:
                    node = go(tree, joined, node, own, grows)
            nodes[i, name] = node
    return nodes


@kernel
def walk(
    tree: Tree,
    joined: Joined,
    nodes: IntArray,
    texts: IntArray,
    begins: IntArray,
    ends: IntArray,
    empty: int,
    grows: bool,
) -> None:
    """Go on from nodes, each along some of the texts; along ``empty`` where these are none."""
    for i in range(nodes.shape[0]):
        node = nodes[i]
        if begins[i] >= ends[i] and node >= 0:
            node = step(tree, node, empty, grows)
        for k in range(begins[i], ends[i]):
            if node < 0:
                break
            node = go(tree, joined, node, texts[k], grows)
        nodes[i] = node


@kernel
def hang(tree: Tree) -> None:
    """Put the edges to all nodes into a table that is empty."""
    for node in range(1, tree.size[0]):
        place = place_of(tree.edges, tree.parents[node], tree.texts[node])
        tree.edges[place, 0] = (tree.parents[node] << 32) + tree.texts[node]
        tree.edges[place, 1] = node


@kernel
def give_numbers(nodes: IntArray, numbers: IntArray, count: int) -> int:
    """Give nodes without a number the next one, if they are any; how many there are then."""
    for i in range(nodes.shape[0]):
        if nodes[i] >= 0 and numbers[nodes[i]] < 0:
            numbers[nodes[i]] = count
            count += 1
    return count


@kernel
def each_once(
    columns: IntArray, begins: IntArray, ends: IntArray, most: int
) -> tuple[IntArray, IntArray]:
    """Of runs of columns, which may overlap, every column once, in the order they come in.

    Columns are below ``most``; unknown ones, below 0, are left out. The second are where runs begin
    in the first, and where the last ends.
    """
    total = 0
    for i in range(begins.shape[0]):
        total += max(0, ends[i] - begins[i])
    kept, ptr = np.empty(total, np.int64), np.zeros(begins.shape[0] + 1, np.int64)
    last = np.full(most, -1)  # the run in which a column was last
    at = 0
    for i in range(begins.shape[0]):
        for k in range(begins[i], ends[i]):
            column = columns[k]
            if column >= 0 and last[column] != i:
                last[column] = i
                kept[at] = column
                at += 1
        ptr[i + 1] = at
    return kept[:at].copy(), ptr


@kernel
def put_runs(
    out: IntArray, at: IntArray, columns: IntArray, ptr: IntArray, which: IntArray
) -> None:
    """Write a run for each line to where it stands, ``which`` of them, and go on behind."""
    for i in range(at.shape[0]):
        run = which[i]
        for k in range(ptr[run], ptr[run + 1]):
            out[at[i]] = columns[k]
            at[i] += 1


NEW = -2  # the column of a name that nobody has asked for yet


@kernel
def packed(
    numbers: IntArray, ptr: IntArray, marked: IntArray, alone: int, table: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The columns of lines of names, without those that are unknown; and where lines begin.

    ``table`` has the columns of names by mark, or -1; mark 0 is none. A line that has a mark says
    all names but the first ``alone`` once more behind it. Numbers below 0 are no names. The last
    are names that are new, as mark and number, in the order in which they come first: to be asked
    for, and until then unknown.
    """
    columns, starts = np.empty(2 * numbers.shape[0], np.int64), np.zeros(ptr.shape[0], np.int64)
    new = np.empty((2 * numbers.shape[0], 2), np.int64)
    at = count = 0
    for i in range(ptr.shape[0] - 1):
        for turn in range(1 if marked[i] == 0 else 2):
            mark = marked[i] if turn == 1 else 0
            for k in range(ptr[i] + turn * alone, ptr[i + 1]):
                column = table[mark, numbers[k]] if numbers[k] >= 0 else -1
                if column >= 0:
                    columns[at] = column
                    at += 1
                elif column == NEW:
                    table[mark, numbers[k]] = -1
                    new[count] = mark, numbers[k]
                    count += 1
        starts[i + 1] = at
    return columns[:at].copy(), starts, new[:count].copy()
