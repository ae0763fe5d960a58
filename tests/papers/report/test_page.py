"""The page has a section per paper, and needs nothing but itself."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from papers import plots
from papers.records import Row, write_record
from papers.report import write_report
from papers.report.collect import PAPERS
from rote import DataError, MissingDependency
from tests.papers.report.made_up import by_alpha, record, speedups

UNLABELLED = {"meta", "link", "br", "hr", "img", "input"}


class Reader(HTMLParser):
    """Takes down tags, names and links, and whether all that is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name == "href" and tag == "a":
                self.links.append(value)
            assert name not in ("src", "srcset"), "a page of its own fetches nothing"
            assert not name.startswith("on"), "a page without scripts"
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag not in UNLABELLED:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in UNLABELLED:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def read(page):
    reader = Reader()
    reader.feed(page.file.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


def test_what_was_written_is_told(page):
    assert (page.records, page.figures, page.problems) == (10, 9, ())
    assert page.claims == (10, 18)


def test_every_paper_has_a_section_and_every_link_leads_somewhere(read):
    assert {"summary", "main", *(paper.anchor for paper in PAPERS)} <= set(read.ids)
    assert len(read.ids) == len(set(read.ids))
    assert read.links[0] == "#main"
    assert {link[1:] for link in read.links} <= set(read.ids)


def test_headings_go_down_one_step_at_a_time(read):
    assert read.headings[0] == 1
    assert read.headings.count(1) == 1
    steps = zip(read.headings, read.headings[1:], strict=False)
    assert all(after <= before + 1 for before, after in steps)


def test_the_page_fetches_nothing_and_runs_nothing(read, page):
    assert "script" not in read.tags
    text = page.file.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert re.findall(r"https?://[^\s\"'<]*", text) == []
    assert not re.search(r"@import|url\((?!#)", text)


def test_what_records_say_cannot_become_a_tag(read, page):
    assert "b" not in read.tags
    assert "it is faster &lt;b&gt;" in page.file.read_text(encoding="utf-8")


def test_the_same_records_give_the_same_page(tmp_path):
    write_record(by_alpha("yeast"), tmp_path)
    one, two = (write_report(tmp_path, tmp_path / name) for name in ("one.html", "two.html"))
    assert one.figures == 1
    assert one.file.read_bytes() == two.file.read_bytes()


def test_quick_runs_are_said_to_be_a_first_look(page):
    text = page.file.read_text(encoding="utf-8")
    assert text.count("<strong>Quick run:</strong> a first look, smaller than a whole run") == 1


def test_made_up_data_are_said_above_their_table(tmp_path):
    made = "made up, as ROTE_DATA is not set"
    for name, data in (("tour", "conll04"), ("conll04-learners", made)):
        write_record(record(name, [Row("LO", {"f1": 1.0})], data=data), tmp_path)
    text = write_report(tmp_path).file.read_text(encoding="utf-8")
    assert text.count("<strong>Made-up data:</strong> ROTE_DATA is not set.") == 1


def test_settings_and_environment_are_there_to_unfold(page):
    text = page.file.read_text(encoding="utf-8")
    assert "<li>C: 0.1, 1.0</li>" in text
    assert "<li>cpus: 2</li>" in text
    assert "<p>12.5 seconds</p>" in text


def test_without_a_file_the_page_is_the_index_of_the_folder(tmp_path):
    write_record(speedups(), tmp_path)
    written = write_report(tmp_path)
    assert written.file == tmp_path / "index.html"
    text = written.file.read_text(encoding="utf-8")
    assert "rote reproduce chang2015-er" in text  # whose record is missing
    assert text.count("There is no record of this paper") == 4


def test_damaged_files_are_told_of_on_the_page(tmp_path):
    write_record(speedups(), tmp_path)
    (tmp_path / "cut.json").write_text("{")
    written = write_report(tmp_path)
    assert len(written.problems) == 1
    assert "What is missing" in written.file.read_text(encoding="utf-8")
    assert "Not shown: cut.json: not JSON" in written.file.read_text(encoding="utf-8")


def test_a_record_that_lacks_what_is_drawn_is_shown_without_its_figure(tmp_path):
    write_record(record("ma2019-alpha", [Row("LO", {"f1": 1.0})], case="yeast"), tmp_path)
    written = write_report(tmp_path)
    assert written.figures == 0
    (problem,) = written.problems
    assert "ma2019-alpha-yeast: its figure cannot be drawn (KeyError" in problem
    assert '<th scope="row">LO</th>' in written.file.read_text(encoding="utf-8")


def test_without_matplotlib_there_is_a_page_that_says_so_once(tmp_path, monkeypatch):
    def lacking() -> None:
        raise MissingDependency("install it")

    monkeypatch.setattr(plots, "load_matplotlib", lacking)
    monkeypatch.setattr("papers.ma2019.alpha.load_matplotlib", lacking)
    for case in ("yeast", "msrc21"):
        write_record(by_alpha(case), tmp_path)
    written = write_report(tmp_path)
    assert written.problems == ("Figures are not drawn: install it",)


def test_rows_that_do_not_say_their_case_get_it(tmp_path):
    for case in ("yeast", "msrc21"):
        one = record("ma2019-accuracy", [Row("IID", {"f1": 1.0})], case=case)
        write_record(replace(one, claims=()), tmp_path)
    text = write_report(tmp_path).file.read_text(encoding="utf-8")
    assert '<td class="word">yeast</td>' in text
    assert '<td class="word">msrc21</td>' in text


def test_a_page_that_cannot_be_written_is_a_sentence(tmp_path):
    file = write_record(speedups(), tmp_path)
    with pytest.raises(DataError, match="cannot be written"):
        write_report(tmp_path, file / "page.html")


def test_a_write_that_fails_leaves_the_old_page_and_no_scrap(tmp_path, monkeypatch):
    write_record(speedups(), tmp_path)
    page = write_report(tmp_path).file
    before, there = page.read_bytes(), sorted(tmp_path.iterdir())
    write_record(record("tour", []), tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(DataError, match="No space left"):
        write_report(tmp_path)
    assert page.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == sorted([*there, tmp_path / "tour.json"])


def test_a_tour_has_a_legend_below_its_table_and_a_figure_in_the_colours_of_the_page(tmp_path):
    metrics = {"relation_f1": 55.5, "obey_percent": 60.0, "learn_seconds": 0.5}
    rows = [
        Row("LO", {**metrics, "proved_percent": 60.0}),
        Row("IBT", {**metrics, "obey_percent": 100.0, "proved_percent": 100.0}),
    ]
    write_record(record("tour", rows), tmp_path)
    report = write_report(tmp_path)
    assert (report.figures, report.problems) == (1, ())
    html = report.file.read_text(encoding="utf-8")
    legend = html.index('<dl class="legend">')
    assert html.index("</table>", html.index('id="tour"')) < legend < html.index("<h4>Claims</h4>")
    assert "<dt>LO</dt><dd>learns and decides every label by itself; knows no rule</dd>" in html
    assert "<dt>relation F1 (%)</dt>" in html
    assert "<dt>learn (s)</dt>" in html
    (svg,) = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert re.findall(r'style="[^"]*#[0-9a-fA-F]{6}', svg) == []
    reader = Reader()
    reader.feed(html)
    assert reader.open == []


def test_an_experiment_that_explains_nothing_has_no_legend(page):
    assert 'class="legend"' not in page.file.read_text(encoding="utf-8")


def test_a_page_does_not_take_the_place_of_a_record(tmp_path):
    file = write_record(record("chang2015-er", []), tmp_path)
    before = file.read_bytes()
    with pytest.raises(DataError, match="may be a record, and is left as it is; name a page"):
        write_report(tmp_path, file)
    assert file.read_bytes() == before
