"""Records to one page of HTML that needs nothing else: no network, no script, no other file."""

from papers.report.page import Report, write_report

__all__ = ["Report", "write_report"]
