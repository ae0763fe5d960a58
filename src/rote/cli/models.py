"""Commands about models: `train`, `predict`, `evaluate`, `explain`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import rote
from rote.cli.app import AsJson, ModelFolder, app, option
from rote.cli.engines import (
    LEARNERS,
    EngineName,
    StoreAddress,
    engine_named,
    learner_named,
    opened_store,
)
from rote.cli.printing import listing, show_pairs
from rote.errors import SettingError, was_interrupted
from rote.settings import check, optional, whole

if TYPE_CHECKING:
    from rich.console import Console

    from rote.inference.wrappers.amortized.counters import Counters
    from rote.tasks.adapter import Scores

AllowUnknown = Annotated[
    bool,
    option(
        "Labels that the model does not know count as errors instead of stopping.",
        "--allow-unknown",
    ),
]


@app.command()
def train(
    task: Annotated[
        str,
        typer.Argument(
            help="tagging, entity-relation, multilabel, multiclass, graph or coreference."
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
        ),
    ],
    model: Annotated[Path, option("The folder to save the model into.")],
    learner: Annotated[str, option(f"How to learn: {', '.join(LEARNERS)}.")] = "svm",
    engine: EngineName = "exact",
    cache: StoreAddress = None,
    around: Annotated[
        int | None,
        option(
            "Compare the right output only with outputs that differ from it in at most N labels.",
            metavar="N",
        ),
    ] = None,
    C: Annotated[  # noqa: N803
        float | None,
        option(
            "How closely to fit the examples, for svm and subgradient: the larger, the closer; 0.1 "
            "if not given.",
            "--C",
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        option(
            "At most N passes over the examples; else as many as the learner has by default.",
            metavar="N",
        ),
    ] = None,
    order: Annotated[
        int | None,
        option("Tagging: a label may depend on the N before it; 1 if not given.", metavar="N"),
    ] = None,
    bio: Annotated[bool, option("Tagging: I-X follows only B-X or I-X.", "--bio")] = False,
    columns: Annotated[
        str | None,
        option(
            "Tagging: names of all columns but the label, with commas between them; word,pos,c2,… "
            "if not given."
        ),
    ] = None,
    templates: Annotated[
        Path | None, option("Tagging: a file of feature templates, one per line.")
    ] = None,
    pairs: Annotated[
        str | None,
        option(
            "Multilabel: complete, to score every two labels together, or none; if not given, "
            "complete unless there are many labels."
        ),
    ] = None,
    symmetric: Annotated[
        str | None,
        option("Entity-relation: relations without a direction, with commas between them."),
    ] = None,
    potts: Annotated[
        bool, option("Graph: weights for equal and different neighbours only.", "--potts")
    ] = False,
    antecedents: Annotated[
        int | None,
        option("Coreference: how many mentions back one may be linked to; 50 if not given."),
    ] = None,
    rules: Annotated[
        Path | None, option("A file of rules that outputs obey, one per line; see docs/rules.md.")
    ] = None,
    allow_infeasible_gold: Annotated[
        bool, option("Learn from examples that break a rule, too.", "--allow-infeasible-gold")
    ] = False,
    dev: Annotated[
        Path | None, option("Other examples, to evaluate the model on in each iteration.")
    ] = None,
    allow_unknown: AllowUnknown = False,
    seed: Annotated[int, option("The seed of the random order of examples.")] = 0,
    jobs: Annotated[int | None, option("How many threads to use, for svm; 1 if not given.")] = None,
    checkpoint: Annotated[
        Path | None, option("A file to save the training to after every iteration, for --resume.")
    ] = None,
    every: Annotated[
        int | None,
        option("Save to that file after every N iterations only.", metavar="N"),
    ] = None,
    resume: Annotated[
        bool, option("Go on from the file of --checkpoint, if it is there.", "--resume")
    ] = False,
    overwrite: Annotated[
        bool,
        option(
            "Begin anew, even if the file of --checkpoint is that of another training.",
            "--overwrite",
        ),
    ] = False,
    verbose: Annotated[bool, option("Tell all that the learner measures.", "--verbose")] = False,
) -> None:
    """Learn a model from a file of examples and save it into a folder."""
    from rich.console import Console

    from rote.cli.files import read_templates, train_file
    from rote.learning.training import losses
    from rote.tasks.adapter import adapter_of

    if checkpoint is None and (resume or every is not None):
        raise SettingError("--resume and --every are about a file; name it with --checkpoint FILE")
    check("--every", every, optional(whole(1)))
    check("--around", around, optional(whole(1)))
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
    remembering = None if cache is None else rote.Amortized(chosen, opened_store(cache))
    chosen = remembering or chosen
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
    measures = trained.measures if verbose else losses(trained.measures)
    known |= {name: _plain(number) for name, number in measures.items()}
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
        known |= {"reused": counters.reused, "warm": counters.warm, "cold": counters.cold}
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
    model: ModelFolder,
    file: Annotated[
        Path,
        typer.Argument(
            help="Inputs in the format that `rote train` reads; outputs may be left out. - is the "
            "standard input."
        ),
    ],
    out: Annotated[str, option("The file to write; - is the standard output.")] = "-",
    cache: StoreAddress = None,
    jobs: Annotated[int, option("How many threads to use.")] = 1,
) -> None:
    """Write what a model says of the inputs of a file.

    Lines of JSON are written with the predicted "y" in place of their own, so that they can be
    learned from and evaluated; columns of tagging with one more, and columns of entity-relation as
    lines of JSON. docs/files.md shows all of them.
    """
    from rote.cli.files import predict_file, write_outputs

    text = predict_file(model, file, None if cache is None else opened_store(cache), jobs)
    if out == "-":
        typer.echo(text, nl=False)
    else:
        write_outputs(text, out)


@app.command()
def evaluate(
    model: ModelFolder,
    file: Annotated[
        Path,
        typer.Argument(
            help="Examples in the format that `rote train` reads. - is the standard input."
        ),
    ],
    allow_unknown: AllowUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Say how well a model does on the examples of a file."""
    from rich.console import Console

    from rote.cli.files import evaluate_file
    from rote.io.text import json_text

    scores = evaluate_file(model, file, allow_unknown=allow_unknown)
    if as_json:
        typer.echo(json_text(scores.record(), indent=2))
    else:
        _show_scores(scores, Console())


