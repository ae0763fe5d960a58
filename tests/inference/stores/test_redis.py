"""The store on a Redis server: a server that is away, full or started anew, and secrets."""

import sys
import tempfile
import time
from pathlib import Path

import pytest

from rote.errors import MissingDependency, SettingError, StoreError
from rote.inference.stores.redis import CALL_BLOBS, CALL_BYTES, RedisStore, _portions
from tests.inference.stores.server import redis_in, running_redis

ROOT = Path(__file__).parents[3]


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


def test_keys_are_those_that_are_documented_and_none_outlives_its_log(server, client):
    with RedisStore(server, "rote", 10) as store:
        store.append("a", [b"12345"])
        store.append("b", [b"12345"])
        keys = {b"rote:2:sizes", b"rote:2:heads", b"rote:2:state"}
        assert set(client.keys()) == keys | {b"rote:2:log:a", b"rote:2:log:b"}
        store.append("c", [b"1234567890"])
        assert set(client.keys()) == keys | {b"rote:2:log:c"}
        store.clear()
        assert client.keys() == [b"rote:2:state"]
        assert client.hget("rote:2:state", "size") == b"0"


def test_sequences_go_on_when_the_server_forgets_everything(server, client):
    with RedisStore(server) as store:
        store.append("a", [b"1"] * 2500)
        sequence = store.read("a")[1]
        client.flushall()
        assert store.read("a", sequence) == ([], sequence)
        time.sleep(0.005)  # sequences may run ahead of the clock by one microsecond per blob
        store.append("a", [b"2"])
        assert store.read("a", sequence)[0] == [b"2"]


def test_sequences_go_on_when_the_clock_of_the_server_goes_back(server, client):
    with RedisStore(server) as store:
        store.append("a", [b"1"])
        ahead = 2**52 + 1  # in the year 2112
        client.hset("rote:2:state", "sequence", ahead)
        store.append("a", [b"2", b"3"])
        assert store.read("a", ahead) == ([b"2", b"3"], ahead + 2)
        assert store.read("a", ahead + 1) == ([b"3"], ahead + 2)


def test_portions_are_small_and_in_order():
    blobs = [b"x" * (i % 3) for i in range(2 * CALL_BLOBS + 1)]
    portions = list(_portions(blobs))
    assert [len(portion) for portion in portions] == [CALL_BLOBS, CALL_BLOBS, 1]
    assert [blob for portion in portions for blob in portion] == blobs
    large = [bytes(CALL_BYTES // 2), bytes(CALL_BYTES // 2), b"1", bytes(CALL_BYTES + 1), b"2"]
    assert [len(portion) for portion in _portions(large)] == [2, 1, 1, 1]
    assert list(_portions([])) == []


def test_a_server_that_is_away_is_an_error_that_names_it(tmp_path):
    pytest.importorskip("redis")
    start = time.perf_counter()
    with RedisStore(f"unix://{tmp_path}/nobody.sock") as store:
        for call in (
            lambda: store.append("a", [b"1"]),
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
            store.append("a", [b"1"])
            sequence = store.read("a")[1]
        with pytest.raises(StoreError, match="cannot be reached"):
            store.read("a", sequence)
        with redis_in(folder), store:
            assert store.read("a", sequence) == ([], sequence)
            store.append("a", [b"2"])
            assert store.read("a", sequence)[0] == [b"2"]


def test_a_server_without_room_refuses_and_keeps_what_it_has():
    with (
        running_redis("--maxmemory", "4mb", "--maxmemory-policy", "noeviction") as url,
        RedisStore(url) as store,
    ):
        store.append("a", [b"first"])
        with pytest.raises(StoreError, match=r"refused: .*maxmemory"):
            store.append("a", [bytes(1_000_000)] * 20)
        blobs, sequence = store.read("a")
        assert blobs[0] == b"first"
        assert store.info() == {"a": (len(blobs), sum(map(len, blobs)))}
        store.clear()
        store.append("a", [b"again"])
        assert store.read("a", sequence)[0] == [b"again"]


def test_a_store_whose_keys_were_dropped_ends_every_add_and_clearing_mends_it(server, client):
    with RedisStore(server, max_bytes=10) as store:
        store.append("a", [b"12345"])
        store.append("b", [b"12345"])
        client.delete("rote:2:heads")
        store.append("c", [b"12345"])
        store.clear()
        assert client.keys() == [b"rote:2:state"]
        store.append("c", [b"1234567890"])
        assert store.info() == {"c": (1, 10)}


def test_keys_of_another_kind_are_an_error_and_stay(server, client):
    client.set("rote:2:log:a", "mine")
    with RedisStore(server) as store:
        with pytest.raises(StoreError, match=r"redis\.sock refused: "):
            store.read("a")
        with pytest.raises(StoreError, match=r"redis\.sock refused: "):
            store.append("a", [b"1"])
    assert client.get("rote:2:log:a") == b"mine"


def test_a_password_is_used_and_never_shown():
    with running_redis("--requirepass", "s3cret") as url:
        with RedisStore(f"{url}?password=s3cret") as store:
            store.append("a", [b"1"])
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
    pytest.importorskip("redis")
    with RedisStore(url, max_bytes=7) as store:
        assert repr(store) == f"RedisStore({shown!r}, prefix='rote', max_bytes=7)"


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
