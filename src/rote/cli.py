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
    from rich.progress import Progress

    from rote.data.catalog import Found
    from rote.evaluation.files import Scores
    from rote.experiments.base import Settings
    from rote.inference.amortized.stores import ShelfSize, Store
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
    "greedy": rote.RGS,
}

NAME_SHOWN = 32  # characters of a shelf's name

app = typer.Typer(
    help="Structured prediction under constraints: the best output that obeys your rules.",
    no_args_is_help=True,
    add_completion=False,
)
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


@app.command()
def train(
    task: Annotated[
        str,
        typer.Argument(
            help="tagging, entity-relation, multilabel or multiclass.", show_default=False
        ),
    ],
    file: Annotated[
        Path,
        typer.Argument(
            help="Examples: columns for tagging and entity-relation, JSON lines for the others.",
            show_default=False,
        ),
    ],
    model: Annotated[
        Path, typer.Option(help="The folder to save the model into.", show_default=False)
    ],
    learner: Annotated[
        str, typer.Option(help="Who learns: svm, perceptron, local or subgradient.")
    ] = "svm",
    engine: Annotated[
        str, typer.Option(help=f"What to solve with: {', '.join([*ANYTIME, *UNTIMED])}.")
    ] = "exact",
    cache: Annotated[
        str | None,
        typer.Option(
            help="Remember what is slow to solve in a store: FILE.sqlite, redis://HOST or memory."
        ),
    ] = None,
    around: Annotated[
        int | None,
        typer.Option(
            help="Learn only from outputs with at most so many other labels than the right one.",
            show_default=False,
        ),
    ] = None,
    C: Annotated[  # noqa: N803
        float | None,
        typer.Option(
            "--C", help="How much mistakes weigh, for svm and subgradient; 0.1 if not given."
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="At most so many passes; else as many as the learner makes.")
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(help="Tagging: labels before a token that are looked at; 1 if not given."),
    ] = None,
    bio: Annotated[
        bool, typer.Option("--bio", help="Tagging: I-X may follow only B-X and I-X.")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(help="Tagging: names of all columns but the label; else word,pos,c2,…"),
    ] = None,
    templates: Annotated[
        Path | None, typer.Option(help="Tagging: a file of feature templates, one per line.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(help="Multilabel: complete scores every two labels together, or none."),
    ] = None,
    allow_broken: Annotated[
        bool, typer.Option("--allow-broken", help="Take examples that break a rule, too.")
    ] = False,
    dev: Annotated[
        Path | None, typer.Option(help="Other examples, to evaluate the model on.")
    ] = None,
    allow_unknown: Annotated[
        bool,
        typer.Option("--allow-unknown", help="Dev labels that are not in FILE count as missed."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Where the order of examples is drawn from.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Threads that look for outputs, for svm; 1 if not given.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file to write the state to after every iteration.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint, if it is there.")
    ] = False,
) -> None:
    """Learn a model from a file of examples and save it into a folder."""
    from rote.evaluation.files import evaluate as scores_of
    from rote.learning.files import TaskSettings, learner_of, read_templates, train_file

    settings = TaskSettings(
        order=order,
        bio=bio or None,
        columns=None if columns is None else tuple(columns.split(",")),
        templates=None if templates is None else read_templates(templates),
        pairs=pairs,
    )
    chosen = _engine(engine, None)
    remembering = None
    if cache is not None:
        chosen = remembering = rote.Amortized(chosen, _store(cache))
    if around is not None:
        chosen = rote.Decomposed(chosen, rote.Subsets(around))
    trained = train_file(
        task,
        file,
        model,
        settings=settings,
        learner=learner_of(learner, C=C, iterations=iterations, seed=seed, n_jobs=jobs),
        engine=chosen,
        dev=dev,
        allow_unknown=allow_unknown,
        allow_broken=allow_broken,
        progress=True,
        checkpoint=checkpoint,
        resume=resume,
    )
    known = {
        "examples": trained.examples,
        "features": trained.features,
        "weights": trained.model.layout.size,
        "seconds": round(trained.seconds, 1),
    }
    known |= {name: float(f"{number:.6g}") for name, number in trained.measures.items()}
    if remembering is not None:
        counters = remembering.counters
        known |= {"inferences": counters.queries, "solved": counters.solver_calls}
    if trained.dev is not None:
        scores = scores_of(trained.model, trained.dev, allow_unknown=allow_unknown)
        known |= {f"dev {name}": round(number, 4) for name, number in scores.numbers.items()}
    _show_pairs(known, Console())


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="The folder of a saved model.", show_default=False)],
    file: Annotated[
        Path, typer.Argument(help="Inputs, as `rote train` reads them.", show_default=False)
    ],
    out: Annotated[str, typer.Option(help="The file to write; - is the standard output.")] = "-",
    cache: Annotated[
        str | None,
        typer.Option(
            help="Remember what is slow to solve in a store: FILE.sqlite, redis://HOST or memory."
        ),
    ] = None,
) -> None:
    """Write what a model says of the inputs of a file."""
    from rote.learning.files import predict_file, write_outputs

    text = predict_file(model, file, None if cache is None else _store(cache))
    if out == "-":
        typer.echo(text, nl=False)
    else:
        write_outputs(text, out)


