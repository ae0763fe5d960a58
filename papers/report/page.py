"""The page: a summary, and a section for each paper with its figures, tables and claims.

It is one file of HTML. It asks the network for nothing, and forbids itself to; it runs no script;
the same records give the same page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from papers.records import UNSET, Row
from papers.registry import EXPERIMENTS
from papers.report.claims import QUICK, Tally, claims_html, summary_html
from papers.report.collect import CaseRecord, Collected, Exhibit, Paper, collect, counted
from papers.report.figures import figure_html
from papers.report.tables import Sheet, sheets_of, table_html, title_in
from rote.errors import DataError, MissingDependency
from rote.io.atomic import write_whole

TITLE = "Five papers on structured prediction, run again"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class Report(NamedTuple):
    """The page that was written, what is on it, and what could not be shown."""

    file: Path
    records: int
    figures: int
    claims: Tally
    problems: tuple[str, ...]


class _Shown(NamedTuple):
    html: str
    figures: int
    problems: tuple[str, ...]


def write_report(folder: str | Path, file: str | Path | None = None) -> Report:
    """Write the page of a folder's records; without a file, as index.html in the folder."""
    collected = collect(folder)
    path = Path(folder) / "index.html" if file is None else Path(file)
    if path.suffix == ".json" and path.exists():
        raise DataError(f"{path}: may be a record, and is left as it is; name a page, as in a.html")
    shown = [_section(paper, exhibits) for paper, exhibits in collected.sections.items()]
    problems = (*collected.problems, *dict.fromkeys(p for each in shown for p in each.problems))
    page = _page(collected, [each.html for each in shown], problems)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page.encode())
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}") from None
    return Report(
        path,
        sum(len(exhibit.records) for exhibit in collected.exhibits),
        sum(each.figures for each in shown),
        Tally.of(counted(collected.exhibits)),
        problems,
    )


def _page(collected: Collected, sections: Sequence[str], problems: Sequence[str]) -> str:
    style = files("papers.report").joinpath("style.css").read_text(encoding="utf-8")
    wrong = "".join(f"<li>{escape(problem)}</li>" for problem in problems)
    box = f'<div class="note"><p>What is missing:</p><ul>{wrong}</ul></div>' if wrong else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<link rel="icon" href="data:,">
