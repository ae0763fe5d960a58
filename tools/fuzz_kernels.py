"""Random calls of the kernels' doors, to be run where every index is checked.

    python -m tools.checked bounds tools.fuzz_kernels --calls 1000000

Calls of doors are recorded while small random spaces are solved and small tasks learned. Each call
is one of those with other scores: real, whole ones with many ties, nearly equal, or zero; and with
other labels closed. What doors write to is copied before. Fails where an index was out of range.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from rote.kernels.arrays import Bundle
from rote.kernels.bundles import Questions
from rote.kernels.misfits import types_of
from tools import golden
from tools.recorded import Calls, copied, doors, fields_of, recording, solve_examples

GROUPS = (
    *(f"engine_{name}/small" for name in golden.ENGINES if "milp" not in name),
    "duals/small",
    "max_marginals/small",
)
KEPT = 60  # calls of each door
SLOWEST = 3e-4  # seconds


def is_written(value: object) -> bool:
    """Whether a bundle has arrays that doors write to; a room may have."""
    if not isinstance(value, Bundle):
        return False
    types = types_of(type(value))
    return (
        not fields_of(value)
        or any(kind.startswith("Out") for kind in types.values())
        or any(map(is_written, fields_of(value).values()))
    )


def drawn(rng: np.random.Generator, like: Any) -> Any:
    """Other scores of the same shape."""
    kind = int(rng.integers(4))
    if kind == 0:
        return rng.normal(size=like.shape)
    if kind == 1:
        return rng.integers(-1, 2, size=like.shape).astype(np.float64)
    return (3e-11 if kind == 2 else 0.0) * rng.integers(0, 4, size=like.shape)


def maker(types: dict[str, str], given: tuple[Any, ...]) -> Callable[[Any], list[Any]]:
    """Makes arguments like those that were recorded."""
    written = [
        types[k].startswith("Out") or is_written(v) for k, v in zip(types, given, strict=True)
    ]

    def make(rng: np.random.Generator) -> list[Any]:
        again = []
        for name, value, own in zip(types, given, written, strict=True):
            if isinstance(value, Questions):
                closed = value.closed
                if len(closed):
                    closed = rng.random(closed.shape) < 0.2
                value = Questions(drawn(rng, value.scores), closed, value.ties)
            elif name == "scores" and types[name] == "Floats2":
                value = drawn(rng, value)
            elif own:
                value = copied(value)
            again.append(value)
        return again

    return make


def main(arguments: list[str] | None = None) -> int:
    """Record, then call; the number of calls of each door is printed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    outside: list[object] = []
    sys.unraisablehook = lambda one: outside.append((one.exc_value, one.object))
    recorded: Calls = {}
    with recording(recorded, KEPT):
        solve_examples()
        for name in GROUPS:
            golden.GROUPS[name].arrays()
    rng, known = np.random.default_rng(asked.seed), doors()
    calls, begin = [], perf_counter()
    for name, kept in recorded.items():
        for given in kept:
            make = maker(types_of(known[name]), given)
            start = perf_counter()
            known[name](*make(rng))
            if perf_counter() - start < SLOWEST:
                calls.append((name, known[name], make))
    done: Counter[str] = Counter()
    order = rng.integers(len(calls), size=asked.calls)
    for at in order.tolist():
        name, door, make = calls[at]
        door(*make(rng))
        done[name] += 1
    for name, count in sorted(done.items()):
        print(f"{count:9}  {name}")
    print(f"{done.total()} calls of {len(done)} doors in {perf_counter() - begin:.0f} s")
    print(f"{len(outside)} accesses outside an array", *outside[:5], sep="\n")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
