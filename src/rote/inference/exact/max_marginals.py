"""Max-marginals: for every label, the value of the best output that has it.

The difference between a variable's best and second best label is how sure the whole
answer is of it, rules and factors included.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rote.inference.exact.chain import Chain
from rote.inference.exact.elimination import Elimination
from rote.inference.exact.exact import Exact
from rote.inference.exact.tree import Tree
from rote.inference.problem import NO_CONTEXT, Problem
from rote.space.space import Space
from rote.types import AnyArray, FloatArray


def max_marginals(space: Space, scores: Problem | AnyArray) -> FloatArray:
    """Values of shape (m, labels); -inf for a label that no output can have.

    Two passes over a chain, a tree or an elimination; where none of these fits, one exact
    search per label.

    Parameters
    ----------
    space
        The space of all inputs.
    scores
        Scores of shape (m, parts), or a problem.

    >>> from rote import SpaceBuilder, max_marginals
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["a"] >> y["b"])
    >>> space = builder.build()
    >>> max_marginals(space, space.scores({"x": {"a": 2.0}, "y": {"a": 1.0}}))
    array([[2., 1., 1., 2.]])
    """
    problem = Problem.of(space, scores)
    for engine in (Chain(order=1), Tree(), Elimination(), Chain()):
        if engine.accepts(space):
            return engine.max_marginals(space, problem)
    return _by_clamping(problem)


def _by_clamping(problem: Problem) -> FloatArray:
    space = problem.space
    values = np.full((len(problem), space.labels), -np.inf)
    for first, end in pairwise(space.offsets.tolist()):
        for label in range(first, end):
            clamped = problem.open_labels()
            clamped[:, first:end] &= np.arange(first, end) == label
            values[:, label] = Exact().answer(problem.with_open(clamped), NO_CONTEXT).value
    return values
