"""A service behind a port: a real one, started by the command and ended by a signal."""

import os
import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from rote.errors import MissingDependency, SettingError
from rote.serve import Service, open_service
from rote.serve.run import bound, check_extra, serve


def test_a_port_that_is_taken_is_told_in_a_sentence_and_the_service_is_closed(tagger):
    with bound("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        service = Service(tagger)
        with pytest.raises(SettingError, match=f"port {port} of 127.0.0.1 is taken"):
            serve(service, port=port)
        assert not service.is_open


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("127.0.0.1", 70000, "from 0 to 65535"),
        ("not.a.host.invalid", 8000, "cannot be listened on"),
    ],
)
def test_an_address_that_is_none_is_refused(host, port, said):
    with pytest.raises(SettingError, match=said):
        bound(host, port)


def test_connections_do_not_wait_to_fill_their_packets():
    with bound("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP  # by which asyncio decides
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            assert accepted.proto == socket.IPPROTO_TCP
            accepted.close()


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_address_may_be_of_the_new_kind():
    try:
        listening = bound("::1", 0)
    except SettingError:
        pytest.skip("the loopback device has no IPv6 address")
    with listening:
        assert listening.family is socket.AF_INET6


@pytest.mark.parametrize("name", ["fastapi", "uvicorn"])
def test_without_a_package_the_extra_is_named(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependency, match=rf"{name}; run: pip install '\.\[serve\]'"):
        check_extra()


def test_who_is_told_the_address_finds_a_service_that_is_warm(tagger, monkeypatch):
    done = []
    monkeypatch.setattr(Service, "warm_up", lambda _: done.append("warm"))
    monkeypatch.setattr("uvicorn.Server.run", lambda _, sockets: done.append("serving"))
    serve(Service(tagger), port=0, ready=lambda _: done.append("ready"))
    assert done == ["warm", "ready", "serving"]


def test_the_command_serves_until_it_is_told_to_stop_and_remembers(tagger, tmp_path):
    tagger.save(tmp_path / "chunker")
    command = [sys.executable, "-m", "rote", "serve", "chunker", "--port", "0"]
    with subprocess.Popen(
        [*command, "--store", "answers.sqlite"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        found = re.fullmatch(
            r"chunker is served by Amortized over Exact at (http\S+); stop with Ctrl-C\n",
            process.stdout.readline(),
        )
        assert found
        reply = httpx.post(f"{found[1]}predict", json={"input": "the dog"})
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read() == ""
    assert reply.json()["answers"][0]["output"] == ["B-NP", "I-NP"]
    with open_service(tmp_path / "chunker", store=str(tmp_path / "answers.sqlite")) as service:
        assert service.predict(["the dog"])[0].source == "cache"
