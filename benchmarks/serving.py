"""What an answer of a running service costs, the first time and the second.

A model of entities and relations is trained quickly and served by `rote serve`, once as it is by
default and once by `Exact` alone, each in a process of its own. Clients on the same machine send
sentences that neither was trained on:

    one by one     a request after the other, each on a connection that stays open
    at once        the same, from several clients at a time
    fifty in one   requests of fifty sentences

The first pass over some sentences has nothing to remember; the second has the same sentences again.
Every turn has sentences of its own. Times are wall-clock times, as a service is waited for: medians
over turns, per answer. All outputs must be those that the model predicts.

    python -m benchmarks.serving [--quick] [--repeats N] [--json FILE]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from benchmarks.table import Bar, Columns, Row, end, number, options, show
from papers.data.conll04 import load_conll04
from papers.data.folder import VARIABLE
from rote import EntityRelation, EntityRelationOutput, Model, StructuredSVM, train
from rote.datasets import english_sentences
from rote.errors import ServiceError
from rote.io.conll import Sentence
from rote.serve.run import check_extra
from rote.tasks.adapter import adapter_of

REPEATS = 5
CLIENTS, TOGETHER = 8, 50
FIRST, SECOND, ALONE = "first pass", "second pass", "Exact alone, second pass"
FASTER = 1.5  # the second pass than the first, at least

Ask = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True)
class ServingRow(Row):
    """And how many answers that makes in a second."""

    answers_per_second: float


@dataclass(frozen=True)
class Served:
    """A model, and sentences to ask about, as JSON has them, with the right answers."""

    name: str
    model: Model[Any, Any]
    values: Sequence[Any]
    outputs: Sequence[Any]


def prepared(count: int, learned: int | None = None) -> Served:
    """A model of conll04, or of made-up sentences where the corpus is not at hand.

    There are so many sentences to ask about, at most, and so many that it is trained on.
    """
    if os.environ.get(VARIABLE):
        corpus = load_conll04()
        name, known = "conll04", list(corpus.split("train"))
        others = [x for x in corpus.sentences if corpus.splits.get(x.id) != "train"]
        asked = [x for x in others if 2 <= len(x.entities) <= 6]
    else:
        sentences = list(english_sentences(300 + 2 * count, 0))  # some come twice
        name, known, asked = "made-up sentences", sentences[:300], sentences[300:]
    task = EntityRelation()
    kept = [x for x in known[:learned] if task.is_feasible(x)]
    model = train(
        task, kept, map(EntityRelationOutput.of, kept), learner=StructuredSVM(iterations=5)
    )
    adapter = adapter_of(task)
    values = list({json.dumps(value): value for value in map(said, asked)}.values())[:count]
    xs = [adapter.input_of(task, value) for value in values]
    found = zip(xs, model.predict(xs), strict=True)
    outputs = [adapter.to_json(task, x, y) for x, y in found]  # type: ignore[misc]
    return Served(name, model, values, outputs)


def said(sentence: Sentence) -> dict[str, Any]:
    """A sentence as a request has it."""
    return {
        "words": list(sentence.words),
        "pos": list(sentence.pos),
        "entities": [{"start": e.start, "stop": e.stop} for e in sentence.entities],
    }


@contextmanager
def running(folder: Path, engine: str) -> Iterator[str]:
    """The host and port of a service in a process of its own."""
    command = [sys.executable, "-m", "rote", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(
        [*command, "--engine", engine],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        try:
            said_first = process.stdout.readline()
            address = next((w for w in said_first.split() if w.startswith("http://")), None)
            if address is None:
                raise ServiceError("the service did not start; what it said is above")
            yield urlsplit(address.rstrip(";")).netloc
        finally:
            process.terminate()


def predicted(connection: HTTPConnection, values: Sequence[Any]) -> list[Any]:
    """The outputs that a service says, in one request."""
    connection.request("POST", "/predict", json.dumps({"inputs": list(values)}))
    answers = json.loads(connection.getresponse().read())["answers"]
    return [answer["output"] for answer in answers]


def one_by_one(address: str) -> Ask:
    def ask(values: Sequence[Any]) -> list[Any]:
        with closing(HTTPConnection(address)) as connection:
            return [predicted(connection, [value])[0] for value in values]

    return ask


def at_once(address: str) -> Ask:
    asks = [one_by_one(address) for _ in range(CLIENTS)]

    def ask(values: Sequence[Any]) -> list[Any]:
        shares = [values[k::CLIENTS] for k in range(CLIENTS)]
        outputs: list[Any] = [None] * len(values)
        with ThreadPoolExecutor(CLIENTS) as pool:
            for k, found in enumerate(pool.map(lambda a, s: a(s), asks, shares)):
                outputs[k::CLIENTS] = found
        return outputs

    return ask


def fifty_in_one(address: str) -> Ask:
    def ask(values: Sequence[Any]) -> list[Any]:
        chunks = [values[k : k + TOGETHER] for k in range(0, len(values), TOGETHER)]
        with closing(HTTPConnection(address)) as connection:
            return [output for piece in chunks for output in predicted(connection, piece)]

    return ask


WAYS: Mapping[str, Callable[[str], Ask]] = {
    "one by one": one_by_one,
    f"{CLIENTS} at once": at_once,
    f"{TOGETHER} in one": fifty_in_one,
}


def measure(served: Served, asks: Mapping[str, tuple[Ask, Ask]], each: int) -> list[ServingRow]:
    """``asks`` has for each way the service by default and the engine alone."""
    seconds: dict[tuple[str, str], list[float]] = {}
    wrong: dict[tuple[str, str], int] = {}
    for start in range(0, len(served.values), each * len(asks)):
        for place, (way, (ours, alone)) in enumerate(asks.items()):
            part = slice(start + place * each, start + (place + 1) * each)
            values, right = served.values[part], served.outputs[part]
            alone(values)  # of the first pass no more is known than of the second
            for name, ask in ((FIRST, ours), (SECOND, ours), (ALONE, alone)):
                begun = perf_counter()
                found = ask(values)
                seconds.setdefault((way, name), []).append((perf_counter() - begun) / len(values))
                differ = sum(a != b for a, b in zip(found, right, strict=True))
                wrong[way, name] = wrong.get((way, name), 0) + differ
    medians = {key: statistics.median(took) for key, took in seconds.items()}
    return [
        ServingRow(
            f"{served.name}, {way}",
            name,
            1e6 * medians[way, name],
            medians[way, name] / medians[way, SECOND],
            float(wrong[way, name]),
            1 / medians[way, name],
        )
        for way in asks
        for name in (SECOND, FIRST, ALONE)
    ]


def bars_of(rows: Sequence[ServingRow]) -> list[Bar]:
    """Cheaper the second time, and right."""
    bars = []
    for row in rows:
        if row.engine == FIRST:
            ratio = row.ratio_to_ours or 0.0
            says = f"the second pass is {ratio:.1f} times faster than the first; at least {FASTER}"
            bars.append(Bar(row.case, ratio >= FASTER, says))
    wrong = sum(row.max_error or 0 for row in rows)
    bars.append(Bar("all", wrong == 0, f"{wrong:.0f} outputs differ from the model's own"))
    return bars


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    about = "What an answer of a running service costs, the first time and the second."
    parser = options(about, repeats=REPEATS, quick="few sentences, a smaller model")
    chosen = parser.parse_args(argv)
    check_extra()
    each = TOGETHER if chosen.quick else 2 * TOGETHER
    served = prepared(chosen.repeats * each * len(WAYS), 100 if chosen.quick else None)
    with tempfile.TemporaryDirectory() as folder:
        served.model.save(folder)
        with (
            running(Path(folder), "amortized") as ours,
            running(Path(folder), "exact") as alone,
        ):
            for address in (ours, alone):  # plan spaces
                fifty_in_one(address)(list(map(said, english_sentences(TOGETHER, 1))))
            asks = {way: (make(ours), make(alone)) for way, make in WAYS.items()}
            rows = measure(served, asks, each)
    columns: Columns[ServingRow] = (
        ("median us", lambda row: number(row.median_us, ".0f")),
        ("ratio", lambda row: number(row.ratio_to_ours, ".2f")),
        ("answers per s", lambda row: number(row.answers_per_second, ".0f")),
        ("other outputs", lambda row: number(row.max_error, ".0f")),
    )
    show(rows, columns, bars_of(rows), chosen.json)


if __name__ == "__main__":
    end(main)
