"""What presolve leaves: the same outputs, and their values but for what all of them have."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.inference.exact.presolve import graph_of_rules
from rote.inference.problem import Problem
from rote.kernels.bundles import Masks
from rote.kernels.outputs import all_obey
from rote.kernels.presolve.reductions import presolve
from rote.kernels.presolve.remainder import remainder, worth
from rote.space import at_most
from rote.types import readonly
from tests.bundles import as_arrays
from tests.inference.outputs import built
from tests.strategies import (
    Judge,
    extraction_spaces,
    flat_rule_spaces,
    known_value,
    problems_of,
    spaces,
)


@settings(max_examples=200)
@given(st.data())
def test_outputs_and_their_values_stay(data):
    space = data.draw(st.one_of(flat_rule_spaces(), extraction_spaces(), spaces()))
    problem = data.draw(problems_of(space, 1))
    rules = graph_of_rules(space)
    (first,), (left,), (is_open,), (live,) = presolve(problem.questions, rules, space.labels)
    if not left:
        return
    scores = problem.scores[0]
    graph, theta, variable, label = remainder(rules, scores, space.labels, is_open, live)
    sizes, offsets = np.asarray(graph.sizes), np.asarray(graph.offsets)
    assert left == len(variable) == len(sizes)
    assert (sizes > 1).all()
    n, found = len(space.variables), {}
    for labels in itertools.product(*map(range, sizes)):
        batch = readonly(np.array([labels], dtype=np.int64))
        if not all_obey(
            batch, Masks(graph.offsets, graph.tables, graph.source.allowed), graph.rows
        )[0]:
            continue
        output = first.copy()
        output[variable] = label[offsets[:-1] + batch[0]]
        found[tuple(output[:n].tolist())] = worth(graph, theta, batch[0])
    outputs = Judge(space).open_outputs(is_open[: space.labels])
    assert sorted(found) == outputs
    gaps = [known_value(space, scores, labels) - value for labels, value in found.items()]
    assert np.ptp(gaps) <= 1e-9 * max(1.0, float(np.abs(scores).max()))


def test_short_rows_become_tables_and_long_ones_stay():
    space = built(
        12,
        rules=[
            lambda v: at_most(2, [x["b"] for x in v[:4]]),
            lambda v: at_most(5, [x["b"] for x in v]),
        ],
    )
    problem = Problem(space, np.array([[0, 1.0] * 12]))
    rules = graph_of_rules(space)
    (_,), (left,), (is_open,), (live,) = presolve(problem.questions, rules, space.labels)
    assert left == 12
    graph, *_ = remainder(rules, problem.scores[0], space.labels, is_open, live)
    tables = as_arrays(graph).tables
    assert np.diff(tables.ptr).tolist() == [16]
    assert np.asarray(graph.rows.upper).tolist() == [5.0]