@app.command()
def explain(
    model: ModelFolder,
    file: Annotated[Path, typer.Argument(help="Inputs in the format that `rote train` reads.")],
    want: Annotated[
        list[str] | None,
        option(
            "A label that the output does not have, as VARIABLE=LABEL; more than once for several. "
            "Without one, all variables are shown, and which rules keep the output from being "
            "better.",
            metavar="VARIABLE=LABEL",
        ),
    ] = None,
    number: Annotated[
        int, option("Which input of FILE it is about, counted from 0.", "--input")
    ] = 0,
    rules: Annotated[
        bool, option("Tell what each rule changes and costs over all of FILE.", "--rules")
    ] = False,
    gold: Annotated[
        bool, option("With --rules: whether they help, by the outputs in FILE.", "--gold")
    ] = False,
    allow_unknown: Annotated[
        bool,
        option("With --gold: pass over outputs with unknown labels.", "--allow-unknown"),
    ] = False,
    by_name: Annotated[
        bool,
        option("With --rules: names that differ in numbers are different rules.", "--by-name"),
    ] = False,
    engine: EngineName = "exact",
    limit: Annotated[int, option("At most N sets of rules for an input.", metavar="N")] = 100,
    as_json: AsJson = False,
) -> None:
    """Say why an output has not a label: which rules forbid it, and what it would cost."""
    from rich.console import Console

    from rote.cli.files import explain_input, rules_of_file
    from rote.io.text import json_text

    if (rules and want) or (not rules and (gold or by_name)):
        raise SettingError("--want is about one input; --gold and --by-name belong to --rules")
    wanted = dict(_wanted(text) for text in want or ())
    asked = rote.Model.load(model, engine=engine_named(engine, None))
    said: rote.Explanation | rote.RuleReport
    if rules:
        how = {"gold": gold, "allow_unknown": allow_unknown, "by_name": by_name}
        said = rules_of_file(asked, file, limit=limit, **how)
    else:
        said = explain_input(asked, file, number, wanted, limit)
    if as_json:
        typer.echo(json_text(said.record(), indent=2))
    else:
        Console().print(said.show())


def _wanted(text: str) -> tuple[str, str]:
    variable, sign, label = text.partition("=")
    if not sign:
        raise SettingError(f"--want is VARIABLE=LABEL, got {text!r}")
    return variable, label


def _show_scores(scores: Scores, console: Console) -> None:
    numbers = {name: f"{number:.4f}" for name, number in scores.numbers.items()}
    show_pairs({"examples": scores.examples, **numbers}, console)
    for name, table in scores.tables.items():
        rows = [*table.by_label.items(), ("all", table.micro), ("mean", table.macro)]
        shown = [
            (label, *(f"{n:.4f}" for n in (f1.precision, f1.recall, f1.f1)), f1.true, f1.predicted)
            for label, f1 in rows
        ]
        console.print()
        console.print(listing([name, "precision", "recall", "F1", "true", "predicted"], shown))
