"""Speed-up classifiers beside integer programs: rows, claims, and the paper's numbers."""

from dataclasses import replace

import pytest

from papers.pan2018.methods import (
    BOX,
    CONSTRAINED,
    GUROBI,
    HIGHS,
    ONE_BY_ONE,
    SEARCH,
    CustomSets,
    Method,
    Reached,
    name_of,
)
from papers.pan2018.speedup import (
    IN_PAPER,
    Found,
    _claims,
    _rows,
)
from papers.pan2018.stream import CITATIONS, SENTENCES, Share, ready
from rote import EntityRelationOutput, Exact

STUDY = "pan2018-speedup"
CHOSEN = {2: CustomSets(0.01, 90.0, 1.0, 0.1, 35.0), 8: CustomSets(0.01, 95.0, 1.0, 0.1, 5.0)}


@pytest.fixture(scope="module")
def case():
    """Sentences whose outputs are written by hand below."""
    made = ready(SENTENCES, Share(10, 0, 1, (0.1,)), 0)
    xs = [x for x in made.test.xs if len(x.entities) >= 2][:2]
    return replace(made, test=made.test._replace(xs=xs, ys=[right(x) for x in xs]))


def right(x):
    return EntityRelationOutput(("Peop",) * len(x.entities), {(0, 1): "Kill"})


def wrong(x):
    return EntityRelationOutput(("Peop",) * len(x.entities), {(1, 0): "Kill"})


def rows_of(outcome, name):
    return {row.method: row.metrics for row in outcome.rows if row.metrics["case"] == name}


def found_on(case, *, gurobi=None, **changed):
    """All methods are right and take 1 ms but for integer programs, which take 100."""
    base = Reached(case.test.ys, (1.0,), (1.0,), 1.0, 1.0)
    slow = base._replace(milliseconds=(100.0,), search_milliseconds=(100.0,))
    reached = {HIGHS: slow, BOX: base}
    if gurobi is not None:
        reached[GUROBI] = slow._replace(**gurobi)
    for width in CHOSEN:
        reached[name_of(width)] = base
        reached[name_of(width, "theta chosen")] = base._replace(skipped=40.0)
    for name, fields in changed.items():
        full = {"ours": name_of(8), "narrow": name_of(2), "lazy": name_of(2, "theta chosen")}
        full["exact"] = BOX
        reached[full[name]] = reached[full[name]]._replace(**fields)
    methods = [Method(name, Exact()) for name in reached]
    return Found(case, methods, reached, CHOSEN, {2: [3, 1], 8: [2, 1]}, (0, 500), 2)


def held(found):
    return [claim.held for claim in _claims(found)]


def test_there_is_a_row_for_each_method_of_both_tables(outcome):
    rows = rows_of(outcome, SENTENCES)
    plain = [HIGHS, BOX, SEARCH, CONSTRAINED, name_of(1), name_of(2)]
    names = [name for name in rows if name not in (GUROBI, ONE_BY_ONE)]
    assert ONE_BY_ONE in rows
    assert names[:6] == plain
    for width in (1, 2):
        assert {name_of(width, f"theta = {theta}") for theta in ("0", "0.25", "0.5")} <= set(rows)
    assert [*rows_of(outcome, CITATIONS)][-2:] == [CONSTRAINED, name_of(2)]


def test_the_integer_program_is_its_own_measure_and_exact_answers_alike(outcome):
    for name, metric in ((SENTENCES, "relation_f1"), (CITATIONS, "accuracy")):
        rows = rows_of(outcome, name)
        assert rows[HIGHS][f"{metric}_ilp"] == rows[BOX][f"{metric}_ilp"] == 100
        assert rows[HIGHS][metric] == rows[BOX][metric]
        assert outcome.settings["cases"][name][
            "the black box stands for the ILP when speed-ups learn; answers that differ"
        ].startswith("0 of ")
    assert [claim.held for claim in outcome.claims if "answers as the integer" in claim.claim] == [
        True
    ] * 2


def test_all_answers_of_speed_ups_obey_and_search_by_itself_does_not(outcome):
    rows = rows_of(outcome, SENTENCES)
    for name, row in rows.items():
        assert row["validity"] >= row["validity_before"]
        assert row["validity"] == 1 or name == SEARCH
    assert rows[SEARCH]["validity"] < rows[name_of(2)]["validity_before"] <= 1


def test_more_is_skipped_the_smaller_theta_is(outcome):
    rows = rows_of(outcome, SENTENCES)
    for width in (1, 2):
        thetas = [rows[name_of(width, f"theta = {theta}")] for theta in ("0", "0.25", "0.5")]
        skipped = [row["skipped_percent"] for row in thetas]
        assert skipped == sorted(skipped, reverse=True)
        assert skipped[0] > 0
        assert rows[name_of(width)]["skipped_percent"] == 0


