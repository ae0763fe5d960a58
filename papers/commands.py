"""Commands about the papers: `reproduce`, `report`, `data`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rote import SettingError
from rote.cli.app import app
from rote.cli.printing import progress_bar

if TYPE_CHECKING:
    from papers.base import Settings
    from papers.data.catalog import Found


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="The name of an experiment.", show_default=False)
    ] = None,
    names: Annotated[
        bool, typer.Option("--list", help="List the experiments there are, and leave.")
    ] = False,
    every: Annotated[
        bool,
        typer.Option("--all", help="Run all of them; those that have a record are not run again."),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Take a first look: less data, under a minute.")
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(
            help="How often to repeat it, each time with other data.", show_default="its own"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of all random choices.")] = 0,
    case: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this case, of an experiment on several data sets; may be repeated.",
            show_default="all",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="The folder for the record and its figure.", file_okay=False)
    ] = Path("results"),
) -> None:
    """Run an experiment of a paper again, and say which of its claims hold."""
    from papers.base import Settings
    from papers.registry import EXPERIMENTS
    from papers.registry import reproduce as run
    from papers.show import show_record

    if names:
        table = Table("name", "what it shows", "paper", box=None, padding=(0, 2, 0, 0))
        for known in EXPERIMENTS.values():
            table.add_row(*map(Text, (known.name, known.about, known.paper)))
        Console().print(table)
        return
    if every:
        if name is not None or trials is not None or case:
            raise SettingError("a name, --trials and --case are for one experiment; not with --all")
        _reproduce_all(Settings(quick, seed=seed), out)
        return
    if name is None:
        known_names = ", ".join(EXPERIMENTS)
        raise SettingError(f"name an experiment, one of {known_names}, or say --list or --all")
    with progress_bar() as bar:
        step = bar.add_task(name, total=None)
        settings = Settings(
            quick,
            trials,
            seed,
            lambda done, of: bar.update(step, completed=done, total=of),
            tuple(case or ()),
            lambda what: bar.update(step, description=f"{name}: {what}"),
        )
        written = run(name, settings, out)
    show_record(written.record, Console(), EXPERIMENTS[name].legend)
    figure = written.missing if written.figure is None else str(written.figure)
    for said in filter(None, (f"{written.record.seconds:.1f} seconds", str(written.file), figure)):
        Console().print(Text(said), soft_wrap=True)


def _reproduce_all(settings: Settings, out: Path) -> None:
    from papers.suite import Job, jobs, reproduce_all

    todo = jobs(settings)
    failed = 0
    with progress_bar() as bar:
        whole = bar.add_task("experiments", total=len(todo))

        def watch(number: int, job: Job) -> Callable[[int, int], None]:
            bar.update(whole, completed=number)
            for over in bar.task_ids[1:]:
                bar.remove_task(over)
            each = bar.add_task(job.name, total=None)
            return lambda done, of: bar.update(each, completed=done, total=of)

        for one in reproduce_all(todo, out, watch):
            if one.record is None:
                failed += 1
                said, colour = f"failed: {' '.join(one.failure.split())}", "red"
            else:
                claims = one.record.claims
                held = sum(claim.held for claim in claims)
                how = "kept" if one.kept else f"{one.record.seconds:.1f} seconds"
                how += ", on made-up data" if one.record.is_made_up else ""
                said, colour = f"{held} of {len(claims)} claims held, {how}", ""
            Console().print(Text(f"{one.name}: {said}", style=colour), soft_wrap=True)
    there = len(todo) - failed
    Console().print(Text(f"{there} of {len(todo)} have a record in {out}"), soft_wrap=True)
    if failed:
        raise typer.Exit(1)


@app.command()
def report(
    folder: Annotated[
        Path,
        typer.Argument(help="The folder that `rote reproduce` wrote into.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page to write.", dir_okay=False, show_default="index.html in the folder"
        ),
    ] = None,
) -> None:
    """Build one page of HTML from records: claims, tables and figures, ours beside the papers'."""
    from papers.report import write_report

    written = write_report(folder, out)
    for problem in written.problems:
        Console(stderr=True).print(Text(f"rote: {problem}", style="yellow"), soft_wrap=True)
    held, claims = written.claims
    made = f"records: {written.records}, figures: {written.figures}"
    said = f"{made}, claims held: {held} of {claims}"
    for line in (said, str(written.file)):
        Console().print(Text(line), soft_wrap=True)


@app.command()
def data(
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Also read the files, and check that they are the right ones."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is there as JSON.")] = False,
) -> None:
    """List the data sets: which are here, which are missing, and where people get those."""
    from papers.data.catalog import look

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
    from papers.data.catalog import Presence
    from papers.data.folder import VARIABLE

    table = Table("name", "what it is", "state", box=None, padding=(0, 2, 0, 0))
    for one in found:
        state = one.state.value
        if one.state is Presence.DIFFERS:
            state = f"{state}: {', '.join(one.files)}"
        table.add_row(*map(Text, (one.entry.name, one.entry.about, state)))
    console.print(table)
    missing = [one for one in found if one.state is Presence.MISSING]
    if not missing:
        return
    root = os.environ.get(VARIABLE)
    where = f"{VARIABLE} is not set, so all are missing"
    if root:
        is_folder = Path(root).expanduser().is_dir()
        where = f"{VARIABLE} is {root}{'' if is_folder else ', and there is no such folder'}"
    console.print(
        Text(f"\n{where}. A set goes into a folder of its name there; people get it from:\n")
    )
    sources = Table.grid(padding=(0, 2))
    for one in missing:
        files = ", ".join(one.files)
        said = f"{one.entry.where}\nlicence: {one.entry.licence}\nmissing: {files}\n"
        sources.add_row(Text(one.entry.name), Text(said))
    console.print(sources)
