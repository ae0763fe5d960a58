"""Outputs on made-up data are those of the arrays in tests/golden, to the bit.

Where kernels run as plain Python, these are the small ones.
"""

import json

import numpy as np
import pytest

from rote.kernels import compiled
from tools import golden

PLAIN = not compiled()
SAVED = json.loads(golden.VERSIONS.read_text(encoding="utf-8"))
# Another NumPy may draw and add up otherwise, another HiGHS prove otherwise; Python does neither.
SAME = all(SAVED[name] == here for name, here in golden.versions().items() if name != "python")
WITH_THE_SAME = pytest.mark.skipif(not SAME, reason=f"the arrays were worked out with {SAVED}")
QUICK = [
    name for name, group in golden.GROUPS.items() if (group.small if PLAIN else not group.tool_only)
]


@WITH_THE_SAME
@pytest.mark.parametrize("name", QUICK)
def test_outputs_are_golden(name):
    assert golden.compared(name, golden.golden()[name], golden.worked_out(name)) is None


def test_every_group_is_saved_and_nothing_else():
    assert golden.golden().keys() == golden.GROUPS.keys()


def test_a_bit_is_a_difference_and_nan_is_not():
    was = {"g/a": np.array([1.0, np.nan, -np.inf]), "g/b": np.array([1, 2], np.int8)}
    same = {"g/a": was["g/a"].copy(), "g/b": was["g/b"].astype(np.int64)}
    assert golden.compared("g", was, same) is None
    moved = {**same, "g/a": np.array([np.nextafter(1.0, 2.0), np.nan, -np.inf])}
    said = golden.compared("g", was, moved)
    assert said == "DIFFERENT: 1 of 5, largest difference 2.22e-16, in a"
    assert "shape" in golden.compared("g", was, {**same, "g/b": np.array([1])})
    assert "one side alone" in golden.compared("g", was, {"g/a": was["g/a"]})


def test_a_large_array_is_kept_so_that_any_change_shows():
    array = np.linspace(0.0, 1.0, 5000)
    changed = array.copy()
    changed[1] = np.nextafter(changed[1], 2.0)
    was, now = golden.kept({"g/a": array}), golden.kept({"g/a": changed})
    assert sum(each.nbytes for each in was.values()) < array.nbytes / 10
    assert golden.compared("g", was, now).startswith("DIFFERENT: 0 of ")


@WITH_THE_SAME
def test_check_tells_of_the_groups_it_was_asked_for(capsys):
    assert golden.main(["check", "sources", "obeyed"]) == 0
    said = capsys.readouterr().out
    assert said == "obeyed: equal\nsources: equal\n0 of 2 groups are different\n"


def test_check_notices_a_difference(capsys, monkeypatch):
    monkeypatch.setitem(golden.GROUPS, "obeyed", golden.Batch(lambda: {"holds": np.zeros(3)}))
    assert golden.main(["check", "obeyed"]) == 1
    assert "obeyed: DIFFERENT" in capsys.readouterr().out
    assert golden.main(["check", "no such group"]) == 1


def test_small_groups_are_of_all_sorts_and_for_the_tests():
    small = [name for name, group in golden.GROUPS.items() if group.small]
    assert not any(golden.GROUPS[name].tool_only for name in small)
    sorts = {name.split("_")[0].split("/")[0] for name in small}
    assert {"svm", "perceptron", "subgradient", "local", "engine", "amortized", "greedy"} <= sorts
    assert golden.main(["check", "--small", "no such group"]) == 1
