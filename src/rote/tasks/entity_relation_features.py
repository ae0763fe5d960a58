"""Features of an entity, and of an ordered pair of entities, after Roth and Yih (2004).

They look at words, their shapes and tags, in the entities, between them and around them, and
at where entities stand; never at the labels of entities or at relations. A name is what kind of
thing was seen, and what it was: "word=new york" is no feature, "word=york" is. A pair's features
that say where something stands carry the pair's order: ``>`` if its first entity comes first in the
sentence, and ``<`` otherwise.

Sentences are read many at a time: words lie one after the other in arrays, and every line of code
below says one thing of all entities, or of all pairs, that are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from rote.features.batches import Lines, Runs
from rote.features.templates import EDGE
from rote.features.trie import Lexicon, Names, NamesOf, Span
from rote.features.words import is_capital, is_symbol, short_shape
from rote.io.conll import Sentence
from rote.kernels.features.trie import each_once
from rote.types import AnyArray, BoolArray, IntArray, offsets_from_counts

ENTITY, PAIR = "entity", "pair"  # the kinds of vectors
WINDOW = 3  # words on either side of an entity
NEAR = 4  # words between two entities that are also kept in their order
FAR = 12  # more words than this between two entities are counted as this many
MANY = 4  # the same for entities between them, and for words of an entity
MARKS = LATER, EARLIER = ">", "<"
ALONE = 7  # names of a pair that say nothing of where things stand


class Column:
    """Texts, of which there are fewer than places that have them."""

    def __init__(self, given: Sequence[str]) -> None:
        self.given, self.texts = given, list(dict.fromkeys(given))
        numbers = dict(zip(self.texts, range(len(self.texts)), strict=True))
        self.places = np.array(list(map(numbers.__getitem__, given)))

    def rows(self, lexicon: Lexicon[str]) -> IntArray:
        """What a lexicon says, of shape (width, places)."""
        return np.asarray(lexicon.rows(self.texts)[:, self.places])


class Text:
    """Sentences one after the other, with edges before, between and behind them."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        edges = (EDGE,) * WINDOW
        words, tags, begins, spans = [*edges], [*edges], [], []
        for sentence in sentences:
            begin = len(words)
            begins.append(begin)
            spans += [(begin + e.start, begin + e.stop) for e in sentence.entities]
            words += sentence.words
            words += edges
            tags += sentence.pos
            tags += edges
        self.words, self.tags = Column(_without_spaces(words)), Column(_without_spaces(tags))
        counts = [len(sentence.entities) for sentence in sentences]
        self.counts = np.array(counts, dtype=np.int64)
        self.firsts = np.cumsum(self.counts) - self.counts  # the first entity of each
        self.starts, self.stops = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        self.leads = np.isin(self.starts, begins)  # whether a sentence begins with it
        self.between = self._between(len(words))  # which words are between two entities

    def _between(self, count: int) -> BoolArray:
        if not len(self.starts):
            return np.zeros(count, dtype=np.bool_)
        firsts = self.firsts[self.counts > 0]
        begin = np.minimum.reduceat(self.stops, firsts)
        end = np.maximum.reduceat(self.starts, firsts)
        some = begin < end
        return _covered(begin[some], end[some], count)


class SentenceReader:
    """Reads vectors of sentences: those of their entities, then those of the ordered pairs."""

    def __init__(self, sentences: Sequence[Sentence], names: NamesOf) -> None:
        self._text = Text(sentences)
        self._entities = _Entities(self._text, names(ENTITY))
        self._pairs = _Pairs(self._text, names(PAIR, MARKS))

    def lines(self, inputs: IntArray, vectors: IntArray) -> dict[str, Lines]:
        """Some vectors, each one of an input."""
        n, first = self._text.counts[inputs], self._text.firsts[inputs]
        single = vectors < n
        found = {ENTITY: self._entities.lines((first + vectors)[single])}
        of_pair = ~single
        if of_pair.any():
            n, first = n[of_pair], first[of_pair]
            one, other = np.divmod(vectors[of_pair] - n, n - 1)
            found[PAIR] = self._pairs.lines(first + one, first + other + (other >= one))
        return found


