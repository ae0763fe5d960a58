"""Synthetic data: its labels against exhaustive search, its fractions counted, its seeds kept."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from papers.data.synthetic import binary_constrained, linear_constrained, linked_labels
from rote import SettingError


def local_values(data, points):
    """f_i(x_i) of each example, written as in the paper."""
    return [
        [float(w @ x) + t for w, x, t in zip(data.weights, example, data.thresholds, strict=True)]
        for example in points
    ]


def best_output(values, allowed):
    """The best of the allowed outputs, by trying each."""
    gain = {y: sum(v if a else -v for v, a in zip(values, y, strict=True)) for y in allowed}
    return max(gain, key=gain.__getitem__)


@pytest.mark.parametrize("kappa", [0.0, 0.1, 0.33, 1.0])
def test_labels_are_the_best_feasible_outputs_under_the_hidden_hypothesis(kappa):
    data = binary_constrained(30, kappa, seed=4, d=7, test=20)
    allowed = {tuple(map(int, y)) for y in data.feasible}
    for part in (data.train, data.test):
        found = [best_output(values, allowed) for values in local_values(data, part.points)]
        assert found == [tuple(map(int, y)) for y in part.labels]


@pytest.mark.parametrize(
    ("kappa", "m", "wanted"), [(0, 40, 0), (0.1, 45, 4), (0.5, 9, 4), (1, 7, 7)]
)
def test_kappa_is_the_part_of_examples_whose_local_answer_is_infeasible(kappa, m, wanted):
    data = binary_constrained(m, kappa, seed=1, test=m)
    allowed = {tuple(map(int, y)) for y in data.feasible}
    for part in (data.train, data.test):
        local = [
            tuple(int(value > 0) for value in values) for values in local_values(data, part.points)
        ]
        assert sum(y not in allowed for y in local) == wanted
        differs = [y != tuple(label) for y, label in zip(local, part.labels, strict=True)]
        assert sum(differs) == wanted


@pytest.mark.parametrize(("c", "fraction", "size"), [(5, 0.5, 16), (3, 0.25, 2), (1, 0.5, 1)])
def test_the_feasible_outputs_are_a_random_fraction_of_all(c, fraction, size):
    chosen = set()
    for seed in range(6):
        data = binary_constrained(3, 0.0, seed, c=c, d=4, fraction=fraction, test=2)
        outputs = [tuple(map(int, y)) for y in data.feasible]
        assert len(set(outputs)) == size
        assert outputs == sorted(outputs)
        assert set(outputs) <= set(product((0, 1), repeat=c))
        chosen.add(tuple(outputs))
    assert len(chosen) > 1


def test_more_examples_leave_hypothesis_rules_and_held_out_examples_as_they_are():
    small, large = (binary_constrained(m, 0.1, seed=3, test=15) for m in (10, 50))
    for name in ("feasible", "weights", "thresholds"):
        np.testing.assert_array_equal(getattr(small, name), getattr(large, name))
    np.testing.assert_array_equal(small.test.points, large.test.points)
    np.testing.assert_array_equal(small.test.labels, large.test.labels)
    other = binary_constrained(10, 0.1, seed=4, test=15)
    assert (other.weights != small.weights).any()

    fewer, more = (linear_constrained(m, seed=3) for m in (10, 50))
    for name in ("coefficients", "upper", "feasible", "weights"):
        np.testing.assert_array_equal(getattr(fewer, name), getattr(more, name))
    for part in ("validation", "test"):
        np.testing.assert_array_equal(getattr(fewer, part).points, getattr(more, part).points)


def test_the_same_seed_gives_the_same_data_and_nobody_can_change_it():
    for make in (lambda: binary_constrained(12, 0.5, seed=9), lambda: linear_constrained(12, 9)):
        first, second = make(), make()
        np.testing.assert_array_equal(first.train.points, second.train.points)
        np.testing.assert_array_equal(first.train.labels, second.train.labels)
        for array in (first.feasible, first.weights, first.train.points, first.test.labels):
            assert not array.flags.writeable


@pytest.mark.parametrize("seed", range(5))
def test_linear_rules_allow_what_is_listed_and_enough_of_it(seed):
    data = linear_constrained(5, seed)
    allowed = [
        y
        for y in product((0, 1), repeat=10)
        if all(
            sum(a * b for a, b in zip(map(int, row), y, strict=True)) <= upper
            for row, upper in zip(data.coefficients, data.upper, strict=True)
        )
    ]
    assert [tuple(map(int, y)) for y in data.feasible] == allowed
    assert 50 <= len(allowed) < 1024
    assert data.coefficients.shape == (4, 10)
    assert (np.abs(data.coefficients) <= 3).all()


def test_labels_under_linear_rules_are_the_best_feasible_outputs():
    data = linear_constrained(25, seed=6)
    assert data.train.points.shape == (25, 20)
    assert (len(data.validation.points), len(data.test.points)) == (100, 200)
    allowed = [tuple(map(int, y)) for y in data.feasible]
    changed = 0
    for part in (data.train, data.validation):
        for x, label in zip(part.points, part.labels, strict=True):
            scores = [float(w @ x) for w in data.weights]
            gain = {y: sum(s for s, a in zip(scores, y, strict=True) if a) for y in allowed}
            assert max(gain, key=gain.__getitem__) == tuple(map(int, label))
            changed += tuple(int(s > 0) for s in scores) != tuple(map(int, label))
    assert changed > 60  # of 125: the rules do forbid what each variable wants by itself


BINARY = partial(binary_constrained, examples=5, kappa=0.5, seed=0)
LINEAR = partial(linear_constrained, examples=5, seed=0)


@pytest.mark.parametrize(
    ("make", "settings", "reason"),
    [
        (BINARY, {"examples": -1}, "examples is a whole number of at least 0, got -1"),
        (BINARY, {"test": -1}, "test is a whole number of at least 0"),
        (BINARY, {"kappa": 1.5}, "kappa is a number from 0 to 1, got 1.5"),
        (BINARY, {"kappa": float("nan")}, "kappa is a number"),
        (BINARY, {"c": 0}, "c is a whole number from 1 to 16, got 0"),
        (BINARY, {"c": 17}, "c is a whole number from 1 to 16, got 17"),
        (BINARY, {"d": 0}, "d is a whole number of at least 1, got 0"),
        (BINARY, {"fraction": 0.01}, "leaves at least one; got 0.01"),
        (BINARY, {"fraction": 1.2}, "above 0 and up to 1"),
        (BINARY, {"fraction": 1.0}, "set kappa=0 or a smaller fraction"),
        (LINEAR, {"examples": -1}, "examples is a whole number of at least 0, got -1"),
        (LINEAR, {"validation": -2}, "validation is a whole number of at least 0"),
        (LINEAR, {"variables": 0}, "variables is a whole number from 1 to 16"),
        (LINEAR, {"dimensions": 2.5}, "dimensions is a whole number of at least 1, got 2.5"),
        (LINEAR, {"dimensions": 0}, "dimensions is a whole number of at least 1"),
        (LINEAR, {"rules": -1}, "rules is a whole number of at least 0"),
        (LINEAR, {"least": 1025}, "least is a whole number from 1 to 1024, got 1025"),
        (LINEAR, {"rules": 30, "least": 900}, "ask for fewer rules or a smaller least"),
    ],
)
def test_settings_that_cannot_be_are_answered(make, settings, reason):
    with pytest.raises(SettingError, match=reason):
        make(**settings)


def test_a_hypothesis_under_which_one_side_hardly_occurs_is_answered():
    # One output of many is feasible: hardly any local answer is that one.
    with pytest.raises(SettingError, match="hardly any local answer is feasible"):
        binary_constrained(3, 0.0, seed=0, c=16, d=1, fraction=2**-16, test=0)


def test_every_second_label_goes_with_the_one_before():
    points, labels = linked_labels(2000, 5, 8, seed=0)
    assert (points.shape, labels.shape) == ((2000, 8), (2000, 5))
    assert set(np.unique(labels)) == {0, 1}
    together = np.corrcoef(labels.T)
    assert together[0, 1] > 0.3
    assert together[2, 3] > 0.3
    again = linked_labels(2000, 5, 8, seed=0)
    assert (again.labels == labels).all()
