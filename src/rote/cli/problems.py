"""Commands about problems: `demo`, `solve`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rote.cli.app import AsJson, app, option
from rote.cli.engines import EngineName, engine_named
from rote.cli.printing import listing, show_pairs

if TYPE_CHECKING:
    from rich.console import Console

    from rote.tasks.network_files import FileAnswer


@app.command()
def demo() -> None:
    """Read a sentence with and without rules, and show what the rules changed."""
    from rich.console import Console

    from rote.cli.demo import demo as run
    from rote.cli.demo import render

    render(run(), Console())


@app.command()
def solve(
    file: Annotated[
        Path,
        typer.Argument(
            help="A problem: a file in .uai, .wcsp or .cfn, plain or with .gz or .xz behind it. - "
            "is the standard input, in any of them."
        ),
    ],
    time_limit: Annotated[
        float | None,
        option("Stop after about this many seconds, with the best output so far.", min=0.001),
    ] = None,
    engine: EngineName = "exact",
    evidence: Annotated[
        Path | None,
        option(
            "A file that fixes the labels of some variables, for a .uai file.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the best output of a problem file, and say what is known of it."""
    from rich.console import Console

    from rote.io.text import json_text
    from rote.tasks.network_files import solve_file

    with _stoppable():
        answer = solve_file(file, engine=engine_named(engine, time_limit), evidence=evidence)
    if as_json:
        typer.echo(json_text(_record(answer), indent=2))
    else:
        _show(answer, Console())


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let Ctrl-C end the process at once: kernels do not look for it, and nothing is written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _record(answer: FileAnswer) -> dict[str, object]:
    """The answer for JSON, which has no infinite numbers: they become null."""
    numbers = {name: getattr(answer, name) for name in ("value", "bound", "cost")}
    return {
        "labels": dict(answer.labels),
        **{name: n if n is not None and isfinite(n) else None for name, n in numbers.items()},
        "status": answer.status.name.lower(),
        "source": answer.source.name.lower(),
        "seconds": answer.seconds,
    }


def _show(answer: FileAnswer, console: Console) -> None:
    known = {name: said for name, said in _record(answer).items() if said is not None}
    del known["labels"]
    show_pairs(
        {name: f"{n:.10g}" if isinstance(n, float) else n for name, n in known.items()}, console
    )
    if answer.labels:
        console.print(listing(["variable", "label"], answer.labels.items()))
