"""`rote reproduce`, `rote report` and `rote data`."""

import json

import pytest

from tests.cli.lines import is_one_line


def test_reproduce_lists_the_experiments_there_are(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, printed, wrong = run("reproduce", "--list")
    assert (code, wrong) == (0, "")
    assert "punyakanok2005-synthetic" in printed
    assert "punyakanok2005-features" in printed
    assert "Punyakanok et al. (2005), Figure 3" in printed


@pytest.mark.parametrize("arguments", [("nothing-2005",), ()])
def test_reproduce_without_a_known_name_is_one_line_with_those_there_are(run, arguments):
    code, printed, wrong = run("reproduce", *arguments)
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert "punyakanok2005-synthetic" in wrong


def test_reproduce_shows_the_table_and_the_claims_and_writes_the_record(run, tmp_path, monkeypatch):
    from papers.punyakanok2005 import synthetic as punyakanok_synthetic
    from papers.records import read_record

    tiny = punyakanok_synthetic.Plan(sizes=(5, 10), trials=5, dimensions=3, test=20, cycles=3)
    monkeypatch.setattr(punyakanok_synthetic, "QUICK", tiny)
    monkeypatch.setenv("COLUMNS", "200")
    name = "punyakanok2005-synthetic"
    code, printed, _ = run(
        "reproduce", name, "--quick", "--trials", "2", "--seed", "3", "--out", tmp_path
    )
    assert code == 0
    record = read_record(tmp_path / f"{name}.json")
    assert (record.settings["trials"], record.settings["seed"]) == (2, 3)
    assert (tmp_path / f"{name}.png").is_file()
    verdicts = [f"{'held' if c.held else 'did not hold'}: {c.claim}" for c in record.claims]
    assert [verdict for verdict in verdicts if verdict not in printed] == []
    assert str(tmp_path / f"{name}.json") in printed
    rows = [line.split(" ")[0] for line in printed.splitlines()]
    assert [rows.count(method) for method in ("LO", "L+I", "IBT")] == [6, 6, 6]


def test_reproduce_says_on_its_bar_what_is_done_and_below_its_table_what_it_means(
    run, tmp_path, monkeypatch
):
    from rich.progress import Progress

    from papers import registry
    from papers.base import Experiment, Outcome, Settings
    from papers.records import Row

    def watched(_: object, settings: Settings) -> Outcome:
        settings.doing("looking around")
        settings.progress(1, 2)
        return Outcome({}, [Row("LO", {"f1": 1.5})], [])

    told = []
    update = Progress.update

    def seen(bar, *given, **more):
        told.append(more)
        update(bar, *given, **more)

    monkeypatch.setattr(Progress, "update", seen)
    legend = {"LO": "by itself", "f1": "how good it is"}
    one = Experiment("one", "Nobody (2005)", "", watched, plan=lambda _: {}, legend=legend)
    monkeypatch.setattr(registry, "EXPERIMENTS", {"one": one})
    code, printed, _ = run("reproduce", "one", "--out", tmp_path)
    assert code == 0
    assert told == [{"description": "one: looking around"}, {"completed": 1, "total": 2}]
    lines = [line.split() for line in printed.splitlines()]
    assert ["LO", "by", "itself"] in lines
    assert ["F1", "how", "good", "it", "is"] in lines


def test_reproduce_all_tells_of_each_and_its_exit_code_of_failures(run, tmp_path, monkeypatch):
    from papers import registry, suite
    from papers.base import Experiment, Outcome
    from papers.records import Claim
    from rote import DataError

    def failing(*_: object) -> Outcome:
        raise DataError("there is\nno such folder")

    claims = [Claim("one", True, ""), Claim("two", False, "")]
    fine = Outcome({"data": "made up, as ROTE_DATA is not set"}, [], claims)
    good = Experiment("good", "Nobody (2005)", "", lambda *_: fine, plan=lambda _: {})
    there = {"bad": Experiment("bad", "Nobody (2005)", "", failing, plan=lambda _: {})}
    for module in (registry, suite):
        monkeypatch.setattr(module, "EXPERIMENTS", there | {"good": good})
    code, printed, wrong = run("reproduce", "--all", "--out", tmp_path)
    assert (code, wrong) == (1, "")
    bad_line, good_line, last = printed.splitlines()
    assert bad_line == "bad: failed: there is no such folder"
    assert good_line.startswith("good: 1 of 2 claims held, 0.0 seconds, on made-up data")
    assert last == f"1 of 2 have a record in {tmp_path}"
    for module in (registry, suite):
        monkeypatch.setattr(module, "EXPERIMENTS", {"good": good})
    code, printed, _ = run("reproduce", "--all", "--out", tmp_path)
    assert code == 0
    assert printed.splitlines()[0] == "good: 1 of 2 claims held, kept, on made-up data"


@pytest.mark.parametrize("more", [("conll04-learners",), ("--trials", "3"), ("--case", "yeast")])
def test_reproduce_all_takes_nothing_that_is_for_one_experiment(run, more):
    code, _, wrong = run("reproduce", "--all", *more)
    assert code == 2
    assert is_one_line(wrong)


def test_report_writes_a_page_and_tells_of_what_is_missing(run, tmp_path):
    from papers.records import Claim, Record, Row, write_record

    claims = [Claim("one", True, "1."), Claim("two", False, "2.")]
    rows = [Row("LO", {"f1": 50.0})]
    write_record(Record("conll04-learners", "Some (2005)", {}, rows, claims, {}, 1.0), tmp_path)
    (tmp_path / "cut.json").write_text("{")
    page = tmp_path / "page.html"
    code, printed, wrong = run("report", tmp_path, "--out", page)
    assert code == 0
    assert printed.splitlines() == ["records: 1, figures: 0, claims held: 1 of 2", str(page)]
    assert is_one_line(wrong)
    assert "cut.json" in wrong
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_report_of_a_folder_without_records_is_one_line(run, tmp_path):
    code, printed, wrong = run("report", tmp_path)
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert "rote reproduce --all --quick" in wrong


def test_data_without_a_folder_says_that_all_is_missing_and_where_to_get_it(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, printed, wrong = run("data")
    assert (code, wrong) == (0, "")
    assert "ROTE_DATA is not set" in printed
    lines = [line.split() for line in printed.splitlines()]
    assert ["twitter_pos", "missing"] in [[line[0], line[-1]] for line in lines if line]
    assert "brendano/ark-tweet-nlp" in printed
    assert "missing: scene.npz" in printed


def test_data_names_the_files_that_differ_only_when_they_are_checked(run, tmp_path, monkeypatch):
    monkeypatch.setenv("ROTE_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "scene").mkdir()
    (tmp_path / "scene" / "scene.npz").write_bytes(b"another file")
    unchecked, checked = run("data")[1], run("data", "--check")[1]
    assert f"ROTE_DATA is {tmp_path}" in unchecked
    row = next(line for line in unchecked.splitlines() if line.startswith("scene "))
    assert row.split()[-1] == "present"
    row = next(line for line in checked.splitlines() if line.startswith("scene "))
    assert row.split()[-2:] == ["differs:", "scene.npz"]
    assert "missing: scene.npz" not in unchecked


def test_data_prints_json_for_programs(run, tmp_path, monkeypatch):
    monkeypatch.setenv("ROTE_DATA", str(tmp_path))
    (tmp_path / "scene").mkdir()
    (tmp_path / "scene" / "scene.npz").write_bytes(b"another file")
    code, printed, _ = run("data", "--json", "--check")
    records = {record["name"]: record for record in json.loads(printed)}
    assert code == 0
    assert len(records) == 21
    assert records["scene"]["state"] == "differs"
    assert records["scene"]["missing or differing"] == ["scene.npz"]
    assert records["ocr"]["state"] == "missing"
    assert "Kassel" in records["ocr"]["where"]
    assert list(records["ocr"]["files"]) == ["ocr_letters.npz"]


def test_data_says_when_there_is_no_such_folder(run, monkeypatch, tmp_path):
    monkeypatch.setenv("ROTE_DATA", str(tmp_path / "nowhere"))
    assert "and there is no such folder" in " ".join(run("data")[1].split())
