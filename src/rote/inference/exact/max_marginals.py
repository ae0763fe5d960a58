"""Max-marginals: for every label, the value of the best output that has it.

The difference between a variable's best and second best label is how sure the whole
answer is of it, rules and factors included.
"""

from __future__ import annotations

import numpy as np

from rote.inference.asking import ask
from rote.inference.exact.chain import Chain
from rote.inference.exact.elimination import Elimination
from rote.inference.exact.exact import Exact
from rote.inference.exact.lazy_rows import without_rules_over_many
from rote.inference.exact.tree import Tree
from rote.inference.problem import NO_CONTEXT, Problem
from rote.inference.solutions import Solutions
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray

NUMBERS_AT_ONCE = 1 << 20  # scores of all questions of a batch


def max_marginals(space: Space, scores: Problem | AnyArray) -> FloatArray:
    """Values of shape (m, labels); -inf for a label that no output can have.

    Two passes over a chain, a tree or an elimination; where none of these fits, one question to
    `Exact` per label, in batches.

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
    values = _by_two_passes(problem)
    return _by_clamping(problem) if values is None else values


def _by_two_passes(problem: Problem) -> FloatArray | None:
    """The values, where one of the engines fits that work out all of them together."""
    space = problem.space
    for engine in (Chain(order=1), Tree(), Elimination(), Chain()):
        if engine.accepts(space):
            return engine.max_marginals(space, problem)
    return None


def _by_clamping(problem: Problem) -> FloatArray:
    """One question for each label, but for those whose value is known from the others' answers.

    No label has a value above the one that it has without the rules over many variables. Where an
    output that has it reaches this, it needs no question of its own.
    """
    space, everything = problem.space, problem.open_labels()
    values = np.full(everything.shape, -np.inf)
    own = np.repeat(np.arange(len(space.variables)), space.sizes)
    upper = _by_two_passes(problem.with_space(without_rules_over_many(space)))
    enough = np.inf if upper is None else upper - 1e-3 * problem.ties[:, None]
    inputs, labels = np.nonzero(everything)
    batch = max(1, NUMBERS_AT_ONCE // max(1, space.parts))
    best = ask(Exact(), problem.with_open(everything), NO_CONTEXT)
    _note(values, space, np.arange(len(problem)), best)
    settled = values > -np.inf  # the best output of all is the best with each of its labels
    while True:
        left = ~settled[inputs, labels] & ~(values >= enough)[inputs, labels]
        inputs, labels = inputs[left], labels[left]
        if not len(inputs):
            return values
        some, asked = inputs[:batch], labels[:batch]
        clamped = everything[some] & (
            (own != own[asked, None]) | (np.arange(len(own)) == asked[:, None])
        )
        answers = ask(Exact(), problem.rows(some).with_open(clamped), NO_CONTEXT)
        _note(values, space, some, answers)
        settled[some, asked] = True


def _note(values: FloatArray, space: Space, inputs: IntArray, answers: Solutions) -> None:
    """Raise the values of the labels of outputs that were found."""
    there = np.flatnonzero(answers.optimal)
    parts = space.offsets[:-1] + answers.labels[there]
    np.maximum.at(values, (inputs[there, None], parts), answers.value[there, None])
