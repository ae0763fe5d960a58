"""S_pair: components of gold outputs, and the inputs for which rules ask for all outputs."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.errors import DataError, SettingError
from rote.inference.wrappers.decomposed import Sign, SignedComponents, estimate_signs
from rote.inference.wrappers.decomposed.components import signs_of
from rote.space import SpaceBuilder, at_least, at_most
from tests.inference.wrappers.decomposed.test_sets import asked, lists_of
from tests.strategies import Judge, rules_as_rows, spaces


def chain(n, labels="ab", rules=()):
    """Each variable joined to the next."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for x, y in pairwise(variables):
        builder.factor(x, y)
    for rule in rules:
        builder.require(rule(variables))
    return builder.build()


def components(space, gold, signs=Sign.SAME):
    split = SignedComponents(signs, fallback=False).split(*asked(space, [gold]))
    return lists_of(split.sets[0])[0]


# -- the sets -----------------------------------------------------------------------------------


def test_a_submodular_chain_falls_apart_where_labels_change():
    # The example of the paper: 1110011.
    assert components(chain(7), [1, 1, 1, 0, 0, 1, 1]) == [[0, 1, 2], [3, 4], [5, 6]]


def test_a_supermodular_chain_hangs_together_where_labels_change():
    found = components(chain(7), [1, 1, 1, 0, 0, 1, 1], Sign.DIFFERENT)
    assert found == [[0], [1], [2, 3], [4, 5], [6]]


def test_unknown_factors_hold_together_and_absent_ones_do_not():
    gold = [1, 1, 0, 0]
    assert components(chain(4), gold, Sign.UNKNOWN) == [[0, 1, 2, 3]]
    assert components(chain(4), gold, Sign.ABSENT) == [[0], [1], [2], [3]]
    assert components(chain(4), gold, [Sign.ABSENT, Sign.UNKNOWN, Sign.SAME]) == [[0], [1, 2, 3]]


def test_states_are_compared_by_name():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(n, a) for n, a in (("x", "ab"), ("y", "cab"), ("z", "ba")))
    builder.factor(x, y)
    builder.factor(y, z)
    space = builder.build()
    assert components(space, [0, 1, 1]) == [[0, 1, 2]]  # a a a
    assert components(space, [0, 0, 0]) == [[0], [1], [2]]  # a c b
    assert components(space, [1, 2, 1]) == [[0, 1], [2]]  # b b a
    assert components(space, [0, 0, 0], Sign.DIFFERENT) == [[0, 1, 2]]


def test_factors_over_three_variables_hold_them_together():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(5)]
    builder.factor(variables[0], variables[4], variables[2])
    builder.factor(variables[2], variables[3])
    space = builder.build()
    assert components(space, [0, 0, 1, 0, 0]) == [[0, 2, 4], [1], [3]]
    assert components(space, [0, 0, 1, 1, 0], Sign.SAME) == [[0, 2, 3, 4], [1]]


def test_signs_may_be_estimated():
    space = chain(3)
    gold = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 0]])
    signs = estimate_signs([(space, gold)])
    assert signs[space].tolist() == [Sign.SAME, Sign.DIFFERENT]
    assert components(space, [0, 0, 1], signs) == [[0, 1, 2]]
    assert components(space, [0, 1, 1], signs) == [[0], [1], [2]]
    with pytest.raises(SettingError, match="no signs for"):
        components(chain(4), [0, 0, 0, 0], signs)


def test_every_input_has_components_of_its_own():
    space = chain(3)
    split = SignedComponents().split(*asked(space, [[0, 0, 0], [0, 1, 0], [1, 1, 0]]))
    assert lists_of(split.sets[0]) == [[[0, 1, 2]], [[0], [1], [2]], [[0, 1], [2]]]
    assert split.whole.tolist() == [False] * 3


# -- rules --------------------------------------------------------------------------------------


def whole_of(space, gold, **options):
    split = SignedComponents(**options).split(*asked(space, gold))
    return split.whole.tolist()


def test_all_outputs_are_looked_at_where_a_rule_needs_two_sets_at_once():
    # From gold a a, to b b is possible and neither b a nor a b is.
    space = chain(2, rules=[lambda v: (v[0]["b"] >> v[1]["b"]) & (v[1]["b"] >> v[0]["b"])])
    gold = [[0, 0], [1, 1]]
    assert whole_of(space, gold) == [False, False]  # one set: everything is around anyway
    assert whole_of(space, gold, signs=Sign.DIFFERENT) == [True, True]
    assert whole_of(space, gold, signs=Sign.DIFFERENT, fallback=False) == [False, False]


