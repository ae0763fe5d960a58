"""Signs of factors: as given, as named, and as estimated, beside information worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rote.errors import DataError, SettingError
from rote.inference.wrappers.decomposed import Sign, estimate_signs
from rote.inference.wrappers.decomposed.signs import signs_of
from rote.space import SpaceBuilder


def joined(*variables, scopes=None):
    """Variables with these labels; each next to the one before, unless told otherwise."""
    builder = SpaceBuilder()
    made = [builder.variable(f"x{j}", labels) for j, labels in enumerate(variables)]
    for scope in scopes or [(j, j + 1) for j in range(len(made) - 1)]:
        builder.factor(*(made[j] for j in scope))
    return builder.build()


# -- given --------------------------------------------------------------------------------------


def test_one_sign_is_for_all_factors_of_two_variables():
    space = joined("ab", "ab", "ab", scopes=[(0, 1), (0, 1, 2), (2, 1)])
    assert signs_of(space, Sign.SAME).tolist() == [1, 0, 1]
    assert signs_of(space, Sign.DIFFERENT).tolist() == [-1, 0, -1]
    assert signs_of(space, Sign.ABSENT).tolist() == [2, 0, 2]


def test_signs_may_be_a_sequence_a_mapping_or_a_function():
    space, other = joined("ab", "ab", "ab"), joined("ab", "ab")
    expected = [Sign.DIFFERENT, Sign.ABSENT]
    for signs in (
        expected,
        (-1, 2),
        np.array([-1, 2]),
        {space: [-1, 2], other: [1]},
        lambda given: [-1, 2] if given == space else [1],
    ):
        assert signs_of(space, signs).tolist() == expected
        assert not signs_of(space, signs).flags.writeable
    assert signs_of(joined("ab"), []).tolist() == []


@pytest.mark.parametrize(
    "wrong",
    [[1], [1, 1, 1], [1, 3], [1, 0.5], [[1, 1]], [1, [1]], 1, None, "SAME", ["SAME", "SAME"]],
    ids=str,
)
def test_signs_that_are_none_are_refused(wrong):
    space = joined("ab", "ab", "ab")
    for signs in (wrong, {space: wrong}, lambda _: wrong):
        with pytest.raises(SettingError, match=r"signs are one of DIFFERENT \(-1\).* 2 factors"):
            signs_of(space, signs)


def test_a_space_that_a_mapping_does_not_know_is_refused():
    with pytest.raises(SettingError, match=r"there are no signs for Space\(2 variables"):
        signs_of(joined("ab", "ab"), {joined("ab", "ab", "ab"): [1, 1]})


# -- estimated ----------------------------------------------------------------------------------


def outputs(both, neither, first, second):
    """So many outputs with labels bb, aa, ba and ab."""
    return np.array([[1, 1]] * both + [[0, 0]] * neither + [[1, 0]] * first + [[0, 1]] * second)


def estimated(labels, **options):
    space = joined("ab", "ab")
    return estimate_signs([(space, labels)], **options)[space].tolist()


def test_variables_that_go_together_are_the_same_and_others_different():
    assert estimated(outputs(3, 3, 1, 1)) == [Sign.SAME]
    assert estimated(outputs(1, 1, 3, 3)) == [Sign.DIFFERENT]


def test_it_counts_what_is_beyond_chance_not_how_often_labels_are_equal():
    # Both are nearly always a; b never comes with b, though it should once in a while.
    assert estimated(outputs(0, 96, 2, 2)) == [Sign.DIFFERENT]
    # Labels are mostly unequal, but b comes with b more often than by chance: 2/12 > 8/12 · 2/12.
    assert estimated(outputs(2, 4, 6, 0)) == [Sign.SAME]


def test_independent_variables_have_an_absent_factor():
    assert estimated(outputs(2, 2, 2, 2)) == [Sign.ABSENT]
    assert estimated(outputs(1, 6, 2, 3)) == [Sign.ABSENT]  # 1·6 = 2·3
    assert estimated(outputs(0, 5, 0, 0)) == [Sign.ABSENT]  # a constant tells nothing


def test_the_least_information_is_in_bits():
    # 2 · 3/8 · log2(3/8 : 1/4) + 2 · 1/8 · log2(1/8 : 1/4) = 3/4 · log2(3/2) - 1/4
    information = 0.75 * math.log2(1.5) - 0.25
    assert information == pytest.approx(0.1887, abs=1e-4)
    labels = outputs(3, 3, 1, 1)
    assert estimated(labels, least=information - 1e-6) == [Sign.SAME]
    assert estimated(labels, least=information + 1e-6) == [Sign.ABSENT]
    assert estimated(outputs(4, 4, 0, 0), least=1 - 1e-6) == [Sign.SAME]
    assert estimated(outputs(4, 4, 0, 0), least=1 + 1e-6) == [Sign.ABSENT]


def test_labels_are_compared_by_name():
    space = joined("ab", "ba")
    labels = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])  # aa, bb
    assert estimate_signs([(space, labels)])[space].tolist() == [Sign.SAME]
    assert estimate_signs([(space, labels[:, [0, 0]])])[space].tolist() == [Sign.DIFFERENT]


def test_variables_that_share_no_label_name_stay_together():
    # They depend on each other and are never the same: neither sign says anything of them.
    space = joined("ab", "cd")
    labels = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])
    assert estimate_signs([(space, labels)])[space].tolist() == [Sign.UNKNOWN]


def test_each_factor_has_a_sign_of_its_own_unless_they_are_pooled():
    space = joined("ab", "ab", "ab")
    labels = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    assert estimate_signs([(space, labels)])[space].tolist() == [Sign.SAME, Sign.DIFFERENT]
    # Pooled: of 12 pairs, 8 are equal, where 6 would be by chance.
    pooled = estimate_signs([(space, labels)], pooled=True)
    assert pooled[space].tolist() == [Sign.SAME, Sign.SAME]


def test_spaces_of_all_sizes_are_pooled_and_groups_of_one_space_are_added_up():
    short, long = joined("ab", "ab"), joined("ab", "ab", "ab")
    groups = [
        (short, np.array([[0, 1], [1, 0]])),
        (long, np.array([[0, 0, 0], [1, 1, 1]])),
        (short, np.array([[0, 0], [1, 1], [0, 0], [1, 1]])),
    ]
    alone = estimate_signs(groups)
    assert alone[short].tolist() == [Sign.SAME]
    assert alone[long].tolist() == [Sign.SAME] * 2
    assert estimate_signs(groups[:2])[short].tolist() == [Sign.DIFFERENT]
    pooled = estimate_signs(groups[:2], pooled=True)
    assert pooled[short].tolist() == [Sign.SAME]
    assert pooled[long].tolist() == [Sign.SAME] * 2


def test_factors_over_more_variables_are_unknown_and_do_not_enter_the_pool():
    space = joined("ab", "ab", "ab", scopes=[(0, 1, 2), (0, 2)])
    labels = np.array([[0, 1, 0], [1, 0, 1]])
    for pooled in (False, True):
        found = estimate_signs([(space, labels)], pooled=pooled)[space]
        assert found.tolist() == [Sign.UNKNOWN, Sign.SAME]
        assert signs_of(space, {space: found}).tolist() == found.tolist()
    only = joined("ab", "ab", "ab", scopes=[(0, 1, 2)])
    for pooled in (False, True):
        assert estimate_signs([(only, labels)], pooled=pooled)[only].tolist() == [Sign.UNKNOWN]


def test_nothing_to_estimate_from_is_refused():
    with pytest.raises(DataError, match="no outputs"):
        estimate_signs([])
    with pytest.raises(DataError, match="no outputs"):
        estimate_signs([(joined("ab", "ab"), np.empty((0, 2), dtype=np.int64))])
