"""Why an answer has not the labels that somebody wanted: which rules forbid them, at what cost.

Under some rules the wanted labels *win* if an output that has them is as good as any other. A
*relaxation* is a minimal set of rules to leave out so that they win. A *conflict* is a minimal set
of rules that is enough to forbid it: as long as these are kept, the labels do not win, whatever
else is left out. So conflicts are what relaxations have at least one rule of, and the other way
round. Where two rules forbid a label, each by itself, all relaxations have both of them, and
leaving out one rule at a time finds none.

Where no output has the labels, both are about having one at all. Without wanted labels, they are
about an output that is better than the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import inf, isfinite
from typing import Any

from rote.errors import ScoreError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.minimal_sets import (
    NONE,
    Clause,
    Rules,
    SmallestSets,
    smallest_sets,
)
from rote.inference.problem import Problem, clamp
from rote.inference.relaxed import Found, Groups, Known, Question, Relaxations
from rote.settings import check, whole
from rote.space.reasons import BrokenConstraint, violations
from rote.space.space import Space
from rote.types import AnyArray
from rote.viz import Picture
from rote.viz.listing import Entry, Listing
from rote.viz.shapes import mark_of


@dataclass(frozen=True)
class Relaxation:
    """Rules to leave out, none of them in vain, so that an output with the wanted labels wins.

    Parameters
    ----------
    rules
        Their names.
    value
        What the best output with the wanted labels is worth without these rules.
    best
        What the best output of all is worth then; it may be more where none had the labels.
    """

    rules: tuple[str, ...]
    value: float
    best: float


@dataclass(frozen=True)
class Explanation:
    """Why an answer has not the labels that were wanted.

    Parameters
    ----------
    wanted
        The labels by variable; empty where it was asked why the answer is not better.
    answer, value
        The best output, and its value; None and -inf where no output obeys the rules.
    instead, instead_value
        The same of the best output with the wanted labels.
    value_without_rules
        The value of the best output with the wanted labels, if there were no rules.
    broken
        The rules that the answer breaks where nothing but the wanted labels is changed.
    conflicts
        Minimal sets of rules, by name, each of which is enough: as long as they are kept, no output
        with the wanted labels is a best one, or there is none, whatever else is left out. An empty
        set says that no rule is to blame. There are none where not all relaxations are known.
    relaxations
        Minimal sets of rules to leave out so that an output with the wanted labels is a best one,
        or that there is one; the smallest first.
    complete
        Whether these are all conflicts and relaxations; otherwise there may be more.
    calls
        How often the engine was called.
    """

    wanted: Mapping[str, str]
    answer: Mapping[str, str] | None
    value: float
    instead: Mapping[str, str] | None
    instead_value: float
    value_without_rules: float
    broken: tuple[BrokenConstraint, ...]
    conflicts: tuple[tuple[str, ...], ...]
    relaxations: tuple[Relaxation, ...]
    complete: bool
    calls: int

    @property
    def cost(self) -> float:
        """How much less the best output with the wanted labels is worth; inf without any."""
        return inf if self.instead is None else self.value - self.instead_value

    @property
    def cost_of_rules(self) -> float:
        """How much of its value without rules the rules take from it."""
        return inf if self.instead is None else self.value_without_rules - self.instead_value

    def record(self) -> dict[str, Any]:
        """The same for JSON; a number that is not finite is None."""
        said = asdict(self) | {"cost": self.cost, "cost_of_rules": self.cost_of_rules}
        said["broken"] = [each.name for each in self.broken]
        said["relaxations"] = [_finite(asdict(each)) for each in self.relaxations]
        return _finite(said)

    def sentences(self) -> list[str]:
        """What is known, one fact in each."""
        what = f" with {_labels(self.wanted)}" if self.wanted else ""
        if self.answer is None:
            said = ["no output obeys the rules"]
        else:
            said = [f"the answer is worth {self.value:.6g}"]
        if self.instead is None and self.wanted:
            said.append(f"no output{what} obeys the rules")
        elif self.wanted:
            said.append(
                f"the best output{what} is worth {self.instead_value:.6g}: it costs {self.cost:.6g}"
            )
        if self.value_without_rules == -inf:
            return [*said, f"labels of every output{what} are closed"]
        said.append(f"without rules the best{what} is worth {self.value_without_rules:.6g}")
        goal = "possible" if self.instead is None else "best" if self.wanted else "better"
        by = "forbidden by" if goal == "possible" else f"kept from being {goal} by"
        if () in self.conflicts:
            said.append("no rule is to blame, whichever are left out")
        else:
            said += [f"{by}: {'; '.join(rules)}" for rules in self.conflicts]
        for each in self.relaxations:
            best = f", and the best output {each.best:.6g}" if each.best > each.value else ""
            said.append(f"{goal} without: {'; '.join(each.rules)} (worth {each.value:.6g}{best})")
        return said if self.complete else [*said, "there may be more of these; raise the limit"]

    def show(self) -> Picture:
        """The labels that change with the wanted ones, or all, and what is known, to look at."""
        answer, blamed = self.answer or {}, dict[int, list[int]]()
        other = (self.instead or {**answer, **self.wanted}) if self.wanted else {}
        for number, rule in enumerate(self.broken, start=1):
            for variable in rule.variables:
                blamed.setdefault(variable, []).append(number)
        entries = [
            Entry(name, f"{label} → {other[name]}" if other else label, mark_of(blamed.get(k, ())))
            for k, (name, label) in enumerate(answer.items())
            if not other or other[name] != label
        ]
        title = f"Why not {_labels(self.wanted)}" if self.wanted else "Why no better answer"
        broken = tuple(f"broken if nothing else changes: {rule.name}" for rule in self.broken)
        return Picture(title, Listing(tuple(entries)), broken, tuple(self.sentences()))

    def __str__(self) -> str:
        return self.show().text().lstrip("\n")

    def _repr_html_(self) -> str:
        return self.show().svg()


def explain(
    space: Space,
    scores: Problem | AnyArray,
    wanted: Mapping[str, str] | None = None,
    *,
    engine: Engine | None = None,
    limit: int = 20,
) -> Explanation:
    """Why the best output of an input has not some labels: which rules forbid them, at what cost.

    Parameters
    ----------
    space
        The outputs that are possible, and their rules.
    scores
        Those of one input, or its problem.
    wanted
        A label for one variable or several; without any, it is explained which rules keep the
        answer from being better.
    engine
        What solves with some of the rules; its answers are to be proved. `Exact` unless given.
    limit
        At most so many minimal sets of rules that forbid, and as many of rules to leave out.

    >>> from rote import SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["b"] >> y["b"], "b before b")
    >>> builder.require(~(x["b"] & y["b"]), "one b at most")
    >>> space = builder.build()
    >>> why = explain(space, space.scores({"x": {"b": 2.0}, "y": {"b": 1.0}}), {"x": "b"})
    >>> why.conflicts, [relaxation.rules for relaxation in why.relaxations]
    ((('b before b', 'one b at most'),), [('b before b',), ('one b at most',)])
    """
    problem = Problem.of(space, scores)
    check("limit", limit, whole(1))
    if len(problem) != 1:
        raise ScoreError(f"explain looks at one input, got {len(problem)}; take problem.rows(i)")
    asked, groups = Relaxations(Exact() if engine is None else engine), Groups(space)
    (found,) = asked.settle(groups, [_question(groups, problem, dict(wanted or {}), limit)])
    return replace(found, calls=asked.calls)


def _question(
    groups: Groups, problem: Problem, wanted: Mapping[str, str], limit: int
) -> Question[Explanation]:
    """What has to be asked about the one input of a problem."""
    space, tie = problem.space, float(problem.ties[0])
    plain = Known(problem, 0, groups)
    known = Known(clamp(space, problem, wanted), 0, groups) if wanted else plain
    answer = yield from plain.best(groups.every)
    instead = yield from known.best(groups.every)
    free = yield from known.best(NONE)
    left_out, conflicts = SmallestSets((), True), SmallestSets((), True)
    if not wanted or instead.value == -inf:
        left_out = yield from known.relaxations(instead.value + tie, limit)
        conflicts = left_out.hit(limit)
    elif instead.value <= answer.value - tie:
        refuted = partial(_loses, known, plain, tie)
        left_out = yield from smallest_sets(refuted, limit)
        conflicts = left_out.hit(limit)
    relaxations = []
    for rules in left_out.found:
        value = (yield from known.best(groups.every - rules)).value
        best = (yield from plain.best(groups.every - rules)).value
        relaxations.append(Relaxation(groups.called(rules), value, best))
    before = violations(space, answer.labels) if answer.value > -inf else ()  # soft rules
    changed = answer.labels.copy()
    for name, label in wanted.items():
        changed[space[name].index] = space[name].position(label)
    after = violations(space, changed) if answer.value > -inf else ()
    return Explanation(
        wanted,
        _output(space, answer),
        answer.value,
        _output(space, instead),
        instead.value,
        free.value,
        tuple(each for each in after if each.name not in {was.name for was in before}),
        tuple(groups.called(conflict) for conflict in conflicts.found),
        tuple(relaxations),
        left_out.complete and conflicts.complete,
        calls=0,
    )


def _loses(wanted: Known, free: Known, tie: float, left_out: Rules) -> Question[Clause | None]:
    """Why the labels do not win without these rules, as a clause that all sets obey that do.

    The best output is better, and is there as long as what it breaks is left out, while other rules
    keep outputs with the labels below its value.
    """
    kept = wanted.groups.every - left_out
    best = yield from free.best(kept)
    conflict = yield from wanted.conflict(kept, best.value - tie)
    return None if conflict is None else Clause(best.broken, conflict)


def _output(space: Space, found: Found) -> Mapping[str, str] | None:
    return space.decode(found.labels)[0] if found.value > -inf else None


def _labels(wanted: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {label}" for name, label in wanted.items())


def _finite(record: dict[str, Any]) -> dict[str, Any]:
    """Numbers that JSON does not have become None."""
    return {
        name: None if isinstance(said, float) and not isfinite(said) else said
        for name, said in record.items()
    }
