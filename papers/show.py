"""A record for people: a table with ours beside the paper's, and a sentence per claim.

A metric whose interval is in the row, as ``metric_low`` and ``metric_high``, stands in one
column with it. Where a table is too wide, headings are stacked word by word; where that is not
enough, the last columns follow in a table of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from papers.explanations import explanation
from papers.records import UNSET, Metric, Record

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LOW, HIGH = "_low", "_high"
UNITS = {
    "percent": "%",
    "seconds": "s",
    "milliseconds": "ms",
    "minutes": "min",
    "hours": "h",
}
WORDS = {**UNITS, "f1": "F1"}


def show_record(
    record: Record, console: Console, legend: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Print a record; the paper's numbers stand where it gives some.

    The ``legend`` says what methods and metrics are, and stands below the table.
    """
    from rich.table import Table
    from rich.text import Text

    if record.is_made_up:
        console.print(Text(f"On made-up data: {UNSET}."), soft_wrap=True)
    metrics = dict.fromkeys(name for row in record.rows for name in row.metrics)
    columns = [name for name in metrics if not is_end(name, metrics)]
    told = [name for name in columns if not _is_word(record, name)]
    words = columns[: columns.index(told[0])] if told else []  # such as what was solved with
    rest = columns[len(words) :]
    while rest or words:
        tables = [
            (count, _table(record, [*words, *rest[:count]], stacked=stacked))
            for count in range(len(rest), 0, -1)
            for stacked in (False, True)
        ]
        count, table = next(
            (each for each in tables if _fits(each[1], console)),
            (1, _table(record, [*words, *rest[:1]], stacked=False)),
        )
        console.print(table)
        rest = rest[count:]
        if not rest:
            break
        console.print()
    if legend:
        grid = Table.grid(padding=(0, 2, 0, 0))
        for name, said in legend.items():
            grid.add_row(Text(_heading(name)), Text(said))
        console.print()
        console.print(grid)
    for claim in record.claims:
        console.print()
        verdict = Text("held", "green") if claim.held else Text("did not hold", "red")
        console.print(Text.assemble(verdict, f": {claim.claim}"), soft_wrap=True)
        console.print(Text(f"  {claim.evidence}"), soft_wrap=True)
        if why := explanation(record, claim):
            console.print(Text(f"  Why: {why}"), soft_wrap=True)
    if record.settings.get("quick"):
        console.print(
            Text("\nThis was a quick run: with so little data, what is true may not show."),
            soft_wrap=True,
        )


def is_end(name: str, metrics: Collection[str]) -> bool:
    """Whether this is an end of the interval of another of these metrics."""
    return any(
        name.endswith(end)
        and all(f"{name.removesuffix(end)}{each}" in metrics for each in ("", LOW, HIGH))
        for end in (LOW, HIGH)
    )


def _is_word(record: Record, name: str) -> bool:
    """Whether a metric is a word wherever it stands."""
    return all(isinstance(row.metrics.get(name, ""), str) for row in record.rows)


def _fits(table: Table, console: Console) -> bool:
    unlimited = console.options.update(width=10_000)
    return console.measure(table, options=unlimited).maximum <= console.width


def _heading(metric: str, between: str = " ") -> str:
    return between.join(WORDS.get(word, word) for word in metric.split("_"))


def _table(record: Record, columns: Sequence[str], *, stacked: bool) -> Table:
    from rich.table import Table
    from rich.text import Text

    given = {name for row in record.rows for name in row.paper}
    table = Table(title=record.paper, box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("method", no_wrap=True)
    for name in columns:
        heading = _heading(name, "\n" if stacked else " ")
        table.add_column(heading, justify="right", overflow="fold")
        if name in given:
            table.add_column("paper", justify="right", style="cyan")
    for row in record.rows:
        cells = [row.method]
        for name in columns:
            cells.append(_with_interval(row.metrics, name))
            if name in given:
                cells.append(_said(row.paper.get(name)))
        table.add_row(*map(Text, cells))
    return table


def _with_interval(metrics: Mapping[str, Metric], name: str) -> str:
    said = _said(metrics.get(name))
    if name + LOW in metrics and name + HIGH in metrics:
        said += f" [{_said(metrics[name + LOW])}, {_said(metrics[name + HIGH])}]"
    return said


def _said(metric: Metric | None) -> str:
    if metric is None:
        return ""
    if isinstance(metric, float):
        # Settings such as κ = 0.1 stay as they are, measures have one digit, or three if small.
        if metric == round(metric, 1):
            return f"{metric:g}"
        return f"{metric:.1f}" if abs(metric) >= 1 else f"{metric:.3g}"
    return f"{metric:,}" if isinstance(metric, int) else metric
