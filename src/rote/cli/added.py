"""Commands that other packages add, by an entry point in the group `rote.commands`.

Importing the module that an entry point names adds its commands to `rote.cli.app.app`. The studies
of the papers come that way: `reproduce`, `report` and `data`. Where they are not installed, or
cannot be imported, each of these commands says so when it is called.
"""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from rote.cli.app import app
from rote.errors import MissingDependency

GROUP = "rote.commands"
STUDIES = {
    "reproduce": "Run an experiment of a paper again, and say which of its claims hold.",
    "report": "Build one page of HTML from records: claims, tables and figures.",
    "data": "List the data sets: which are here, and where people get the others.",
}


def add_commands() -> None:
    """Add what installed packages bring, and a sentence in place of each study that is missing."""
    why = "are not installed; run: pip install ./papers in a checkout of rote"
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:  # noqa: BLE001 - no other command is to fail with this package
            why = f"cannot be imported from {entry.value}: {error}"
    there = {one.name or getattr(one.callback, "__name__", "") for one in app.registered_commands}
    for name in [name for name in STUDIES if name not in there]:
        _add_missing(name, why)


def _add_missing(name: str, why: str) -> None:
    @app.command(
        name,
        help=f"{STUDIES[name]} (It cannot be used here: the studies of the papers {why})",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def missing(_context: typer.Context) -> None:
        raise MissingDependency(
            f"rote {name} is one of the studies of the papers, which {' '.join(why.split())}"
        )


add_commands()
