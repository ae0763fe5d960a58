"""The command line: parse, make one library call, print. Nothing is decided here.

What rote raises on purpose becomes one red line on the error stream and exit code 2.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import rote
from rote.errors import RoteError, SettingError

if TYPE_CHECKING:
    from rote.data.catalog import Found
    from rote.tasks.tables import FileAnswer

# What --engine knows: first those that can stop early, then those that cannot.
ANYTIME: Mapping[str, Callable[..., rote.Engine]] = {
    "exact": rote.Exact,
    "branch": rote.BranchAndBound,
    "milp": rote.Milp,
    "gurobi": partial(rote.Milp, solver="gurobi"),
}
UNTIMED: Mapping[str, Callable[[], rote.Engine]] = {
    "elimination": rote.Elimination,
    "chain": rote.Chain,
    "tree": rote.Tree,
    "separable": rote.Separable,
    "exhaustive": rote.Exhaustive,
}

app = typer.Typer(
    help="Structured prediction under constraints: the best output that obeys your rules.",
    no_args_is_help=True,
    add_completion=False,
)


def main() -> None:
    """Run the command line and leave the process."""
    try:
        app()
    except RoteError as error:
        sentence = " ".join(str(error).split())
        Console(stderr=True).print(Text(f"rote: {sentence}", style="red"), soft_wrap=True)
        sys.exit(2)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rote {rote.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    pass


@app.command()
def demo() -> None:
    """Read a sentence with and without rules, and show what the rules changed."""
    from rote.tasks.demo import demo as run
    from rote.tasks.demo import render

    render(run(), Console())


@app.command()
def solve(
    file: Annotated[
        Path,
        typer.Argument(
            help="A problem in the UAI, WCSP or CFN format, plain or compressed.",
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
            help="Labels that are given, for a UAI file.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Find the best output of a problem file, and say what is known of it."""
    from rote.tasks.tables import solve_file

    answer = solve_file(file, engine=_engine(engine, time_limit), evidence=evidence)
    if as_json:
        typer.echo(json.dumps(_record(answer), indent=2))
    else:
        _show(answer, Console())


@app.command()
def data(
    check: Annotated[
        bool, typer.Option("--check", help="Read the files too, and compare their digests.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is there as JSON.")] = False,
) -> None:
    """List the data sets: which are here, which are missing, and where people get those."""
    from rote.data.catalog import look

    found = look(check=check)
    if as_json:
        typer.echo(json.dumps([_data_record(one) for one in found], indent=2))
    else:
        _show_data(found, Console())


def _data_record(found: Found) -> dict[str, object]:
    entry = found.entry
    return {
        "name": entry.name,
        "about": entry.about,
        "counts": entry.counts,
        "state": found.state.value,
        "files": dict(entry.files),
        "missing or differing": list(found.files),
        "where": entry.where,
        "licence": entry.licence,
    }


def _show_data(found: Sequence[Found], console: Console) -> None:
    from rote.data.catalog import State
    from rote.data.folder import VARIABLE

    table = Table("name", "what it is", "state", box=None, padding=(0, 2, 0, 0))
    for one in found:
        state = one.state.value
        if one.state is State.DIFFERS:
            state = f"{state}: {', '.join(one.files)}"
        table.add_row(*map(Text, (one.entry.name, one.entry.about, state)))
    console.print(table)
    missing = [one for one in found if one.state is State.MISSING]
    if not missing:
        return
    root = os.environ.get(VARIABLE)
    where = f"{VARIABLE} is {root}" if root else f"{VARIABLE} is not set, so all are missing"
    console.print(
        Text(f"\n{where}. A set goes into a folder of its name there; people get it from:\n")
    )
    sources = Table.grid(padding=(0, 2))
    for one in missing:
        files = ", ".join(one.files)
        said = f"{one.entry.where}\nlicence: {one.entry.licence}\nmissing: {files}\n"
        sources.add_row(Text(one.entry.name), Text(said))
    console.print(sources)


def _engine(name: str, seconds: float | None) -> rote.Engine:
    if name in ANYTIME:
        return ANYTIME[name](time_limit=seconds)
    if name not in UNTIMED:
        known = ", ".join([*ANYTIME, *UNTIMED])
        raise SettingError(f"--engine is one of {known}; got {name!r}")
    if seconds is not None:
        raise SettingError(
            f"--engine {name} cannot stop early; leave --time-limit out, or use "
            f"{' or '.join(ANYTIME)}"
        )
    return UNTIMED[name]()


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
