"""Commands about models: `train`, `predict`, `evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import rote
from rote.cli.app import app
from rote.cli.engines import ANYTIME, UNTIMED, engine_named, store_at
from rote.cli.printing import show_pairs
from rote.errors import SettingError, check_whole

if TYPE_CHECKING:
    from rote.evaluation.files import Scores


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
            help="Examples. tagging: a line per token, columns apart by tabs or blanks, the last "
            "one the label, and a blank line after each sentence. entity-relation: the format of "
            'conll04. multiclass: a line {"x": ["red", "round"], "y": "apple"} for each; "x" may '
            'also be {"red": 0.5} or [0.5, 2.0]. multilabel: the same with "y": ["apple", "red"].',
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

    if resume and checkpoint is None:
        raise SettingError("--resume goes on from a file; name it with --checkpoint FILE")
    if around is not None:
        check_whole("--around", around, least=1)
    settings = TaskSettings(
        order=order,
        bio=bio or None,
        columns=None if columns is None else tuple(columns.split(",")),
        templates=None if templates is None else read_templates(templates),
        pairs=pairs,
    )
    chosen = engine_named(engine, None)
    remembering = None
    if cache is not None:
        chosen = remembering = rote.Amortized(chosen, store_at(cache))
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
    show_pairs(known, Console())


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

    text = predict_file(model, file, None if cache is None else store_at(cache))
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
    show_pairs({"examples": scores.examples, **numbers}, console)
    for name, table in scores.tables.items():
        shown = Table(name, "precision", "recall", "F1", "true", "predicted", box=None)
        shown.padding = (0, 2, 0, 0)
        rows = [*table.by_label.items(), ("all", table.micro), ("mean", table.macro)]
        for label, f1 in rows:
            ratios = [f"{ratio:.4f}" for ratio in (f1.precision, f1.recall, f1.f1)]
            shown.add_row(Text(str(label)), *ratios, str(f1.true), str(f1.predicted))
        console.print()
        console.print(shown)
