"""Rows of records as HTML tables, the paper's numbers beside ours.

Rows that measure the same things share a table: rows of one record are taken in order, and a row
begins a table of its own where it has few metrics in common with the last ones. What is the same in
all rows is said once, above them. The ends of an interval stand in the cell of their metric.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10
from statistics import median

from papers.records import Metric, Row
from papers.show import HIGH, LOW, UNITS, is_end

LONG = 24  # rows that are shown at once where the paper has no numbers for them
ALIKE, WITHIN = 0.75, 0.45  # shares of metrics in common, the second where one has all of the other
MAX_DIGITS = 8  # after the point
WORDS = {
    "alpha": "α",
    "delta": "δ",
    "kappa": "κ",
    "theta": "θ",
    "f1": "F1",
    "ilp": "(ILP)",
    "speedup": "speed-up",
    "e": "E",
    "m": "M",
    "muc": "MUC",
    "ceaf": "CEAF",
    "b3": "B³",
}


@dataclass(frozen=True)
class Sheet:
    """Rows of a table, and the metrics that any of them has, in order."""

    rows: tuple[Row, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for row in self.rows for name in row.metrics))

    @property
    def columns(self) -> tuple[str, ...]:
        """Metrics without the ends of intervals."""
        names = self.metrics
        return tuple(name for name in names if not is_end(name, names))

    def same(self) -> dict[str, Metric]:
        """What all rows have in common, and the paper does not speak of."""
        if len(self.rows) < 2:
            return {}
        told = {name for row in self.rows for name in row.paper}
        found = {}
        for name in self.columns:
            values = {row.metrics.get(name) for row in self.rows}
            if len(values) == 1 and name not in told and f"{name}{LOW}" not in self.metrics:
                found[name] = self.rows[0].metrics[name]
        # Something has to be left to show.
        return found if len(found) < len(self.columns) else {}


def sheets_of(records: Iterable[Sequence[Row]]) -> tuple[Sheet, ...]:
    """The tables of some records: rows of several share one where they measure the same."""
    found: list[list[Row]] = []
    for rows in records:
        own: list[list[Row]] = []
        for row in rows:
            last = next((group for group in reversed(own) if _belongs(row, group)), None)
            if last is None:
                own.append([row])
            else:
                last.append(row)
        for group in own:
            alike = [(_common(_names(group), _names(other)), other) for other in found]
            share, best = max(alike, key=lambda pair: pair[0], default=(0.0, group))
            if share >= ALIKE:
                best += group
            else:
                found.append(group)
    return tuple(Sheet(tuple(group)) for group in found)


def table_html(sheet: Sheet, name: str) -> str:
    """A table in a box that scrolls by itself; a long one of ours alone is folded away."""
    same = sheet.same()
    columns = [column for column in sheet.columns if column not in same]
    said = ", ".join(f"{_phrase(key, value)}" for key, value in same.items())
    told = {column for row in sheet.rows for column in row.paper}
    head = _head(columns, told, sheet)
    body = "".join(_body(sheet, columns, told))
    note = f"<caption>In all rows: {escape(said)}.</caption>" if said else ""
    table = f"<table>{note}<thead>{head}</thead><tbody>{body}</tbody></table>"
    label = escape(f"Table of {name}")
    box = f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">{table}</div>'
    if len(sheet.rows) <= LONG or told:
        return box
    return f"<details><summary>All {len(sheet.rows)} rows of numbers</summary>{box}</details>"


def title_of(metric: str, values: Sequence[Metric] = ()) -> str:
    """The heading of a column: words instead of underscores, and a unit."""
    words = metric.split("_")
    spread = words[-1:] if words[-1] == "deviation" else []
    words = words[: len(words) - len(spread)]
    unit = UNITS.get(words[-1], "") if words else ""
    if unit:
        words = [*(words[:-1] or ["time"]), *spread]
    elif spread:
        words += spread
    elif words[-1] in ("accuracy", "f1") and any(
        isinstance(value, int | float) and value > 1 for value in values
    ):
        unit = "%"
    elif words[-2:] == ["speed", "up"]:
        words, unit = [*words[:-2], "speed-up"], "×"
    elif words[-1] == "speedup":
        unit = "×"
    if words[0] == "needed":
        words = ["needed", re.sub(r" to ", "–", " ".join(words[1:]))]
    title = " ".join(WORDS.get(word, word) for word in words)
    return f"{title} ({unit})" if unit else title


def title_in(sheet: Sheet, name: str) -> str:
    """What a method or a metric is called in a table."""
    return title_of(name, _values(sheet, name)) if name in sheet.metrics else name


def digits_of(values: Sequence[Metric]) -> int:
    """How many digits a column of ours has after the point: by the size of what is usual in it."""
    numbers = [abs(value) for value in values if isinstance(value, float) and value]
    if not numbers:
        return 0
    middle = median(numbers)
    most = 0 if middle >= 1000 else 1 if middle >= 100 else 2 if middle >= 1 else 3
    if middle < 0.1:
        most = min(MAX_DIGITS, 1 - floor(log10(middle)))
    return min(most, exact_digits(numbers))


def exact_digits(values: Sequence[Metric]) -> int:
    """How many digits after the point it takes to show numbers as they were given."""
    numbers = [value for value in values if isinstance(value, float)]
    return next(
        (few for few in range(MAX_DIGITS) if all(round(each, few) == each for each in numbers)),
        MAX_DIGITS,
    )


def number(value: Metric | None, digits: int) -> str:
    """A metric for people."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if value and abs(value) < 0.5 * 10.0**-digits:
        return f"{value:.1g}"
    return f"{value:,.{digits}f}"


