"""What tests of the report share: a folder of records."""

from __future__ import annotations

import pytest

from papers.records import write_record
from papers.report import write_report
from tests.papers.report.made_up import all_records


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Records of all papers, made up; nobody writes into it."""
    path = tmp_path_factory.mktemp("records")
    for record in all_records():
        write_record(record, path)
    return path


@pytest.fixture(scope="session")
def page(folder, tmp_path_factory):
    """What was written of them."""
    return write_report(folder, tmp_path_factory.mktemp("page") / "out" / "page.html")
