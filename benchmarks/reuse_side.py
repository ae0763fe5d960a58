"""One version of rote, in a process of its own: it answers the questions of a stream, timed.

A stream is a file that `benchmarks.reuse_streams` writes: spaces as labels, scopes of factors and
forms of rules, and batches of questions in the order in which they were asked. The same text runs
with rote as it is and as it was at an older commit; a line of JSON on the standard input says what
to do, and a line on the standard output says what came of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from time import clock_gettime, process_time
from typing import Any

import numpy as np

import rote
from rote.space.language import And, Implies, Is, Linear, Not, Or, Tuples

TIE = 1e-10  # of the largest score: values that are closer are equal
REMEMBERS = "+"  # ends the name of an engine with a memory around it
FORGETS = "-"  # and of one whose memory is empty at every batch: what its certificates do alone
ENGINES: Mapping[str, Callable[[], Any]] = {
    "Exact": rote.Exact,
    "HiGHS": rote.Milp,
    "Gurobi": lambda: rote.Milp(solver="gurobi"),
}


def rule_of(form: Any, variables: Sequence[Any]) -> Any:
    """The rule that has this form."""
    kind, *rest = form
    if kind == "is":
        return Is(variables[rest[0]], rest[1])
    if kind == "tuples":
        return Tuples(tuple(variables[j] for j in rest[0]), frozenset(map(tuple, rest[1])))
    if kind == "linear":
        lower, upper, *terms = rest
        return Linear(tuple((c, rule_of(term, variables)) for c, term in terms), lower, upper)
    inner = tuple(rule_of(each, variables) for each in rest)
    if kind in ("and", "or"):
        return (And if kind == "and" else Or)(inner)
    return Not(*inner) if kind == "not" else Implies(*inner)


def built(described: Mapping[str, Any]) -> Any:
    """The space of a description."""
    builder = rote.SpaceBuilder()
    named = enumerate(described["labels"])
    variables = [builder.variable(f"x{j}", labels) for j, labels in named]
    for scope in described["factors"]:
        builder.factor(*(variables[j] for j in scope))
    for k, form in enumerate(described["rules"]):
        builder.require(rule_of(form, variables), f"rule {k}")
    return builder.build()


def others() -> float:
    """The processor seconds of all processes that this one has started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = ended.ru_utime + ended.ru_stime
    for pid in children():
        with contextlib.suppress(OSError):  # it has ended since
            total += clock_gettime((~pid << 3) | 2)  # the clock of another process, on Linux
    return total


def children() -> Iterator[int]:
    """The processes that this one has started, and theirs."""
    left = ["self"]
    while left:
        for path in Path(f"/proc/{left.pop()}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found = path.read_text().split()
                left += found
                yield from map(int, found)


class Side:
    """Engines with what they remember, and the stream that they are asked about."""

    def load(self, path: str) -> dict[str, Any]:
        with np.load(path, allow_pickle=False) as arrays:
            described = json.loads(str(arrays["description"]))
            spaces = [built(each) for each in described["spaces"]]
            self.batches = [
                (spaces[space], np.ascontiguousarray(arrays[f"scores{k}"]), keys)
                for k, (space, keys) in enumerate(described["batches"])
            ]
        self.engines: dict[str, Any] = {}
        return {"spaces": [space.fingerprint for space in spaces]}

    def ask(self, names: Sequence[str], batch: int) -> dict[str, Any]:
        """What each engine answers to one batch, in this order, and in what time.

        Nothing where one of them refuses: trial licences of solvers take small spaces only.
        """
        space, scores, keys = self.batches[batch]
        try:
            return {name: self.answer(name, space, scores.copy(), keys) for name in names}
        except rote.UnsupportedSpace:
            return {}

    def answer(self, name: str, space: Any, scores: Any, keys: Sequence[int]) -> dict[str, Any]:
        if name not in self.engines or name.endswith(FORGETS):
            plain = name.rstrip(REMEMBERS + FORGETS)
            inner = (
                ENGINES[plain]()
                if plain in ENGINES
                else getattr(import_module("rote.engines"), plain)()
            )
            if name.endswith(FORGETS):
                self.engines[name] = rote.Amortized(inner, admission="always")
            else:
                remembers = name.endswith(REMEMBERS)
                self.engines[name] = rote.Amortized(inner) if remembers else inner
        engine, more, counts = self.engines[name], [], None
        if name.endswith(REMEMBERS):
            more, asked = [rote.Context(keys=keys)], engine.counters
        before, begun = others(), process_time()
        answers = engine.solve(space, scores, *more)
        took = process_time() - begun
        took += others() - before
        if name.endswith(REMEMBERS):
            since = engine.counters - asked
            counts = [since.reused, since.warm, since.cold]
        return {
            "seconds": took,
            "labels": hashlib.sha256(answers.labels.tobytes()).hexdigest(),
            "value": answers.value.tolist(),
            "ties": (TIE * np.maximum(1.0, np.abs(scores).max(axis=1))).tolist(),
            "counts": counts,
        }


def main() -> None:
    """Answer line by line."""
    side = Side()
    for line in sys.stdin:
        order = json.loads(line)
        answer = side.load(order["load"]) if "load" in order else side.ask(**order)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
