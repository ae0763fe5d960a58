"""Features of an entity, and of an ordered pair of entities, after Roth and Yih (2004).

They look at words, their shapes and tags, in the entities, between them and around them, and
at where entities stand; never at the labels of entities or at relations. Each row can be had
without the others. A row is a list of names; a name is what kind of thing was seen, and what
it was: "word=new york" is no feature, "word=york" is. A pair's features that say where something
stands carry the pair's order: ``>`` if its first entity comes first in the sentence, and ``<``
otherwise.

What depends on one word, on one tag or on the words of an entity alone is a piece that writers
remember. What the rows of a sentence have in common is worked out once for the sentence.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from rote.data.conll04 import Sentence
from rote.features.templates import EDGE
from rote.features.words import is_symbol, short_shape
from rote.features.writing import Write, Writer, Written

WINDOW = 3  # words on either side of an entity
NEAR = 4  # words between two entities that are also kept in their order
FAR = 12  # more words than this between two entities are counted as this many
MANY = 4  # the same for entities between them, and for words of an entity
KNOWN_WORDS = 1 << 14  # whose looks are remembered
LATER, EARLIER = ">", "<"

T = TypeVar("T")


class EntityFeatures(Written):
    """What an entity of a sentence looks like, and what stands around it."""

    __slots__ = ("_i", "_text")

    def __init__(self, text: Text, i: int) -> None:
        self._text, self._i = text, i

    def written(self, writer: Writer[T]) -> list[T]:
        text, low, tags = self._text, self._text.low, self._text.low_tags
        start, stop = text.spans[self._i]
        b3, b2, b1 = low[start : start + WINDOW]
        a1, a2, a3 = low[stop + WINDOW : stop + 2 * WINDOW]
        t3, t2, t1 = tags[start : start + WINDOW]
        u1, u2, u3 = tags[stop + WINDOW : stop + 2 * WINDOW]
        beside = writer.memo(_beside)
        return [
            *writer.memo(_own)[text.words[start:stop], text.tags[start:stop], start == 0],
            *beside[1, b1, a1, t1, u1],
            *beside[2, b2, a2, t2, u2],
            *beside[3, b3, a3, t3, u3],
            *writer.write(
                [
                    f"-2-1={b2} {b1}",
                    f"+1+2={a1} {a2}",
                    f"-1+1={b1} {a1}",
                    f"-1 shape={b1} {text.looks[start].shape}",
                    f"+1 shape={a1} {text.looks[stop - 1].shape}",
                ]
            ),
        ]


class PairFeatures(Written):
    """What stands between and around two entities of a sentence, and what they look like."""

    __slots__ = ("_i", "_j", "_shared", "mark")
    alone = 7  # names that say nothing of where things stand

    def __init__(self, shared: Shared, i: int, j: int) -> None:
        self._shared, self._i, self._j = shared, i, j
        self.mark = LATER if i < j else EARLIER

    def written(self, writer: Writer[T]) -> list[T]:
        return self._shared.pairs(writer).row(self._i, self._j)


class Text:
    """A sentence as features see it."""

    def __init__(self, sentence: Sentence) -> None:
        self.words, self.tags = sentence.words, sentence.pos
        self.spans = [(entity.start, entity.stop) for entity in sentence.entities]
        self.looks = [_look(word) for word in sentence.words]
        edge = [EDGE] * WINDOW
        # Place k of the sentence is place k + WINDOW here.
        self.low = [*edge, *[look.low for look in self.looks], *edge]
        self.low_tags = [*edge, *[tag.lower() for tag in sentence.pos], *edge]


class Shared:
    """What the rows of the pairs of a sentence share, as the last writer wrote it."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._pairs: _Pairs[Any] | None = None

    def pairs(self, writer: Writer[T]) -> _Pairs[T]:
        """The rows of pairs, as this writer writes them."""
        pairs = self._pairs
        if pairs is None or pairs.writer is not writer:
            pairs = self._pairs = _Pairs(self._text, writer)
        return pairs


