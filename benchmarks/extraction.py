"""Joint extraction: GLiNER2's problems by its own greedy and beam search, by CP-SAT, and by rote.

The same `JointProblem`s (`benchmarks.extraction_cases`) go to GLiNER2's `GreedyOptimizer` and
`BeamOptimizer` with 16 and 32, to OR-Tools' CP-SAT on a model written by hand, and to rote's
`ExactOptimizer`, in turns of some problems each. What is timed is the way from the problem to
GLiNER2's solution object, in processor time, that of child processes included. Values are what a
solution's candidates add up to. Where the schema has symmetric and inverse relations ("linked"),
GLiNER2 finds that most solutions are not allowed, its own included, and returns none; rote and
CP-SAT count what comes with a relation as `rote.adapters.gliner2` says.

    python -m benchmarks.extraction [--repeats N] [--case CASE] [--json FILE]
"""

from __future__ import annotations

import logging
import os
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from benchmarks.extraction_cases import cases
from benchmarks.reuse_side import others
from benchmarks.table import (
    Bar,
    Columns,
    Row,
    end,
    is_installed,
    number,
    options,
    say,
    show,
    wide_console,
)
from papers.data.folder import VARIABLE
from rote.inference.solutions import Status

OURS, GREEDY, BEAM, WIDE, CP_SAT = "rote", "greedy", "beam 16", "beam 32", "CP-SAT"
TURNS, EACH = 4, 5  # of other problems each time
FROM_50, SMALL = ("50", "100", "200"), ("10", "20")
GREEDY_TIMES, BEAM_TIMES, DENSE_TIMES, SPARSE_MS = 3.0, 50.0, 2.0, 5.0
EQUAL = 1e-6  # CP-SAT's whole numbers
SCALE = 1e7


@dataclass(frozen=True)
class ExtractionRow(Row):
    """Times are of one problem; an error is the largest share of the best value that is missing."""

    p95_us: float
    slowest_us: float
    proved: float | None  # share of the problems
    lower: float  # share of the problems whose value is below the best one known
    gap: float | None  # median of the share that is missing, where one is
    problems: int


class Ours:
    """Rote, by its adapter."""

    proved = False

    def __init__(self) -> None:
        from rote.adapters.gliner2 import ExactOptimizer

        self.optimizer = ExactOptimizer()

    def optimize(self, problem: Any) -> Any:
        found, status = self.optimizer.answer(problem)
        self.proved = status == Status.OPTIMAL
        return found