# -- entities -----------------------------------------------------------------------------------


def _entity_words(names: Names, words: Sequence[str]) -> list[tuple[int, ...]]:
    return [
        (
            names.text(low),
            names.text(short_shape(word)),
            *[names.text(low[-k:]) for k in (2, 3, 4)],
            *[names.text(low[:k]) for k in (2, 3, 4)],
            word.isupper(),
            word.isdigit(),
            is_capital(word),
        )
        for word, low in zip(words, map(str.lower, words), strict=True)
    ]


def _tags(names: Names, tags: Sequence[str]) -> list[tuple[int, int, bool]]:
    return [(names.text(tag), names.text(tag.lower()), tag.startswith("VB")) for tag in tags]


class _Entities:
    """What entities look like, and what stands around them."""

    def __init__(self, text: Text, names: Names) -> None:
        self._text, self._names = text, names

    def lines(self, chosen: IntArray) -> Lines:
        """The vectors of some entities."""
        text, names, say = self._text, self._names, self._names.say
        low, shape, *cuts, upper, digit, capital = self._words
        tag, low_tag, _ = self._tags
        start, stop = text.starts[chosen], text.stops[chosen]
        last, some = stop - 1, np.minimum(stop, start + MANY)
        length = _counted(names, "length=", MANY)
        lines = Lines(len(chosen))
        lines.add(names.number("bias"), length[np.minimum(stop - start, MANY)])
        lines.add(say("text=", Span(low, start, stop)))
        lines.add(say("first=", low[start]), say("last=", low[last]))
        lines.add(say("shapes=", Span(shape, start, some)), say("tags=", Span(tag, start, some)))
        lines.add(say("first shape=", shape[start]), say("last shape=", shape[last]))
        for run in self._own:
            lines.add_runs(run, chosen)
        lines.add(*[say("last ends=", cut[last]) for cut in cuts[:3]])
        lines.add(*[say("last begins=", cut[last]) for cut in cuts[3:]])
        lines.add(*[say("first ends=", cut[start]) for cut in cuts[:2]])
        for name, holds in (
            ("all capitals", _among(upper, start, stop) == stop - start),
            ("a number", _among(digit, start, stop) > 0),
            ("no capital", _among(capital, start, stop) == 0),
            ("at the start", text.leads[chosen]),
        ):
            lines.add(np.where(holds, names.number(name), -1))
        for k in range(1, WINDOW + 1):
            before, after = start - k, last + k
            lines.add(say(f"-{k}=", low[before]), say(f"+{k}=", low[after]))
            lines.add(say("near=", low[before]), say("near=", low[after]))
            lines.add(say(f"tag-{k}=", low_tag[before]), say(f"tag+{k}=", low_tag[after]))
        lines.add(
            say("-2-1=", low[start - 2], low[start - 1]), say("+1+2=", low[stop], low[stop + 1])
        )
        lines.add(say("-1+1=", low[start - 1], low[stop]))
        lines.add(say("-1 shape=", low[start - 1], shape[start]))
        lines.add(say("+1 shape=", low[stop], shape[last]))
        return lines

    @cached_property
    def _words(self) -> IntArray:
        return self._text.words.rows(self._names.lexicon(_entity_words, 11))

    @cached_property
    def _tags(self) -> IntArray:
        return self._text.tags.rows(self._names.lexicon(_tags, 3))

    @cached_property
    def _own(self) -> tuple[Runs, Runs, Runs]:
        """What the words of all entities say, each thing once."""
        names, text, (low, shape) = self._names, self._text, self._words[:2]
        start, stop, count = text.starts, text.stops, len(low)
        inside = np.flatnonzero(_covered(start, stop, count))
        word = _only(inside, names.say("word=", low[inside]), count)
        form = _only(inside, names.say("shape=", shape[inside]), count)
        two = _only(inside, names.say("words=", low[inside], low[inside + 1]), count)
        return (
            _once(names, word, start, stop),
            _once(names, form, start, stop),
            _once(names, two, start, stop - 1),
        )


