"""How docstrings become pages of the reference: an extension of griffe, which mkdocstrings reads.

Docstrings are Markdown with numpydoc sections, and examples for doctest. On the way:

- an example, from a line that starts with ``>>>`` to the next blank line, is put into a fenced
  block, or Markdown would take it for a quotation; what doctest alone needs is left out;
- examples below a section, such as Parameters, get a section of their own;
- a named tuple has a signature, as a dataclass has;
- a field without a docstring is not listed below its class, whose signature has it already;
- a module of imports alone exports all of them;
- a name that a package exports is what it imports, also where a module of it has the same name.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^[A-Z][a-z ]+\n---+$", re.MULTILINE)
PROMPT = ">>>"
BLANK = "<BLANKLINE>"


def readable(text: str) -> str:
    """A docstring as griffe and Markdown read it."""
    section = SECTION.search(text)
    if section is None:
        return fenced(text)
    start, rest = text[: section.start()], text[section.start() :]
    if "Examples\n---" not in rest:
        rest = re.sub(rf"^(?={PROMPT})", "Examples\n--------\n", rest, count=1, flags=re.MULTILINE)
    return fenced(start) + ("\n" if start else "") + rest


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
            obj.docstring.value = readable(obj.docstring.value)

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        if not mod.exports and all(member.is_alias for member in mod.members.values()):
            mod.exports = list(mod.members)  # not later: others import all names of it

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        _follow_imports(pkg)
        for name in pkg.exports or ():
            member = pkg.members.get(str(name))
            if member is not None and member.is_alias and member.is_module:  # as it was before
                pkg.del_member(name)
                pkg.set_member(name, griffe.Alias(name, member.target_path))
        _sign_tuples(pkg)
        _drop_fields(pkg)  # not sooner: signatures of dataclasses are made of their fields


def _follow_imports(package: griffe.Module) -> None:
    for name, member in list(package.members.items()):
        if member.is_alias or not isinstance(member, griffe.Module):
            continue
        if name in (package.exports or ()) and name in package.imports:
            package.del_member(name)
            package.set_member(name, griffe.Alias(name, package.imports[name]))
        else:
            _follow_imports(member)


def _sign_tuples(parent: griffe.Module | griffe.Class) -> None:
    for member in list(parent.members.values()):
        if member.is_alias or not isinstance(member, griffe.Module | griffe.Class):
            continue
        _sign_tuples(member)
        if isinstance(member, griffe.Class) and "NamedTuple" in map(str, member.bases):
            member.labels.add("dataclass")  # its fields are those of one
            given = griffe.ParameterKind.positional_or_keyword
            fields = [
                griffe.Parameter(
                    field.name, annotation=field.annotation, kind=given, default=field.value
                )
                for field in member.attributes.values()
                if field.annotation is not None and "property" not in field.labels
            ]
            own = griffe.Parameter("self", kind=given)
            init = griffe.Function("__init__", parameters=griffe.Parameters(own, *fields))
            member.set_member("__init__", init)


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
