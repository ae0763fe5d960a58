"""Kernels of the tour are compiled by errands, which processes share where there are several."""

from __future__ import annotations

import joblib
import pytest

from papers.tour import ahead as tour_ahead
from papers.tour.ahead import compile_ahead, errands, run_errand


@pytest.fixture
def ran(monkeypatch):
    """Which errands this process ran."""
    found = []
    monkeypatch.setattr(tour_ahead, "run_errand", found.append)
    return found


@pytest.mark.parametrize("name", errands())
def test_every_errand_can_be_run(name, monkeypatch):
    monkeypatch.setattr(tour_ahead, "FEW", 6)
    tour_ahead._bench.cache_clear()
    tour_ahead._weights.cache_clear()
    run_errand(name)
    assert tour_ahead._bench.cache_info().currsize >= 1
    tour_ahead._bench.cache_clear()
    tour_ahead._weights.cache_clear()


def test_a_single_processor_runs_them_one_after_the_other(ran, monkeypatch):
    monkeypatch.setattr(tour_ahead.os, "cpu_count", lambda: 1)
    steps = []
    compile_ahead(lambda: steps.append(len(ran)))
    assert ran == list(errands())
    assert steps == list(range(1, len(ran) + 1))


def test_without_compiling_there_is_nothing_to_share(ran, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    compile_ahead(lambda: None)
    assert ran == list(errands())


def test_processes_share_them_and_then_this_one_loads_what_they_left(ran, monkeypatch):
    asked = []

    class AtOnce:
        def __init__(self, processes, **options):
            asked.append((processes, options["return_as"]))

        def __call__(self, calls):
            return (function(*given) for function, given, _ in calls)

    monkeypatch.setattr(joblib, "Parallel", AtOnce)
    monkeypatch.setattr(tour_ahead.os, "cpu_count", lambda: 64)
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    steps = []
    compile_ahead(lambda: steps.append(len(ran)))
    assert asked == [(tour_ahead.MAX_PROCESSES, "generator_unordered")]
    assert ran == [*errands(), *errands()]
    assert steps == list(range(1, len(errands()) + 1))
