"""Feature templates against a slow reading of them, token by token, and on mistakes."""

import pickle
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rote import Tagging, prepare, show
from rote.errors import DataError, SettingError
from rote.features import (
    CHUNKING,
    POS_TAGGING,
    FeatureIndex,
    HashedIndex,
    Templates,
    VectorBuilder,
)
from rote.features.words import SIGNS, TEXTS
from tests.bundles import fields_of

COLUMNS = ("word", "pos")
SENTENCE = [("Rovers", "NNP"), ("beat", "VBD"), ("Hull", "NNP"), ("4-1", "CD")]


def slow_value(term, columns, tokens, at):
    """What a term is at one token: a text, True or False; None for a text outside."""
    if term in ("bias", "is_first", "is_last"):
        return {"bias": True, "is_first": at == 0, "is_last": at == len(tokens) - 1}[term]
    if "(" in term:
        name, _, inner = term.partition("(")
        value = slow_value(inner[:-1], columns, tokens, at)
        if name in SIGNS:
            return value is not None and SIGNS[name](value)
        if value is None:
            return None
        if name in TEXTS:
            return TEXTS[name](value)
        length = int(re.sub("[a-z]", "", name))
        return value[:length] if name.startswith("prefix") else value[-length:]
    column, offset = re.fullmatch(r"(\w+)\[(-?\d+)\]", term).groups()
    place = at + int(offset)
    return tokens[place][columns.index(column)] if 0 <= place < len(tokens) else None


def slow_rows(columns, templates, tokens):
    rows = []
    for at in range(len(tokens)):
        row = []
        for template in templates:
            values = [slow_value(term, columns, tokens, at) for term in template.split("|")]
            if len(values) == 1 and isinstance(values[0], bool):
                row += [template] * values[0]
            else:
                spoken = {None: "<edge>", True: "yes", False: "no"}
                row.append(f"{template}=" + "|".join(spoken.get(v, v) for v in values))
        rows.append(row)
    return rows


def in_any_order(rows):
    return [Counter(row) for row in rows]


texts = st.recursive(
    st.builds("{}[{}]".format, st.sampled_from(COLUMNS), st.integers(-3, 3)),
    lambda inner: st.builds(
        "{}({})".format,
        st.sampled_from([*TEXTS, "prefix1", "prefix3", "suffix2", "suffix12"]),
        inner,
    ),
    max_leaves=3,
)
signs = st.one_of(
    st.sampled_from(["bias", "is_first", "is_last"]),
    st.builds("{}({})".format, st.sampled_from(sorted(SIGNS)), texts),
)
templates = st.lists(texts | signs, min_size=1, max_size=4).map("|".join)
words = st.text("aB3-#", max_size=4)


