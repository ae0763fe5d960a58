"""What a fresh installation is measured by: processes, sizes, and the bars over them."""

import dataclasses
import sys
import time

import pytest

from benchmarks.cold_start import (
    ALL,
    AT_ONCE,
    CORE,
    DEMO,
    HELP,
    IMPORT,
    NUMPY,
    README,
    Program,
    StartRow,
    bars_of,
    files,
    measure,
    megabytes,
    programs,
    run,
)
from rote import DataError


def program(code, processes=1):
    return Program(CORE, (sys.executable, "-I", "-c", code), processes)


def test_a_process_is_timed_from_start_to_end_and_its_own_memory_is_told():
    (small,) = run(program("import time; time.sleep(0.2)"))
    (large,) = run(program("held = bytearray(200_000_000)"))
    assert 0.2 <= small.seconds < 5
    assert 0 < small.processor < 0.2
    assert small.megabytes < 60 < 200 < large.megabytes  # whatever this process has in memory


def test_processes_run_at_once_and_what_they_leave_behind_is_counted():
    waits = "import os, time; open(f'{os.getpid()}', 'w'); time.sleep(0.5)"
    begin = time.perf_counter()
    found = run(program(waits, 4))
    assert time.perf_counter() - begin < 1.9
    assert [one.written for one in found] == [4] * 4
    home = "import pathlib; (pathlib.Path.home() / 'file').touch()"
    assert [one.written for one in run(program(home))] == [1]


def test_a_program_that_fails_is_an_error_with_what_it_said():
    with pytest.raises(DataError, match=r"failed:\n(?s:.)*no such thing"):
        run(program("raise SystemExit('no such thing')"))


def test_a_row_has_the_median_the_first_and_the_largest():
    (row,) = measure({"nothing": program("pass")}, 3)
    assert (row.case, row.engine) == ("nothing", CORE)
    assert min(row.median_us, row.first_us) > 0
    assert 1 < row.megabytes < 60


def test_sizes_and_times_of_files_are_told(tmp_path):
    (tmp_path / "folder").mkdir()
    before = megabytes(tmp_path), files(tmp_path)
    (tmp_path / "folder" / "file").write_bytes(bytes(3_000_000))
    assert megabytes(tmp_path) - before[0] == pytest.approx(3.0, abs=0.01)
    assert [name for name, _ in files(tmp_path) - before[1]] == [str(tmp_path / "folder" / "file")]


def test_every_example_is_run_where_its_extra_is(tmp_path):
    core, more = tmp_path / "core" / "python", tmp_path / "more" / "python"
    found = programs(core, more, ["neural_tagger.py"])
    assert found["examples/sudoku.py"].command[0] == str(core)
    assert found["examples/serve_it.py"].command[0] == str(more)
    assert "examples/neural_tagger.py" not in found
    assert found[HELP].command == (str(tmp_path / "core" / "rote"), "--help")
    assert "SpaceBuilder" in found[README].command[-1]


def rows(seconds, memory):
    micros = {name: 1e6 * taken for name, taken in seconds.items()}
    return [StartRow(n, CORE, us, None, None, 0, us, memory, 0) for n, us in micros.items()]


SAME = {NUMPY: 0.1, ALL: 1.0}
FAST = {
    README: 0.4,
    HELP: 0.3,
    DEMO: 1.4,
    IMPORT: 0.17,
    AT_ONCE: 0.51,
    "examples/a.py": 4.9,
    **SAME,
}
SLOW = {
    README: 0.5,
    HELP: 0.4,
    DEMO: 1.5,
    IMPORT: 0.19,
    AT_ONCE: 0.66,
    "examples/a.py": 5.0,
    **SAME,
}


@pytest.mark.parametrize(
    ("seconds", "memory", "size", "written", "met"),
    [(FAST, 89.9, 269.9, 0, True), (SLOW, 90.0, 270.0, 1, False)],
    ids=["met", "not met"],
)
def test_bars_are_met_below_their_limits(seconds, memory, size, written, met):
    bars = bars_of(rows(seconds, memory), size, written)
    assert [bar.met for bar in bars] == [met] * 9


def test_a_file_that_is_left_anywhere_is_told():
    left = [*rows(FAST, 80.0)]
    left[0] = dataclasses.replace(left[0], written=1)
    bars = {bar.case: bar for bar in bars_of(left, 200.0, 0)}
    assert bars["written"].met is False
    assert f"elsewhere by {README}" in bars["written"].says
