"""The command line: parse, make one library call, print. Nothing is decided here."""

# Commands are listed in the order in which these are imported.
from rote.cli import problems, models, serving, caches, added  # noqa: F401, I001
from rote.cli.app import main

__all__ = ["main"]
