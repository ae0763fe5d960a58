"""Global features: their values by hand, what they add to scores, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import SettingError, SpaceError
from rote.space import SpaceBuilder
from rote.space.global_features import (
    CustomFeature,
    GlobalFeatureScores,
    GlobalFeatureSet,
    LabelCounts,
    Tuples,
    columns_of,
    tuples_along,
)
from rote.types import readonly


def test_values_of_tuples_number_label_tuples_with_the_last_label_fastest():
    mixed = Tuples("mixed", ((2, 0), (1, 3)), (3, 2))
    labels = np.array([[1, 2, 2, 0], [0, 1, 0, 1]])
    assert mixed.width == 6
    assert mixed.values(labels).tolist() == [[2 * 2 + 1, 2 * 2 + 0], [0, 2 * 1 + 1]]


def test_all_tuples_of_neighbours_and_none_of_a_short_sequence():
    assert tuples_along("3 labels", 4, 3, 5) == Tuples("3 labels", ((0, 1, 2), (1, 2, 3)), (5,) * 3)
    short = tuples_along("3 labels", 2, 3, 5)
    assert (short.count, short.width) == (0, 125)
    assert short.values(np.zeros((4, 2), dtype=np.int64)).shape == (4, 0)


def test_many_labels_do_not_overflow():
    assert Tuples("wide", (), (10**6,) * 5).width == 10**30


@pytest.mark.parametrize(
    ("having", "bins"),
    [([0, 4], [0, 4]), ([1, 3], [1, 3]), ([2, 2], [2, 2]), ([4, 0], [4, 0])],
)
def test_a_histogram_has_a_bin_for_none_and_the_others_by_share(having, bins):
    labels = np.repeat([0, 1], having)[None]
    assert LabelCounts("h", 2, 5).values(labels).tolist() == [[bins[0], 5 + bins[1]]]


def test_shares_fall_into_bins_of_equal_width():
    histogram = LabelCounts("h", 2, 4)  # none, up to a third, two thirds, all
    bins = [histogram.values(np.repeat([0, 1], [9 - k, k])[None])[0, 1] - 4 for k in range(10)]
    assert bins == [0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_worth_adds_the_weight_of_every_value():
    families = Tuples("pairs", ((0, 1), (1, 2)), (2, 2)), LabelCounts("h", 2, 2)
    weights = np.arange(100.0)
    scores = GlobalFeatureScores(
        GlobalFeatureSet(families, 3), readonly(np.array([10, 10, 20, 20])), readonly(weights)
    )
    # (1, 0) and (0, 0); both labels occur.
    assert scores.known_value(np.array([[1, 0, 0]])).tolist() == [(10 + 2) + (10 + 0) + 21 + 23]
    assert scores.most == 2 * 13 + 2 * 23


def test_own_global_features_are_checked():
    labels = np.zeros((2, 3), dtype=np.int64)
    flags = CustomFeature("flags", 2, 1, lambda y: y[:, :1] == 0)
    assert flags.values(labels).tolist() == [[1], [1]]
    with pytest.raises(SpaceError, match=r"shape \(2, 1\)"):
        CustomFeature("flags", 2, 1, lambda y: y).values(labels)
    with pytest.raises(SpaceError, match="whole numbers"):
        CustomFeature("flags", 2, 1, lambda y: 0.5 + y[:, :1]).values(labels)
    with pytest.raises(SpaceError, match="values from 0 to 1; got 7 to 7"):
        CustomFeature("flags", 2, 1, lambda y: 7 + y[:, :1]).values(labels)


def test_kernels_know_tuples_and_one_histogram():
    pairs, shares = Tuples("pairs", ((0, 1),), (2, 2)), LabelCounts("h", 2, 2)
    assert GlobalFeatureSet((pairs, shares), 2).is_known
    assert not GlobalFeatureSet((shares, LabelCounts("other", 2, 3)), 2).is_known
    assert not GlobalFeatureSet((pairs, CustomFeature("own", 1, 0, lambda y: y[:, :0])), 2).is_known


def test_bad_settings():
    with pytest.raises(SpaceError, match="over 2 different variables"):
        Tuples("pairs", ((0, 0),), (2, 2))
    with pytest.raises(SpaceError, match="over 2 different variables"):
        Tuples("pairs", ((0, 1, 2),), (2, 2))
    with pytest.raises(SettingError, match="bins is a whole number of at least 2"):
        LabelCounts("h", 2, 1)


def test_columns_are_labels_then_label_tuples_then_global_features():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "abc")
    builder.factor(x, y)
    space = builder.build()
    global_features = GlobalFeatureSet(
        (CustomFeature("ends", 2, 1, lambda labels: (labels[:, :1] > 0).astype(int)),), 2
    )
    labels = np.array([[1, 2], [0, 1]])
    assert columns_of(space, None, labels).tolist() == [[1, 2, 5], [0, 1, 1]]
    assert columns_of(space, global_features, labels).tolist() == [[1, 2, 5, 1], [0, 1, 1, 0]]
