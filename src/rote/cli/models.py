"""Commands about models: `train`, `predict`, `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import rote
from rote.cli.app import app
from rote.cli.engines import ANYTIME, UNTIMED, engine_named, learner_named, store_at
from rote.cli.printing import show_pairs
from rote.errors import SettingError, check_whole, was_interrupted

if TYPE_CHECKING:
    from rote.inference.wrappers.amortized.counters import Counters
    from rote.tasks.adapter import Scores


@app.command()
def train(
    task: Annotated[
        str,
        typer.Argument(
            help="tagging, entity-relation, multilabel, multiclass, graph or coreference.",
            show_default=False,
        ),
    ],
    file: Annotated[
        Path,
        typer.Argument(
            help='Examples, a line {"x": an input, "y": its output} for each; docs/files.md shows '
            'files of all tasks. multiclass: {"x": ["red", "round"], "y": "apple"}; "x" may also '
            'be {"red": 0.5} or [0.5, 2.0]. multilabel: the same with "y": ["apple", "red"]. '
            "tagging: also a line per token, columns apart by tabs or blanks, the last one the "
            "label, and a blank line after each sentence. entity-relation: also a row of nine "
            "columns per word or entity, and below them a row per relation. If labels are not "
            "those of conll04, a relation that joins the same two labels of entities in all of "
            "FILE never joins others.",
            show_default=False,
        ),
    ],
    model: Annotated[
        Path, typer.Option(help="The folder to save the model into.", show_default=False)
    ],
    learner: Annotated[
        str, typer.Option(help="How to learn: svm, perceptron, local or subgradient.")
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
            help="Compare the right output only with outputs that differ from it in at most N "
            "labels.",
            metavar="N",
            show_default=False,
        ),
    ] = None,
    C: Annotated[  # noqa: N803
        float | None,
        typer.Option(
            "--C",
            help="How closely to fit the examples, for svm and subgradient: the larger, the "
            "closer; 0.1 if not given.",
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            help="At most N passes over the examples; else as many as the learner has by default.",
            metavar="N",
        ),
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(
            help="Tagging: a label may depend on the N labels before it; 1 if not given.",
            metavar="N",
        ),
    ] = None,
    bio: Annotated[
        bool, typer.Option("--bio", help="Tagging: a rule that I-X follows only B-X or I-X.")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Tagging: names of all columns but the label, with commas between them; "
            "word,pos,c2,… if not given."
        ),
    ] = None,
    templates: Annotated[
        Path | None, typer.Option(help="Tagging: a file of feature templates, one per line.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            help="Multilabel: complete, to score every two labels together, or none; if not given, "
            "complete unless there are many labels."
        ),
    ] = None,
    symmetric: Annotated[
        str | None,
        typer.Option(
            help="Entity-relation: relations without a direction, with commas between them."
        ),
    ] = None,
    potts: Annotated[
        bool,
        typer.Option("--potts", help="Graph: weights for equal and different neighbours only."),
    ] = False,
    antecedents: Annotated[
        int | None,
        typer.Option(
            help="Coreference: a mention may be linked to the N before it; 50 if not given.",
            metavar="N",
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(help="A file of rules that outputs obey, one per line; see docs/rules.md."),
    ] = None,
    allow_infeasible_gold: Annotated[
        bool,
        typer.Option("--allow-infeasible-gold", help="Learn from examples that break a rule, too."),
    ] = False,
    dev: Annotated[
        Path | None,
        typer.Option(help="Other examples, to evaluate the model on in each iteration."),
    ] = None,
    allow_unknown: Annotated[
        bool,
        typer.Option(
            "--allow-unknown",
            help="Labels in the dev file that FILE does not have count as errors instead of "
            "stopping.",
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(help="The seed of the random order in which examples are taken.")
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="How many threads to use, for svm; 1 if not given.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="A file to save the training to after every iteration, for --resume."),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            help="Save to the file of --checkpoint after every N iterations; 1 if not given.",
            metavar="N",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on from the file of --checkpoint, if it is there."),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Begin anew, even if the file of --checkpoint is that of another training.",
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Tell all that the learner measures.")
    ] = False,
) -> None:
    """Learn a model from a file of examples and save it into a folder."""
    from rote.cli.files import read_templates, train_file
    from rote.learning.training import losses
    from rote.tasks.adapter import adapter_of

    if resume and checkpoint is None:
        raise SettingError("--resume goes on from a file; name it with --checkpoint FILE")
    if every is not None:
        if checkpoint is None:
            raise SettingError("--every is about a file; name it with --checkpoint FILE")
        check_whole("--every", every, least=1)
    if resume and overwrite:
        raise SettingError("--resume goes on from a file and --overwrite loses it; say only one")
    if around is not None:
        check_whole("--around", around, least=1)
    settings = {
        "order": order,
        "bio": bio or None,
        "columns": None if columns is None else tuple(columns.split(",")),
        "templates": None if templates is None else read_templates(templates),
        "pairs": pairs,
        "symmetric": None if symmetric is None else tuple(symmetric.split(",")),
        "potts": potts or None,
        "max_antecedents": antecedents,
    }
    chosen = engine_named(engine, None)
    remembering = None
    if cache is not None:
        chosen = remembering = rote.Amortized(chosen, store_at(cache))
    if around is not None:
        chosen = rote.Decomposed(chosen, rote.HammingBall(around))
    learning = learner_named(learner, C=C, iterations=iterations, seed=seed, n_jobs=jobs)
    with _saying_what_is_left(checkpoint):
        trained = train_file(
            task,
            file,
            model,
            settings={name: value for name, value in settings.items() if value is not None},
            rules=rules,
            dev=dev,
            allow_unknown=allow_unknown,
            learner=learning,
            engine=chosen,
            allow_infeasible_gold=allow_infeasible_gold,
            progress=True,
            verbose=verbose,
            checkpoint=checkpoint,
            every=1 if every is None else every,
            resume=resume,
            overwrite=overwrite,
        )
    scores = {} if trained.dev is None else trained.dev.numbers
    known: dict[str, object] = {f"dev {name}": round(n, 4) for name, n in scores.items()}
    told = trained.measures if verbose else losses(trained.measures)
    known |= {name: _plain(number) for name, number in told.items()}
    known |= {
        "seconds": round(trained.seconds, 1),
        "examples": trained.examples,
        "features": trained.features,
        "weights": trained.model.layout.size,
        **adapter_of(trained.model.task).facts(trained.model.task),
    }
    if remembering is not None:
        counters = remembering.counters
        known |= {"inferences": counters.queries, "solved": counters.solver_calls}
        known["remembered"] = _remembered(counters)
    show_pairs(known, Console())
    typer.echo(f"saved in {model}; try: rote predict {model} FILE")


@contextmanager
def _saying_what_is_left(checkpoint: Path | None) -> Iterator[None]:
    """After Ctrl-C, say what of a training is there to go on with."""
    from rote.learning.checkpoints import load_state

    try:
        yield
    except BaseException as error:
        if was_interrupted(error):
            left = "nothing was saved"
            if checkpoint is not None and checkpoint.exists():
                done = load_state(checkpoint).iteration
                left = f"{checkpoint} holds iteration {done}, go on from there with --resume"
            typer.echo(f"stopped; {left}", err=True)
        raise


def _plain(number: float) -> str:
    """A measure for people: whole numbers as such, and what rounding left of 0 as 0."""
    rounded = round(float(number), 12)  # some are whole to begin with
    return str(int(rounded)) if rounded.is_integer() else f"{number:.6g}"


def _remembered(counters: Counters) -> str:
    count = counters.solver_calls - counters.bypassed
    why = "" if count or not counters.bypassed else ": solving is faster than remembering here"
    return f"{count}{why}"


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="The folder of a saved model.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(
            help="Inputs in the format that `rote train` reads; outputs may be left out. - is the "
            "standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[str, typer.Option(help="The file to write; - is the standard output.")] = "-",
    cache: Annotated[
        str | None,
        typer.Option(
            help="Remember what is slow to solve in a store: FILE.sqlite, redis://HOST or memory."
        ),
    ] = None,
) -> None:
    """Write what a model says of the inputs of a file.

    Lines of JSON are written with the predicted "y" in place of their own, so that they can be
    learned from and evaluated; columns of tagging with one more, and columns of entity-relation as
    lines of JSON. docs/files.md shows all of them.
    """
    from rote.cli.files import predict_file, write_outputs

    text = predict_file(model, file, None if cache is None else store_at(cache))
    if out == "-":
        typer.echo(text, nl=False)
    else:
        write_outputs(text, out)


@app.command()
def evaluate(
    model: Annotated[Path, typer.Argument(help="The folder of a saved model.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(help="Examples in the format that `rote train` reads.", show_default=False),
    ],
    allow_unknown: Annotated[
        bool,
        typer.Option(
            "--allow-unknown",
            help="Labels that the model does not know count as errors instead of stopping.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Say how well a model does on the examples of a file."""
    from rote.cli.files import evaluate_file
    from rote.io.text import json_text

    scores = evaluate_file(model, file, allow_unknown=allow_unknown)
    if as_json:
        typer.echo(json_text(scores.record(), indent=2))
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