# -- pairs --------------------------------------------------------------------------------------


def _pair_words(names: Names, words: Sequence[str]) -> list[tuple[int, bool]]:
    return [(names.text(low), is_symbol(low) or low == "comma") for low in map(str.lower, words)]


_shape = lru_cache(maxsize=1 << 16)(short_shape)


class _OfWords(NamedTuple):
    """What is said of words, wherever they stand between entities."""

    low: IntArray
    between: IntArray
    verb: IntArray  # -1 where there is none
    two: IntArray  # with the word that follows
    signs: list[str]  # in small letters
    signs_before: IntArray  # per word: how many there are before it


class _OfEntities(NamedTuple):
    """What is said of entities, whatever else is in the pair."""

    outline: IntArray  # a text: the shape and tag of the last word, and how many words there are
    one: IntArray
    two: IntArray
    one_looks: IntArray
    two_looks: IntArray
    before: IntArray
    after: IntArray
    two_before: IntArray
    two_after: IntArray


class _Pairs:
    """What stands between and around two entities, and what they look like."""

    def __init__(self, text: Text, names: Names) -> None:
        self._text, self._names = text, names

    def lines(self, one: IntArray, two: IntArray) -> Lines:
        """The vectors of some ordered pairs."""
        names, say, own = self._names, self._names.say, self._of_entities
        low, last = self._of_words.low, self._text.stops - 1
        later = one < two
        order = np.where(later, *(names.number(f"bias{sign}") for sign in MARKS))
        lines = Lines(len(one), MARKS, np.where(later, 1, 2), ALONE)
        lines.add(names.number("bias"), order, own.one[one], own.two[two])
        lines.add(say("ends=", low[last[one]], low[last[two]]))
        lines.add(own.one_looks[one], own.two_looks[two])
        # What is between and around them is the same the other way round.
        pairs, which = np.unique(
            np.minimum(one, two) * len(last) + np.maximum(one, two), return_inverse=True
        )
        left, right = np.divmod(pairs, len(last))
        start = self._text.stops[left]
        stop = np.maximum(start, self._text.starts[right])
        near = (stop - start <= NEAR)[which]
        inside = Span(low, start[which[near]], stop[which[near]])
        lines.add(*[column[which] for column in self._around(left, right, start, stop)])
        lines.add(say("outlines=", own.outline[one], own.outline[two]))
        lines.add(_only(near, say("all=", inside), len(near)))
        first, second = own.outline[one[near]], own.outline[two[near]]
        lines.add(_only(near, say("all between=", first, inside, second), len(near)))
        ends, runs = self._between(start, stop)
        lines.add(*[column[which] for column in ends])
        for run in runs:
            lines.add_runs(run, which)
        return lines

    def _around(
        self, left: IntArray, right: IntArray, start: IntArray, stop: IntArray
    ) -> Sequence[IntArray]:
        """How far entities stand apart, by what signs and tags, and what is around both."""
        text, names, own, words = self._text, self._names, self._of_entities, self._of_words
        before, after = text.starts[left] - 1, text.stops[right]
        tag, low_tag, _ = self._tags
        # Signs are written one behind the other, without spaces.
        begins, ends = words.signs_before[start], words.signs_before[stop]
        spans = zip(begins.tolist(), ends.tolist(), strict=True)
        joined = ["".join(words.signs[i:j]) if i < j else "" for i, j in spans]
        signs = names.texts(joined)
        return (
            _counted(names, "distance=", FAR)[np.minimum(stop - start, FAR)],
            _counted(names, "entities between=", MANY)[np.minimum(right - left - 1, MANY)],
            names.say("signs=", signs),
            names.say("tags=", Span(tag, start, np.minimum(stop, start + FAR))),
            own.before[left],
            own.after[right],
            names.say("around=", words.low[before], words.low[after]),
            own.two_before[left],
            own.two_after[right],
            names.say("tags around=", low_tag[before], low_tag[after]),
        )

    def _between(
        self, start: IntArray, stop: IntArray
    ) -> tuple[Sequence[IntArray], Sequence[Runs]]:
        """What the words between two entities say: of the first and the last, and of all."""
        names, words, some = self._names, self._of_words, start < stop
        ends = (
            _only(some, names.say("first between=", words.low[start[some]]), len(some)),
            _only(some, names.say("last between=", words.low[stop[some] - 1]), len(some)),
        )
        return ends, (
            _once(names, words.between, start, stop),
            _once(names, words.two, start, stop - 1),
            _once(names, words.verb, start, stop),
        )

    @cached_property
    def _tags(self) -> IntArray:
        return self._text.tags.rows(self._names.lexicon(_tags, 3))

    @cached_property
    def _of_words(self) -> _OfWords:
        text, say = self._text, self._names.say
        low, sign = text.words.rows(self._names.lexicon(_pair_words, 2))
        # Only words between two entities are looked at all by themselves.
        inside = np.flatnonzero(text.between)
        verbs = inside[self._tags[2, inside] > 0]
        return _OfWords(
            low,
            _only(inside, say("between=", low[inside]), len(low)),
            _only(verbs, say("verb=", low[verbs]), len(low)),
            _only(inside, say("words=", low[inside], low[inside + 1]), len(low)),
            [text.words.given[k].lower() for k in np.flatnonzero(sign).tolist()],
            offsets_from_counts(sign),
        )

    @cached_property
    def _of_entities(self) -> _OfEntities:
        text, say, low = self._text, self._names.say, self._of_words.low
        start, stop = text.starts, text.stops
        last = stop - 1
        lengths = np.minimum(stop - start, MANY)
        words, tags = text.words.given, text.tags.given
        ends = zip(last.tolist(), lengths.tolist(), strict=True)
        outline = self._names.texts([f"{_shape(words[k])}/{tags[k]}/{size}" for k, size in ends])
        return _OfEntities(
            outline,
            say("one=", low[last]),
            say("two=", low[last]),
            say("one looks=", outline),
            say("two looks=", outline),
            say("before=", low[start - 1]),
            say("after=", low[stop]),
            say("before before=", low[start - 2], low[start - 1]),
            say("after after=", low[stop], low[stop + 1]),
        )


