"""The figure of the tour: how good relations are, by how long it takes to learn to find them.

A hollow place is a method of which some answers break rules. A ring says that every answer is
proved to be the best that obeys.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from papers.plots import COLOURS, GREY, MARKERS, load_matplotlib, tidy
from papers.records import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

X, Y = "learn_seconds", "relation_f1"
SHAPES = (*MARKERS, "X", "*", "p")  # more than there are colours, and no two alike


def draw(record: Record) -> Figure:
    """Relation F1 by the seconds of learning, from the record alone."""
    figure = load_matplotlib()(figsize=(7.8, 4.6), layout="constrained")
    figure.set_facecolor("white")
    axes = figure.subplots()
    for row, marker, colour in zip(record.rows, SHAPES, cycle(COLOURS), strict=False):
        x, y = float(row.metrics[X]), float(row.metrics[Y])
        face = colour if row.metrics["obey_percent"] == 100 else "white"
        axes.plot(
            [x],
            [y],
            marker=marker,
            markersize=8,
            color=colour,
            markerfacecolor=face,
            linestyle="",
            label=row.method,
        )
        if row.metrics["proved_percent"] == 100:
            axes.plot([x], [y], "o", markersize=15, color=GREY, markerfacecolor="none")
    axes.plot([], [], "o", color=GREY, markerfacecolor="white", label="some answers break rules")
    axes.plot(
        [], [], "o", color=GREY, markerfacecolor="none", markersize=13, label="all answers proved"
    )
    axes.set_xscale("log")
    axes.set_xlabel("seconds to learn")
    axes.set_ylabel("relation F1 (%)")
    axes.margins(0.1)
    figure.legend(loc="outside right upper", frameon=False, labelspacing=0.8)
    tidy(axes)
    return figure
