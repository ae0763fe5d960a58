"""Joint extraction problems of GLiNER2 for `benchmarks.extraction`: made up, built, and learned.

Random ones are drawn candidate by candidate. Built ones come from GLiNER2's own `CandidateBuilder`
over random score lattices. Learned ones have the scores that a model gives to the entities and
relations of conll04. Scores are synthetic in the first two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import permutations, product
from typing import Any

import numpy as np

SEED = 31
SIZES = (10, 20, 50, 100, 200)
ENTITIES = 0.4  # of all candidates
TYPES = ("person", "organization", "place", "product")
LONGEST = 3  # words of a span
LATTICES = {"sparse": -5.0, "dense": -3.0}  # mean logits
WORDS = 24
TRAINED = 300  # sentences of conll04

# Relation, head and tail types, and what `JointSchema.relation` takes further.
PLAIN = (
    ("works for", "person", "organization", {"max_per_head": 1}),
    ("founded", "person", "organization", {"max_per_tail": 2}),
    ("part of", "organization", "organization", {"acyclic": True, "max_per_head": 1}),
    ("located in", ("organization", "place"), "place", {"max_per_head": 1}),
    ("makes", "organization", "product", {"max_per_tail": 1}),
)
LINKED = (
    ("married to", "person", "person", {"symmetric": True, "max_per_head": 1}),
    ("employs", "organization", "person", {"inverse": "works for"}),
    ("contains", "organization", "organization", {"inverse": "part of"}),
)


@cache
def schema(linked: bool) -> Any:
    """GLiNER2's compiled schema, with symmetric and inverse relations or without."""
    from gliner2.joint_ie.compiler import compile_schema
    from gliner2.joint_ie.schema import JointSchema

    said = JointSchema().entities(TYPES)
    for name, head, tail, more in (*PLAIN, *(LINKED if linked else ())):
        said.relation(name, head, tail, **more)
    return compile_schema(said)


def drawn(size: int, linked: bool, seed: int) -> Any:
    """A problem with so many candidates."""
    from gliner2.joint_ie.candidates import EdgeCandidate, JointProblem, NodeCandidate

    draw, compiled = np.random.default_rng([SEED, size, linked, seed]), schema(linked)
    count = max(3, round(ENTITIES * size))
    starts, lengths = draw.integers(0, 2 * count, count), draw.integers(1, LONGEST + 1, count)
    kinds = draw.integers(0, len(TYPES), count)
    nodes = [
        NodeCandidate(TYPES[kind], start, start + length, score, candidate_id=i)
        for i, (kind, start, length, score) in enumerate(
            zip(
                kinds.tolist(),
                starts.tolist(),
                lengths.tolist(),
                draw.normal(0.5, 1.5, count).tolist(),
                strict=True,
            )
        )
    ]
    specs = list(compiled.relation_specs.values())
    edges: dict[tuple[Any, ...], Any] = {}
    for number in range(50 * size):
        if len(edges) == size - count:
            break
        spec = specs[draw.integers(len(specs))]
        head, tail = draw.choice(count, 2, replace=False).tolist()
        right = nodes[head].entity_type in spec.head and nodes[tail].entity_type in spec.tail
        if right or number % 20 == 0:
            score = float(draw.normal(0.5, 1.5))
            made = EdgeCandidate(spec.name, head, tail, score, slot=number, hypothesis=spec.name)
            edges[spec.name, head, tail] = made
    return JointProblem(tuple(nodes), tuple(edges.values()), compiled.constraints)


def built(mean: float, seed: int) -> Any:
    """What GLiNER2 makes of random logits of this mean."""
    from gliner2.joint_ie.candidates import CandidateBuilder

    draw, compiled = np.random.default_rng([SEED, int(-mean), seed]), schema(linked=False)
    hypotheses = [
        {
            "relation_type": spec.name,
            "role_logits": draw.normal(mean, 2.0, (2, 2, WORDS, LONGEST)),
            "head_types": spec.head,
            "tail_types": spec.tail,
            "hypothesis_id": spec.name,
        }
        for spec in compiled.relation_specs.values()
    ]
    logits = draw.normal(mean, 2.0, (len(TYPES), WORDS, LONGEST))
    return CandidateBuilder().build(logits, TYPES, hypotheses, constraints=compiled.constraints)


@cache
def learned() -> tuple[Any, ...]:
    """Problems of conll04: what a perceptron trained on its first part says of its test sentences.

    Entities' spans are given, and every span is a candidate for every type but Other.
    """
    from gliner2.joint_ie.candidates import EdgeCandidate, JointProblem, NodeCandidate
    from gliner2.joint_ie.compiler import compile_schema
    from gliner2.joint_ie.schema import JointSchema

    from papers.data.conll04 import load_conll04
    from rote import IndependentPerceptron, train
    from rote.tasks import EntityRelation, EntityRelationOutput

    task, corpus = EntityRelation(), load_conll04()
    seen = [x for x in corpus.split("train") if task.is_feasible(x)][:TRAINED]
    learner = IndependentPerceptron(iterations=5)
    model = train(task, seen, [EntityRelationOutput.of(x) for x in seen], learner=learner)
    said = JointSchema().entities(task.entity_labels[:-1])
    for name, (head, tail) in task.arguments.items():
        said.relation(name, head, tail)
    constraints, problems = compile_schema(said).constraints, []
    for sentence in corpus.split("test"):
        n = len(sentence.entities)
        prepared = model.prepare([sentence])
        scores = prepared.problem(model.weights, prepared.groups[0]).scores[0]
        kinds, relations = len(task.entity_labels), len(task.relation_labels)
        of_entity = scores[: n * kinds].reshape(n, kinds)
        of_pair = scores[n * kinds :][: n * (n - 1) * relations].reshape(-1, relations)
        nodes = [
            NodeCandidate(
                kind,
                span.start,
                span.stop,
                of_entity[i, k] - of_entity[i, -1],
                candidate_id=(i, kind),
            )
            for i, span in enumerate(sentence.entities)
            for k, kind in enumerate(task.entity_labels[:-1])
        ]
        edges = [
            EdgeCandidate(
                name,
                (i, head),
                (j, tail),
                of_pair[p, k] - of_pair[p, 0],
                slot=len(task.arguments) * p + k,
            )
            for p, (i, j) in enumerate(permutations(range(n), 2))
            for k, (name, (head, tail)) in enumerate(task.arguments.items(), start=1)
        ]
        problems.append(JointProblem(tuple(nodes), tuple(edges), constraints))
    return tuple(problems)


def cases() -> Mapping[str, Callable[[int], Any]]:
    """What makes the problem of each number, by case."""
    made: dict[str, Callable[[int], Any]] = {
        f"{size} candidates{', linked' if linked else ''}": partial(drawn, size, linked)
        for linked, size in product((False, True), SIZES)
    }
    made |= {f"built, {name}": partial(built, mean) for name, mean in LATTICES.items()}
    return made | {"conll04": lambda k: learned()[k % len(learned())]}
