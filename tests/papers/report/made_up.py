"""Records with made-up numbers for every figure that an experiment draws, and some without one."""

from __future__ import annotations

from typing import Any

from papers.chang2015 import cv as chang_cv
from papers.chang2015 import figure1 as chang_figure1
from papers.ma2019 import plots as ma_plots
from papers.ma2019 import testtime as ma_testtime
from papers.records import Claim, Metric, Record, Row
from papers.registry import EXPERIMENTS

HELD = Claim("it is faster <b>", True, "1 s & 2 s.")
FAILED = Claim("it is better", False, "60 against 61.")


def record(name: str, rows: list[Row], *claims: Claim, case: str = "", **settings: Any) -> Record:
    return Record(
        f"{name}-{case}" if case else name,
        EXPERIMENTS[name].paper if name in EXPERIMENTS else "Nobody (1999), Table 9",
        {"quick": False, **settings},
        rows,
        claims or (HELD, FAILED),
        {"rote": "0.1.0", "cpus": 2},
        12.5,
    )


def around(name: str, middle: float) -> dict[str, Metric]:
    return {name: middle, f"{name}_low": middle - 1.25, f"{name}_high": middle + 1.25}


def synthetic() -> Record:
    rows = [
        Row(method, {"kappa": kappa, "examples": size, **around("accuracy", 50.0 + size / 20)})
        for kappa in (0.0, 0.1, 1.0)
        for method in ("LO", "L+I", "IBT")
        for size in (10, 100, 500)
    ]
    return record("punyakanok2005-synthetic", rows, quick=True)


def features() -> Record:
    rows = [
        Row(
            method,
            {"features": count}
            | around("f1", 50.0)
            | around("entity_f1", 60.0)
            | around("relation_f1", 40.0 + count / 100),
        )
        for method in ("LO", "L+I", "IBT")
        for count in (20, 2000)
    ]
    return record("punyakanok2005-features", rows)


def decomposed() -> Record:
    rows = [
        Row(method, {"examples": size, **around("hamming_loss", 30.0 - size / 50)})
        for method in ("LL", "LL+C", "DecL-1", "DecL-2", "DecL-3", "GL")
        for size in (10, 100)
    ]
    return record("samdani2012-synthetic", rows)


def calls() -> Record:
    shares = {
        "baseline": (100.0, 0.0),
        "adaptive": (24.0, 0.0),
        "epsilon=0.1": (80.0, 0.5),
        "epsilon=1": (30.0, 2.0),
        "auto": (7.0, 0.0),
        "auto, gap 0.01": (3.0, 0.2),
    }
    rows = [
        Row(
            method,
            {"sentences": "related", "solver": "Exact", "delta": 0.1}
            | {"calls_percent": share, "dual_lost_percent": lost, "speedup": 100 / share},
            {"speedup": 1.8} if method == "adaptive" else {},
        )
        for method, (share, lost) in shares.items()
    ]
    return record("chang2015-er", rows, plan={"delta": 0.1, "C": [0.1, 1.0]})


def along_training() -> Record:
    names = (chang_figure1.RAW, chang_figure1.ORACLE, chang_figure1.THEIRS, chang_figure1.OURS)
    rows = [
        Row(
            name,
            {"iteration": step, "solver_calls": 40 // step // k}
            | {"solver_calls_so_far": 40 * step // k},
        )
        for k, name in enumerate(names, start=1)
        for step in range(1, 9)
    ]
    return record("chang2015-figure1", rows)


def validation() -> Record:
    rows = [
        Row(
            name,
            {"policy": policy, "processes": 1, "solver_calls": 10 * share}
            | {"calls_percent": float(share)},
        )
        for name, policy, share in (
            (chang_cv.NONE, "none", 100),
            ("auto, reset", "reset", 9),
            ("auto, forward", "forward", 7),
        )
    ]
    return record("chang2015-cv", rows)


def by_alpha(case: str) -> Record:
    rows = [
        Row(
            case,
            {"alpha": alpha, **around("prediction", 60 + alpha), **around("generation", 80 - alpha)}
            | {"examples": 40},
        )
        for alpha in (0.0, 0.5, 1.0)
    ]
    return record("ma2019-alpha", rows, Claim(f"{case}: it falls", True, "80, 79."), case=case)


def at_test_time(case: str) -> Record:
    rows = [
        Row(
            name,
            {"case": case, "accuracy": 60.0 + k, "value_percent": 100.0, "as_good_percent": 99.0}
            | {"milliseconds": 100.0 / (k + 1), "climbs": 50.0, "speed_up": 1.0 + k}
            | ({"learning_seconds": 0.9, "led_by_e_percent": 99.3} if k else {}),
            {"milliseconds": 444, "speed_up": 1.0},
        )
        for k, name in enumerate(("RGS (50)", "A-RGS"))
    ]
    needed: dict[str, Metric] = {f"needed_{name}_percent": 14.0 for name in ma_testtime.BINS}
    rows += [
        Row(
            f"{search} (20)",
            {"case": case, "required_restarts": 2.0436, "restarts_to_best": 2.0, **needed},
            {"required_restarts": 2.05},
        )
        for search in ma_plots.SEARCHES
    ]
    rows += [
        Row(
            f"curve of {search}",
            {"case": case, "accuracy": 60.0 + climbs, "milliseconds": 2.0 * climbs}
            | {"climbs": climbs},
        )
        for search in ma_plots.SEARCHES
        for climbs in (1, 5)
    ]
    return record("ma2019-testtime", rows, case=case)


def speedups() -> Record:
    rows = [
        Row(
            name,
            {"case": "conll04", "relation_f1": f1, "milliseconds": 1234.5, "validity": 1.0},
            {"relation_f1": 48.2},
        )
        for name, f1 in (("ILP", 68.91), ("speed-up (b = 8)", 68.6))
    ]
    return record("pan2018-speedup", rows, case="conll04")


def all_records() -> list[Record]:
    """A record at least for every paper and every figure."""
    return [
        synthetic(),
        features(),
        decomposed(),
        calls(),
        along_training(),
        validation(),
        by_alpha("yeast"),
        by_alpha("msrc21"),
        at_test_time("yeast"),
        speedups(),
    ]
