"""Solvers in processes of their own: whatever happens there is an error here, and we go on."""

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from time import perf_counter

import numpy as np
import pytest

from rote.errors import SolverError
from rote.inference.solvers import child, worker
from rote.inference.solvers.toulbar2 import Toulbar2
from rote.inference.solvers.worker import Worker, Workers
from tests.inference.outputs import built

READY = """
import importlib.util, os, sys, time
spec = importlib.util.spec_from_file_location("child", {child!r})
child = importlib.util.module_from_spec(spec)
spec.loader.exec_module(child)
child.write(sys.stdout.buffer, {{"ready": True}}, {{}})
header, arrays = child.read(sys.stdin.buffer)
"""
QUESTION = {"ceiling": None, "seconds": None}


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """Make every new process one that runs this after it was asked something."""

    def become(then):
        script = tmp_path / "fake.py"
        script.write_text(READY.format(child=child.__file__) + then)
        monkeypatch.setattr(worker, "COMMAND", (sys.executable, str(script)))
        return Workers()

    return become


def ask(workers, seconds=None):
    arrays = {"costs": np.arange(3)}
    return workers.ask("cpsat", "a space", {}, {**QUESTION, "seconds": seconds}, arrays)


@pytest.mark.parametrize(
    ("then", "says"),
    [
        ("os._exit(7)", "ended with code 7"),
        ("os.abort()", "ended with code -6"),
        ("os.write(1, b'Hello, I am a solver. ' * 9); time.sleep(60)", "ended with code"),
        ("child.write(sys.stdout.buffer, {'error': 'no licence'}, {})", "cpsat failed: no licence"),
    ],
    ids=["exits", "crashes", "nonsense", "says so"],
)
def test_a_process_that_fails_is_an_error(fake, then, says):
    with pytest.raises(SolverError, match=says):
        ask(fake(then))


def test_a_process_that_hangs_is_ended_at_its_limit_and_some_grace(fake, monkeypatch):
    monkeypatch.setattr(worker, "GRACE", 0.2)
    workers = fake("time.sleep(60)")
    began = perf_counter()
    with pytest.raises(SolverError, match=r"did not stop within 0\.1 s"):
        ask(workers, seconds=0.1)
    assert perf_counter() - began < 10.0


def test_a_process_that_never_gets_ready_is_an_error(monkeypatch):
    monkeypatch.setattr(worker, "COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(SolverError, match="ended with code 3"):
        Worker("cpsat")


def test_after_a_crash_the_next_question_starts_a_new_process(fake, tmp_path):
    flag = tmp_path / "crashed"
    then = (
        f"if not os.path.exists({str(flag)!r}):\n"
        f"    open({str(flag)!r}, 'w').close()\n"
        "    os._exit(1)\n"
        "child.write(sys.stdout.buffer, {'proved': True, 'bound': None}, {})\n"
    )
    workers = fake(then)
    with pytest.raises(SolverError):
        ask(workers)
    assert ask(workers).proved
    workers.close()


needs_toulbar2 = pytest.mark.skipif(not Toulbar2.installed(), reason="pytoulbar2 is not installed")


def solve(seed):
    space = built(7, combinations(range(7), 2))
    scores = np.random.default_rng(seed).normal(size=(3, space.parts))
    return Toulbar2().solve(space, scores).labels.tolist()


@needs_toulbar2
def test_one_process_is_used_again_and_again(monkeypatch):
    started = []
    original = Worker.__init__

    def counting(self, kind):
        started.append(kind)
        original(self, kind)

    worker.WORKERS.close()
    monkeypatch.setattr(Worker, "__init__", counting)
    assert solve(0) == solve(0)
    assert solve(1) != []
    assert started == ["toulbar2"]


@needs_toulbar2
def test_threads_ask_at_the_same_time():
    expected = [solve(seed) for seed in range(6)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(solve, range(6))) == expected


@needs_toulbar2
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_solvers_of_its_own():
    expected = solve(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(solve, [0, 0]) == [expected, expected]
    assert solve(0) == expected
