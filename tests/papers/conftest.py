"""What tests of experiments share: a run on made-up data, and who watches it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from papers.base import Outcome, Settings


@pytest.fixture(scope="module")
def steps() -> list[tuple[int, int]]:
    """What a module's run has told of its progress."""
    return []


def on_made_up(
    compare: Callable[[Any, Settings], Outcome], plan: Any, steps: list[tuple[int, int]]
) -> Outcome:
    """A run without data sets; ``steps`` takes down its progress."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ROTE_DATA", raising=False)
        return compare(plan, Settings(progress=lambda *step: steps.append(step)))
