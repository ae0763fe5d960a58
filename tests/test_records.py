"""Records of whole runs lie beside the documentation, and its tables say what they say.

A record is of today's experiment: of the plan that the code has now, on the real data. Tables are
found by their headings, and compared cell by cell; a cell that is not of a record is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import picture
from papers.base import Settings
from papers.records import Record, Row, read_record
from papers.registry import asked
from papers.suite import jobs

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "records"
NAMES = sorted(path.stem for path in RECORDS.glob("*.json"))
GREEDY, MA = "docs/greedy.md", "docs/papers/ma2019.md"
PUNYAKANOK = "docs/papers/punyakanok2005.md"


def record(name: str) -> Record:
    return read_record(RECORDS / f"{name}.json")


def row(name: str, method: str, **where: object) -> Row:
    """The one row of a record with this method, and these metrics."""
    (found,) = [
        each
        for each in record(name).rows
        if each.method == method and where.items() <= each.metrics.items()
    ]
    return found


def tables(page: str) -> Iterator[dict[str, dict[str, str]]]:
    """The tables of a page: the cells of each row by heading, rows by their first cell."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()]
        head, _, *body = [[cell.strip() for cell in line] for line in lines]
        yield {cells[0]: dict(zip(head[1:], cells[1:], strict=True)) for cells in body}


def table(page: str, *columns: str) -> dict[str, dict[str, str]]:
    """The first table of a page that has these columns."""
    return next(found for found in tables(page) if set(columns) <= set(next(iter(found.values()))))


def one(value: object) -> str:
    """A number with one digit after the point."""
    return f"{float(value):.1f}"


# -- the records -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_of_a_whole_run_of_what_the_experiment_is_today(name, monkeypatch):
    monkeypatch.setenv("ROTE_DATA", "somewhere")
    todo = {job.name: job for job in jobs(Settings())}
    assert name in todo
    assert record(name).settings["asked"] == asked(todo[name].experiment, todo[name].settings)


def test_an_experiment_without_a_record_is_named():
    text = (RECORDS / "README.md").read_text(encoding="utf-8")
    missing = {job.name for job in jobs(Settings())} - set(NAMES)
    assert set(re.findall(r"`([a-z]+\d{4}-[a-z0-9-]+)`", text)) == missing


def test_the_picture_of_the_readme_is_that_of_the_record():
    found = record("conll04-learners")
    drawn = picture.draw(found.to_json()["rows"], picture.judged(found.settings))
    assert (ROOT / "docs" / "results.svg").read_text(encoding="utf-8") == drawn


# -- the tables ------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [PUNYAKANOK, "docs/benchmarks.md"])
def test_entities_and_relations_by_learner(page):
    shown = table(page, "entity F1", "relation F1", "outputs that break a rule")
    assert len(shown) == 4
    for cells, method in zip(shown.values(), ("LO", "L+I", "IBT", "structural SVM"), strict=True):
        found = row("conll04-learners", method).metrics
        assert list(cells.values()) == [
            one(found["entity_f1"]),
            one(found["relation_f1"]),
            str(found["broken_outputs"]),
        ]


def test_easy_and_hard_decisions():
    shown = table(PUNYAKANOK, "LO", "L+I", "IBT")
    assert len(shown) == 6
    for label, cells in shown.items():
        kappa, examples = re.fullmatch(r"κ = ([\d.]+), ([\d,]+) examples", label).groups()
        for method, cell in cells.items():
            where = {"kappa": float(kappa), "examples": int(examples.replace(",", ""))}
            found = row("punyakanok2005-synthetic", method, **where)
            assert cell == one(found.metrics["accuracy"])


def test_few_and_many_features():
    shown = table(PUNYAKANOK, "IBT minus L+I, 95 %")
    assert len(shown) == 5
    for label, cells in shown.items():
        for method in ("LO", "L+I", "IBT"):
            features = int(label.replace(",", ""))
            found = row("punyakanok2005-features", method, features=features)
            assert cells[method] == one(found.metrics["f1"])


def judged_by(found: Row) -> float:
    """The metric that a case of greedy search is judged by."""
    names = ("example_f1", "conll", "global_accuracy", "accuracy")
    return next(float(found.metrics[name]) for name in names if name in found.metrics)


