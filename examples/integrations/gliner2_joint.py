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
ours, beam = ExactOptimizer(), optimizers.BeamOptimizer(32)
beam.optimize(problem), ours.optimize(problem)  # the first time is not counted
print(f"beam search: {beam.optimize(problem).score:.2f}")
start = process_time()
found = ours.optimize(problem)
ms = 1e3 * (process_time() - start)
print(f"the best: {found.score:.2f}")
print(f"GLINER2: {'met' if ms <= 5 else 'NOT MET'}: {ms:.1f} ms a problem, at most 5")
