"""`LazyRows`: the answers of every exact engine, with long rules looked at afterwards."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.engines import BranchAndBound, Exact, Exhaustive, FoundBy, Problem, Status
from rote.errors import InfeasibleSpace
from rote.inference.exact.lazy_rows import LazyRows, lazy_rows_for
from rote.space import SpaceBuilder, any_of, at_least, at_most, count, exactly
from rote.tasks.entity_relation import entity_relation_space
from tests.strategies import FAMILIES, problems_of, rules_as_rows


@st.composite
def counting_spaces(draw):
    """A forest or chain of factors, rules over pairs, and one to three rules over all variables."""
    builder = SpaceBuilder()
    sizes = draw(st.lists(st.integers(2, 3), min_size=6, max_size=8))
    if np.prod(sizes) <= 256:  # such a rule would become a table
        sizes[:6] = [3] * 6
    variables = [builder.variable(f"x{j}", "abc"[:size]) for j, size in enumerate(sizes)]
    for j in range(1, len(variables)):
        before = variables[j - 1 if draw(st.booleans()) else draw(st.integers(0, j - 1))]
        if draw(st.integers(0, 3)):
            builder.factor(before, variables[j])
        if draw(st.integers(0, 5)) == 0:
            builder.require(before["a"] >> variables[j]["b"])
    for k in range(draw(st.integers(1, 3))):
        chosen = [x[x.labels[draw(st.integers(0, len(x.labels) - 1))]] for x in variables]
        limit = draw(st.integers(0, len(variables)))
        kind = draw(st.sampled_from(["most", "least", "exactly", "between", "weighted", "any"]))
        if kind == "between":
            rule = at_most(limit + 1, chosen) & at_least(limit // 2, chosen)
        elif kind == "weighted":
            total = sum((draw(st.integers(-2, 3)) * one for one in chosen), start=count())
            rule = total <= limit if draw(st.booleans()) else total >= limit
        elif kind == "any":
            rule = any_of(chosen)
        else:
            rule = {"most": at_most, "least": at_least, "exactly": exactly}[kind](limit, chosen)
        builder.require(rule, f"count {k}")
    return builder.build()


def check_equal(engine, space, problem):
    """The engine says what `Exhaustive` says; returns its answers, or None without any output."""
    try:
        best = Exhaustive().solve(space, problem)
    except InfeasibleSpace as error:
        with pytest.raises(InfeasibleSpace, match=re.escape(str(error))):
            engine.solve(space, problem)
        return None
    found = engine.solve(space, problem)
    assert found.labels.tolist() == best.labels.tolist()
    assert found.status.tolist() == best.status.tolist()
    assert found.value.tolist() == best.value.tolist()
    return found


@given(st.data())
def test_counts_over_chains_and_trees_have_the_answers_of_exhaustive_search(data):
    space = data.draw(counting_spaces())
    problem = data.draw(problems_of(space, 3))
    engine = LazyRows(set_limit=1 << 20)
    if engine.accepts(space):  # not where every count holds anyway
        check_equal(engine, space, problem)
    check_equal(Exact(), space, problem)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_rules_of_all_kinds_kept_as_rows_have_the_answers_of_exhaustive_search(family, data):
    space = data.draw(FAMILIES[family])
    problem = data.draw(problems_of(space))
    with rules_as_rows():
        engine = LazyRows(set_limit=1 << 20)
        if engine.accepts(space):
            check_equal(engine, space, problem)


def tagger(length, labels, *rules):
    builder = SpaceBuilder()
    names = [f"t{k}" for k in range(labels)]
    words = [builder.variable(f"w{i}", names) for i in range(length)]
    for before, word in pairwise(words):
        builder.factor(before, word)
    for rule in rules:
        builder.require(rule(words))
    return builder.build()


def one_verb(words):
    return at_least(1, [word["t0"] for word in words])


def one_subject(words):
    return at_most(1, [word["t1"] for word in words])


def test_long_taggers_have_the_answers_of_branch_and_bound_and_say_who_found_them():
    space = tagger(30, 6, one_verb, one_subject)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(40, space.parts))
    scores[:, 1 : space.labels : 6] -= 1.5
    problem = Problem(space, scores)
    found, best = Exact().solve(space, problem), BranchAndBound().solve(space, problem)
    assert found.labels.tolist() == best.labels.tolist()
    assert found.optimal.all()
    relaxed = LazyRows(set_limit=1).solve(space, problem)
    easy = relaxed.optimal
    assert 0 < easy.sum() < len(easy)
    assert (found.source[easy] == FoundBy.ELIMINATION).all()
    assert (found.source[~easy] == FoundBy.BRANCH).all()
    assert (relaxed.status[~easy] == Status.TIMED_OUT).all()
    assert (relaxed.bound >= best.value).all()


def lives_in_one_place(builder, variables):
    homes = {}
    for variable in variables:
        if variable.name.startswith("r"):
            homes.setdefault(variable.name.split("_")[0], []).append(variable["Live_In"])
    for own in homes.values():
        builder.require(at_most(1, own))


@pytest.mark.parametrize("whole", [False, True])
def test_sentences_with_a_counting_rule_have_the_answers_of_branch_and_bound(whole):
    space = entity_relation_space(6, rules=lives_in_one_place)
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(8, space.parts))
    scores[:, 24::6] += 1.0
    if whole:
        scores = np.round(scores)
    problem = Problem(space, scores)
    found = LazyRows(set_limit=1 << 10).solve(space, problem)
    best = BranchAndBound().solve(space, problem)
    assert found.labels.tolist() == best.labels.tolist()
    assert found.optimal.all()
    without = entity_relation_space(6)
    broken = (Exact().solve(without, scores).value > found.value + 1e-6).sum()
    assert 0 < broken < 8


def test_a_rule_whose_variables_are_searched_anyway_is_not_left_out():
    def one_organisation(builder, variables):
        builder.require(at_most(1, [v["Org"] for v in variables if v.name.startswith("e")]))

    space = entity_relation_space(8, rules=one_organisation)
    assert lazy_rows_for(space) is None
    assert lazy_rows_for(entity_relation_space(8, rules=lives_in_one_place)) is not None


def test_short_counts_are_left_out_as_well_where_tables_would_join_too_much():
    space = entity_relation_space(4, rules=lives_in_one_place)
    assert not len(space.network.rows)
    scores = np.random.default_rng(2).normal(size=(20, space.parts))
    found, best = Exact().solve(space, scores), BranchAndBound().solve(space, scores)
    assert found.labels.tolist() == best.labels.tolist()
    assert FoundBy.ELIMINATION in found.source


def test_spaces_without_long_rules_are_not_for_it_and_have_the_same_answers():
    space = tagger(5, 3)
    assert lazy_rows_for(space) is None
    scores = np.random.default_rng(0).normal(size=(4, space.parts))
    found = LazyRows().solve(space, scores)
    assert found.labels.tolist() == Exact().solve(space, scores).labels.tolist()
    assert found.optimal.all()
