"""What a store remembers, written as JSON lines."""

import json
import math

import numpy as np
import pytest

from rote.errors import DataError
from rote.inference.stores.base import sealed
from rote.inference.stores.export import export
from rote.inference.stores.memory import MemoryStore
from rote.inference.stores.sqlite import SqliteStore
from rote.inference.wrappers.amortized.entries import Entry

ENTRY = Entry(
    np.array([1, 0]), np.array([0.1, -2.0, 3.5]), np.array([1 / 3]), np.array([]), 0.25, 0.5
)
RECORD = {
    "labels": [1, 0],
    "scores": [0.1, -2.0, 3.5],
    "messages": [1 / 3],
    "multipliers": [],
    "margin": 0.25,
    "gap": 0.5,
}


def blob(entry, log):
    return sealed(entry.encoded(), log)


@pytest.fixture
def store():
    return MemoryStore()


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_entry_is_a_line_to_the_last_bit(store, tmp_path):
    store.append("3-b", [blob(ENTRY, "3-b")])
    store.append("3-a", [blob(ENTRY, "3-a"), blob(ENTRY._replace(margin=1.0), "3-a")])
    assert export(store, tmp_path / "all.jsonl") == (3, 0)
    assert lines(tmp_path / "all.jsonl") == [
        {"log": "3-a", **RECORD},
        {"log": "3-a", **RECORD, "margin": 1.0},
        {"log": "3-b", **RECORD},
    ]


def test_numbers_that_are_not_finite_become_null(store, tmp_path):
    odd = ENTRY._replace(margin=math.inf, messages=np.array([-math.inf, 1.0]))
    store.append("3-a", [blob(odd, "3-a")])
    export(store, tmp_path / "all.jsonl")
    (record,) = lines(tmp_path / "all.jsonl")
    assert (record["margin"], record["messages"]) == (None, [None, 1.0])


def test_damaged_blobs_are_counted_and_left_out(store, tmp_path):
    whole = blob(ENTRY, "3-a")
    store.append("3-a", [b"", whole[:-1], whole, bytes([whole[0] ^ 1]) + whole[1:], b"x" * 100])
    assert export(store, tmp_path / "all.jsonl") == (1, 4)
    assert len(lines(tmp_path / "all.jsonl")) == 1


def test_answers_of_a_service_are_no_damaged_entries(store, tmp_path):
    store.append("answers-2-a", [b"an answer"])
    store.append("3-a", [blob(ENTRY, "3-a")])
    assert export(store, tmp_path / "all.jsonl") == (1, 0)


def test_an_empty_store_is_an_empty_file(store, tmp_path):
    assert export(store, tmp_path / "all.jsonl") == (0, 0)
    assert (tmp_path / "all.jsonl").read_bytes() == b""


def test_a_file_that_cannot_be_written_is_named(store, tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "all.jsonl"):
        with pytest.raises(DataError, match=f"{path.name}: cannot be written"):
            export(store, path)
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_not_replaced_by_what_it_remembers(tmp_path):
    path = tmp_path / "a.sqlite"
    with SqliteStore(path) as there:
        there.append("3-b", [blob(ENTRY, "3-b")])
        with pytest.raises(DataError, match="is the store itself, and is left as it is"):
            export(there, path)
        assert export(there, tmp_path / "b.jsonl").entries == 1
