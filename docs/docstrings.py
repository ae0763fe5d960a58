"""How docstrings become pages of the reference: an extension of griffe, which mkdocstrings reads.

Docstrings are Markdown, with examples for doctest. Three things are changed on the way:

- an example, from a line that starts with ``>>>`` to the next blank line, is put into a fenced
  block, or Markdown would take it for a quotation; what doctest alone needs is left out;
- a field without a docstring is not listed below its class, whose signature has it already;
- a namespace that works out its ``__all__`` exports what it imports.
"""

from __future__ import annotations

from typing import Any

import griffe

PROMPT = ">>>"
BLANK = "<BLANKLINE>"


def fenced(text: str) -> str:
    """The text with its examples in fenced blocks."""
    lines: list[str] = []
    inside = False
    for line in [*text.splitlines(), ""]:
        if line.startswith(PROMPT) and not inside:
            inside = True
            lines.append("```pycon")
        elif inside and not line.strip():
            inside = False
            lines.append("```")
        lines.append("" if inside and line.strip() == BLANK else line)
    return "\n".join(lines[:-1])


class Docstrings(griffe.Extension):
    """Applies these changes to all that is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        _drop_fields(pkg)  # not sooner: signatures of dataclasses are made of their fields
        for module in pkg.modules.values():
            if module.exports == []:  # of what griffe cannot read
                module.exports = [name for name, own in module.members.items() if own.is_alias]


def _drop_fields(parent: griffe.Module | griffe.Class) -> None:
    for name, member in list(parent.members.items()):
        if member.is_alias:
            continue
        if isinstance(member, griffe.Module | griffe.Class):
            _drop_fields(member)
        elif "dataclass" in parent.labels and member.is_attribute and _is_bare(member):
            parent.del_member(name)


def _is_bare(member: griffe.Object) -> bool:
    return "property" not in member.labels and member.docstring is None
