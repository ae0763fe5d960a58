"""Ways through a tree of texts, and lines of names: beside dictionaries and lists."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.features.trie import (
    NEW,
    NOWHERE,
    ROOT,
    ChainPlan,
    Joined,
    Tree,
    follow,
    follow_windows,
    hang,
    packed,
    walk,
)
from tests.kernels.parts import whole


def seed(places=64):
    """A tree that is a root, in a table of so many places."""
    nodes = places // 2 + 1
    hung = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    return Tree(np.full((places, 2), NOWHERE), *hung, np.ones(1, np.int64))


class Naive:
    """Ways as tuples of texts; a new one is the next node."""

    def __init__(self):
        self.nodes = {(): ROOT}

    def walk(self, way, texts, grows):
        alone = [own for text in texts for own in (SEVERAL[-2 - text] if text < -1 else [text])]
        for text in alone:
            if way is None or text < 0:
                return None
            way = (*way, text)
            if way not in self.nodes:
                if not grows:
                    return None
                self.nodes[way] = len(self.nodes)
        return way


SEVERAL = [(1, 3), (), (2,)]  # what the texts -2, -3 and -4 stand for
JOINED = Joined(whole([1, 3, 2]), whole([0, 2, 2, 3]))
WAYS = st.lists(st.lists(st.integers(-4, 3), max_size=3), max_size=6)


@given(st.lists(st.tuples(WAYS, st.booleans()), max_size=4))
def test_ways_lead_where_dictionaries_say(calls):
    tree, naive, empty = seed(512), Naive(), 7
    for ways, grows in calls:
        texts = whole([text for way in ways for text in way])
        ends = whole(np.cumsum([len(way) for way in ways]))
        begins = whole(ends - np.array([len(way) for way in ways], dtype=np.int64))
        nodes = np.full(len(ways), ROOT)
        walk(tree, JOINED, nodes, texts, begins, ends, empty, grows)
        expected = [naive.walk((), way or [empty], grows) for way in ways]
        assert nodes.tolist() == [NOWHERE if way is None else naive.nodes[way] for way in expected]
        # From there on by another text, and from nowhere to nowhere.
        more = nodes.copy()
        walk(
            tree,
            JOINED,
            more,
            whole([2]),
            whole([0] * len(ways)),
            whole([1] * len(ways)),
            empty,
            False,
        )
        further = [naive.walk(way, [2], False) for way in expected]
        assert more.tolist() == [NOWHERE if way is None else naive.nodes[way] for way in further]
    assert tree.size[0] == len(naive.nodes)
    for way, node in naive.nodes.items():
        if way:
            assert tree.parents[node] == naive.nodes[way[:-1]]
            assert tree.texts[node] == way[-1]


def test_one_text_each_is_a_walk_along_one():
    tree, ones = seed(), whole([0, 1, 2, 3])
    ends = whole([1, 2, 3, 4])
    walk(tree, JOINED, np.full(4, ROOT), whole([1, 2, 1, 3]), ones, ends, 0, True)
    walk(tree, JOINED, np.full(4, ROOT), whole([1, 2, 1, 3]), whole([0] * 4), ends, 0, True)
    for texts in ([1, 2, 3, -1], [2, 2, 1, 9], [1, 1, 1, 1]):
        nodes, again = np.full(4, ROOT), np.full(4, ROOT)
        for _ in range(3):
            follow(tree, nodes, whole(texts))
            walk(tree, JOINED, again, whole(texts), ones, ends, 0, False)
            assert nodes.tolist() == again.tolist()


PLACE = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)).map(sorted)


@given(st.lists(PLACE, max_size=4), st.booleans(), st.randoms())
def test_names_around_places_are_walks_along_what_is_there(chosen, grows, random):
    tree, naive = seed(512), Naive()
    starts = [naive.walk((), [text], True) for text in (0, 1, 2)]
    nodes = np.full(3, ROOT)
    walk(tree, JOINED, nodes, whole([0, 1, 2]), whole([0, 1, 2]), whole([1, 2, 3]), 7, True)
    begin = [[random.randint(-1, 2) for _ in range(5)] for _ in range(2)]
    texts = [[random.randint(-4, 3) for _ in range(5)] for _ in range(2)]
    said = np.array([[NOWHERE if k < 0 else nodes[k] for k in row] for row in begin] + texts)
    names = [[(0, 0)], [(1, -1), (2, 0)], [(0, 1), (3, -1), (2, 2)], [(1, 0), (3, 3)]]
    ptr = whole(np.cumsum([0, *map(len, names)]))
    terms = np.array([term for name in names for term in name])
    windows = ChainPlan(ptr, whole(terms[:, 0]), whole(terms[:, 1]))
    places = np.array([(a, c, b) for a, b, c in chosen], dtype=np.int64).reshape(-1, 3).T.copy()
    found = follow_windows(tree, JOINED, windows, said, places, grows)
    assert found.shape == (len(chosen), len(names))
    for i, (first, at, last) in enumerate(chosen):
        for name, ((row, offset), *rest) in enumerate(names):

            def there(row, offset, at=at, first=first, last=last):
                place = at + offset
                return [*begin, *texts][row][place if first <= place < last else 4]

            start = there(row, offset)
            way = None if start < 0 else starts[start]
            for term in rest:
                way = naive.walk(way, [there(*term)], grows) if way is not None else None
            assert found[i, name] == (NOWHERE if way is None else naive.nodes[way])


def test_a_tree_is_the_same_in_a_larger_table():
    small, large = seed(64), seed(512)
    texts = whole(np.random.default_rng(0).integers(20, size=30))
    begins, ends = whole(range(0, 30, 3)), whole(range(3, 33, 3))
    nodes, again = np.full(10, ROOT), np.full(10, ROOT)
    walk(small, JOINED, nodes, texts, begins, ends, 0, True)
    for name in ("parents", "texts", "size"):
        own = getattr(small, name)
        getattr(large, name)[: len(own)] = own
    hang(large)
    walk(large, JOINED, again, texts, begins, ends, 0, False)
    assert again.tolist() == nodes.tolist()
    assert (large.edges[:, 0] >= 0).sum() == small.size[0] - 1


LINES = st.lists(st.tuples(st.lists(st.integers(-1, 3), max_size=5), st.integers(0, 2)), max_size=4)


@given(LINES, st.integers(0, 3), st.randoms())
def test_lines_are_packed_and_what_is_new_is_told_in_its_order(lines, alone, random):
    table = np.array([[random.choice([NEW, -1, 10 * m + k]) for k in range(4)] for m in range(3)])
    numbers = whole([number for line, _ in lines for number in line])
    ptr = whole([0, *np.cumsum([len(line) for line, _ in lines])])
    marked = whole([mark for _, mark in lines])
    said = []
    for line, mark in lines:
        own = [(0, number) for number in line]
        own += [(mark, number) for number in line[alone:]] if mark else []
        said.append([(m, number) for m, number in own if number >= 0])
    every = dict.fromkeys(name for line in said for name in line)
    new = [list(name) for name in every if table[name] == NEW]
    arguments = numbers, ptr, marked, alone, table
    assert packed(*arguments)[2].tolist() == new
    columns, starts, again = packed(*arguments)
    assert again.tolist() == []
    expected = [[int(table[name]) for name in line if table[name] >= 0] for line in said]
    assert [columns[a:b].tolist() for a, b in pairwise(starts)] == expected