def _head(columns: Sequence[str], told: set[str], sheet: Sheet) -> str:
    titles = {column: escape(title_of(column, _values(sheet, column))) for column in columns}
    kinds = {column: "" if _is_number(sheet, column) else ' class="word"' for column in columns}
    if not told:
        cells = "".join(
            f'<th scope="col"{kinds[column]}>{titles[column]}</th>' for column in columns
        )
        return f'<tr><th scope="col" class="word">method</th>{cells}</tr>'
    first = '<tr><th scope="col" rowspan="2" class="word">method</th>'
    second = "<tr>"
    for column in columns:
        if column in told:
            first += f'<th scope="colgroup" colspan="2" class="pair">{titles[column]}</th>'
            second += '<th scope="col">ours</th><th scope="col" class="theirs">paper</th>'
        else:
            first += f'<th scope="col" rowspan="2"{kinds[column]}>{titles[column]}</th>'
    return f"{first}</tr>{second}</tr>"


def _body(sheet: Sheet, columns: Sequence[str], told: set[str]) -> Iterator[str]:
    digits = {column: digits_of(_values(sheet, column)) for column in columns}
    theirs = {
        column: exact_digits([row.paper[column] for row in sheet.rows if column in row.paper])
        for column in told
    }
    words = {column for column in columns if not _is_number(sheet, column)}
    for row in sheet.rows:
        cells = [f'<th scope="row">{escape(row.method)}</th>']
        for column in columns:
            kind = ' class="word"' if column in words else ""
            cells.append(f"<td{kind}>{_cell(row.metrics, column, digits[column])}</td>")
            if column in told:
                said = escape(number(row.paper.get(column), theirs[column]))
                cells.append(f'<td class="theirs">{said}</td>')
        yield f"<tr>{''.join(cells)}</tr>"


def _cell(metrics: Mapping[str, Metric], column: str, digits: int) -> str:
    said = escape(number(metrics.get(column), digits))
    if f"{column}{LOW}" in metrics and f"{column}{HIGH}" in metrics:
        low, high = (number(metrics[f"{column}{end}"], digits) for end in (LOW, HIGH))
        said += f' <span class="interval">{escape(low)} to {escape(high)}</span>'
    return said


def _phrase(name: str, value: Metric) -> str:
    """A metric and its value in a sentence."""
    title, given = title_of(name, [value]), number(value, digits_of([value]))
    found = re.fullmatch(r"(.*) \(([^()]*)\)", title)
    return f"{found[1]} {given} {found[2]}" if found else f"{title} {given}"


def _values(sheet: Sheet, column: str) -> list[Metric]:
    return [row.metrics[column] for row in sheet.rows if column in row.metrics]


def _is_number(sheet: Sheet, column: str) -> bool:
    return any(not isinstance(value, str) for value in _values(sheet, column))


def _names(rows: Sequence[Row]) -> set[str]:
    return {name for row in rows for name in row.metrics}


def _belongs(row: Row, group: Sequence[Row]) -> bool:
    own, theirs = set(row.metrics), _names(group)
    within = own <= theirs or theirs <= own
    return _common(own, theirs) >= (WITHIN if within else ALIKE)


def _common(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))
