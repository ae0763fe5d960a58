"""Table 1 on made-up data: what is compared, what it is chosen by, and what is claimed."""

import pytest

from papers.base import Settings
from papers.ma2019 import accuracy as ma_accuracy
from papers.ma2019.accuracy import (
    QUICK,
    RGS0,
    RGSA,
    Comparison,
    Result,
    _claims,
    _rows,
    compare,
    limited,
    made_up_case,
)
from rote import MissingDependency

STUDY = "ma2019-accuracy"


def result(case, method, values, *, alpha=0.5, paper=None):
    trials = [{"accuracy": value} for value in values]
    return Result(case, method, trials, 1.0, 2.0, {"alpha": alpha}, paper or {})


def test_every_method_has_a_row_where_it_can_be(outcome):
    methods = {}
    for row in outcome.rows:
        methods.setdefault(row.metrics["case"], []).append(row.method)
    assert methods == {
        "stress": ["IID", "RGS(0)", "RGS(α)", "Exact", "BiLSTM", "BiLSTM-RGS"],
        "yeast": ["IID", "RGS(0)", "RGS(α)"],
    }


def test_alpha_is_the_best_on_validation_examples(outcome):
    for case, sweep in outcome.settings["validation by α"].items():
        (alpha,) = (
            row.metrics["alpha"]
            for row in outcome.rows
            if row.method == RGSA and row.metrics["case"] == case
        )
        assert sweep[f"{alpha:g}"] == max(sweep.values())


def test_without_the_package_for_networks_everything_else_is_there(monkeypatch):
    def missing(*args):
        raise MissingDependency("no torch")

    monkeypatch.setattr(ma_accuracy, "bilstm", missing)
    outcome = compare(QUICK, Settings(quick=True))
    assert outcome.settings["left out"] == ["stress: no torch"]
    assert {row.method for row in outcome.rows} == {"IID", "RGS(0)", "RGS(α)", "Exact"}


def test_choices_are_never_made_on_test_examples():
    case = made_up_case("yeast")
    blind = limited(case, None)
    object.__setattr__(blind, "_test", None)
    found = Comparison(blind, QUICK, 0)
    with pytest.raises(AttributeError):
        list(found.searched())  # which come as far as the test examples
    assert found.alpha in QUICK.alphas
    assert set(found.reached) == set(QUICK.alphas)


def test_rows_have_the_mean_and_the_spread_of_trials():
    (row,) = _rows([result("stress", RGSA, [80.0, 82.0], paper={"accuracy": 81.0})], whole=True)
    assert row.metrics["accuracy"] == 81
    assert row.metrics["deviation"] == pytest.approx(2**0.5)
    assert row.paper == {"accuracy": 81.0}


@pytest.mark.parametrize(("reached", "held"), [(81.0, True), (80.99, False)])
def test_a_bar_is_reached_or_not(reached, held):
    pair = [
        result("stress", RGS0, [reached]),
        result("stress", RGSA, [reached], paper={"accuracy": 81.0}),
    ]
    bar, order = _claims(pair, whole=True)
    assert (bar.held, order.held) == (held, True)
    assert len(list(_claims(pair, whole=False))) == 1


@pytest.mark.parametrize(
    ("drawn", "likely", "held"),
    [
        ([80.0, 80.0], [79.81, 79.81], True),
        ([80.0, 80.0], [79.79, 79.79], False),
        ([79.0, 81.0], [79.0, 79.0], True),
    ],
)
def test_what_trials_differ_by_is_no_difference(drawn, likely, held):
    (claim,) = _claims([result("odd", RGS0, drawn), result("odd", RGSA, likely)], whole=True)
    assert claim.held is held


def test_nothing_is_claimed_of_a_search_and_itself():
    pair = [result("odd", method, [80.0], alpha=0.0) for method in (RGS0, RGSA)]
    assert list(_claims(pair, whole=True)) == []
