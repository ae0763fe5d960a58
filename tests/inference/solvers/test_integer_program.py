"""`integer_program`: its rows and columns by hand, and what its proofs promise."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from rote.errors import UnsupportedSpace
from rote.inference.exact.duals import Duals, dual_bound
from rote.inference.solutions import Status
from rote.inference.solvers.integer_program import integer_program, status_of
from rote.space import SpaceBuilder, at_most, one_of


def small():
    """x and y with a factor that a rule cuts, a factor inside another, z with a long rule."""
    builder = SpaceBuilder()
    x, y, z = builder.variable("x", "ab"), builder.variable("y", "abc"), builder.variable("z", "ab")
    builder.factor(x, y)
    builder.factor(z, y, x)
    builder.require(one_of([x, y], [("a", "a"), ("a", "b"), ("b", "c"), ("b", "a")]))
    builder.require(at_most(1, [x["a"] & y["b"], z["a"], y["c"]]))
    return builder.build()


def dense_rows(program):
    rows = np.zeros((program.rows, program.columns))
    for r in range(program.rows):
        span = slice(program.indptr[r], program.indptr[r + 1])
        rows[r, program.indices[span]] += program.data[span]
    return rows


def test_a_space_is_compiled_once():
    first, second = small(), small()
    assert first is not second
    assert integer_program(first) is integer_program(second)


def test_a_factor_is_tied_to_its_labels_by_hand():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    builder.require(x["a"] >> y["b"])
    program = integer_program(builder.build())
    # Columns: xa xb ya yb, then the entries ab ba bb; aa is forbidden.
    assert dense_rows(program).tolist() == [
        [1, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0, 0],
        [0, 1, 0, 1, 0, 0, 0],
        [-1, 0, 0, 0, 1, 0, 0],
        [0, -1, 0, 0, 0, 1, 1],
        [0, 0, -1, 0, 0, 1, 0],
        [0, 0, 0, -1, 1, 0, 1],
    ]
    assert program.costs(np.arange(8.0)).tolist() == [0, 1, 2, 3, 5, 6, 7]


def test_exactly_the_outputs_of_the_space_satisfy_the_rows():
    space = small()
    program = integer_program(space)
    rows = dense_rows(program)
    outputs = np.array(list(product(*(range(size) for size in space.sizes))))
    scores = np.random.default_rng(0).normal(size=space.parts)
    costs = program.costs(scores)
    free = program.columns - program.labels
    assert free <= 16
    choices = np.array(list(product((0.0, 1.0), repeat=free)))
    for labels, holds in zip(outputs, space.holds(outputs), strict=True):
        z = np.zeros((len(choices), program.columns))
        z[:, program.chosen(labels)] = 1.0
        z[:, program.labels :] = choices
        sums = z @ rows.T
        fits = ((sums >= program.lower) & (sums <= program.upper)).all(axis=1)
        fits &= (z <= program.most).all(axis=1)
        assert fits.any() == holds
        if holds:
            assert np.unique(np.round(z[fits] @ costs, 9)).tolist() == [
                round(float(space.value(scores, labels)[0]), 9)
            ]


@pytest.mark.parametrize("seed", range(30))
def test_a_proof_holds_for_any_duals_and_its_bound_is_the_dual_bound(seed):
    rng = np.random.default_rng(seed)
    space = small()
    program = integer_program(space)
    scores = rng.normal(size=space.parts)
    duals = rng.normal(size=program.rows)
    proof = program.proof(program.costs(scores), program.allowed, duals)
    outputs = np.array(list(product(*(range(size) for size in space.sizes))))
    outputs = outputs[space.holds(outputs)]
    values = space.value(np.repeat(scores[None], len(outputs), axis=0), outputs)
    for labels, value in zip(outputs, values, strict=True):
        assert (value <= proof.bound - proof.slack[program.chosen(labels)] + 1e-9).all()

    y = program.admissible(duals)
    messages = np.zeros((1, int(space.network.message_ptr[-1])))
    messages[0, program.message_at] = y[program.message_rows]
    same = dual_bound(space, scores, Duals(messages, y[None, program.rule_rows]))
    assert proof.bound == pytest.approx(same[0])


def test_with_every_label_of_a_variable_closed_the_bound_is_minus_infinity():
    space = small()
    program = integer_program(space)
    is_open = program.allowed.copy()
    is_open[:2] = False
    proof = program.proof(np.zeros(program.columns), is_open, np.zeros(program.rows))
    assert proof.bound == -np.inf
    assert (proof.slack == np.inf).all()


def test_columns_between_0_and_1_are_not_read_as_labels():
    program = integer_program(small())
    columns = np.zeros(program.columns)
    columns[program.chosen(np.array([1, 0, 1]))] = 1.0
    assert program.read(columns).tolist() == [1, 0, 1]
    columns[:2] = 0.5
    assert program.read(columns) is None


def test_a_factor_that_the_rules_forbid_altogether_is_compiled():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    builder.require(one_of([x, y], []))
    program = integer_program(builder.build())
    assert program.columns == 4
    assert not program.allowed.any()


def test_a_solver_that_ends_in_any_other_way_is_an_error_that_names_it():
    proved = {"found": Status.OPTIMAL, "none": Status.INFEASIBLE}
    said = partial(status_of, "Solver", proved=proved, stopped=("Limit",))
    assert [said("found"), said("none")] == [Status.OPTIMAL, Status.INFEASIBLE]
    assert said("kTimeLimit") == Status.TIMED_OUT
    with pytest.raises(UnsupportedSpace, match=r"Solver stopped with kError; .* another engine"):
        said("kError")
