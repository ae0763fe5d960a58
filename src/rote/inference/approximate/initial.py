"""Initial outputs: those of a classifier that decides every variable by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rote.errors import LabelError, SettingError
from rote.inference.problem import TIE, Context, Problem
from rote.kernels.bundles import Questions
from rote.kernels.dp.chains import best_labels
from rote.kernels.outputs import ties_of
from rote.settings import Setting, optional
from rote.space.space import Space
from rote.types import FloatArray, IntArray, readonly

CLASSIFIER = optional(
    Setting(
        "one with a method initial, such as fit_unary_classifier(prepared)",
        lambda value: not isinstance(value, type) and callable(getattr(value, "initial", None)),
    )
)


class Initializer(Protocol):
    """Predicts an output for every input of a batch; it need not be feasible."""

    def initial(self, problem: Problem, context: Context) -> IntArray:
        """Labels of shape (m, variables); -1 where a variable has no label that it may have."""
        ...


@dataclass(frozen=True, eq=False)
class UnaryClassifier:
    """argmax_a w^a · φ(x, j) for every variable j; `fit_unary_classifier` finds the weights.

    Parameters
    ----------
    weights
        Laid out as those of a model; those of factors are not looked at.
    """

    weights: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", readonly(self.weights))

    def initial(self, problem: Problem, context: Context) -> IntArray:
        if context.features is None:
            raise SettingError(
                "a classifier looks at feature vectors, and the context has none; ask through a "
                "model, or give Context(features=...)"
            )
        scores = context.features.label_scores(self.weights, len(problem.space.variables))
        return _likely(problem.space, Questions(scores, problem.closed_rows, ties_of(scores, TIE)))


def unary_argmax(problem: Problem) -> IntArray:
    """The best label of every variable by itself, of those it may have; -1 where it has none."""
    return _likely(problem.space, problem.questions)


def _likely(space: Space, questions: Questions) -> IntArray:
    return readonly(best_labels(questions, space.offsets, space.network.allowed))


def checked_initial(problem: Problem, labels: IntArray) -> IntArray:
    """What a classifier of a user's own says, checked, since kernels do not look."""
    space = problem.space
    shape = len(problem), len(space.variables)
    initial = np.asarray(labels)
    if initial.shape != shape or initial.dtype.kind not in "iu":
        raise LabelError(
            f"a classifier predicts whole numbers of shape {shape}, one row per input and one "
            f"column per variable; got {initial.dtype} of shape {initial.shape}"
        )
    if ((initial < -1) | (initial >= space.sizes)).any():
        raise LabelError(
            "a classifier guessed a label that is beyond its variable's last one or below -1; "
            "guess positions of labels, counted from 0"
        )
    return readonly(initial.astype(np.int64, copy=False))
