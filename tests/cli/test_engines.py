"""Engines by name."""

from __future__ import annotations

import rote
from rote.cli.engines import ANYTIME, UNTIMED
from tests.cli.lines import is_one_line


def test_every_public_engine_can_be_named():
    made = {type(make()) for make in [*ANYTIME.values(), *UNTIMED.values()]}
    public = [getattr(rote, name) for name in rote.__all__ if name not in {"Engine", "Wrapper"}]
    wrappers = {rote.Amortized, rote.Decomposed}  # they are options: --cache and --around
    wrappers |= {rote.Timed}  # a command tells its time anyway
    wrappers |= {rote.ExactEvery}  # takes two of them
    wrappers |= {rote.AmortizedRGS}  # knows features alone, which a file of a problem has not
    wrappers |= {rote.Speedup}  # learns from many inputs, and a file has one
    wrappers |= {rote.Beam, rote.ConstrainedBeam}  # for orders that a file does not tell
    assert made == {value for value in public if hasattr(value, "solve")} - wrappers


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
