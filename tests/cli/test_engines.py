"""Engines and learners by name."""

import pytest

import rote
from rote import learners as promised
from rote.cli.engines import ANYTIME, LEARNERS, UNTIMED, engine_named, learner_named
from rote.errors import SettingError
from rote.learning import StructuredSVM, Subgradient
from rote.tasks.adapter import adapters
from tests.cli.lines import is_one_line


def test_every_public_engine_can_be_named():
    made = {type(engine_named(name, None)) for name in [*ANYTIME, *UNTIMED]}
    public = [getattr(rote, name) for name in rote.__all__ if name not in {"Engine", "Wrapper"}]
    wrappers = {rote.Amortized, rote.Decomposed}  # they are options: --cache and --around
    wrappers |= {rote.Periodic, rote.Timed, rote.Wrapper}  # take others
    wrappers |= {rote.LearnedRestarts}  # knows features alone, which a file of a problem has not
    wrappers |= {rote.LearnedBeam}  # learns from many inputs, and a file has one
    wrappers |= {rote.Beam, rote.ConstrainedBeam}  # for orders that a file does not tell
    assert made == {value for value in public if hasattr(value, "solve")} - wrappers


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("solve", [*ANYTIME, *UNTIMED]),
        ("serve", ["amortized", "speedup", *ANYTIME, *UNTIMED]),
        ("train", [*ANYTIME, *UNTIMED, *LEARNERS, *(adapter.name for adapter in adapters())]),
    ],
)
def test_help_names_every_engine_learner_and_task(run, monkeypatch, command, names):
    monkeypatch.setenv("COLUMNS", "300")
    code, printed, _ = run(command, "--help")
    assert code == 0
    assert [name for name in names if name not in printed] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--time-limit 5 --engine chain", "--engine chain cannot stop early"),
        ("--engine magic", "one of exact, branch"),
        ("--engine separable", "Independent"),
    ],
)
def test_an_engine_that_will_not_do_is_one_line(run, uai, options, said):
    code, printed, wrong = run("solve", uai, *options.split())
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert said in wrong


def test_every_learner_has_a_name():
    learners = {name for name in dir(promised) if hasattr(getattr(promised, name), "iterate")}
    wrappers = {"Learner", "EpsilonSchedule"}
    assert set(LEARNERS.values()) == learners - wrappers
    assert {type(learner_named(name)).__name__ for name in LEARNERS} == learners - wrappers


def test_gurobi_is_a_solver_of_milp():
    assert engine_named("gurobi", 2.5) == rote.Milp(solver="gurobi", time_limit=2.5)
    assert engine_named("milp", None) == rote.Milp()


def test_a_learner_takes_the_settings_it_has():
    assert learner_named("svm") == StructuredSVM()
    assert learner_named("svm", C=2.0, iterations=3, seed=4, n_jobs=2) == StructuredSVM(
        C=2.0, iterations=3, seed=4, n_jobs=2
    )
    assert learner_named("subgradient", C=2.0) == Subgradient(C=2.0)
    with pytest.raises(SettingError, match="perceptron has no C"):
        learner_named("perceptron", C=1.0)
    with pytest.raises(SettingError, match="local has no n_jobs"):
        learner_named("local", n_jobs=2)
    with pytest.raises(SettingError, match="one of svm, perceptron, local, subgradient; got 'x'"):
        learner_named("x")
