"""Fields of a text, such as author and title of a citation, under rules that look at its words.

A label changes only at *borders*, and what lies between two borders is a *segment*. A segment is
one variable, so outputs that change elsewhere cannot even be said. With features of tokens summed
over a segment, and a feature `INSIDE` that counts its inner pairs of neighbours, a segment scores
what its tokens would as a chain whose labels are the same between borders.

Rules depend on words, so inputs of one length need not share a space. A *sketch* is all that rules
look at, and inputs with the same sketch share a frame. The rules for citations, after Chang,
Ratinov and Roth (2007), and for announcements of seminars are written out in docs/fields.md.

*One block.* That a field is one block at most is written in two ways, which allow the same:

    by rows     where F ends after segment i, no segment from i + 2 on is F
    by starts   at most one segment is F while the one before it is not

Rows are short for engines that look at few variables at a time, as decomposed learning does;
counting starts has the tighter relaxation, for engines that look at all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from papers.data.cora_citations import LABELS as CITATION_LABELS
from rote import (
    Adapter,
    Frame,
    LabelError,
    Slot,
    SpaceBuilder,
    Task,
    Variable,
    any_of,
    at_least,
    at_most,
    count,
    register,
)
from rote.settings import LIST, Checked
from rote.space.compiled import keep_recent
from rote.space.reasons import BrokenConstraint
from rote.tasks.show import differing, rules_broken
from rote.viz import Picture, picture_of_tagging

KIND = "segment"
BLOCK, PAIRS = "label", "2 labels"
INSIDE = "inside"
NOTHING = "O"


class Sketch(NamedTuple):
    """What rules look at: of each segment its first token and the labels open to it.

    And, of the whole input, the labels that are to be there.
    """

    starts: tuple[int, ...]
    among: tuple[tuple[str, ...], ...]
    needed: tuple[str, ...] = ()


OneBlock: TypeAlias = Callable[[SpaceBuilder, Sequence[Variable], str], None]
Rules: TypeAlias = Callable[[SpaceBuilder, Sequence[Variable], Sketch], None]
SketchOf: TypeAlias = Callable[[Sequence[Any]], Sketch]
TokenFeatures: TypeAlias = Callable[[Sequence[Any]], Sequence[Mapping[str, float]]]


def by_rows(builder: SpaceBuilder, segments: Sequence[Variable], label: str) -> None:
    """One block at most: what comes after its end is something else."""
    here = [segment[label] for segment in segments]
    for i in range(len(here) - 2):
        rest = here[i + 2 :]
        over = count(rest) + len(rest) * here[i] - len(rest) * here[i + 1]
        builder.require(over <= len(rest), f"{label} is one block")


def by_starts(builder: SpaceBuilder, segments: Sequence[Variable], label: str) -> None:
    """One block at most: it starts once."""
    here = [segment[label] for segment in segments]
    if len(here) > 2:
        starts = [b & ~a for a, b in pairwise(here)]
        builder.require(at_most(1, here[0], starts), f"{label} is one block")


@dataclass(frozen=True)
class Fields(Checked, Task[Sequence[Any], Sequence[str]]):
    """An input is a sequence of tokens, an output one label per token.

    ``features`` gives one mapping per token, ``read`` the sketch of an input. All ``labels`` but
    `NOTHING` are one block at most, written by ``one_block``; ``rules`` adds what else holds.
    """

    labels: tuple[str, ...]
    features: TokenFeatures
    read: SketchOf
    rules: Rules | None = None
    one_block: OneBlock = by_rows

    checks: ClassVar = {"labels": LIST}

    def frame(self, x: Sequence[Any]) -> Frame:
        return _frame(self.read(x), self.labels, self.rules, self.one_block)

    def vectors(self, x: Sequence[Any]) -> list[dict[str, float]]:
        tokens = self.features(x)
        found = []
        for begin, end in spans(self.read(x), len(x)):
            total: dict[str, float] = {INSIDE: float(end - begin - 1)} if end > begin + 1 else {}
            for vector in tokens[begin:end]:
                for name, value in vector.items():
                    total[name] = total.get(name, 0.0) + value
            found.append(total)
        return found

    def encode(self, x: Sequence[Any], y: Sequence[str]) -> list[int]:
        if len(y) != len(x):
            raise LabelError(f"an output has one label per token; got {len(y)} for {len(x)} tokens")
        found = []
        for begin, end in spans(self.read(x), len(x)):
            inside = set(y[begin:end])
            if len(inside) > 1:
                raise LabelError(
                    f"labels change only at borders, and there is none inside tokens {begin} to "
                    f"{end - 1}; got {', '.join(y[begin:end])}; leave out what does not obey"
                )
            if y[begin] not in self.labels:
                known = ", ".join(self.labels)
                raise LabelError(f"{y[begin]!r} is not a label; the labels are {known}")
            found.append(self.labels.index(y[begin]))
        return found

    def decode(self, x: Sequence[Any], labels: Sequence[int]) -> tuple[str, ...]:
        lengths = [end - begin for begin, end in spans(self.read(x), len(x))]
        return tuple(
            self.labels[label]
            for label, length in zip(labels, lengths, strict=True)
            for _ in range(length)
        )

    def show(
        self, x: Sequence[Any], y: Sequence[str], gold: Sequence[str] | None, facts: Sequence[str]
    ) -> Picture:
        """A picture of an output; labels that change inside a segment break a rule of their own."""
        for labels in (y, gold):
            if labels is not None and len(labels) != len(x):
                raise LabelError(
                    f"an output has one label per token; got {len(labels)} for {len(x)} tokens"
                )
        segments = [range(*span) for span in spans(self.read(x), len(x))]
        inside = [
            BrokenConstraint(
                f"labels change only at borders, and there is none before word {t}", (t - 1, t)
            )
            for segment in segments
            for t in segment[1:]
            if y[t] != y[t - 1]
        ]
        if inside:  # such an output cannot be said in labels, so that no other rule can be asked
            broken, about = inside, [f"broken rules: {len(inside)}, and maybe others"]
        else:
            found, about = rules_broken(self, x, y)
            broken = [
                rule._replace(variables=tuple(t for v in rule.variables for t in segments[v]))
                for rule in found
            ]
        differ = [] if gold is None else [a != b for a, b in zip(y, gold, strict=True)]
        return picture_of_tagging(
            [str(token[0]) for token in x],
            y,
            gold=gold,
            broken=broken,
            labels=self.labels,
            joined="equal",
            facts=[*facts, *differing(differ, "words"), *about],
        )

    def is_feasible(self, x: Sequence[Any], y: Sequence[str]) -> bool:
        """Whether an output changes only at borders, and obeys the rules."""
        chunks = spans(self.read(x), len(x))
        if any(len(set(y[begin:end])) > 1 for begin, end in chunks):
            return False
        labels = np.array([self.encode(x, y)])
        return bool(self.frame(x).space.holds(labels).all())


def spans(sketch: Sketch, length: int) -> list[tuple[int, int]]:
    """The first token of each segment, and the one after its last."""
    return list(zip(sketch.starts, (*sketch.starts[1:], length), strict=True))


@keep_recent
def _frame(
    sketch: Sketch, labels: tuple[str, ...], rules: Rules | None, one_block: OneBlock
) -> Frame:
    builder = SpaceBuilder()
    segments = [builder.variable(str(start), labels) for start in sketch.starts]
    for before, after in pairwise(segments):
        builder.factor(before, after)
    for segment, among in zip(segments, sketch.among, strict=True):
        if len(among) < len(labels):
            builder.require(any_of([segment[a] for a in among]), f"labels of {segment.name}")
    for label in labels:
        if label != NOTHING and sum(label in among for among in sketch.among) > 1:
            one_block(builder, segments, label)
    if rules is not None:
        rules(builder, segments, sketch)
    slots = [Slot(BLOCK, s) for s in range(len(segments))] + [Slot(PAIRS)] * (len(segments) - 1)
    return Frame(builder.build(), tuple(slots), (KIND,) * len(segments))


# Words


class Words(NamedTuple):
    """Words that match a pattern, upper case or lower, belong to one of some fields."""

    name: str
    pattern: re.Pattern[str]
    fields: tuple[str, ...]


def words(name: str, pattern: str, *fields: str) -> Words:
    """A rule about words; the pattern is to match all of a word."""
    return Words(name, re.compile(rf"(?:{pattern})\Z", re.IGNORECASE), fields)


def emissions(x: Sequence[Sequence[str]]) -> list[dict[str, float]]:
    """A token as its word, each digit a 9, and as its shape."""
    return [dict.fromkeys((f"word={word_of(w)}", f"shape={shape_of(w)}"), 1.0) for w, *_ in x]


def word_of(word: str) -> str:
    return re.sub(r"\d", "9", word)


def shape_of(word: str) -> str:
    """Capitals as X, small letters as x, digits as 9; what repeats is there once."""
    shape = re.sub(r"\d", "9", re.sub(r"[^\W\d_A-Z]", "x", re.sub(r"[A-Z]", "X", word)))
    return re.sub(r"(.)\1+", r"\1", shape)


def is_punctuation(word: str) -> bool:
    return not any(character.isalnum() for character in word)


def has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


# Citations

FIRST = ("author", "editor")
# Without may, which is a word of titles as well.
MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
CITATION_WORDS = (
    words("pages", "pp|pages?", "pages"),
    words("years", r"(19|20)\d\d[a-z]?", "date", "booktitle"),
    words("months", MONTHS, "date"),
    words("quotation marks", "\"|''|``", "title"),
    words("notes", "submitted|appear", "note"),
    words("places", "CA|Australia|NY", "location"),
    words("reports", "tech|technical", "tech"),
    words("collections", "proc|journal|proceedings|ACM", "journal", "booktitle"),
    words("editors", "eds?|editors?", "editor"),
)


def is_border(before: str, after: str) -> bool:
    """Whether a field of a citation may change between two words."""
    return (
        is_punctuation(before) or after in ("(", "[", '"') or has_digit(before) or has_digit(after)
    )


def read_citation(x: Sequence[Sequence[str]]) -> Sketch:
    """The sketch of a citation; where rules about words contradict each other, it has none."""
    return _read_citation(tuple(token[0] for token in x))


@lru_cache(maxsize=4096)
def _read_citation(x: tuple[str, ...]) -> Sketch:
    starts = [t for t in range(len(x)) if t == 0 or is_border(x[t - 1], x[t])]
    among = []
    for begin, end in zip(starts, [*starts[1:], len(x)], strict=True):
        open_: tuple[str, ...] = FIRST if begin == 0 else CITATION_LABELS
        for rule in CITATION_WORDS:
            if any(rule.pattern.match(word) for word in x[begin:end]):
                open_ = tuple(label for label in open_ if label in rule.fields)
        among.append(open_)
    if not can_be_blocks(among, CITATION_LABELS):
        among = [FIRST, *[CITATION_LABELS] * (len(starts) - 1)]
    return Sketch(tuple(starts), tuple(among))


def can_be_blocks(among: Sequence[Sequence[str]], labels: Sequence[str]) -> bool:
    """Whether segments can have labels from these, each label one block at most.

    Segments that may have any label take that of the one before, and so need not be looked at.
    """
    reached: set[tuple[str | None, frozenset[str]]] = {(None, frozenset())}
    for own in among:
        if len(own) < len(labels):
            reached = {
                (label, seen | {label})
                for last, seen in reached
                for label in own
                if label == last or label not in seen
            }
    return bool(reached)


def citations(one_block: OneBlock = by_rows) -> Fields:
    """Fields of citations, whose tokens begin with a word."""
    return Fields(CITATION_LABELS, emissions, read_citation, None, one_block)


# Announcements of seminars, line by line

SEMINAR_LABELS = ("stime", "etime", "speaker", "location", NOTHING)
TIMES = words("times", r"\d{1,4}([ap]m|noon)?|:|\.|-|[ap]\.?m\.?|[ap]|m|noon|o'clock")
PLACES = words("places", "in|of|the|and|room|floor|hall|building|auditorium|conference|located")
HEADINGS = (  # of lines that have a slot
    words("a start", "time", "stime"),
    words("a location", "place|where|location", "location"),
    words("a speaker", "who|speaker", "speaker"),
)
EMPTY = words("nothing", "type|dates|abstract|postedby|host|title")  # headings of other lines


def read_seminar(x: Sequence[Sequence[str]]) -> Sketch:
    """The sketch of a line, whose tokens begin with a word."""
    return _read_seminar(tuple(token[0] for token in x))


@lru_cache(maxsize=1 << 16)
def _read_seminar(x: tuple[str, ...]) -> Sketch:
    heading = x[0] if x[1:2] == (":",) else ""
    empty = EMPTY.pattern.match(heading) or x[:1] == ("<",)
    starts: list[int] = []
    among: list[tuple[str, ...]] = []
    for t, word in enumerate(x):
        own = (NOTHING,) if empty else slots_of(word)
        if own == (NOTHING,) and among and among[-1] == own:
            continue  # one segment with the one before
        starts.append(t)
        among.append(own)
    possible = {label for own in among for label in own}
    needed = (h.fields[0] for h in HEADINGS if h.pattern.match(heading))
    return Sketch(tuple(starts), tuple(among), tuple(f for f in needed if f in possible))


def slots_of(word: str) -> tuple[str, ...]:
    """What a word of an announcement may be."""
    found = ["stime", "etime"] if TIMES.pattern.match(word) else []
    if word[:1].isupper() or is_punctuation(word):
        found += ["speaker", "location"]
    elif has_digit(word) or PLACES.pattern.match(word):
        found.append("location")
    return (*found, NOTHING)


def seminar_rules(builder: SpaceBuilder, segments: Sequence[Variable], sketch: Sketch) -> None:
    """An end comes after a start, and headings are kept to."""
    may = sketch.among
    timed = [segment for segment in segments if "stime" in may[segment.index]]
    for t, end in enumerate(timed):
        before = any_of([start["stime"] for start in timed[:t]])
        builder.require(end["etime"] >> before, "an end comes after a start")
    for label in sketch.needed:
        here = [segment[label] for segment in segments if label in may[segment.index]]
        builder.require(at_least(1, here), f"the heading asks for {label}")


def seminars(one_block: OneBlock = by_rows) -> Fields:
    """Slots of a line of an announcement, whose tokens begin with a word."""
    return Fields(SEMINAR_LABELS, emissions, read_seminar, seminar_rules, one_block)


register(Adapter("fields", Fields, show=Fields.show))