@pytest.mark.parametrize("max_entries", [None, 1], ids=["tables", "rows"])
def test_rules_that_each_set_can_obey_by_itself_stand_in_nobodys_way(max_entries):
    rule = [lambda v: at_least(1, [x["b"] for x in v])]
    with rules_as_rows(max_entries):
        # At least one b: it may go in one set, if there is another one left.
        space = chain(4, rules=rule)
        gold = [[1, 0, 0, 1], [1, 1, 0, 0], [1, 0, 1, 1], [1, 1, 1, 1]]
        assert whole_of(space, gold) == [False, True, False, False]
        # At most two: what is there already counts.
        space = chain(4, rules=[lambda v: at_most(2, [x["b"] for x in v])])
        gold = [[0, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]]
        assert whole_of(space, gold) == [False, True, True, True]
        assert whole_of(space, gold, fallback=False) == [False] * 4


def test_rules_within_one_set_stand_in_nobodys_way():
    space = chain(4, rules=[lambda v: v[0]["b"] >> v[1]["b"], lambda v: ~v[3]["a"]])
    assert whole_of(space, [[0, 0, 1, 1], [1, 1, 0, 1]]) == [False, False]
    # Apart, both are free as long as the other is on the right side of the rule.
    assert whole_of(space, [[0, 1, 1, 1]]) == [False]
    assert whole_of(space, [[0, 0, 1, 1], [1, 1, 0, 1]], signs=Sign.ABSENT) == [True, True]


def test_gold_that_breaks_a_rule_asks_for_all_outputs_where_it_has_several_sets():
    space = chain(3, rules=[lambda v: ~v[0]["a"]])
    assert whole_of(space, [[0, 1, 1], [1, 0, 0]]) == [True, False]
    space = chain(3, rules=[lambda v: v[0]["a"] >> v[2]["b"]])
    assert whole_of(space, [[0, 1, 0], [0, 0, 1]]) == [True, True]


def questions(draw, rules=3, depth=2):
    space = draw(spaces(least=1, most=4, max_rules=rules, depth=depth))
    gold = np.array(
        [[draw(st.integers(0, size - 1)) for size in space.sizes.tolist()] for _ in range(2)]
    ).reshape(2, len(space.variables))
    signs = [draw(st.sampled_from(list(Sign))) for _ in space.factors]
    return space, gold, signs


def breaks_a_swap(judge, gold, sets):
    """An output, swapped set by set into gold, that is not possible there; or None."""
    possible = set(judge.outputs)
    for labels in judge.outputs:
        for members in sets:
            mixed = tuple(labels[j] if j in members else int(gold[j]) for j in range(len(gold)))
            if mixed not in possible:
                return labels, members
    return None


@given(data=st.data(), max_entries=st.sampled_from([None, 1, 4]))
@settings(max_examples=100)
def test_where_sets_are_used_every_output_is_possible_set_by_set(data, max_entries):
    with rules_as_rows(max_entries):
        space, gold, signs = questions(data.draw)
        split = SignedComponents(signs).split(*asked(space, gold))
    judge, lists = Judge(space), lists_of(split.sets[0])
    for i in np.flatnonzero(~split.whole):
        assert breaks_a_swap(judge, gold[i], lists[i]) is None


@given(data=st.data())
def test_one_rule_in_a_table_asks_for_all_outputs_only_where_it_must(data):
    space, gold, signs = questions(data.draw, rules=1, depth=0)
    split = SignedComponents(signs).split(*asked(space, gold))
    judge, lists = Judge(space), lists_of(split.sets[0])
    if not judge.feasible:
        return
    for i in np.flatnonzero(split.whole):
        assert breaks_a_swap(judge, gold[i], lists[i]) is not None


def test_with_rules_that_need_variables_of_their_own_several_sets_are_never_trusted():
    with rules_as_rows(1):
        builder = SpaceBuilder()
        x, y, z = (builder.variable(n, "ab") for n in "xyz")
        builder.factor(x, y)
        builder.factor(y, z)
        builder.require(at_most(1, [x["a"] & y["a"], z["b"] & y["a"]]))
        space = builder.build()
        assert space.network.variables > space.network.own
        assert whole_of(space, [[0, 0, 0], [0, 0, 1]]) == [False, True]


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
