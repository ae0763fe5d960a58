"""A program that starts writers on an SQLite store and kills them at random moments.

It forks its writers, so that hundreds of kills take a second, and it does so with the store open.
What it prints is JSON: the last add that each writer was told to be done, and what the program
itself read between the rounds.
"""

import hashlib
import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from random import Random

from rote.inference.stores.sqlite import SqliteStore

EACH = 4  # blobs per add
WRITERS = 3
LOGS = 2
DONE = struct.Struct("<II")
NAME = struct.Struct("<III")


def blob_of(writer: int, number: int, place: int) -> bytes:
    """A blob that says who wrote it and can be checked."""
    body = NAME.pack(writer, number, place) + bytes([number % 256]) * (37 * number % 3000)
    return hashlib.sha256(body).digest() + body


def name_of(blob: bytes) -> tuple[int, int, int]:
    """Who wrote a blob, in which add, and where in it."""
    digest, body = blob[:32], blob[32:]
    assert hashlib.sha256(body).digest() == digest
    return NAME.unpack_from(body)


def write_until_killed(store: SqliteStore, writer: int, pipe: int) -> None:
    number = 0
    while True:
        blobs = [blob_of(writer, number, place) for place in range(EACH)]
        store.append(f"log{number % LOGS}", blobs)
        os.write(pipe, DONE.pack(writer, number))
        number += 1


def round_of_kills(path: Path, limit: int | None, first: int, random: Random, most: float) -> dict:
    """The last add of each of some writers that was done when they were killed."""
    reading, writing = os.pipe()
    writers = {}
    for writer in range(first, first + WRITERS):
        child = os.fork()
        if child == 0:
            try:
                write_until_killed(SqliteStore(path, limit), writer, writing)
            finally:
                os._exit(1)
        writers[child] = writer
    os.close(writing)
    for child in writers:
        time.sleep(random.uniform(0, most))
        os.kill(child, signal.SIGKILL)
    for child in writers:
        status = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(status), "a writer ended before it was killed"
    with os.fdopen(reading, "rb") as pipe:
        done = dict.fromkeys(writers.values(), -1)
        done.update(DONE.iter_unpack(pipe.read()))
    return done


def main(folder: Path, limit: int | None, rounds: int, seed: int) -> None:
    random = Random(seed)  # noqa: S311
    done = {}
    # Some are killed while they make the file.
    for i in range(rounds):
        round_of_kills(folder / f"young{i}.sqlite", limit, 0, random, 0.01)
    path = folder / "old.sqlite"
    store = SqliteStore(path, limit)
    followed: list[list[int]] = []
    sequences = [0] * LOGS
    for i in range(rounds):
        done |= round_of_kills(path, limit, i * WRITERS, random, 0.02)
        for log in range(LOGS):
            blobs, sequences[log] = store.read(f"log{log}", sequences[log])
            followed += [[log, *name_of(blob)] for blob in blobs]
    sys.stdout.write(json.dumps({"done": list(done.items()), "followed": followed}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
