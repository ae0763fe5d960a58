"""What words look like, on words chosen by hand and on any text."""

import unicodedata
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.features import words


@pytest.mark.parametrize(
    ("word", "shape", "short"),
    [
        ("", "", ""),
        ("Dog", "Xxx", "Xx"),
        ("NATO-led", "XXXX-xxx", "X-x"),
        ("1990s", "ddddx", "dx"),
        ("$3.50", "$d.dd", "$d.d"),
        ("...", "...", "."),
        ("Müßig", "Xxxxx", "Xx"),
        ("Éire", "Xxxx", "Xx"),
        ("東京", "xx", "x"),
        ("٣٤", "dd", "d"),
        ("ǅ", "X", "X"),
        ("#WIN!!", "#XXX!!", "#X!"),
    ],
)
def test_a_shape_has_signs_for_capitals_letters_and_digits(word, shape, short):
    assert words.shape(word) == shape
    assert words.short_shape(word) == short


@given(st.text())
def test_a_shape_has_the_sign_of_each_character(word):
    def sign(character):
        category = unicodedata.category(character)
        if character.isupper() or category == "Lt":
            return "X"
        if category.startswith("L"):
            return "x"
        return "d" if category == "Nd" else character

    shape = "".join(map(sign, word))
    assert words.shape(word) == shape
    assert words.short_shape(word) == "".join(run for run, _ in groupby(shape))


def test_digits_become_zeros_and_the_rest_stays():
    assert words.digits("mid-1990s: ٣%") == "mid-0000s: 0%"


HOLDS = {
    "has_digit": ["4", "B2B", "٣rd"],
    "has_hyphen": ["-", "well-known"],
    "is_capital": ["A", "Dog", "McDonald", "iPhone"[1:]],
    "is_title": ["A", "Dog", "O'Neil", "Al-Ahram", "4Th"],
    "is_upper": ["A", "NATO", "B-52"],
    "is_symbol": ["...", ":)", "$", "--"],
    "is_hashtag": ["#news", "#1", "#東京"],
    "is_mention": ["@ada", "@_x"],
    "is_url": ["http://t.co/a", "HTTPS://a", "www.a.org", "bit.ly/x", "a.b-c.co.uk/"],
}
HOLDS_NOT = {
    "has_digit": ["", "four", "½"],
    "has_hyphen": ["", "well–known"],
    "is_capital": ["", "dog", "4A", "iPhone"],
    "is_title": ["", "dog", "DOG", "McDonald", "4"],
    "is_upper": ["", "Dog", "52", "..."],
    "is_symbol": ["", ":P", "3", "a."],
    "is_hashtag": ["", "#", "a#b", "##"],
    "is_mention": ["", "@", "a@b.org"],
    "is_url": ["", "and/or", "http://", "a.org", "3.5/4", "..."],
}


@pytest.mark.parametrize("sign", sorted(words.SIGNS))
def test_a_sign_holds_where_it_should_and_nowhere_else(sign):
    for asked, right in ((HOLDS[sign], True), (HOLDS_NOT[sign], False)):
        assert [w for w in asked if words.SIGNS[sign](w) is not right] == []
