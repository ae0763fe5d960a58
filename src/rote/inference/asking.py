"""How engines are asked: in numbers that they can hold apart, and with every answer checked.

The module docstring of `rote.inference.problem` says what a tie is. Most inputs are asked as they
are, and all that is looked at afterwards is whether the best output loses so little that larger
losses do not count. Such inputs, and those whose scores are large beside their differences, are
asked again as *losses*: each score becomes what it lacks of the best one of its variable or factor,
in units that make the largest about 1; losses that do not count become twice the largest that
does. No digit of what counts is lost by this, and the answer is what the engine found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rote.errors import SolverError
from rote.inference.problem import TIE, TOO_LARGE, Context, LazyProblem, Problem
from rote.inference.solutions import Solutions, Status
from rote.kernels.constants import NEAR, WIDE
from rote.kernels.outputs import first_too_coarse
from rote.types import BoolArray, FloatArray, IntArray, readonly

if TYPE_CHECKING:
    from rote.inference.engine import Engine

EPSILON = 2.0**-52


def ask(engine: Engine, problem: Problem, context: Context) -> Solutions:
    """The answers of an engine to a problem that it can take."""
    asked = _first_asked(problem, context)
    return _finished(engine, problem, context, asked, engine.answer(asked.problem, asked.context))


def ask_all(engine: Engine, pairs: Sequence[tuple[Problem, Context]]) -> Iterator[Solutions]:
    """What `ask` says of each of several problems."""
    every = [_first_asked(problem, context) for problem, context in pairs]
    answers = engine.answer_all([(asked.problem, asked.context) for asked in every])
    for (problem, context), asked, found in zip(pairs, every, answers, strict=True):
        yield _finished(engine, problem, context, asked, found)


class _Asked(NamedTuple):
    """What an engine is asked; values are ``scale · (value - offset)``, if not as they were."""

    problem: Problem
    context: Context
    scale: FloatArray | None = None
    offset: FloatArray | None = None

    def in_given_numbers(self, given: Problem, answers: Solutions) -> Solutions:
        """Answers with the values and bounds of the problem that was given."""
        if self.scale is None or self.offset is None:
            return answers
        value = given.value(answers.labels)
        bound, changed = answers.bound / self.scale + self.offset, self.scale != 1.0
        sizes = np.abs(self.offset) + np.abs(np.where(np.isfinite(bound), bound, 0.0))
        bound += np.where(changed, EPSILON * len(given.space.starts) * sizes, 0.0)
        proved = answers.optimal | (answers.status == Status.INFEASIBLE)
        duals = answers.duals
        return replace(
            answers,
            value=readonly(value),
            bound=readonly(np.where(proved, value, np.maximum(bound, value))),
            duals=None if duals is None else duals.scaled(1.0 / self.scale),
        )


def _adds_up(problem: Problem) -> bool:
    """Whether values are sums of scores that are there, in the caller's numbers."""
    return problem.decomposes and not (problem.is_asked or isinstance(problem, LazyProblem))


def _first_asked(problem: Problem, context: Context) -> _Asked:
    if not _adds_up(problem):
        return _Asked(problem, context)
    if "as_it_is" not in vars(problem):
        problem.measure(TOO_LARGE)
    if problem.as_it_is:
        return _Asked(problem, context)
    changed = (problem.as_losses > 0) | (problem.floor > -np.inf)
    return _as_losses(problem, context, np.where(changed, np.inf, -np.inf))


def _finished(
    engine: Engine, problem: Problem, context: Context, asked: _Asked, answers: Solutions
) -> Solutions:
    """Answers that obey the rules, and are right for the problem as it was given."""
    if _adds_up(problem):
        answers = asked.in_given_numbers(problem, answers)
        best, layout = problem.best_of_slots, problem.space.layout
        questions, values, rows = problem.questions, answers.value, []
        row = first_too_coarse(questions, layout, TIE, best, values, 0)
        while row < len(problem):
            rows.append(row)
            row = first_too_coarse(questions, layout, TIE, best, values, row + 1)
        if rows or not problem.as_it_is:
            doubtful = np.union1d(rows, np.flatnonzero(problem.as_losses)).astype(np.int64)
            answers = _refined(engine, problem, context, answers, doubtful)
    check_rules(engine, problem, answers)
    return answers


