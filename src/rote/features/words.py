"""What a word looks like: functions from one word to a text, or to whether something holds.

Every function takes any string, the empty one as well, and looks at nothing else.
Letters, their case and digits are those of Unicode. `TEXTS` and `SIGNS` have them by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

_DIGIT = re.compile(r"\d")
_RUN = re.compile(r"(.)\1+", re.DOTALL)


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


def is_capital(word: str) -> bool:
    """Whether the word begins with a capital, whatever follows."""
    return word[:1].isupper()


def is_symbol(word: str) -> bool:
    """Whether the word has neither a letter nor a digit.

    >>> [word for word in ("...", ":)", ":P", "") if is_symbol(word)]
    ['...', ':)']
    """
    return bool(word) and not any(map(str.isalnum, word))


def _begins(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern, re.IGNORECASE).match
    return lambda word: found(word) is not None


TEXTS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {"lower": str.lower, "shape": shape, "short_shape": short_shape, "digits": digits}
)
SIGNS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "has_digit": lambda word: _DIGIT.search(word) is not None,
        "has_hyphen": lambda word: "-" in word,
        "is_capital": is_capital,
        "is_title": str.istitle,  # letters after a sign begin anew: "O'Neil" and "Al-Ahram" are
        "is_upper": str.isupper,
        "is_symbol": is_symbol,
        "is_hashtag": _begins(r"#\w"),
        "is_mention": _begins(r"@\w"),
        # With a scheme, with www, or a host and a path, as in bit.ly/abc.
        "is_url": _begins(r"https?://\S|www\.\w|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/"),
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
