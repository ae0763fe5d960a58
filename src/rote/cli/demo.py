"""One sentence, solved with and without rules: what `make run` shows.

The scores are set by hand, as an unsure classifier might give them that looks at each
decision by itself: "London" looks like a place, and the two directions of a pair look
alike. The rules let the decisions correct each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rote.inference.exact.exact import Exact
from rote.inference.exact.independent import Independent
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.io.conll import Entity, Sentence
from rote.space import Space
from rote.tasks.adapter import show
from rote.tasks.entity_relation import ENTITY_LABELS, EntityRelation, pairs
from rote.types import FloatArray, IntArray, readonly

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SENTENCE = "London , who edits the Herald , has never lived anywhere but Riga ."
ENTITIES = ("London", "Herald", "Riga")
SCORES = {
    "e0": {"Loc": 1.4, "Peop": 1.1, "Org": 0.2},
    "e1": {"Org": 1.6, "Other": 0.7, "Loc": 0.3},
    "e2": {"Loc": 1.9, "Org": 0.4, "Peop": 0.3},
    "r0_1": {"Work_For": 1.3, "none": 0.6},
    "r0_2": {"Located_In": 0.9, "Live_In": 0.8},
    "r1_0": {"Work_For": 0.8, "none": 0.6},
    "r1_2": {"none": 0.9, "OrgBased_In": 0.7},
    "r2_0": {"none": 1.2, "Located_In": 0.5},
    "r2_1": {"OrgBased_In": 0.7, "none": 0.5},
}


@dataclass(frozen=True, eq=False)
class Demo:
    """A sentence, its problem, and its answers as positions of labels."""

    sentence: Sentence
    space: Space
    scores: FloatArray  # (parts,)
    without_rules: IntArray  # (variables,) the best label of each decision by itself
    with_rules: Solutions  # of one input

    @property
    def changed(self) -> tuple[str, ...]:
        """The variables on which the two answers differ."""
        differ = np.flatnonzero(self.without_rules != self.with_rules.labels[0])
        return tuple(self.space.variables[j].name for j in differ)


def demo() -> Demo:
    """Solve the sentence both ways."""
    words = tuple(SENTENCE.split())
    places = [words.index(name) for name in ENTITIES]
    # Their labels are what is asked for, so that nobody looks at those given here.
    entities = tuple(Entity(at, at + 1, ENTITY_LABELS[0]) for at in places)
    sentence = Sentence(0, words, ("",) * len(words), entities, ())
    space = EntityRelation().frame(sentence).space
    scores = space.scores(SCORES)
    alone = Independent().solve(space.without_rules(), scores).labels[0]
    return Demo(sentence, space, readonly(scores), alone, Exact().solve(space, scores))


def render(result: Demo, console: Console) -> None:
    """Show a demo; whatever colour says is said by a word or a sign as well."""
    space, solutions, task = result.space, result.with_rules, EntityRelation()
    free = float(space.value(result.scores, result.without_rules)[0])
    value, bound = float(solutions.value[0]), float(solutions.bound[0])
    status = Status(int(solutions.status[0])).name.lower()
    source = FoundBy(int(solutions.source[0])).name.lower()

    console.print("Which entities and relations are in this sentence?", style="bold")
    console.print(_table(result))
    console.print("Without rules, each decision takes its best score:")
    for labels in (result.without_rules, solutions.labels[0]):
        output = task.decode(result.sentence, labels.tolist())
        console.print(show(task, result.sentence, output))
        if labels is result.without_rules:
            console.print(
                f"\nWith rules, {len(result.changed)} of {len(space.variables)} decisions change "
                "(marked *):"
            )
    console.print()
    console.print(f"  value without rules  {free:6.2f}   breaks rules, so it is no output")
    console.print(
        f"  value with rules     {value:6.2f}   {status}, found by {source}", style="bold"
    )
    proof = "equal to the value: nothing better exists" if bound == value else "not reached"
    console.print(f"  bound                {bound:6.2f}   {proof}")


def _table(result: Demo) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    heads = ("decision", "scores, best first", "without rules", "with rules")
    table = Table(*heads, box=SIMPLE_HEAD, pad_edge=False)
    names = [*ENTITIES, *(f"{ENTITIES[i]} -> {ENTITIES[j]}" for i, j in pairs(len(ENTITIES)))]
    answers = zip(result.without_rules, result.with_rules.labels[0], strict=True)
    for name, variable, (alone, ruled) in zip(names, result.space.variables, answers, strict=True):
        own = result.scores[result.space.offsets[variable.index] :][: len(variable.labels)]
        best = [a for a in np.argsort(-own, kind="stable") if own[a]]
        changed = variable.name in result.changed
        table.add_row(
            name,
            ", ".join(f"{variable.labels[a]} {own[a]:.1f}" for a in best),
            variable.labels[alone],
            f"{variable.labels[ruled]}{' *' if changed else ''}",
            style="bold yellow" if changed else None,
        )
    return table
