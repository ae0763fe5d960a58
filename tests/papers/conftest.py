"""What tests of studies share: made-up data unless asked for real ones, and a study's outcome."""

import os

import pytest

from papers.records import Record
from tests.papers.studies import studied

DATA = os.environ.get("ROTE_DATA")


@pytest.fixture(scope="module", autouse=True)
def made_up_data():
    """Without ROTE_DATA everything is made up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ROTE_DATA", raising=False)
        yield


@pytest.fixture
def real_data(monkeypatch):
    """ROTE_DATA as it was given; without it a test is skipped."""
    if not DATA:
        pytest.skip("ROTE_DATA names no folder of data sets")
    monkeypatch.setenv("ROTE_DATA", DATA)


@pytest.fixture(scope="module")
def outcome(request) -> Record:
    """The record of ``STUDY``, as small as it goes."""
    return studied(request.module.STUDY).record
