"""Write the lists of docs/reference/index.md anew: every promised name, with a link to it.

python -m tools.reference
"""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
INDEX = ROOT / "docs" / "reference" / "index.md"
# The namespaces whose names are promised; deeper paths stay importable and may change.
PROMISED = (
    "rote",
    "rote.engines",
    "rote.stores",
    "rote.tasks",
    "rote.features",
    "rote.learners",
    "rote.losses",
    "rote.metrics",
    "rote.viz",
    "rote.io",
    "rote.datasets",
    "rote.types",
    "rote.sklearn",
    "rote.torch",
    "rote.adapters.gliner2",
    "rote.adapters.huggingface",
    "rote.adapters.llm",
    "rote.adapters.spacy",
    "rote.serve",
)


def promised() -> dict[str, list[str]]:
    """The names that each promised namespace exports, read and not imported.

    They stand in ``__all__``, or where there is none, are imported as themselves.
    """
    found: dict[str, list[str]] = {}
    for module in PROMISED:
        stem = SOURCE.joinpath(*module.split("."))
        path = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
        names = []
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            match node:
                case ast.Assign(targets=[ast.Name("__all__")], value=ast.List()):
                    names = ast.literal_eval(node.value)
                case ast.ImportFrom():
                    names += [alias.name for alias in node.names if alias.asname == alias.name]
        found[module] = sorted((name for name in names if name[:2] != "__"), key=str.lower)
    return found


def lists() -> str:
    """A section for each namespace."""
    sections = []
    for module, names in promised().items():
        links = ", ".join(f"[`{name}`][{module}.{name}]" for name in names)
        lines = wrap(f"{links}.", 100, break_long_words=False, break_on_hyphens=False)
        sections.append("\n".join((f"## `{module}`", "", *lines)))
    return "\n\n".join(sections) + "\n"


def main() -> None:
    """Keep what stands before the first list, and write all lists."""
    text = INDEX.read_text(encoding="utf-8")
    INDEX.write_text(text[: text.index("## `rote`")] + lists(), encoding="utf-8")


if __name__ == "__main__":
    main()
