"""`rote serve`."""

import socket
import sys

import pytest

import rote
from tests.cli.lines import is_one_line


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
    assert "pip install '.[serve]'" in wrong
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
