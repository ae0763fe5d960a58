"""Exact joint extraction for GLiNER2: the best entities and relations that its schema allows.

`ExactOptimizer` takes the place of GLiNER2's greedy and beam search:

    JointIEEngine.from_pretrained(..., optimizer=ExactOptimizer())

It reads all ten kinds of constraint, slots and count alternatives, and its answer is proved to have
the largest score. Two things are told apart from GLiNER2's own search. A relation that comes with
another one, since it is symmetric or an inverse, brings along all that comes with it in turn. And
that a pair or a slot has a relation once is said of candidates: GLiNER2 counts what comes with them
as well, so that it allows neither a symmetric relation nor two pairs of inverse relations.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rote.errors import RuleError
from rote.inference.engine import ANY_ENGINE, Engine
from rote.inference.solutions import Status
from rote.settings import Checked, instance_of
from rote.tasks.candidates import (
    ALLOW,
    AT_ONCE,
    DIRECTED,
    DISALLOW,
    NESTED,
    REPEATED,
    UNDIRECTED,
    CandidateRules,
    Entity,
    Limit,
    Relation,
    RelationRules,
    best_candidates,
)

if TYPE_CHECKING:
    from gliner2.joint_ie.candidates import EdgeCandidate, JointProblem
    from gliner2.joint_ie.optimizers import JointSolution

__all__ = ["ExactOptimizer"]

SOLVED = (Status.OPTIMAL, Status.FEASIBLE)


@dataclass(frozen=True)
class ExactOptimizer(Checked):
    """An optimizer for GLiNER2's `JointIEEngine` whose answers are exact and proved.

    Parameters
    ----------
    engine
        What finds them; `Exact()` if not given.
    """

    engine: Engine = AT_ONCE

    checks: ClassVar = {"engine": instance_of(Engine, ANY_ENGINE)}

    def optimize(self, problem: JointProblem) -> JointSolution:
        """The allowed solution with the largest score.

        Parameters
        ----------
        problem
            GLiNER2's candidates and constraints.
        """
        return self.answer(problem)[0]

    def answer(self, problem: JointProblem) -> tuple[JointSolution, Status]:
        """The same, and whether it is proved: an engine with a time limit may not be done.

        Parameters
        ----------
        problem
            GLiNER2's candidates and constraints.
        """
        from gliner2.joint_ie.optimizers import JointSolution

        nodes, rules = problem.nodes, _rules_of(problem.constraints)
        edges = [edge for edge in problem.edges if edge.score > 0]  # others are never taken
        where = {node.candidate_id: i for i, node in enumerate(nodes)}
        relations = []
        for edge in edges:
            name, slot = edge.relation_type, edge.slot
            keys: list[Hashable] = (
                [] if slot is None else [(edge.hypothesis, edge.count_alternative, slot)]
            )
            if name in rules.slots_once or None in rules.slots_once:
                keys.append((name, slot))
            ends = where[edge.head], name, where[edge.tail]
            relations.append(Relation(*ends, edge.score, keys, edge.count_choice))
        spans = [Entity(node.start, node.end, node.entity_type, node.score) for node in nodes]
        taken = best_candidates(rules.candidates, spans, relations, self.engine)
        chosen = [edges[j] for j in taken.relations]
        if rules.candidates.links:
            chosen += list(_derived(chosen, rules.candidates))
        chosen.sort(key=lambda e: (e.relation_type, str(e.head), str(e.tail), e.derived))
        found, there = tuple([nodes[i] for i in taken.entities]), taken.status in SOLVED
        return JointSolution(found, tuple(chosen), taken.value, there), taken.status


class _Rules(NamedTuple):
    """What GLiNER2's constraints say, and the relations that have each slot once."""

    candidates: CandidateRules
    slots_once: frozenset[str | None]


@lru_cache(maxsize=256)
def _rules_of(constraints: tuple[Any, ...]) -> _Rules:
    from gliner2.joint_ie import constraints as kinds

    known = [kind for kind in vars(kinds).values() if isinstance(kind, type)]
    overlap, links, once = ALLOW, [], set()
    for said in constraints:
        if type(said) not in known:
            raise RuleError(
                f"ExactOptimizer reads the constraints of gliner2.joint_ie, got {said!r}; say it "
                "by these, or use GLiNER2's own optimizer"
            )
        if isinstance(said, kinds.EntityOverlapPolicy):
            overlap = max(overlap, said.policy, key=(ALLOW, NESTED, DISALLOW).index)
        elif isinstance(said, kinds.SymmetricRelation):
            links.append((said.relation, said.relation))
        elif isinstance(said, kinds.InverseRelation):
            links.append((said.relation, said.inverse))
        elif isinstance(said, kinds.UniqueRelationSlot) and said.slot == "slot":
            once.add(said.relation)
    rules_of = partial(_relation_rules, constraints)
    return _Rules(CandidateRules(rules_of, overlap, tuple(links)), frozenset(once))


def _relation_rules(constraints: tuple[Any, ...], name: str) -> RelationRules:
    """What constraints say of one relation."""
    from gliner2.joint_ie import constraints as kinds

    heads: frozenset[str] | None = None
    tails: frozenset[str] | None = None
    loops, pairs, limits, acyclic = True, REPEATED, list[Limit](), list[Hashable]()
    for said in constraints:
        if getattr(said, "relation", name) not in (None, name):
            continue
        match said:
            case kinds.TypedEndpoints(head_types=first, tail_types=second):
                heads = _both(heads, first)
                tails = _both(tails, second)
            case kinds.NoSelfLoops():
                loops = False
            case kinds.UniqueRelationPair(directed=directed):
                pairs = max(pairs, DIRECTED if directed else UNDIRECTED)
            case kinds.UniqueRelationSlot(slot=side) if side != "slot":
                limits.append(Limit((name,), side == "tail", 1))
            case kinds.MaxRelationsPerHead(limit=most, relation=group):
                limits.append(Limit(group, False, most))
            case kinds.MaxRelationsPerTail(limit=most, relation=group):
                limits.append(Limit(group, True, most))
            case kinds.AcyclicRelation(relation=graph):
                acyclic.append(graph)
    return RelationRules(heads, tails, loops, pairs, tuple(limits), tuple(acyclic))


def _both(known: frozenset[str] | None, more: Iterable[str]) -> frozenset[str] | None:
    """The types that two constraints allow; none stands for any."""
    if not more:
        return known
    return frozenset(more) if known is None else known & frozenset(more)


def _derived(chosen: Sequence[EdgeCandidate], rules: CandidateRules) -> Iterable[EdgeCandidate]:
    """What comes with the edges that were chosen, where it was not chosen itself."""
    from gliner2.joint_ie.candidates import EdgeCandidate

    there = {(edge.relation_type, edge.head, edge.tail) for edge in chosen}
    for edge in chosen:
        for name, flipped in rules.of(edge.relation_type)[0]:
            ends = (edge.tail, edge.head) if flipped else (edge.head, edge.tail)
            key = (name, *ends)
            if key in there:
                continue
            there.add(key)
            sides = ("tail", "head") if flipped else ("head", "tail")
            known = {
                f"{side}{what}": getattr(edge, f"{of}{what}")
                for side, of in zip(("head", "tail"), sides, strict=True)
                for what in ("_probability", "_entity_probability")
            }
            yield EdgeCandidate(
                *key,
                0.0,
                count_probability=edge.count_probability,
                derived=True,
                candidate_id=("derived", *key),
                **known,
            )
