"""What a word looks like: functions from one word to a text, or to whether something holds.

Every function takes any string, the empty one as well, and looks at nothing else.
Letters, their case and digits are those of Unicode.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

_DIGIT = re.compile(r"\d")
_RUN = re.compile(r"(.)\1+", re.DOTALL)
_MENTION = re.compile(r"@\w")
_HASHTAG = re.compile(r"#\w")
# With a scheme, with www, or a host and a path, as in bit.ly/abc.
_ADDRESS = re.compile(r"https?://\S|www\.\w|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/", re.IGNORECASE)


def lower(word: str) -> str:
    """The word in small letters."""
    return word.lower()


def shape(word: str) -> str:
    """The word with X for a capital, x for any other letter, d for a digit.

    >>> shape("McDonald's-24")
    "XxXxxxxx'x-dd"
    """
    return word.translate(_SIGNS)


def short_shape(word: str) -> str:
    """The shape with each run of the same sign written once.

    >>> short_shape("McDonald's-24")
    "XxXx'x-d"
    """
    return _without_runs(shape(word))


def digits(word: str) -> str:
    """The word with 0 for every digit.

    >>> digits("mid-1990s")
    'mid-0000s'
    """
    return _DIGIT.sub("0", word)


def prefix(word: str, length: int) -> str:
    """The first ``length`` characters; a shorter word is its own prefix."""
    return word[:length]


def suffix(word: str, length: int) -> str:
    """The last ``length`` characters, which are one at least; a shorter word is its own suffix."""
    return word[-length:]


def has_digit(word: str) -> bool:
    """Whether there is a digit in the word."""
    return _DIGIT.search(word) is not None


def has_hyphen(word: str) -> bool:
    """Whether there is a hyphen in the word."""
    return "-" in word


def is_capital(word: str) -> bool:
    """Whether the word begins with a capital, whatever follows."""
    return word[:1].isupper()


def is_title(word: str) -> bool:
    """Whether the word begins with a capital and goes on in small letters, as "Dog" does.

    Letters after a sign begin anew: "O'Neil" and "Al-Ahram" are titles.
    """
    return word.istitle()


def is_upper(word: str) -> bool:
    """Whether the word has letters and all are capitals."""
    return word.isupper()


def is_symbol(word: str) -> bool:
    """Whether the word has neither a letter nor a digit.

    >>> [word for word in ("...", ":)", ":P", "") if is_symbol(word)]
    ['...', ':)']
    """
    return bool(word) and not any(map(str.isalnum, word))


def is_hashtag(word: str) -> bool:
    """Whether the word is a topic as in tweets, "#news"."""
    return _HASHTAG.match(word) is not None


def is_mention(word: str) -> bool:
    """Whether the word is a user as in tweets, "@ada"."""
    return _MENTION.match(word) is not None


def is_url(word: str) -> bool:
    """Whether the word begins like the address of a page.

    >>> [word for word in ("http://a.org", "www.a.org", "bit.ly/x1", "and/or") if is_url(word)]
    ['http://a.org', 'www.a.org', 'bit.ly/x1']
    """
    return _ADDRESS.match(word) is not None


TEXTS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {"lower": lower, "shape": shape, "short_shape": short_shape, "digits": digits}
)
CUTS: Mapping[str, Callable[..., str]] = MappingProxyType({"prefix": prefix, "suffix": suffix})
SIGNS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "has_digit": has_digit,
        "has_hyphen": has_hyphen,
        "is_capital": is_capital,
        "is_title": is_title,
        "is_upper": is_upper,
        "is_symbol": is_symbol,
        "is_hashtag": is_hashtag,
        "is_mention": is_mention,
        "is_url": is_url,
    }
)


@lru_cache(maxsize=4096)  # a language has many words and few shapes
def _without_runs(text: str) -> str:
    return _RUN.sub(r"\1", text)


class _CharacterSigns(dict[int, str]):
    """What a shape has in place of a character; worked out once for each character met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isupper() or character.istitle():
            sign = "X"
        elif character.isalpha():
            sign = "x"
        elif character.isdecimal():
            sign = "d"
        else:
            sign = character
        self[code] = sign
        return sign


_SIGNS = _CharacterSigns()
