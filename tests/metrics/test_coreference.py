"""Coreference metrics against the examples of the papers, worked out, and brute force."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import DataError
from rote.metrics import coreference_scores

# The running example of Bagga and Baldwin (1998) and Luo (2005): three entities of 5, 2 and 5
# mentions. Of each answer: recall and precision of MUC, of B-cubed, and of CEAF_e.
KEY = ["12345", "67", "89ABC"]
ANSWERS = {
    "small joined to large": (
        ["12345", "6789ABC"],
        (9 / 9, 9 / 10),
        (1, (5 + 2 * 2 / 7 + 5 * 5 / 7) / 12),
        ((1 + 10 / 12) / 3, (1 + 10 / 12) / 2),
    ),
    "large joined to large": (
        ["1234589ABC", "67"],
        (9 / 9, 9 / 10),
        (1, (10 * 5 / 10 + 2) / 12),
        ((10 / 15 + 1) / 3, (10 / 15 + 1) / 2),
    ),
    "all in one": (
        ["123456789ABC"],
        (9 / 9, 9 / 11),
        (1, (5 * 5 / 12 + 2 * 2 / 12 + 5 * 5 / 12) / 12),
        ((10 / 17) / 3, (10 / 17) / 1),
    ),
    "all apart": (
        list("123456789ABC"),
        (0, 0),
        ((5 * 1 / 5 + 2 * 1 / 2 + 5 * 1 / 5) / 12, 1),
        ((2 / 6 + 2 / 3 + 2 / 6) / 3, (2 / 6 + 2 / 3 + 2 / 6) / 12),
    ),
}

# {a} {b c} {d e f}, and answers with other mentions than the key has.
OTHER_MENTIONS = {
    "some missing": (
        ["a", "de"],
        ((0 + 0 + 1) / (0 + 1 + 2), 1 / 1),
        ((1 + 0 + 2 * 2 / 3) / 6, (1 + 2) / 3),
        ((1 + 4 / 5) / 3, (1 + 4 / 5) / 2),
    ),
    "some too many": (
        ["a", "bcx", "defy", "z"],
        (3 / 3, (0 + 1 + 2 + 0) / (0 + 2 + 3 + 0)),
        (1, (1 + 2 * 2 / 3 + 3 * 3 / 4 + 0) / 9),
        ((1 + 4 / 5 + 6 / 7) / 3, (1 + 4 / 5 + 6 / 7) / 4),
    ),
    "both": (
        ["a", "bcx", "dy", "z"],
        ((0 + 1 + 0) / 3, (0 + 1 + 0 + 0) / (0 + 2 + 1 + 0)),
        ((1 + 2 + 1 / 3) / 6, (1 + 2 * 2 / 3 + 1 / 2) / 7),
        ((1 + 4 / 5 + 2 / 5) / 3, (1 + 4 / 5 + 2 / 5) / 4),
    ),
}


def check(key, answer, *expected):
    scores = coreference_scores([key], [answer])
    for found, (recall, precision) in zip(scores, expected, strict=True):
        assert (found.recall, found.precision) == pytest.approx((recall, precision))
        both = recall + precision
        assert found.f1 == pytest.approx(2 * recall * precision / both if both else 0)


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_example_of_the_papers(answer):
    check(KEY, *ANSWERS[answer])


@pytest.mark.parametrize("answer", OTHER_MENTIONS)
def test_mentions_that_only_one_side_has(answer):
    check(["a", "bc", "def"], *OTHER_MENTIONS[answer])


def test_the_published_values_of_the_example():
    # Three decimals, as Luo (2005) and Bagga and Baldwin (1998) print them.
    scores = [coreference_scores([KEY], [answer]) for answer, *_ in ANSWERS.values()]
    assert [round(found.ceaf_e.f1, 3) for found in scores] == [0.733, 0.667, 0.294, 0.178]
    assert [round(found.b_cubed.precision, 3) for found in scores[:2]] == [0.762, 0.583]


def test_documents_are_added_up_before_anything_is_divided():
    scores = coreference_scores([["ab", "cd"], ["abcd"]], [["ab", "c", "d"], ["ab", "cd"]])
    assert scores.muc.recall == (1 + 2) / (2 + 3)
    assert scores.muc.precision == (1 + 2) / (1 + 2)
    assert scores.b_cubed.recall == ((2 + 2 * 1 / 2) + 4 * 2 / 4) / (4 + 4)
    assert scores.ceaf_e.recall == pytest.approx(((1 + 2 / 3) + 4 / 6) / (2 + 1))
    assert scores.ceaf_e.precision == pytest.approx(((1 + 2 / 3) + 4 / 6) / (3 + 2))


def test_mentions_of_two_documents_are_never_the_same():
    apart = coreference_scores([["a"], ["a"]], [["a"], ["b"]]).b_cubed
    assert (apart.found, apart.true) == (1, 2)


def test_single_mentions_count_except_for_muc():
    scores = coreference_scores([["a", "b"]], [["a", "b"]])
    assert (scores.muc.f1, scores.b_cubed.f1, scores.ceaf_e.f1) == (0, 1, 1)
    assert scores.conll == pytest.approx(2 / 3)


@pytest.mark.parametrize(("gold", "predicted"), [([], []), (["ab"], []), ([], ["ab"])])
def test_a_document_without_clusters_scores_zero(gold, predicted):
    assert [found.f1 for found in coreference_scores([gold], [predicted])] == [0, 0, 0]


@st.composite
def documents(draw):
    """Clusters of some of the mentions 0 to 6, at most 5 of them."""
    home = draw(st.lists(st.integers(0, 5), min_size=7, max_size=7))
    return [
        [mention for mention, number in enumerate(home) if number == own]
        for own in range(5)
        if own in home
    ]


corpora = st.lists(st.tuples(documents(), documents()), min_size=1, max_size=3)


def by_mentions(gold, predicted):
    """B-cubed recall as it was first defined, mention by mention."""
    total = 0.0
    for cluster in gold:
        for mention in cluster:
            other = next((set(p) for p in predicted if mention in p), set())
            total += len(other & set(cluster)) / len(cluster)
    return total


def by_parts(gold, predicted):
    """MUC's numerator from the partition itself."""
    total = 0
    for cluster in gold:
        parts = [set(cluster) & set(p) for p in predicted]
        alone = set(cluster).difference(*map(set, predicted))
        total += len(cluster) - len([part for part in parts if part]) - len(alone)
    return total


def by_every_alignment(gold, predicted):
    """The best sum of φ4 over all one-to-one alignments, tried one after the other."""
    few, many = sorted([gold, predicted], key=len)
    return max(
        sum(2 * len(set(a) & set(b)) / (len(a) + len(b)) for a, b in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )


@given(corpora)
def test_every_numerator_agrees_with_brute_force(corpus):
    gold, predicted = zip(*corpus, strict=True)
    judges = (by_parts, by_mentions, by_every_alignment)
    for found, judge in zip(coreference_scores(gold, predicted), judges, strict=True):
        assert found.found == pytest.approx(sum(judge(g, p) for g, p in corpus))
        assert found.kept == pytest.approx(sum(judge(p, g) for g, p in corpus))


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([["ab", "ca"]], [["abc"]], "gold document 0: mention 'a' is given twice"),
        ([["a"], ["a"]], [["a"], ["aa"]], "predicted document 1: mention 'a' is given twice"),
        ([["ab"]], [["ab", ""]], "predicted document 0: a cluster is empty"),
        ([["ab"]], [], "as many predicted documents"),
        ([], [], "there are no documents"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(gold, predicted, message):
    with pytest.raises(DataError, match=message):
        coreference_scores(gold, predicted)
