"""A hidden Markov model by counting: its shares by hand, and what it predicts by enumeration."""

import itertools

import numpy as np
import pytest

from papers.samdani2012.corpora import made_up_line
from papers.samdani2012.counts import Counts
from papers.samdani2012.fields import INSIDE, citations, emissions, seminars, shape_of
from rote import Model, Tagging, prepare


def test_counts_are_the_logarithms_of_shares():
    x = (("Maps",), ("of",), ("Maps",), ("9",))
    counts = Counts.of(("a", "b"), [(x, ("a", "a", "b", "b"))])
    # A word of label a was seen once, and so was one of b; 0.1 stands for what was not seen.
    news = np.array([1.3, 1.3]) + 0.5
    share = news / (2 + news)
    assert counts.shapes["x"] == pytest.approx(np.log(share * np.array([1.1, 0.1]) / news))
    seen = (1 - share) / 2 + share * 0.1 * 2 / 4
    assert counts.words["Maps"] + counts.shapes["Xx"] == pytest.approx(np.log(seen))
    assert counts.pairs == pytest.approx(np.log([[1.1 / 2.2, 1.1 / 2.2], [0.1 / 1.2, 1.1 / 1.2]]))


def test_an_hmm_of_counts_scores_an_output_by_its_shares():
    rng = np.random.default_rng(2)
    examples = [made_up_line(rng) for _ in range(20)]
    labels = seminars().labels
    counts = Counts.of(labels, examples)
    task = Tagging(labels, emissions)
    prepared = prepare(task, [x for x, _ in examples])
    weights = prepared.layout.zeros()
    counts.write(prepared.layout, weights)
    x = examples[0][0][:3]
    found = Model(task, prepared.layout, weights).predict([x])[0]

    def score(output):
        emitted = (
            (counts.words[word] + counts.shapes[shape_of(word)])[a]
            for (word,), a in zip(x, output, strict=True)
        )
        return sum(emitted) + sum(counts.pairs[a, b] for a, b in itertools.pairwise(output))

    best = max(itertools.product(range(len(labels)), repeat=len(x)), key=score)
    assert found == tuple(labels[a] for a in best)


def test_what_is_inside_a_segment_counts_as_pairs_of_equal_labels():
    x, y = (("Maps",), ("of",), ("1",)), ("author", "author", "title")
    task = citations()
    counts = Counts.of(task.labels, [(x, y)])
    layout = prepare(task, [x]).layout
    weights = layout.zeros()
    counts.write(layout, weights)
    names = list(layout.indices["segment"].names())
    block = layout.block(weights, "label")
    assert block[names.index(INSIDE)] == pytest.approx(np.diag(counts.pairs))
    assert block[names.index("word=of")] == pytest.approx(counts.words["of"])
    assert block[names.index("shape=9")] == pytest.approx(counts.shapes["9"])
