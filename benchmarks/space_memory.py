"""What a tagger holds for the spaces of many lengths, and how fast it meets them again.

A tagger with 45 labels predicts one sentence of every length, twice. Everything it knows of an
input's shape (space, frame, compiled forms) may stay in memory from the first pass to the second,
within a limit of bytes. The last lines say whether the bars are met: how many megabytes are held,
and, given the processor time that another checkout takes for the second pass (the same file runs
there), whether this one takes no more.

    python -m benchmarks.space_memory --first 1 --last 1000 --at-most 4.5
"""

from __future__ import annotations

import argparse
import gc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from resource import getpagesize
from time import process_time

import numpy as np

from benchmarks.table import end
from rote import Model, Tagging, Templates, prepare
from rote.model import Layout

LABELS = 45
MAX_MEGABYTES = 200


def tagger(bio: bool) -> Model[list[list[str]], tuple[str, ...]]:
    """A tagger with random weights for a few words."""
    kinds = [f"{mark}-{k}" for k in range(LABELS // 2) for mark in "BI"] if bio else []
    labels = (*kinds, *(f"T{k}" for k in range(LABELS - len(kinds))))
    task = Tagging(labels, Templates(("word",), ("word[0]",)), bio=bio)
    layout: Layout = prepare(task, [sentence(9)]).layout
    return Model(task, layout, np.random.default_rng(0).normal(size=layout.size))


def sentence(length: int) -> list[list[str]]:
    return [[f"w{t * t % 9}"] for t in range(length)]


def one_pass(model: Model[list[list[str]], tuple[str, ...]], first: int, last: int) -> float:
    """Processor seconds that one sentence of each length takes, one after the other."""
    start = process_time()
    for length in range(first, last + 1):
        model.predict([sentence(length)])
    return process_time() - start


def megabytes_held(first: int, last: int, bio: bool) -> float:
    """What is in memory after a pass and was not before, in a process that did nothing else."""
    model = tagger(bio)
    model.predict([sentence(2)])
    gc.collect()
    before = resident()
    one_pass(model, first, last)
    gc.collect()
    return (resident() - before) / 1e6


def resident() -> int:
    """How many bytes this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--last", type=int, default=1000)
    parser.add_argument("--bio", action="store_true", help="with the rules of BIO labels")
    parser.add_argument("--no-memory", action="store_true", help="times alone")
    parser.add_argument("--at-most", type=float, help="seconds of the second pass elsewhere")
    given = parser.parse_args(arguments)
    lengths = f"lengths {given.first} to {given.last}"
    model = tagger(given.bio)
    model.predict([sentence(2)])  # loads the kernels
    times = [one_pass(model, given.first, given.last) for _ in range(3)]
    print(
        f"{lengths}: first pass {times[0]:.2f} s, second {times[1]:.2f} s, third {times[2]:.2f} s"
    )
    if given.at_most is not None:
        met = "met" if times[1] <= given.at_most else "NOT MET"
        print(f"SPACE MEMORY: {met}: second pass {times[1]:.2f} s, at most {given.at_most:.2f}")
    if given.no_memory:
        return
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        held = fresh.submit(megabytes_held, given.first, given.last, given.bio).result()
    met = "met" if held <= MAX_MEGABYTES else "NOT MET"
    print(f"SPACE MEMORY: {met}: {held:.0f} MB held after {lengths}, at most {MAX_MEGABYTES}")


if __name__ == "__main__":
    end(main)
