"""Commands about what amortized inference remembers: `cache info`, `clear` and `export`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rote.cli.app import AsJson, app, option
from rote.cli.printing import listing, show_pairs

if TYPE_CHECKING:
    from rote.inference.stores import ShelfSize


NAME_SHOWN = 32  # characters of a shelf's name

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
    """List the shelves of a store: what is remembered of each feasible set."""
    from rote.inference.stores import open_store
    from rote.io.text import json_text

    with open_store(store, existing=True) as opened:
        shelves = opened.info()
    if as_json:
        records = [
            {"shelf": shelf, "entries": there.packs, "bytes": there.size}
            for shelf, there in shelves.items()
        ]
        typer.echo(json_text(records, indent=2))
    else:
        _show_shelves(shelves, Console())


@cache.command()
def clear(
    store: StoreAddress,
    shelf: Annotated[
        str | None, option("Only this shelf: its name, or a unique prefix of it.")
    ] = None,
    yes: Annotated[bool, option("Do not ask first.", "--yes")] = False,
) -> None:
    """Forget what lies on one shelf of a store, or on all of them."""
    from rote.inference.stores import open_store, shelf_called

    with open_store(store, existing=True) as opened:
        name = None if shelf is None else shelf_called(opened, shelf)
        entries = sum(size.packs for one, size in opened.info().items() if name in (None, one))
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
    from rote.inference.stores import open_store
    from rote.inference.stores.export import export as write

    with open_store(store, existing=True) as opened:
        written = write(opened, file)
    show_pairs({"entries": written.entries, "damaged, left out": written.damaged}, Console())


def _show_shelves(shelves: Mapping[str, ShelfSize], console: Console) -> None:
    from rich.filesize import decimal

    rows = []
    for shelf, there in sorted(shelves.items(), key=lambda item: -item[1].size):
        short = shelf if len(shelf) <= NAME_SHOWN else f"{shelf[:NAME_SHOWN]}…"
        # A name may be any string; what a terminal would take as a command is written out.
        name = ascii(short)[1:-1] if not short.isprintable() else short
        rows.append((name, there.packs, decimal(there.size)))
    entries, size = (sum(column) for column in zip((0, 0), *shelves.values(), strict=True))
    rows.append((f"{len(shelves)} in all", entries, decimal(size)))
    console.print(listing(["shelf", "entries", "size"], rows))