class CpSatByHand:
    """GLiNER2's problem as a CP-SAT model, one Boolean per candidate."""

    proved = True

    def optimize(self, problem: Any) -> Any:
        from gliner2.joint_ie import constraints as kinds
        from gliner2.joint_ie.optimizers import JointSolution
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        node = {n.candidate_id: model.new_bool_var("") for n in problem.nodes}
        edge = [model.new_bool_var("") for _ in problem.edges]
        by_key: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
        once: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
        type_of = {n.candidate_id: n.entity_type for n in problem.nodes}
        said = defaultdict(list)
        for constraint in problem.constraints:
            said[type(constraint)].append(constraint)
        unordered = {c.relation for c in said[kinds.UniqueRelationPair] if not c.directed}
        symmetric = {c.relation for c in said[kinds.SymmetricRelation]}
        inverse = {c.relation: c.inverse for c in said[kinds.InverseRelation]}
        inverse |= {other: one for one, other in inverse.items()}
        for e, taken in zip(problem.edges, edge, strict=True):
            model.add_implication(taken, node[e.head])
            model.add_implication(taken, node[e.tail])
            by_key[e.relation_type, e.head, e.tail].append(taken)
            ends = (
                sorted((e.head, e.tail), key=str)
                if e.relation_type in unordered
                else (e.head, e.tail)
            )
            once["pair", e.relation_type, *ends].append(taken)
            once["slot", e.relation_type, e.slot].append(taken)
            once["key", e.hypothesis, e.count_alternative, e.slot].append(taken)
        for group in once.values():
            model.add_at_most_one(group)
        there = {key: group[:] for key, group in by_key.items()}
        for (relation, head, tail), group in by_key.items():
            other = relation if relation in symmetric else inverse.get(relation)
            if other is not None:
                there.setdefault((other, tail, head), []).extend(group)
        present = {}
        for key, group in there.items():
            present[key] = model.new_bool_var("")
            for taken in group:
                model.add_implication(taken, present[key])
        for c in said[kinds.TypedEndpoints]:
            for (relation, head, tail), var in present.items():
                if relation == c.relation and not (
                    type_of[head] in c.head_types and type_of[tail] in c.tail_types
                ):
                    model.add(var == 0)
        for c in said[kinds.NoSelfLoops]:
            for (relation, head, tail), var in present.items():
                if relation == c.relation and head == tail:
                    model.add(var == 0)
        for kind, side in ((kinds.MaxRelationsPerHead, 1), (kinds.MaxRelationsPerTail, 2)):
            for c in said[kind]:
                groups = defaultdict(list)
                for key, var in present.items():
                    if key[0] == c.relation:
                        groups[key[side]].append(var)
                for group in groups.values():
                    model.add(sum(group) <= c.limit)
        for c in said[kinds.AcyclicRelation]:
            rank = {n: model.new_int_var(0, len(node), "") for n in node}
            for (relation, head, tail), var in present.items():
                if relation == c.relation:
                    model.add(rank[tail] >= rank[head] + 1).only_enforce_if(var)
        if any(c.policy == "disallow" for c in said[kinds.EntityOverlapPolicy]):
            for start in {n.start for n in problem.nodes}:
                model.add_at_most_one(
                    node[n.candidate_id] for n in problem.nodes if n.start <= start < n.end
                )
        weights = [n.score for n in problem.nodes] + [e.score for e in problem.edges]
        model.maximize(
            cp_model.LinearExpr.weighted_sum(
                [*node.values(), *edge], [round(SCALE * weight) for weight in weights]
            )
        )
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        self.proved = solver.solve(model) == cp_model.OPTIMAL
        nodes = tuple(n for n in problem.nodes if solver.value(node[n.candidate_id]))
        edges = [e for e, taken in zip(problem.edges, edge, strict=True) if solver.value(taken)]
        edges.sort(key=lambda e: (e.relation_type, str(e.head), str(e.tail)))
        score = sum(n.score for n in nodes) + sum(e.score for e in edges)
        return JointSolution(nodes, tuple(edges), score)


def engines() -> dict[str, Any]:
    """Who takes part, ours first."""
    from gliner2.joint_ie.optimizers import BeamOptimizer, GreedyOptimizer

    return {
        OURS: Ours(),
        GREEDY: GreedyOptimizer(),
        BEAM: BeamOptimizer(16),
        WIDE: BeamOptimizer(32),
        CP_SAT: CpSatByHand(),
    }


def timed(optimizer: Any, problem: Any) -> tuple[Any, float]:
    """A solution, and the processor seconds of this process and those that it started."""
    before, began = others(), process_time()
    found = optimizer.optimize(problem)
    took = process_time() - began
    return found, took + others() - before


def worth(solution: Any) -> float:
    """What a solution's candidates add up to."""
    return float(sum(each.score for each in (*solution.nodes, *solution.edges)))


def measure(case: str, make: Callable[[int], Any], turns: int) -> list[ExtractionRow]:
    """Everybody in turn, each time on some other problems, after a turn that is not counted."""
    contestants, problems = engines(), EACH * turns
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    values: dict[str, list[float]] = {name: [] for name in contestants}
    proved: dict[str, list[bool]] = {OURS: [], CP_SAT: []}
    for turn in range(turns + 1):
        asked = [make(EACH * turn + k) for k in range(EACH if turn else 1)]
        names = list(contestants) if turn % 2 else list(contestants)[::-1]
        for name in names:
            for problem in asked:
                found, took = timed(contestants[name], problem)
                if turn:
                    seconds[name].append(took)
                    values[name].append(worth(found))
                    if name in proved:
                        proved[name].append(contestants[name].proved)
    best = np.max([values[name] for name in contestants], axis=0)
    medians = {name: statistics.median(own) for name, own in seconds.items()}
    rows = []
    for name, own in seconds.items():
        missing = (best - values[name]) / np.maximum(np.abs(best), 1e-9)
        low = missing > EQUAL
        rows.append(
            ExtractionRow(
                case,
                name,
                1e6 * medians[name],
                medians[name] / medians[OURS],
                float(missing.max()),
                1e6 * float(np.quantile(own, 0.95)),
                1e6 * max(own),
                float(np.mean(proved[name])) if name in proved else None,
                float(low.mean()),
                float(np.median(missing[low])) if low.any() else None,
                problems,
            )
        )
    return rows


