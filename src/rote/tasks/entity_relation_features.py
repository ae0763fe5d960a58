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
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from rote.data.conll04 import Sentence
from rote.features.templates import EDGE
from rote.features.words import is_capital, is_symbol, short_shape
from rote.features.writing import Writer, Written

WINDOW = 3  # words on either side of an entity
NEAR = 4  # words between two entities that are also kept in their order
FAR = 12  # more words than this between two entities are counted as this many
MANY = 4  # the same for entities between them, and for words of an entity
LATER, EARLIER = ">", "<"
_EDGES = (EDGE,) * WINDOW

T = TypeVar("T")


class EntityFeatures(Written):
    """What an entity of a sentence looks like, and what stands around it."""

    __slots__ = ("_i", "_text")

    def __init__(self, text: Text, i: int) -> None:
        self._text, self._i = text, i

    def written(self, writer: Writer[T]) -> list[T]:
        text, word, tag = self._text, writer.memo(_near_word), writer.memo(_near_tag)
        start, stop = text.spans[self._i]
        own = writer.memo(_own)[text.words[start:stop], text.tags[start:stop], start == 0]
        b3, b2, b1 = map(word.__getitem__, text.padded[start : start + WINDOW])
        a1, a2, a3 = map(word.__getitem__, text.padded[stop + WINDOW : stop + 2 * WINDOW])
        t3, t2, t1 = map(tag.__getitem__, text.padded_tags[start : start + WINDOW])
        u1, u2, u3 = map(tag.__getitem__, text.padded_tags[stop + WINDOW : stop + 2 * WINDOW])
        return [
            *own.row,
            *(b1.before[0], a1.after[0], b1.near, a1.near, t1.before[0], u1.after[0]),
            *(b2.before[1], a2.after[1], b2.near, a2.near, t2.before[1], u2.after[1]),
            *(b3.before[2], a3.after[2], b3.near, a3.near, t3.before[2], u3.after[2]),
            b2.two_before[b1.low],
            a1.two_after[a2.low],
            b1.around[a1.low],
            b1.before_shape[own.first_shape],
            a1.after_shape[own.last_shape],
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
        # Place k of the sentence is place k + WINDOW here.
        self.padded = (*_EDGES, *sentence.words, *_EDGES)
        self.padded_tags = (*_EDGES, *sentence.pos, *_EDGES)


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


class _Own(NamedTuple, Generic[T]):
    """What the words of an entity say."""

    row: list[T]
    first_shape: str
    last_shape: str


def _own(writer: Writer[T], entity: tuple[tuple[str, ...], tuple[str, ...], bool]) -> _Own[T]:
    """What the words and tags of an entity say, and whether a sentence begins with them."""
    own, tags, at_start = entity
    low = [word.lower() for word in own]
    shapes = [short_shape(word) for word in own]
    first, last = low[0], low[-1]
    by_word = writer.texts("word=", "first=", "last=", "text=")
    by_shape = writer.texts("shape=", "first shape=", "last shape=", "shapes=")
    by_end, by_beginning = writer.texts("last ends=", "first ends="), writer.texts("last begins=")
    words = writer.pairs("words=")
    rare = [f"length={min(len(own), MANY)}", f"tags={' '.join(tags[:MANY])}"]
    if all(map(str.isupper, own)):
        rare.append("all capitals")
    if any(map(str.isdigit, own)):
        rare.append("a number")
    if not any(map(is_capital, own)):
        rare.append("no capital")
    if at_start:
        rare.append("at the start")
    bias, length, tagged, *signs = writer.write(["bias", *rare])
    row = [
        bias,
        length,
        by_word[" ".join(low)][3],
        by_word[first][1],
        by_word[last][2],
        by_shape[" ".join(shapes[:MANY])][3],
        tagged,
        by_shape[shapes[0]][1],
        by_shape[shapes[-1]][2],
        # Each name once, in the order of the sentence: a set would have another in every process.
        *[by_word[word][0] for word in dict.fromkeys(low)],
        *[by_shape[sign][0] for sign in dict.fromkeys(shapes)],
        *[words[a][0][b] for a, b in pairwise(low)],
        *[by_end[last[-k:]][0] for k in (2, 3, 4)],
        *[by_beginning[last[:k]][0] for k in (2, 3, 4)],
        *[by_end[first[-k:]][1] for k in (2, 3)],
        *signs,
    ]
    return _Own(row, shapes[0], shapes[-1])


class _NearWord(NamedTuple, Generic[T]):
    """What entities say of a word beside them."""

    low: str
    near: T
    before: list[T]  # by how many steps
    after: list[T]
    two_before: Mapping[str, T]  # by the word that follows
    two_after: Mapping[str, T]
    around: Mapping[str, T]  # by the word after the entity
    before_shape: Mapping[str, T]  # by the shape of the word that follows
    after_shape: Mapping[str, T]  # by the shape of the word before


def _near_word(writer: Writer[T], word: str) -> _NearWord[T]:
    low = word.lower()
    near, *beside = writer.texts("near=", "-1=", "-2=", "-3=", "+1=", "+2=", "+3=")[low]
    pairs = writer.pairs("-2-1=", "+1+2=", "-1+1=", "-1 shape=", "+1 shape=")[low]
    return _NearWord(low, near, beside[:WINDOW], beside[WINDOW:], *pairs)


class _NearTag(NamedTuple, Generic[T]):
    """What entities say of a tag beside them, by how many steps."""

    before: list[T]
    after: list[T]


def _near_tag(writer: Writer[T], tag: str) -> _NearTag[T]:
    low, steps = tag.lower(), range(1, WINDOW + 1)
    return _NearTag(
        writer.write([f"tag-{step}={low}" for step in steps]),
        writer.write([f"tag+{step}={low}" for step in steps]),
    )


_PLACES = (
    "between=",
    "verb=",
    "first between=",
    "last between=",
    "before=",
    "after=",
    "one=",
    "two=",
)


class _Word(NamedTuple, Generic[T]):
    """What pairs say of a word, by where it stands."""

    low: str
    shape: str
    sign: str  # the small letters again of a sign
    between: T
    verb: T
    first: T
    last: T
    before: T
    after: T
    one: T
    two: T
    next: Mapping[str, T]  # by the word that follows
    ends: Mapping[str, T]  # by the last word of another entity
    around: Mapping[str, T]  # by the word after another entity
    two_before: Mapping[str, T]  # by the word that follows
    two_after: Mapping[str, T]


def _word(writer: Writer[T], word: str) -> _Word[T]:
    low = word.lower()
    sign = low if is_symbol(low) or low == "comma" else ""
    between, verb, first, last, before, after, one, two = writer.texts(*_PLACES)[low]
    pairs = writer.pairs("words=", "ends=", "around=", "before before=", "after after=")[low]
    places = between, verb, first, last, before, after, one, two
    return _Word(low, short_shape(word), sign, *places, *pairs)


class _Outline(NamedTuple, Generic[T]):
    """The shape and tag of an entity's last word, and how many words there are."""

    text: str
    one_looks: T
    two_looks: T
    pairs: Mapping[str, T]  # by another outline


def _outline(writer: Writer[T], outline: tuple[str, str, int]) -> _Outline[T]:
    shape, tag, words = outline
    text = f"{shape}/{tag}/{words}"
    one, two = writer.write([f"one looks={text}", f"two looks={text}"])
    return _Outline(text, one, two, *writer.pairs("outlines=")[text])


class _Tag(NamedTuple, Generic[T]):
    """What pairs say of a tag."""

    low: str
    around: Mapping[str, T]  # by the tag after another entity


def _tag(writer: Writer[T], tag: str) -> _Tag[T]:
    low = tag.lower()
    return _Tag(low, *writer.pairs("tags around=")[low])


class _Fixed(NamedTuple, Generic[T]):
    """What is said of pairs, whatever their words are."""

    bias: T
    later: T
    earlier: T
    distance: list[T]  # by how many words there are between them
    entities: list[T]  # by how many entities


def _fixed(writer: Writer[T], _: None) -> _Fixed[T]:
    bias, later, earlier = writer.write(["bias", f"bias{LATER}", f"bias{EARLIER}"])
    return _Fixed(
        bias,
        later,
        earlier,
        writer.write([f"distance={words}" for words in range(FAR + 1)]),
        writer.write([f"entities between={entities}" for entities in range(MANY + 1)]),
    )


class _Entity(NamedTuple, Generic[T]):
    """What pairs say of an entity."""

    word: _Word[T]  # its last one
    outline: _Outline[T]
    before: _Word[T]
    after: _Word[T]
    tag_before: _Tag[T]
    tag_after: _Tag[T]
    two_before: T
    two_after: T


class _Pairs(Generic[T]):
    """The rows of the pairs of a sentence, written by one writer."""

    def __init__(self, text: Text, writer: Writer[T]) -> None:
        self.writer, self._text, self._fixed = writer, text, writer.memo(_fixed)[None]
        # Only words between two entities are looked at all by themselves.
        self._first = first = min(stop for _, stop in text.spans)
        last = max(start for start, _ in text.spans)
        self._words = words = list(map(writer.memo(_word).__getitem__, text.words[first:last]))
        self._between = [each.between for each in words]
        self._twos = [one.next[two.low] for one, two in pairwise(words)]
        tags = text.tags[first:last]
        self._verb_places = [k for k, tag in enumerate(tags) if tag.startswith("VB")]
        self._verbs = [words[k].verb for k in self._verb_places]
        self._signs = [each.sign for each in words]
        self._entities: dict[int, _Entity[T]] = {}
        self._rows: dict[tuple[int, int], list[T]] = {}

    def row(self, i: int, j: int) -> list[T]:
        """The row of two entities; that of the same two the other way round is kept as well."""
        found = self._rows.get((i, j))
        if found is None:
            one, two = (i, j) if i < j else (j, i)
            self._rows[one, two], self._rows[two, one] = self._both(one, two)
            found = self._rows[i, j]
        return found

    def _entity(self, i: int) -> _Entity[T]:
        found = self._entities.get(i)
        if found is None:
            found = self._entities[i] = self._described(*self._text.spans[i])
        return found

    def _described(self, start: int, stop: int) -> _Entity[T]:
        text, word, tag = self._text, self.writer.memo(_word), self.writer.memo(_tag)
        last = word[text.words[stop - 1]]
        outline = last.shape, text.tags[stop - 1], min(stop - start, MANY)
        before2, before = map(word.__getitem__, text.padded[start + WINDOW - 2 : start + WINDOW])
        after, after2 = map(word.__getitem__, text.padded[stop + WINDOW : stop + WINDOW + 2])
        return _Entity(
            last,
            self.writer.memo(_outline)[outline],
            before,
            after,
            tag[text.padded_tags[start + WINDOW - 1]],
            tag[text.padded_tags[stop + WINDOW]],
            before2.two_before[before.low],
            after.two_after[after2.low],
        )

    def _both(self, i: int, j: int) -> tuple[list[T], list[T]]:
        """The rows of entities ``i`` and ``j``, which is the later one, and of ``j`` and ``i``."""
        text, fixed, left, right = self._text, self._fixed, self._entity(i), self._entity(j)
        start = text.spans[i][1]
        stop = max(start, text.spans[j][0])
        first, last = start - self._first, stop - self._first  # as words are counted here
        names = [
            f"signs={''.join(self._signs[first:last])}",
            f"tags={' '.join(text.tags[start : min(stop, start + FAR)])}",
        ]
        if stop - start <= NEAR:
            inside = " ".join([word.low for word in self._words[first:last]])
            one, two = left.outline.text, right.outline.text
            names += (
                f"all={inside}",
                f"all between={one} {inside} {two}",
                f"all between={two} {inside} {one}",
            )
        signs, tagged, *near = self.writer.write(names)
        shared = [
            fixed.distance[min(stop - start, FAR)],
            fixed.entities[min(j - i - 1, MANY)],
            signs,
            tagged,
            left.before.before,
            right.after.after,
            left.before.around[right.after.low],
            left.two_before,
            right.two_after,
            left.tag_before.around[right.tag_after.low],
        ]
        within = self._within(first, last) if first < last else []
        return [
            fixed.bias,
            fixed.later,
            left.word.one,
            right.word.two,
            left.word.ends[right.word.low],
            left.outline.one_looks,
            right.outline.two_looks,
            *shared,
            left.outline.pairs[right.outline.text],
            *near[:2],
            *within,
        ], [
            fixed.bias,
            fixed.earlier,
            right.word.one,
            left.word.two,
            right.word.ends[left.word.low],
            right.outline.one_looks,
            left.outline.two_looks,
            *shared,
            right.outline.pairs[left.outline.text],
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