class _Look(NamedTuple):
    """What is seen of a word: small letters, its shape, and the small letters again of a sign."""

    low: str
    shape: str
    sign: str


@lru_cache(maxsize=KNOWN_WORDS)
def _look(word: str) -> _Look:
    low = word.lower()
    return _Look(low, short_shape(word), low if is_symbol(low) or low == "comma" else "")


def _own(write: Write[T], entity: tuple[tuple[str, ...], tuple[str, ...], bool]) -> list[T]:
    """What the words and tags of an entity say, and whether a sentence begins with them."""
    own, tags, at_start = entity
    low = [word.lower() for word in own]
    shapes = [short_shape(word) for word in own]
    first, last = low[0], low[-1]
    row = [
        "bias",
        f"length={min(len(own), MANY)}",
        f"text={' '.join(low)}",
        f"first={first}",
        f"last={last}",
        f"shapes={' '.join(shapes[:MANY])}",
        f"tags={' '.join(tags[:MANY])}",
        f"first shape={shapes[0]}",
        f"last shape={shapes[-1]}",
    ]
    # Each name once, in the order of the sentence: a set would have another in every process.
    row += dict.fromkeys(f"word={word}" for word in low)
    row += dict.fromkeys(f"shape={sign}" for sign in shapes)
    row += [f"words={a} {b}" for a, b in pairwise(low)]
    row += [f"last ends={last[-k:]}" for k in (2, 3, 4)]
    row += [f"last begins={last[:k]}" for k in (2, 3, 4)]
    row += [f"first ends={first[-k:]}" for k in (2, 3)]
    if all(word.isupper() for word in own):
        row.append("all capitals")
    if any(word.isdigit() for word in own):
        row.append("a number")
    if not any(word[:1].isupper() for word in own):
        row.append("no capital")
    if at_start:
        row.append("at the start")
    return write(row)


def _beside(write: Write[T], seen: tuple[int, str, str, str, str]) -> list[T]:
    """The words so many steps before and after an entity, and their tags."""
    step, before, after, tag, other = seen
    return write(
        [
            f"-{step}={before}",
            f"+{step}={after}",
            f"near={before}",
            f"near={after}",
            f"tag-{step}={tag}",
            f"tag+{step}={other}",
        ]
    )


class _Word(NamedTuple, Generic[T]):
    """What pairs say of a word, by where it stands."""

    between: T
    verb: T
    first: T
    last: T
    before: T
    after: T
    one: T
    two: T


def _word(write: Write[T], word: str) -> _Word[T]:
    starts = ("between", "verb", "first between", "last between", "before", "after", "one", "two")
    return _Word(*write([f"{start}={word}" for start in starts]))


def _outline(write: Write[T], outline: str) -> list[T]:
    return write([f"one looks={outline}", f"two looks={outline}"])


def _far(write: Write[T], apart: tuple[int, int, str]) -> list[T]:
    """How many words and entities there are between two, and the signs among the words."""
    words, entities, signs = apart
    return write(
        [
            f"distance={min(words, FAR)}",
            f"entities between={min(entities, MANY)}",
            f"signs={signs}",
        ]
    )


class _Entity(NamedTuple, Generic[T]):
    """What pairs say of an entity."""

    low: str  # its last word
    outline: str  # the shape and tag of its last word, and how many words there are
    word: _Word[T]
    one_looks: T
    two_looks: T
    before: T
    after: T
    two_before: T
    two_after: T


