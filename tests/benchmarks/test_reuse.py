"""What is counted, compared and asked for of engines then, now and with a memory."""

import json

import pytest

from benchmarks import reuse
from benchmarks.kernels import COMMIT
from benchmarks.reuse import (
    EXACT,
    OURS,
    THEN_NAME,
    TOGETHER,
    Recorded,
    Turn,
    ask_all,
    bars_of,
    recorded,
    rows_of,
    with_memory,
)
from benchmarks.reuse_streams import grids
from rote import DataError

NAMES = [THEN_NAME, *with_memory(EXACT)]


def turn(seconds, *, questions=1, labels="same", value=1.0, counts=None):
    return Turn(seconds, labels, [value] * questions, [1e-10] * questions, counts)


def turns_of(then, now, memory, counts=(0, 1, 0)):
    return {
        THEN_NAME: dict(enumerate(map(turn, then))),
        EXACT: dict(enumerate(map(turn, now))),
        EXACT + "+": {k: turn(s, counts=list(counts)) for k, s in enumerate(memory)},
    }


def test_only_questions_that_memory_knows_count_and_only_what_both_answered_is_compared():
    turns = turns_of([9.0, 6.0], [9.0, 2.0, 4.0], [9.0, 1.0, 1.0])
    then, now, memory = rows_of("a", NAMES, turns, [False, True, True])
    assert (then.questions, now.questions, memory.questions) == (1, 2, 2)
    assert (then.first, now.first, memory.first) == (1, 1, 1)
    assert (then.mean_us, now.mean_us, memory.mean_us) == (6e6, 3e6, 1e6)
    assert (then.faster, now.faster, memory.faster) == (None, 3.0, 3.0)
    assert (then.ratio_to_ours, now.ratio_to_ours, memory.ratio_to_ours) == (3.0, 1.0, 1 / 3)
    assert (memory.reused, memory.warm, memory.cold) == (0, 2, 0)
    assert (now.reused, now.warm, now.cold) == (0, 0, 0)


def test_medians_are_of_questions_not_of_batches():
    now = {0: turn(4.0, questions=4), 1: turn(10.0)}
    memory = {k: t._replace(counts=[0, 0, 1]) for k, t in now.items()}
    rows = rows_of("a", NAMES, {THEN_NAME: {}, EXACT: now, EXACT + "+": memory}, [True, True])
    assert [row.median_us for row in rows] == [None, 1e6, 1e6]
    assert rows[1].faster is None


def test_with_a_solver_only_answers_of_memory_count():
    alone = {0: turn(5.0), 1: turn(5.0), 2: turn(9.0)}
    memory = {
        k: turn(s, counts=c)
        for k, (s, c) in enumerate([(1.0, [0, 1, 0]), (1.0, [1, 0, 0]), (9.0, [0, 0, 1])])
    }
    turns = {"HiGHS-": {0: turn(1.5), 1: turn(1.5)}, "HiGHS": alone, "HiGHS+": memory}
    rows = rows_of("conll04, HiGHS", ["HiGHS-", *with_memory("HiGHS")], turns, [True] * 3)
    _, one, two = rows
    assert "(1.50 as with an empty memory)" in bars_of(rows)[0].says
    assert (one.questions, two.questions, two.faster) == (2, 2, 5.0)
    assert (two.reused, two.warm, two.cold) == (1, 1, 1)


@pytest.mark.parametrize(
    ("engine", "change", "wrong"),
    [
        (THEN_NAME, {"labels": "others"}, 0),  # equal values will do
        (THEN_NAME, {"value": [1.0 + 1e-6]}, 1),
        (EXACT + "+", {"labels": "others"}, 1),
    ],
)
def test_other_answers_are_errors(engine, change, wrong):
    turns = turns_of([1.0], [1.0], [1.0])
    turns[engine][0] = turns[engine][0]._replace(**change)
    rows = {row.engine: row.max_error for row in rows_of("a", NAMES, turns, [True])}
    assert rows == {name: wrong if name == engine else 0 for name in NAMES}
    assert bars_of(rows_of("a", NAMES, turns, [True]))[-1].met == (not wrong)


