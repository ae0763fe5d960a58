"""`python -m rote` is the command `rote`."""

from rote.cli import main

main()
