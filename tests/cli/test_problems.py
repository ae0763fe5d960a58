"""`rote demo` and `rote solve`."""

import json
import math
import signal
from io import BytesIO, TextIOWrapper

import pytest

import rote
from rote.cli.engines import ANYTIME
from rote.errors import DataError

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
    assert record["source"] in {source.name.lower() for source in rote.FoundBy}
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
    packages = {"gurobi": "gurobipy", "cp-sat": "ortools", "toulbar2": "pytoulbar2"}
    if name in packages:
        pytest.importorskip(packages[name])
    record = json.loads(run("solve", uai, "--engine", name, "--json")[1])
    assert list(record["labels"].values()) == ["1", "0"]


def test_conflicting_rules_stand_below_each_other(run, tmp_path):
    file = tmp_path / "never.wcsp"
    file.write_text(INFEASIBLE, encoding="utf-8")
    code, _, wrong = run("solve", file)
    assert code == 2
    first, *rules = wrong.splitlines()
    assert "conflict" in first
    assert len(rules) == 2
    assert all(rule.startswith("  - ") for rule in rules)


@pytest.mark.parametrize("arguments", ["nowhere.uai", "problem.uai --time-limit -1"])
def test_a_mistake_in_the_call_is_no_traceback(run, uai, monkeypatch, arguments):
    monkeypatch.chdir(uai.parent)
    code, _, wrong = run("solve", *arguments.split())
    assert code == 2
    assert "Traceback" not in wrong


def test_an_answer_without_a_finite_number_is_still_json(run, uai, monkeypatch):
    from rote.tasks import network_files as tables

    nothing = tables.FileAnswer(
        {}, -math.inf, math.inf, None, rote.Status.TIMED_OUT, rote.FoundBy.BRANCH, 0.1
    )
    monkeypatch.setattr(tables, "solve_file", lambda *_, **__: nothing)
    record = json.loads(run("solve", uai, "--json")[1])
    assert record["value"] is None
    assert record["bound"] is None
    assert record["status"] == "timed_out"
    assert record["labels"] == {}


def test_ctrl_c_ends_solve_at_once_and_nothing_else(run, uai, monkeypatch):
    seen, before = [], signal.getsignal(signal.SIGINT)

    def solve(*_: object, **__: object) -> None:
        seen.append(signal.getsignal(signal.SIGINT))
        raise DataError("no more of this")

    monkeypatch.setattr("rote.tasks.network_files.solve_file", solve)
    assert run("solve", uai)[0] == 2
    assert seen == [signal.SIG_DFL]
    assert signal.getsignal(signal.SIGINT) == before


CFN = """{ problem: { name: differ, mustbe: "<100" }, variables: { x: 2, y: 2 },
functions: { a: { scope: [x], costs: [0, 3] }, b: { scope: [y], costs: [0, 1] },
c: { scope: [x, y], costs: [100, 0, 0, 100] } } }"""
UAI = "MARKOV 2 2 2 3 1 0 1 1 2 0 1 2 1 0.05 2 1 0.37 4 0 1 1 0"


@pytest.mark.parametrize("text", [WCSP, CFN, UAI], ids=["wcsp", "cfn", "uai"])
def test_solve_reads_a_problem_in_any_format_from_the_standard_input(run, text, monkeypatch):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
    code, printed, wrong = run("solve", "-", "--json")
    assert (code, wrong) == (0, "")
    assert list(json.loads(printed)["labels"].values()) == ["0", "1"]


@pytest.mark.parametrize("text", ["", "{", "MARKOV two"])
def test_a_standard_input_that_is_no_problem_is_refused(run, text, monkeypatch):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
    code, _, wrong = run("solve", "-")
    assert code == 2
    assert "rote: -, line 1: expected" in wrong
