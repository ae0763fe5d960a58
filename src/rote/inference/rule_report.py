"""What each rule changes over many inputs, what it costs, and whether it helps.

A rule *binds* in an input if the answer could be better without it, by more than a tie; rules that
bind only together are minimal sets of several. What is left out is a kind of rules: all whose names
are made the same, in whatever space they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from rote.errors import LabelError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.minimal_sets import NONE
from rote.inference.problem import Problem
from rote.inference.relaxed import Found, Groups, Known, Question, Relaxations
from rote.metrics.compare import Comparison, compare_systems
from rote.settings import check, whole
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray
from rote.viz import Picture
from rote.viz.table import Table

RESAMPLES = 2000
LEVEL = 0.05  # p-values up to this count as more than luck


@dataclass(frozen=True)
class RuleEffect:
    """What it changes to leave out a kind of rules, or several that bind only together.

    Parameters
    ----------
    rules
        The names of the kinds.
    inputs
        How many inputs have rules of all these kinds.
    changed
        The inputs, by their numbers, that have a better output without them.
    cost
        How much better, added up. Inputs that have no output with them are not in the sum.
    broken_by_gold
        How many gold outputs break one of them; None without gold outputs.
    accuracy
        The share of variables that are right, with all rules and then without these; None where
        nothing changed, and without gold outputs.
    """

    rules: tuple[str, ...]
    inputs: int
    changed: tuple[int, ...]
    cost: float
    broken_by_gold: int | None = None
    accuracy: Comparison | None = None

    @property
    def hurts(self) -> bool:
        """Whether more is right without them, and that is no luck (p <= 0.05)."""
        found = self.accuracy
        return found is not None and found.difference > 0 and found.p_value <= LEVEL


@dataclass(frozen=True)
class RuleReport:
    """What rules change over many inputs.

    Parameters
    ----------
    inputs
        How many inputs there are.
    changed
        How many of them have a better output without all rules.
    rules
        The effect of each kind of rules by itself; those that change most come first.
    together
        The effect of kinds that bind only together, the smallest sets first.
    accuracy
        The share of variables that are right, with all rules and then without any; None without
        gold outputs.
    complete
        Whether these are all sets that bind; otherwise there are larger ones, or more than the
        limit.
    calls
        How often the engine was called, each time for all inputs that ask the same.
    """

    inputs: int
    changed: int
    rules: tuple[RuleEffect, ...]
    together: tuple[RuleEffect, ...]
    accuracy: Comparison | None
    complete: bool
    calls: int

    @property
    def never(self) -> tuple[str, ...]:
        """The kinds that bind in no input, by themselves or together with others."""
        bound = {name for effect in self.together for name in effect.rules}
        return tuple(e.rules[0] for e in self.rules if not e.changed and e.rules[0] not in bound)

    @property
    def hurting(self) -> tuple[RuleEffect, ...]:
        """What hurts accuracy by more than luck; p-values count each set by itself."""
        return tuple(effect for effect in (*self.rules, *self.together) if effect.hurts)

    def record(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self) | {"never": self.never, "hurting": [e.rules for e in self.hurting]}

    def sentences(self) -> list[str]:
        """What is known, one fact in each."""
        said = [f"rules changed {self.changed} of {self.inputs} answers"]
        if self.accuracy is not None:
            said.append(
                f"accuracy {self.accuracy.first:.4f} with all rules, {self.accuracy.second:.4f} "
                f"without any (p = {self.accuracy.p_value:.2g})"
            )
        said += [f"hurts accuracy: {'; '.join(each.rules)}" for each in self.hurting]
        said += [f"never binds: {name}" for name in self.never]
        return said if self.complete else [*said, "there may be more that bind only together"]

    def show(self) -> Picture:
        """A row for all that binds or that gold outputs break, to look at."""
        heads = ["without", "inputs", "changed", "cost"]
        gold = self.accuracy is not None
        if gold:
            heads += ["broken by gold", "accuracy", "p"]
        rows = []
        for each in (*self.rules, *self.together):
            if not (each.changed or each.broken_by_gold):
                continue
            row = ["; ".join(each.rules), str(each.inputs), str(len(each.changed))]
            row.append(f"{each.cost:.4g}")
            if gold:
                row.append(str(each.broken_by_gold))
                row += _difference(each.accuracy)
            rows.append(row)
        return Picture("What rules change", Table(heads, rows), (), tuple(self.sentences()))

    def __str__(self) -> str:
        return self.show().text()

    def _repr_html_(self) -> str:
        return self.show().svg()


class Corpus(NamedTuple):
    """Inputs of one space: their problem, their numbers and their gold outputs."""

    problem: Problem
    members: IntArray
    gold: IntArray | None


def kind_of(name: str) -> str:
    """The name of a rule without its numbers, which are those of one input.

    >>> kind_of("Kill(e0, e12) needs Peop and Peop")
    'Kill(e#, e#) needs Peop and Peop'
    """
    return re.sub(r"\d+", "#", name)


def rule_report(
    space: Space,
    scores: Problem | AnyArray,
    gold: AnyArray | None = None,
    *,
    engine: Engine | None = None,
    by: Callable[[str], str] = str,
    most: int = 2,
    limit: int = 100,
) -> RuleReport:
    """What each rule changes over many inputs, what it costs, and whether it helps.

    Parameters
    ----------
    space
        The outputs that are possible, and their rules.
    scores
        Of shape (m, parts), or a problem.
    gold
        The right labels, of shape (m, variables), where they are known.
    engine
        What solves with some of the rules; its answers are to be proved. `Exact` unless given.
    by
        Makes the name of a kind of the name of a rule: rules of one kind are left out together.
    most
        At most so many kinds are looked at together.
    limit
        At most so many sets that bind are looked for in an input.
    """
    problem = Problem.of(space, scores)
    labels = None if gold is None else space.as_labels(gold)
    if labels is not None and len(labels) != len(problem):
        raise LabelError(f"gold has {len(labels)} outputs, and there are {len(problem)} inputs")
    corpus = Corpus(problem, np.arange(len(problem)), labels)
    return report_of([corpus], engine, by, most, limit)


def report_of(
    corpora: Iterable[Corpus],
    engine: Engine | None,
    by: Callable[[str], str],
    most: int,
    limit: int,
) -> RuleReport:
    """The same for inputs of several spaces."""
    check("most", most, whole(1))
    check("limit", limit, whole(1))
    asked = Relaxations(Exact() if engine is None else engine)
    inputs: list[_Input] = []
    for corpus in corpora:
        groups = Groups(corpus.problem.space, by)
        rows = range(len(corpus.problem))
        inputs += asked.settle(groups, [_input(corpus, groups, row, most, limit) for row in rows])
    names = dict.fromkeys(name for each in inputs for name in each.kinds)
    every = dict.fromkeys(left_out for each in inputs for left_out in each.without)
    together = sorted((left_out for left_out in every if len(left_out) > 1), key=len)
    alone = [_effect(inputs, (name,)) for name in names]
    return RuleReport(
        len(inputs),
        sum(each.is_changed for each in inputs),
        tuple(sorted(alone, key=lambda effect: -len(effect.changed))),
        tuple(_effect(inputs, left_out) for left_out in together),
        _accuracy(inputs, lambda each: each.right_without_rules),
        all(each.complete for each in inputs),
        asked.calls,
    )


class _Input(NamedTuple):
    """What was found of one input; how much is right is None without a gold output."""

    number: int
    kinds: tuple[str, ...]
    broken: frozenset[str]  # by gold
    size: int  # variables
    right: int | None
    right_without_rules: int | None
    is_changed: bool
    without: dict[tuple[str, ...], tuple[float, int | None]]  # what is gained, and what is right
    complete: bool


def _input(corpus: Corpus, groups: Groups, row: int, most: int, limit: int) -> Question[_Input]:
    """What has to be asked about one input."""
    problem, gold = corpus.problem, None if corpus.gold is None else corpus.gold[row]
    own = slice(problem.space.own)

    def right(found: Found) -> int | None:
        return None if gold is None else int((found.labels[own] == gold[own]).sum())

    known = Known(problem, row, groups)
    answer = yield from known.best(groups.every)
    free = yield from known.best(NONE)
    floor = answer.value + float(problem.ties[row])
    sets = yield from known.relaxations(floor, limit, most)
    without = {}
    for left_out in sets.found:
        other = yield from known.best(groups.every - left_out)
        gained = other.value - answer.value if answer.value > -inf else 0.0
        without[groups.called(left_out)] = gained, right(other)
    is_changed = free.value > floor
    return _Input(
        int(corpus.members[row]),
        groups.names,
        frozenset(() if gold is None else groups.called(groups.broken_by(gold[None])[0])),
        problem.space.own,
        right(answer),
        right(free if is_changed else answer),
        is_changed,
        without,
        sets.complete,
    )


def _effect(inputs: Sequence[_Input], rules: tuple[str, ...]) -> RuleEffect:
    changed = [each for each in inputs if rules in each.without]
    has_gold = all(each.right is not None for each in inputs)
    return RuleEffect(
        rules,
        sum(set(rules).issubset(each.kinds) for each in inputs),
        tuple(sorted(each.number for each in changed)),
        float(sum(each.without[rules][0] for each in changed)),
        sum(not each.broken.isdisjoint(rules) for each in inputs) if has_gold else None,
        _accuracy(inputs, lambda each: each.without.get(rules, (0.0, each.right))[1])
        if changed
        else None,
    )


def _accuracy(inputs: Sequence[_Input], right: Callable[[_Input], int | None]) -> Comparison | None:
    """The share of right variables with all rules and otherwise; None without gold outputs."""
    if len(inputs) < 2 or any(each.right is None for each in inputs):
        return None
    rows = [
        [(each.right, each.size) for each in inputs],
        [(right(each), each.size) for each in inputs],
    ]
    return compare_systems(*np.array(rows, float), statistic=_share, resamples=RESAMPLES)


def _share(sums: FloatArray) -> FloatArray:
    return np.asarray(sums[..., 0] / sums[..., 1])


def _difference(accuracy: Comparison | None) -> list[str]:
    if accuracy is None:
        return ["", ""]
    return [f"{accuracy.difference:+.4f}", f"{accuracy.p_value:.2g}"]
