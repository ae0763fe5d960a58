"""Many inputs of many spaces in one call: grouped by space, solved in batches, back in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rote.errors import InfeasibleSpace, RoteError, ScoreError, locate, relocate
from rote.inference.engine import Engine, check_engine
from rote.inference.exact.exact import Exact
from rote.inference.problem import Problem
from rote.inference.solutions import Solutions, Status
from rote.io.tables import as_array
from rote.settings import check, one_of
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, readonly

NUMBERS_AT_ONCE = 1 << 22  # scores of a batch
ON_INFEASIBLE = one_of("error", "without_rules", "skip")


def solve_many(
    pairs: Iterable[tuple[Space, AnyArray]],
    engine: Engine | None = None,
    *,
    on_infeasible: str = "error",
    n_jobs: int = 1,
) -> list[Solutions]:
    """The best output of each of many inputs, whatever their spaces; in the order of the inputs.

    Inputs of equal spaces are solved together, so let `template` make the space of each shape.

    Parameters
    ----------
    pairs
        A space and scores for each input, an array or tensor of shape (parts,).
    engine
        What solves them; None is `Exact`.
    on_infeasible
        What becomes of an input for which no output is found: "error" raises `NoSolution` or
        `InfeasibleSpace`, which say its number; "skip" leaves its labels -1; "without_rules" gives
        the best output that breaks rules. Its status says in either case that there is none.
    n_jobs
        How many threads share the inputs of a space.

    >>> from rote import SpaceBuilder, solve_many, template
    >>> @template
    ... def row(builder, length):
    ...     for t in range(length):
    ...         builder.variable(f"x{t}", "ab")
    >>> answers = solve_many([(row(1), [0.0, 1.0]), (row(2), [2.0, 1.0, 0.0, 1.0])])
    >>> [answer.labels.tolist() for answer in answers]
    [[[1]], [[0, 1]]]
    """
    engine = Exact() if engine is None else engine
    check_solving(engine, on_infeasible)
    rows: list[AnyArray] = []
    groups: dict[Space, list[int]] = {}
    for number, pair in enumerate(pairs):
        try:
            space, scores = pair
            row = as_array(scores)
            if row.shape != (space.parts,):
                raise ScoreError(
                    f"the scores of one input have the shape ({space.parts},), one number per part "
                    f"of {space!r}; got {row.shape}"
                )
        except RoteError as error:
            locate(error, "input", number)
            raise
        groups.setdefault(space, []).append(number)
        rows.append(row)
    found: list[Solutions | None] = [None] * len(rows)
    for space, members in groups.items():
        numbers = np.array(members)
        scores = np.stack([rows[k] for k in members])
        answers = solve_group(engine, space, scores, numbers, on_infeasible, n_jobs)
        for place, number in enumerate(members):
            found[number] = answers.rows(slice(place, place + 1))
    return [answer for answer in found if answer is not None]


def check_solving(engine: Engine, on_infeasible: str) -> None:
    """Refuse settings that are none before anything is solved."""
    check_engine("engine", engine)
    check("on_infeasible", on_infeasible, ON_INFEASIBLE)


def solve_group(
    engine: Engine,
    space: Space,
    scores: FloatArray,
    numbers: IntArray,
    on_infeasible: str,
    n_jobs: int = 1,
) -> Solutions:
    """The answers to inputs of one space, whose numbers errors say; in batches that fit memory."""
    size = max(1, NUMBERS_AT_ONCE // max(1, space.parts))
    parts = []
    for start in range(0, len(scores), size):
        rows = slice(start, start + size)
        try:
            problem = Problem(space, scores[rows])
            parts.append(_solved(engine, problem, numbers[rows], on_infeasible, n_jobs))
        except InfeasibleSpace as error:
            locate(error, "input", int(numbers[start]))
            raise
        except ScoreError as error:
            relocate(error, "input", numbers[rows].tolist())
            raise
    return Solutions.joined(parts)


def _solved(
    engine: Engine, problem: Problem, numbers: IntArray, on_infeasible: str, n_jobs: int
) -> Solutions:
    try:
        found = engine.solve(problem.space, problem, n_jobs=n_jobs)
    except InfeasibleSpace:
        if on_infeasible == "error":
            raise
        found = Solutions.none(problem.space, len(problem))
    lost = np.flatnonzero(found.status > Status.FEASIBLE)
    if on_infeasible == "error":
        found.require_outputs("input", numbers)
    if not len(lost) or on_infeasible == "skip":
        return found
    free = problem.space.without_rules()
    answers = engine.solve(free, problem.rows(lost).with_space(free), n_jobs=n_jobs)
    return found.with_rows(lost, replace(answers, status=readonly(found.status[lost])))
