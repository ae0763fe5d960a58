"""The command `rote` parses, calls the library once and prints; mistakes become one line."""

from __future__ import annotations

import io
import json
import math
import socket
import sys

import pytest

import rote
from rote.cli import ANYTIME, UNTIMED, main

# Two variables with two labels each; (1, 0) is the most probable: 0.6 · 0.5 · 2 = 0.6.
UAI = """MARKOV
2
2 2
3
1 0
1 1
2 0 1
2 0.4 0.6
2 0.5 0.5
4 1 1 2 1
"""

# Two variables that must differ; label 1 of the first costs 3, label 1 of the second 1.
WCSP = """differ 2 2 3 100
2 2
1 0 0 1
1 3
1 1 0 1
1 1
2 0 1 0 2
0 0 100
1 1 100
"""

INFEASIBLE = """never 1 2 2 100
2
1 0 0 1
0 100
1 0 0 1
1 100
"""


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line; gives the exit code, what was printed, and what went wrong."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rote", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return int(leaving.value.code or 0), printed.out, printed.err

    return call


@pytest.fixture
def uai(tmp_path):
    file = tmp_path / "problem.uai"
    file.write_text(UAI, encoding="utf-8")
    return file


def is_one_line(text: str) -> bool:
    return text.endswith("\n") and text.count("\n") == 1 and "Traceback" not in text


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"rote {rote.__version__}\n", "")


def test_help_names_the_commands(run):
    code, printed, _ = run("--help")
    assert code == 0
    assert "demo" in printed
    assert "solve" in printed


