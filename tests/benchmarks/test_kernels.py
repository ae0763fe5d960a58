"""Two versions in turn: what is compared, and the bars over all cases."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import kernel_cases, kernels
from benchmarks.kernels import OLD, OURS, KernelRow, Turn, bars_of, main, measure, running
from rote import DataError

ROOT = Path(__file__).parent.parent.parent


class Scripted:
    """A side that takes so long, in turn, and finds the same or something else."""

    def __init__(self, seconds, digest="same"):
        self.left, self.digest = list(seconds), digest

    def turn(self, case):
        return Turn(self.left.pop(0), self.digest)


def test_the_first_turn_is_not_counted_and_medians_are_compared():
    sides = {OURS: Scripted([9.0, 1.0, 2.0, 3.0]), OLD: Scripted([9.0, 6.0, 4.0, 0.0])}
    ours, old = measure(sides, "dp: a", 3)
    assert (ours.median_us, old.median_us) == (2e6, 4e6)
    assert (ours.ratio_to_ours, old.ratio_to_ours) == (1.0, 2.0)
    assert (ours.max_error, old.max_error) == (0.0, 0.0)


def test_other_arrays_are_an_error():
    sides = {OURS: Scripted([1.0] * 2, "other"), OLD: Scripted([1.0] * 2)}
    rows = measure(sides, "dp: a", 1)
    assert [row.max_error for row in rows] == [1.0, 0.0]
    assert [bar.says for bar in bars_of(rows) if "arrays" in bar.case] == ["other arrays in dp: a"]


def rows_of(shares):
    rooms = sorted({case.split(":")[0] for case in kernel_cases.CASES})
    names = [f"{rooms[k % len(rooms)]}: {k}" for k in range(max(len(shares), len(rooms)))]
    padded = [*shares, *shares[-1:] * len(names)]
    return [
        KernelRow(name, side, 1.0, ratio, 0.0, 1)
        for name, share in zip(names, padded, strict=False)
        for side, ratio in ((OURS, 1.0), (OLD, 1 / share))
    ]


@pytest.mark.parametrize(
    ("shares", "met"),
    [
        ([1.04, 0.6, 0.74], [True, True, True, True]),
        ([1.06, 0.6, 0.74], [True, False, True, True]),
        ([0.9, 0.6, 0.76], [False, True, True, True]),
    ],
)
def test_bars_are_met_where_kernels_are_as_fast_as_they_must_be(shares, met):
    assert [bar.met for bar in bars_of(rows_of(shares))] == met


def test_a_subfolder_that_was_not_measured_is_named():
    rows = [row for row in rows_of([0.5]) if not row.case.startswith("beam")]
    assert (bars_of(rows)[-1].met, bars_of(rows)[-1].says) == (False, "not measured: beam")


def test_a_process_answers_a_case_and_its_end_is_an_error():
    with running(Path(sys.executable), [ROOT / "src", ROOT], kernel_cases.__file__, "new") as side:
        first, second = side.turn("dp: 300 trees"), side.turn("dp: 300 trees")
        assert first.digest == second.digest
        assert second.seconds > 0
        with pytest.raises(DataError, match="no such case: a version of rote ended"):
            side.turn("no such case")


def test_the_old_version_comes_out_of_the_history(tmp_path):
    has = ["git", "-C", str(ROOT), "cat-file", "-e", kernels.COMMIT]
    if subprocess.run(has, check=False, capture_output=True).returncode != 0:
        pytest.skip("this clone has no history")
    sources = kernels.sources(tmp_path / "old")
    assert '"numba' in (sources / "pyproject.toml").read_text()
    names = {place.partition(":")[::2] for place in kernel_cases.OLD.values()}
    for module, name in names:
        path = sources / "src" / Path(*module.split("."))
        texts = [
            p.read_text() for p in (path.with_suffix(".py"), path / "__init__.py") if p.exists()
        ]
        assert re.search(rf"\b{name}\b", "".join(texts)), (module, name)


def test_a_commit_that_is_not_there_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "COMMIT", "0123456")
    with pytest.raises(DataError, match="0123456 is not in the history of"):
        kernels.sources(tmp_path)


def test_an_environment_that_is_kept_is_taken_as_it_is(tmp_path):
    (tmp_path / "ready").touch()
    assert kernels.environment(tmp_path) == tmp_path / "venv" / "bin" / "python"
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]


def test_a_text_that_no_case_has_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--case", "no such case"])
    assert "has the text no such case" in capsys.readouterr().err
