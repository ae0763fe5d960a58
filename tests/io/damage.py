"""Files with one thing wrong, and what readers must say of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rote.errors import DataError


def damaged(text: str, old: str, new: str) -> str:
    """The text with something in it replaced once."""
    assert old in text
    return text.replace(old, new, 1)


@contextmanager
def refused(path: Path, line: int, reason: str) -> Iterator[None]:
    """Reading the file raises a `DataError` that begins with the place and gives the reason."""
    with pytest.raises(DataError, match=reason) as caught:
        yield
    assert str(caught.value).startswith(f"{path}, line {line}: ")