def case_of(label: str) -> str:
    """The case that a row of a table is of."""
    case = label.split(",", maxsplit=1)[0]
    return f"{case}-coref" if case in ("litbank", "gum") else case


TABLE_1 = {
    label: f"ma2019-accuracy-{case_of(label)}" for label in table(GREEDY, "RGS(0)", "RGS(α)")
}
OTHER_DATA = ("delicious", "litbank-coref", "gum-coref")  # of which the paper does not speak


@pytest.mark.parametrize("label", TABLE_1)
def test_greedy_search_beside_the_paper(label):
    cells = table(GREEDY, "RGS(0)", "RGS(α)")[label]
    for column, method in {
        "RGS(0)": "RGS(0)",
        "RGS(α)": "RGS(α)",
        "best label of each alone": "IID",
        "exact inference": "Exact",
    }.items():
        if cells[column]:
            found = row(TABLE_1[label], method)
            said = [one(judged_by(found)), one(found.metrics["deviation"])]
            shown = cells[column].split(" ± ")
            assert shown == said[: len(shown)]
    assert float(cells["α"]) == row(TABLE_1[label], "RGS(α)").metrics["alpha"]


@pytest.mark.parametrize("label", table(GREEDY, "BiLSTM", "BiLSTM-RGS"))
def test_networks_with_and_without_search(label):
    cells = table(GREEDY, "BiLSTM", "BiLSTM-RGS")[label]
    for method in ("BiLSTM", "BiLSTM-RGS"):
        assert cells[method] == one(row(f"ma2019-accuracy-{label}", method).metrics["accuracy"])


def test_greedy_search_on_the_page_of_its_paper():
    shown = table(MA, "RGS(α)", "best label of each alone")
    cases = [
        "hw-small",
        "hw-large",
        "phoneme",
        "stress",
        "twitter-pos",
        "protein",
        "yeast",
        "bibtex",
        "msrc21",
    ]
    for cells, case in zip(shown.values(), cases, strict=True):
        found = row(f"ma2019-accuracy-{case}", "RGS(α)")
        assert cells["RGS(α)"] == one(judged_by(found))
        alone = judged_by(row(f"ma2019-accuracy-{case}", "IID"))
        assert cells["best label of each alone"] == one(alone)


TRAININGS = {
    "conll04, sentences with relations": ("chang2015-er", {"sentences": "related", "delta": 0.1}),
    "conll04, all sentences, 30 iterations": ("chang2015-er", {"sentences": "all", "delta": 0.1}),
    "scene, every two of six labels scored": ("chang2015-scene", {}),
}


@pytest.mark.parametrize("label", TRAININGS)
def test_what_amortized_training_saves(label):
    name, where = TRAININGS[label]
    cells = table("docs/amortized.md", "inferences", "solved by `Amortized`")[label]
    found = row(name, "auto", solver="Milp", **where).metrics
    calls, percent = found["solver_calls"], found["calls_percent"]
    assert list(cells.values()) == [
        f"{found['inferences']:,}",
        f"{calls} ({percent:.2f} %)",
    ]


def test_calls_on_the_page_of_amortized_learning():
    shown = table("docs/papers/chang2015.md", "duals")
    for label, name, where in (
        ("entities and relations", "chang2015-er", {"sentences": "related", "delta": 0.1}),
        ("scene", "chang2015-scene", {}),
    ):
        found = row(name, "auto", solver="Milp", **where).metrics
        said = f"{found['calls_percent']:.2f} % of {found['inferences']:,}"
        assert shown[label]["duals"] == said


SPEEDUP = {
    "ILP (HiGHS)": "ILP (HiGHS)",
    "ILP (Gurobi)": "ILP (Gurobi)",
    "`Exact`": "black box",
    "search, no rules": "search",
    "constrained search": "constrained search",
    "speed-up, b = 1": "speed-up (b = 1)",
    "speed-up, b = 2": "speed-up (b = 2)",
    "speed-up, b = 8": "speed-up (b = 8)",
    "b = 1, θ = 0.25": "speed-up (b = 1, theta = 0.25)",
}


