"""Figures as SVG within a page: colours are those of the page, in light and in dark.

Names within a drawing begin with the figure's own, so that several fit on one page, and nothing in
it hangs on when or where it was drawn. What it shows is also said in words, for those who cannot
see it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np

from papers.plots import COLOURS, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How the page's style sheet calls the colours of `papers.plots`.
NAMES = ("orange", "blue", "red", "green", "pink", "sky")
PAINT = {
    **{colour.lower(): f"var(--{name})" for colour, name in zip(COLOURS, NAMES, strict=True)},
    GREY.lower(): "var(--quiet)",
    "#dddddd": "var(--grid)",
    "#000000": "currentColor",
    "#ffffff": "var(--ground)",
}
HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
FAMILY = re.compile(r"font-family: [^;]*(; |$)")
FONT = re.compile(r"font: (?P<slant>(?:[a-z]+ )*)(?P<size>[\d.]+)px [^;]*")  # older matplotlib
PIXELS = 96 / 72  # of a point
NARROWEST = 0.75  # a figure that has to shrink more than this scrolls instead


def svg_of(figure: Figure, key: str, label: str) -> str:
    """The drawing, for the inside of an HTML page; ``key`` is its own there."""
    import matplotlib as mpl

    file = io.BytesIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": key, "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    root = ET.fromstring(file.getvalue())  # noqa: S314 - it was drawn just now
    width, height = (float(root.attrib[side].removesuffix("pt")) for side in ("width", "height"))
    _strip(root)
    _rename(root, key)
    for element in root.iter():
        if "style" in element.attrib:
            element.set("style", _restyled(element.attrib["style"]))
    view = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib |= {
        "role": "img",
        "aria-label": label,
        "viewBox": view,
        "style": f"min-width: {NARROWEST * width * PIXELS:.0f}px; "
        f"aspect-ratio: {width:g} / {height:g}",
    }
    return ET.tostring(root, encoding="unicode")


def figure_html(figure: Figure, key: str, about: str, case: str = "") -> str:
    """A figure with its caption, in a box that scrolls by itself."""
    across = figure.get_supxlabel()
    what = "; ".join(dict.fromkeys(filter(None, (_shown(axes, across) for axes in figure.axes))))
    caption = f"{case}: {what}" if case else what[:1].upper() + what[1:]
    label = " ".join((f"{case}: {about}." if case else f"{about}.", *described(figure)))
    width = figure.get_figwidth() * 72 * PIXELS
    return (
        f'<figure id="{escape(key)}" style="flex-basis: {width:.0f}px">'
        '<div class="scroll" role="region" tabindex="0" '
        f'aria-label="{escape(f"Figure: {caption}")}">{svg_of(figure, key, label)}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def described(figure: Figure) -> Iterator[str]:
    """What can be seen, a sentence for each panel that says something."""
    across = figure.get_supxlabel()
    for axes in figure.axes:
        seen = [*_lines(axes), *_bars(axes)]
        if seen:
            names = filter(None, (_one_line(axes.get_title()), _shown(axes, across)))
            yield f"{', '.join(names) or 'Seen'}: {'; '.join(seen)}."


def _shown(axes: Axes, across: str) -> str:
    """What is shown by what; empty for a panel that leaves it to its neighbour."""
    up, along = axes.get_ylabel(), axes.get_xlabel()
    if up and (along or across):
        return _one_line(f"{up} by {along or across}")
    return _one_line(up or along)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _lines(axes: Axes) -> Iterator[str]:
    for line in axes.get_lines():
        name = str(line.get_label())
        heights = np.asarray(line.get_ydata(), dtype=np.float64)
        if name.startswith("_") or not len(heights):
            continue
        if len(heights) == 1:
            yield f"{name} at {heights[0]:.4g}"
        else:
            yield f"{name} from {heights[0]:.4g} to {heights[-1]:.4g}"


def _bars(axes: Axes) -> Iterator[str]:
    from matplotlib.container import BarContainer

    for bars in axes.containers:
        if not isinstance(bars, BarContainer):
            continue
        sideways = bars.orientation == "horizontal"
        axis = axes.yaxis if sideways else axes.xaxis
        names = [text.get_text() for text in axis.get_ticklabels()]
        sizes = [bar.get_width() if sideways else bar.get_height() for bar in bars.patches]
        each = [f"{name} {size:.3g}" for name, size in zip(names, sizes, strict=False)]
        legend = str(bars.get_label())
        yield ("" if legend.startswith("_") else f"{legend} ") + ", ".join(each)


def _strip(root: ET.Element) -> None:
    """Plain names instead of those with namespaces, and neither metadata nor styles for all."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name in [name for name in element.attrib if "}" in name]:
            element.set(name.rpartition("}")[2], element.attrib.pop(name))


def _rename(root: ET.Element, key: str) -> None:
    """Names that are referred to begin with the key, and the others go."""
    used = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "href" and value.startswith("#"):
                used.add(value[1:])
            used |= set(re.findall(r"url\(#([^)]+)\)", value))
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            if name == "id" and value not in used:
                del element.attrib[name]
            elif name == "id":
                element.set(name, f"{key}-{value}")
            elif name == "href" and value.startswith("#"):
                element.set(name, f"#{key}-{value[1:]}")
            elif "url(#" in value:
                element.set(name, value.replace("url(#", f"url(#{key}-"))


def _restyled(style: str) -> str:
    style = HEX.sub(lambda found: PAINT.get(found[0].lower(), found[0]), style)

    def plain(found: re.Match[str]) -> str:
        slanted = "; font-style: italic" if found["slant"] else ""
        return f"font-size: {found['size']}px{slanted}"

    return FONT.sub(plain, FAMILY.sub("", style)).removesuffix("; ")
