"""How good is an answer if I do not wait? A hard problem, stopped after more and more steps."""

from itertools import product

import numpy as np

from rote import BranchAndBound, SpaceBuilder, Status

builder = SpaceBuilder()
cells = {(i, j): builder.variable(f"{i} {j}", "abcd") for i, j in product(range(9), repeat=2)}
for (i, j), cell in cells.items():
    for neighbour in ((i + 1, j), (i, j + 1)):
        if neighbour in cells:
            builder.factor(cell, cells[neighbour])
space = builder.build()  # 4 ** 81 outputs
scores = np.random.default_rng(0).normal(size=space.parts)
best = BranchAndBound().solve(space, scores).value[0]

for limit in (1, 10, 30, 100, 300, 1000):  # or time_limit=0.5, in seconds
    answer = BranchAndBound(node_limit=limit, eliminate=False).solve(space, scores)
    value, gap = answer.value[0], answer.gap[0]
    known = "proved to be the best" if answer.status[0] == Status.OPTIMAL else f"gap {gap:.1f}"
    print(f"after {limit} nodes: value {value:.1f}, {known}; in truth {best - value:.1f} too low")
