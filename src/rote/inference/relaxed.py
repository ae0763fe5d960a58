"""Questions about many inputs under some of their rules each, answered in batches.

A question is a generator: it yields a problem and which groups of rules are kept, and is sent what
is `Found`. Questions that ask the same of the same space go to the engine together.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from rote.errors import InfeasibleSpace, NoSolution
from rote.inference.engine import Engine
from rote.inference.minimal_sets import (
    NONE,
    Clause,
    Rules,
    SmallestSets,
    minimal_conflict,
    smallest_sets,
)
from rote.inference.problem import Problem
from rote.inference.solutions import Solutions, Status
from rote.space.space import Space
from rote.types import IntArray

Result = TypeVar("Result")


class Found(NamedTuple):
    """The best output under some rules: its value, its labels, and the groups that it breaks.

    Without an output the value is -inf and the labels are -1.
    """

    value: float
    labels: IntArray
    broken: Rules


class Ask(NamedTuple):
    """The best output of one input of a problem, where these groups of rules are kept."""

    problem: Problem
    row: int
    kept: Rules


Question: TypeAlias = Generator[Ask, Found, Result]


class Groups:
    """The rules of a space in groups, each of which is kept or left out as a whole."""

    def __init__(self, space: Space, name: Callable[[str], str] | None = None) -> None:
        self.space = space
        members: dict[object, list[int]] = {}
        for number, rule in enumerate(space.required):
            members.setdefault(number if name is None else name(rule.name), []).append(number)
        self.members = tuple(map(tuple, members.values()))
        of = [space.required[own[0]].name for own in self.members]
        self.names = tuple(of if name is None else map(name, of))
        self.every: Rules = frozenset(range(len(members)))
        self._group = {rule: k for k, own in enumerate(self.members) for rule in own}
        self._spaces = {self.every: space}

    def called(self, groups: Rules) -> tuple[str, ...]:
        """The names of some groups, in order."""
        return tuple(self.names[group] for group in sorted(groups))

    def space_with(self, kept: Rules) -> Space:
        """The space where these groups of rules are kept."""
        if kept not in self._spaces:
            self._spaces[kept] = self.space.with_rules(self._rules_of(kept))
        return self._spaces[kept]

    def _rules_of(self, kept: Rules) -> frozenset[int]:
        return frozenset(number for group in kept for number in self.members[group])

    def broken_by(self, labels: IntArray, kept: Rules = NONE) -> list[Rules]:
        """The groups with a rule that each output of a batch breaks; none of those it obeys."""
        each = self.space.broken_by(labels, self._rules_of(kept))
        return [frozenset(self._group[number] for number in numbers) for numbers in each]


class Relaxations:
    """Answers questions with an engine, and counts how often it was called."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.calls = 0

    def settle(self, groups: Groups, questions: Iterable[Question[Result]]) -> list[Result]:
        """What each question about problems of one space comes to."""
        found: dict[int, Result] = {}
        asking = {number: (question, next(question)) for number, question in enumerate(questions)}
        while asking:
            together: dict[tuple[int, Rules], list[int]] = {}
            for number, (_, ask) in asking.items():
                together.setdefault((id(ask.problem), ask.kept), []).append(number)
            for numbers in together.values():
                answers = self._answers(groups, [asking[number][1] for number in numbers])
                for number, answer in zip(numbers, answers, strict=True):
                    question, _ = asking.pop(number)
                    try:
                        asking[number] = question, question.send(answer)
                    except StopIteration as stop:
                        found[number] = stop.value
        return [found[number] for number in range(len(found))]

    def _answers(self, groups: Groups, asks: Sequence[Ask]) -> list[Found]:
        problem = asks[0].problem.rows([ask.row for ask in asks])
        problem = problem.with_space(groups.space_with(asks[0].kept))
        self.calls += 1
        try:
            solutions = self.engine.solve(problem.space, problem)
        except InfeasibleSpace:
            solutions = Solutions.none(problem.space, len(problem))
        _require_proofs(solutions)
        there = solutions.status == Status.OPTIMAL
        broken = iter(groups.broken_by(solutions.labels[there], asks[0].kept))
        return [
            Found(value, labels, next(broken) if ok else NONE)
            for value, labels, ok in zip(
                solutions.value.tolist(), solutions.labels, there.tolist(), strict=True
            )
        ]


class Known:
    """What is known of one input of a problem: its best outputs under some groups of rules."""

    def __init__(self, problem: Problem, row: int, groups: Groups) -> None:
        self.problem = problem
        self.row = row
        self.groups = groups
        self._found: dict[Rules, Found] = {}

    def best(self, kept: Rules) -> Question[Found]:
        """The best output under some groups of rules, asked for once."""
        if kept not in self._found:
            self._found[kept] = yield Ask(self.problem, self.row, kept)
        return self._found[kept]

    def above(self, kept: Rules, floor: float) -> Question[Rules | None]:
        """What an output that obeys some groups and is better than a floor breaks, or None."""
        for asked, found in self._found.items():
            if found.value > floor:
                if not found.broken & kept:
                    return found.broken
            elif asked <= kept:
                return None
        found = yield from self.best(kept)
        return found.broken if found.value > floor else None

    def conflict(self, allowed: Rules, floor: float) -> Question[Rules | None]:
        """A minimal set among some groups under which no output is better than a floor."""
        return minimal_conflict(allowed, lambda kept: self.above(kept, floor))

    def relaxations(
        self, floor: float, limit: int, most: int | None = None
    ) -> Question[SmallestSets]:
        """The minimal sets of groups without which an output is better than a floor."""

        def refuted(left_out: Rules) -> Question[Clause | None]:
            conflict = yield from self.conflict(self.groups.every - left_out, floor)
            return None if conflict is None else Clause(NONE, conflict)

        return smallest_sets(refuted, limit, most)


def _require_proofs(solutions: Solutions) -> None:
    for i, status in enumerate(solutions.status.tolist()):
        if status not in (Status.OPTIMAL, Status.INFEASIBLE):
            raise NoSolution(
                f"an explanation rests on answers that are proved, got {solutions.proof(i)}; "
                "explain with Exact() and no limit of time"
            )
