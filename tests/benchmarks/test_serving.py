"""The table of a service, on answers that take no time."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from benchmarks import serving
from benchmarks.serving import (
    ALONE,
    FIRST,
    SECOND,
    WAYS,
    Served,
    ServingRow,
    bars_of,
    measure,
    prepared,
)


class Echo(BaseHTTPRequestHandler):
    """Says back what it was asked."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["inputs"]
        body = json.dumps({"answers": [{"output": value} for value in asked]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def echo(*_):
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def row(engine, ratio, wrong=0.0):
    return ServingRow("case", engine, 1.0, ratio, wrong, 1.0)


def test_every_way_of_asking_keeps_the_order():
    values = list(range(103))
    with echo() as address:
        for make in WAYS.values():
            assert make(address)(values) == values


def test_the_second_pass_is_ours_and_wrong_outputs_are_counted():
    served = Served("few", None, [1, 2, 3, 4], [1, 2, 3, 5])
    rows = measure(served, {"a": (list, list), "b": (list, lambda values: [0] * len(values))}, 1)
    assert [(each.case, each.engine) for each in rows] == [
        (f"few, {way}", name) for way in "ab" for name in (SECOND, FIRST, ALONE)
    ]
    assert rows[0].ratio_to_ours == rows[3].ratio_to_ours == 1
    assert [each.max_error for each in rows] == [0, 0, 0, 1, 1, 2]


def test_bars_ask_for_a_faster_second_pass_and_the_right_outputs():
    assert [bar.met for bar in bars_of([row(SECOND, 1), row(FIRST, 3), row(ALONE, 1)])] == [
        True
    ] * 2
    assert [bar.met for bar in bars_of([row(SECOND, 1), row(FIRST, 1.1)])] == [False, True]
    assert [bar.met for bar in bars_of([row(FIRST, 3, wrong=1)])] == [True, False]


def test_sentences_to_ask_about_are_all_different_and_have_their_outputs(monkeypatch):
    monkeypatch.delenv("ROTE_DATA", raising=False)
    served = prepared(12, 40)
    assert served.name == "made-up sentences"
    assert len({json.dumps(value) for value in served.values}) == len(served.outputs) == 12
    assert all(y["words"] == x["words"] for x, y in zip(served.values, served.outputs, strict=True))


def test_the_table_is_written_as_json(monkeypatch, tmp_path, capsys):
    class Nothing:
        def save(self, folder):
            pass

    def made(count, learned):
        return Served("few", Nothing(), list(range(count)), list(range(count)))

    monkeypatch.setattr(serving, "prepared", made)
    monkeypatch.setattr(serving, "running", echo)
    file = tmp_path / "rows.json"
    serving.main(["--quick", "--repeats", "1", "--json", str(file)])
    written = json.loads(file.read_text(encoding="utf-8"))
    assert len(written["rows"]) == 3 * len(WAYS)
    assert written["bars"][-1]["met"]
    assert "answers per s" in capsys.readouterr().out
    assert pytest.approx(1) == written["rows"][0]["ratio_to_ours"]
