"""The first example of a README, run by an installed rote: what must hold of every installation.

    python tools/first_example.py README.md            kernels are compiled
    python tools/first_example.py README.md --plain    kernels run as plain Python, and say so

It prints what the README shows, or fails; the checkout is not imported from.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def first_example(page: str) -> tuple[str, str]:
    """The first block of Python of a page, and what is shown below it."""
    found = BLOCK.search(page)
    if found is None:
        raise SystemExit("the page has no example with its output below it")
    return found[1], found[2]


def main(page: str, *flags: str) -> None:
    """Run it, and compare."""
    code, shown = first_example(Path(page).read_text(encoding="utf-8"))
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        exec(compile(code, page, "exec"), {"__name__": "__main__"})  # noqa: S102
        from rote.kernels import compiled
    if printed.getvalue() != shown:
        raise SystemExit(f"printed {printed.getvalue()!r}, and the page shows {shown!r}")
    plain = "--plain" in flags
    if compiled() is plain:
        raise SystemExit("the kernels are compiled" if plain else "the kernels are not compiled")
    warned = [str(one.message) for one in said if "plain Python" in str(one.message)]
    if len(warned) != plain:
        raise SystemExit(f"warnings about plain kernels: {warned}")
    print(shown, end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
