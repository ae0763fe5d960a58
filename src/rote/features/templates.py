"""Feature templates: a small language for the features of tokens, plain text to be saved as such.

A token is one value per column, for instance a word and its part-of-speech tag. A template
is one or more terms joined by "|", without blanks:

    word[0]  pos[-1]           the value of a column here, or so many tokens after (before)
    shape(word[0])             a function of it; functions nest: prefix3(lower(word[1]))
    has_digit(word[0])         a sign, which holds or not
    is_first  is_last          signs of the token's place in its sentence
    bias                       a sign that always holds

Functions are lower, shape, short_shape and digits, and prefixN and suffixN for N characters.
Signs are has_digit, has_hyphen, is_capital, is_title, is_upper, is_symbol, is_hashtag,
is_mention and is_url. `rote.features.words` says what each of them is.

A template gives each token one feature, named after the template and its value, as in
"word[0]=dog" and "pos[-1]|word[0]=DT|dog". A sign on its own gives a feature with the name
of the template where it holds, and none elsewhere; joined, its value is "yes" or "no".
Outside the sentence every value is "<edge>", functions leave that as it is, and no sign holds.
Values are joined as they are: those that have a "|" of their own may give the same name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import compress
from typing import Any, NamedTuple, TypeAlias

from rote.errors import DataError, SettingError, in_order
from rote.features.words import CUTS, SIGNS, TEXTS

EDGE = "<edge>"
"""What stands for a token before the first and after the last."""

YES, NO = "yes", "no"
PLACES = ("bias", "is_first", "is_last")
FUNCTIONS = (*TEXTS, *(f"{name}N" for name in CUTS), *SIGNS)

_NAME = re.compile(r"[^\W\d]\w*")
_OFFSET = re.compile(r"0(?!\d)|-?[1-9]\d?(?!\d)")
_CUT = re.compile(rf"({'|'.join(CUTS)})([1-9]\d?)")

CHUNKING = (
    "bias",
    "word[-2]",
    "word[-1]",
    "word[0]",
    "word[1]",
    "word[2]",
    "word[-1]|word[0]",
    "word[0]|word[1]",
    "pos[-2]",
    "pos[-1]",
    "pos[0]",
    "pos[1]",
    "pos[2]",
    "pos[-2]|pos[-1]",
    "pos[-1]|pos[0]",
    "pos[0]|pos[1]",
    "pos[1]|pos[2]",
    "pos[-2]|pos[-1]|pos[0]",
    "pos[-1]|pos[0]|pos[1]",
    "pos[0]|pos[1]|pos[2]",
)
"""Words and tags around a token, for columns word and pos: what chunkers commonly look at."""

POS_TAGGING = (
    "bias",
    "is_first",
    "is_last",
    "word[0]",
    "lower(word[0])",
    "shape(word[0])",
    "short_shape(word[0])",
    "digits(lower(word[0]))",
    "prefix1(lower(word[0]))",
    "prefix2(lower(word[0]))",
    "prefix3(lower(word[0]))",
    "prefix4(lower(word[0]))",
    "suffix1(lower(word[0]))",
    "suffix2(lower(word[0]))",
    "suffix3(lower(word[0]))",
    "suffix4(lower(word[0]))",
    "lower(word[-2])",
    "lower(word[-1])",
    "lower(word[1])",
    "lower(word[2])",
    "suffix2(lower(word[-1]))",
    "suffix2(lower(word[1]))",
    "short_shape(word[-1])",
    "short_shape(word[1])",
    "has_digit(word[0])",
    "has_hyphen(word[0])",
    "is_capital(word[0])",
    "is_title(word[0])",
    "is_upper(word[0])",
    "is_symbol(word[0])",
    "is_hashtag(word[0])",
    "is_mention(word[0])",
    "is_url(word[0])",
)
"""A word's letters, its look and its neighbours, for a column word: news as well as tweets."""

_Function: TypeAlias = Callable[[Any], str | bool]


