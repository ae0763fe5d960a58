"""What became of the papers' claims: a sign, a word and the sentence with the numbers.

The verdict is never told by colour alone. A claim of a record that is of one case has the name of
the case before it, unless it begins with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from papers.report.collect import CaseClaim, Collected, Exhibit, Paper, counted

QUICK = "a first look, smaller than a whole run"


class Tally(NamedTuple):
    """How many claims held, of how many."""

    held: int
    claims: int

    @staticmethod
    def of(exhibits: Iterable[Exhibit]) -> Tally:
        found = [each.claim.held for exhibit in exhibits for each in exhibit.claims]
        return Tally(sum(found), len(found))


def claims_html(claims: Sequence[CaseClaim]) -> str:
    """A list of claims, each with its evidence."""
    return f'<ul class="claims">{"".join(_item(each) for each in claims)}</ul>'


def summary_html(collected: Collected) -> str:
    """How many claims of each paper held, which did not, and why; then those that held."""
    chosen = counted(collected.exhibits)
    whole = Tally.of(chosen)
    quick = Tally.of(exhibit for exhibit in chosen if exhibit.quick)
    lead = f"<strong>{whole.held} of {whole.claims} claims held.</strong>"
    if quick.claims:
        lead += (
            f" {quick.claims} of them were judged by quick runs: {QUICK}, where what is true may "
            "not show."
        )
    left_out = [each for each in collected.exhibits if each.claims and each not in chosen]
    if left_out:
        links = ", ".join(f'<a href="#{escape(e.anchor)}">{escape(e.anchor)}</a>' for e in left_out)
        lead += f" Left out, as a fuller run of the same experiment is counted: {links}."
    rows = "".join(_overview(paper, exhibits) for paper, exhibits in collected.sections.items())
    table = (
        '<div class="scroll" role="region" tabindex="0" aria-label="Claims by paper"><table>'
        '<thead><tr><th scope="col" class="word">paper</th><th scope="col">held</th>'
        '<th scope="col">did not hold</th><th scope="col">claims</th>'
        '<th scope="col">of quick runs</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
    papers = "".join(
        _by_paper(paper, exhibits) for paper, exhibits in collected.sections.items() if exhibits
    )
    return f"<p>{lead}</p>{table}{papers}"


def _item(each: CaseClaim, where: str = "") -> str:
    """A claim; ``where`` is HTML that leads to the experiment."""
    case, claim, why = each
    kind, sign, word = ("held", "✓", "Held") if claim.held else ("failed", "✗", "Did not hold")
    reason = f'<p class="why"><strong>Why:</strong> {escape(why)}</p>' if why else ""
    about = f"{case}: " if case and not claim.claim.startswith(f"{case}:") else ""
    return (
        f'<li class="{kind}"><p><span class="verdict"><span aria-hidden="true">{sign}</span> '
        f"{word}</span> {escape(about + claim.claim)}{where}</p>"
        f'<p class="evidence">{escape(claim.evidence)}</p>{reason}</li>'
    )


def _overview(paper: Paper, exhibits: Sequence[Exhibit]) -> str:
    chosen = counted(exhibits)
    tally = Tally.of(chosen)
    quick = Tally.of(exhibit for exhibit in chosen if exhibit.quick)
    numbers = (tally.held, tally.claims - tally.held, tally.claims, quick.claims)
    cells = "".join(f"<td>{count}</td>" for count in numbers)
    link = f'<a href="#{paper.anchor}">{escape(paper.authors)}</a>'
    return f'<tr><th scope="row">{link}</th>{cells}</tr>'


def _by_paper(paper: Paper, exhibits: Sequence[Exhibit]) -> str:
    """Two lists that fold: what did not hold is open."""
    lists = []
    for held, name in ((False, "did not hold"), (True, "held")):
        found = [(exhibit, each) for exhibit in counted(exhibits) for each in exhibit.claims]
        chosen = [(exhibit, each) for exhibit, each in found if each.claim.held is held]
        if chosen:
            items = "".join(_item(each, _where(exhibit)) for exhibit, each in chosen)
            lists.append(
                f"<details{'' if held else ' open'}><summary>{len(chosen)} {name}</summary>"
                f'<ul class="claims">{items}</ul></details>'
            )
    if not lists:
        lists = ["<p>No claim was judged.</p>"]
    return f"<h3>{escape(paper.authors)}</h3>{''.join(lists)}"


def _where(exhibit: Exhibit) -> str:
    quick = ' <span class="tag">quick</span>' if exhibit.quick else ""
    part = escape(exhibit.part or exhibit.name)
    return f'{quick} <a class="where" href="#{escape(exhibit.anchor)}">{part}</a>'
