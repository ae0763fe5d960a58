"""What several commands print."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table


def show_pairs(known: Mapping[str, object], console: Console) -> None:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    for name, said in known.items():
        grid.add_row(name, str(said))
    console.print(grid)


def listing(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table without lines; its texts are taken as they are, whatever Rich could read in them."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*heads, box=None, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    return table


def progress_bar() -> Progress:
    """Progress on the error stream, where there is somebody to look at it."""
    from rich.console import Console
    from rich.progress import Progress

    errors = Console(stderr=True)
    return Progress(
        console=errors,
        transient=True,
        # What is printed meanwhile goes above the bar, unless it goes into a file.
        redirect_stdout=sys.stdout.isatty(),
        disable=not errors.is_terminal,
    )
