"""The store on a Redis server: a server that is away, full or started anew, and secrets."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from rote.errors import MissingDependency, SettingError, StoreError
from rote.inference.stores.redis import (
    MAX_BYTES,
    MAX_PACKS,
    RedisStore,
    _portions,
    _shown,
)
from tests.inference.stores.server import redis_in, running_redis

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def server():
    with running_redis() as url:
        yield url


@pytest.fixture
def client(server):
    """A plain client on the server, with nothing on it."""
    import redis

    with redis.Redis.from_url(server) as plain:
        plain.flushall()
        yield plain


def test_prefixes_keep_stores_apart(server, client):
    with RedisStore(server, "one") as one, RedisStore(server, "other") as other:
        one.add("a", [b"1"])
        assert other.info() == {}
        other.add("a", [b"2"])
        one.clear()
        assert other.read("a")[0] == [b"2"]


def test_keys_are_those_that_are_documented_and_none_outlives_its_shelf(server, client):
    with RedisStore(server, "rote", 10) as store:
        store.add("a", [b"12345"])
        store.add("b", [b"12345"])
        keys = {b"rote:1:sizes", b"rote:1:heads", b"rote:1:state"}
        assert set(client.keys()) == keys | {b"rote:1:shelf:a", b"rote:1:shelf:b"}
        store.add("c", [b"1234567890"])
        assert set(client.keys()) == keys | {b"rote:1:shelf:c"}
        store.clear()
        assert client.keys() == [b"rote:1:state"]
        assert client.hget("rote:1:state", "size") == b"0"


def test_other_keys_on_the_server_are_left_alone(server, client):
    client.set("mine", "1")
    with RedisStore(server, max_bytes=10) as store:
        store.add("a", [b"12345"] * 5)
        store.clear()
    assert client.get("mine") == b"1"


def test_marks_go_on_when_the_server_forgets_everything(server, client):
    with RedisStore(server) as store:
        store.add("a", [b"1"] * 2500)
        mark = store.read("a")[1]
        client.flushall()
        assert store.read("a", mark) == ([], mark)
        time.sleep(0.005)  # marks may run ahead of the clock by one microsecond per pack
        store.add("a", [b"2"])
        assert store.read("a", mark)[0] == [b"2"]


def test_marks_go_on_when_the_clock_of_the_server_goes_back(server, client):
    with RedisStore(server) as store:
        store.add("a", [b"1"])
        ahead = 2**52 + 1  # in the year 2112
        client.hset("rote:1:state", "mark", ahead)
        store.add("a", [b"2", b"3"])
        assert store.read("a", ahead) == ([b"2", b"3"], ahead + 2)
        assert store.read("a", ahead + 1) == ([b"3"], ahead + 2)


def test_a_shelf_longer_than_a_page_is_read_to_its_end(server, client):
    packs = [b"%d" % i for i in range(2 * MAX_PACKS)]
    with RedisStore(server) as store:
        store.add("a", packs)
        assert store.read("a")[0] == packs


def test_portions_are_small_and_in_order():
    packs = [b"x" * (i % 3) for i in range(2 * MAX_PACKS + 1)]
    portions = list(_portions(packs))
    assert [len(portion) for portion in portions] == [MAX_PACKS, MAX_PACKS, 1]
    assert [pack for portion in portions for pack in portion] == packs
    large = [bytes(MAX_BYTES // 2), bytes(MAX_BYTES // 2), b"1", bytes(MAX_BYTES + 1), b"2"]
    assert [len(portion) for portion in _portions(large)] == [2, 1, 1, 1]
    assert list(_portions([])) == []


def test_a_server_that_is_away_is_an_error_that_names_it(tmp_path):
    pytest.importorskip("redis")
    start = time.perf_counter()
    with RedisStore(f"unix://{tmp_path}/nobody.sock") as store:
        for call in (
            lambda: store.add("a", [b"1"]),
            lambda: store.read("a"),
            store.info,
            store.clear,
        ):
            with pytest.raises(StoreError, match=r"nobody\.sock cannot be reached.*start it"):
                call()
    with (
        RedisStore("redis://127.0.0.1:1/0") as store,
        pytest.raises(StoreError, match=r"redis://127\.0\.0\.1:1/0 cannot be reached"),
    ):
        store.info()
    assert time.perf_counter() - start < 5


def test_a_store_goes_on_when_its_server_was_started_anew():
    with tempfile.TemporaryDirectory(prefix="rote") as folder:
        with redis_in(folder) as url:
            store = RedisStore(url)
            store.add("a", [b"1"])
            mark = store.read("a")[1]
        with pytest.raises(StoreError, match="cannot be reached"):
            store.read("a", mark)
        with redis_in(folder), store:
            assert store.read("a", mark) == ([], mark)
            store.add("a", [b"2"])
            assert store.read("a", mark)[0] == [b"2"]


def test_a_server_without_room_refuses_and_keeps_what_it_has():
    with (
        running_redis("--maxmemory", "4mb", "--maxmemory-policy", "noeviction") as url,
        RedisStore(url) as store,
    ):
        store.add("a", [b"first"])
        with pytest.raises(StoreError, match=r"refused: .*maxmemory"):
            store.add("a", [bytes(1_000_000)] * 20)
        packs, mark = store.read("a")
        assert packs[0] == b"first"
        assert store.info() == {"a": (len(packs), sum(map(len, packs)))}
        store.clear()
        store.add("a", [b"again"])
        assert store.read("a", mark)[0] == [b"again"]


def test_a_store_whose_keys_were_dropped_ends_every_add_and_clearing_mends_it(server, client):
    with RedisStore(server, max_bytes=10) as store:
        store.add("a", [b"12345"])
        store.add("b", [b"12345"])
        client.delete("rote:1:heads")
        store.add("c", [b"12345"])
        store.clear()
        assert client.keys() == [b"rote:1:state"]
        store.add("c", [b"1234567890"])
        assert store.info() == {"c": (1, 10)}


def test_keys_of_another_kind_are_an_error_and_stay(server, client):
    client.set("rote:1:shelf:a", "mine")
    with RedisStore(server) as store:
        with pytest.raises(StoreError, match=r"redis\.sock refused: "):
            store.read("a")
        with pytest.raises(StoreError, match=r"redis\.sock refused: "):
            store.add("a", [b"1"])
    assert client.get("rote:1:shelf:a") == b"mine"


def test_a_password_is_used_and_never_shown():
    with running_redis("--requirepass", "s3cret") as url:
        with RedisStore(f"{url}?password=s3cret") as store:
            store.add("a", [b"1"])
            assert store.read("a")[0] == [b"1"]
            assert "s3cret" not in repr(store)
        for wrong in (f"{url}?password=0ther", url):
            with RedisStore(wrong) as store, pytest.raises(StoreError) as raised:
                store.info()
            assert "redis.sock" in str(raised.value)
            assert "0ther" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("rediss://ada:s3cret@cache:1/2", "rediss://cache:1/2"),
        ("redis://:s3c@ret@cache/2?password=s3cret", "redis://cache/2"),
        ("unix:///run/redis.sock?db=2", "unix:///run/redis.sock"),
    ],
)
def test_an_address_is_shown_without_what_is_secret(url, shown):
    assert _shown(url) == shown


@pytest.mark.parametrize(
    "url",
    ["http://cache", "redis://cache:s3cret/0", "redis://cache?s3cret=1"],
)
def test_an_address_that_cannot_be_read_is_refused_and_not_shown(url):
    pytest.importorskip("redis")
    with pytest.raises(SettingError, match="expected the address of a Redis server") as raised:
        RedisStore(url)
    assert "s3cret" not in str(raised.value)


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(MissingDependency, match=r"pip install '\.\[redis\]'"):
        RedisStore()


def test_the_store_says_where_it_is():
    pytest.importorskip("redis")
    with RedisStore(max_bytes=7) as store:
        expected = "RedisStore('redis://localhost:6379/0', prefix='rote', max_bytes=7)"
        assert repr(store) == expected


FORKING = """
import os, sys
from rote.inference.stores.redis import RedisStore

store = RedisStore(sys.argv[1], "forked")
store.add("main", [b"before"])
children = []
for i in range(5):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for number in range(20):
                store.add(f"child{i}", [b"%d" % number])
                assert store.read("main")[0][0] == b"before"
            code = 0
        finally:
            os._exit(code)
    children.append(child)
    store.add("main", [b"%d" % i])
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
assert store.read("main")[0] == [b"before", *(b"%d" % i for i in range(5))]
for i in range(5):
    assert store.read(f"child{i}")[0] == [b"%d" % number for number in range(20)]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_store_goes_on_in_the_parent_and_in_its_children(server):
    done = subprocess.run(
        [sys.executable, "-c", FORKING, server],
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "src"},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
