"""Exactness by linear programs, against Farkas' lemma by least squares, and by hand."""

import numpy as np
import pytest
from scipy.optimize import nnls

from papers.samdani2012.exactness import is_exact
from rote import (
    DataError,
    Hamming,
    HammingBall,
    JaccardLoss,
    SettingError,
    UnsupportedSpace,
    ZeroOne,
    any_of,
    exactly,
    prepare,
)
from rote.inference.wrappers.decomposed import CustomSets, NeighbourhoodSets
from tests.inference.wrappers.decomposed.around import neighbourhood
from tests.learning.separable import CustomFeature, binary, drawn, is_counterexample, ready
from tests.learning.small import Links, chains, phi
from tests.strategies import Judge

ONE = [np.ones(1)]
LOSSES = [Hamming(), ZeroOne(), JaccardLoss(), None]


def at_least_one(n):
    return binary(n, (), lambda builder, on: builder.require(any_of(on)))


def judged(task, prepared, xs, sets, loss):
    """W_dec = W* if every row of W* is, with multipliers, a sum of rows of W_dec, or stricter.

    Rows are d and -Δ of outputs; one more lets Δ be larger than is asked for.
    """
    around, rest = [np.eye(prepared.layout.size + 1)[-1]], []
    for number, x in enumerate(xs):
        group, place = prepared.places[number]
        gold, space = group.gold[place], group.space
        near = set(neighbourhood(space, gold.tolist(), sets(gold)))
        right = phi(task, prepared.layout, x, gold.tolist())
        for output in Judge(space).outputs:
            labels = np.array([output])
            away = 0.0 if loss is None else float(loss.value(space, gold[None], labels)[0])
            row = np.append(right - phi(task, prepared.layout, x, output), -away)
            (around if output in near else rest).append(row)
    matrix = np.array(around).T
    return all(nnls(matrix, row)[1] < 1e-7 * np.linalg.norm(row) for row in rest)


def some_sets(seed, n):
    """Sets that leave out little, so that some are exact."""
    rng = np.random.default_rng([seed, 7])
    sizes = rng.integers(max(1, n - 1), n + 1, size=3) if seed % 2 else rng.integers(1, n, size=3)
    return [rng.choice(n, size=int(size), replace=False).tolist() for size in sizes]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_verdicts_are_those_of_least_squares(loss):
    verdicts = []
    for seed in range(10):
        space = binary(4, [(0, 1)] if seed % 3 == 0 else (), None) if seed % 2 else at_least_one(4)
        xs, ys = drawn(space, seed)
        prepared = ready(space, xs, ys)
        sets = some_sets(seed, 4)
        found = is_exact(prepared, CustomSets(lambda *_, sets=sets: sets), loss)
        assert bool(found) == judged(
            CustomFeature(space), prepared, xs, lambda _, sets=sets: sets, loss
        )
        verdicts.append(found.exact)
    assert 0 < sum(verdicts) < 10


@pytest.mark.parametrize("seed", range(6))
def test_labels_of_any_number_and_examples_of_several_spaces(seed):
    task, xs, _ = chains(seed, count=4, noise=0.0)
    ys = _labelled(task, xs, seed)
    prepared = prepare(task, xs, ys)
    found = is_exact(prepared, HammingBall(1), Hamming())
    assert bool(found) == judged(
        task, prepared, xs, lambda gold: [[j] for j in range(len(gold))], Hamming()
    )
    if not found:
        assert len(found.output) == len(xs[found.example])
        assert is_counterexample(found, prepared, HammingBall(1), Hamming())


def test_labels_that_each_have_a_vector():
    rng = np.random.default_rng(0)
    task, xs = Links(), [rng.normal(size=(n, 2)) for n in (2, 3)]
    prepared = prepare(task, xs, _labelled(task, xs, 1))
    assert is_exact(prepared, HammingBall(1), Hamming())
    first = CustomSets(lambda *_: [[0]])
    found = is_exact(prepared, first, Hamming())
    assert bool(found) == judged(task, prepared, xs, lambda _: [[0]], Hamming())
    assert is_counterexample(found, prepared, first, Hamming())


def _labelled(task, xs, seed):
    """The outputs that random weights find best."""
    layout = prepare(task, xs).layout
    weights = np.random.default_rng([seed, 3]).normal(size=layout.size)
    found = []
    for x in xs:
        best = max(
            Judge(task.frame(x).space).outputs, key=lambda y: weights @ phi(task, layout, x, y)
        )
        found.append(task.decode(x, list(best)))
    return found


