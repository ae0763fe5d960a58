"""Seconds per query along a training and along a service's day, with a memory and without: a plot.

The training is of a structural SVM on superpixels of msrc21, from its ninth iteration on: in the
first eight, which take longest and are alike in nothing, questions are answered in haste. The day
is made up: cameras that send a picture each (a grid of 30 by 30 with four labels) again and again,
whose scores have moved by 1 % since the last one; now and then a camera turns, and sends a picture
like none before. The engine alone and the one with a memory take turns, by processor time; labels
must be equal. What a space needs compiled is compiled before, for both.

    python -m benchmarks.reuse_plot [--quick] [--json FILE] [--plot docs/seconds-per-query.svg]

With ``--json`` what was measured is kept in FILE, and drawn from there the next time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any, TypeAlias

import numpy as np

from benchmarks.problems import grid
from benchmarks.reuse_streams import SEED, Asked, Stream, images
from benchmarks.table import end, say, wide_console
from rote import Amortized, Context, Exact
from rote.types import FloatArray

SIDE, LABELS, MOVED = 30, 4, 0.01
ALONE, WRAPPED = "#E69F00", "#0072B2"  # of Okabe and Ito
GREY = "#808080"  # to be read on white and on black
TRAINING = "A training: superpixels of msrc21, 21 labels"
DAY = "A service's day: 30 × 30 grids, moved by 1 %"
WINDOW = {TRAINING: 40, DAY: 20}  # queries of which each point is the mean: every image, camera
Measured: TypeAlias = dict[str, list[list[float]]]  # by panel: ms alone and with a memory


def day(cameras: int, rounds: int, turns: int) -> Stream:
    """Every camera once in a round; in each round but the first, ``turns`` of them turn."""
    group = grid(SIDE, LABELS, cameras + turns * rounds).groups[0]
    unseen = iter(group.scores[cameras:])
    bases = list(group.scores[:cameras])
    rng = np.random.default_rng(SEED)
    asked = []
    for number in range(rounds):
        turned = set(rng.choice(cameras, turns, replace=False).tolist()) if number else set()
        for camera in range(cameras):
            if camera in turned:
                bases[camera] = next(unseen)
            scores = bases[camera] * (1 + MOVED * rng.standard_normal(len(bases[camera])))
            asked.append(Asked(group.space, scores[None], [camera]))
    return asked


def measured(stream: Stream) -> list[list[float]]:
    """Milliseconds of processor time per query, by the engine alone and with a memory."""
    for asked in {id(asked.space): asked for asked in stream}.values():
        asked.space.is_new()  # or its first answer would come by a way for spaces used once
        Exact().solve(asked.space, asked.scores)
    alone, wrapped = Exact(), Amortized(Exact())
    times: list[list[float]] = [[], []]
    for asked in stream:
        context = Context(keys=asked.keys)
        begun = process_time()
        plain = alone.solve(asked.space, asked.scores)
        between = process_time()
        answers = wrapped.solve(asked.space, asked.scores.copy(), context)
        ended = process_time()
        if not np.array_equal(plain.labels, answers.labels):
            raise SystemExit("an answer differs with a memory")
        each = 1000 / len(asked.scores)
        times[0] += [each * (between - begun)] * len(asked.scores)
        times[1] += [each * (ended - between)] * len(asked.scores)
    return times


def smooth(times: Sequence[float], window: int) -> FloatArray:
    """The mean over a window that ends at each query."""
    total = np.concatenate([[0.0], np.cumsum(times)])
    at = np.arange(1, len(times) + 1)
    begin = np.maximum(0, at - window)
    return np.asarray((total[at] - total[begin]) / (at - begin))


def draw(path: Path, panels: Measured) -> None:
    """Two panels side by side, for light and dark pages alike."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    settings: dict[Any, Any] = (
        {"svg.fonttype": "none", "svg.hashsalt": "rote", "font.family": "sans-serif"}
        | {f"{part}.color": GREY for part in ("text", "xtick", "ytick")}
        | {"axes.labelcolor": GREY, "axes.edgecolor": GREY, "axes.titlecolor": GREY}
    )
    mpl.rcParams.update(settings)
    figure, axes = plt.subplots(1, len(panels), figsize=(9, 3.2), squeeze=False)
    for axis, (title, (alone, wrapped)) in zip(axes[0], panels.items(), strict=True):
        window = WINDOW[title]
        axis.plot(smooth(alone, window), color=ALONE, label="Exact()")
        axis.plot(smooth(wrapped, window), color=WRAPPED, label="Amortized(Exact())")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("query", fontsize=9)
        axis.set_ylim(bottom=0)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("ms per query", fontsize=9)
    axes[0, 0].legend(fontsize=9, frameon=False, labelcolor=GREY)
    figure.tight_layout()
    figure.savefig(path, transparent=True, metadata={"Date": None})


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print what each panel says, and draw."""
    parser = argparse.ArgumentParser(description="Seconds per query, alone and with a memory.")
    parser.add_argument("--quick", action="store_true", help="a few queries of each")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was measured there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw there")
    chosen = parser.parse_args(argv)
    console = wide_console()
    panels: Measured = {}
    if chosen.json is not None and chosen.json.exists():
        panels = json.loads(chosen.json.read_text())
    if not panels:
        size: Any = (4, 8, 3) if chosen.quick else (40, 8, 12)
        pictures: Any = (3, 3, 1) if chosen.quick else (20, 40, 1)
        panels[TRAINING] = measured(images(*size))
        panels[DAY] = measured(day(*pictures))
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(panels))
    for title, (alone, wrapped) in panels.items():
        half = len(alone) // 2
        say(
            console,
            f"{title}: {len(alone)} queries, {np.mean(alone):.2f} ms alone, "
            f"{np.mean(wrapped):.2f} with a memory; in the second half {np.mean(alone[half:]):.2f} "
            f"and {np.mean(wrapped[half:]):.2f}",
        )
    if chosen.plot is not None:
        draw(chosen.plot, panels)


if __name__ == "__main__":
    end(main)
