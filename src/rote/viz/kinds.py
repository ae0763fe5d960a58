"""Pictures of outputs by their kind: an extraction, a tagging, a grid, a graph, any space.

All but the last take plain values, and broken rules (`rote.space.reasons`) whose variables are
numbered as each function says. What a rule blames bears the rule's number; the rules are listed
below. With a gold output, what differs from it bears the sign ≠.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Literal, TypeAlias, get_args

import numpy as np

from rote.errors import LabelError
from rote.settings import check, one_of, optional
from rote.space.reasons import BrokenConstraint, violations
from rote.space.space import Space
from rote.types import AnyArray, IntArray
from rote.viz.grids import Cells, Grid
from rote.viz.listing import Entry, Listing
from rote.viz.picture import Picture
from rote.viz.sentence import Link, Sentence, Span
from rote.viz.shapes import DIFFERENT_SIGN, Drawing, Tone, mark_of

Relations: TypeAlias = Mapping[tuple[int, int], str]
Joined: TypeAlias = Literal["bio", "equal", "none"]
OUTSIDE = "O"
_BIO = re.compile("[BI]-.")


def picture_of_extraction(
    words: Sequence[str],
    spans: Sequence[tuple[int, int]],
    entities: Sequence[str],
    relations: Relations,
    *,
    gold: tuple[Sequence[str], Relations] | None = None,
    broken: Sequence[BrokenConstraint] = (),
    labels: Sequence[str] = (),
    facts: Sequence[str] = (),
) -> Picture:
    """Entities under their words, and relations as arcs above; those of gold alone in brackets.

    Parameters
    ----------
    words
        The words of the sentence.
    spans
        For each entity its first word and the word after its last, counted from 0.
    entities
        The label of each entity.
    relations
        Labels of relations, by the numbers of their two entities.
    gold
        The right entities and relations; what differs from them is marked.
    broken
        The rules that the output breaks; entities are variables 0, 1, …, and then come their
        ordered pairs, lexicographically.
    labels
        All labels of entities, whose order fixes the colours.
    facts
        Sentences to stand below.
    """
    right = relations if gold is None else gold[1]
    stray = (relations.keys() | right.keys()) - set(permutations(range(len(spans)), 2))
    if stray:
        raise LabelError(
            f"a relation is of two different entities, counted from 0, of {len(spans)} there are; "
            f"got {min(stray)}"
        )
    blamed = _blamed(broken)
    links = []
    for number, pair in enumerate(permutations(range(len(spans)), 2), start=len(spans)):
        label, truth = relations.get(pair), right.get(pair)
        mark = mark_of(blamed[number])
        if label is not None:
            differs = DIFFERENT_SIGN if label != truth else ""
            tone = Tone.BROKEN if mark else Tone.PLAIN
            links.append(Link(*pair, label, f"{mark}{differs}", tone))
        if truth not in (None, label):
            links.append(Link(*pair, f"({truth})", DIFFERENT_SIGN, Tone.FAINT, dashed=True))
    return _of_words(
        f"{len(spans)} entities and {len(relations)} relations in: {' '.join(words)}",
        words,
        _entities(spans, entities),
        None if gold is None else _entities(spans, gold[0]),
        links,
        kinds=labels,
        numbers=[blamed[entity] for entity in range(len(spans))],
        broken=broken,
        facts=facts,
    )


def picture_of_tagging(
    words: Sequence[str],
    tags: Sequence[str],
    *,
    gold: Sequence[str] | None = None,
    broken: Sequence[BrokenConstraint] = (),
    labels: Sequence[str] = (),
    joined: Joined | None = None,
    facts: Sequence[str] = (),
) -> Picture:
    """Tags under their words, and under those the gold ones.

    Parameters
    ----------
    words
        The words of the sentence.
    tags
        The tag of each word.
    gold
        The right tags; what differs from them is marked.
    broken
        The rules that the tags break; words are variables 0, 1, ….
    labels
        All tags there are, whose order fixes the colours.
    joined
        Which neighbours are one span: "bio" joins B-X and the I-X that follow it, "equal" joins
        equal tags, "none" joins nothing; if not given, "bio" where all tags are spelled so.
    facts
        Sentences to stand below.

    >>> print(picture_of_tagging(["The", "old", "dog", "barked"], ["B-NP", "I-NP", "I-NP", "O"]))
    The old dog barked
    └───NP────┘   O
    """
    for given in (tags, tags if gold is None else gold):
        if len(given) != len(words):
            raise LabelError(f"{len(words)} words have as many tags, got {len(given)}")
    every = [*labels, *tags, *(gold or ())]
    check("joined", joined, optional(one_of(*get_args(Joined))))
    if joined is None:
        joined = "bio" if all(t == OUTSIDE or _BIO.match(t) for t in every) else "none"
    kinds = [_kind(tag) if joined == "bio" else tag for tag in every]
    blamed, runs = _blamed(broken), _runs(tags, joined)
    return _of_words(
        f"Tags: {', '.join(f'{word} {tag}' for word, tag in zip(words, tags, strict=True))}",
        words,
        runs,
        None if gold is None else _runs(gold, joined),
        kinds=[kind for kind in kinds if kind != OUTSIDE],
        numbers=[sorted({n for w in range(*run[:2]) for n in blamed[w]}) for run in runs],
        broken=broken,
        facts=facts,
    )


def picture_of_grid(
    cells: AnyArray | Sequence[Sequence[int]],
    labels: Sequence[str],
    *,
    gold: AnyArray | Sequence[Sequence[int]] | None = None,
    broken: Sequence[BrokenConstraint] = (),
    facts: Sequence[str] = (),
) -> Picture:
    """A grid of labels, such as those of the pixels of an image.

    Parameters
    ----------
    cells
        Rows of positions of labels; below 0, a cell has none.
    labels
        The names of the labels.
    gold
        The right cells; what differs from them is marked.
    broken
        The rules that the cells break; cells are variables 0, 1, …, counted row by row.
    facts
        Sentences to stand below.
    """
    own = _cells(cells, len(labels))
    other = None if gold is None else _cells(gold, len(labels))
    if other is not None and [*map(len, other)] != [*map(len, own)]:
        raise LabelError("the gold grid has as many rows and columns as the other one")
    across = len(own[0]) if own else 0
    blamed = frozenset(divmod(v, across) for rule in broken for v in rule.variables)
    grid = Grid(own, tuple(labels), blamed, other)
    return _picture(f"A grid of {len(own)} rows and {across} columns", grid, broken, facts)


def picture_of_graph(
    places: AnyArray,
    nodes: AnyArray | Sequence[int],
    labels: Sequence[str],
    *,
    gold: AnyArray | Sequence[int] | None = None,
    broken: Sequence[BrokenConstraint] = (),
    facts: Sequence[str] = (),
) -> Picture:
    """The nodes of a graph, such as the regions of an image, about where they lie.

    A node gets the closest cell of a grid that is still free, and cells that are left over belong
    to the closest node.

    Parameters
    ----------
    places
        How far right and how far down each node is, of shape (n, 2).
    nodes
        The position of each node's label; below 0, it has none.
    labels
        The names of the labels.
    gold
        The right labels of the nodes; what differs from them is marked.
    broken
        The rules that the nodes break; nodes are variables 0, 1, ….
    facts
        Sentences to stand below.
    """
    node_of = _raster(np.asarray(places, dtype=np.float64))
    n = len(places)

    def cells(values: AnyArray | Sequence[int]) -> AnyArray:
        given = np.asarray(values)
        if given.shape != (n,):
            raise LabelError(
                f"{n} nodes have the positions of as many labels; got the shape {given.shape}"
            )
        return given[node_of]

    picture = picture_of_grid(
        cells(nodes),
        labels,
        gold=None if gold is None else cells(gold),
        broken=[
            BrokenConstraint(name, tuple(np.flatnonzero(np.isin(node_of, blamed)).tolist()))
            for name, blamed in broken
        ],
        facts=facts,
    )
    return replace(picture, title=f"{n} nodes of a graph")


def picture_of_labels(
    space: Space,
    labels: AnyArray | Sequence[int],
    *,
    gold: AnyArray | Sequence[int] | None = None,
    facts: Sequence[str] = (),
) -> Picture:
    """The variables of any space with their labels, and the rules that they break.

    Parameters
    ----------
    space
        Where the output comes from.
    labels
        The position of each variable's label.
    gold
        The right labels; what differs from them is marked.
    facts
        Sentences to stand below.
    """
    output = _decoded(space, labels)
    right = output if gold is None else _decoded(space, gold)
    broken = violations(space, np.asarray(labels))
    blamed = _blamed(broken)
    entries = tuple(
        Entry(name, label, mark_of(blamed[number]), right[name] if right[name] != label else None)
        for number, (name, label) in enumerate(output.items())
    )
    title = f"{len(entries)} variables: {', '.join(f'{e.name} {e.label}' for e in entries[:50])}"
    return _picture(title, Listing(entries), broken, [*facts, *about_rules(space, broken)])


def _decoded(space: Space, labels: AnyArray | Sequence[int]) -> dict[str, str]:
    outputs = space.decode(np.asarray(labels))
    if len(outputs) != 1:
        raise LabelError(f"a picture is of one output, got {len(outputs)}; index the batch first")
    return outputs[0]


def about_rules(space: Space, broken: Sequence[BrokenConstraint]) -> list[str]:
    """How many of the rules of a space are broken, as a sentence; nothing where it has none."""
    count = len(space.required) + len(space.soft)
    return [f"broken rules: {len(broken) or 'none'} of {count}"] if count else []


def _entities(spans: Sequence[tuple[int, int]], labels: Sequence[str]) -> list[Span]:
    if len(spans) != len(labels):
        raise LabelError(f"{len(spans)} entities have as many labels, got {len(labels)}")
    return [Span(*span, label) for span, label in zip(spans, labels, strict=True)]


def _runs(tags: Sequence[str], joined: Joined) -> list[Span]:
    found: list[Span] = []
    for t, (before, tag) in enumerate(zip(("", *tags), tags, strict=False)):
        inside = joined == "bio" and tag.startswith("I-")
        if (inside and _kind(before) == _kind(tag)) or (joined == "equal" and tag == before):
            found[-1] = found[-1]._replace(stop=t + 1)
        else:
            # What goes on from nothing keeps its prefix, for people to see that.
            label = _kind(tag) if joined == "bio" and not inside else tag
            found.append(Span(t, t + 1, label, framed=joined != "none" and tag != OUTSIDE))
    return found


def _kind(tag: str) -> str:
    return tag[2:] if _BIO.match(tag) else tag


def _of_words(
    title: str,
    words: Sequence[str],
    spans: Sequence[Span],
    gold: Sequence[Span] | None,
    links: Sequence[Link] = (),
    *,
    kinds: Sequence[str],
    numbers: Sequence[Sequence[int]],
    broken: Sequence[BrokenConstraint],
    facts: Sequence[str],
) -> Picture:
    """Spans and gold spans coloured, and marked where they break rules or differ.

    ``numbers`` are those of the rules that each span breaks.
    """
    every = [*kinds, *(span.label for span in (*spans, *(gold or ())) if span.label != OUTSIDE)]
    colors = {kind: k for k, kind in enumerate(dict.fromkeys(map(_kind, every)))}

    def drawn(
        own: Sequence[Span], others: Sequence[Span], rules: Sequence[Sequence[int]]
    ) -> tuple[Span, ...]:
        there = {span[:3] for span in others}
        return tuple(
            span._replace(
                color=colors.get(_kind(span.label)),
                mark=mark_of(blamed) + ("" if span[:3] in there else DIFFERENT_SIGN),
                tone=Tone.BROKEN if blamed else Tone.FAINT if span.label == OUTSIDE else Tone.PLAIN,
            )
            for span, blamed in zip(own, rules, strict=True)
        )

    sentence = Sentence(
        tuple(words),
        drawn(spans, spans if gold is None else gold, numbers),
        tuple(links),
        None if gold is None else drawn(gold, spans, [()] * len(gold)),
    )
    return _picture(title, sentence, broken, facts)


def _picture(
    title: str, drawing: Drawing, broken: Sequence[BrokenConstraint], facts: Sequence[str]
) -> Picture:
    return Picture(title, drawing, tuple(rule.name for rule in broken), tuple(facts))


def _blamed(broken: Sequence[BrokenConstraint]) -> defaultdict[int, list[int]]:
    """For each variable that is to blame, the numbers of the rules, from 1 on."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for number, rule in enumerate(broken, start=1):
        for variable in dict.fromkeys(rule.variables):
            found[variable].append(number)
    return found


