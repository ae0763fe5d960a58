"""Figures after Ma et al. (2019): accuracy by time, and inputs by required restarts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from papers.plots import COLOURS, LINES, MARKERS, load_matplotlib, tidy
from papers.records import Record, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEARCHES = ("RGS", "A-RGS")


def draw_testtime(record: Record, bins: Sequence[str]) -> Figure:
    """A column for each case: curves above, a histogram below."""
    cases = tuple(dict.fromkeys(str(row.metrics["case"]) for row in record.rows))
    figure = load_matplotlib()(figsize=(0.7 + 3.1 * len(cases), 6.4), layout="constrained")
    figure.set_facecolor("white")
    grid = figure.subplots(2, len(cases), squeeze=False)
    for (curves, bars), case in zip(grid.T, cases, strict=True):
        rows = [row for row in record.rows if row.metrics["case"] == case]
        curves.set_title(case, fontsize="medium")
        _draw_curves(curves, rows)
        _draw_bars(bars, rows, bins)
    grid[0, 0].set_ylabel("accuracy in per cent")
    grid[1, 0].set_ylabel("inputs in per cent")
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False)
    return figure


def _draw_curves(axes: Axes, rows: Sequence[Row]) -> None:
    from matplotlib.ticker import NullFormatter

    for k, search in enumerate(SEARCHES):
        points = [row.metrics for row in rows if row.method == f"curve of {search}"]
        axes.plot(
            [float(point["milliseconds"]) / 1e3 for point in points],
            [float(point["accuracy"]) for point in points],
            color=COLOURS[k],
            marker=MARKERS[k],
            linestyle=LINES[k + 1],
            linewidth=2,
            label=search,
        )
    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("seconds")
    tidy(axes)


def _draw_bars(axes: Axes, rows: Sequence[Row], bins: Sequence[str]) -> None:
    for k, search in enumerate(SEARCHES):
        (row,) = (
            row
            for row in rows
            if row.method.startswith(f"{search} (") and "required_restarts" in row.metrics
        )
        heights = [float(row.metrics[f"needed_{name}_percent"]) for name in bins]
        places = [place + 0.4 * (k - 0.5) for place in range(len(bins))]
        axes.bar(places, heights, width=0.38, color=COLOURS[k], label=search)
    axes.set_xticks(
        range(len(bins)), [name.replace("_to_", "-") for name in bins], fontsize="small"
    )
    axes.set_xlabel("required restarts")
    tidy(axes)
