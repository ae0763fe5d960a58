"""Names by the texts they are made of: the same as putting them together and looking them up."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rote.features import FeatureIndex, Lines, Names, Span
from rote.features import trie as module
from rote.features.trie import Lexicon

STARTS = ("x=", "y=", "-1 shape=", ">x=")
TEXT = st.sampled_from(("", "a", "b", "a=", "a b", "=", "ü"))
NAME = st.tuples(st.sampled_from(STARTS), st.lists(TEXT, min_size=1, max_size=3))


def put_together(start, texts):
    return start + " ".join(texts)


@given(st.lists(NAME, max_size=12), st.lists(NAME, max_size=12))
def test_numbers_are_those_of_names_that_are_put_together(listed, asked):
    known = list(dict.fromkeys(put_together(*name) for name in listed))
    names, growing = Names(known), Names()
    seen = {}
    for start, texts in asked:
        name = put_together(start, texts)
        number = seen.setdefault(name, len(seen))
        expected = known.index(name) if name in known else -1
        for each, right in ((names, expected), (growing, number)):
            columns = [each.texts([text]) for text in texts]
            assert each.say(start, *columns).tolist() == [right]
            spans = Span(each.texts(texts), np.array([0]), np.array([len(texts)]))
            assert each.say(start, spans).tolist() == [right]
    assert len(names) == len(known)
    assert growing.spelled(range(len(growing))) == list(seen)
    assert names.spelled(range(len(known))) == known


@given(
    st.lists(TEXT, min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6))),
)
def test_spans_are_the_texts_from_one_place_to_another(texts, spans):
    spans = [(min(a, len(texts)), min(b, len(texts))) for a, b in spans]
    begins, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    names = Names()
    own = names.texts(["one"] * len(spans))
    numbers = names.say("x=", own, Span(names.texts(texts), begins, ends), own)
    expected = [put_together("x=", ["one", *(texts[a:b] or [""]), "one"]) for a, b in spans]
    assert names.spelled(numbers.tolist()) == expected


def test_names_without_texts_and_no_names_at_all():
    names = Names(["all capitals", "bias", "x="])
    assert [names.number(name) for name in ("bias", "all capitals", "other")] == [1, 0, -1]
    assert names.say("x=", Span(names.texts([]), np.array([0]), np.array([0]))).tolist() == [2]
    assert len(Names([])) == 0
    assert Names([]).number("bias") == -1
    assert Names().say("x=", np.zeros(0, np.int64)).tolist() == []


def test_a_tree_grows_as_often_as_it_must():
    names, expected = Names(), []
    for k in range(40):
        texts = [str(k * 50 + j) for j in range(50)]
        numbers = names.say("x=", names.texts(texts), names.texts(texts[::-1]))
        expected += [f"x={a} {b}" for a, b in zip(texts, texts[::-1], strict=True)]
        assert numbers.tolist() == list(range(50 * k, 50 * k + 50))
    assert names.spelled(range(2000)) == expected
    again = Names(expected)
    assert again.spelled(range(2000)) == expected
    texts = again.texts([str(k) for k in range(2000)])
    assert again.say("x=", texts[:50], texts[:50][::-1]).tolist() == list(range(50))


def lengths(names, words):
    return [(len(word), names.text(word)) for word in words]


def test_what_is_said_of_a_word_is_worked_out_once_and_lexica_stay_small(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 3)
    asked = []

    def describe(words):
        asked.extend(words)
        return [(len(word), 7) for word in words]

    lexicon = Lexicon(describe, 2)
    assert lexicon.rows(["a", "bb", "a"]).tolist() == [[1, 2, 1], [7, 7, 7]]
    assert lexicon.rows(["bb"]).tolist() == [[2], [7]]
    assert asked == ["a", "bb"]
    assert lexicon.rows(["ccc", "a", "dddd"]).tolist() == [[3, 1, 4], [7, 7, 7]]
    assert len(lexicon) == 3
    assert asked == ["a", "bb", "ccc", "a", "dddd"]
    # More at once than there is room for are answered all the same.
    many = [str(k) for k in range(9)]
    assert lexicon.rows(many).tolist() == [[1] * 9, [7] * 9]
    assert lexicon.rows(["a"]).tolist() == [[1], [7]]
    assert len(lexicon) == 1
    assert lexicon.rows([]).shape == (2, 0)


def test_threads_that_share_a_lexicon_get_the_same(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 4)
    names = Names(["x=a", "x=bb"])
    words = ["a", "bb", "ccc", "dddd", "eeeee", "a"]

    def ask(_):
        return names.lexicon(lengths, 2).rows(words).tolist()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(200)))
    right = names.texts(words).tolist()
    assert found == [[[1, 2, 3, 4, 5, 1], right]] * 200
    assert right[2:5] == [-1] * 3


@given(st.sets(NAME.map(lambda name: put_together(*name)), max_size=12))
def test_a_listing_has_the_columns_of_names_alone_and_behind_marks(listed):
    index = FeatureIndex(sorted(listed))
    index.freeze()
    listing = index.listing((">",))
    assert listing is index.listing((">",))
    names = listing.names
    numbers = np.arange(len(names))
    for mark, sign in enumerate(("", ">")):
        lines = Lines(len(names), (">",), np.full(len(names), mark))
        lines.add(numbers)
        found, ptr = listing.columns(lines)
        for k, name in enumerate(names.spelled(numbers.tolist())):
            both = [index.column(each) for each in dict.fromkeys((name, sign + name))]
            assert found[ptr[k] : ptr[k + 1]].tolist() == [column for column in both if column >= 0]
    for name in listed:
        assert names.numbers([name.removeprefix(">")]) >= 0


def test_names_are_told_apart_by_all_that_is_in_them():
    """Also where texts have separators of their own: equal names have one number."""
    known = ["x=a|b|c", "x=a", "x=", "x", "x=|", "y=a|b|c"]
    for names in (Names(known, "|"), Names(separator="|")):
        given = names.numbers(known).tolist()
        assert given == list(range(6))
        assert names.spelled(given) == known
        one, other = names.texts(["a", "a|b", "a|b|c", "", "|"]), names.texts(["b|c", "c", ""])
        assert names.say("x=", one[:2], other[:2]).tolist() == [0, 0]
        assert names.say("x=", one).tolist()[2:] == [0, 2, 4]
        assert names.say("y=", Span(one, np.array([1]), np.array([2]))).tolist()[0] != 5


def test_threads_may_meet_texts_with_separators_at_once():
    names = Names(["x=" + "|".join(map(str, range(40)))], "|")
    texts = [f"{a}|{b}" for a in range(40) for b in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: names.texts(texts).tolist(), range(16)))
    assert found == [found[0]] * 16
    assert len(set(found[0])) == len(texts)
