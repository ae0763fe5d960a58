"""What tests of the report share: the page of all records, and pages of a few."""

from typing import NamedTuple

import pytest

from papers.records import Record, write_record
from papers.report import write_report
from papers.report.page import Report
from tests.papers.report.made_up import RECORDS


class Shown(NamedTuple):
    report: Report
    html: str


@pytest.fixture(scope="session")
def page(tmp_path_factory) -> Shown:
    """The page of all records."""
    report = write_report(RECORDS, tmp_path_factory.mktemp("page") / "out" / "page.html")
    return Shown(report, report.file.read_text(encoding="utf-8"))


@pytest.fixture
def shown(tmp_path):
    """The page of these records, beside what the folder has."""

    def of(*records: Record) -> Shown:
        for each in records:
            write_record(each, tmp_path)
        report = write_report(tmp_path)
        return Shown(report, report.file.read_text(encoding="utf-8"))

    return of
