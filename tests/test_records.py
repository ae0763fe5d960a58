"""Records of whole runs lie beside the documentation, and its tables say what they say.

A record is of today's experiment: of the plan that the code has now, on the real data. Tables are
found by their headings, and compared cell by cell; a cell that is not of a record is left alone.
"""

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


LEARNERS = ("LO", "L+I", "IBT", "structural SVM")


@pytest.mark.parametrize("page", [PUNYAKANOK, "docs/benchmarks.md"])
def test_entities_and_relations_by_learner(page):
    shown = table(page, "entity F1", "relation F1", "outputs that break a rule")
    for cells, method in zip(shown.values(), LEARNERS, strict=True):
        found = row("conll04-learners", method).metrics
        f1 = [one(found[name]) for name in ("entity_f1", "relation_f1")]
        assert list(cells.values()) == [*f1, str(found["broken_outputs"])]


def test_easy_and_hard_decisions_and_few_and_many_features():
    shown = table(PUNYAKANOK, "LO", "L+I", "IBT")
    assert len(shown) == 6
    for label, cells in shown.items():
        kappa, examples = re.fullmatch(r"κ = ([\d.]+), ([\d,]+) examples", label).groups()
        where = {"kappa": float(kappa), "examples": int(examples.replace(",", ""))}
        for method, cell in cells.items():
            found = row("punyakanok2005-synthetic", method, **where)
            assert cell == one(found.metrics["accuracy"])
    shown = table(PUNYAKANOK, "IBT minus L+I, 95 %")
    assert len(shown) == 5
    for label, cells in shown.items():
        for method in LEARNERS[:3]:
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


ALONE = "best label of each alone"


@pytest.mark.parametrize("label", table(GREEDY, "RGS(0)", "RGS(α)"))
def test_greedy_search_beside_the_paper(label):
    cells, name = table(GREEDY, "RGS(0)", "RGS(α)")[label], f"ma2019-accuracy-{case_of(label)}"
    methods = {"RGS(0)": "RGS(0)", "RGS(α)": "RGS(α)", ALONE: "IID", "exact inference": "Exact"}
    for column, method in methods.items():
        if cells[column]:
            found = row(name, method)
            shown = cells[column].split(" ± ")
            said = [one(judged_by(found)), one(found.metrics["deviation"])]
            assert shown == said[: len(shown)]
    assert float(cells["α"]) == row(name, "RGS(α)").metrics["alpha"]


def test_networks_and_greedy_search_on_the_page_of_its_paper():
    for label, cells in table(GREEDY, "BiLSTM", "BiLSTM-RGS").items():
        for method in ("BiLSTM", "BiLSTM-RGS"):
            assert cells[method] == one(row(f"ma2019-accuracy-{label}", method).metrics["accuracy"])
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
    for cells, case in zip(table(MA, "RGS(α)", ALONE).values(), cases, strict=True):
        for column, method in (("RGS(α)", "RGS(α)"), (ALONE, "IID")):
            assert cells[column] == one(judged_by(row(f"ma2019-accuracy-{case}", method)))


def test_what_amortized_training_saves():
    shown = table("docs/amortized.md", "inferences", "calls of the engine underneath")
    on_page = table("docs/papers/chang2015.md", "duals")
    related, everything = ({"sentences": each, "delta": 0.1} for each in ("related", "all"))
    for label, other, name, where in (
        (
            "conll04, sentences with relations",
            "entities and relations",
            "chang2015-er",
            related,
        ),
        ("conll04, all sentences, 30 iterations", None, "chang2015-er", everything),
        ("scene, every two of six labels scored", "scene", "chang2015-scene", {}),
    ):
        found = row(name, "auto", solver="Milp", **where).metrics
        inferences, percent = f"{found['inferences']:,}", f"{found['calls_percent']:.2f} %"
        calls = f"{found['solver_calls']} ({percent})"
        assert list(shown[label].values()) == [inferences, calls]
        if other is not None:
            assert on_page[other]["duals"] == f"{percent} of {inferences}"


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
        columns = ("A-RGS is faster by", "accuracy, RGS (50)", "accuracy, A-RGS")
        said = led["speed_up"], drawn["accuracy"], led["accuracy"]
        assert [cells[column] for column in columns] == [*map(one, said)]
    shown = table(GREEDY, "accuracy, RGS", "accuracy, A-RGS", "A-RGS is faster by")
    for label, cells in shown.items():
        drawn, led = (each.metrics for each in record(f"ma2019-training-{case_of(label)}").rows)
        columns = ("A-RGS is faster by", "accuracy, RGS", "accuracy, A-RGS")
        said = led["speed_up"], drawn["accuracy"], led["accuracy"]
        assert [cells[column] for column in columns] == [*map(one, said)]


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
