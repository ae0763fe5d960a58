"""The benchmark on a tiny case: equal optima, the promised JSON, and bars that can be missed."""

import json
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import isinf

import numpy as np
import pytest
from rich.console import Console

from benchmarks import exact_inference, problems
from benchmarks.exact_inference import (
    Batches,
    OneAtATime,
    SolverRow,
    Turn,
    bar_of,
    compete,
)
from benchmarks.peers import PeerFailed, all_peers
from benchmarks.problems import random_entities
from rote import Exact, Status

LIMIT = 20.0
INSTALLED = [peer.name for peer in all_peers() if find_spec(peer.package) is not None]
TINY = random_entities(2, 2)


@dataclass(frozen=True)
class Fake:
    """Answers with given labels."""

    labels: np.ndarray
    proved: bool = True
    name: str = "fake"

    def warm_up(self, case):
        pass

    def turn(self, case):
        proved = np.full(len(self.labels), self.proved)
        return Turn(case, 1e-3, [self.labels], [proved], 1e-3)


@dataclass(frozen=True)
class Failing:
    """Never answers."""

    name: str = "failing"

    def warm_up(self, case):
        pass

    def turn(self, case):
        raise PeerFailed("its process ended")


def beside(*others):
    return compete(TINY, [Batches(LIMIT), *others], rounds=2, tick=lambda: None)


def worst():
    """The labels of the worst output that obeys the rules: the best one under minus the scores."""
    group = TINY.groups[0]
    return Exact().solve(group.space, -group.scores).labels


