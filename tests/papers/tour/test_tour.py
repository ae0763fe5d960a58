"""The tour: one row per method, claims that can be checked, the same figures every time."""

from dataclasses import replace

import numpy as np
import pytest

from papers.base import Settings
from papers.tour import tour
from papers.tour.methods import (
    AMORTIZED,
    DECOMPOSED,
    EXACT,
    GREEDY,
    HIGHS,
    IBT,
    LO,
    RULED,
    SPEEDUP,
    Plan,
)
from papers.tour.tour import CORPUS, LEGEND, go_round, sentences_of
from tests.papers.studies import TINY as PLANS
from tests.papers.studies import run_tiny

STUDY = "tour"
TINY = PLANS[STUDY]
METHODS = [LO, RULED, IBT, EXACT, HIGHS, AMORTIZED, DECOMPOSED, GREEDY, SPEEDUP]


@pytest.fixture(scope="module")
def rows(outcome):
    return {row.method: row.metrics for row in outcome.rows}


def test_there_is_a_row_per_method_and_the_legend_explains_all_rows_and_columns(rows):
    assert list(rows) == METHODS
    for metrics in rows.values():
        assert [*METHODS, *metrics] == list(LEGEND)
        assert all(metrics[name] >= 0 for name in metrics)


def test_only_the_method_without_rules_breaks_some(outcome, rows):
    assert rows[LO]["obey_percent"] < 100
    assert all(rows[name]["obey_percent"] == 100 for name in METHODS[1:])
    assert outcome.claims[0].held
    assert f"{rows[LO]['obey_percent']:.4g} %" in outcome.claims[0].evidence


def test_calls_are_counted_where_a_solver_is_asked(rows):
    every = TINY.train * TINY.iterations
    calls = {name: (m["calls_to_learn"], m["calls_to_predict"]) for name, m in rows.items()}
    assert calls[LO] == (0, 0)
    assert calls[RULED] == (0, TINY.test)
    assert calls[IBT] == calls[EXACT] == calls[HIGHS] == (every, TINY.test)
    assert calls[AMORTIZED][0] < every
    assert calls[DECOMPOSED][1] == TINY.test
    assert calls[GREEDY] == (every, 0)
    assert calls[SPEEDUP] == (every + TINY.unlabelled * TINY.epochs, 0)


def test_exact_engines_prove_every_answer_and_searches_some(rows):
    for name in (RULED, IBT, EXACT, HIGHS, AMORTIZED, DECOMPOSED):
        assert rows[name]["proved_percent"] == 100
    for name in (LO, GREEDY, SPEEDUP):
        assert rows[name]["proved_percent"] < 100


def test_the_same_weights_reach_the_same(outcome, rows):
    for name in (HIGHS, AMORTIZED):
        for measure in ("entity_f1", "relation_f1"):
            assert rows[name][measure] == rows[EXACT][measure]
    same = [claim for claim in outcome.claims if "to the last bit" in claim.claim]
    assert len(same) == 2
    assert all(claim.held for claim in same)


def test_every_stretch_has_its_name():
    told, done = [], []
    settings = Settings(progress=lambda *step: done.append(step), doing=told.append)
    go_round(replace(TINY, train=20, iterations=1), settings)
    assert told == ["reading sentences", *METHODS]
    assert done[-1][0] == done[-1][1]


def test_a_claim_fails_where_numbers_speak_against_it(outcome, monkeypatch):
    taken = []

    def spoiled(*given):
        for each in methods(*given):
            weights = each.learned.weights
            if each.name == AMORTIZED:
                weights = np.nextafter(weights, 1.0)
            taken.append(each.name)
            yield each._replace(learned=each.learned._replace(weights=weights))

    methods = tour.take
    monkeypatch.setattr(tour, "take", spoiled)
    other = run_tiny("tour").record
    assert taken == METHODS
    verdicts = zip(outcome.claims, other.claims, strict=True)
    changed = [two.claim for one, two in verdicts if one.held is not two.held]
    assert changed == [
        "Amortized inference learns the same weights, to the last bit, with fewer solver calls"
    ]
    assert "weights are not equal" in other.claims[3].evidence


def test_made_up_sentences_are_split_without_overlap():
    given = sentences_of(TINY, 0)
    assert [len(part) for part in given[1:]] == [40, 40, 30]
    assert len({sentence.id for part in given[1:] for sentence in part}) == 110
    assert given != sentences_of(TINY, 1)


@pytest.mark.usefixtures("real_data")
def test_the_corpus_is_taken_where_it_is_there():
    given = sentences_of(Plan(), 0)
    assert given.source == CORPUS
    assert [len(part) for part in given[1:]] == [250, 600, 200]
    assert len({sentence.id for part in given[1:] for sentence in part}) == 1050
