"""The command `rote`, outside the package: Ctrl-C is one line while rote is imported, too."""

from __future__ import annotations

import sys


def main() -> None:
    """Import the command line, run it and leave the process."""
    try:
        from rote.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("rote: stopped\n")
        sys.exit(130)
    run()
