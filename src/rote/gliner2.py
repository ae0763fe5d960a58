"""Exact joint extraction for GLiNER2: the best entities and relations that its schema allows.

`ExactOptimizer` takes the place of GLiNER2's greedy and beam search:

    JointIEEngine.from_pretrained(..., optimizer=ExactOptimizer())

It reads all ten kinds of constraint, slots and count alternatives, and its answer is proved to have
the largest score. Two things are told apart from GLiNER2's own search. A relation that comes with
another one, since it is symmetric or an inverse, brings along all that comes with it in turn. And
that a pair or a slot has a relation once is said of candidates: GLiNER2 counts what comes with them
as well, so that a symmetric relation or two inverse pairs are never allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from rote.errors import MissingDependency, RuleError
from rote.inference.engine import Engine, check_engine
from rote.inference.exact.exact import Exact
from rote.tasks.candidates import (
    ALLOW,
    DIRECTED,
    DISALLOW,
    NESTED,
    REPEATED,
    UNDIRECTED,
    CandidateRules,
    Candidates,
    Limit,
    best_candidates,
    companions_of,
)
from rote.types import BoolArray, IntArray

try:
    from gliner2.joint_ie import constraints as kinds
    from gliner2.joint_ie.candidates import EdgeCandidate, JointProblem
    from gliner2.joint_ie.optimizers import BaseOptimizer, JointSolution
except ImportError as error:
    raise MissingDependency(
        "rote.gliner2 needs the package gliner2, which is not installed; "
        "run: pip install '.[gliner2]' in a checkout of rote"
    ) from error

__all__ = ["ExactOptimizer"]


class ExactOptimizer(BaseOptimizer):  # type: ignore[misc]  # GLiNER2 has no types
    """An optimizer for GLiNER2's `JointIEEngine` whose answers are exact and proved.

    Parameters
    ----------
    engine
        The engine that finds them; None is `Exact`.
    """

    def __init__(self, engine: Engine | None = None) -> None:
        self.engine = Exact() if engine is None else engine
        check_engine("engine", self.engine)

    def optimize(self, problem: JointProblem) -> JointSolution:
        """The allowed solution with the largest score.

        Parameters
        ----------
        problem
            GLiNER2's candidates and constraints.
        """
        nodes = problem.nodes
        edges = [edge for edge in problem.edges if edge.score > 0]  # others are never taken
        where = {node.candidate_id: i for i, node in enumerate(nodes)}
        types, kind = _numbered(node.entity_type for node in nodes)
        named, relation = _numbered(edge.relation_type for edge in edges)
        rules, names, once = _rules_of(problem.constraints, tuple(types), tuple(named))
        choice = alternative = None
        counted = [e.count_alternative is not None and e.hypothesis is not None for e in edges]
        if any(counted):
            choice = _groups(edges, counted, lambda e: e.hypothesis)
            alternative = _groups(edges, counted, lambda e: e.count_alternative)
        taken = best_candidates(
            rules,
            Candidates(
                np.array([node.start for node in nodes], np.int64),
                np.array([node.end for node in nodes], np.int64),
                kind,
                np.array([node.score for node in nodes], np.float64),
                np.array([where[edge.head] for edge in edges], np.int64),
                np.array([where[edge.tail] for edge in edges], np.int64),
                relation,
                np.array([edge.score for edge in edges], np.float64),
                tuple(_exclusive(edges, once[relation])),
                choice,
                alternative,
            ),
            self.engine,
        )
        chosen = [edges[j] for j in taken.relations.tolist()]
        if rules.companions:
            chosen += list(_derived(chosen, named, names, rules.companions))
        chosen.sort(key=lambda e: (e.relation_type, str(e.head), str(e.tail), e.derived))
        found = tuple([nodes[i] for i in taken.entities.tolist()])
        return JointSolution(found, tuple(chosen), taken.value)


def _numbered(names: Iterable[str]) -> tuple[dict[str, int], IntArray]:
    """Names by number, and the number of each in a list."""
    numbers: dict[str, int] = {}
    return numbers, np.array([numbers.setdefault(n, len(numbers)) for n in names], np.int64)


def _groups(
    edges: Sequence[EdgeCandidate], there: Iterable[bool], key: Callable[[EdgeCandidate], Hashable]
) -> IntArray:
    """A number for each key, -1 for edges that have none."""
    numbers: dict[Hashable, int] = {}
    found = [
        numbers.setdefault(key(edge), len(numbers)) if here else -1
        for edge, here in zip(edges, there, strict=True)
    ]
    return np.array(found, np.int64)


def _exclusive(edges: Sequence[EdgeCandidate], once: BoolArray) -> Iterable[IntArray]:
    """Slots of hypotheses, and slots that a relation has once."""
    slotted = [edge.slot is not None for edge in edges]
    if any(slotted):
        yield _groups(edges, slotted, lambda e: (e.hypothesis, e.count_alternative, e.slot))
    if once.any():
        yield _groups(edges, once.tolist(), lambda e: (e.relation_type, e.slot))


@lru_cache(maxsize=256)
def _rules_of(
    constraints: tuple[Any, ...], types: tuple[str, ...], relations: tuple[str, ...]
) -> tuple[CandidateRules, list[str], BoolArray]:
    """What constraints say, the names of all relations, and which have each slot once."""
    linked = (kinds.SymmetricRelation, kinds.InverseRelation)
    more = [n for c in constraints if isinstance(c, linked) for n in _names_in(c)]
    names = list(dict.fromkeys((*relations, *more)))
    heads, tails = (np.ones((len(names), len(types)), np.bool_) for _ in range(2))
    loops, pairs = np.ones(len(names), np.bool_), np.full(len(names), REPEATED)
    once, limits, acyclic, links = np.zeros(len(names), np.bool_), list[Limit](), [], []
    overlap = ALLOW
    for said in constraints:
        kind = type(said)
        about = np.array([_names_in(said) in ((), (n,)) for n in names], np.bool_)
        if kind is kinds.TypedEndpoints:
            for side, allowed in ((heads, said.head_types), (tails, said.tail_types)):
                side[about] &= np.array([not allowed or t in allowed for t in types], np.bool_)
        elif kind is kinds.NoSelfLoops:
            loops &= ~about
        elif kind is kinds.UniqueRelationPair:
            pairs[about] = np.maximum(pairs[about], DIRECTED if said.directed else UNDIRECTED)
        elif kind is kinds.UniqueRelationSlot and said.slot == "slot":
            once |= about
        elif kind is kinds.UniqueRelationSlot:
            limits.append(Limit(said.slot == "tail", about, False, 1))
        elif kind in (kinds.MaxRelationsPerHead, kinds.MaxRelationsPerTail):
            per_tail = kind is kinds.MaxRelationsPerTail
            limits.append(Limit(per_tail, about, said.relation is None, said.limit))
        elif kind is kinds.AcyclicRelation:
            acyclic.append(about)
            loops &= ~about
        elif kind in linked:
            one, other = _names_in(said)[0], _names_in(said)[-1]
            links.append((names.index(one), names.index(other)))
        elif kind is kinds.EntityOverlapPolicy:
            overlap = max(overlap, said.policy, key=(ALLOW, NESTED, DISALLOW).index)
        else:
            raise RuleError(
                f"ExactOptimizer reads the constraints of gliner2.joint_ie, got {said!r}; say it "
                "by these, or use GLiNER2's own optimizer"
            )
    companions = companions_of(len(names), links)
    rules = CandidateRules(
        heads, tails, loops, pairs, tuple(limits), companions, tuple(acyclic), overlap
    )
    return rules, names, once


def _names_in(said: Any) -> tuple[str, ...]:
    """The relations that a constraint is about; none stands for all."""
    both = (getattr(said, "relation", None), getattr(said, "inverse", None))
    return tuple(name for name in both if name is not None)


def _derived(
    chosen: Sequence[EdgeCandidate],
    numbers: dict[str, int],
    names: Sequence[str],
    companions: Sequence[Sequence[tuple[int, bool]]],
) -> Iterable[EdgeCandidate]:
    """What comes with the edges that were chosen, where it was not chosen itself."""
    there = {(edge.relation_type, edge.head, edge.tail) for edge in chosen}
    for edge in chosen:
        for number, flipped in companions[numbers[edge.relation_type]]:
            ends = (edge.tail, edge.head) if flipped else (edge.head, edge.tail)
            key = (names[number], *ends)
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