def test_help_of_solve_names_every_engine(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, printed, _ = run("solve", "--help")
    assert code == 0
    assert [name for name in [*ANYTIME, *UNTIMED] if name not in printed] == []


def test_every_public_engine_can_be_named():
    made = {type(make()) for make in [*ANYTIME.values(), *UNTIMED.values()]}
    public = [getattr(rote, name) for name in rote.__all__ if name != "Engine"]
    wrappers = {rote.Amortized, rote.Decomposed}  # they are options: --cache and --around
    wrappers |= {rote.ExactEvery}  # takes two of them
    wrappers |= {rote.AmortizedRGS}  # knows features alone, which a file of a problem has not
    wrappers |= {rote.Speedup}  # learns from many inputs, and a file has one
    wrappers |= {rote.Beam, rote.ConstrainedBeam}  # for orders that a file does not tell
    assert made == {value for value in public if hasattr(value, "solve")} - wrappers


def test_the_demo_shows_a_sentence_with_and_without_rules(run):
    code, printed, wrong = run("demo")
    assert (code, wrong) == (0, "")
    assert "ithout rules" in printed
    assert "optimal" in printed


def test_solve_prints_the_best_output_and_what_is_known_of_it(run, uai):
    code, printed, _ = run("solve", uai)
    assert code == 0
    words = [line.split() for line in printed.splitlines() if line.strip()]
    assert ["status", "optimal"] in words
    assert ["value", f"{math.log(0.6):.10g}"] in words
    assert words[-2][-1] == "1"
    assert words[-1][-1] == "0"


def test_solve_prints_json_for_programs(run, uai):
    code, printed, _ = run("solve", uai, "--json")
    record = json.loads(printed)
    assert code == 0
    assert list(record["labels"].values()) == ["1", "0"]
    assert record["value"] == pytest.approx(math.log(0.6))
    assert record["bound"] == record["value"]
    assert record["status"] == "optimal"
    assert record["source"] in {source.name.lower() for source in rote.Source}
    assert record["seconds"] > 0
    assert record["cost"] is None


def test_solve_gives_the_cost_of_a_file_with_costs(run, tmp_path):
    file = tmp_path / "differ.wcsp"
    file.write_text(WCSP, encoding="utf-8")
    record = json.loads(run("solve", file, "--json")[1])
    assert record["cost"] == 1
    assert record["value"] == -1
    assert list(record["labels"].values()) == ["0", "1"]


def test_solve_takes_given_labels_from_an_evidence_file(run, uai, tmp_path):
    evidence = tmp_path / "problem.uai.evid"
    evidence.write_text("1 0 0\n", encoding="utf-8")
    record = json.loads(run("solve", uai, "--evidence", evidence, "--json")[1])
    assert list(record["labels"].values()) == ["0", "0"]


@pytest.mark.parametrize("name", [*ANYTIME, "elimination", "chain", "tree", "exhaustive", "greedy"])
def test_solve_gives_the_same_answer_by_any_engine(run, uai, name):
    if name == "gurobi":
        pytest.importorskip("gurobipy")
    record = json.loads(run("solve", uai, "--engine", name, "--json")[1])
    assert list(record["labels"].values()) == ["1", "0"]


def test_solve_stops_early_when_asked(run, uai):
    code, printed, _ = run("solve", uai, "--time-limit", "5", "--engine", "branch", "--json")
    assert code == 0
    assert json.loads(printed)["status"] == "optimal"


def test_a_time_limit_for_an_engine_that_has_none_is_one_line(run, uai):
    code, printed, wrong = run("solve", uai, "--time-limit", "5", "--engine", "chain")
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert "--engine chain cannot stop early" in wrong


def test_an_unknown_engine_is_one_line_with_the_names_there_are(run, uai):
    code, _, wrong = run("solve", uai, "--engine", "magic")
    assert code == 2
    assert is_one_line(wrong)
    assert "branch" in wrong
    assert "'magic'" in wrong


def test_a_space_the_engine_cannot_solve_is_one_line(run, uai):
    code, _, wrong = run("solve", uai, "--engine", "separable")
    assert code == 2
    assert is_one_line(wrong)


def test_a_damaged_file_is_one_line_that_names_it(run, tmp_path):
    file = tmp_path / "broken.uai"
    file.write_text("MARKOV\n2\n2 x\n", encoding="utf-8")
    code, printed, wrong = run("solve", file)
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert "broken.uai" in wrong


def test_conflicting_rules_are_one_line(run, tmp_path):
    file = tmp_path / "never.wcsp"
    file.write_text(INFEASIBLE, encoding="utf-8")
    code, _, wrong = run("solve", file)
    assert code == 2
    assert is_one_line(wrong)
    assert "conflict" in wrong


def test_a_file_that_is_not_there_is_a_mistake_in_the_call(run, tmp_path):
    code, _, wrong = run("solve", tmp_path / "nowhere.uai")
    assert code == 2
    assert "Traceback" not in wrong


def test_a_negative_time_limit_is_a_mistake_in_the_call(run, uai):
    code, _, wrong = run("solve", uai, "--time-limit", "-1")
    assert code == 2
    assert "Traceback" not in wrong


def test_an_answer_without_a_finite_number_is_still_json(run, uai, monkeypatch):
    from rote.tasks import tables

    nothing = tables.FileAnswer(
        ("x",), {}, -math.inf, math.inf, None, rote.Status.TIMED_OUT, rote.Source.BRANCH, 0.1
    )
    monkeypatch.setattr(tables, "solve_file", lambda *_, **__: nothing)
    record = json.loads(run("solve", uai, "--json")[1])
    assert record["value"] is None
    assert record["bound"] is None
    assert record["status"] == "timed_out"
    assert record["labels"] == {}


def test_data_without_a_folder_says_that_all_is_missing_and_where_to_get_it(run, monkeypatch):
    monkeypatch.delenv("ROTE_DATA", raising=False)
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
    from rote.experiments import punyakanok_synthetic
    from rote.experiments.records import read_record

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

    from rote.experiments import registry
    from rote.experiments.base import Experiment, Outcome, Settings
    from rote.experiments.records import Row

    def watched(settings: Settings) -> Outcome:
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


def test_reproduce_refuses_a_single_trial_in_one_line(run, tmp_path):
    code, _, wrong = run(
        "reproduce", "punyakanok2005-synthetic", "--trials", "1", "--out", tmp_path
    )
    assert code == 2
    assert is_one_line(wrong)
    assert list(tmp_path.iterdir()) == []


def test_reproduce_all_tells_of_each_and_its_exit_code_of_failures(run, tmp_path, monkeypatch):
    from rote.errors import DataError
    from rote.experiments import registry, suite
    from rote.experiments.base import Experiment, Outcome
    from rote.experiments.records import Claim

    def failing(_: object) -> Outcome:
        raise DataError("there is\nno such folder")

    fine = Outcome({}, [], [Claim("one", True, ""), Claim("two", False, "")])
    good = Experiment("good", "Nobody (2005)", "", lambda _: fine, plan=lambda _: {})
    there = {"bad": Experiment("bad", "Nobody (2005)", "", failing, plan=lambda _: {})}
    for module in (registry, suite):
        monkeypatch.setattr(module, "EXPERIMENTS", there | {"good": good})
    code, printed, wrong = run("reproduce", "--all", "--out", tmp_path)
    assert (code, wrong) == (1, "")
    bad_line, good_line, last = printed.splitlines()
    assert bad_line == "bad: failed: there is no such folder"
    assert good_line.startswith("good: 1 of 2 claims held, 0.0 seconds")
    assert last == f"1 of 2 have a record in {tmp_path}"
    for module in (registry, suite):
        monkeypatch.setattr(module, "EXPERIMENTS", {"good": good})
    code, printed, _ = run("reproduce", "--all", "--out", tmp_path)
    assert code == 0
    assert printed.splitlines()[0] == "good: 1 of 2 claims held, kept"


@pytest.mark.parametrize("more", [("conll04-learners",), ("--trials", "3"), ("--case", "yeast")])
def test_reproduce_all_takes_nothing_that_is_for_one_experiment(run, more):
    code, _, wrong = run("reproduce", "--all", *more)
    assert code == 2
    assert is_one_line(wrong)


def test_report_writes_a_page_and_tells_of_what_is_missing(run, tmp_path):
    from rote.experiments.records import Claim, Record, Row, write_record

    claims = [Claim("one", True, "1."), Claim("two", False, "2.")]
    rows = [Row("LO", {"f1": 50.0})]
    write_record(Record("conll04-learners", "Some (2005)", {}, rows, claims, {}, 1.0), tmp_path)
    (tmp_path / "cut.json").write_text("{")
    page = tmp_path / "page.html"
    code, printed, wrong = run("report", tmp_path, "--out", page)
    assert code == 0
    assert printed.splitlines() == ["1 records, 0 figures, 1 of 2 claims held", str(page)]
    assert is_one_line(wrong)
    assert "cut.json" in wrong
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_report_of_a_folder_without_records_is_one_line(run, tmp_path):
    code, printed, wrong = run("report", tmp_path)
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert "rote reproduce --all --quick" in wrong


TOKENS = "the DT B-NP\ndog NN I-NP\nruns VB O\n\na DT B-NP\ncat NN I-NP\n"


@pytest.fixture
def chunker(run, tmp_path):
    """A folder with a small model, the file it was learned from, and what was printed."""
    file, model = tmp_path / "train.txt", tmp_path / "model"
    file.write_text(TOKENS, encoding="utf-8")
    options = ("--learner", "perceptron", "--iterations", 5, "--bio", "--dev", file)
    code, printed, wrong = run("train", "tagging", file, "--model", model, *options)
    assert code == 0, wrong
    return model, file, printed


def test_train_tells_what_was_learned_and_predict_and_evaluate_use_it(run, chunker, tmp_path):
    model, file, printed = chunker
    words = [line.split() for line in printed.splitlines()]
    assert ["examples", "2"] in words
    assert ["dev", "chunk", "F1", "1.0"] in words
    assert {"features", "weights", "seconds"} <= {line[0] for line in words}
    new = tmp_path / "new.txt"
    new.write_text("the DT\ncat NN\n\nruns VB\n", encoding="utf-8")
    expected = "the DT B-NP\ncat NN I-NP\n\nruns VB O\n"
    assert run("predict", model, new) == (0, expected, "")
    assert run("predict", model, new, "--out", tmp_path / "out.txt") == (0, "", "")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == expected
    code, printed, _ = run("evaluate", model, file)
    words = [line.split() for line in printed.splitlines()]
    assert code == 0
    assert ["token", "accuracy", "1.0000"] in words
    assert ["NP", "1.0000", "1.0000", "1.0000", "2", "2"] in words
    record = json.loads(run("evaluate", model, file, "--json")[1])
    assert record["scores"] == {"token accuracy": 1.0, "exact match": 1.0, "chunk F1": 1.0}


@pytest.mark.parametrize("learner", ["svm", "perceptron"])
def test_training_and_prediction_with_a_cache_give_the_same(run, tmp_path, learner):
    file, new, store = tmp_path / "train.txt", tmp_path / "new.txt", tmp_path / "cache.db"
    file.write_text(TOKENS * 8, encoding="utf-8")
    new.write_text("the DT\ncat NN\n\nruns VB\n" * 8, encoding="utf-8")
    options = ("--learner", learner, "--iterations", 4, "--bio")
    said = {}
    for name, cache in (("plain", ()), ("kept", ("--cache", store)), ("memory", "--cache memory")):
        cache = cache.split() if isinstance(cache, str) else cache
        model = tmp_path / name
        code, printed, wrong = run("train", "tagging", file, "--model", model, *options, *cache)
        assert code == 0, wrong
        told = dict(line.split() for line in printed.splitlines())
        if cache:
            assert 0 <= int(told["solved"]) <= int(told["inferences"])
            assert int(told["inferences"]) >= 16
        (weights,) = model.glob("*.safetensors")
        said[name] = weights.read_bytes(), run("predict", model, new, *cache)
    assert said["kept"] == said["memory"] == said["plain"]
    assert said["plain"][1][0] == 0
    assert store.is_file()
    assert run("cache", "info", store)[0] == 0


@pytest.mark.parametrize("learner", ["svm", "perceptron", "subgradient"])
def test_training_around_the_right_outputs(run, tmp_path, learner):
    file = tmp_path / "train.txt"
    file.write_text(TOKENS * 4, encoding="utf-8")
    weights = {}
    for name, options in {
        "near": ("--around", 1),
        "kept": ("--around", 1, "--cache", "memory"),
        "far": ("--around", 99),
        "all": (),
    }.items():
        model = tmp_path / name
        code, _, wrong = run(
            "train", "tagging", file, "--model", model, "--learner", learner, "--bio", *options
        )
        assert code == 0, wrong
        (saved,) = model.glob("*.safetensors")
        weights[name] = saved.read_bytes()
        assert run("predict", model, file)[0] == 0
    assert weights["kept"] == weights["near"]
    assert weights["far"] == weights["all"]
    code, _, wrong = run("train", "tagging", file, "--model", tmp_path / "no", "--around", 0)
    assert code != 0
    assert "k is a whole number of at least 1" in wrong


@pytest.mark.parametrize("address", ["cache.txt", "sqlite:", "http://localhost"])
def test_a_cache_that_is_none_is_one_line(run, chunker, tmp_path, address):
    model, file, _ = chunker
    for arguments in (
        ("predict", model, file, "--cache", address),
        ("train", "tagging", file, "--model", tmp_path / "other", "--cache", address),
    ):
        code, printed, wrong = run(*arguments)
        assert code == 2
        assert printed == ""
        assert is_one_line(wrong)
        assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(("task", "y"), [("multiclass", "warm"), ("multilabel", ["warm", "red"])])
def test_json_lines_are_learned_and_predicted(run, tmp_path, task, y):
    file, model = tmp_path / "train.jsonl", tmp_path / "model"
    cold = "cold" if task == "multiclass" else ["cold"]
    examples = [{"x": {"sun": 1}, "y": y}, {"x": {"snow": 1}, "y": cold}]
    file.write_text("".join(json.dumps(e) + "\n" for e in examples), encoding="utf-8")
    assert run("train", task, file, "--model", model, "--C", 10)[0] == 0
    said = [json.loads(line) for line in run("predict", model, file)[1].splitlines()]
    assert [example["y"] for example in said] == [y if task == "multiclass" else sorted(y), cold]
    assert json.loads(run("evaluate", model, file, "--json")[1])["task"] == task


def test_entities_and_relations_are_learned_and_predicted(run, tmp_path):
    rows = "3\tPeop\t0\tO\tNNP\tAda\tO\tO\tO\n3\tLoc\t1\tO\tNNP\tRome\tO\tO\tO\n\n0\t1\tLive_In\n\n"
    file, model = tmp_path / "train.corp", tmp_path / "model"
    file.write_text(rows, encoding="utf-8")
    assert run("train", "entity-relation", file, "--model", model, "--learner", "local")[0] == 0
    said = json.loads(run("predict", model, file)[1])
    assert [entity["label"] for entity in said["entities"]] == ["Peop", "Loc"]
    assert said["relations"] == [{"first": 0, "second": 1, "label": "Live_In"}]


def test_columns_templates_and_a_checkpoint_reach_the_training(run, tmp_path):
    file, templates, model = tmp_path / "a.txt", tmp_path / "templates", tmp_path / "model"
    file.write_text(TOKENS, encoding="utf-8")
    templates.write_text("tag[0]\n", encoding="utf-8")
    options = ("--columns", "form,tag", "--templates", templates, "--order", 0)
    options = (*options, "--learner", "local", "--checkpoint", tmp_path / "state", "--resume")
    for iterations in (1, 2):
        code, printed, wrong = run(
            "train", "tagging", file, "--model", model, *options, "--iterations", iterations
        )
        assert code == 0, wrong
        assert ["features", "3"] in [line.split() for line in printed.splitlines()]
    assert (tmp_path / "state").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["parsing", "train.txt"], "got 'parsing'"),
        (["tagging", "nowhere.txt"], "nowhere.txt: there is no such file"),
        (["tagging", "."], "cannot be read"),
        (["tagging", "bad.txt"], "bad.txt, line 2: expected 3 columns"),
        (["multiclass", "train.txt"], "train.txt, line 1: expected an object"),
        (["tagging", "train.txt", "--learner", "magic"], "got 'magic'"),
        (["tagging", "train.txt", "--engine", "magic"], "got 'magic'"),
        (["tagging", "train.txt", "--learner", "local", "--C", "1"], "local has no C"),
        (["tagging", "train.txt", "--C", "-1"], "C is a number above 0"),
        (["tagging", "train.txt", "--iterations", "0"], "iterations is a whole number"),
        (["tagging", "train.txt", "--order", "-1"], "order is a whole number"),
        (["tagging", "train.txt", "--columns", "word"], "columns names all but the last"),
        (["tagging", "train.txt", "--columns", "word,1"], "a column is named by"),
        (["tagging", "train.txt", "--templates", "nowhere"], "nowhere: there is no such file"),
        (["tagging", "train.txt", "--templates", "bad.txt"], "template"),
        (["tagging", "train.txt", "--dev", "other.txt"], "other.txt, line 1: 'X' is not a label"),
        (["tagging", "train.txt", "--dev", "nowhere.txt"], "no such file"),
        (["tagging", "train.txt", "--pairs", "none"], "pairs is no setting of tagging"),
        (["tagging", "train.txt", "--resume"], "to resume"),
        (["tagging", "empty.txt"], "no examples"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_training_that_cannot_be_is_one_line_and_leaves_nothing(
    run, tmp_path, monkeypatch, options, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(TOKENS, encoding="utf-8")
    (tmp_path / "bad.txt").write_text("the DT B-NP\ndog NN\n", encoding="utf-8")
    (tmp_path / "other.txt").write_text("the DT X\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    code, printed, wrong = run("train", *options, "--model", "model")
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert said in wrong
    assert not (tmp_path / "model").exists()


def test_what_cannot_be_predicted_or_evaluated_is_one_line(run, chunker, tmp_path):
    model, file, _ = chunker
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text('{"x": ["a", "b", "c"], "y": "a"}\n', encoding="utf-8")
    unknown = tmp_path / "unknown.txt"
    unknown.write_text("the DT B-NP\ndog NN B-VP\n", encoding="utf-8")
    out = tmp_path / "out.txt"
    out.write_text("before", encoding="utf-8")
    for arguments, said in (
        (("predict", tmp_path / "nowhere", file), "nowhere"),
        (("predict", tmp_path, file), "no such file"),
        (("predict", model, tmp_path / "nowhere.txt"), "nowhere.txt: there is no such file"),
        (("predict", model, foreign, "--out", out), "foreign.jsonl, line 1: expected the columns"),
        (("predict", model, file, "--out", tmp_path), "cannot be written"),
        (("evaluate", model, foreign), "foreign.jsonl, line 1: expected the columns"),
        (("evaluate", model, unknown), "unknown.txt, line 2: 'B-VP' is not a label"),
    ):
        code, printed, wrong = run(*arguments)
        assert (code, printed) == (2, "")
        assert is_one_line(wrong)
        assert said in wrong
    assert out.read_text(encoding="utf-8") == "before"
    record = json.loads(run("evaluate", model, unknown, "--allow-unknown", "--json")[1])
    assert record["scores"]["token accuracy"] == 0.5


def test_a_model_of_a_task_without_files_is_one_line(run, chunker, tmp_path):
    from rote.learning import Local
    from rote.learning.training import train
    from rote.tasks.synthetic import BinaryPoints

    task = BinaryPoints(2)
    train(task, [[[1.0], [2.0]]], [(0, 1)], learner=Local(iterations=1)).save(tmp_path / "points")
    code, _, wrong = run("predict", tmp_path / "points", chunker[1])
    assert code == 2
    assert is_one_line(wrong)
    assert "BinaryPoints" in wrong


def test_help_of_train_names_every_task_and_learner(run, monkeypatch):
    from rote.learning.files import LEARNERS
    from rote.tasks.files import NAMES

    monkeypatch.setenv("COLUMNS", "300")
    code, printed, _ = run("train", "--help")
    assert code == 0
    assert [name for name in [*NAMES.values(), *LEARNERS] if name not in printed] == []


@pytest.fixture
def remembered(tmp_path):
    """A store in a file: two entries and a damaged pack on one shelf, one entry on another."""
    import numpy as np

    from rote.inference.amortized.entries import Entry, pack
    from rote.inference.amortized.stores import SqliteStore

    entry = Entry(np.array([1]), np.array([0.5, 2.0]), np.array([]), np.array([]), math.inf)
    file, long = tmp_path / "store.sqlite", "1-abc" + "0" * 60
    with SqliteStore(file) as store:
        store.add(long, [pack(entry, long), pack(entry, long), b"damaged"])
        store.add("1-abd", [pack(entry, "1-abd")])
    return file, len(pack(entry, long))


def test_cache_info_lists_the_shelves_with_their_entries_and_sizes(run, remembered, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    file, size = remembered
    code, printed, wrong = run("cache", "info", file)
    assert (code, wrong) == (0, "")
    rows = [line.split() for line in printed.splitlines()]
    assert rows[1:] == [
        ["1-abc" + "0" * 27 + "…", "3", str(2 * size + 7), "bytes"],
        ["1-abd", "1", str(size), "bytes"],
        ["2", "in", "all", "4", str(3 * size + 7), "bytes"],
    ]
    records = json.loads(run("cache", "info", f"sqlite:{file}", "--json")[1])
    assert records == [
        {"shelf": "1-abc" + "0" * 60, "entries": 3, "bytes": 2 * size + 7},
        {"shelf": "1-abd", "entries": 1, "bytes": size},
    ]


def test_cache_info_writes_out_what_a_terminal_would_take_as_a_command(run, tmp_path):
    from rote.inference.amortized.stores import SqliteStore

    with SqliteStore(tmp_path / "odd.db") as store:
        store.add("\x1b[31m[red]\n\udcff", [b"1"])
    code, printed, _ = run("cache", "info", tmp_path / "odd.db")
    assert code == 0
    assert "\\x1b[31m[red]\\n\\udcff" in printed
    assert "\x1b" not in printed


def test_cache_clear_forgets_one_shelf_or_all(run, remembered):
    file, _ = remembered

    def shelves():
        records = json.loads(run("cache", "info", file, "--json")[1])
        return [one["shelf"] for one in records]

    assert run("cache", "clear", file, "--shelf", "1-abc", "--yes") == (0, "forgot 3 entries\n", "")
    assert shelves() == ["1-abd"]
    assert run("cache", "clear", file, "--yes") == (0, "forgot 1 entry\n", "")
    assert shelves() == []
    assert run("cache", "clear", file, "--yes")[0] == 0


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 2), ("", 2)])
def test_cache_clear_asks_first(run, remembered, monkeypatch, answer, left):
    file, _ = remembered
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    code, printed, _ = run("cache", "clear", file)
    assert "Entries to forget: 4. Go on?" in printed
    assert code == (0 if left == 0 else 1)
    assert len(json.loads(run("cache", "info", file, "--json")[1])) == left


def test_cache_export_writes_json_lines_and_says_what_was_damaged(run, remembered, tmp_path):
    file, _ = remembered
    code, printed, wrong = run("cache", "export", file, tmp_path / "all.jsonl")
    assert (code, wrong) == (0, "")
    words = [line.split() for line in printed.splitlines()]
    assert words == [["entries", "3"], ["damaged,", "left", "out", "1"]]
    lines = (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["shelf"][:5] for record in records] == ["1-abc", "1-abc", "1-abd"]
    assert (records[0]["labels"], records[0]["scores"]) == ([1], [0.5, 2.0])
    assert records[0]["margin"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info", "nowhere.sqlite"], "nowhere.sqlite: there is no such file"),
        (["info", "store"], "got 'store'"),
        (["info", "memory"], "name a file or a server"),
        (["info", "thesis.db"], "thesis.db is no SQLite file"),
        (["info", "unix:///nowhere/redis.sock"], "cannot be reached"),
        (["clear", "nowhere.sqlite", "--yes"], "nowhere.sqlite: there is no such file"),
        (["clear", "store.sqlite", "--yes", "--shelf", "2"], "none of them begin with '2'"),
        (["clear", "store.sqlite", "--yes", "--shelf", "1-ab"], "2 of them begin with '1-ab'"),
        (["export", "nowhere.sqlite", "out.jsonl"], "nowhere.sqlite: there is no such file"),
        (["export", "store.sqlite", "nowhere/out.jsonl"], "out.jsonl: cannot be written"),
        (["export", "store.sqlite", "."], ".: cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_store_that_cannot_be_used_is_one_line_and_nothing_is_made_or_lost(
    run, remembered, tmp_path, monkeypatch, arguments, said
):
    if arguments[1].startswith("unix:"):
        pytest.importorskip("redis")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thesis.db").write_text("the only copy\n" * 100, encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    code, printed, wrong = run("cache", *arguments)
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert said in wrong
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert len(json.loads(run("cache", "info", remembered[0], "--json")[1])) == 2


@pytest.fixture
def lights(tmp_path):
    """The folder of a saved model."""
    from rote.tasks.multiclass import Multiclass

    rote.train(Multiclass(("go", "stop")), [["green"], ["red"]], ["go", "stop"]).save(tmp_path)
    return tmp_path


def test_serving_on_a_port_that_is_taken_is_answered_by_one_line(run, lights):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, printed, wrong = run("serve", lights, "--port", taken.getsockname()[1])
    assert (code, printed) == (2, "")
    assert "is taken by another program; name another port" in wrong
    assert is_one_line(wrong)


def test_serving_without_its_packages_names_the_extra_before_a_model_is_read(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, wrong = run("serve", "no such folder")
    assert code == 2
    assert "pip install 'rote[serve]'" in wrong
    assert is_one_line(wrong)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engine", "quick"], "--engine is one of amortized, speedup, exact"),
        (["--share", "0.1"], "for the engine speedup"),
        (["--engine", "exact", "--store", "a.sqlite"], "keeps nothing in a store"),
    ],
)
def test_settings_of_serve_that_do_not_fit_are_answered_by_one_line(run, lights, arguments, said):
    code, _, wrong = run("serve", lights, *arguments)
    assert code == 2
    assert said in wrong
    assert is_one_line(wrong)


def test_help_of_serve_names_every_engine(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, printed, _ = run("serve", "--help")
    assert code == 0
    assert [n for n in ["amortized", "speedup", *ANYTIME, *UNTIMED] if n not in printed] == []
