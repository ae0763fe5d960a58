"""All experiments are run, what is finished is kept, and one that fails stops no other."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from papers import registry, suite
from papers.base import Experiment, Outcome, Settings, unwatched
from papers.records import Row, read_record, write_record
from papers.suite import Finished, jobs, reproduce_all
from rote import DataError

Runs = list[tuple[str, ...]]


def counting(name: str, runs: Runs, failure: Exception | None = None) -> Experiment:
    """An experiment that takes down that it ran."""

    def run(_: object, settings: Settings) -> Outcome:
        runs.append((name, *settings.cases))
        settings.progress(1, 1)
        if failure is not None:
            raise failure
        return Outcome({"quick": settings.quick}, [Row("ours", {"f1": 1.0})], [])

    return Experiment(name, "Nobody (2005)", "nothing", run, plan=lambda _: {"cases": ("b", "c")})


@pytest.fixture
def put(monkeypatch) -> Callable[..., None]:
    def those(*experiments: Experiment) -> None:
        there = {one.name: one for one in experiments}
        monkeypatch.setattr(registry, "EXPERIMENTS", there)
        monkeypatch.setattr(suite, "EXPERIMENTS", there)

    return those


def done(folder: Path, settings: Settings | None = None) -> list[Finished]:
    return list(reproduce_all(jobs(settings or Settings()), folder, lambda *_: unwatched))


def test_cases_are_jobs_of_their_own_each_with_a_record(put, tmp_path):
    runs: Runs = []
    put(counting("a", runs), replace(counting("d", runs), cases=lambda plan: plan["cases"]))
    assert [one.name for one in done(tmp_path)] == ["a", "d-b", "d-c"]
    assert runs == [("a",), ("d", "b"), ("d", "c")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "d-b.json", "d-c.json"]


def test_a_run_that_was_stopped_goes_on_where_it_was(put, tmp_path):
    runs: Runs = []
    put(replace(counting("d", runs), cases=lambda plan: plan["cases"]))
    first = next(reproduce_all(jobs(Settings()), tmp_path, lambda *_: unwatched))
    assert (first.name, first.kept) == ("d-b", False)
    assert [(one.name, one.kept) for one in done(tmp_path)] == [("d-b", True), ("d-c", False)]
    assert runs == [("d", "b"), ("d", "c")]


@pytest.mark.parametrize("change", ["seed", "plan", "version", "data", "damage"])
def test_a_record_of_something_else_is_made_again(put, tmp_path, monkeypatch, change):
    runs: Runs = []
    one = counting("a", runs)
    put(one)
    done(tmp_path)
    settings = Settings()
    if change == "seed":
        settings = Settings(seed=1)
    elif change == "plan":
        put(replace(one, plan=lambda _: {"cases": ("b",)}))
    elif change == "version":
        record = read_record(tmp_path / "a.json")
        write_record(replace(record, environment={**record.environment, "rote": "0.0.1"}), tmp_path)
    elif change == "data":
        monkeypatch.setenv("ROTE_DATA", "somewhere")
    else:
        (tmp_path / "a.json").write_text("{")
    assert [each.kept for each in done(tmp_path, settings)] == [False]
    assert [each.kept for each in done(tmp_path, settings)] == [True]
    assert runs == [("a",), ("a",)]


@pytest.mark.parametrize(
    ("failure", "said"),
    [(DataError("no such folder"), "no such folder"), (ZeroDivisionError("oh"), "ZeroDivision")],
)
def test_one_that_fails_says_why_and_the_others_go_on(put, tmp_path, failure, said):
    runs: Runs = []
    put(counting("a", runs, failure), counting("e", runs))
    bad, good = done(tmp_path)
    assert bad.record is None
    assert said in bad.failure
    assert good.record is not None
    assert [path.name for path in tmp_path.iterdir()] == ["e.json"]


def test_a_run_that_is_stopped_within_a_kernel_stops_all(put, tmp_path):
    stopped = SystemError("returned a result with an exception set")
    stopped.__cause__ = KeyboardInterrupt()
    runs: Runs = []
    put(counting("a", runs, stopped), counting("e", runs))
    with pytest.raises(KeyboardInterrupt):
        done(tmp_path)
    assert runs == [("a",)]


def test_a_quick_run_does_not_take_the_place_of_a_whole_one_but_the_other_way_round(put, tmp_path):
    put(counting("a", []))
    quick = Settings(quick=True)
    assert [done(tmp_path, each)[0].kept for each in (quick, Settings())] == [False, False]
    assert done(tmp_path, quick)[0].kept
    assert read_record(tmp_path / "a.json").settings["quick"] is False