@dataclass(frozen=True)
class Templates:
    """Templates over the named ``columns`` of tokens, read once.

    >>> pairs = Templates(("word", "pos"), ("word[0]", "pos[-1]|pos[0]", "is_title(word[0])"))
    >>> for row in pairs.rows([("Dogs", "NNS"), ("bark", "VBP")]):
    ...     print(row)
    ['word[0]=Dogs', 'pos[-1]|pos[0]=<edge>|NNS', 'is_title(word[0])']
    ['word[0]=bark', 'pos[-1]|pos[0]=NNS|VBP']
    """

    columns: tuple[str, ...]
    templates: tuple[str, ...]
    _plan: _Plan = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, given in (("columns", self.columns), ("templates", self.templates)):
            values = () if isinstance(given, str) else in_order(name, given)
            if not values or not all(isinstance(value, str) for value in values):
                raise SettingError(f"{name} must be a sequence of one or more strings: {given!r}")
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise SettingError(f"{name} must differ, and {twice!r} is there twice")
            object.__setattr__(self, name, values)
        for column in self.columns:
            if not _NAME.fullmatch(column):
                raise SettingError(
                    f"a column is named by letters, digits and _, with no digit first: {column!r}"
                )
        object.__setattr__(self, "_plan", _planned(self.columns, self.templates))

    def __reduce__(self) -> tuple[type, tuple[tuple[str, ...], tuple[str, ...]]]:
        # The plan holds functions, so another process reads the templates anew.
        return type(self), (self.columns, self.templates)

    def rows(self, tokens: Sequence[Sequence[str]]) -> list[list[str]]:
        """For each token of a sentence the names of its features.

        Names are in the order of the templates, but for signs, which come last.
        """
        count = len(tokens)
        if not count:
            return []
        steps, pads, shifts, texts, signs, before, after = self._plan
        values: list[Sequence[Any]] = [*self._by_column(tokens), *_places(count)]
        for source, function in steps:
            values.append(list(map(function, values[source])))
        padded = [[fill] * before + [*values[source]] + [fill] * after for source, fill in pads]
        shifted = [padded[k][before + offset : before + offset + count] for k, offset in shifts]
        named = [_named(start, [shifted[k] for k in terms]) for start, terms in texts]
        rows = list(map(list, zip(*named, strict=True))) if named else [[] for _ in tokens]
        for name, k in signs:
            for row in compress(rows, shifted[k]):
                row.append(name)
        return rows

    def _by_column(self, tokens: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        width = len(self.columns)
        # Sets of types and of lengths are built without running Python code for each token.
        if str in set(map(type, tokens)) or set(map(len, tokens)) != {width}:
            place = next(k for k, t in enumerate(tokens) if isinstance(t, str) or len(t) != width)
            raise DataError(
                f"token {place}: expected a sequence of {width} values "
                f"({', '.join(self.columns)}), got {tokens[place]!r}"
            )
        by_column = list(zip(*tokens, strict=True))
        for name, values in zip(self.columns, by_column, strict=True):
            if set(map(type, values)) != {str}:
                wrong = [k for k, value in enumerate(values) if not isinstance(value, str)]
                if wrong:
                    raise DataError(
                        f"token {wrong[0]}, column {name}: expected a string, "
                        f"got {values[wrong[0]]!r}"
                    )
        return by_column


class _Plan(NamedTuple):
    """What to compute for a sentence; everything is a list over its tokens.

    First come the columns, the signs of `PLACES`, and for each of ``steps`` a function of an
    earlier list. ``pads`` are lists that go on at both ends with a value for what is outside,
    ``before`` and ``after`` times; ``shifts`` are cut out of them. ``texts`` join some of
    these behind the beginning of a name, and ``signs`` tell which tokens get a name.
    """

    steps: tuple[tuple[int, _Function], ...]
    pads: tuple[tuple[int, str | bool], ...]
    shifts: tuple[tuple[int, int], ...]
    texts: tuple[tuple[str, tuple[int, ...]], ...]
    signs: tuple[tuple[str, int], ...]
    before: int
    after: int


class _Term(NamedTuple):
    """A column or a place, by its number, and the functions around it, the innermost first."""

    base: int
    offset: int
    functions: tuple[_Function, ...]
    is_sign: bool


def _planned(columns: tuple[str, ...], templates: tuple[str, ...]) -> _Plan:
    bases = len(columns) + len(PLACES)
    # Each of these dictionaries gives what it has not met before the next number.
    steps: dict[tuple[int, _Function], int] = {}
    pads: dict[tuple[int, str | bool], int] = {}
    shifts: dict[tuple[int, int], int] = {}
    texts: list[tuple[str, tuple[int, ...]]] = []
    signs: list[tuple[str, int]] = []
    for template in templates:
        terms = _Reader(template, columns).terms()
        joined = len(terms) > 1
        slots = []
        for base, offset, functions, is_sign in terms:
            source = base
            for function in (*functions, _spoken) if is_sign and joined else functions:
                source = steps.setdefault((source, function), bases + len(steps))
            outside = (NO if joined else False) if is_sign else EDGE
            pad = pads.setdefault((source, outside), len(pads))
            slots.append(shifts.setdefault((pad, offset), len(shifts)))
        if terms[0].is_sign and not joined:
            signs.append((template, slots[0]))
        else:
            texts.append((f"{template}=", tuple(slots)))
    offsets = [offset for _, offset in shifts]
    return _Plan(
        tuple(steps),
        tuple(pads),
        tuple(shifts),
        tuple(texts),
        tuple(signs),
        max(0, -min(offsets)),
        max(0, *offsets),
    )


class _Reader:
    """Reads one template from left to right; a mistake is answered with its place."""

    def __init__(self, template: str, columns: tuple[str, ...]) -> None:
        self.template = template
        self.columns = columns
        self.at = 0

    def terms(self) -> list[_Term]:
        terms = [self.term()]
        while self.at < len(self.template):
            self.expect("|", "| and another term, or the end")
            terms.append(self.term())
        return terms

    def term(self) -> _Term:
        calls: list[tuple[str, _Function]] = []
        while True:
            start = self.at
            name = self.take(_NAME, "a column, a function or a sign")
            if not self.follows("("):
                break
            calls.append((name, self.function(name, start)))
            self.at += 1
        term = self.column(name, start) if self.follows("[") else self.place(name, start)
        for name, function in reversed(calls):
            if term.is_sign:
                what = self.template[start : self.at]
                raise self.error(start, f"{name} is a function of a text, and {what} is a sign")
            self.expect(")", ")")
            start -= len(f"{name}(")
            term = term._replace(functions=(*term.functions, function), is_sign=name in SIGNS)
        return term

    def function(self, name: str, start: int) -> _Function:
        function = _function(name)
        if function is None:
            raise self.error(start, f"{name!r} is not a function; there are {', '.join(FUNCTIONS)}")
        return function

    def column(self, name: str, start: int) -> _Term:
        if name not in self.columns:
            known = ", ".join(self.columns)
            raise self.error(start, f"{name!r} is not a column; the columns are {known}")
        self.at += 1
        offset = int(self.take(_OFFSET, "a whole number from -99 to 99, as in 2, 0 or -1"))
        self.expect("]", "]")
        return _Term(self.columns.index(name), offset, (), is_sign=False)

    def place(self, name: str, start: int) -> _Term:
        if name in PLACES:
            return _Term(len(self.columns) + PLACES.index(name), 0, (), is_sign=True)
        if name in self.columns:
            hint = f"a column needs a place, as in {name}[0]"
        elif _function(name):
            hint = f"a function needs a term, as in {name}({self.columns[0]}[0])"
        else:
            hint = f"what stands alone is one of {', '.join(PLACES)}"
        raise self.error(start, f"{name!r} cannot stand alone; {hint}")

    def follows(self, sign: str) -> bool:
        return self.template.startswith(sign, self.at)

    def expect(self, sign: str, what: str) -> None:
        if not self.follows(sign):
            raise self.unexpected(what)
        self.at += len(sign)

    def take(self, pattern: re.Pattern[str], what: str) -> str:
        found = pattern.match(self.template, self.at)
        if found is None:
            raise self.unexpected(what)
        self.at = found.end()
        return found.group()

    def unexpected(self, what: str) -> SettingError:
        rest = self.template[self.at :]
        return self.error(self.at, f"expected {what}, got {repr(rest) if rest else 'the end'}")

    def error(self, at: int, reason: str) -> SettingError:
        return SettingError(f"template {self.template!r}, character {at + 1}: {reason}")


@cache  # one function object for each name, so that equal steps are found equal
def _function(name: str) -> _Function | None:
    cut = _CUT.fullmatch(name)
    if cut:
        return partial(CUTS[cut[1]], length=int(cut[2]))
    return TEXTS.get(name) or SIGNS.get(name)


def _spoken(holds: bool) -> str:
    return YES if holds else NO


def _places(count: int) -> list[list[bool]]:
    """The signs of `PLACES` for a sentence of ``count`` tokens."""
    others = [False] * (count - 1)
    return [[True] * count, [True, *others], [*others, True]]


def _named(start: str, terms: list[list[str]]) -> list[str]:
    # Joining is most of the work of a template, and the common cases have a fast way.
    if len(terms) == 1:
        return [f"{start}{value}" for value in terms[0]]
    if len(terms) == 2:
        return [f"{start}{first}|{second}" for first, second in zip(*terms, strict=True)]
    return [f"{start}{value}" for value in map("|".join, zip(*terms, strict=True))]
