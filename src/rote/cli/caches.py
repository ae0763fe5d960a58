"""Commands about what amortized inference remembers: `cache info`, `clear` and `export`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rote.cli.app import AsJson, app, option
from rote.cli.printing import listing, show_pairs

if TYPE_CHECKING:
    from rich.console import Console

    from rote.inference.stores import LogSize


NAME_SHOWN = 32  # characters of a log's name

cache = typer.Typer(
    help="Look at what amortized inference remembers, forget it, or export it.",
    no_args_is_help=True,
)
app.add_typer(cache, name="cache")
StoreAddress = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="sqlite:PATH, a path that ends in .sqlite, .sqlite3 or .db, or redis://…",
    ),
]


@cache.command()
def info(
    store: StoreAddress,
    as_json: AsJson = False,
) -> None:
    """List the logs of a store: what is remembered of each feasible set."""
    from rich.console import Console

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
    log: Annotated[str | None, option("Only this log: its name, or a unique prefix of it.")] = None,
    yes: Annotated[bool, option("Do not ask first.", "--yes")] = False,
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
    file: Annotated[Path, typer.Argument(help="The file to write, JSON lines.")],
) -> None:
    """Write all that a store remembers to a file, one entry per line."""
    from rich.console import Console

    from rote.inference.stores import open_store
    from rote.inference.stores.export import export as write

    with open_store(store, existing=True) as opened:
        written = write(opened, file)
    show_pairs({"entries": written.entries, "damaged, left out": written.damaged}, Console())


def _show_logs(logs: Mapping[str, LogSize], console: Console) -> None:
    from rich.filesize import decimal

    rows = []
    for log, there in sorted(logs.items(), key=lambda item: -item[1].size):
        short = log if len(log) <= NAME_SHOWN else f"{log[:NAME_SHOWN]}…"
        # A name may be any string; what a terminal would take as a command is written out.
        name = ascii(short)[1:-1] if not short.isprintable() else short
        rows.append((name, there.blobs, decimal(there.size)))
    entries, size = (sum(column) for column in zip((0, 0), *logs.values(), strict=True))
    rows.append((f"{len(logs)} in all", entries, decimal(size)))
    console.print(listing(["log", "entries", "size"], rows))
