"""Records of a folder, sorted by paper and by experiment.

An *exhibit* is what is shown of an experiment under one heading: the record of a whole run, or all
records of single cases. Quick runs and whole ones are exhibits of their own, so that a reader never
sees both in one table; of each experiment, the claims of one exhibit count. A file that is no
record becomes a sentence, and the others are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from papers.base import Experiment, Settings
from papers.explanations import explanation
from papers.records import Claim, Record, read_record
from papers.registry import EXPERIMENTS, experiment_of
from rote import DataError

AUTHORS = re.compile(r"^(.+? \(\d{4}\))(?:, (.*)|; .*)?$")


class Paper(NamedTuple):
    """A paper by how records name it; without a title where this module does not know it."""

    authors: str
    title: str

    @property
    def anchor(self) -> str:
        """Its name in addresses within the page."""
        first = re.sub(r"\W.*", "", self.authors).lower() or "paper"
        return first + "".join(re.findall(r"\d{4}", self.authors)[:1])


PAPERS = (
    Paper("Punyakanok et al. (2005)", "Learning and Inference over Constrained Output"),
    Paper("Samdani & Roth (2012)", "Efficient Decomposed Learning for Structured Prediction"),
    Paper("Chang et al. (2015)", "Structural Learning with Amortized Inference"),
    Paper("Pan and Srikumar (2018)", "Learning to Speed Up Structured Output Prediction"),
    Paper(
        "Ma et al. (2019)",
        "Randomized Greedy Search for Structured Prediction: Amortized Inference and Learning",
    ),
)

TOGETHER = Paper("All five papers", "Their methods side by side")


class CaseRecord(NamedTuple):
    """A record, and the case it is of; an empty one stands for all."""

    case: str
    record: Record


class CaseClaim(NamedTuple):
    """A claim, the case whose record has it, and why it did not hold, if that is known."""

    case: str
    claim: Claim
    why: str = ""


@dataclass(frozen=True)
class Exhibit:
    """What is shown of an experiment under one heading; ``experiment`` is None if unknown."""

    name: str
    experiment: Experiment | None
    quick: bool
    records: tuple[CaseRecord, ...]

    @property
    def about(self) -> str:
        about = self.name if self.experiment is None else self.experiment.about
        return about[:1].upper() + about[1:]

    @property
    def part(self) -> str:
        """The table or figure of the paper, such as "Figure 3"."""
        found = AUTHORS.match(self.records[0].record.paper)
        return (found[2] or "") if found else ""

    @property
    def by_case(self) -> bool:
        return bool(self.records[0].case)

    @property
    def anchor(self) -> str:
        return "-".join(
            (self.name, *(["cases"] if self.by_case else []), *(["quick"] if self.quick else []))
        )

    @property
    def claims(self) -> tuple[CaseClaim, ...]:
        return tuple(
            CaseClaim(case, claim, explanation(record, claim))
            for case, record in self.records
            for claim in record.claims
        )


@dataclass(frozen=True)
class Collected:
    """Exhibits by paper, all five papers among them, and what cannot be shown.

    What is of all of them together comes first, if there is a record of it.
    """

    sections: Mapping[Paper, tuple[Exhibit, ...]]
    problems: tuple[str, ...]

    @property
    def exhibits(self) -> tuple[Exhibit, ...]:
        return tuple(exhibit for exhibits in self.sections.values() for exhibit in exhibits)


def counted(exhibits: Sequence[Exhibit]) -> tuple[Exhibit, ...]:
    """The exhibits whose claims count: one of each experiment, so that none is counted twice.

    A run that is not quick comes before quick ones, and then a whole one before single cases.
    """
    first: dict[str, Exhibit] = {}
    for exhibit in sorted(exhibits, key=lambda each: (each.quick, each.by_case)):
        first.setdefault(exhibit.name, exhibit)
    return tuple(exhibit for exhibit in exhibits if exhibit is first[exhibit.name])


def collect(folder: str | Path) -> Collected:
    """All records of a folder."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"expected a folder of records, and {folder} is none")
    files = sorted(folder.glob("*.json"))
    if not files:
        raise DataError(
            f"there is no record in {folder}; make some with: rote reproduce --all --quick --out "
            f"{folder}"
        )
    records: list[Record] = []
    problems: list[str] = []
    for file in files:
        try:
            record = read_record(file)
        except DataError as error:
            # Where the folder lies on somebody's machine is not for the page.
            problems.append(f"Not shown: {str(error).replace(str(file), file.name)}")
            continue
        if record.name == file.stem:
            records.append(record)
        else:
            problems.append(f"Not shown: {file.name} has the record {record.name}, by its name")
    if not records:
        raise DataError(f"none of the {len(files)} files in {folder} can be shown. {problems[0]}")
    exhibits = tuple(_exhibits(records))
    unknown = [exhibit.name for exhibit in exhibits if exhibit.experiment is None]
    problems += [f"{name}: no experiment has this name, so there is no figure" for name in unknown]
    return Collected(_by_paper(exhibits), tuple(problems))


def paper_of(record: Record) -> Paper:
    """The paper that a record names first."""
    found = AUTHORS.match(record.paper)
    authors = found[1] if found else record.paper
    known = (TOGETHER, *PAPERS)
    return next((paper for paper in known if paper.authors == authors), Paper(authors, ""))


def _by_paper(exhibits: tuple[Exhibit, ...]) -> dict[Paper, tuple[Exhibit, ...]]:
    sections: dict[Paper, tuple[Exhibit, ...]] = dict.fromkeys((TOGETHER, *PAPERS), ())
    for exhibit in exhibits:
        paper = paper_of(exhibit.records[0].record)
        sections[paper] = (*sections.get(paper, ()), exhibit)
    if not sections[TOGETHER]:
        del sections[TOGETHER]
    return sections


def _exhibits(records: list[Record]) -> Iterator[Exhibit]:
    found: dict[tuple[str, bool, bool], list[CaseRecord]] = {}
    for record in records:
        known = experiment_of(record.name)
        name, case = (record.name, "") if known is None else (known[0].name, known[1])
        quick = bool(record.settings.get("quick"))
        found.setdefault((name, bool(case), quick), []).append(CaseRecord(case, record))
    order = {name: place for place, name in enumerate(EXPERIMENTS)}
    for key in sorted(found, key=lambda key: (order.get(key[0], len(order)), key)):
        name, _, quick = key
        one = EXPERIMENTS.get(name)
        yield Exhibit(name, one, quick, tuple(_in_order(found[key], one, quick=quick)))


def _in_order(
    records: list[CaseRecord], one: Experiment | None, *, quick: bool
) -> list[CaseRecord]:
    """Cases as the experiment's plan has them, and then those it does not have any more."""
    if one is None or one.cases is None:
        return records
    cases = list(one.cases(one.plan(Settings(quick=quick))))
    place = {case: number for number, case in enumerate(cases)}
    return sorted(records, key=lambda each: place.get(each.case, len(place)))