def test_the_papers_numbers_stand_beside_the_corpus(case):
    real = replace(case, source="conll04 and entity_stream")
    rows = {row.method: row for row in _rows(found_on(real, gurobi={}), whole=True)}
    assert rows[GUROBI].paper == IN_PAPER[GUROBI]
    assert rows[GUROBI].paper["milliseconds"] == 239
    assert rows[name_of(2)].paper["relation_f1"] == 48.4
    assert rows[name_of(8)].paper == {}
    assert all(row.paper == {} for row in _rows(found_on(real), whole=False))


def test_all_bars_can_be_held(case):
    assert held(found_on(case)) == [True] * 5
    for gurobi, solver in ((None, HIGHS), ({}, GUROBI)):
        (aside,) = (
            claim.claim
            for claim in _claims(found_on(case, gurobi=gurobi))
            if "Features aside" in claim.claim
        )
        assert aside.endswith(solver)


def test_answers_other_than_those_of_the_program_are_no_proof(case):
    other = [wrong(case.test.xs[0]), case.test.ys[1]]
    assert held(found_on(case, exact={"outputs": other}))[0] is False
    assert held(found_on(case)._replace(compared=(1, 500)))[0] is False


def test_the_width_is_the_one_that_agrees_best_on_held_out_examples(case):
    bad = {"outputs": [wrong(x) for x in case.test.xs]}
    assert found_on(case).width == 8
    assert held(found_on(case, narrow=bad))[1] is True
    assert held(found_on(case, ours=bad))[1] is False


def test_accuracy_is_not_enough_if_outputs_do_not_obey_by_themselves(case):
    assert held(found_on(case, ours={"validity_before": 0.99}))[1] is True
    assert held(found_on(case, ours={"validity_before": 0.98}))[1] is False
    assert held(found_on(case, ours={"validity": 0.999}))[1] is False


@pytest.mark.parametrize(("milliseconds", "expected"), [(37.0, True), (37.1, False)])
def test_speed_is_judged_with_features_and_without(case, milliseconds, expected):
    claims = [*_claims(found_on(case, ours={"milliseconds": (milliseconds,)}))]
    assert claims[2].held is expected
    assert f"{milliseconds:.0f} ms against 100 ms" in claims[2].evidence
    slow = {"search_milliseconds": (2.0,)}
    assert held(found_on(case, ours=slow))[3] is True
    slower = {"search_milliseconds": (2.1,)}
    assert held(found_on(case, ours=slower))[3] is False


def test_gurobi_is_the_measure_of_search_where_it_is_there(case):
    assert held(found_on(case, gurobi={})) == [True] * 6
    quick = {"milliseconds": (2.0,), "search_milliseconds": (10.0,)}
    assert held(found_on(case, gurobi=quick)) == [True, True, True, False, False, True]


def test_skipping_has_to_be_much_and_to_lose_nothing(case):
    assert found_on(case).skipping == 2
    assert held(found_on(case, lazy={"skipped": 29.0}))[4] is False
    bad = [wrong(case.test.xs[0]), case.test.ys[1]]
    assert held(found_on(case, lazy={"outputs": bad}))[4] is False
    # What the same width reaches without a theta is the measure.
    assert held(found_on(case, lazy={"outputs": bad}, narrow={"outputs": bad}))[4] is True


def test_where_no_theta_is_good_enough_nothing_is_skipped(case):
    none = {
        width: CustomSets(own.step, own.agreement, own.was_feasible)
        for width, own in CHOSEN.items()
    }
    (*_, claim) = _claims(found_on(case)._replace(chosen=none))
    assert not claim.held
    assert "No theta was good enough" in claim.evidence
    one = {2: CHOSEN[2], 8: none[8]}
    (*_, claim) = _claims(found_on(case)._replace(chosen=one))
    assert claim.held
    assert "b = 8" not in claim.evidence


def test_of_widths_that_agree_as_well_the_one_whose_outputs_obey_is_chosen(case):
    def width(**chosen):
        own = {int(name[1:]): CustomSets(0.01, *given) for name, given in chosen.items()}
        return found_on(case)._replace(chosen=own).width

    assert width(b2=(95.0, 0.9), b4=(94.0, 1.0)) == 2
    assert width(b2=(95.0, 0.98), b4=(95.0, 0.97)) == 2
    assert width(b2=(95.0, 0.98), b4=(95.0, 0.99), b8=(95.0, 0.99)) == 8
