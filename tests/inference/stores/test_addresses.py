"""Opening a store by its address, and what importing the stores costs."""

import subprocess
import sys

import pytest

from rote.errors import SettingError, StoreError
from rote.inference.stores import RedisStore, SqliteStore, open_store


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("sqlite:{}/plain", "plain"),
        ("sqlite:{}/store.sqlite", "store.sqlite"),
        ("{}/store.sqlite", "store.sqlite"),
        ("{}/store.sqlite3", "store.sqlite3"),
        ("{}/my store.db", "my store.db"),
        ("{}/memory.db", "memory.db"),
    ],
)
def test_a_path_is_a_store_in_a_file(tmp_path, address, name):
    with open_store(address.format(tmp_path)) as store:
        assert isinstance(store, SqliteStore)
        store.append("a", [b"1"])
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["store.sqlite", "plain", "memory"])
def test_a_path_object_is_a_file_whatever_its_name(tmp_path, name):
    with open_store(tmp_path / name) as store:
        store.append("a", [b"1"])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with open_store(tmp_path / name, existing=True) as store:
        assert store.read("a")[0] == [b"1"]


def test_what_is_no_address_is_refused():
    with pytest.raises(SettingError, match="a string or a path, got 5"):
        open_store(5)


@pytest.mark.parametrize("address", ["redis://localhost:1/0", "rediss://a:1", "unix:///a.sock"])
def test_the_address_of_a_server_is_a_store_there(address):
    pytest.importorskip("redis")
    with open_store(address) as store:
        assert isinstance(store, RedisStore)
        assert store.url == address


@pytest.mark.parametrize("address", ["", "sqlite:", "store", "store.json", "mongodb://a", "Memory"])
def test_any_other_address_is_answered_by_what_is_possible(address):
    with pytest.raises(SettingError, match=r"memory, sqlite:PATH.*redis://localhost") as raised:
        open_store(address)
    assert repr(address) in str(raised.value)


def test_an_existing_store_is_opened_and_one_that_is_not_there_is_not_made(tmp_path):
    path = tmp_path / "store.sqlite"
    with pytest.raises(StoreError, match="there is no such file"):
        open_store(str(path), existing=True)
    assert list(tmp_path.iterdir()) == []
    with open_store(str(path)) as store:
        store.append("a", [b"1"])
    with open_store(f"sqlite:{path}", existing=True) as store:
        assert store.read("a")[0] == [b"1"]
    with pytest.raises(SettingError, match="name a file or a server"):
        open_store("memory", existing=True)


def test_neither_sqlite_nor_redis_is_loaded_before_a_store_needs_it():
    program = """
import sys
import rote, rote.inference.stores
assert not {"sqlite3", "redis"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
