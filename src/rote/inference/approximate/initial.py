"""Outputs to start from: those of a classifier that decides every variable by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rote.errors import LabelError, SettingError
from rote.inference.problem import TIE, Context, Problem
from rote.kernels.bundles import Questions
from rote.kernels.dp.chains import best_labels
from rote.kernels.outputs import ties_of
from rote.space.space import Space
from rote.types import FloatArray, IntArray, frozen


class Guesses(Protocol):
    """Says an output for every input of a batch; it need not obey the rules."""

    def guess(self, problem: Problem, context: Context) -> IntArray:
        """Labels of shape (m, variables); -1 where a variable has no label that it may have."""
        ...


@dataclass(frozen=True, eq=False)
class IID:
    """argmax_a w^a · φ(x, j) for every variable j; `fit_iid` of `rote.learning` finds the weights.

    The weights are laid out as those of a model are; what they say of factors is not looked at.
    """

    weights: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights))

    def guess(self, problem: Problem, context: Context) -> IntArray:
        if context.features is None:
            raise SettingError(
                "a classifier looks at feature vectors, and the context has none; ask through a "
                "model, or give Context(features=...)"
            )
        scores = context.features.label_scores(self.weights, len(problem.space.variables))
        return _likely(problem.space, Questions(scores, problem.closed_rows, ties_of(scores, TIE)))


def likely_labels(problem: Problem) -> IntArray:
    """The best label of every variable by itself, of those it may have; -1 where it has none."""
    return _likely(problem.space, problem.questions)


def _likely(space: Space, questions: Questions) -> IntArray:
    return frozen(best_labels(questions, space.offsets, space.network.allowed))


def check_classifier(classifier: object) -> None:
    """Refuse what guesses nothing, such as the class of a classifier."""
    if isinstance(classifier, type) or not callable(getattr(classifier, "guess", None)):
        raise SettingError(
            f"classifier is one with a method guess, such as fit_iid(prepared); got {classifier!r}"
        )


def checked_guess(problem: Problem, labels: IntArray) -> IntArray:
    """What a classifier of a user's own says, checked, since kernels do not look."""
    space = problem.space
    shape = len(problem), len(space.variables)
    guess = np.asarray(labels)
    if guess.shape != shape or guess.dtype.kind not in "iu":
        raise LabelError(
            f"a classifier guesses whole numbers of shape {shape}, one row per input and one "
            f"column per variable; got {guess.dtype} of shape {guess.shape}"
        )
    if ((guess < -1) | (guess >= space.sizes)).any():
        raise LabelError(
            "a classifier guessed a label that is beyond its variable's last one or below -1; "
            "guess positions of labels, counted from 0"
        )
    return frozen(guess.astype(np.int64, copy=False))
