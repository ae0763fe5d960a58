"""Figures: panels side by side with a curve per method and the band of its interval.

Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart;
line styles and markers say the same once more, for paper without colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from papers.records import Row
from rote import DataError, MissingDependency

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#E69F00", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")
MARKERS = ("^", "s", "o", "D", "v", "P")
LINES = (":", "--", "-", "-.", (0, (5, 1)), (0, (1, 1)))
GREY = "#555555"
BAND = 0.18  # how strong the colour of a band is
SUFFIXES = (".png", ".svg")


@dataclass(frozen=True)
class Curve:
    """Means over x, and the interval of each."""

    name: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @staticmethod
    def of(rows: Sequence[Row], name: str, x: str, y: str) -> Curve:
        """From rows that hold ``x``, and ``y`` with its interval as ``y_low`` and ``y_high``."""
        ordered = sorted(rows, key=lambda row: float(row.metrics[x]))

        def column(metric: str) -> tuple[float, ...]:
            return tuple(float(row.metrics[metric]) for row in ordered)

        return Curve(name, column(x), column(y), column(f"{y}_low"), column(f"{y}_high"))


@dataclass(frozen=True)
class Panel:
    """Curves that share axes."""

    title: str
    curves: Sequence[Curve]


def draw_panels(
    panels: Sequence[Panel], x_label: str, y_label: str, band: str = "95 % interval over trials"
) -> Figure:
    """Panels side by side, on one scale of y; x is logarithmic."""
    figure_of = load_matplotlib()
    from matplotlib.patches import Patch

    figure = figure_of(figsize=(0.7 + 3.9 * len(panels), 4.4), layout="constrained")
    figure.set_facecolor("white")
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw(axes, panel)
    all_axes[0].set_ylabel(y_label)
    figure.supxlabel(x_label, fontsize="medium")
    handles, names = all_axes[0].get_legend_handles_labels()
    figure.legend(
        [*handles, Patch(color=GREY, alpha=BAND, linewidth=0)],
        [*names, band],
        loc="outside upper center",
        ncols=min(len(names) + 1, 3 * len(panels)),
        frameon=False,
    )
    return figure


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure as PNG or SVG, by the path's ending."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise DataError(f"figures are written as {' or '.join(SUFFIXES)}, got {path.name!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


def _draw(axes: Axes, panel: Panel) -> None:
    from matplotlib.ticker import NullFormatter, NullLocator, StrMethodFormatter

    if len(panel.curves) > len(COLOURS):
        raise DataError(f"a panel tells {len(COLOURS)} curves apart, and has {len(panel.curves)}")
    for curve, colour, marker, line in zip(panel.curves, COLOURS, MARKERS, LINES, strict=False):
        axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=BAND, linewidth=0)
        axes.plot(
            curve.x,
            curve.mean,
            color=colour,
            marker=marker,
            linestyle=line,
            linewidth=2,
            markersize=6,
            label=curve.name,
        )
    axes.set_xscale("log")
    axes.set_xticks(sorted({x for curve in panel.curves for x in curve.x}))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelrotation=45)
    axes.set_title(panel.title, fontsize="medium")
    tidy(axes)


def tidy(axes: Axes) -> None:
    """A grid behind what is drawn, and two sides only."""
    axes.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)


def load_matplotlib() -> type[Figure]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency(
            "figures are drawn with matplotlib, which is not installed; "
            "install it with: pip install '.[report]' in a checkout of rote"
        ) from None
    return Figure