class _Pairs(Generic[T]):
    """The rows of the pairs of a sentence, written by one writer."""

    def __init__(self, text: Text, writer: Writer[T]) -> None:
        self.writer, self._text = writer, text
        low, word = text.low[WINDOW:-WINDOW], writer.memo(_word)
        self._words = words = [word[each] for each in low]
        self._between = [each.between for each in words]
        self._twos = writer.write([f"words={a} {b}" for a, b in pairwise(low)])
        self._verb_places = [k for k, tag in enumerate(text.tags) if tag.startswith("VB")]
        self._verbs = [words[k].verb for k in self._verb_places]
        self._signs = [look.sign for look in text.looks]
        self._bias, self._later, self._earlier = writer.write(
            ["bias", f"bias{LATER}", f"bias{EARLIER}"]
        )
        self._entities = [self._entity(start, stop) for start, stop in text.spans]
        self._rows: dict[tuple[int, int], list[T]] = {}

    def row(self, i: int, j: int) -> list[T]:
        """The row of two entities; that of the same two the other way round is kept as well."""
        found = self._rows.get((i, j))
        if found is None:
            one, two = (i, j) if i < j else (j, i)
            self._rows[one, two], self._rows[two, one] = self._both(one, two)
            found = self._rows[i, j]
        return found

    def _entity(self, start: int, stop: int) -> _Entity[T]:
        text, writer = self._text, self.writer
        word, look = writer.memo(_word), text.looks[stop - 1]
        outline = f"{look.shape}/{text.tags[stop - 1]}/{min(stop - start, MANY)}"
        before2, before = text.low[start + WINDOW - 2 : start + WINDOW]
        after, after2 = text.low[stop + WINDOW : stop + WINDOW + 2]
        one_looks, two_looks = writer.memo(_outline)[outline]
        two_before, two_after = writer.write(
            [f"before before={before2} {before}", f"after after={after} {after2}"]
        )
        return _Entity(
            look.low,
            outline,
            self._words[stop - 1],
            one_looks,
            two_looks,
            word[before].before,
            word[after].after,
            two_before,
            two_after,
        )

    def _both(self, i: int, j: int) -> tuple[list[T], list[T]]:
        """The rows of entities ``i`` and ``j``, which is the later one, and of ``j`` and ``i``."""
        text, writer, low, tags = self._text, self.writer, self._text.low, self._text.low_tags
        left, right = self._entities[i], self._entities[j]
        (before, start), (end, after) = text.spans[i], text.spans[j]
        stop = max(start, end)
        names = [
            f"tags={' '.join(text.tags[start : min(stop, start + FAR)])}",
            f"around={low[before + WINDOW - 1]} {low[after + WINDOW]}",
            f"tags around={tags[before + WINDOW - 1]} {tags[after + WINDOW]}",
            f"ends={left.low} {right.low}",
            f"ends={right.low} {left.low}",
            f"outlines={left.outline} {right.outline}",
            f"outlines={right.outline} {left.outline}",
        ]
        if stop - start <= NEAR:
            inside = " ".join(low[start + WINDOW : stop + WINDOW])
            names += (
                f"all={inside}",
                f"all between={left.outline} {inside} {right.outline}",
                f"all between={right.outline} {inside} {left.outline}",
            )
        tagged, around, tags_around, ends, ends_back, outlines, outlines_back, *near = writer.write(
            names
        )
        shared = [
            *writer.memo(_far)[stop - start, j - i - 1, "".join(self._signs[start:stop])],
            tagged,
            left.before,
            right.after,
            around,
            left.two_before,
            right.two_after,
            tags_around,
        ]
        within = self._within(start, stop) if start < stop else []
        return [
            self._bias,
            self._later,
            left.word.one,
            right.word.two,
            ends,
            left.one_looks,
            right.two_looks,
            *shared,
            outlines,
            *near[:2],
            *within,
        ], [
            self._bias,
            self._earlier,
            right.word.one,
            left.word.two,
            ends_back,
            right.one_looks,
            left.two_looks,
            *shared,
            outlines_back,
            *near[::2],
            *within,
        ]

    def _within(self, start: int, stop: int) -> list[T]:
        """What the words between two entities say, each thing once."""
        first, last = (bisect_left(self._verb_places, place) for place in (start, stop))
        return [
            self._words[start].first,
            self._words[stop - 1].last,
            *dict.fromkeys(self._between[start:stop]),
            *dict.fromkeys(self._twos[start : stop - 1]),
            *dict.fromkeys(self._verbs[first:last]),
        ]
