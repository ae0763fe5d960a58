"""Write the lists of docs/reference/index.md anew: every name that a package promises, with a link.

python -m tools.reference
"""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
INDEX = ROOT / "docs" / "reference" / "index.md"
HIDDEN = {"rote.cli"}  # which is for the shell


def promised() -> dict[str, list[str]]:
    """The names in ``__all__`` of each package that has one, read and not imported."""
    found: dict[str, list[str]] = {}
    for path in sorted((SOURCE / "rote").rglob("__init__.py")):
        package = ".".join(path.parent.relative_to(SOURCE).parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names = [name for name in ast.literal_eval(node.value) if not name.startswith("__")]
                if package not in HIDDEN:
                    found[package] = sorted(names, key=str.lower)
    return found


def lists() -> str:
    """A section for each package."""
    sections = []
    for package, names in promised().items():
        links = ", ".join(f"[`{name}`][{package}.{name}]" for name in names)
        lines = wrap(f"{links}.", 100, break_long_words=False, break_on_hyphens=False)
        sections.append("\n".join((f"## `{package}`", "", *lines)))
    return "\n\n".join(sections) + "\n"


def main() -> None:
    """Keep what stands before the first list, and write all lists."""
    text = INDEX.read_text(encoding="utf-8")
    INDEX.write_text(text[: text.index("## `rote`")] + lists(), encoding="utf-8")


if __name__ == "__main__":
    main()
