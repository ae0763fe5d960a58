"""Bars in a terminal, in a notebook, and where nobody looks."""

from __future__ import annotations

import builtins
import re
import sys
from types import ModuleType

import pytest

from rote import NoSolution, Perceptron, train
from rote.model import model as model_module
from tests.small_tasks import TAGGING, tagged

XS, YS = tagged(30)
MODEL = train(TAGGING, XS, YS, learner=Perceptron(iterations=2))


@pytest.fixture
def notebook(monkeypatch):
    """What a notebook shows: texts below a cell, each in place of the one before."""
    shown = []

    class Area:
        def update(self, data, raw):
            assert raw
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        assert raw
        assert display_id
        return Area()

    shell = type("ZMQInteractiveShell", (), {})()  # by which notebooks are known
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)
    for name in ("IPython", "IPython.display"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["IPython.display"].display = display
    return shown


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(model_module, "AT_ONCE", 7)
    monkeypatch.setattr(model_module, "LOOKS", 5)
    monkeypatch.setattr("rote.model.progress.SECONDS", 0.0)


@pytest.mark.usefixtures("often")
def test_a_notebook_shows_a_bar_with_the_time_left_without_other_packages(notebook, capsys):
    assert MODEL.predict(XS, progress=True) == MODEL.predict(XS)
    assert [text.split()[2] for text in notebook] == [
        "7/30",
        "14/30",
        "21/30",
        "28/30",
        "30/30",
        "30/30",
    ]
    assert re.search(r"\d:\d\d:\d\d", notebook[2])
    del notebook[:]
    train(TAGGING, XS, YS, learner=Perceptron(iterations=3), progress=True)
    assert notebook[-1].startswith("Perceptron ")
    assert "3/3" in notebook[-1]
    assert "mistakes" in notebook[-1]
    assert capsys.readouterr() == ("", "")


def test_a_notebook_is_not_flooded(notebook):
    train(TAGGING, XS, YS, learner=Perceptron(iterations=40), progress=True)
    assert 2 <= len(notebook) < 30


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("seen", [False, True])
def test_a_bar_of_prediction_is_on_the_error_stream_of_a_terminal(seen, monkeypatch, capsys):
    if seen:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
    assert MODEL.predict(XS, progress=True) == MODEL.predict(XS)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("30/30" in shown.err) == bool(shown.err) == seen


@pytest.mark.usefixtures("often")
def test_errors_and_given_labels_are_of_their_inputs_below_a_bar():
    given = [[None] * len(x) for x in XS]
    assert MODEL.predict(XS, given=given, progress=True) == MODEL.predict(XS)
    given[23][0] = "I-X"
    with pytest.raises(NoSolution, match=r"^input 23: infeasible"):
        MODEL.predict(XS, given=given, progress=True)
    assert MODEL.predict([], progress=True) == []
