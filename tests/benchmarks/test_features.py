"""The benchmark of tagging features, on few sentences."""

import json
import re

import pytest

from benchmarks import features
from benchmarks.features import ALONE, CASES, OURS, PLAIN, READ, FeatureRow, bars, main, measure


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(features, "TRAINING", 30)
    monkeypatch.setattr(features, "BATCH", 3)


@pytest.mark.parametrize("case", CASES)
def test_each_way_has_a_row_for_everything_that_is_timed(case):
    rows = measure(case, 1)
    assert len(rows) == 6
    assert {row.ratio_to_ours for row in rows if row.engine == OURS} == {1.0}
    assert all(row.median_us > 0 for row in rows)


def test_answers_that_differ_are_an_error(monkeypatch):
    monkeypatch.setattr(features.NameByName, "vectors", lambda _, x: [["bias"]] * len(x))
    with pytest.raises(AssertionError, match="CHUNKING, read: the two ways give different answers"):
        measure("CHUNKING", 1)


@pytest.mark.parametrize(
    ("batch", "one", "met"), [(3.0, 1.0, [True, True]), (2.9, 0.9, [False, False])]
)
def test_bars_are_met_where_times_are_as_they_must_be(batch, one, met):
    rows = [
        FeatureRow("a case", engine, 1.0, ratio, None, what, 1)
        for what, ratio in ((READ, batch), (ALONE, one))
        for engine, ratio in ((OURS, 1.0), (PLAIN, ratio))
    ]
    assert [bar.met for bar in bars(rows)] == met


def test_the_table_is_printed_and_written(tmp_path, capsys):
    path = tmp_path / "features.json"
    main(["--repeats", "1", "--json", str(path)])
    assert re.search("FEATURES: (met|NOT MET): a batch is read", capsys.readouterr().out)
    assert len(json.loads(path.read_text())["rows"]) == 12
