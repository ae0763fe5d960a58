"""A bar with the time left, on standard error in a terminal, below the cell in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from time import monotonic

SECONDS = 0.2  # between two looks of a bar in a notebook
COLUMNS = 100  # of text that a notebook shows


@contextmanager
def progress_of(
    name: str, total: int | None, completed: int = 0, *, only_seen: bool = False
) -> Iterator[Callable[..., None]]:
    """What is called with how much is done, a text, and the total where it has changed.

    With ``only_seen``, there is no bar where nobody looks, such as in a file.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", table_column=Column(min_width=len(name), no_wrap=True)),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[said]}", table_column=Column(no_wrap=True)),
    )
    errors = Console(stderr=True)
    if errors.is_jupyter:
        # Rich has widgets for notebooks, which need another package; its text needs none.
        from IPython.display import display

        text = Console(file=StringIO(), force_jupyter=False, width=COLUMNS)
        bar = Progress(*columns, console=text, auto_refresh=False)
        area, last = display({"text/plain": ""}, raw=True, display_id=True), -SECONDS

        def show(*, now: bool = False) -> None:
            nonlocal last
            if now or monotonic() - last >= SECONDS:
                last = monotonic()
                with text.capture() as captured:
                    text.print(bar.get_renderable())
                area.update({"text/plain": captured.get().rstrip()}, raw=True)
    else:
        bar = Progress(*columns, console=errors, disable=only_seen and not errors.is_terminal)
        bar.start()

        def show(*, now: bool = False) -> None:
            """Nothing: Rich draws this bar by itself, in a thread of its own."""

    row = bar.add_task(name, total=total, completed=completed, said="")

    def update(completed: int, said: str = "", total: int | None = None) -> None:
        bar.update(row, completed=completed, said=said)
        if total is not None:
            bar.update(row, total=total)
        show()

    try:
        yield update
    finally:
        show(now=True)
        bar.stop()
