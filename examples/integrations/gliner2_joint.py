"""How do I get GLiNER2's best entities and relations, proved? Scores are drawn, not a model's."""

from time import process_time

import numpy as np
from gliner2.joint_ie import JointSchema, candidates, compile_schema, optimizers

from rote.adapters.gliner2 import ExactOptimizer

types, draw = ["person", "company"], np.random.default_rng(8).normal
schema = JointSchema().entities(types).relation("works for", *types, max_per_head=1)
roles = {"relation_type": "works for", "head_types": types[:1], "tail_types": types[1:]}
said = [roles | {"role_logits": draw(-3, 2, (2, 2, 24, 3))}]
make, rules = candidates.CandidateBuilder(), compile_schema(schema).constraints
problem = make.build(draw(-3, 2, (2, 24, 3)), types, said, constraints=rules)
for optimizer in (optimizers.BeamOptimizer(32), ExactOptimizer()):
    began, found = process_time(), optimizer.optimize(problem)
    ms = 1e3 * (process_time() - began)
    print(f"{type(optimizer).__name__}: score {found.score:.2f}, {ms:.1f} ms")