@app.command()
def evaluate(
    model: Annotated[Path, typer.Argument(help="The folder of a saved model.", show_default=False)],
    file: Annotated[
        Path, typer.Argument(help="Examples, as `rote train` reads them.", show_default=False)
    ],
    allow_unknown: Annotated[
        bool,
        typer.Option("--allow-unknown", help="Count labels the model does not know as missed."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Say how well a model does on the examples of a file."""
    from rote.evaluation.files import evaluate_file

    scores = evaluate_file(model, file, allow_unknown=allow_unknown)
    if as_json:
        typer.echo(json.dumps(scores.record(), indent=2))
    else:
        _show_scores(scores, Console())


def _show_scores(scores: Scores, console: Console) -> None:
    numbers = {name: f"{number:.4f}" for name, number in scores.numbers.items()}
    _show_pairs({"examples": scores.examples, **numbers}, console)
    for name, table in scores.tables.items():
        shown = Table(name, "precision", "recall", "F1", "true", "predicted", box=None)
        shown.padding = (0, 2, 0, 0)
        rows = [*table.by_label.items(), ("all", table.micro), ("mean", table.macro)]
        for label, f1 in rows:
            ratios = [f"{ratio:.4f}" for ratio in (f1.precision, f1.recall, f1.f1)]
            shown.add_row(Text(str(label)), *ratios, str(f1.true), str(f1.predicted))
        console.print()
        console.print(shown)


def _show_pairs(known: Mapping[str, object], console: Console) -> None:
    grid = Table.grid(padding=(0, 2))
    for name, said in known.items():
        grid.add_row(name, str(said))
    console.print(grid)


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
        typer.Option("--all", help="Run all of them; stopped, it goes on where it was."),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Take a first look: less data, under a minute.")
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(help="How often to repeat it with other data.", show_default="its own"),
    ] = None,
    seed: Annotated[int, typer.Option(help="What random choices begin from.")] = 0,
    case: Annotated[
        list[str] | None,
        typer.Option(help="Only this case, of an experiment on several.", show_default="all"),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="The folder for the record and its figure.", file_okay=False)
    ] = Path("results"),
) -> None:
    """Run an experiment of a paper again, and say which of its claims hold."""
    from rote.experiments.base import Settings
    from rote.experiments.registry import EXPERIMENTS
    from rote.experiments.registry import reproduce as run
    from rote.experiments.show import show_record

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
    with _bar() as bar:
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


@app.command()
def serve(
    model: Annotated[Path, typer.Argument(help="The folder of a saved model.", show_default=False)],
    host: Annotated[
        str, typer.Option(help="The address to listen on; others than this machine: 0.0.0.0.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 is any that is free.")] = 8000,
    engine: Annotated[
        str,
        typer.Option(
            help="amortized: the model's own engine, under a memory. speedup: a search that learns "
            f"from it. Or one without memory: {', '.join([*ANYTIME, *UNTIMED])}."
        ),
    ] = "amortized",
    store: Annotated[
        str | None,
        typer.Option(help="Remember answers beyond a restart: FILE.sqlite or redis://HOST."),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="Of the inputs, how many speedup learns from; 0.05 if not given."),
    ] = None,
    learned: Annotated[
        Path | None,
        typer.Option(help="The folder where what speedup has learned is kept.", file_okay=False),
    ] = None,
) -> None:
    """Answer requests with a model over HTTP, and show on a page what that costs."""
    from rote.serve.engines import AMORTIZED, SPEEDUP, open_service
    from rote.serve.run import check_extra
    from rote.serve.run import serve as run

    check_extra()
    remembering = (AMORTIZED, SPEEDUP)
    chosen = engine if engine in remembering else _engine(engine, None, remembering)
    service = open_service(model, chosen, store=store, share=share, learned=learned)
    run(
        service,
        host,
        port,
        lambda address: typer.echo(
            f"{service.name} is served by {service.engine} at {address}; stop with Ctrl-C"
        ),
    )


def _bar() -> Progress:
    """Progress on the error stream, where there is somebody to look at it."""
    from rich.progress import Progress

    errors = Console(stderr=True)
    return Progress(
        console=errors,
        transient=True,
        # What is printed meanwhile goes above the bar, unless it goes elsewhere.
        redirect_stdout=sys.stdout.isatty(),
        disable=not errors.is_terminal,
    )


def _reproduce_all(settings: Settings, out: Path) -> None:
    from rote.experiments.suite import Job, jobs, reproduce_all

    todo = jobs(settings)
    failed = 0
    with _bar() as bar:
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
        typer.Option(help="The page to write.", dir_okay=False, show_default="DIR/index.html"),
    ] = None,
) -> None:
    """Build one page of HTML from records: claims, tables and figures, ours beside the papers'."""
    from rote.report import write_report

    written = write_report(folder, out)
    for problem in written.problems:
        Console(stderr=True).print(Text(f"rote: {problem}", style="yellow"), soft_wrap=True)
    held, claims = written.claims
    said = f"{written.records} records, {written.figures} figures, {held} of {claims} claims held"
    for line in (said, str(written.file)):
        Console().print(Text(line), soft_wrap=True)


@cache.command()
def info(
    store: StoreAddress,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List the shelves of a store: what is remembered of each feasible set."""
    from rote.inference.amortized.stores import open_store

    with open_store(store, existing=True) as opened:
        shelves = opened.info()
    if as_json:
        records = [
            {"shelf": shelf, "entries": there.packs, "bytes": there.size}
            for shelf, there in shelves.items()
        ]
        typer.echo(json.dumps(records, indent=2))
    else:
        _show_shelves(shelves, Console())


@cache.command()
def clear(
    store: StoreAddress,
    shelf: Annotated[
        str | None,
        typer.Option(help="Only this shelf: its name, or how no other begins.", show_default="all"),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
) -> None:
    """Forget what lies on one shelf of a store, or on all of them."""
    from rote.inference.amortized.stores import open_store, shelf_called

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
    file: Annotated[
        Path, typer.Argument(help="The file to write, JSON lines.", show_default=False)
    ],
) -> None:
    """Write all that a store remembers to a file, one entry per line."""
    from rote.inference.amortized.stores import open_store
    from rote.inference.amortized.stores.export import export as write

    with open_store(store, existing=True) as opened:
        written = write(opened, file)
    _show_pairs({"entries": written.entries, "damaged, left out": written.damaged}, Console())


def _show_shelves(shelves: Mapping[str, ShelfSize], console: Console) -> None:
    from rich.filesize import decimal

    table = Table("shelf", box=None, padding=(0, 2, 0, 0))
    table.add_column("entries", justify="right")
    table.add_column("size", justify="right")
    for shelf, there in sorted(shelves.items(), key=lambda item: -item[1].size):
        short = shelf if len(shelf) <= NAME_SHOWN else f"{shelf[:NAME_SHOWN]}…"
        # A name may be any string; what a terminal would take as a command is written out.
        name = ascii(short)[1:-1] if not short.isprintable() else short
        table.add_row(Text(name), str(there.packs), decimal(there.size))
    entries, size = (sum(column) for column in zip((0, 0), *shelves.values(), strict=True))
    table.add_row(f"{len(shelves)} in all", str(entries), decimal(size))
    console.print(table)


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
    from rote.data.catalog import Presence
    from rote.data.folder import VARIABLE

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


def _engine(name: str, seconds: float | None, others: Sequence[str] = ()) -> rote.Engine:
    if name in ANYTIME:
        return ANYTIME[name](time_limit=seconds)
    if name not in UNTIMED:
        known = ", ".join([*others, *ANYTIME, *UNTIMED])
        raise SettingError(f"--engine is one of {known}; got {name!r}")
    if seconds is not None:
        raise SettingError(
            f"--engine {name} cannot stop early; leave --time-limit out, or use "
            f"{' or '.join(ANYTIME)}"
        )
    return UNTIMED[name]()


def _store(address: str) -> Store:
    from rote.inference.amortized.stores import open_store

    return open_store(address)


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
