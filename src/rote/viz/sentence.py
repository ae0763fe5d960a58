"""Words in a row, spans under them, and links between spans as arcs above them.

Words go on in the next line where a line is full; a line ends inside a span only where the span is
longer than a line. An arc from line to line leaves at the right edge and comes in again at the left
one. Short arcs lie below long ones, and arcs that would touch lie at different heights. Spans that
overlap stand below each other, and gold ones below all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from rote.errors import DataError
from rote.viz.shapes import Arc, End, Layout, Said, Shape, Tile, Tone
from rote.viz.text import shortened, visible, width_of

HEADS = ("y", "gold")  # what stands before spans, where there are gold ones
MARGIN = max(map(len, HEADS)) + 1


class Span(NamedTuple):
    """``words[start:stop]`` and what they are; without a frame, only the label is written."""

    start: int
    stop: int
    label: str
    color: int | None = None
    mark: str = ""
    tone: Tone = Tone.PLAIN
    framed: bool = True

    @property
    def text(self) -> str:
        return _marked(self)


class Link(NamedTuple):
    """From one span to another, by their numbers."""

    first: int
    second: int
    label: str
    mark: str = ""
    tone: Tone = Tone.PLAIN
    dashed: bool = False

    @property
    def text(self) -> str:
        return _marked(self)


class _Place(NamedTuple):
    line: int
    column: int
    width: int
    lead: int = 0  # blank columns before the word


@dataclass(frozen=True)
class Sentence:
    """Words, spans, links between spans, and the gold spans where they are to be seen."""

    words: tuple[str, ...]
    spans: tuple[Span, ...] = ()
    links: tuple[Link, ...] = ()
    gold: tuple[Span, ...] | None = None

    def __post_init__(self) -> None:
        for span in (*self.spans, *(self.gold or ())):
            if not 0 <= span.start < span.stop <= len(self.words):
                raise DataError(
                    f"a span is of one word or more, among {len(self.words)} words; got "
                    f"{span.start} to {span.stop}"
                )

    def layout(self, columns: int) -> Layout:
        margin = MARGIN if self.gold is not None else 0
        room = columns - margin
        words = [shortened(visible(word), room) for word in self.words]
        places = self._places(words, room)
        lines = 1 + max((place.line for place in places), default=0)
        arcs = self._arcs(places, lines, room)
        tiles = [_in_lines(spans, places, lines) for spans in (self.spans, self.gold or ())]
        shapes: list[Shape] = []
        row = 0
        for line in range(lines):
            levels = _levels(map(_reach, arcs[line]), gap=2)
            height = 1 + max(levels, default=-1)
            base = row + height + bool(height)
            shapes += [
                arc._replace(
                    top=row + height - 1 - level,
                    bottom=base - 1,
                    left=arc.left + margin,
                    right=arc.right + margin,
                    label_at=arc.label_at + margin,
                )
                for arc, level in zip(arcs[line], levels, strict=True)
            ]
            shapes += [
                Said(base, margin + place.column + place.lead, word)
                for word, place in zip(words, places, strict=True)
                if place.line == line
            ]
            row = base + 1
            for head, group in zip(HEADS, tiles, strict=True):
                if margin and group[line]:
                    shapes.append(Said(row, 0, head, Tone.FAINT))
                rows = _levels(((tile.column, tile.end - 1) for tile in group[line]), gap=1)
                shapes += [
                    tile._replace(row=row + level, column=tile.column + margin)
                    for tile, level in zip(group[line], rows, strict=True)
                ]
                row += 1 + max(rows, default=-1)
            row += 1
        return Layout(tuple(shapes), row, columns)

    # -- where words stand --------------------------------------------------------------

    def _places(self, words: Sequence[str], room: int) -> list[_Place]:
        widths = [width_of(word) for word in words]
        lead = [0] * len(words)
        wanted = [
            (span, max(width_of(span.text) + 2 * span.framed, 2 * len(self._ends.get(k, ())) - 1))
            for k, span in enumerate(self.spans)
        ]
        wanted += [(span, width_of(span.text) + 2 * span.framed) for span in self.gold or ()]
        for span, width in sorted(wanted, key=lambda item: item[0].stop - item[0].start):
            there = sum(widths[span.start : span.stop]) + span.stop - span.start - 1
            missing = max(0, min(width, room) - there)
            lead[span.start] += missing // 2
            widths[span.start] += missing // 2
            widths[span.stop - 1] += missing - missing // 2
        gaps = self._gaps(widths, room)
        places = []
        line = end = 0  # of the words so far
        for unit in self._units():
            whole = sum(widths[w] + gaps[w] for w in unit)
            if end and end + whole > room:
                line, end = line + 1, 0
            for word in unit:
                column = end + gaps[word] if end else 0
                if end and column + widths[word] > room:
                    line, column = line + 1, 0
                places.append(_Place(line, column, min(widths[word], room), lead[word]))
                end = column + widths[word]
        return places

    def _gaps(self, widths: Sequence[int], room: int) -> list[int]:
        """Blank columns before each word: one, or more where the label of an arc needs them."""
        gaps = [min(1, word) for word in range(len(widths))]

        def foot(number: int, span: int) -> int:
            start, stop = self.spans[span][:2]
            ends = self._ends[span]
            width = sum(widths[start:stop]) + sum(gaps[start + 1 : stop])
            before = sum(widths[:start]) + sum(gaps[: start + 1])
            return before + _foot(width, ends.index(number), len(ends))

        def length(numbered: tuple[int, Link]) -> int:
            return abs(self.spans[numbered[1].first].start - self.spans[numbered[1].second].start)

        for number, link in sorted(enumerate(self.links), key=length):
            low, high = sorted((link.first, link.second), key=lambda span: self.spans[span][:2])
            missing = width_of(link.text) + 3 - (foot(number, high) - foot(number, low))
            apart = self.spans[low].stop <= self.spans[high].start
            if apart and 0 < missing <= room - width_of(link.text):
                gaps[self.spans[high].start] += missing
        return gaps

    def _units(self) -> Iterator[range]:
        """Words that stay together: those of a span."""
        start = stop = 0
        for span in sorted((*self.spans, *(self.gold or ())), key=lambda span: span[:2]):
            if span.start >= stop:
                if stop > start:
                    yield range(start, stop)
                yield from (range(word, word + 1) for word in range(stop, span.start))
                start = span.start
            stop = max(stop, span.stop)
        if stop > start:
            yield range(start, stop)
        yield from (range(word, word + 1) for word in range(stop, len(self.words)))

    # -- where arcs lie -----------------------------------------------------------------

    def _arcs(self, places: Sequence[_Place], lines: int, room: int) -> list[list[Arc]]:
        """For each line the parts of arcs in it, short ones first; their rows are still to come."""
        feet = self._feet(places)
        found: list[list[Arc]] = [[] for _ in range(lines)]
        for number, link in enumerate(self.links):
            ends = [(feet[number, link.first], End.TAIL), (feet[number, link.second], End.HEAD)]
            (low, low_end), (high, high_end) = sorted(ends, key=lambda item: item[0][:2])
            for line in range(low.line, high.line + 1):
                left = low.column if line == low.line else 0
                right = high.column if line == high.line else room - 1
                starts = low_end if line == low.line else End.EDGE
                stops = high_end if line == high.line else End.EDGE
                where = (0, 0, left, max(right, left + 1), starts, stops)
                found[line].append(Arc(*where, link.text, 0, link.tone, link.dashed))
        for arcs in found:
            arcs.sort(key=lambda arc: arc.right - arc.left)
            for k, arc in enumerate(arcs):
                # Only longer arcs come down past a label, since they lie above it.
                past = {column for longer in arcs[k + 1 :] for column, _ in longer.ends}
                arcs[k] = _labelled(arc, past, room)
        return found

    def _feet(self, places: Sequence[_Place]) -> dict[tuple[int, int], _Place]:
        """Where each link, by its number, meets each of its spans: side by side."""
        feet = {}
        for span, ends in self._ends.items():
            line, tile = next(_tiles(self.spans[span], places))
            for k, number in enumerate(ends):
                column = tile.column + _foot(tile.width, k, len(ends))
                feet[number, span] = _Place(line, column, 1)
        return feet

    @cached_property
    def _ends(self) -> dict[int, list[int]]:
        """For each span the numbers of its links, from left to right.

        Links to the left stand on the left; and on both sides, so that they need not cross, the
        longer ones stand inside.
        """
        at: dict[int, list[tuple[bool, int, int, int]]] = {}
        for number, link in enumerate(self.links):
            for own, other in ((link.first, link.second), (link.second, link.first)):
                here, there = self.spans[own], self.spans[other]
                right = there[:2] > here[:2]
                key = (right, here.start - there.start, number if right else -number, number)
                at.setdefault(own, []).append(key)
        return {span: [key[-1] for key in sorted(keys)] for span, keys in at.items()}


def _foot(width: int, k: int, count: int) -> int:
    """The column of the k-th of so many feet on a span, from its left end."""
    return int((k + 0.5) * width / count)


def _reach(arc: Arc) -> tuple[int, int]:
    first = arc.label_at if arc.label else arc.left
    return min(arc.left, first), max(arc.right, first + width_of(arc.label))


def _labelled(arc: Arc, past: set[int], room: int) -> Arc:
    """The arc with its label in place: in the line, away from what comes down ``past`` it.

    Else it stands beside the line, or nowhere if the arc goes on, and has it in another line.
    """
    text = arc.label
    width = width_of(text)
    first, last = arc.left + 2, arc.right - 1 - width
    if first <= last:
        middle = (first + last) // 2
        spots = sorted(range(first, last + 1), key=lambda spot: abs(spot - middle))
        free = (s for s in spots if not any(s - 1 <= column <= s + width for column in past))
        return arc._replace(label_at=next(free, middle))
    if arc.right_end is End.EDGE:
        return arc._replace(label="")
    if arc.right + 2 + width <= room:
        return arc._replace(label_at=arc.right + 2)
    text = shortened(text, max(arc.left - 1, room - arc.right - 2, 4))
    at = arc.left - 1 - width_of(text)
    if at < 0:
        at = min(arc.right + 2, room - width_of(text))
    return arc._replace(label=text, label_at=max(at, 0))


def _marked(named: Span | Link) -> str:
    return f"{visible(named.label)} {named.mark}" if named.mark else visible(named.label)


def _tiles(span: Span, places: Sequence[_Place]) -> Iterator[tuple[int, Tile]]:
    """The parts of a span, each with its line; their rows are still to come."""
    for line, group in groupby(range(span.start, span.stop), key=lambda word: places[word].line):
        words = list(group)
        left, last = places[words[0]].column, places[words[-1]]
        where = (0, left, last.column + last.width - left, span.text, span.color, span.tone)
        edges = (words[0] == span.start, words[-1] == span.stop - 1)
        yield line, Tile(*where, span.framed, *edges)


def _in_lines(spans: Sequence[Span], places: Sequence[_Place], lines: int) -> list[list[Tile]]:
    found: list[list[Tile]] = [[] for _ in range(lines)]
    for span in spans:
        for line, tile in _tiles(span, places):
            found[line].append(tile)
    return found


def _levels(reaches: Iterable[tuple[int, int]], gap: int) -> list[int]:
    """For each reach, from column to column, a level above all earlier ones that it touches."""
    found: list[tuple[int, int, int]] = []
    for left, right in reaches:
        below = [level for low, high, level in found if left < high + gap and low < right + gap]
        found.append((left, right, 1 + max(below, default=-1)))
    return [level for _, _, level in found]
