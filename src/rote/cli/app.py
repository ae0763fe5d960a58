"""The command `rote`, to which the modules beside this one add its commands.

What rote raises on purpose becomes a red sentence on the error stream and exit code 2. It speaks to
whoever calls rote from Python; where it says allow_infeasible_gold=True, a shell says
--allow-infeasible-gold, and --jobs for n_jobs. Ctrl-C is exit code 130.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import rote
from rote.errors import RoteError, was_interrupted

FLAG = r"\b([a-z]+(?:_[a-z]+)*)=True\b"

app = typer.Typer(
    help="Structured prediction under constraints: the best output that obeys your rules.",
    no_args_is_help=True,
    add_completion=False,
)


def option(about: str, *names: str, **more: Any) -> Any:
    """An option with a help text; of a flag, the one name that turns it on."""
    return typer.Option(*names, help=about, **more)


# What several commands take.
ModelFolder = Annotated[Path, typer.Argument(help="The folder of a saved model.")]
AsJson = Annotated[bool, option("Print JSON, for programs.", "--json")]


def main() -> None:
    """Run the command line and leave the process."""
    try:
        app()
    except RoteError as error:
        from rich.console import Console
        from rich.text import Text

        sentence = re.sub(FLAG, lambda found: f"--{found[1].replace('_', '-')}", str(error))
        sentence = sentence.replace("n_jobs", "--jobs")
        Console(stderr=True).print(Text(f"rote: {sentence}", style="red"), soft_wrap=True)
        sys.exit(2)
    except Exception as error:
        if not was_interrupted(error):
            raise
        sys.exit(130)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rote {rote.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        option("Print the version and leave.", "--version", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass
