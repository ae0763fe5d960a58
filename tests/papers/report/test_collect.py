"""Records are sorted by paper and experiment, and what is no record is told of."""

from dataclasses import replace

import pytest

from papers.base import Settings
from papers.records import write_record
from papers.registry import EXPERIMENTS
from papers.report.collect import PAPERS, TOGETHER, CaseRecord, Exhibit, collect, counted, paper_of
from rote import DataError
from tests.papers.report.made_up import RECORDS, record, saved


def test_every_experiment_is_of_one_of_the_five_papers_or_of_all():
    found = {name: paper_of(record(name)) for name in EXPERIMENTS}
    assert found.pop("tour") == TOGETHER
    assert set(found.values()) == set(PAPERS)


def test_what_is_of_all_papers_together_comes_first_if_it_is_there(tmp_path):
    write_record(record("conll04-learners"), tmp_path)
    assert tuple(collect(tmp_path).sections) == PAPERS
    write_record(record("tour"), tmp_path)
    sections = collect(tmp_path).sections
    assert tuple(sections) == (TOGETHER, *PAPERS)
    (exhibit,) = sections[TOGETHER]
    assert exhibit.name == "tour"
    assert TOGETHER.anchor not in {paper.anchor for paper in PAPERS}


def test_papers_are_in_the_order_of_their_years_with_addresses_of_their_own():
    years = [paper.authors[-5:-1] for paper in PAPERS]
    assert years == sorted(years)
    assert [paper.anchor for paper in PAPERS] == [
        "punyakanok2005",
        "samdani2012",
        "chang2015",
        "pan2018",
        "ma2019",
    ]


def test_records_of_cases_are_one_exhibit_in_the_order_of_the_plan():
    collected = collect(RECORDS)
    (exhibit,) = (exhibit for exhibit in collected.exhibits if exhibit.name == "ma2019-alpha")
    planned = [part.case for part in EXPERIMENTS["ma2019-alpha"].plan(Settings()).parts]
    assert [case for case, _ in exhibit.records] == planned
    assert list(dict.fromkeys(each.case for each in exhibit.claims)) == planned
    assert exhibit.anchor == "ma2019-alpha-cases"
    assert exhibit.part == "Figure 2"
    assert collected.problems == ()


def test_quick_runs_and_whole_ones_are_exhibits_of_their_own(tmp_path):
    for one in (saved("ma2019-alpha-yeast"), saved("ma2019-alpha-msrc21")):
        quick = replace(one, settings={"quick": one.name.endswith("msrc21")})
        write_record(quick, tmp_path)
    write_record(record("ma2019-alpha"), tmp_path)
    exhibits = collect(tmp_path).exhibits
    assert [(exhibit.anchor, len(exhibit.records)) for exhibit in exhibits] == [
        ("ma2019-alpha", 1),
        ("ma2019-alpha-cases", 1),
        ("ma2019-alpha-cases-quick", 1),
    ]


@pytest.mark.parametrize(
    ("there", "counts"),
    [
        (["ma2019-alpha", "ma2019-alpha-cases", "ma2019-alpha-quick"], "ma2019-alpha"),
        (["ma2019-alpha-cases", "ma2019-alpha-quick"], "ma2019-alpha-cases"),
        (["ma2019-alpha-quick", "ma2019-alpha-cases-quick"], "ma2019-alpha-quick"),
        (["ma2019-alpha-cases-quick"], "ma2019-alpha-cases-quick"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_one_exhibit_of_an_experiment_counts(there, counts):
    other = Exhibit("tour", EXPERIMENTS["tour"], True, (CaseRecord("", record("tour")),))
    exhibits = [
        Exhibit(
            "ma2019-alpha",
            EXPERIMENTS["ma2019-alpha"],
            anchor.endswith("quick"),
            (CaseRecord("yeast" if "cases" in anchor else "", record("ma2019-alpha")),),
        )
        for anchor in there
    ]
    assert [exhibit.anchor for exhibit in exhibits] == there
    for order in (exhibits, exhibits[::-1]):
        found = counted([*order, other])
        assert [exhibit.anchor for exhibit in found] == [counts, "tour-quick"]


def test_an_experiment_of_two_papers_stands_with_the_first_and_is_no_part_of_it(tmp_path):
    write_record(record("conll04-learners"), tmp_path)
    sections = collect(tmp_path).sections
    (exhibit,) = sections[PAPERS[0]]
    assert exhibit.part == ""


def test_damaged_and_foreign_files_are_told_of_without_their_folder(tmp_path):
    write_record(saved("punyakanok2005-synthetic"), tmp_path)
    (tmp_path / "cut.json").write_text('{"name": ')
    (tmp_path / "other.json").write_text("{}")
    whole = (tmp_path / "punyakanok2005-synthetic.json").read_text()
    (tmp_path / "renamed.json").write_text(whole)
    collected = collect(tmp_path)
    assert len(collected.exhibits) == 1
    cut, other, renamed = collected.problems
    assert "cut.json: not JSON, or cut off" in cut
    assert "other.json: a record has the keys" in other
    assert "renamed.json has the record punyakanok2005-synthetic" in renamed
    assert str(tmp_path) not in "".join(collected.problems)


def test_a_record_of_an_unknown_experiment_is_shown_under_its_own_paper(tmp_path):
    write_record(record("nobody1999-table9"), tmp_path)
    write_record(saved("pan2018-speedup-conll04"), tmp_path)
    collected = collect(tmp_path)
    *_, last = collected.sections
    assert (last.authors, last.title, last.anchor) == ("Nobody (1999)", "", "nobody1999")
    (exhibit,) = collected.sections[last]
    assert (exhibit.about, exhibit.part) == ("Nobody1999-table9", "Table 9")
    assert collected.problems == (
        "nobody1999-table9: no experiment has this name, so there is no figure",
    )


def test_no_folder_and_a_folder_without_records_are_refused(tmp_path):
    with pytest.raises(DataError, match="expected a folder"):
        collect(tmp_path / "nothing")
    with pytest.raises(DataError, match="rote reproduce --all --quick"):
        collect(tmp_path)


def test_a_folder_in_which_nothing_is_a_record_has_no_page(tmp_path):
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(DataError, match=r"none of the 1 files in .* can be shown\. Not shown: a\."):
        collect(tmp_path)
