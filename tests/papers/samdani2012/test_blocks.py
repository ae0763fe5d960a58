"""Engines for citations: exact whatever the nodes, the words and the way rules are written."""

import numpy as np
import pytest

from papers.samdani2012.blocks import Blocks, Hurried
from papers.samdani2012.corpora import made_up_citation
from papers.samdani2012.fields import by_rows, by_starts, citations
from rote import Exact, Milp, Problem, Status, clamp

# Borders and words that rules look at, and words that none looks at.
WORDS = (",", ".", "(", "7", "12-13", "1999", "pp", "June", "Proc", "eds", "CA", "note", "Maps")


def random_spaces(seed, count, most=7):
    """Spaces of citations of random words, some of one segment."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = tuple((word,) for word in rng.choice(WORDS, rng.integers(1, most + 1)).tolist())
        yield citations().frame(x).space, rng


@pytest.mark.parametrize("nodes", [1, 300])
def test_hurried_is_exact_however_few_nodes_it_has(nodes):
    rng = np.random.default_rng(0)
    x, _ = made_up_citation(rng)
    space = citations().frame(x).space
    scores = rng.normal(size=(3, space.parts))
    found, judge = Hurried(nodes).solve(space, scores), Exact().solve(space, scores)
    assert found.optimal.all()
    assert found.value == pytest.approx(judge.value)
    assert np.array_equal(found.labels, judge.labels)


@pytest.mark.parametrize("one_block", [by_rows, by_starts])
def test_blocks_finds_the_best_citation(one_block):
    rng = np.random.default_rng(1)
    task = citations(one_block)
    for _ in range(4):
        x, y = (part[:11] for part in made_up_citation(rng))  # few segments, for the judge's sake
        space = task.frame(x).space
        scores = rng.normal(size=(2, space.parts))
        found, judge = Blocks().solve(space, scores), Milp().solve(space, scores)
        assert found.value == pytest.approx(judge.value)
        assert np.array_equal(found.labels, judge.labels)
        gold = np.array([task.encode(x, y)])
        names = [variable.name for variable in space.variables]
        given = dict(zip(names[:3], (task.labels[a] for a in gold[0, :3]), strict=True))
        clamped = clamp(space, scores[:1], given)
        assert Blocks().solve(space, clamped).value == pytest.approx(
            Milp().solve(space, clamped).value
        )


def test_blocks_has_the_values_of_exact_on_random_citations():
    segments = set()
    for space, rng in random_spaces(seed=3, count=40):
        scores = rng.normal(size=(3, space.parts))
        found, judge = Blocks().solve(space, scores), Exact().solve(space, scores)
        assert judge.optimal.all()
        assert found.optimal.all()
        assert found.value == pytest.approx(judge.value)
        assert space.holds(found.labels).all()
        segments.add(len(space.variables))
    assert segments >= {1, 2, 3, 4, 5}


def test_blocks_keeps_away_from_closed_labels_and_says_where_nothing_is_left():
    left = []
    for space, rng in random_spaces(seed=4, count=40, most=4):
        scores = rng.normal(size=(2, space.parts))
        given = Problem(space, scores, closed=rng.random((2, space.labels)) >= 0.4)
        found, judge = Blocks().solve(space, given), Exact().solve(space, given)
        assert found.status.tolist() == judge.status.tolist()
        assert found.value == pytest.approx(judge.value, nan_ok=True)
        left += (judge.status == Status.OPTIMAL).tolist()
    assert 0 < sum(left) < len(left)


def test_blocks_takes_one_of_equal_outputs():
    for space, _ in random_spaces(seed=5, count=10):
        found = Blocks().solve(space, np.zeros((1, space.parts)))
        assert found.value.tolist() == [0.0]
        assert space.holds(found.labels).all()
