"""Records go to JSON and back, whole or not at all, and damaged ones are refused."""

import json
import os
import platform
import re
from dataclasses import replace

import numpy as np
import pytest

import rote
from papers.records import (
    Claim,
    Record,
    Row,
    environment,
    read_record,
    write_record,
)
from rote import DataError

RECORD = Record(
    "some-2005-table",
    "Some and Others (2005)",
    {"trials": 3, "sizes": [10, 20]},
    [
        Row("LO", {"examples": 10, "accuracy": 61.5, "data": "made up"}),
        Row("IBT", {"examples": 10, "accuracy": 70.0}, {"accuracy": 72.1}),
    ],
    [Claim("IBT is better", True, "70.0 against 61.5.")],
    {"rote": "0.1.0"},
    1.25,
)


def as_json() -> dict[str, object]:
    return RECORD.to_json()


def test_the_json_has_the_keys_that_readers_know():
    assert as_json() == {
        "name": "some-2005-table",
        "paper": "Some and Others (2005)",
        "settings": {"trials": 3, "sizes": [10, 20]},
        "rows": [
            {"method": "LO", "examples": 10, "accuracy": 61.5, "data": "made up", "paper": {}},
            {"method": "IBT", "examples": 10, "accuracy": 70.0, "paper": {"accuracy": 72.1}},
        ],
        "claims": [{"claim": "IBT is better", "held": True, "evidence": "70.0 against 61.5."}],
        "environment": {"rote": "0.1.0"},
        "seconds": 1.25,
    }


def test_a_record_is_read_back_as_it_was_written(tmp_path):
    path = write_record(RECORD, tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "some-2005-table.json"
    assert read_record(path) == RECORD
    assert list(path.parent.iterdir()) == [path]


def test_a_record_that_is_no_json_leaves_the_old_file_alone(tmp_path):
    path = write_record(RECORD, tmp_path)
    with pytest.raises(DataError, match="cannot be written as JSON"):
        write_record(replace(RECORD, settings={"what": {1, 2}}), tmp_path)
    assert read_record(path) == RECORD
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_and_no_scrap(tmp_path, monkeypatch):
    path = write_record(RECORD, tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(DataError, match="No space left"):
        write_record(replace(RECORD, seconds=9.0), tmp_path)
    assert read_record(path) == RECORD
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["", "../up", "Upper", "two words", "a--b", "-a"])
def test_a_name_that_makes_no_plain_file_name_is_refused(name):
    with pytest.raises(DataError, match="joined by hyphens"):
        replace(RECORD, name=name)


@pytest.mark.parametrize(
    "metric", [float("nan"), float("inf"), None, True, np.int64(3), [1.0]], ids=repr
)
def test_a_metric_that_is_no_finite_number_or_word_is_refused(metric):
    with pytest.raises(DataError, match="finite number or a word"):
        Row("LO", {"accuracy": metric})


@pytest.mark.parametrize("name", ["method", "paper"])
def test_a_metric_cannot_take_the_name_of_a_key(name):
    with pytest.raises(DataError, match="something else"):
        Row("LO", {name: 1.0})


def test_a_number_of_the_paper_stands_beside_one_of_ours():
    with pytest.raises(DataError, match="nothing to stand beside"):
        Row("LO", {"accuracy": 1.0}, {"f1": 1.0})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seconds": -1}, "at least 0"),
        ({"seconds": "1"}, "at least 0"),
        ({"name": 5}, "'name'"),
        ({"settings": []}, "'settings'"),
        ({"rows": {}}, "'rows'"),
        ({"rows": [{"accuracy": 1.0, "paper": {}}]}, "method"),
        ({"rows": [{"method": "LO", "accuracy": 1.0}]}, "paper"),
        ({"rows": [{"method": "LO", "accuracy": None, "paper": {}}]}, "finite number"),
        ({"claims": [{"claim": "c", "held": 1, "evidence": "e"}]}, "true or false"),
        ({"claims": [{"claim": "c", "held": True}]}, "keys"),
        ({"claims": [{"claim": "c", "held": True, "evidence": 3}]}, "a string"),
        ({"extra": 1}, "keys"),
    ],
    ids=str,
)
def test_a_damaged_record_is_refused_with_its_file_and_the_reason(tmp_path, change, reason):
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps({**as_json(), **change}), encoding="utf-8")
    with pytest.raises(DataError, match=rf"damaged\.json.*{re.escape(reason)}"):
        read_record(path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"name": ',
        "\ud800".encode("utf-8", "surrogatepass"),
        json.dumps(RECORD.to_json()).replace("61.5", "NaN").encode(),
        b"[" * 100_000,
        b"1" * 5000,
        f'{{"seconds": {10**400}}}'.encode(),
        None,
    ],
)
def test_what_is_no_record_is_refused(tmp_path, text):
    path = tmp_path / "other.json"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(DataError, match=r"other\.json"):
        read_record(path)


def test_the_environment_says_versions_and_no_name_of_a_machine_or_a_path():
    found = environment()
    assert list(found) == ["rote", "python", "numpy", "cpus", "platform"]
    assert found["rote"] == rote.__version__
    assert found["numpy"] == np.__version__
    assert found["python"] == platform.python_version()
    assert found["cpus"] == os.cpu_count()
    text = json.dumps(found)
    assert "/" not in text
    assert platform.node() not in text
