"""What experiments share: methods are counted in one way, and sentences are split as said."""

import numpy as np
import pytest

from papers.chang2015.shared import (
    ADAPTIVE,
    AUTO,
    BASELINE,
    CONDITION,
    Method,
    all_sentences,
    condition,
    costs,
    objectives,
    related_sentences,
    sentence_bench,
)
from rote import Exact, StructuredSVM, fit
from tests.papers.studies import studied

SVM = StructuredSVM(0.1, delta=0.1, iterations=8, online_epochs=0)


@pytest.fixture(scope="module")
def bench():
    return sentence_bench(related_sentences(40, 0))


@pytest.fixture(scope="module")
def found(bench):
    methods = (BASELINE, CONDITION, ADAPTIVE, condition(1.0), AUTO)
    return {method.name: bench.train(method, SVM, Exact()) for method in methods}


def test_the_baseline_is_training_without_a_wrapper(bench, found):
    alone = fit(SVM, bench.model, bench.learned)
    baseline = found["baseline"]
    assert np.array_equal(baseline.weights, alone.weights)
    assert baseline.calls == baseline.inferences == 8 * len(bench.learned)
    assert baseline.calls_percent == 100
    assert 0 < baseline.counters.distinct_outputs < baseline.inferences


@pytest.mark.parametrize("name", ["epsilon=0", "auto"])
def test_exact_methods_learn_the_same_weights_with_fewer_calls(found, name):
    assert found[name].same_weights(found["baseline"])
    assert found[name].same_objective(found["baseline"])
    # What else it costs to know margins, which the condition needs to break ties, is counted too.
    searched = found[name].counters.second_bests
    assert found[name].calls - searched < found["baseline"].calls


def test_a_method_is_exact_if_all_of_its_stages_are():
    assert [m.exact for m in (BASELINE, CONDITION, AUTO)] == [True] * 3
    assert [m.exact for m in (ADAPTIVE, condition(0.1))] == [False] * 2


def test_stages_follow_each_other(bench):
    # The first two stages stop by their rule only, so this takes more iterations than one stage.
    learner = StructuredSVM(0.1, delta=5.0, iterations=60, online_epochs=0)
    told = bench.train(ADAPTIVE, learner, Exact()).told
    assert list(dict.fromkeys(measures["epsilon"] for measures in told)) == [10.0, 0.1, 0.0]


def test_costs_are_told_beside_those_of_the_baseline(found):
    own = costs(found["auto"], found["baseline"])
    assert own["inferences"] == found["auto"].inferences
    assert own["solver_calls"] == found["auto"].calls
    assert own["calls_percent"] == 100 * own["solver_calls"] / own["inferences"]
    assert own["speedup"] == pytest.approx(
        found["baseline"].counters.seconds / own["inference_seconds"]
    )
    assert own["training_seconds"] >= own["inference_seconds"]
    assert own["iterations"] == 8


def test_objectives_say_what_is_lost_and_whether_weights_are_the_same(found):
    baseline = found["baseline"]
    same = objectives(found["auto"], baseline, 2 * baseline.dual)
    assert same["dual_objective"] == baseline.dual
    assert same["dual_lost_percent"] == pytest.approx(50)
    assert same["same_weights"] == "yes"
    assert "largest_m" not in same
    other = objectives(found["epsilon=1"], baseline, baseline.dual)
    assert other["same_weights"] == "no"
    assert other["guaranteed_share"] == pytest.approx(1 / (1 + other["largest_m"]))


def test_only_one_epsilon_of_a_condition_has_the_guarantee_of_theorem_1(found, bench):
    assert found["adaptive"].guarantee == {}
    by_gap = bench.train(Method("by gap", "auto", (0.1,)), SVM, Exact())
    assert by_gap.guarantee == {}


def test_related_sentences_have_relations_and_are_split_without_overlap():
    given = related_sentences(50, 0)
    assert (len(given.learn), len(given.judge)) == (40, 10)
    assert all(sentence.relations for sentence in given.learn + given.judge)
    assert len({s.id for s in given.learn + given.judge}) == 50
    assert given != related_sentences(50, 1)
    assert given == related_sentences(50, 0)


def test_all_sentences_are_not_only_related_ones():
    given = all_sentences(50, 0)
    assert (len(given.learn), len(given.judge)) == (40, 10)
    assert not all(sentence.relations for sentence in given.learn)


@pytest.mark.parametrize("study", ["chang2015-perceptron", "chang2015-scene"])
def test_auto_learns_the_same_weights_with_fewer_calls_whatever_the_solver(study):
    record = studied(study).record
    rows = {(row.metrics["solver"], row.method): row.metrics for row in record.rows}
    methods = list(dict.fromkeys(method for _, method in rows))
    assert list(rows) == [(solver, name) for solver in ("Exact", "Milp") for name in methods]
    for solver in ("Exact", "Milp"):
        baseline, auto = rows[solver, "baseline"], rows[solver, "auto"]
        assert baseline["solver_calls"] == baseline["inferences"] == auto["inferences"]
        assert auto["same_weights"] == "yes"
        assert auto["solver_calls"] < auto["inferences"]
    assert record.claims[0].held


@pytest.mark.usefixtures("real_data")
def test_the_corpus_is_split_as_everybody_does_where_all_of_it_is_asked_for():
    related, everything = related_sentences(1441, 0), all_sentences(5516, 0)
    assert related.source == "conll04, common split"
    assert (len(related.learn), len(related.judge)) == (1153, 288)
    assert (len(everything.learn), len(everything.judge)) == (4413, 1103)
    assert len(related_sentences(100, 0).learn) == 80
