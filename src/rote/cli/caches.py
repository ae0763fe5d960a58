"""Commands about what amortized inference remembers: `cache info`, `clear` and `export`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rote.cli.app import app
from rote.cli.printing import show_pairs

if TYPE_CHECKING:
    from rote.inference.stores import LogSize


NAME_SHOWN = 32  # characters of a log's name

cache = typer.Typer(
    help="Look at what amortized inference remembers, forget it, or take it elsewhere.",
    no_args_is_help=True,
)
app.add_typer(cache, name="cache")
StoreAddress = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="sqlite:PATH, a path that ends in .sqlite, .sqlite3 or .db, or redis://…",
        show_default=False,
    ),
]


@cache.command()
def info(
    store: StoreAddress,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List the logs of a store: what is remembered of each feasible set."""
    from rote.inference.stores import open_store
    from rote.io.text import json_text

    with open_store(store, existing=True) as opened:
        logs = opened.info()
    if as_json:
        records = [
            {"log": log, "entries": there.blobs, "bytes": there.size} for log, there in logs.items()
        ]
        typer.echo(json_text(records, indent=2))
    else:
        _show_logs(logs, Console())


@cache.command()
def clear(
    store: StoreAddress,
    log: Annotated[
        str | None,
        typer.Option(help="Only this log: its name, or a unique prefix of it.", show_default="all"),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
) -> None:
    """Forget what is in one log of a store, or in all of them."""
    from rote.inference.stores import log_named, open_store

    with open_store(store, existing=True) as opened:
        name = None if log is None else log_named(opened, log)
        entries = sum(size.blobs for one, size in opened.info().items() if name in (None, one))
        if not yes:
            typer.confirm(f"Entries to forget: {entries}. Go on?", abort=True)
        opened.clear(name)
    typer.echo(f"forgot {entries} {'entry' if entries == 1 else 'entries'}")


@cache.command()
def export(
    store: StoreAddress,
    file: Annotated[
        Path, typer.Argument(help="The file to write, JSON lines.", show_default=False)
    ],
) -> None:
    """Write all that a store remembers to a file, one entry per line."""
    from rote.inference.stores import open_store
    from rote.inference.stores.export import export as write

    with open_store(store, existing=True) as opened:
        written = write(opened, file)
    show_pairs({"entries": written.entries, "damaged, left out": written.damaged}, Console())


def _show_logs(logs: Mapping[str, LogSize], console: Console) -> None:
    from rich.filesize import decimal

    table = Table("log", box=None, padding=(0, 2, 0, 0))
    table.add_column("entries", justify="right")
    table.add_column("size", justify="right")
    for log, there in sorted(logs.items(), key=lambda item: -item[1].size):
        short = log if len(log) <= NAME_SHOWN else f"{log[:NAME_SHOWN]}…"
        # A name may be any string; what a terminal would take as a command is written out.
        name = ascii(short)[1:-1] if not short.isprintable() else short
        table.add_row(Text(name), str(there.blobs), decimal(there.size))
    entries, size = (sum(column) for column in zip((0, 0), *logs.values(), strict=True))
    table.add_row(f"{len(logs)} in all", str(entries), decimal(size))
    console.print(table)