# -- what both need -----------------------------------------------------------------------------


def _without_spaces(texts: list[str]) -> list[str]:
    """Texts of a name have spaces between them, and none within."""
    return [text.replace(" ", "_") for text in texts] if " " in "".join(texts) else texts


def _counted(names: Names, start: str, most: int) -> IntArray:
    """The names of counts, from 0 up to the largest that is told apart."""
    return names.say(start, names.texts(map(str, range(most + 1))))


def _only(places: AnyArray, numbers: IntArray, count: int) -> IntArray:
    """Numbers at some of so many places, and none elsewhere."""
    found = np.full(count, -1)
    found[places] = numbers
    return found


def _covered(start: IntArray, stop: IntArray, count: int) -> BoolArray:
    """Which of so many places are in a span."""
    length = count + 1
    change = np.bincount(start, minlength=length) - np.bincount(stop, minlength=length)
    return np.asarray(np.cumsum(change)[:count] > 0)


def _among(flags: AnyArray, start: IntArray, stop: IntArray) -> IntArray:
    """How many of the words from one place to another there are that have a flag."""
    before = offsets_from_counts(flags)
    return np.asarray(before[stop] - before[start])


def _once(names: Names, numbers: IntArray, start: IntArray, stop: IntArray) -> Runs:
    """What is said of the words from one place to another, each thing once."""
    begins, ends = np.ascontiguousarray(start), np.ascontiguousarray(stop)
    return Runs(*each_once(numbers, begins, ends, len(names)))