@pytest.mark.parametrize(
    ("case", "then", "memory", "met"),
    [
        ("rcv1subset1", 31.0, 1.0, {"ENGINE, rcv1subset1": True}),
        ("rcv1subset1", 29.0, 1.0, {"ENGINE, rcv1subset1": False}),
        ("scene", 0.92, 0.96, {"ENGINE, scene": True, "MEMORY, scene": True}),
        ("scene", 0.90, 0.94, {"ENGINE, scene": False, "MEMORY, scene": False}),
        ("1aho", 1.0, 5.1, {"ENGINE, 1aho": True, "MEMORY, 1aho": True}),
        (
            "msrc21",
            1.0,
            2.5,
            {"ENGINE, msrc21": True, "MEMORY, msrc21": True, "MEMORY, msrc21, median": False},
        ),
    ],
)
def test_bars_ask_for_what_each_case_must_show(case, then, memory, met):
    turns = turns_of([then], [1.0], [1 / memory])
    bars = bars_of(rows_of(case, NAMES, turns, [True]))
    assert {bar.case: bar.met for bar in bars} == met | {"ANSWERS": True}


def test_what_was_not_counted_meets_no_bar():
    bars = bars_of(rows_of("1aho", NAMES, turns_of([1.0], [1.0], [1.0]), [False]))
    assert [(bar.met, bar.says) for bar in bars[:2]] == [(False, "no question was counted")] * 2


class Scripted:
    """A side that notes what it is asked."""

    def __init__(self, log, name, seconds=1.0, spaces=("s",)):
        self.log, self.name, self.seconds, self.spaces = log, name, seconds, list(spaces)

    def ask(self, line):
        order = json.loads(line)
        if "load" in order:
            return {"spaces": self.spaces}
        self.log += [(self.name, name, order["batches"]) for name in order["names"]]
        answers = {str(batch): turn(self.seconds)._asdict() for batch in order["batches"]}
        return dict.fromkeys(order["names"], answers)


def asked(seconds, batches, tmp_path):
    log = []
    sides = {COMMIT: Scripted(log, COMMIT, seconds), OURS: Scripted(log, OURS)}
    wanted = {COMMIT: [EXACT], OURS: with_memory(EXACT)}
    found = ask_all(sides, wanted, Recorded(tmp_path, [True] * batches))
    return log, found


def test_the_order_changes_from_turn_to_turn(tmp_path):
    log, found = asked(1.0, TOGETHER + 1, tmp_path)
    first, last = list(range(TOGETHER)), [TOGETHER]
    assert log == [
        (COMMIT, EXACT, first),
        (OURS, EXACT, first),
        (OURS, "Exact+", first),
        (OURS, "Exact+", last),
        (OURS, EXACT, last),
        (COMMIT, EXACT, last),
    ]
    every = [*first, *last]
    assert {name: sorted(own) for name, own in found.items()} == dict.fromkeys(NAMES, every)


def test_a_slow_old_version_is_asked_no_more(tmp_path):
    _, found = asked(reuse.PATIENCE + 1, 4 * TOGETHER, tmp_path)
    assert (len(found[THEN_NAME]), len(found[EXACT])) == (TOGETHER, 4 * TOGETHER)


def test_versions_that_build_other_spaces_are_an_error(tmp_path):
    sides = {COMMIT: Scripted([], COMMIT, spaces=("t",)), OURS: Scripted([], OURS)}
    with pytest.raises(DataError, match="do not build the same spaces"):
        ask_all(sides, {COMMIT: [EXACT], OURS: [EXACT]}, Recorded(tmp_path, [True]))


def test_a_stream_is_recorded_once_and_counts_from_where_keys_come_again(tmp_path, monkeypatch):
    made = []

    def stream(quick):
        made.append(quick)
        return grids(0.01, 2, 1)

    monkeypatch.setitem(reuse.STREAMS, "grids 1 %", stream)
    for _ in range(2):
        assert list(recorded(tmp_path, "grids 1 %", quick=True).known) == [False] * 2 + [True] * 2
    assert made == [True]
