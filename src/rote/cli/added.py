"""Commands that other packages add, by an entry point in the group `rote.commands`.

Importing the module that an entry point names adds its commands to `rote.cli.app.app`. The studies
of the papers come that way: `reproduce`, `report` and `data`. Where they are not installed, these
commands say how to get them.
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
    for entry in entry_points(group=GROUP):
        entry.load()
    there = {
        command.name or command.callback.__name__
        for command in app.registered_commands
        if command.callback is not None
    }
    for name, about in STUDIES.items():
        if name not in there:
            _add_missing(name, about)


def _add_missing(name: str, about: str) -> None:
    @app.command(
        name,
        help=f"{about} (Not installed: it comes with a checkout of rote.)",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def missing(_context: typer.Context) -> None:
        raise MissingDependency(
            f"rote {name} is one of the studies of the papers, which are not installed; "
            "run: pip install ./papers in a checkout of rote"
        )


add_commands()
