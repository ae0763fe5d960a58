"""Data made from numbers alone, with rules that every label obeys: the papers' two generators.

A hidden hypothesis scores each binary variable on its own, and the labels of an input are the
best *feasible* output under those scores. So some weights label everything rightly under the
rules, while no weights need do so without them. The same seed gives the same hypothesis, the
same rules and the same held-out examples whatever the number of training examples is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from rote import SettingError
from rote.settings import FRACTION, check, whole
from rote.types import FloatArray, IntArray, readonly

MAX_VARIABLES = 16  # all 2^n outputs are listed
DRAWS = 1000  # how often a generator tries before it says that its settings do not go together
COEFFICIENT = 3  # rules have whole coefficients between -3 and 3


class Examples(NamedTuple):
    """Inputs, one per row, and the best feasible output of each."""

    points: FloatArray
    labels: IntArray  # (m, variables), 0 or 1


@dataclass(frozen=True, eq=False)
class BinaryConstrained:
    """What `binary_constrained` makes; points have the shape (m, c, d)."""

    feasible: IntArray  # (k, c), the outputs that the rules allow, in lexicographic order
    weights: FloatArray  # (c, d)
    thresholds: FloatArray  # (c,)
    train: Examples
    test: Examples


@dataclass(frozen=True, eq=False)
class LinearConstrained:
    """What `linear_constrained` makes; points have the shape (m, dimensions)."""

    coefficients: IntArray  # (rules, variables): y is feasible when coefficients @ y <= upper
    upper: IntArray  # (rules,)
    feasible: IntArray  # (k, variables), the outputs that the rules allow
    weights: FloatArray  # (variables, dimensions)
    train: Examples
    validation: Examples
    test: Examples


def linked_labels(examples: int, labels: int, dimensions: int, seed: int) -> Examples:
    """Labels that are random linear functions of random points, every second linked to one before.

    Its worth is added to the next one's, and a label is on where worth and noise are above 2.
    """
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(examples, dimensions))
    values = points @ rng.normal(size=(dimensions, labels)) + rng.normal(size=(examples, labels))
    values[:, 1::2] += values[:, ::2][:, : labels // 2]
    return Examples(readonly(points), readonly((values > 2.0).astype(np.int64)))


def binary_constrained(
    examples: int,
    kappa: float,
    seed: int,
    c: int = 5,
    d: int = 100,
    fraction: float = 0.5,
    test: int = 1000,
) -> BinaryConstrained:
    """The synthetic data of Punyakanok, Roth, Yih and Zimak (2005), section 5.

    Each of c binary variables has a point x_i of its own, with d coordinates, and a hidden
    function f_i(x_i) = w_i·x_i + θ_i. With C a random ``fraction`` of all outputs,

        y = argmax over y in C of Σ_i y_i f_i(x_i) - (1 - y_i) f_i(x_i).

    In round(kappa·m) of m examples, at random places, the local answer (f_i(x_i) > 0 for each
    i) is not in C; in the others it is, and then it is y. So kappa = 0 is data that local
    classifiers can separate, and kappa = 1 is where each of them is always wrong somewhere.

    All coordinates, w and θ are standard normal. The paper leaves d open. At d = 100 a local
    classifier has 101 weights, so a learning curve from tens to thousands of examples runs
    from far fewer examples than weights to far more, and shows both sides of the paper's
    comparison of learning with and without inference.

    >>> data = binary_constrained(20, kappa=0.1, seed=0)
    >>> data.train.points.shape, data.train.labels.shape, data.feasible.shape
    ((20, 5, 100), (20, 5), (16, 5))
    """
    check("examples", examples, whole(0))
    check("test", test, whole(0))
    check("c", c, whole(1, MAX_VARIABLES))
    check("d", d, whole(1))
    check("kappa", kappa, FRACTION)
    size = round(fraction * 2**c) if 0 < fraction <= 1 else 0
    if not size:
        raise SettingError(
            f"fraction is the part of the {2**c} outputs that is feasible, above 0 and up to 1, "
            f"and leaves at least one; got {fraction}"
        )
    if kappa and size == 2**c:
        raise SettingError(
            f"with fraction={fraction} all {2**c} outputs are feasible, so no local answer is "
            "infeasible; set kappa=0 or a smaller fraction"
        )
    hidden, held_out, given = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
    weights, thresholds = hidden.standard_normal((c, d)), hidden.standard_normal(c)
    chosen = np.sort(hidden.choice(2**c, size, replace=False))

    def draw(rng: np.random.Generator, m: int) -> Examples:
        points = _points(rng, m, round(kappa * m), weights, thresholds, chosen)
        local = np.einsum("mcd,cd->mc", points, weights) + thresholds
        return _examples(points, local, feasible)

    feasible = _outputs(c)[chosen]
    return BinaryConstrained(
        readonly(feasible),
        readonly(weights),
        readonly(thresholds),
        train=draw(given, examples),
        test=draw(held_out, test),
    )


def linear_constrained(
    examples: int,
    seed: int,
    variables: int = 10,
    dimensions: int = 20,
    rules: int = 4,
    least: int = 50,
    validation: int = 100,
    test: int = 200,
) -> LinearConstrained:
    """The synthetic data of Samdani and Roth (2012), section 6.1.

    All binary variables look at the same x. The rules are random linear inequalities, and

        y = argmax over feasible y of Σ_i y_i w_i·x,

    where at least ``least`` outputs are feasible. Coordinates and weights are standard normal.

    The paper says no more of its rules. Here, coefficients are whole numbers between -3 and 3,
    and a rule's bound is half their sum, rounded down, so that it allows about half of all
    outputs. Rules that leave fewer than ``least`` are drawn again; then four rules leave
    between 50 and 200 of 1,024 outputs, mostly around 100.

    >>> data = linear_constrained(20, seed=0)
    >>> data.train.points.shape, data.train.labels.shape, len(data.feasible) >= 50
    ((20, 20), (20, 10), True)
    """
    check("examples", examples, whole(0))
    check("validation", validation, whole(0))
    check("test", test, whole(0))
    check("variables", variables, whole(1, MAX_VARIABLES))
    check("dimensions", dimensions, whole(1))
    check("rules", rules, whole(0))
    check("least", least, whole(1, 2**variables))
    hidden, held_out, tuning, given = map(
        np.random.default_rng, np.random.SeedSequence(seed).spawn(4)
    )
    weights = hidden.standard_normal((variables, dimensions))
    outputs = _outputs(variables)
    for _ in range(DRAWS):
        coefficients = hidden.integers(
            -COEFFICIENT, COEFFICIENT, (rules, variables), endpoint=True, dtype=np.int64
        )
        upper = coefficients.sum(axis=1) // 2
        feasible = outputs[(outputs @ coefficients.T <= upper).all(axis=1)]
        if len(feasible) >= least:
            break
    else:
        raise SettingError(
            f"{DRAWS} draws of {rules} rules each left fewer than {least} of "
            f"{len(outputs)} outputs; ask for fewer rules or a smaller least"
        )

    def draw(rng: np.random.Generator, m: int) -> Examples:
        points = rng.standard_normal((m, dimensions))
        return _examples(points, points @ weights.T, feasible)

    return LinearConstrained(
        readonly(coefficients),
        readonly(upper),
        readonly(feasible),
        readonly(weights),
        train=draw(given, examples),
        validation=draw(tuning, validation),
        test=draw(held_out, test),
    )


def _points(
    rng: np.random.Generator,
    m: int,
    infeasible: int,
    weights: FloatArray,
    thresholds: FloatArray,
    chosen: IntArray,
) -> FloatArray:
    """Points of m examples, of which exactly this many have a local answer that is not chosen."""
    c, d = weights.shape
    wanted = {True: m - infeasible, False: infeasible}
    kept: dict[bool, list[FloatArray]] = {True: [], False: []}
    # The last variable runs fastest, as in the list of outputs.
    places = 2 ** np.arange(c)[::-1]
    for _ in range(DRAWS):
        points = rng.standard_normal((max(64, sum(wanted.values())), c, d))
        local = np.einsum("mcd,cd->mc", points, weights) + thresholds > 0
        allowed = np.isin(local @ places, chosen)
        for side in (True, False):
            kept[side].append(points[allowed == side][: wanted[side]])
            wanted[side] -= len(kept[side][-1])
        if not any(wanted.values()):
            break
    else:
        rare = "feasible" if wanted[True] else "infeasible"
        raise SettingError(
            f"under this seed's hypothesis hardly any local answer is {rare}: {DRAWS} draws did "
            "not give enough; take another seed, a larger d or another kappa"
        )
    return rng.permutation(np.concatenate([*kept[True], *kept[False]]))


def _examples(points: FloatArray, local: FloatArray, feasible: IntArray) -> Examples:
    best = (local @ (2.0 * feasible.T - 1.0)).argmax(axis=1)
    return Examples(readonly(points), readonly(feasible[best]))


def _outputs(n: int) -> IntArray:
    return np.array(list(product((0, 1), repeat=n)), dtype=np.int64)