def test_two_variables_of_which_one_is_on():
    """Of gold (1, 0), single changes reach (1, 1); that (0, 1) is worse by 2 nobody has said."""
    prepared = ready(at_least_one(2), [ONE * 2], [(1, 0)])
    found = is_exact(prepared, HammingBall(1), Hamming())
    assert (found.exact, bool(found), found.example) == (False, False, 0)
    assert found.output.tolist() == [0, 1]
    off, on = (prepared.layout.block(found.weights, f"block {j}")[0] for j in (0, 1))
    assert on[0] - on[1] >= 1  # second: off rather than on
    assert (off[1] - off[0]) + (on[0] - on[1]) < 2
    whole = is_exact(prepared, HammingBall(2), Hamming())
    assert whole
    assert (whole.weights, whole.example, whole.output) == (None, None, None)


@pytest.mark.parametrize("unit", [1e-5, 1.0, 1e5])
def test_units_of_features_and_losses_make_no_difference(unit):
    space = at_least_one(4)
    loss = Hamming({"off": 100.0 * unit, "on": 100.0 * unit})
    for seed in range(4):
        xs, ys = drawn(space, seed)
        plain = is_exact(ready(space, xs, ys), HammingBall(1), Hamming())
        scaled = [[np.array([unit, 1.0]) * vector for vector in x] for x in xs]
        prepared = ready(space, scaled, ys)
        for k, expected in ((1, plain.exact), (2, True)):
            assert is_exact(prepared, HammingBall(k), loss).exact == expected


def test_a_cone_holds_for_both_sets():
    """To ask for the first variable is enough where there is no loss, and not where there is."""
    prepared = ready(at_least_one(2), [ONE * 2], [(1, 0)])
    block = prepared.layout.block(np.arange(prepared.layout.size), "block 0")[0]
    cone = np.zeros((1, prepared.layout.size))
    cone[0, block] = -1.0, 1.0
    found = is_exact(prepared, HammingBall(1), Hamming(), cone=cone)
    assert (cone @ found.weights >= -1e-9).all()
    assert not is_exact(prepared, HammingBall(1), None)
    assert is_exact(prepared, HammingBall(1), None, cone=cone)


def test_examples_for_which_all_outputs_are_looked_at():
    class Everywhere:
        def split(self, space, objective):
            return NeighbourhoodSets((), np.array([True, False]))

    space = at_least_one(2)
    prepared = ready(space, [ONE * 2, ONE * 2], [(1, 0), (1, 0)])
    assert is_exact(prepared, Everywhere(), Hamming())  # the second asks for nothing new
    other = ready(space, [ONE * 2, [np.zeros(1), np.ones(1)]], [(1, 0), (1, 1)])
    found = is_exact(other, Everywhere(), None)
    assert found.example == 1


def test_examples_without_importance_do_not_count():
    space = at_least_one(2)
    xs, ys = [ONE * 2, [np.array([2.0])] * 2], [(1, 1), (1, 0)]
    assert is_exact(ready(space, [xs[0]], [ys[0]]), HammingBall(1), None)
    with pytest.raises(DataError):
        is_exact(ready(space, xs, ys), HammingBall(1), Hamming())
    prepared = prepare(CustomFeature(space), xs, ys, sample_weight=np.array([1.0, 0.0]))
    assert is_exact(prepared, HammingBall(1), Hamming())
    nothing = prepare(CustomFeature(space), xs, ys, sample_weight=np.zeros(2))
    assert is_exact(nothing, HammingBall(1), Hamming())


def test_a_gold_output_that_breaks_a_rule_with_nothing_around_is_learned_from_all():
    space = binary(3, (), lambda builder, on: builder.require(exactly(3, on)))
    prepared = prepare(CustomFeature(space), [ONE * 3], [(0, 0, 1)], allow_infeasible_gold=True)
    assert is_exact(prepared, HammingBall(1), None)
    near = prepare(CustomFeature(space), [ONE * 3], [(0, 1, 1)], allow_infeasible_gold=True)
    assert is_exact(near, HammingBall(1), None)


def test_examples_that_nothing_separates_are_refused():
    prepared = ready(binary(1), [ONE, ONE], [(0,), (1,)])
    with pytest.raises(DataError, match="no weights separate these examples"):
        is_exact(prepared, HammingBall(1), Hamming())


def test_a_large_space_is_refused_by_its_size():
    prepared = ready(binary(4), [ONE * 4], [(0, 0, 0, 0)])
    with pytest.raises(UnsupportedSpace, match="has 16 outputs, and no more than 15"):
        is_exact(prepared, HammingBall(1), Hamming(), max_outputs=15)
    assert is_exact(prepared, HammingBall(1), Hamming(), max_outputs=16)


@pytest.mark.parametrize("cone", [np.zeros(4), np.zeros((1, 3)), np.full((1, 4), np.nan)])
def test_a_cone_of_another_shape_is_refused(cone):
    prepared = ready(binary(2), [ONE * 2], [(0, 0)])
    with pytest.raises(SettingError, match="one column for each of 4 weights"):
        is_exact(prepared, HammingBall(1), Hamming(), cone=cone)