def bars_of(rows: Sequence[ExtractionRow]) -> list[Bar]:
    """What must be shown: proved, never lower, and as fast as asked."""
    found = {(row.case, row.engine): row for row in rows}
    ours = [row for row in rows if row.engine == OURS]
    bars = [
        Bar(
            "EXTRACTION, all proved",
            all(row.proved == 1 for row in ours),
            f"{sum((row.proved or 0) * row.problems for row in ours):.0f} of "
            f"{sum(row.problems for row in ours)} problems",
        ),
        Bar(
            "EXTRACTION, never lower",
            not any(row.lower for row in ours),
            f"at most {max(row.max_error or 0 for row in ours):.1e} of a value below the best",
        ),
    ]
    for row in ours:
        size = row.case.split()[0]
        times = {e: found[row.case, e].ratio_to_ours or 0 for e in (GREEDY, BEAM, WIDE)}
        asked: dict[str, float] = {}
        if size in (*SMALL, *FROM_50):
            asked[GREEDY] = GREEDY_TIMES if size in FROM_50 else 1.0
        if size in FROM_50:
            asked[WIDE] = BEAM_TIMES
        if row.case == "built, dense":
            asked = {BEAM: DENSE_TIMES, WIDE: DENSE_TIMES}
        bars += [
            Bar(
                f"EXTRACTION, {row.case}, {other}",
                times[other] >= least,
                f"{times[other]:.2f} times as fast at the median, {least:g} asked",
            )
            for other, least in asked.items()
        ]
        if row.case == "built, sparse":
            took = (row.median_us or 0) / 1000
            says = f"{took:.2f} ms at the median, {SPARSE_MS:g} asked"
            bars.append(Bar(f"EXTRACTION, {row.case}", took <= SPARSE_MS, says))
    return bars


COLUMNS: Columns[ExtractionRow] = (
    ("median ms", lambda row: _ms(row.median_us)),
    ("95 %", lambda row: _ms(row.p95_us)),
    ("slowest", lambda row: _ms(row.slowest_us)),
    ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".2f")),
    ("proved", lambda row: number(row.proved, ".0%")),
    ("below\nthe best", lambda row: number(row.lower, ".0%")),
    ("by, at\nthe median", lambda row: number(row.gap, ".1%")),
)


def _ms(microseconds: float | None) -> str:
    return number(None if microseconds is None else microseconds / 1000, ",.2f")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    made: Mapping[str, Callable[[int], Any]] = cases()
    parser = options("Joint extraction beside GLiNER2.", repeats=TURNS, cases=made)
    chosen = parser.parse_args(argv)
    console = wide_console()
    if not all(is_installed(console, "the comparison", name) for name in ("gliner2", "ortools")):
        return
    logging.disable(logging.WARNING)  # GLiNER2 says of each problem that it found nothing allowed
    rows: list[ExtractionRow] = []
    left_out = set() if os.environ.get(VARIABLE) else {"conll04"}
    if left_out and "conll04" in (chosen.case or made):
        say(console, f"conll04 is left out: {VARIABLE} does not say where data is")
    for case in (case for case in chosen.case or made if case not in left_out):
        rows += measure(case, made[case], chosen.repeats)
    show(rows, COLUMNS, bars_of(rows), chosen.json)


if __name__ == "__main__":
    end(main)
