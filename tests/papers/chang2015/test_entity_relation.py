"""The table on entities and relations: what is trained, counted and claimed."""

import json

import pytest

from papers.chang2015.entity_relation import (
    ALL,
    FULL,
    IN_PAPER,
    RELATED,
    STRICT_IN_PAPER,
    Case,
    cases,
)
from tests.papers.studies import TINY as PLANS

STUDY = "chang2015-er"
TINY = PLANS[STUDY]
FIELDS = {*Case._fields, "inferences", "solver_calls", "speedup", "ended", "dual_objective"}
CASES = list(cases(TINY))


def rows_of(outcome):
    return {
        (Case(*(row.metrics[name] for name in Case._fields)), row.method): row.metrics
        for row in outcome.rows
    }


def test_every_training_that_is_planned_has_a_row_with_all_fields(outcome):
    rows = rows_of(outcome)
    planned = [(case, method.name) for case, methods in cases(TINY).items() for method in methods]
    assert list(rows)[:-1] == planned
    for key in planned:
        assert {*FIELDS, "entity_f1", "relation_f1"} <= rows[key].keys()


def test_the_table_of_the_paper_is_planned():
    planned = cases(FULL)
    names = {method.name for method in planned[Case(RELATED, "Exact", 0.1)]}
    assert {*IN_PAPER, "auto"} <= names
    strict = {method.name for method in planned[Case(RELATED, "Exact", 0.01)]}
    assert {*STRICT_IN_PAPER, "auto"} <= strict
    for sentences in (RELATED, ALL):
        for solver in ("Milp", "Exact"):
            names = {method.name for method in planned[Case(sentences, solver, 0.1)]}
            assert {"baseline", "auto"} <= names
    for methods in cases(FULL).values():
        assert methods[0].name == "baseline"
        assert len({method.name for method in methods}) == len(methods)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_auto_learns_the_same_weights_with_fewer_calls(outcome, case):
    rows = rows_of(outcome)
    baseline, auto = rows[case, "baseline"], rows[case, "auto"]
    assert auto["same_weights"] == "yes"
    assert auto["dual_objective"] == baseline["dual_objective"]
    assert auto["solver_calls"] < baseline["solver_calls"] == baseline["inferences"]
    assert outcome.claims[0].held


def test_oracles_are_counted_with_the_baseline(outcome):
    for (_, method), metrics in rows_of(outcome).items():
        assert ("oracle_percent" in metrics) == (method == "baseline")
        assert 0 < metrics.get("oracle_percent", 1) < 100


def test_without_proof_fewer_calls_may_be_made_but_all_inferences_count(outcome):
    rows = rows_of(outcome)
    slack = rows[Case(RELATED, "Exact", TINY.delta), "1-slack"]
    assert (
        slack["inferences"]
        == slack["iterations"] * outcome.settings["related sentences"]["learned from"]
    )
    assert slack["solver_calls"] < slack["inferences"]


def test_a_plain_integer_program_is_timed_beside_ours(outcome):
    plain = outcome.settings["plain MIP call"]
    assert plain["problems"] == TINY.sample
    assert plain["off"] < 1e-6
    assert plain["times Milp"] == pytest.approx(plain["plain"] / plain["milp"])
    assert plain["times auto over Milp"] == pytest.approx(plain["plain"] / plain["amortized"])
    assert outcome.rows[-1].method == "plain MIP call"
    json.dumps(outcome.settings)


def test_all_sentences_take_fewer_iterations_and_fewest_with_the_slow_solver():
    for case, most in (
        (Case(RELATED, "Exact", 0.01), FULL.iterations),
        (Case(ALL, "Exact", 0.1), FULL.all_iterations),
        (Case(ALL, "Milp", 0.1), FULL.milp_iterations),
        (Case(RELATED, "Milp", 0.1), FULL.iterations),
    ):
        svm = FULL.svm(case, 3)
        assert (svm.iterations, svm.delta, svm.seed) == (most, case.delta, 3)
        assert (svm.online_epochs, svm.reuse) == (0, False)
