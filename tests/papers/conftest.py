"""What tests of studies share: the outcome of the study a module names, and no data sets."""

from __future__ import annotations

import pytest

from papers.records import Record
from tests.papers.studies import studied


@pytest.fixture(scope="module")
def outcome(request) -> Record:
    """The record of ``STUDY``, as small as it goes and on made-up data."""
    return studied(request.module.STUDY).record


@pytest.fixture
def no_data(monkeypatch) -> None:
    """ROTE_DATA is not set."""
    monkeypatch.delenv("ROTE_DATA", raising=False)
