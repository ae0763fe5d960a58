"""Compiled forms: built once, shared by equal spaces, freed with them; what is kept is bounded."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier, Event, Thread
from weakref import ref

import numpy as np
import pytest

from rote.engines import Exact
from rote.space import Space, SpaceBuilder, compiled, template
from rote.space.compiled import RECENT, Recent, keep_recent, size_of
from rote.tasks.tagging import Tagging
from rote.tasks.task import Frame, Slot


def pair(names: str = "xy", labels: str = "ab", rule: bool = True) -> Space:
    builder = SpaceBuilder()
    x, y = (builder.variable(name, tuple(labels)) for name in names)
    builder.factor(x, y)
    if rule:
        builder.require(x["a"] >> y["b"])
    return builder.build()


class Form:
    """A form that can be watched."""

    def __init__(self, *args: object) -> None:
        self.args = args


@pytest.fixture
def recent(monkeypatch: pytest.MonkeyPatch) -> Recent:
    """An empty memory of what was asked for, for one test."""
    fresh = Recent(RECENT.limit)
    monkeypatch.setattr(compiled, "RECENT", fresh)
    return fresh


# -- once ---------------------------------------------------------------------------------


def test_a_form_is_built_once_for_each_function_and_its_arguments():
    space, built = pair(), []

    def build(space: Space, *more: int) -> Form | None:
        built.append(more)
        return Form(space.parts, *more) if more else None

    one, two = space.once(build, 1), space.once(build, 2)
    assert one.args == (8, 1)
    assert two.args == (8, 2)
    assert space.once(build, 1) is one
    assert space.once(build) is None
    assert space.once(build) is None
    assert built == [(1,), (2,), ()]


def test_a_function_that_raises_is_asked_again():
    space, calls = pair(), []

    def build(space: Space) -> int:
        calls.append(space)
        if len(calls) == 1:
            raise ValueError("not yet")
        return len(calls)

    with pytest.raises(ValueError, match="not yet"):
        space.once(build)
    assert space.once(build) == 2


def test_equal_spaces_share_their_forms_and_others_do_not():
    first, second, other = pair("xy"), pair("uv"), pair(labels="abc")
    assert first.once(Form) is second.once(Form)
    assert first.once(Form) is not other.once(Form)
    assert first.network is second.network


def test_forms_go_with_the_last_of_their_spaces():
    first, second = pair(), pair()
    form = ref(first.once(Form, 1))
    network = ref(first.network)
    Exact().solve(first, np.zeros(8))
    del first
    assert form() is second.once(Form, 1)
    del second
    gc.collect()
    assert form() is None
    assert network() is None


def test_two_threads_that_ask_for_the_same_form_build_it_once():
    space, built, barrier = pair(), [], Barrier(4)

    def build(space: Space) -> Form:
        built.append(space)
        time.sleep(0.05)
        return Form()

    def ask(_: int) -> Form:
        barrier.wait()
        return space.once(build)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(ask, range(4)))
    assert len(built) == 1
    assert all(form is found[0] for form in found)


def test_threads_that_ask_for_forms_of_different_spaces_do_not_wait_for_each_other():
    slow, quick, done = pair(), pair(labels="abc"), Event()

    def wait(space: Space) -> bool:
        return done.wait(10)

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(slow.once, wait)
        quick.once(Form)
        done.set()
        assert waiting.result()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_does_not_wait_for_threads_that_it_has_not():
    space, held, done = pair(), Event(), Event()

    def hold() -> None:
        with space.forms.lock, RECENT.lock:
            held.set()
            done.wait(10)

    thread = Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        space.once(Form)
        os._exit(0)
    done.set()
    thread.join()
    limit = time.monotonic() + 10
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < limit:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended == (child, 0)


# -- copies -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [lambda space: pickle.loads(pickle.dumps(space)), copy.copy, copy.deepcopy],  # noqa: S301
    ids=["pickle", "copy", "deepcopy"],
)
def test_a_copy_is_equal_and_leaves_compiled_forms_behind(again):
    space = pair()
    before = len(pickle.dumps(space))
    space.once(lambda space: np.zeros(10_000))
    _ = space.network, space.rows, space.sizes, space.names, space.without_rules()
    assert len(pickle.dumps(space)) == before
    copied = again(space)
    assert copied == space
    assert copied.names == space.names
    assert copied.holds([[0, 0], [0, 1]]).tolist() == [False, True]
    assert copied.network is space.network


def test_a_space_without_rules_keeps_names_and_factors():
    first, second, free = pair("xy"), pair("uv"), pair(rule=False)
    assert first.without_rules() == free
    assert first.without_rules() is first.without_rules()
    assert first.without_rules().names == ("x", "y")
    assert second.without_rules().names == ("u", "v")
    assert free.without_rules() is free


# -- what is kept -------------------------------------------------------------------------


@template
def chain(builder: SpaceBuilder, n: int, labels: str = "ab") -> None:
    variables = [builder.variable(f"x{j}", tuple(labels)) for j in range(n)]
    for x, y in pairwise(variables):
        builder.factor(x, y)


def test_a_template_gives_out_the_living_space_and_frees_what_nobody_holds(recent):
    recent.limit = 0
    first = chain(3)
    watched = ref(chain(4))
    assert chain(5).parts
    assert chain(3) is first
    gc.collect()
    assert watched() is None
    assert chain(4).parts == 8 + 12


def test_spaces_of_one_template_share_variables_and_factors():
    short, long = chain(3), chain(5)
    assert long.variables[:3] == short.variables
    assert all(x is y for x, y in zip(long.factors, short.factors, strict=False))
    assert chain(3, "abc").variables[0] is not short.variables[0]


def test_what_was_asked_for_last_is_kept_within_the_limit(recent):
    @template
    def chain(builder: SpaceBuilder, n: int) -> None:
        for j in range(n):
            builder.variable(f"x{j}", "ab")

    watched = {n: ref(chain(n)) for n in range(2, 12)}
    gc.collect()
    assert all(space() is not None for space in watched.values())
    chain(2)
    recent.limit = recent.size - 1
    chain(12)
    gc.collect()
    gone = [n for n, space in watched.items() if space() is None]
    assert gone
    assert gone == list(range(3, 3 + len(gone)))
    assert recent.size <= recent.limit


def test_forms_compiled_later_count(recent):
    first, second = ref(chain(20)), chain(21)
    before = recent.size
    second.once(lambda space: np.zeros(1000))
    assert recent.size >= before + 8000
    recent.limit = recent.size - 1
    second.once(Form)
    second.once(lambda space: np.zeros(1))
    gc.collect()
    assert first() is None
    assert recent.size == second.forms.size


def test_a_space_that_a_frame_and_a_template_keep_counts_once(recent):
    @keep_recent
    def frame(n: int) -> Frame:
        return Frame(chain(n), (Slot("x"),) * n + (Slot("y"),) * (n - 1))

    found = frame(83)  # a length that no other test keeps
    assert recent.size == found.space.forms.size
    assert frame(83) is found


def test_parts_of_larger_arrays_do_not_count():
    whole = np.zeros(1000)
    assert size_of(whole) >= 8000
    assert size_of(whole[:500]) == 0
    assert 8000 <= size_of((whole, [whole], {"a": whole})) < 16000  # each array once


def test_a_form_that_holds_itself_has_a_size():
    network = pair(rule=False).network
    assert network.per_factor_tables is network
    assert 0 < size_of(network) < 10_000


def test_a_tagger_with_many_labels_holds_little_for_many_lengths():
    task = Tagging(tuple(f"T{k}" for k in range(45)), lambda x: [{"w": 1.0}] * len(x))
    Exact().solve(task.frame("ab").space, np.zeros(45 * 47))
    tracemalloc.start()
    for n in range(1, 61):
        space = task.frame("a" * n).space
        Exact().solve(space, np.zeros(space.parts))
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 8e6  # a table of 45 by 45 numbers for every position would be 29 MB