<title>{TITLE}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the summary</a>
<header>
<h1>{TITLE}</h1>
<p>What rote found where the papers report a table or a figure: our numbers beside theirs, and for
each of their claims whether it held here.</p>
</header>
<nav aria-label="Contents">
<ul>
<li><a href="#summary">Summary</a></li>
{"".join(_entry(paper, exhibits) for paper, exhibits in collected.sections.items())}</ul>
</nav>
<main id="main" tabindex="-1">
<section id="summary" aria-labelledby="summary-title">
<h2 id="summary-title">Summary</h2>
{box}{summary_html(collected)}
</section>
{"".join(sections)}</main>
</body>
</html>
"""


def _entry(paper: Paper, exhibits: Sequence[Exhibit]) -> str:
    """A line of the contents, and lines below it where there is room."""
    tally = Tally.of(counted(exhibits))
    own = "".join(
        f'<li><a href="#{escape(exhibit.anchor)}">{escape(exhibit.part or exhibit.name)}'
        f"{' (quick)' if exhibit.quick else ''}</a></li>"
        for exhibit in exhibits
    )
    count = f' <span class="count">{tally.held} of {tally.claims}</span>' if tally.claims else ""
    link = f'<a href="#{paper.anchor}">{escape(paper.authors)}{count}</a>'
    return f"<li>{link}{f'<ul>{own}</ul>' if own else ''}</li>\n"


def _section(paper: Paper, exhibits: Sequence[Exhibit]) -> _Shown:
    shown = [_exhibit(exhibit) for exhibit in exhibits]
    title = paper.title or paper.authors
    by = f'<p class="by">{escape(paper.authors)}</p>' if paper.title else ""
    body = "".join(each.html for each in shown) or _absent(paper)
    name = f"{paper.anchor}-title"
    return _Shown(
        f'<section id="{paper.anchor}" aria-labelledby="{name}">\n'
        f'<h2 id="{name}">{escape(title)}</h2>{by}\n{body}</section>\n',
        sum(each.figures for each in shown),
        tuple(problem for each in shown for problem in each.problems),
    )


def _absent(paper: Paper) -> str:
    names = [one.name for one in EXPERIMENTS.values() if one.paper.startswith(paper.authors)]
    said = f" Make one with: <code>rote reproduce {escape(names[0])}</code>" if names else ""
    return f"<p>There is no record of this paper's experiments.{said}</p>\n"


def _exhibit(exhibit: Exhibit) -> _Shown:
    figures, problems = _figures(exhibit)
    notes = {
        "Quick run": QUICK if exhibit.quick else "",
        "Made-up data": UNSET if any(each.record.is_made_up for each in exhibit.records) else "",
    }
    noted = "".join(
        f'<p class="note"><strong>{what}:</strong> {escape(said)}.</p>'
        for what, said in notes.items()
        if said
    )
    sheets = sheets_of(_rows(each) for each in exhibit.records)
    tables = "".join(table_html(sheet, exhibit.name) for sheet in sheets)
    tables += _legend(exhibit, sheets)
    claims = f"<h4>Claims</h4>{claims_html(exhibit.claims)}" if exhibit.claims else ""
    kicker = " · ".join(
        filter(None, (escape(exhibit.part), f"<code>{escape(exhibit.name)}</code>"))
    )
    name = f"{escape(exhibit.anchor)}-title"
    html = (
        f'<article id="{escape(exhibit.anchor)}" aria-labelledby="{name}">\n'
        f'<h3 id="{name}">{escape(exhibit.about)}</h3><p class="by">{kicker}</p>\n{noted}'
        f'<div class="figures">{"".join(figures)}</div>\n{tables}\n{claims}\n{_details(exhibit)}'
        "</article>\n"
    )
    return _Shown(html, len(figures), tuple(problems))


def _legend(exhibit: Exhibit, sheets: Sequence[Sheet]) -> str:
    """What rows and columns are, where an experiment says so of some."""
    legend = {} if exhibit.experiment is None else exhibit.experiment.legend
    lines = [
        f"<dt>{escape(title_in(sheet, name))}</dt><dd>{escape(said)}</dd>"
        for name, said in legend.items()
        for sheet in sheets[:1]
    ]
    return f'<dl class="legend">{"".join(lines)}</dl>' if lines else ""


def _rows(each: CaseRecord) -> list[Row]:
    """Rows that say of which case they are."""
    rows = each.record.rows
    if not each.case or all("case" in row.metrics or row.method == each.case for row in rows):
        return list(rows)
    return [Row(row.method, {"case": each.case, **row.metrics}, row.paper) for row in rows]


def _figures(exhibit: Exhibit) -> tuple[list[str], list[str]]:
    drawn: list[str] = []
    problems: list[str] = []
    if exhibit.experiment is None or exhibit.experiment.draw is None:
        return drawn, problems
    for case, record in exhibit.records:
        key = "-".join(filter(None, ("figure", exhibit.anchor, case)))
        try:
            figure = exhibit.experiment.draw(record)
            drawn.append(figure_html(figure, key, exhibit.about, case))
        except MissingDependency as error:
            problems.append(f"Figures are not drawn: {error}")
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # A record may be whole, and yet lack what this version draws.
            problems.append(f"{record.name}: its figure cannot be drawn ({error!r:.200})")
    return drawn, problems


def _details(exhibit: Exhibit) -> str:
    inner = []
    for case, record in exhibit.records:
        took = f"{record.seconds:,.1f} seconds"
        told = {"settings": record.settings, "environment": record.environment}
        body = f"<p>{took}</p>{_nested(told)}"
        inner.append(
            f"<details><summary>{escape(case)}</summary>{body}</details>" if case else body
        )
    return (
        f"<details><summary>Settings and environment</summary>"
        f'<div class="settings">{"".join(inner)}</div></details>\n'
    )


def _nested(value: Mapping[str, Any]) -> str:
    return f"<ul>{''.join(_told(value))}</ul>"


def _told(value: Mapping[str, Any]) -> Iterator[str]:
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield f"<li>{escape(name)}{_nested(one)}</li>"
        elif isinstance(one, list) and any(isinstance(each, Mapping | list) for each in one):
            numbered = {str(k): each for k, each in enumerate(one, start=1)}
            yield f"<li>{escape(name)}{_nested(numbered)}</li>"
        else:
            said = ", ".join(map(str, one)) if isinstance(one, list) else str(one)
            yield f"<li>{escape(name)}: {escape(said)}</li>"