def _refined(
    engine: Engine, problem: Problem, context: Context, answers: Solutions, rows: IntArray
) -> Solutions:
    """The same where some inputs are asked again without losses that do not count."""
    caps = np.full(len(rows), np.inf)
    while True:
        proved = answers.optimal[rows]
        rows, caps = rows[proved], caps[proved]
        lost, again = _too_coarse(problem.rows(rows), answers.labels[rows], caps)
        rows, caps = rows[again], WIDE * lost[again]
        if not len(rows):
            return answers
        part, more = problem.rows(rows), context.rows(rows)
        more = replace(more, warm=None, keys=None, record=False)
        asked = _as_losses(part, more, caps)
        found = asked.in_given_numbers(part, engine.answer(asked.problem, more))
        left = found.unsettled
        if len(left):  # a limit was hit: what was there before is known to be close
            before = answers.rows(rows[left])
            bound = readonly(np.maximum(found.bound[left], before.value))
            status = readonly(np.full(len(left), int(Status.FEASIBLE)))
            found = found.with_rows(left, replace(before, bound=bound, status=status))
        answers = answers.with_rows(rows, found)


def _losses(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """What each part lacks of the best of its slot, inf where it is closed, and these together."""
    space, scores = problem.space, problem.scores
    if problem.closed is not None:
        scores = scores.copy()
        scores[:, : space.labels][problem.closed] = -np.inf
    best = np.maximum.reduceat(scores, space.starts[:-1], axis=1)
    best[best == -np.inf] = 0.0
    losses = np.repeat(best, np.diff(space.starts), axis=1) - scores
    losses[problem.scores < 1.5 * problem.floor] = np.inf  # label tuples that are forbidden
    return losses, best.sum(axis=1)


def _too_coarse(
    problem: Problem, labels: IntArray, caps: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """What outputs lose, and which are compared too coarsely where larger losses than caps are."""
    losses, _ = _losses(problem)
    lost = np.take_along_axis(losses, problem.space.known_parts_of(labels), axis=1).sum(axis=1)
    widest = _largest_that_counts(losses, caps)
    near = np.maximum(lost, NEAR * widest)[:, None]
    return lost, (lost * WIDE < widest) & ((losses > 0) & (losses <= near)).any(axis=1)


def _largest_that_counts(losses: FloatArray, caps: FloatArray) -> FloatArray:
    counted = (losses <= caps[:, None]) & (losses < np.inf)
    return np.asarray(np.where(counted, losses, 0.0).max(axis=1, initial=0.0))


def _as_losses(problem: Problem, context: Context, caps: FloatArray) -> _Asked:
    """Inputs as losses up to a cap, larger ones far beyond; a cap of -inf leaves one as it is."""
    changed = caps > -np.inf
    rows = np.flatnonzero(changed)
    losses, best = _losses(problem.rows(rows))
    caps = caps[rows]
    widest = _largest_that_counts(losses, caps)
    exponent = -np.frexp(np.where(widest > 0.0, widest, 1.0))[1]
    if caps.min(initial=np.inf) == np.inf:  # beyond what any output without such a part loses
        slots = len(problem.space.starts)
        far = 3.0 * slots * np.ldexp(1.0, -exponent)
        floor = -1.5 * slots if problem.floor > -np.inf else -np.inf
    else:  # beyond all that counts, and what the best output loses
        far = 2.0 * np.maximum(widest, 2.0 / WIDE * caps)
        far[far == 0.0] = 1.0
        floor = -np.inf
    losses = np.where(losses <= caps[:, None], np.minimum(losses, far[:, None]), far[:, None])
    scores, ties = problem.scores.copy(), problem.ties.copy()
    scores[rows] = -np.ldexp(losses, exponent[:, None])
    ties[rows] = TIE * np.where(widest > 0.0, np.ldexp(widest, exponent), 1.0)
    scale, offset = np.ones(len(changed)), np.zeros(len(changed))
    scale[rows], offset[rows] = np.ldexp(1.0, exponent), best
    warm = context.warm
    if warm is not None and warm.duals is not None:
        context = replace(context, warm=warm._replace(duals=warm.duals.scaled(scale)))
    asked = problem.changed(
        scores=readonly(scores), ties=readonly(ties), is_asked=True, floor=floor
    )
    return _Asked(asked, context, scale, offset)


def check_rules(engine: Engine, problem: Problem, answers: Solutions) -> None:
    """Refuse to hand on an output that breaks a rule, whatever found it."""
    space = problem.space
    if not space.rules:
        return
    if not space.obeys(answers.labels):
        broken = next(labels for labels in answers.labels if not space.obeys(labels[None]))
        rules = ", ".join(repr(named.name) for named in space.broken(broken))
        raise SolverError(
            f"{type(engine).__name__} found an output that breaks {rules}; this is an error of "
            "the engine: use another one, and report it"
        )
