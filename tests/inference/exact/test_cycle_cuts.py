"""Rules against cycles: the answers of every exact engine, and cuts that only cycles violate."""

from __future__ import annotations

import re
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote import SpaceBuilder, acyclic, at_least, functional, k_best, max_marginals
from rote.engines import RGS, BranchAndBound, ConstrainedBeam, Exact, Exhaustive, Milp
from rote.errors import InfeasibleSpace
from rote.inference.exact.cycle_cuts import cut_rules, violated_cycles, violated_rows
from rote.inference.exact.lazy_rows import LazyRows
from rote.inference.solvers.cp_sat import CpSat
from rote.inference.solvers.toulbar2 import Toulbar2
from rote.inference.wrappers.amortized import Amortized
from tests.strategies import Judge, problems_of

ENGINES = {
    "exact": Exact,
    "exact in time": lambda: Exact(time_limit=60.0),
    "lazy rows": lambda: LazyRows(set_limit=1 << 20),
    "milp": Milp,
    "branch and bound": BranchAndBound,
    "amortized": lambda: Amortized(admission="always"),
    "cp-sat": CpSat,
    "toulbar2": Toulbar2,
}


@st.composite
def arcs_between(draw):
    """Arcs between four or five nodes, by options or by a label for each node, and other rules."""
    builder, family = SpaceBuilder(), {}
    if draw(st.integers(0, 3)) == 0:  # each node says by a label of its own where its arc starts
        for node in "abcde":
            others = "abcde".replace(node, "")
            variable = builder.variable(node, [*others, "root"])
            family |= {(other, node): variable[other] for other in others}
        builder.require(acyclic(family), "no cycle")
        return builder.build()
    pairs = draw(st.permutations(list(permutations("abcd", 2))))[: draw(st.integers(9, 12))]
    for k, pair in enumerate(pairs):
        labels = draw(st.sampled_from([("no", "yes"), ("yes", "no")]))
        family[pair] = builder.variable(f"x{k}", labels)["yes"]
    variables = [option.variable for option in family.values()]
    for k in range(draw(st.integers(0, 2))):
        builder.factor(variables[k], variables[k + draw(st.integers(1, 5))])
    if draw(st.booleans()):
        builder.require(functional(family, per=draw(st.sampled_from(["head", "tail"]))))
    if draw(st.integers(0, 3)) == 0:
        builder.require(at_least(draw(st.integers(1, 7)), family.values()))
    builder.require(acyclic(family), "no cycle")
    return builder.build()


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
@given(data=st.data())
def test_every_exact_engine_has_the_answers_of_exhaustive_search(make, data):
    engine = make()
    if isinstance(engine, CpSat | Toulbar2) and not engine.installed():
        pytest.skip("the package is not installed")
    space = data.draw(arcs_between())
    assert cut_rules(space)
    problem = data.draw(problems_of(space))
    try:
        best = Exhaustive().solve(space, problem)
    except InfeasibleSpace as error:
        with pytest.raises(InfeasibleSpace, match=re.escape(str(error))):
            engine.solve(space, problem)
        return
    found = engine.solve(space, problem)
    assert found.labels.tolist() == best.labels.tolist()
    assert found.status.tolist() == best.status.tolist()
    assert found.value.tolist() == best.value.tolist()


@pytest.mark.parametrize("engine", [RGS(restarts=5), ConstrainedBeam(width=2)])
@given(data=st.data())
def test_approximate_answers_close_no_cycle(engine, data):
    space = data.draw(arcs_between())
    try:
        found = engine.solve(space, data.draw(problems_of(space)))
    except InfeasibleSpace:
        return
    there = found.status <= 1
    assert space.holds(found.labels[there]).all()


@given(data=st.data())
@settings(max_examples=10)
def test_k_best_and_max_marginals(data):
    space = data.draw(arcs_between())
    scores = np.random.default_rng(data.draw(st.integers(0, 99))).normal(size=space.parts)
    judge = Judge(space)
    if not judge.feasible:
        return
    ranked = judge.ranked(scores)[:4]
    found = k_best(space, scores, len(ranked))
    assert [tuple(one.labels[0].tolist()) for one in found] == [best.labels for best in ranked]
    assert max_marginals(space, scores)[0] == pytest.approx(judge.max_marginals(scores), abs=1e-9)


@given(data=st.data())
@settings(max_examples=20)
def test_outputs_obey_all_rows_that_a_relaxation_violates(data):
    space = data.draw(arcs_between())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    columns = space.offsets[:-1] + np.array(Judge(space).outputs, dtype=np.int64).reshape(
        -1, len(space.variables)
    )
    outputs = np.zeros((len(columns), space.labels))
    outputs[np.arange(len(columns))[:, None], columns] = 1.0
    for power in (1, 3):
        rows = violated_rows(space, rng.random(space.labels) ** (1 / power))
        if rows is None:
            continue
        for r in range(len(rows)):
            own = slice(rows.indptr[r], rows.indptr[r + 1])
            totals = outputs[:, rows.indices[own]] @ rows.data[own]
            assert (totals <= rows.upper[r]).all()


@given(
    shares=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=12, max_size=12),
)
def test_cuts_are_violated_by_cycles_alone(shares):
    builder = SpaceBuilder()
    pairs = list(permutations(range(4), 2))
    rule = acyclic({pair: builder.option(str(pair)) for pair in pairs})
    values = np.array(shares)
    found = violated_cycles(rule, values)
    for cycle in found:
        steps = [rule.nodes[arc] for arc in cycle]
        assert {a for a, _ in steps} == {b for _, b in steps}
        assert len({a for a, _ in steps}) == len(steps)
        assert values[cycle].sum() > len(cycle) - 1
    every = [
        order
        for length in (2, 3, 4)
        for order in permutations(range(4), length)
        if sum(values[pairs.index(step)] for step in pairwise((*order, order[0]))) > length - 0.999
    ]
    assert bool(found) is bool(every)