def test_ours_and_every_installed_peer_have_equal_optima_and_the_json_has_its_shape(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(exact_inference, "CASES", {"tiny": lambda _: TINY})
    path = tmp_path / "rows.json"
    exact_inference.main(["--quick", "--json", str(path)])

    written = json.loads(path.read_text(encoding="utf-8"))
    rows = {row["engine"]: row for row in written["rows"]}
    assert list(rows) == ["Exact", "Exact, one at a time", *INSTALLED]
    for row in rows.values():
        assert {"case", "engine", "median_us", "ratio_to_ours", "max_error"} <= row.keys()
        assert row["case"] == "2 entities"
        assert row["median_us"] > 0
        assert row["max_error"] <= 1e-9
        assert row["note"] == ""
    assert rows["Exact"]["ratio_to_ours"] == 1.0
    assert [bar["case"] for bar in written["bars"]] == ["2 entities"]
    printed = capsys.readouterr().out
    assert all(engine in printed for engine in rows)
    assert "all optima equal" in printed


def test_a_case_without_its_data_is_skipped_with_a_sentence(monkeypatch, capsys):
    monkeypatch.delenv("ROTE_DATA", raising=False)
    problems._scored_sentences.cache_clear()
    rows, bars = exact_inference.run(
        ["conll04"], quick=True, limit=LIMIT, console=Console(width=300)
    )
    assert rows == []
    assert bars == []
    assert "conll04 is skipped: " in capsys.readouterr().out


def test_a_peer_that_is_not_installed_is_left_out_with_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.table.find_spec", lambda _: None)
    monkeypatch.setattr(exact_inference, "CASES", {"tiny": lambda _: TINY})
    rows, bars = exact_inference.run(["tiny"], quick=True, limit=LIMIT, console=Console(width=300))
    assert [row.engine for row in rows] == ["Exact", "Exact, one at a time"]
    assert "no peer finished" in bars[0].says
    assert "Gurobi is left out: gurobipy is not installed" in capsys.readouterr().out


def test_problems_solved_one_at_a_time_have_the_values_of_the_batch():
    ours = Batches(LIMIT)
    together, singly = ours.turn(TINY), OneAtATime(ours).turn(TINY)
    np.testing.assert_array_equal(together.values, singly.values)
    assert singly.proved.all()
    assert singly.slowest <= singly.seconds


@dataclass(frozen=True)
class Unfinished:
    """What `Exact` would be if it never finished in time."""

    time_limit: float | None = None

    def solve(self, space, scores):
        found = Exact().solve(space, scores)
        late = np.full(len(found), Status.FEASIBLE if self.time_limit else Status.OPTIMAL)
        return replace(found, status=late)


def test_ours_has_a_time_limit_only_where_it_needs_one(monkeypatch):
    ours = Batches(LIMIT)
    ours.warm_up(TINY)
    assert ours.engine.time_limit is None
    monkeypatch.setattr(exact_inference, "Exact", Unfinished)
    ours.warm_up(TINY)
    assert ours.engine.time_limit == LIMIT
    rows = compete(TINY, [ours, OneAtATime(ours)], rounds=1, tick=lambda: None)
    assert [(row.note, row.max_error) for row in rows] == [("2 of 2 stopped", None)] * 2
    assert bar_of("2 entities", rows).says == "ours: 2 of 2 stopped"


def test_an_answer_below_the_optimum_is_an_error_of_that_size():
    group = TINY.groups[0]
    labels = worst()
    best = Exact().solve(group.space, group.scores).value
    row = beside(Fake(labels))[1]
    missing = (best - group.space.value(group.scores, labels)).max()
    assert row.max_error == pytest.approx(missing)
    assert row.note == "misses the optimum"
    assert not bar_of("2 entities", beside(Fake(labels))).met


def test_an_answer_that_was_stopped_is_no_error_and_its_time_is_a_lower_bound():
    row = beside(Fake(worst(), proved=False))[1]
    assert row.max_error is None
    assert row.at_least
    assert row.repeats == 1
    assert row.note == "2 of 2 stopped"


def test_an_answer_that_breaks_a_rule_is_found_out():
    group = TINY.groups[0]
    related_both_ways = np.tile(
        group.space.encode([{"e0": "Peop", "e1": "Peop", "r0_1": "Kill", "r1_0": "Kill"}]), (2, 1)
    )
    row = beside(Fake(related_both_ways))[1]
    assert isinf(row.max_error)
    assert row.note == "BREAKS RULES"
    assert bar_of("2 entities", [*beside(), row]).met is False


def test_an_answer_above_ours_is_found_out(monkeypatch):
    group = TINY.groups[0]
    best, labels = Exact().solve(group.space, group.scores).labels, worst()
    rows = compete(TINY, [Fake(labels, name="Exact"), Fake(best)], rounds=1, tick=lambda: None)
    assert rows[1].note == "BETTER THAN OURS"
    assert bar_of("2 entities", rows).met is False


def test_a_peer_that_fails_has_a_row_that_says_so():
    row = beside(Failing())[1]
    assert row.median_us is None
    assert row.note == "its process ended"


def rows_of(case, ours, **peers):
    return [
        SolverRow(case, "Exact", ours, 1.0, 0.0),
        *(SolverRow(case, name, us, us / ours, 0.0) for name, us in peers.items()),
    ]


@pytest.mark.parametrize(("gurobi", "met"), [(500.0, True), (499.0, False)])
def test_the_bar_on_conll04_is_fifty_times_gurobi(gurobi, met):
    assert bar_of("conll04", rows_of("conll04", 10.0, Gurobi=gurobi, other=1.0)).met is met


@pytest.mark.parametrize(("peer", "met"), [(50.0, True), (5.0, True), (4.9, False)])
def test_the_bar_elsewhere_is_twice_the_time_of_the_fastest_peer(peer, met):
    assert bar_of("grid", rows_of("grid", 10.0, slow=1e6, fast=peer)).met is met


def test_a_case_in_which_ours_was_stopped_misses_its_bar():
    rows = [SolverRow("grid", "Exact", 10.0, 1.0, None, "1 of 2 stopped", at_least=True)]
    bar = bar_of("grid", rows)
    assert (bar.met, bar.says) == (False, "ours: 1 of 2 stopped")


def test_a_time_limit_that_is_no_time_is_answered_by_a_sentence(capsys):
    with pytest.raises(SystemExit):
        exact_inference.main(["--time-limit", "0"])
    assert "--time-limit is more than 0" in capsys.readouterr().err
