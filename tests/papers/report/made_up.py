"""Records to show: those of whole runs, which lie beside the documentation, and made-up ones."""

from pathlib import Path
from typing import Any

from papers.records import Claim, Record, Row, read_record
from papers.registry import EXPERIMENTS

RECORDS = Path(__file__).parents[3] / "records"
HELD = Claim("it is faster <b>", True, "1 s & 2 s.")
FAILED = Claim("it is better", False, "60 against 61.")


def saved(name: str) -> Record:
    return read_record(RECORDS / f"{name}.json")


def record(
    name: str, *rows: Row, claims: tuple[Claim, ...] = (HELD, FAILED), case: str = "", **more: Any
) -> Record:
    """A record of an experiment with these rows and settings."""
    return Record(
        f"{name}-{case}" if case else name,
        EXPERIMENTS[name].paper if name in EXPERIMENTS else "Nobody (1999), Table 9",
        {"quick": False, **more},
        rows,
        claims,
        {"rote": "0.1.0", "cpus": 2},
        12.5,
    )
