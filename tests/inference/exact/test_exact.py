"""`Exact` chooses by what the space is, and says in ``source`` what it chose."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from rote.engines import (
    BranchAndBound,
    Chain,
    Elimination,
    Exact,
    Exhaustive,
    FoundBy,
    Independent,
    Milp,
    Problem,
    Status,
    Tree,
    clamp,
)
from rote.inference.exact.exact import FEW_CANDIDATES, choice
from rote.tasks.entity_relation import entity_relation_space
from tests.inference.outputs import built, few
from tests.strategies import forget_compiled


def solved(space, seed=0, m=4):
    scores = np.random.default_rng(seed).normal(size=(m, space.parts))
    solutions = Exact().solve(space, scores)
    assert solutions.optimal.all()
    reference = Exhaustive().solve(space, scores)
    assert solutions.labels.tolist() == reference.labels.tolist()
    return set(solutions.source.tolist())


# -- what is chosen -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "source"),
    [
        (lambda: built(5), FoundBy.ARGMAX),
        (lambda: built(3, rules=[lambda v: ~v[0]["a"]]), FoundBy.ARGMAX),
        (lambda: built(6, pairwise(range(6))), FoundBy.CHAIN),
        (lambda: built(6, [(0, 3), (3, 5), (1, 3), (2, 0), (5, 4)]), FoundBy.TREE),
        (lambda: built(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]), FoundBy.ELIMINATION),
        (lambda: built(5, [(0, 1, 2), (2, 3, 4)]), FoundBy.ELIMINATION),
        (lambda: built(13, combinations(range(13), 2)), FoundBy.SHARED_TREE),
        (lambda: built(6, combinations(range(6), 2), labels="abcde"), FoundBy.MESSAGES),
        (lambda: built(12, pairwise(range(12)), [few]), FoundBy.BRANCH),
    ],
    ids=["free", "one rule", "chain", "tree", "cycle", "threes", "dense", "labels", "a long rule"],
)
def test_a_space_is_solved_by_what_suits_it(made, source):
    assert solved(made()) == {source}


def test_a_chain_of_second_order_with_many_labels_by_viterbi():
    """Elimination lists every candidate, which here are too many; the chain does not."""
    labels = [str(a) for a in range(17)]
    space = built(4, [(0, 1, 2), (1, 2, 3)], labels=labels)
    assert not Elimination(FEW_CANDIDATES).accepts(space)
    assert choice(space) == Chain()
    assert solved(space, m=1) == {FoundBy.CHAIN}


def test_the_choice_is_made_once_per_space():
    forget_compiled()
    space, again = built(5, [(0, 1)]), built(5, [(0, 1)])
    assert choice(space) is choice(again)
    assert isinstance(choice(built(3)), Independent)
    assert isinstance(choice(built(6, [(0, 3), (3, 5)])), Tree)
    assert choice(built(20, combinations(range(20), 2))) is None


# -- rules that the best labels happen to obey --------------------------------------------


def test_inputs_whose_best_labels_obey_the_rules_need_no_search():
    space = built(3, rules=[lambda v: (v[0]["a"] & v[2]["a"]) >> v[1]["a"]])
    assert not Independent().accepts(space)
    is_feasible = np.array([1.0, 0, 1, 0, 1, 0])
    breaks = np.array([1.0, 0, 0, 1, 3, 0])
    found = Exact().solve(space, np.array([is_feasible, breaks, is_feasible, breaks]))
    other = found.source[1]
    assert other != FoundBy.ARGMAX
    assert found.source.tolist() == [FoundBy.ARGMAX, other, FoundBy.ARGMAX, other]
    reference = Exhaustive().solve(space, np.array([is_feasible, breaks, is_feasible, breaks]))
    assert found.labels.tolist() == reference.labels.tolist()
    assert found.value.tolist() == reference.value.tolist()


def test_the_short_way_is_taken_for_none_some_or_all_inputs():
    space = entity_relation_space(3)
    scores = np.random.default_rng(0).normal(size=(300, space.parts))
    scores[:100, -36:] = -1.0
    none_label = [space.part(v.name, "none") for v in space.variables if "none" in v.labels]
    scores[:100, none_label] = 5.0
    found = Exact().solve(space, scores)
    assert (found.source[:100] == FoundBy.ARGMAX).all()
    assert (found.source[100:] != FoundBy.ARGMAX).any()
    reference = Elimination().solve(space, scores)
    assert found.labels.tolist() == reference.labels.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_nearly_equal_scores_are_weighed_against_the_best_that_obeys_the_rules(seed):
    """Three steps are less than a tie, four are more; giving up a little may be too much."""
    rng = np.random.default_rng(seed)
    first, second, third = rng.permutation(4)[:3]
    labels = rng.choice(list("ab"), size=3)

    def rule(v):
        return (v[first][labels[0]] & v[second][labels[1]]) >> v[third][labels[2]]

    space = built(4, rules=[rule])
    scores = 3e-11 * rng.integers(0, 4, size=(200, space.parts))
    found = Exact().solve(space, scores)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


def test_closed_labels_count_on_the_short_way():
    space = built(3, rules=[lambda v: (v[0]["a"] & v[2]["b"]) >> v[1]["b"]])
    scores = np.array([[0, 1, 1, 0, 0, 3.0]] * 2)
    found = Exact().solve(space, clamp(space, scores, [{}, {"x0": "a"}]))
    assert found.labels.tolist() == [[1, 0, 1], [0, 1, 1]]
    closed = Problem(
        space, scores, closed=np.array([[False] * 6, [True, True, False, False, False, False]])
    )
    assert Exact().solve(space, closed).status.tolist() == [Status.OPTIMAL, Status.INFEASIBLE]


# -- limits -------------------------------------------------------------------------------


def test_a_time_limit_does_not_matter_where_one_pass_is_enough():
    space = built(6, zip(range(5), range(1, 6), strict=True))
    scores = np.random.default_rng(4).normal(size=(3, space.parts))
    assert Exact(time_limit=1e-9).solve(space, scores).optimal.all()


@pytest.mark.parametrize("engine", [Exact, BranchAndBound, Milp])
@pytest.mark.parametrize("limit", [2, np.int64(2), np.float32(2.5), np.float64(2), Fraction(5, 2)])
def test_any_real_number_is_a_time_limit(engine, limit):
    space = built(13, combinations(range(13), 2))
    scores = np.random.default_rng(2).normal(size=(3, space.parts))
    found = engine(time_limit=limit).solve(space, scores)
    assert found.labels.tolist() == Exact().solve(space, scores).labels.tolist()
