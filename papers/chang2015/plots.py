"""Figures after Chang et al. (2015): what is lost by what is saved, and calls along training."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

from papers.plots import COLOURS, GREY, LINES, MARKERS, load_matplotlib, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Points(NamedTuple):
    """Places of one kind, each with a word, which may be empty."""

    name: str
    words: tuple[str, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]


def draw_tradeoff(
    joined: Sequence[Points], single: Sequence[Points], x_label: str, y_label: str
) -> Figure:
    """Points joined by lines, and points by themselves; lower and further to the left is better."""
    figure = load_matplotlib()(figsize=(7.2, 4.8), layout="constrained")
    figure.set_facecolor("white")
    axes = figure.subplots()
    for points, colour, marker, line in zip(
        joined, COLOURS[1:], MARKERS[1:], LINES[1:], strict=False
    ):
        axes.plot(
            points.x,
            points.y,
            color=colour,
            marker=marker,
            linestyle=line,
            linewidth=2,
            label=points.name,
        )
        for word, x, y in zip(points.words, points.x, points.y, strict=True):
            axes.annotate(
                word,
                (x, y),
                (3, 4),
                textcoords="offset points",
                rotation=40,  # so that words of close points do not meet
                color=colour,
                fontsize="small",
            )
    for points, marker in zip(single, ("X", "P", "*"), strict=False):
        axes.plot(
            points.x,
            points.y,
            color=GREY,
            marker=marker,
            markersize=11,
            linestyle="",
            label=points.name,
            clip_on=False,
            zorder=3,
        )
    every = (*joined, *single)
    # What needs no call, or loses nothing, has a place too: at the edge.
    for scale, values in (
        (axes.set_xscale, [x for points in every for x in points.x]),
        (axes.set_yscale, [y for points in every for y in points.y]),
    ):
        scale("symlog", linthresh=_least(values))
    axes.set_xlim(0, 150)
    axes.set_ylim(0, 2 * max(y for points in every for y in points.y) or 1.0)
    _plain(axes)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    tidy(axes)
    return figure


def draw_training(total: Sequence[Points], each: Sequence[Points]) -> Figure:
    """Calls so far, and calls in each iteration, by iteration; the last point has the name."""
    figure = load_matplotlib()(figsize=(9.6, 4.4), layout="constrained")
    figure.set_facecolor("white")
    left, right = figure.subplots(1, 2)
    for axes, curves, y_label in (
        (left, total, "solver calls so far"),
        (right, each, "solver calls in an iteration"),
    ):
        for points, colour, line in zip(curves, COLOURS, LINES, strict=False):
            look = {"linestyle": line, "linewidth": 2.0}
            if axes is right:  # a line that jumps is hard to follow when it is broken
                look = {"marker": ".", "linewidth": 0.8}
            axes.plot(points.x, points.y, color=colour, label=points.name, **look)
        axes.set_xlabel("iteration")
        axes.set_ylabel(y_label)
        axes.set_xlim(left=1)
        tidy(axes)
    left.set_yscale("log")
    # An iteration may need no call at all.
    right.set_yscale("symlog", linthresh=1)
    right.set_ylim(bottom=0)
    for axes in (left, right):
        _whole(axes)
    handles, names = left.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False)
    return figure


def _least(values: Sequence[float]) -> float:
    """The power of ten at or below the least of them that is not 0."""
    positive = [value for value in values if value > 0]
    return float(10.0 ** floor(log10(min(positive)))) if positive else 1.0


def _plain(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _whole(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
