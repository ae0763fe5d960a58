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
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rote.cli.app import app
from rote.cli.engines import ANYTIME, UNTIMED, engine_named

if TYPE_CHECKING:
    from rote.tasks.network_files import FileAnswer


@app.command()
def demo() -> None:
    """Read a sentence with and without rules, and show what the rules changed."""
    from rote.cli.demo import demo as run
    from rote.cli.demo import render

    render(run(), Console())


@app.command()
def solve(
    file: Annotated[
        Path,
        typer.Argument(
            help="A problem: a file in .uai, .wcsp or .cfn, plain or with .gz or .xz behind it.",
            exists=True,
            dir_okay=False,
            readable=True,
            show_default=False,
        ),
    ],
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Stop after about this many seconds, with the best output so far.", min=0.001
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(help=f"What to solve with: {', '.join([*ANYTIME, *UNTIMED])}.")
    ] = "exact",
    evidence: Annotated[
        Path | None,
        typer.Option(
            help="A file that fixes the labels of some variables, for a .uai file.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Find the best output of a problem file, and say what is known of it."""
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
    numbers = {
        name: number if number is not None and isfinite(number) else None
        for name, number in (
            ("value", answer.value),
            ("bound", answer.bound),
            ("cost", answer.cost),
        )
    }
    return {
        "labels": dict(answer.labels),
        **numbers,
        "status": answer.status.name.lower(),
        "source": answer.source.name.lower(),
        "seconds": answer.seconds,
    }


def _show(answer: FileAnswer, console: Console) -> None:
    known = Table.grid(padding=(0, 2))
    for name, said in _record(answer).items():
        if name != "labels" and said is not None:
            known.add_row(name, f"{said:.10g}" if isinstance(said, float) else str(said))
    console.print(known)
    labels = Table("variable", "label", box=None, padding=(0, 2, 0, 0))
    for name, label in answer.labels.items():
        labels.add_row(Text(name), Text(label))
    if answer.labels:
        console.print(labels)
