"""The walks of docs/design.md: which room calls which, and what is handed over.

    python -m tools.walks     after a change of code: the files below a list, and drawings

A walk is a section with a drawing and a numbered list. Each line of the list is one call,

    1. `room/file.py: function` → `room/file.py: function`: what is given → what comes back

and a line below the list names the other files that are entered. `tests/test_walk.py` runs the
walks and compares them with the lists. In a drawing the rooms stand side by side in the order of
their imports, so that every call goes to the left or stays in its room.
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SECTION = re.compile(
    r"^### (.+?)\n\n.*?^!\[[^\]]*\]\((walk-\w+\.svg)\)$(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL
)
STEP = re.compile(r"^\d+\. `(\S+): (\S+)` →\s+`(\S+): (\S+)`: ((?:.+)(?:\n   .+)*)", re.MULTILINE)
FILE = re.compile(r"`([a-z_/0-9]+\.py)(?:: [\w.]+)?`")
LANE, ROW, TOP, WORDS = 66, 26, 44, 320
STYLE = """
    .lane { stroke: #c3cddb; stroke-width: 1; }
    text { font: 12px system-ui, sans-serif; fill: #38434f; }
    .name { font-weight: 600; fill: #14202c; text-anchor: middle; }
    .number { text-anchor: end; }
    .call { stroke: #1f4f96; fill: none; stroke-width: 1.6; }
    .dot { fill: #1f4f96; }
    @media (prefers-color-scheme: dark) {
      .lane { stroke: #44546a; }
      text { fill: #c8d2de; }
      .name { fill: #ffffff; }
      .call { stroke: #8db8f5; }
      .dot { fill: #8db8f5; }
    }
  """


class Place(NamedTuple):
    """A function of a file of rote."""

    file: str
    function: str

    @property
    def room(self) -> str:
        """The room of the file."""
        return room_of(self.file)


class Step(NamedTuple):
    """A call, with what is handed over in words."""

    caller: Place
    called: Place
    handed: str


class Walk(NamedTuple):
    """The steps of a section, and all files that it names."""

    title: str
    drawing: str
    steps: tuple[Step, ...]
    files: frozenset[str]

    @property
    def name(self) -> str:
        """What the drawing is called."""
        return self.drawing.removeprefix("walk-").removesuffix(".svg")


def room_of(file: str) -> str:
    """The room of a file, by its path below src/rote."""
    return file.split("/", maxsplit=1)[0].removesuffix(".py")


def layers() -> list[list[str]]:
    """The rooms from the left, as the import linter enforces them; rooms of a row are equals."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[name.strip(" ()") for name in re.split("[|:]", row)] for row in reversed(rows)]


EVERYWHERE = frozenset(layers()[0])  # rooms that all others use, at every step


def walks(text: str) -> list[Walk]:
    """The walks of a page."""
    return [
        Walk(
            title,
            drawing,
            tuple(
                Step(Place(*found[:2]), Place(*found[2:4]), " ".join(found[4].split()))
                for found in STEP.findall(body)
            ),
            frozenset(FILE.findall(body)),
        )
        for title, drawing, body in SECTION.findall(text)
    ]


def drawn(walk: Walk) -> str:
    """A walk as SVG: a lane for each room, an arrow for each call, and words beside it."""
    entered = {place.room for step in walk.steps for place in step[:2]}
    rooms = [room for row in layers() for room in row if room in entered]
    at = {room: 40 + LANE * place + LANE // 2 for place, room in enumerate(rooms)}
    edge = 40 + LANE * len(rooms)
    width, height = edge + WORDS, TOP + ROW * len(walk.steps) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        f'  width="{width}" height="{height}" role="img" aria-labelledby="title description">',
        f'  <title id="title">{escape(walk.title)}</title>',
        f'  <desc id="description">{escape(described(walk))}</desc>',
        f"  <style>{STYLE}</style>",
    ]
    for room, x in at.items():
        lines.append(f'  <path class="lane" d="M{x} 30V{height - 8}"/>')
        lines.append(f'  <text class="name" x="{x}" y="20">{room}</text>')
    for number, step in enumerate(walk.steps, start=1):
        y = TOP + ROW * (number - 1) + ROW // 2
        start, end = at[step.caller.room], at[step.called.room]
        if start == end:
            path = f"M{start} {y - 7}h14v14h-12m4 -4l-4 4l4 4"
        else:
            path = f"M{start} {y}H{end + 2}m4 -4l-4 4l4 4"
        name = step.called.function.rpartition(".")[2]
        said = escape(step.handed.replace("`", ""))
        lines += [
            f'  <text class="number" x="28" y="{y + 4}">{number}</text>',
            f'  <circle class="dot" cx="{start}" cy="{y - 7 * (start == end)}" r="3"/>',
            f'  <path class="call" d="{path}"/>',
            f'  <text x="{edge}" y="{y + 4}"><tspan font-weight="600">{name}</tspan> {said}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def described(walk: Walk) -> str:
    """The rooms of a walk in words."""
    return "; ".join(
        f"{number}: {step.caller.room} calls {step.called.function} of {step.called.room}"
        for number, step in enumerate(walk.steps, start=1)
    )


def with_files(text: str, walk: Walk, entered: set[str]) -> str:
    """The page with the files below a list that its steps do not name."""
    rank = {room: place for place, row in enumerate(layers()) for room in row}
    named = {place.file for step in walk.steps for place in step[:2]}
    others = sorted(entered - named, key=lambda file: (rank[room_of(file)], file))
    said = "On the way: " + ", ".join(f"`{file}`" for file in others) + "."
    line = "\n".join(wrap(said, 108, break_on_hyphens=False, break_long_words=False))
    start, drawing, rest = text.partition(f"({walk.drawing})")
    return start + drawing + re.sub(r"(?ms)^On the way: .*?(?=\n\n)", line, rest, count=1)


def main() -> None:
    """Run all walks of the page about the design, name their files and draw them."""
    from tools.trace import calls_of, entered

    page = DOCS / "design.md"
    text = page.read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        for walk in walks(text):
            text = with_files(text, walk, entered(calls_of(walk.name, Path(folder))))
            (DOCS / walk.drawing).write_text(drawn(walk), encoding="utf-8")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
