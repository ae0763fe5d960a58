"""The command `rote`, which is `python -m rote` as well."""

import sys


def main() -> None:
    """Import the command line, run it and leave the process; Ctrl-C is one line meanwhile, too."""
    try:
        from rote.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("rote: stopped\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
