"""GLiNER2's problems: `ExactOptimizer` beside exhaustive search by GLiNER2's own checks."""

from __future__ import annotations

import itertools
import logging
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("gliner2.joint_ie")

from gliner2.joint_ie import constraints as kinds
from gliner2.joint_ie.candidates import EdgeCandidate, JointProblem, NodeCandidate
from gliner2.joint_ie.compiler import compile_schema
from gliner2.joint_ie.optimizers import BaseOptimizer, BeamOptimizer, GreedyOptimizer, JointSolution
from gliner2.joint_ie.schema import JointSchema

from rote import RuleError
from rote.adapters.gliner2 import ExactOptimizer
from rote.engines import Exhaustive

ONCE = (kinds.UniqueRelationPair, kinds.UniqueRelationSlot)
WITH = (kinds.SymmetricRelation, kinds.InverseRelation)


def closed(problem, edges):
    """The edges with all that comes with them, by saying it until nothing new comes."""
    found = list(edges)
    while True:
        keys = {(e.relation_type, e.head, e.tail) for e in found}
        solution = BaseOptimizer.solution(problem, (), found, 0.0)
        more = [e for e in solution.edges if (e.relation_type, e.head, e.tail) not in keys]
        if not more:
            return found
        found += more


def is_valid(problem, solution) -> bool:
    """Whether GLiNER2's own checks pass; that something is there once is asked of candidates."""
    checker = BaseOptimizer()
    own = tuple(e for e in solution.edges if not e.derived)
    used = set()
    for edge in own:
        if checker.edge_conflicts(edge, used):
            return False
        used |= checker.edge_usage(edge)
    if not all({e.head, e.tail} <= solution.node_ids for e in solution.edges):
        return False
    if not any(isinstance(c, WITH) for c in problem.constraints):
        return checker.validate_solution(problem, solution)
    once = tuple(c for c in problem.constraints if isinstance(c, ONCE) and not is_side(c))
    rest = tuple(c for c in problem.constraints if c not in once)
    return checker.validate_solution(
        replace(problem, constraints=once), replace(solution, edges=own)
    ) and checker.validate_solution(replace(problem, constraints=rest), solution)


def is_side(constraint) -> bool:
    """Whether it is about heads or tails, which companions have as well."""
    return getattr(constraint, "slot", "slot") != "slot"


def best_by_enumeration(problem) -> float:
    best = 0.0
    for size in range(len(problem.edges) + 1):
        for edges in itertools.combinations(problem.edges, size):
            ends = {end for edge in edges for end in (edge.head, edge.tail)}
            free = [node for node in problem.nodes if node.candidate_id not in ends]
            whole = tuple(closed(problem, edges))
            for more in itertools.product((False, True), repeat=len(free)):
                added = {n.candidate_id for n, taken in zip(free, more, strict=True) if taken}
                nodes = tuple(n for n in problem.nodes if n.candidate_id in ends | added)
                value = sum(n.score for n in nodes) + sum(e.score for e in edges)
                if value > best and is_valid(problem, JointSolution(nodes, whole, value)):
                    best = value
    return best


TYPES, RELATIONS = ("per", "org"), ("a", "b", "c")


@st.composite
def constraints(draw):
    name = st.sampled_from(RELATIONS)
    some = st.one_of(st.none(), name)
    sides = st.sets(st.sampled_from(TYPES)).map(tuple)
    every = [
        st.builds(kinds.TypedEndpoints, some, sides, sides),
        st.builds(kinds.NoSelfLoops, some),
        st.builds(kinds.UniqueRelationPair, some, st.booleans()),
        st.builds(kinds.UniqueRelationSlot, some, st.sampled_from(["head", "tail", "slot"])),
        st.builds(kinds.EntityOverlapPolicy, st.sampled_from(["allow", "disallow", "nested"])),
        st.builds(kinds.MaxRelationsPerHead, st.integers(0, 2), some),
        st.builds(kinds.MaxRelationsPerTail, st.integers(0, 2), some),
        st.builds(kinds.SymmetricRelation, name),
        st.builds(kinds.InverseRelation, name, name),
        st.builds(kinds.AcyclicRelation, name),
    ]
    return tuple(draw(st.lists(st.one_of(every), max_size=5)))


@st.composite
def joint_problems(draw, most_nodes=4, most_edges=6):
    score = st.integers(-2, 4).map(float)
    nodes = [
        NodeCandidate(
            draw(st.sampled_from(TYPES)),
            s,
            s + draw(st.integers(1, 3)),
            draw(score),
            candidate_id=i,
        )
        for i in range(draw(st.integers(1, most_nodes)))
        for s in [draw(st.integers(0, 4))]
    ]
    index = st.integers(0, len(nodes) - 1)
    edges = [
        EdgeCandidate(
            draw(st.sampled_from(RELATIONS)),
            draw(index),
            draw(index),
            draw(score),
            slot=draw(st.sampled_from([None, 0, 1])),
            hypothesis=draw(st.sampled_from([None, "h", "g"])),
            count_alternative=draw(st.sampled_from([None, 1, 2, 3])),
            candidate_id=("edge", j),
        )
        for j in range(draw(st.integers(0, most_edges)))
    ]
    return JointProblem(tuple(nodes), tuple(edges), draw(constraints()))


