"""The best labels of many chains: `Exact` beside torch-struct's LinearChainCRF, on the processor.

Both get the same random scores, in arrays of their own made off the clock, and one thread. They
take turns; what is shown is the median of processor times for a batch, divided by its chains. The
optima are compared. torch-struct also runs on a graphics card, where this says nothing.

    python -m benchmarks.chains [--repeats N] [--json FILE]
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.table import (
    Bar,
    Columns,
    Row,
    end,
    in_turn,
    number,
    options,
    say,
    show,
    wide_console,
)
from rote import Exact, Space, Tagging
from rote.types import FloatArray

OURS, PEER = "Exact", "torch-struct"
PACKAGE = "torch_struct"
REPEATS = 5
FASTER = 10.0  # than torch-struct, at least
EQUAL = 1e-9


class Shape(NamedTuple):
    """Chains of one length."""

    chains: int
    length: int
    labels: int

    @property
    def case(self) -> str:
        return f"{self.chains} chains of {self.length}, {self.labels} labels"


SHAPES = (Shape(500, 10, 26), Shape(500, 20, 12), Shape(200, 30, 45))


@dataclass(frozen=True)
class ChainRow(Row):
    """Times are per chain."""

    repeats: int


def problem(shape: Shape, seed: int) -> tuple[Space, FloatArray]:
    """A space of chains, and scores drawn for all its parts."""
    labels = tuple(f"label {k}" for k in range(shape.labels))
    space = Tagging(labels, list).frame(range(shape.length)).space
    return space, np.random.default_rng(seed).normal(size=(shape.chains, space.parts))


def potentials(shape: Shape, scores: FloatArray) -> Any:
    """The same scores as torch-struct wants them: (chains, places - 1, next label, label)."""
    import torch

    singles = shape.length * shape.labels
    single = torch.tensor(scores[:, :singles].reshape(-1, shape.length, shape.labels))
    pairs = scores[:, singles:].reshape(-1, shape.length - 1, shape.labels, shape.labels)
    result = torch.tensor(pairs).transpose(2, 3) + single[:, 1:, :, None]
    result[:, 0] += single[:, 0, None, :]
    return result


def solvers(shape: Shape, space: Space, scores: FloatArray) -> dict[str, Callable[[], FloatArray]]:
    """What takes turns, by name; each solves all chains and says what the best are worth."""
    found: dict[str, Callable[[], FloatArray]] = {OURS: lambda: Exact().solve(space, scores).value}
    if find_spec(PACKAGE) is not None:
        import torch
        from torch_struct import LinearChainCRF

        torch.set_num_threads(1)
        # torch-struct says nothing of its arguments, which newer releases of PyTorch ask for.
        torch.distributions.Distribution.set_default_validate_args(False)
        given = potentials(shape, scores)

        def peer() -> FloatArray:
            best = LinearChainCRF(given).argmax
            return np.asarray((best * given).sum(dim=(1, 2, 3)).detach())

        found[PEER] = peer
    return found


def measure(shape: Shape, repeats: int) -> list[ChainRow]:
    """One row per engine, ours first."""
    space, scores = problem(shape, seed=0)
    engines = solvers(shape, space, scores)
    values = {name: solve() for name, solve in engines.items()}

    def seconds(solve: Callable[[], FloatArray]) -> float:
        start = process_time()
        solve()
        return process_time() - start

    turns = {name: lambda _, solve=solve: seconds(solve) for name, solve in engines.items()}
    median = {name: statistics.median(own) for name, own in in_turn(turns, repeats).items()}
    return [
        ChainRow(
            shape.case,
            name,
            median_us=1e6 * own / shape.chains,
            ratio_to_ours=own / median[OURS],
            max_error=float(np.abs(values[name] - values[OURS]).max()),
            repeats=repeats,
        )
        for name, own in median.items()
    ]


def bar_of(rows: Sequence[ChainRow]) -> Bar:
    """Judge the rows of one shape, the first of which is ours."""
    if len(rows) == 1:
        return Bar(rows[0].case, met=False, says=f"{PEER} was not measured")
    ratio, error = rows[1].ratio_to_ours or 0.0, rows[1].max_error or 0.0
    says = f"{ratio:.0f} times faster than {PEER}, at least {FASTER:.0f} asked for"
    optima = f"optima differ by {error:.0e} at most"
    return Bar(rows[0].case, ratio >= FASTER and error <= EQUAL, f"{says}; {optima}")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    parser = options("The best labels of chains, beside torch-struct.", repeats=REPEATS)
    chosen = parser.parse_args(argv)
    if find_spec(PACKAGE) is None:
        say(wide_console(), f"{PEER} is left out: run pip install torch-struct")
    measured = [measure(shape, chosen.repeats) for shape in SHAPES]
    columns: Columns[ChainRow] = (
        ("µs per\nchain", lambda row: number(row.median_us, ".1f")),
        ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".1f")),
        ("largest\ndifference", lambda row: number(row.max_error, ".0e")),
    )
    rows = [row for own in measured for row in own]
    show(rows, columns, list(map(bar_of, measured)), chosen.json)


if __name__ == "__main__":
    end(main)