@pytest.mark.parametrize("page", ["docs/speedup.md", "docs/papers/pan2018.md"])
def test_search_that_learns_to_be_fast(page):
    shown = next(each for each in tables(page) if "speed-up, b = 8" in each)
    assert set(shown) <= set(SPEEDUP)
    for label, cells in shown.items():
        found = row("pan2018-speedup-conll04", SPEEDUP[label]).metrics
        few = 0 if found["search_milliseconds"] >= 20 else 1
        for column, said in {
            "entities": one(found["entity_f1"]),
            "relations": one(found["relation_f1"]),
            "relation F1": one(found["relation_f1"]),
            "obey unrepaired": f"{found['validity_before']:.2f}",
            "ms": f"{found['milliseconds']:.0f}",
            "search ms": f"{found['search_milliseconds']:.{few}f}",
        }.items():
            if column in cells:
                assert cells[column] == said
        assert {"ms", "obey unrepaired"} <= set(cells)


def test_starts_that_are_learned():
    shown = table(GREEDY, "required restarts, RGS", "A-RGS is faster by")
    for label, cells in shown.items():
        name = f"ma2019-testtime-{case_of(label)}"
        drawn, led = (row(name, method).metrics for method in ("RGS (50)", "A-RGS"))
        needed = [row(name, f"{method} (20)").metrics for method in ("RGS", "A-RGS")]
        restarts = [f"{each['required_restarts']:.2f}" for each in needed]
        assert [cells["required restarts, RGS"], cells["A-RGS"]] == restarts
        assert cells["A-RGS is faster by"] == one(led["speed_up"])
        assert cells["accuracy, RGS (50)"] == one(drawn["accuracy"])
        assert cells["accuracy, A-RGS"] == one(led["accuracy"])


def test_learning_with_starts_that_are_learned():
    shown = table(GREEDY, "accuracy, RGS", "accuracy, A-RGS", "A-RGS is faster by")
    for label, cells in shown.items():
        drawn, led = record(f"ma2019-training-{case_of(label)}").rows
        assert cells["A-RGS is faster by"] == one(led.metrics["speed_up"])
        assert cells["accuracy, RGS"] == one(drawn.metrics["accuracy"])
        assert cells["accuracy, A-RGS"] == one(led.metrics["accuracy"])


def test_prediction_and_generation_by_share_of_likely_labels():
    shown = table(GREEDY, "prediction, α = 0")
    text = (ROOT / GREEDY).read_text(encoding="utf-8")
    assert len(shown) == 4
    for label in shown:
        rows = record(f"ma2019-alpha-{case_of(label)}").rows
        first, last = rows[0].metrics, rows[-1].metrics
        best = max(rows, key=lambda each: each.metrics["generation"]).metrics
        cells = [
            one(first["prediction"]),
            one(last["prediction"]),
            f"{one(best['generation'])}, α = {best['alpha']:g}",
            one(last["generation"]),
        ]
        assert f"| {label} | {' | '.join(cells)} |" in text


def test_fields_of_citations():
    shown = table("docs/decomposed.md", "accuracy", "time of inference, DecL = 1")
    for label, cells in shown.items():
        method = label.split(",", maxsplit=1)[0]
        where = {"corpus": "citations", "size": 300}
        own = {"solver": "Exact"} if method in ("GL", "DecL") else {}
        found = row("samdani2012-extraction", method, **where, **own)
        assert cells["accuracy"] == one(found.metrics["accuracy"])
    exact, milp = (
        row("samdani2012-extraction", "DecL", solver=solver, **where).metrics["speedup"]
        for solver in ("Exact", "Milp")
    )
    said = f"{exact:.1f} with `Exact`, {milp:.0f} with `Milp`"
    assert shown["GL"]["time of inference, DecL = 1"] == said


def test_cross_validation_with_a_cache():
    shown = next(each for each in tables("docs/amortized.md") if "`auto`" in each)
    methods = {
        "condition (4), ε = 1": "epsilon=1",
        "condition (4), ε = 10, 0.1, 0": "adaptive",
        "`auto`": "auto",
    }
    for label, method in methods.items():
        for column, policy in {
            "reset": "reset",
            "forward": "forward",
            "forward, 2 processes": "2 processes",
        }.items():
            found = row("chang2015-cv", f"{method}, {policy}").metrics
            assert shown[label][column] == f"{found['calls_percent']:.2f}"
