"""The process that answers a stream: spaces from their descriptions, and what an answer says."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import assume, given

import rote
from benchmarks import reuse_side
from benchmarks.reuse_side import Side, built
from benchmarks.reuse_streams import Asked, described, write
from tests.strategies import spaces


@given(spaces())
def test_a_space_is_built_again_of_its_description(space):
    forms = str(described(space)["rules"])
    assume("'rows'" not in forms and "'acyclic'" not in forms)  # the old version has no such rules
    assert built(described(space)) == space


def stream_of(*rows):
    builder = rote.SpaceBuilder()
    x, y = (builder.variable(name, "ab") for name in "xy")
    builder.factor(x, y)
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    return [Asked(space, rote.Problem(space, [row]).scores, [0]) for row in rows]


ROWS = [[2.0, 0, 1, 0, 0, 0, 0, 0], [2.0, 0, 1, 0, 0, 0, 0, 0], [0.0, 3, 0, 0, 0, 0, 0, 1]]


def test_answers_come_with_their_time_and_with_what_memory_did(tmp_path):
    stream = stream_of(*ROWS)
    write(tmp_path / "stream.npz", stream)
    side = Side()
    assert side.load(str(tmp_path / "stream.npz")) == {"spaces": [stream[0].space.fingerprint]}
    for batch, value in enumerate([2.0, 2.0, 4.0]):
        asked = side.ask(["HiGHS", "HiGHS+"], [batch])
        assert list(asked) == ["HiGHS", "HiGHS+"]
        found = {name: own[batch] for name, own in asked.items()}
        assert [turn["value"] for turn in found.values()] == [[value]] * 2
        assert len({turn["labels"] for turn in found.values()}) == 1
        assert all(turn["seconds"] > 0 for turn in found.values())
        assert found["HiGHS"]["counts"] is None
        assert sum(found["HiGHS+"]["counts"]) == 1


def test_a_memory_that_is_emptied_answers_from_nothing(tmp_path):
    write(tmp_path / "stream.npz", stream_of(*ROWS))
    side = Side()
    side.load(str(tmp_path / "stream.npz"))
    engines = []
    for batch in range(2):
        side.ask(["HiGHS-"], [batch])
        engines.append(side.engines["HiGHS-"])
    assert [engine.counters.cold for engine in engines] == [1, 1]


def test_what_an_engine_refuses_is_answered_by_nothing(tmp_path, monkeypatch):
    write(tmp_path / "stream.npz", stream_of(ROWS[0]))
    monkeypatch.setitem(reuse_side.ENGINES, "chain", rote.Independent)
    side = Side()
    side.load(str(tmp_path / "stream.npz"))
    assert side.ask(["Exact", "chain"], [0]) == {"Exact": {}, "chain": {}}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux knows other clocks")
def test_the_time_of_other_processes_counts():
    before = reuse_side.others()
    busy = "print(flush=True); x = 0\nwhile True: x += 1"
    with subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline()
        time.sleep(0.3)
        during = reuse_side.others()
        process.kill()
    assert during > before
    assert reuse_side.others() >= during
