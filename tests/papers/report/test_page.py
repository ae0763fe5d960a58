"""The page has a section per paper, and needs nothing but itself."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from papers import plots
from papers.records import Row, write_record
from papers.report import write_report
from papers.report.collect import PAPERS
from rote import DataError, MissingDependency
from tests.papers.report.made_up import RECORDS, record, saved

UNCLOSED = {"meta", "link", "br", "hr", "img", "input"}
ROW = Row("LO", {"f1": 1.0})


class Reader(HTMLParser):
    """Takes down tags, names and links, and whether all that is opened is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.tags: set[str] = set()
        self.feed(html)
        assert self.open == []

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
        if tag not in UNCLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in UNCLOSED:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_all_records_are_on_the_page_with_a_section_for_every_paper(page):
    read = Reader(page.html)
    assert page.report.records == len(list(RECORDS.glob("*.json")))
    assert page.report.problems == ()
    assert page.html.count("<figure ") == page.report.figures > 10
    assert {"summary", "main", *(paper.anchor for paper in PAPERS)} <= set(read.ids)
    assert len(read.ids) == len(set(read.ids))
    assert read.links[0] == "#main"
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert read.headings[0] == 1
    assert read.headings.count(1) == 1
    steps = zip(read.headings, read.headings[1:], strict=False)
    assert all(after <= before + 1 for before, after in steps)


def test_the_page_fetches_nothing_and_runs_nothing(page):
    assert "script" not in Reader(page.html).tags
    assert "default-src 'none'" in page.html
    assert re.findall(r"https?://[^\s\"'<]*", page.html) == []
    assert not re.search(r"@import|url\((?!#)", page.html)


def test_the_same_records_give_the_same_page(tmp_path):
    write_record(saved("ma2019-alpha-yeast"), tmp_path)
    one, two = (write_report(tmp_path, tmp_path / name) for name in ("one.html", "two.html"))
    assert one.figures == 1
    assert one.file.read_bytes() == two.file.read_bytes()


def test_a_record_is_shown_with_settings_and_environment_and_cannot_become_a_tag(shown):
    html = shown(record("chang2015-er", ROW, plan={"C": [0.1, 1.0]}, quick=True)).html
    assert "b" not in Reader(html).tags
    assert "it is faster &lt;b&gt;" in html
    assert "<li>C: 0.1, 1.0</li>" in html
    assert "<li>cpus: 2</li>" in html
    assert "<p>12.5 seconds</p>" in html
    assert html.count("<strong>Quick run:</strong> a first look, smaller than a whole run") == 1
    assert 'class="legend"' not in html  # it explains nothing


def test_made_up_data_are_said_above_their_table(shown):
    made = "made up, as ROTE_DATA is not set"
    html = shown(
        record("tour", ROW, data="conll04"), record("conll04-learners", ROW, data=made)
    ).html
    assert html.count("<strong>Made-up data:</strong> ROTE_DATA is not set.") == 1


def test_the_page_is_the_index_of_the_folder_and_says_what_is_missing(shown, tmp_path):
    (tmp_path / "cut.json").write_text("{")
    report, html = shown(saved("pan2018-speedup-conll04"))
    assert report.file == tmp_path / "index.html"
    assert "rote reproduce chang2015-er" in html  # whose record is missing
    assert html.count("There is no record of this paper") == 4
    assert len(report.problems) == 1
    assert "What is missing" in html
    assert "Not shown: cut.json: not JSON" in html


def test_a_record_that_lacks_what_is_drawn_is_shown_without_its_figure(shown):
    report, html = shown(record("ma2019-alpha", ROW, case="yeast"))
    assert report.figures == 0
    (problem,) = report.problems
    assert "ma2019-alpha-yeast: its figure cannot be drawn (KeyError" in problem
    assert '<th scope="row">LO</th>' in html


def test_without_matplotlib_there_is_a_page_that_says_so_once(shown, monkeypatch):
    def lacking() -> None:
        raise MissingDependency("install it")

    monkeypatch.setattr(plots, "load_matplotlib", lacking)
    monkeypatch.setattr("papers.ma2019.alpha.load_matplotlib", lacking)
    report, _ = shown(saved("ma2019-alpha-yeast"), saved("ma2019-alpha-msrc21"))
    assert report.problems == ("Figures are not drawn: install it",)


def test_rows_that_do_not_say_their_case_get_it(shown):
    html = shown(*(record("ma2019-accuracy", ROW, case=case) for case in ("yeast", "msrc21"))).html
    assert '<td class="word">yeast</td>' in html
    assert '<td class="word">msrc21</td>' in html


def test_a_tour_has_a_legend_below_its_table_and_a_figure_in_the_colours_of_the_page(shown):
    report, html = shown(saved("tour"))
    assert (report.figures, report.problems) == (1, ())
    legend = html.index('<dl class="legend">')
    assert html.index("</table>", html.index('id="tour"')) < legend < html.index("<h4>Claims</h4>")
    assert "<dt>LO</dt><dd>learns and decides every label by itself; knows no rule</dd>" in html
    assert "<dt>relation F1 (%)</dt>" in html
    (svg,) = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert re.findall(r'style="[^"]*#[0-9a-fA-F]{6}', svg) == []
    Reader(html)


def test_a_page_that_cannot_be_written_is_a_sentence_and_leaves_what_was_there(
    shown, tmp_path, monkeypatch
):
    page = shown(saved("pan2018-speedup-conll04")).report.file
    file = write_record(replace(saved("tour"), claims=()), tmp_path)
    there = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(DataError, match="may be a record, and is left as it is; name a page"):
        write_report(tmp_path, file)
    with pytest.raises(DataError, match="cannot be written"):
        write_report(tmp_path, file / "page.html")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(DataError, match="No space left"):
        write_report(tmp_path, page)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == there