def _raster(places: AnyArray) -> IntArray:
    """A grid with the node of each cell; every node has at least one."""
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise LabelError(
            f"places of nodes are finite and have the shape (n, 2); got the shape {places.shape}"
        )
    n = len(places)
    if not n:
        return np.empty((0, 0), dtype=np.int64)
    low, extent = places.min(axis=0), np.ptp(places, axis=0)
    span = np.where(extent > 0, extent, 1.0)
    # About two cells for each node, so that most lie where they should.
    ratio = float(np.clip(span[0] / span[1], 0.25, 4.0))
    rows = max(1, round((2 * n / ratio) ** 0.5))
    columns = -(-2 * n // rows)
    wanted = (places - low) / span * (columns - 1, rows - 1)
    down, right = np.divmod(np.arange(rows * columns), columns)
    away = np.hypot(right - wanted[:, :1], down - wanted[:, 1:])
    node_of: IntArray = away.argmin(axis=0)
    free = np.ones(rows * columns, dtype=np.bool_)
    for node, distances in enumerate(away):
        cell = np.where(free, distances, np.inf).argmin()
        node_of[cell], free[cell] = node, False
    return node_of.reshape(rows, columns)


def _cells(given: AnyArray | Sequence[Sequence[int]], labels: int) -> Cells:
    array = np.asarray(given)
    if array.ndim != 2 or (array.size and array.dtype.kind not in "iu"):
        raise LabelError(
            "a grid has the shape (rows, columns) and holds positions of labels; got the shape "
            f"{array.shape} of {array.dtype}"
        )
    if (array >= labels).any():
        raise LabelError(f"labels are positions from 0 to {labels - 1}, got {array.max()}")
    return tuple(tuple(None if c < 0 else int(c) for c in row) for row in array)
