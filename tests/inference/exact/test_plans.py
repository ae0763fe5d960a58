"""Plans: compiled once per space, steps that leave nothing over, or a core for branch and bound."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rote.inference.exact.plans import MAX_CHEAP_ENTRIES, full_plan, no_plan, partial_plan
from rote.space import SpaceBuilder, at_most
from rote.tasks.entity_relation import entity_relation_space
from tests.strategies import Judge, forget_compiled, known_value, rules_as_rows, spaces


def grid(side):
    builder = SpaceBuilder()
    at = {(i, j): builder.variable(f"x{i}_{j}", "ab") for i in range(side) for j in range(side)}
    for (i, j), x in at.items():
        if i:
            builder.factor(at[i - 1, j], x)
        if j:
            builder.factor(at[i, j - 1], x)
    return builder.build()


def test_a_plan_is_compiled_once_for_all_spaces_with_the_same_fingerprint():
    first, second = grid(3), grid(3)
    assert first is not second
    for plan in (full_plan, partial_plan, no_plan):
        assert plan(first) is plan(second)


def test_a_full_plan_eliminates_every_variable_once():
    plan = full_plan(grid(3))
    assert sorted(plan.steps.variable.tolist()) == list(range(9))
    assert len(plan.core.variables) == 0


def test_a_full_plan_is_given_up_where_it_takes_too_much():
    space = grid(4)
    needed = len(full_plan(space).steps.candidate_label)
    assert full_plan(space, needed) is not None
    assert full_plan(space, needed // 2) is None


def test_candidates_that_rules_forbid_are_not_listed():
    def built(with_rule):
        builder = SpaceBuilder()
        x, y = builder.variable("x", "abcd"), builder.variable("y", "abcd")
        builder.factor(x, y)
        if with_rule:
            for label in "abcd":
                builder.require(x[label] >> y[label])
        return builder.build()

    free, bound = (full_plan(built(rule)).steps for rule in (False, True))
    assert len(free.candidate_label) == 16 + 4
    assert len(bound.candidate_label) == 4 + 4


def test_relations_are_cheap_and_entities_are_left():
    space = entity_relation_space(8)
    core = partial_plan(space).core
    entities = [v.index for v in space.variables if v.name.startswith("e")]
    assert set(core.variables.tolist()) <= set(entities)
    assert core.network.variables == len(core.variables)


def test_variables_of_long_rules_are_not_eliminated():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(14)]
    builder.require(at_most(3, [x["a"] for x in variables[:10]]))
    for x, y in itertools.pairwise(variables):
        builder.factor(x, y)
    plan = partial_plan(builder.build())
    assert plan.core.variables.tolist() == list(range(10))
    assert sorted(plan.steps.variable.tolist()) == [10, 11, 12, 13]
    assert len(plan.core.network.rows) == 1


def test_no_plan_leaves_the_network_as_it_is():
    forget_compiled()
    space = grid(3)
    plan = no_plan(space)
    assert plan.core.network is space.network
    assert plan.core.variables.tolist() == list(range(9))
    assert len(plan.steps.variable) == 0


def test_cheap_elimination_makes_no_large_table():
    builder = SpaceBuilder()
    labels = [str(a) for a in range(60)]
    x, y, z = (builder.variable(name, labels) for name in "xyz")
    builder.factor(x, z)
    builder.factor(z, y)
    assert 60 * 60 > MAX_CHEAP_ENTRIES
    plan = partial_plan(builder.build())
    # z would couple x and y in 3600 entries; x and y themselves end in one of 60.
    assert plan.steps.variable[0] in (x.index, y.index)


def run_forward(steps, scores):
    """The elimination in plain Python: the working memory after all steps."""
    work = [*scores, *([-np.inf] * int(steps.entry_ptr[-1]))]
    for s in range(len(steps.width)):
        wide, at = int(steps.width[s]), int(steps.gather_ptr[s])
        for e in range(steps.entry_ptr[s], steps.entry_ptr[s + 1]):
            for _ in range(steps.candidate_ptr[e], steps.candidate_ptr[e + 1]):
                value = sum(work[steps.gather[at + i]] for i in range(wide))
                work[steps.parts + e] = max(work[steps.parts + e], value)
                at += wide
    return work


@given(spaces(), st.sampled_from([None, 4]))
def test_what_is_eliminated_and_what_is_left_add_up_to_the_optimum(space, max_entries):
    """For the full plan and the partial one: the best of roots plus core is the best output."""
    with rules_as_rows(max_entries):
        scores = np.random.default_rng(space.parts).normal(size=space.parts)
        best = Judge(space).best(scores)
        for plan in (full_plan(space), partial_plan(space), no_plan(space)):
            if plan is None:
                continue
            assume(plan.core.network.variables - plan.core.network.own <= 6)
            work = run_forward(plan.steps, scores)
            value = sum(work[r] for r in plan.steps.roots) + best_of_core(plan.core.network, work)
            if best is None:
                assert value == -np.inf
            else:
                assert value == pytest.approx(best.value)


def best_of_core(net, work):
    """The best labelling of a network by enumeration."""
    top = -np.inf
    for labels in itertools.product(*map(range, net.sizes.tolist())):
        entries = [int(net.offsets[j]) + a for j, a in enumerate(labels)]
        for b in range(net.blocks):
            places = range(net.scope_ptr[b], net.scope_ptr[b + 1])
            at = sum(int(net.strides[k]) * labels[net.scope[k]] for k in places)
            entries.append(int(net.table_ptr[b]) + at)
        if not all(net.allowed[e] for e in entries):
            continue
        columns = set(entries[: len(labels)])
        rows = net.rows
        totals = [
            sum(
                rows.data[k]
                for k in range(rows.indptr[r], rows.indptr[r + 1])
                if int(rows.indices[k]) in columns
            )
            for r in range(len(rows))
        ]
        if ((totals < rows.lower) | (totals > rows.upper)).any():
            continue
        gathered = [net.gather[net.gather_ptr[e] : net.gather_ptr[e + 1]] for e in entries]
        top = max(top, sum(work[g] for found in gathered for g in found))
    return top


def test_the_judge_of_cores_adds_up_like_the_judge_of_spaces():
    space = grid(2)
    scores = np.random.default_rng(0).normal(size=space.parts)
    best = max(known_value(space, scores, labels) for labels in Judge(space).outputs)
    assert best_of_core(space.network, scores) == pytest.approx(best)
