"""Fields under rules about words: against rules worked out by hand, and all outputs tried."""

import itertools

import numpy as np
import pytest

from papers.samdani2012.fields import (
    CITATION_LABELS,
    CITATION_WORDS,
    INSIDE,
    NOTHING,
    Fields,
    Sketch,
    by_rows,
    by_starts,
    can_be_blocks,
    citations,
    emissions,
    is_border,
    read_citation,
    read_seminar,
    seminars,
    shape_of,
    spans,
)
from rote import Exact, LabelError, Model, Tagging, one_of, prepare

REFERENCE = "A . Quill . On maps , 1997 , pp . 3-9 ."
FIELDS = ["author"] * 4 + ["title"] * 3 + ["date"] * 2 + ["pages"] * 4


def tokens(text):
    return tuple((word,) for word in text.split())


def each_one_block(labels, free=()):
    """Whether every label, but for the free ones, is one block."""
    blocks = [label for label, _ in itertools.groupby(labels) if label not in free]
    return len(blocks) == len(set(blocks))


def open_sketch(length, labels):
    return Sketch(tuple(range(length)), (tuple(labels),) * length)


def plain(length, one_block, labels=("a", "b", NOTHING)):
    return Fields(labels, emissions, lambda x: open_sketch(length, labels), None, one_block)


@pytest.mark.parametrize("one_block", [by_rows, by_starts])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 6])
def test_exactly_the_outputs_pass_whose_fields_are_one_block(length, one_block):
    task = plain(length, one_block)
    space = task.frame(tokens("w " * length)).space
    outputs = np.array(list(itertools.product(range(3), repeat=length)))
    named = [[task.labels[a] for a in output] for output in outputs]
    expected = [each_one_block(labels, free=(NOTHING,)) for labels in named]
    assert space.holds(outputs).tolist() == expected


@pytest.mark.parametrize("one_block", [by_rows, by_starts])
def test_the_best_output_is_that_of_all_outputs_tried(one_block):
    rng = np.random.default_rng(3)
    task = plain(6, one_block)
    space = task.frame(tokens("w " * 6)).space
    outputs = np.array(list(itertools.product(range(3), repeat=6)))
    possible = outputs[space.holds(outputs)]
    for _ in range(20):
        scores = rng.normal(size=space.parts)
        known_value = [scores[space.parts_of(output[None])[0]].sum() for output in possible]
        found = Exact().solve(space, scores)
        assert found.value[0] == pytest.approx(max(known_value))


def test_labels_of_a_citation_change_at_punctuation_and_at_numbers():
    sketch = read_citation(tokens("A . Quill . On maps 1997 ( x )"))
    assert sketch.starts == (0, 2, 4, 6, 7, 8)
    assert [is_border(*pair.split()) for pair in ("maps and", "maps ,", ", and", "4 pages")] == [
        False,
        False,
        True,
        True,
    ]


def test_words_of_a_citation_leave_some_labels_open():
    sketch = read_citation(tokens(REFERENCE))
    opened = dict(zip(sketch.starts, sketch.among, strict=True))
    assert opened[0] == ("author", "editor")
    assert opened[2] == CITATION_LABELS
    assert opened[7] == ("booktitle", "date")
    assert opened[9] == ("pages",)


@pytest.mark.parametrize(
    ("begin", "end", "label"),
    [(0, 4, "title"), (1, 2, "editor"), (7, 9, "note"), (9, 13, "author")],
    ids=["starts with a title", "changes inside", "a year in a note", "authors twice"],
)
def test_an_output_that_breaks_a_rule_does_not_obey(begin, end, label):
    wrong = list(FIELDS)
    wrong[begin:end] = [label] * (end - begin)
    assert not citations().is_feasible(tokens(REFERENCE), wrong)


def test_words_that_contradict_each_other_are_not_heeded():
    x = tokens("A . Quill . Technical journal , 1997 .")
    assert set(read_citation(x).among) == {("author", "editor"), CITATION_LABELS}
    twice = tokens("A . Quill . pp . 3-9 , eds . pp . 4-9 .")
    assert set(read_citation(twice).among) == {("author", "editor"), CITATION_LABELS}


def test_whether_blocks_are_possible_is_what_all_outputs_say():
    rng = np.random.default_rng(0)
    labels = ("a", "b", "c")
    subsets = [tuple(s) for k in (1, 2, 3) for s in itertools.combinations(labels, k)]
    for _ in range(200):
        among = [subsets[k] for k in rng.integers(len(subsets), size=5)]
        expected = any(each_one_block(output) for output in itertools.product(*among))
        assert can_be_blocks(among, labels) == expected


