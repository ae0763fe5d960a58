"""Experiments are found by name, and a run leaves a record and a figure."""

from dataclasses import replace

import pytest

from papers import registry
from papers.base import Experiment, Outcome, Settings
from papers.plots import Curve, Panel, draw_panels
from papers.records import NAME, Claim, Row, environment, read_record
from papers.registry import (
    EXPERIMENTS,
    asked,
    experiment,
    experiment_of,
    reproduce,
    run_experiment,
)
from rote import DataError, MissingDependency, SettingError


def found(_: object, settings: Settings) -> Outcome:
    settings.progress(1, 1)
    return Outcome(
        {"seed": settings.seed}, [Row("LO", {"f1": 1.0})], [Claim("it works", True, "1.0.")]
    )


def plan_of(settings: Settings) -> dict[str, object]:
    return {"size": 1 if settings.quick else 2, "cases": ("one", "two")}


TINY = Experiment("a-tiny-one", "Nobody (2005)", "nothing", found, plan=plan_of)
BY_CASE = replace(TINY, cases=lambda plan: plan["cases"])


@pytest.fixture
def tiny(monkeypatch):
    def put(experiment: Experiment) -> None:
        monkeypatch.setattr(registry, "EXPERIMENTS", {experiment.name: experiment})

    return put


def test_every_experiment_has_a_name_for_a_file_and_says_what_it_is_about():
    for name, one in EXPERIMENTS.items():
        assert one.name == name
        assert NAME.fullmatch(name)
        assert one.paper
        assert one.about
        assert experiment(name) is one


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(SettingError, match=r"punyakanok2005-synthetic.*'nothing-2005'"):
        experiment("nothing-2005")


def test_a_run_is_recorded_with_its_environment_and_time():
    seen = []
    record = run_experiment(TINY, Settings(seed=3, progress=lambda *step: seen.append(step)))
    assert (record.name, record.paper) == ("a-tiny-one", "Nobody (2005)")
    assert record.settings["seed"] == 3
    assert record.environment == environment()
    assert record.seconds >= 0
    assert seen == [(1, 1)]


def drawn(record):
    curve = Curve("LO", (1, 2), (1, 2), (1, 2), (1, 2))
    return draw_panels([Panel(record.name, [curve])], "x", "y")


def lacking(_: object) -> None:
    raise MissingDependency("install it")


@pytest.mark.parametrize(
    ("draw", "figure", "missing"),
    [(None, None, None), (drawn, "a-tiny-one.png", None), (lacking, None, "install it")],
)
def test_a_record_is_left_with_its_figure_or_why_there_is_none(
    tmp_path, tiny, draw, figure, missing
):
    tiny(replace(TINY, draw=draw))
    written = reproduce("a-tiny-one", Settings(), tmp_path)
    assert written.file == tmp_path / "a-tiny-one.json"
    assert read_record(written.file) == written.record
    assert written.figure == (figure and tmp_path / figure)
    assert written.missing == missing


def test_a_record_of_some_cases_does_not_stand_in_for_the_whole(tiny, tmp_path):
    tiny(BY_CASE)
    reproduce("a-tiny-one", Settings(), tmp_path)
    written = reproduce("a-tiny-one", Settings(cases=("one", "two")), tmp_path)
    assert written.file.name == "a-tiny-one-one-two.json"
    assert {path.name for path in tmp_path.iterdir()} == {"a-tiny-one.json", written.file.name}


def test_cases_of_an_experiment_that_has_none_are_refused():
    with pytest.raises(SettingError, match="a-tiny-one has no cases"):
        run_experiment(TINY, Settings(cases=("one",)))


def test_a_record_says_all_that_its_run_was_asked_for():
    record = run_experiment(BY_CASE, Settings(quick=True, seed=3, cases=("one",)))
    told = dict(record.settings["asked"])
    assert len(told.pop("plan")) == 16
    assert told == {"quick": True, "seed": 3, "trials": None, "cases": ["one"], "data sets": False}


def test_another_plan_or_other_data_ask_for_something_else(monkeypatch):
    first = asked(TINY, Settings())
    assert asked(TINY, Settings()) == first
    assert asked(replace(TINY, plan=lambda _: {"size": 3}), Settings()) != first
    monkeypatch.setenv("ROTE_DATA", "somewhere")
    assert asked(TINY, Settings()) != first


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_plan_of_every_experiment_can_be_told_and_has_all_its_cases(name):
    one = EXPERIMENTS[name]
    quick, whole = (asked(one, Settings(quick=quick)) for quick in (True, False))
    assert quick["plan"] != whole["plan"]
    if one.cases is not None:
        cases = list(one.cases(one.plan(Settings())))
        assert len(cases) > 1
        assert all(NAME.fullmatch(case) for case in cases)


def test_a_plan_that_cannot_be_told_is_refused():
    with pytest.raises(SettingError, match="values that JSON knows"):
        asked(replace(TINY, plan=lambda _: {"size": object()}), Settings())


def test_a_record_is_found_to_be_of_an_experiment_and_a_case():
    assert experiment_of("ma2019-alpha") == (EXPERIMENTS["ma2019-alpha"], "")
    found = experiment_of("ma2019-accuracy-litbank-coref")
    assert found == (EXPERIMENTS["ma2019-accuracy"], "litbank-coref")
    assert experiment_of("conll04-learners-more") is None  # it has no cases
    assert experiment_of("nothing-2005") is None


def test_a_quick_run_does_not_take_the_place_of_a_whole_one(monkeypatch, tmp_path):
    def said(plan: object, settings: Settings) -> Outcome:
        return replace(found(plan, settings), settings={"quick": settings.quick})

    monkeypatch.setattr(registry, "EXPERIMENTS", {TINY.name: replace(TINY, run=said)})
    file = reproduce(TINY.name, Settings(), tmp_path).file
    whole = file.read_bytes()
    with pytest.raises(SettingError, match="is of a whole run, which a quick one does not replace"):
        reproduce(TINY.name, Settings(quick=True), tmp_path)
    assert file.read_bytes() == whole
    elsewhere = tmp_path / "quick"
    for _ in range(2):  # a quick one takes the place of a quick one, and of what is no record
        reproduce(TINY.name, Settings(quick=True), elsewhere)
    (elsewhere / file.name).write_text("{")
    assert read_record(reproduce(TINY.name, Settings(quick=True), elsewhere).file)


def test_nothing_is_run_where_the_record_cannot_go(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(registry, "EXPERIMENTS", {TINY.name: replace(TINY, run=lambda *_: 1 / 0)})
    with pytest.raises(DataError, match=r"a-tiny-one\.json cannot be written"):
        reproduce(TINY.name, Settings(), tmp_path / "file")
