"""The demo tells its story: what the rules forbid, what they change, and that it is proved."""

import io
from itertools import product

import numpy as np
import pytest
from rich.console import Console

from rote.cli.demo import SCORES, demo, render
from rote.engines import Status


@pytest.fixture(scope="module")
def result():
    return demo()


@pytest.fixture(scope="module")
def text(result):
    console = Console(record=True, width=80, no_color=True, file=io.StringIO())
    render(result, console)
    return console.export_text()


def score(variable):
    return np.array([SCORES[variable.name].get(label, 0.0) for label in variable.labels])


def test_every_decision_is_scored(result):
    assert list(SCORES) == [v.name for v in result.space.variables]


def test_the_answer_without_rules_is_the_best_label_of_each_decision(result):
    best = {name: max(own, key=own.get) for name, own in SCORES.items()}
    assert result.space.decode(result.without_rules) == [best]
    assert not result.space.holds(result.without_rules).any()


def test_the_answer_with_rules_is_the_best_that_obeys_them(result):
    space = result.space
    assert result.with_rules.status.tolist() == [Status.OPTIMAL]
    assert space.holds(result.with_rules.labels).all()
    # Once the entities have labels, each pair is for itself: its best two relations that obey.
    entities = np.array(list(product(range(4), repeat=3)))
    best = np.zeros(len(entities))
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        batch = np.zeros((len(entities), 6, 6, 9), dtype=np.int64)  # "none" is label 0
        batch[..., :3] = entities[:, None, None, :]
        batch[..., space[f"r{i}_{j}"].index] = np.arange(6)[:, None]
        batch[..., space[f"r{j}_{i}"].index] = np.arange(6)
        held = space.holds(batch.reshape(-1, 9)).reshape(-1, 36)
        forth, back = (score(space[f"r{a}_{b}"]) for a, b in [(i, j), (j, i)])
        best += np.where(held, (forth[:, None] + back).ravel(), -np.inf).max(axis=1)
    best += sum(score(space[f"e{i}"])[entities[:, i]] for i in range(3))
    assert result.with_rules.value[0] == pytest.approx(best.max())
    assert result.with_rules.bound[0] == result.with_rules.value[0]


def test_the_rules_change_what_the_story_says(result):
    output = result.space.decode(result.with_rules.labels)[0]
    assert result.changed == ("e0", "r0_2", "r1_0", "r2_1")
    assert output["e0"] == "Peop"
    assert output["r0_1"] == "Work_For"
    assert output["r0_2"] == "Live_In"
    assert len(result.space.broken(result.without_rules)) == 4


def test_the_text_shows_sentence_answers_broken_rules_and_proof(text):
    rows = {" ".join(line.split()) for line in text.splitlines()}
    assert "London Loc 1.4, Peop 1.1, Org 0.2 Loc Peop *" in rows
    assert "London -> Riga Located_In 0.9, Live_In 0.8 Located_In Live_In *" in rows
    assert "Herald -> Riga none 0.9, OrgBased_In 0.7 none none" in rows
    assert "London , who edits the Herald , has never lived" in " ".join(text.split())
    assert "broken rules: 4 of 33" in text
    assert "✗1 Work_For(London, Herald) needs Peop and Org" in text
    assert "✗2 London and Herald are related in one direction at most" in text
    assert "broken rules: none of 33" in text
    assert "4 of 9 decisions change" in text
    assert "value without rules   10.70" in text
    assert "value with rules       9.90   optimal, found by" in text
    assert "bound                  9.90   equal to the value" in text


def test_the_text_fits_a_terminal_of_80_columns(text):
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert len(text.splitlines()) <= 42
    # Nothing is folded: every row of the table is one line.
    assert sum(" * " in f"{line} " for line in text.splitlines()) == 4