def test_segments_score_what_tokens_score_that_may_not_change_inside():
    """The chain over tokens, with a table for every pair that is no border, is the judge."""
    rng = np.random.default_rng(1)
    x = tokens(REFERENCE)
    sketch = read_citation(x)
    labels = ("author", "title", "pages")
    open_ = Sketch(sketch.starts, (labels,) * len(sketch.starts))
    task = Fields(labels, emissions, lambda x: open_)

    def stays(builder, variables):
        for t in range(1, len(variables)):
            if t not in sketch.starts:
                same = [(label, label) for label in labels]
                builder.require(one_of(variables[t - 1 : t + 1], same))
        by_rows_of_tokens(builder, variables)

    def by_rows_of_tokens(builder, variables):
        for label in labels:
            by_starts(builder, variables, label)

    judge = Tagging(labels, emissions, rules=stays)
    long, short = prepare(judge, [x]), prepare(task, [x])
    for _ in range(10):
        weights, own = rng.normal(size=long.layout.size), short.layout.zeros()
        pairs = long.layout.block(weights, "2 labels")
        short.layout.block(own, "2 labels")[:] = pairs
        block = short.layout.block(own, "label")
        for name in short.layout.indices["segment"].names():
            column = short.layout.indices["segment"].column(name)
            if name == INSIDE:
                block[column] = np.diag(pairs.reshape(3, 3))
            else:
                at = long.layout.indices["token"].column(name)
                block[column] = long.layout.block(weights, "label")[at]
        (expected,) = Model(judge, long.layout, weights).predict([x])
        (found,) = Model(task, short.layout, own).predict([x])
        assert found == expected


def test_an_output_is_refused_that_changes_inside_a_segment_or_has_another_label_or_length():
    task, x = citations(), tokens("On maps ,")
    with pytest.raises(LabelError, match="change only at borders"):
        task.encode(x, ["author", "title", "title"])
    with pytest.raises(LabelError, match="'nobody' is not a label"):
        task.encode(x, ["nobody"] * 3)
    with pytest.raises(LabelError, match="got 2 for 3 tokens"):
        task.encode(x, ["author"] * 2)


def test_shapes_keep_capitals_digits_and_punctuation():
    assert [shape_of(word) for word in ("McGraw-Hill", "1997a", "3-9", ".")] == [
        "XxXx-Xx",
        "9x",
        "9-9",
        ".",
    ]


def test_the_segments_of_a_line_are_tokens_but_where_only_nothing_is_possible():
    x = tokens("we will talk about Maps at 3 pm")
    sketch = read_seminar(x)
    assert spans(sketch, len(x)) == [(0, 4), (4, 5), (5, 6), (6, 7), (7, 8)]
    assert sketch.among[0] == (NOTHING,)
    assert sketch.among[3] == ("stime", "etime", "location", NOTHING)


@pytest.mark.parametrize(
    ("text", "labels", "is_feasible"),
    [
        ("Time : 3 pm", "O O stime stime", True),
        ("Time : 3 pm", "O O O O", False),
        ("Time : 3 pm", "O O etime etime", False),
        ("Time : 3 - 4", "O O stime O etime", True),
        ("Time : 3 - 4", "O O stime O stime", False),
        ("Host : Dr Quill", "O O speaker speaker", False),
        ("Who : Dr Quill", "O O speaker speaker", True),
        ("with Dr Quill", "O speaker speaker", True),
        ("with Dr Quill", "speaker speaker speaker", False),
    ],
)
def test_a_line_of_an_announcement_keeps_to_its_rules(text, labels, is_feasible):
    named = [NOTHING if label == "O" else label for label in labels.split()]
    for one_block in (by_rows, by_starts):
        assert seminars(one_block).is_feasible(tokens(text), named) == is_feasible


@pytest.mark.usefixtures("real_data")
def test_rules_are_broken_by_few_citations():
    from papers.data.cora_citations import load_cora_citations

    train = load_cora_citations()["train"]
    task = citations()
    assert sum(not task.is_feasible(example.x, example.y) for example in train) == 19
    for rule in CITATION_WORDS:
        broken = sum(
            any(
                rule.pattern.match(word) and label not in rule.fields
                for (word, _), label in zip(example.x, example.y, strict=True)
            )
            for example in train
        )
        assert broken <= 3, rule.name
