"""One version of rote, in a process of its own: it answers the questions of a stream, and times them.

A stream is a file of arrays that `benchmarks.reuse_streams` writes: spaces as numbers of labels,
scopes of factors and rules, and batches of questions in the order in which they were asked. The
same text runs with rote as it is and as it was at an older commit; a line of JSON on the standard
input says what to do, and a line on the standard output says what came of it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from time import process_time

import numpy as np

import rote
from rote import Exact, SpaceBuilder, at_least, at_most, exactly

COUNTS = {"at_most": at_most, "at_least": at_least, "exactly": exactly}


def built(described):
    """A space of a description."""
    builder = SpaceBuilder()
    variables = [
        builder.variable(f"x{j}", [str(a) for a in range(size)])
        for j, size in enumerate(described["sizes"])
    ]
    for scope in described["factors"]:
        builder.factor(*(variables[j] for j in scope))
    for kind, *rule in described["rules"]:
        if kind == "implies":
            (j, a), *then = rule
            for k, b in then:
                builder.require(variables[j][str(a)] >> variables[k][str(b)])
        elif kind == "forbid":
            (j, a), (k, b) = rule
            builder.require(~(variables[j][str(a)] & variables[k][str(b)]))
        else:
            count, labels = rule
            builder.require(COUNTS[kind](count, [variables[j][str(a)] for j, a in labels]))
    return builder.build()


class Stream:
    """The questions of a file."""

    def __init__(self, path):
        with np.load(path, allow_pickle=False) as arrays:
            described = json.loads(str(arrays["description"]))
            self.spaces = [built(each) for each in described["spaces"]]
            self.batches = [
                (self.spaces[space], np.ascontiguousarray(arrays[f"scores{k}"]), keys)
                for k, (space, keys) in enumerate(described["batches"])
            ]


def engine_of(name):
    """An engine by its name; one that older versions do not have is None."""
    inner, _, wrapped = name.partition("+")
    if inner == "Exact":
        made = Exact()
    else:
        from rote import engines

        made = getattr(engines, inner)()
    return rote.Amortized(made) if wrapped else made


class Side:
    """Engines with what they remember, and the stream that they are asked about."""

    def __init__(self):
        self.stream = None
        self.engines = {}

    def load(self, path):
        self.stream, self.engines = Stream(Path(path)), {}
        return {"batches": len(self.stream.batches)}

    def ask(self, names, batch):
        """The processor seconds of each engine for one batch, in this order."""
        space, scores, keys = self.stream.batches[batch]
        found = {}
        for name in names:
            if name not in self.engines:
                self.engines[name] = engine_of(name)
            engine, more = self.engines[name], ()
            if name.endswith("+"):
                from rote import Context

                more = (Context(keys=keys),)
            start = process_time()
            answers = engine.solve(space, scores.copy(), *more)
            seconds = process_time() - start
            found[name] = {
                "seconds": seconds,
                "digest": hashlib.sha256(np.ascontiguousarray(answers.labels)).hexdigest()[:16],
                "value": answers.value.tolist(),
                "optimal": bool(np.asarray(answers.optimal).all()),
            }
            if name.endswith("+"):
                counters = engine.counters
                found[name]["counts"] = [counters.reused, counters.warm, counters.cold]
        return found


def main():
    side = Side()
    for line in sys.stdin:
        order = json.loads(line)
        answer = side.load(order["load"]) if "load" in order else side.ask(**order)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
