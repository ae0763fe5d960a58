"""The picture of results in the README: what rules change on conll04, from a record.

Bars are F1 of relations, with what of the outputs breaks a rule beside them. The SVG has no
background, and its text is dark or light as its reader prefers.

    rote reproduce conll04-learners --out results
    python -m benchmarks.picture results/conll04-learners.json docs/results.svg
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from papers.punyakanok2005.conll04_learners import CORPUS

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "LO": "no rules",
        "L+I": "rules when predicting",
        "IBT": "rules when learning, perceptron",
        "structural SVM": "rules when learning, SVM",
    }
)
WIDTH, LEFT, BAR, STEP, TOP = 720, 250, 22, 38, 44
UNIT = 3.6  # pixels per point of F1
BEFORE, AFTER = "#E69F00", "#0072B2"  # of Okabe and Ito
STYLE = (
    "text{font:14px sans-serif;fill:#1f2328}.small{font-size:12px;fill:#57606a}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b3}}"
)


def draw(rows: Sequence[Mapping[str, Any]], sentences: int) -> str:
    """An SVG with a bar for each row whose method has a name here."""
    shown = [row for row in rows if row["method"] in NAMES]
    height = TOP + STEP * len(shown) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>F1 of relations on {sentences} test sentences of conll04</title>",
        f"<style>{STYLE}</style>",
        f'<text x="0" y="18">Relations in {sentences} sentences of conll04</text>',
        f'<text class="small" x="{LEFT}" y="36">F1, %, and outputs that break a rule</text>',
    ]
    for place, row in enumerate(shown):
        y = TOP + STEP * place
        f1, broken = row["relation_f1"], row["broken_outputs"]
        long = UNIT * f1
        colour = AFTER if not broken else BEFORE
        middle = y + BAR / 2 + 5
        count = f'<tspan class="small" dx="8">{broken or "none"} broken</tspan>'
        lines += [
            f'<text x="0" y="{middle:g}">{NAMES[row["method"]]}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{long:.1f}" height="{BAR}" rx="3" fill="{colour}"/>',
            f'<text x="{LEFT + long + 8:.1f}" y="{middle:g}">{f1:.1f}{count}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def judged(settings: Mapping[str, Any]) -> int:
    """How many sentences of conll04 a whole run was judged on; any other record is refused."""
    source, quick = settings.get("sentences"), settings.get("quick")
    if source != CORPUS or quick:
        raise SystemExit(
            f"expected a record of conll04-learners, of a whole run on {CORPUS}; got one of "
            f"{'a quick run on ' if quick else ''}{source or 'another experiment'}; set ROTE_DATA, "
            "and reproduce without --quick"
        )
    (count,) = re.findall(r"\d+", settings["judged on"])
    return int(count)


def main() -> None:
    """Draw the picture of a record."""
    parser = argparse.ArgumentParser(description="The picture of results in the README.")
    parser.add_argument("record", type=Path, help="of rote reproduce conll04-learners")
    parser.add_argument("picture", type=Path, help="the SVG to write")
    chosen = parser.parse_args()
    record = json.loads(chosen.record.read_text(encoding="utf-8"))
    svg = draw(record["rows"], judged(record["settings"]))
    chosen.picture.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