def worth(solution) -> float:
    """What is taken adds up to; GLiNER2 itself counts the one end of a loop twice."""
    return sum(n.score for n in solution.nodes) + sum(e.score for e in solution.edges)


@given(joint_problems())
@settings(max_examples=200)
def test_answers_are_valid_and_the_best_there_are(problem):
    found = ExactOptimizer().optimize(problem)
    assert is_valid(problem, found)
    assert found.score == pytest.approx(best_by_enumeration(problem))
    assert found.score == pytest.approx(worth(found))
    assert found.feasible


@given(joint_problems(8, 12))
@settings(max_examples=100)
def test_no_answer_is_worth_less_than_those_of_gliner2(problem):
    logging.disable(logging.WARNING)  # that it found nothing allowed
    found = ExactOptimizer().optimize(problem)
    for optimizer in (GreedyOptimizer(), BeamOptimizer(16)):
        assert found.score >= worth(optimizer.optimize(problem)) - 1e-9
    logging.disable(logging.NOTSET)


@given(joint_problems(3, 4))
@settings(max_examples=50)
def test_another_engine_gives_the_same_answer(problem):
    one, other = (o.optimize(problem) for o in (ExactOptimizer(), ExactOptimizer(Exhaustive())))
    assert one == other


def nodes(count):
    return tuple(NodeCandidate("per", i, i + 1, 1.0, candidate_id=i) for i in range(count))


def edge(relation, head, tail, score=1.0, **more):
    return EdgeCandidate(relation, head, tail, score, **more)


def keys(solution):
    return {(e.relation_type, e.head, e.tail, e.derived) for e in solution.edges}


def test_symmetric_relations_come_with_their_other_way_round():
    """As `JointSchema` says it of a symmetric relation; GLiNER2's own search returns nothing."""
    schema = JointSchema().entity("per").relation("married", "per", "per", symmetric=True)
    edges = (edge("married", 0, 1, slot=0), edge("married", 2, 3, slot=1))
    problem = JointProblem(nodes(4), edges, compile_schema(schema).constraints)
    found = ExactOptimizer().optimize(problem)
    assert found.score == 6.0
    assert keys(found) == {
        ("married", 0, 1, False),
        ("married", 1, 0, True),
        ("married", 2, 3, False),
        ("married", 3, 2, True),
    }
    assert not BeamOptimizer(32).optimize(problem).edges


def test_what_comes_with_a_relation_brings_along_what_comes_with_it():
    said = (kinds.InverseRelation("a", "b"), kinds.InverseRelation("a", "c"))
    given = edge("b", 0, 1, head_probability=0.7, tail_probability=0.2)
    found = ExactOptimizer().optimize(JointProblem(nodes(2), (given,), said))
    assert keys(found) == {("b", 0, 1, False), ("a", 1, 0, True), ("c", 0, 1, True)}
    derived = {e.relation_type: e for e in found.edges if e.derived}
    assert derived["a"].head_probability == derived["c"].tail_probability == 0.2
    assert derived["a"].candidate_id == ("derived", "a", 1, 0)


def test_longer_cycles_are_found_and_forbidden():
    edges = tuple(edge("over", i, (i + 1) % 5, 1.0 + i) for i in range(5))
    problem = JointProblem(nodes(5), edges, (kinds.AcyclicRelation("over"),))
    found = ExactOptimizer().optimize(problem)
    assert keys(found) == {("over", i, (i + 1) % 5, False) for i in (1, 2, 3, 4)}


def test_an_entity_without_a_finite_score_is_never_taken():
    some = (replace(nodes(1)[0], score=-np.inf), *nodes(2)[1:])
    problem = JointProblem(some, (edge("a", 0, 1, 9.0),))
    found = ExactOptimizer().optimize(problem)
    assert (found.node_ids, found.edges) == ({1}, ())


def test_a_constraint_of_ones_own_is_refused():
    class Mine(kinds.Constraint):
        def __repr__(self):
            return "Mine()"

    with pytest.raises(RuleError, match=r"got Mine\(\)"):
        ExactOptimizer().optimize(JointProblem(nodes(1), (), (Mine(),)))


def test_it_takes_the_place_of_an_optimizer_in_an_engine():
    from gliner2.joint_ie.engine import JointIEConfig, JointIEEngine

    engine = JointIEEngine.__new__(JointIEEngine)
    engine._optimizer_override = ExactOptimizer()
    assert engine._make_optimizer(JointIEConfig()) is engine._optimizer_override
    engine._optimizer_override = ExactOptimizer  # a class will do
    assert isinstance(engine._make_optimizer(JointIEConfig()), ExactOptimizer)