@pytest.mark.parametrize(
    ("template", "first", "second", "last"),
    [
        ("is_first", ["is_first"], [], []),
        ("is_last", [], [], ["is_last"]),
        ("pos[1]", ["pos[1]=VBD"], ["pos[1]=NNP"], ["pos[1]=<edge>"]),
        ("word[9]", ["word[9]=<edge>"], ["word[9]=<edge>"], ["word[9]=<edge>"]),
        (
            "suffix2(lower(word[-1]))",
            ["suffix2(lower(word[-1]))=<edge>"],
            ["suffix2(lower(word[-1]))=rs"],
            ["suffix2(lower(word[-1]))=ll"],
        ),
        ("has_digit(word[0])", [], [], ["has_digit(word[0])"]),
        (
            "is_title(word[-1])|is_first",
            ["is_title(word[-1])|is_first=no|yes"],
            ["is_title(word[-1])|is_first=yes|no"],
            ["is_title(word[-1])|is_first=yes|no"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_template_gives_what_it_says(template, first, second, last):
    rows = Templates(COLUMNS, (template,)).rows(SENTENCE)
    assert len(rows) == 4
    assert [rows[0], rows[1], rows[3]] == [first, second, last]


def test_names_come_in_the_order_of_the_templates_and_signs_last():
    rows = Templates(COLUMNS, ("bias", "pos[0]", "is_last", "word[0]")).rows(SENTENCE)
    assert rows[0] == ["pos[0]=NNP", "word[0]=Rovers", "bias"]
    assert rows[3] == ["pos[0]=CD", "word[0]=4-1", "bias", "is_last"]


def test_a_column_may_have_the_name_of_a_function_or_of_a_sign():
    made = Templates(("lower", "bias"), ("lower(lower[0])", "bias", "bias[0]"))
    assert made.rows([("A", "b")]) == [["lower(lower[0])=a", "bias[0]=b", "bias"]]


def test_each_function_is_computed_once_for_each_token(monkeypatch):
    seen = []

    def lower(word):
        seen.append(word)
        return word.lower()

    monkeypatch.setattr("rote.features.templates._function", {"lower": lower}.get)
    made = Templates(("word",), ("lower(word[0])", "lower(word[1])|lower(word[-1])"))
    assert made.rows([("A",), ("B",)])[0][1] == "lower(word[1])|lower(word[-1])=b|<edge>"
    assert seen == ["A", "B"]


def test_deep_nesting_is_read_without_running_out_of_stack():
    template = "lower(" * 5000 + "word[0]" + ")" * 5000
    assert Templates(("word",), (template,)).rows([("A",)]) == [[f"{template}=a"]]


# Many sentences at once

WORDS = st.text("aB3-#| _=ß\u0130é", max_size=4) | st.sampled_from(["<edge>", "|", "a|b", "yes"])
SENTENCES = st.lists(st.lists(st.tuples(WORDS, WORDS), max_size=4), max_size=4)


def in_order(rows):
    """Signs of a slow reading come last, as they do in vectors."""
    return [sorted(row, key=lambda name: "=" not in name) for row in rows]


def read(made, sentences, index, asked=None):
    """The columns of vectors that are read together: all of them, or those asked for."""
    builder = VectorBuilder({"token": index})
    every = [(i, k) for i, sentence in enumerate(sentences) for k in range(len(sentence))]
    pairs = every if asked is None else asked
    inputs, vectors = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    lines = made.reader("token")(sentences, builder.names).lines(inputs, vectors)
    builder.add_lines(["token"] * len(pairs), lines)
    built = builder.build()
    ptr, column, value = fields_of(built)
    assert (value == 1).all()
    return [column[a:b].tolist() for a, b in pairwise(ptr[1:].tolist())]


def named(sentences, index, chosen):
    """The columns of the same vectors, name by name."""
    rows = [row for each in sentences for row in in_order(slow_rows(COLUMNS, chosen, each))]
    return [[column for column in index.columns(row) if column >= 0] for row in rows]


CHOSEN = st.lists(templates, min_size=1, max_size=6, unique=True)


@given(CHOSEN, SENTENCES, SENTENCES, st.booleans())
@example(["word[0]|pos[0]"], [[("a|b", "c"), ("a", "b|c"), ("", "a|b|c")]], [[("a", "b|c")]], True)
def test_read_together_they_have_the_columns_of_their_names(chosen, first, second, kept):
    made = Templates(COLUMNS, tuple(chosen))
    growing, plain = FeatureIndex(), FeatureIndex()
    for sentences in (first, second):  # one after the other into an index that grows
        assert read(made, sentences, growing) == named(sentences, plain, chosen)
    assert growing.names() == plain.names()
    # Frozen: what training listed is used, or else a listing of all names.
    known = FeatureIndex()
    read(made, first, known)
    again = known if kept else FeatureIndex(known.names())
    again.freeze()
    for sentences in (second, first, second):
        assert read(made, sentences, again) == named(sentences, again, chosen)


@given(CHOSEN, SENTENCES)
def test_read_together_they_have_the_columns_of_hashes(chosen, sentences):
    made, index = Templates(COLUMNS, tuple(chosen)), HashedIndex(6)
    assert read(made, sentences, index) == named(sentences, index, chosen)


@given(CHOSEN, SENTENCES, st.randoms())
def test_only_tokens_that_are_asked_for_are_read_and_in_that_order(chosen, sentences, random):
    made, index = Templates(COLUMNS, tuple(chosen)), FeatureIndex()
    every = [(i, k) for i, sentence in enumerate(sentences) for k in range(len(sentence))]
    right = read(made, sentences, index)
    some = [random.randrange(len(every)) for _ in range(5)] if every else []
    assert read(made, sentences, index, [every[k] for k in some]) == [right[k] for k in some]


@given(CHOSEN, st.lists(st.tuples(WORDS, WORDS), max_size=6))
def test_names_are_the_same_one_by_one(chosen, tokens):
    made = Templates(COLUMNS, tuple(chosen))
    assert made.rows(tokens) == in_order(slow_rows(COLUMNS, chosen, tokens))


# The sets that come with the library


def test_the_chunking_set_gives_twenty_features_everywhere():
    rows = Templates(COLUMNS, CHUNKING).rows(SENTENCE)
    assert [len(row) for row in rows] == [20] * 4
    assert {"bias", "word[2]=4-1", "pos[-2]|pos[-1]|pos[0]=<edge>|NNP|VBD"} < set(rows[1])


def test_the_tagging_set_sees_what_tweets_are_made_of():
    tokens = [("@Ada",), ("see",), ("#Chess",), ("http://t.co/x2",), (":)",)]
    rows = Templates(("word",), POS_TAGGING).rows(tokens)
    signs = [{name for name in row if "=" not in name} for row in rows]
    assert signs == [
        {"bias", "is_first", "is_mention(word[0])", "is_title(word[0])"},
        {"bias"},
        {"bias", "is_hashtag(word[0])", "is_title(word[0])"},
        {"bias", "is_url(word[0])", "has_digit(word[0])"},
        {"bias", "is_last", "is_symbol(word[0])"},
    ]
    assert "suffix4(lower(word[0]))=hess" in rows[2]
    assert "lower(word[-1])=@ada" in rows[1]


# Mistakes


NO_TERMS = "", "word[]", "word[+1]", "word[-0]", "word[01]", "word[100]", "word[1.5]", "word[0"
NO_TERMS += "word[0]x", "lower()", "lower(word[0]", "lower(word[0]))", "(word[0])"
ALONE = r"what stands alone is one of bias, .* as in word\[0\], and a function a term, as in lower"


@pytest.mark.parametrize(
    ("template", "term", "reason"),
    [
        *((text, text, "expected a term such as word") for text in NO_TERMS),
        ("word[0] | pos[0]", "word[0] ", "expected a term such as word"),
        ("word[0]|", "", "expected a term such as word"),
        ("lower(word[0]|pos[0])", "lower(word[0]", "expected a term such as word"),
        ("word[0]|wrd[0]", "wrd[0]", "'wrd' is not a column; the columns are word, pos"),
        ("lower(wrd[0])", "lower(wrd[0])", "'wrd' is not a column"),
        *(
            (f"{name}(word[0])", f"{name}(word[0])", f"'{name}' is not a function; there are lower")
            for name in ("upper", "prefix", "prefix0", "suffix100")
        ),
        *((name, name, ALONE) for name in ("word", "shape", "prefix3", "has_digit", "first")),
        ("lower(bias)", "lower(bias)", "lower is a function of a text, and .* a sign"),
        ("lower(is_title(word[0]))", "lower(is_title(word[0]))", "lower is a function of a text"),
    ],
)
def test_a_mistake_is_answered_with_its_term(template, term, reason):
    with pytest.raises(SettingError, match=reason) as caught:
        Templates(COLUMNS, ("word[0]", template))
    assert str(caught.value).startswith(f"template {template!r}, term {term!r}: ")


@pytest.mark.parametrize("values", ["word", (), ("word", 3), ("word", "word"), {"word"}, None])
def test_settings_that_make_no_templates_are_refused(values):
    with pytest.raises(SettingError, match=r"^columns is a list"):
        Templates(values, ("bias",))
    with pytest.raises(SettingError, match=r"^templates is a list"):
        Templates(("word",), values)


@pytest.mark.parametrize("column", ["a word", "2nd", ""])
def test_columns_have_names_that_templates_can_speak_of(column):
    with pytest.raises(SettingError, match=f"with no digit first, got .'{column}'"):
        Templates((column,), ("bias",))


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ([("a", "DT"), ("dog",)], r"token 1: expected a sequence of 2 values \(word, pos\), got"),
        ([("a", "DT", "O")], "token 0: expected a sequence of 2 values"),
        ([("a", "DT"), "no"], "token 1: expected a sequence of 2 values .* got 'no'"),
        ([("a", "DT"), ("dog", None)], "token 1, column pos: expected a string, got None"),
        ([(3, "CD")], "token 0, column word: expected a string, got 3"),
    ],
)
def test_tokens_that_do_not_fit_the_columns_are_refused(tokens, reason):
    with pytest.raises(DataError, match=reason):
        Templates(COLUMNS, CHUNKING).rows(tokens)


def test_strings_of_a_kind_of_their_own_are_strings():
    class Word(str):
        __slots__ = ()

    assert Templates(("word",), ("word[0]",)).rows([(Word("a"),)]) == [["word[0]=a"]]


# Values


def test_equal_settings_are_equal_and_lists_become_tuples():
    made = Templates(["word", "pos"], list(CHUNKING))
    assert made == Templates(COLUMNS, CHUNKING)
    assert hash(made) == hash(Templates(COLUMNS, CHUNKING))
    assert (made.columns, made.templates) == (COLUMNS, CHUNKING)
    there = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert there == made
    assert there.rows(SENTENCE) == made.rows(tuple(map(list, SENTENCE)))
    assert made != Templates(COLUMNS, CHUNKING[:-1])


@pytest.mark.parametrize("form", ["dicts", "pandas", "polars", "pyarrow"])
def test_tokens_by_name_are_read_by_the_names_of_columns(form):
    pairs = Templates(COLUMNS, ("word[0]", "pos[-1]|pos[0]", "is_title(word[0])"))
    other = [{"pos": pos, "lemma": "x", "word": word} for word, pos in SENTENCE]
    if form != "dicts":
        package = pytest.importorskip(form)
        columns = {name: [token[name] for token in other] for name in other[0]}
        other = (package.table if form == "pyarrow" else package.DataFrame)(columns)
    assert pairs.rows(other) == pairs.rows(SENTENCE)
    task = Tagging(("a", "b"), pairs)
    known, seen = (prepare(task, [x, x], [["a"] * 4] * 2) for x in (SENTENCE, other))
    assert all(map(np.array_equal, fields_of(known.vectors), fields_of(seen.vectors)))
    assert str(show(task, other, ["a"] * 4)) == str(show(task, SENTENCE, ["a"] * 4))


@pytest.mark.parametrize(
    ("tokens", "match"),
    [
        ([{"word": "a", "pos": "b"}, {"word": "a"}], "token 1: expected a dict .* word, pos.* got"),
        ([{"word": "a", "pos": "b"}, ("a", "b")], "token 1: expected a dict"),
        ([("a", "b"), {"word": "a", "pos": "b"}], r"token 1: expected a sequence of 2 values"),
        ([{"word": "a", "pos": 3}], "token 0, column pos: expected a string, got 3"),
    ],
)
def test_tokens_without_their_columns_are_refused(tokens, match):
    with pytest.raises(DataError, match=match):
        Templates(COLUMNS, ("word[0]",)).rows(tokens)
