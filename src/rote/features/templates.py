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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, compress, pairwise
from operator import itemgetter
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from rote.errors import DataError, SettingError
from rote.features.batches import FeatureReader, Lines, Runs
from rote.features.trie import UNKNOWN, Lexicon, Names, NamesOf
from rote.features.words import SIGNS, TEXTS
from rote.io.tables import column, columns_of
from rote.kernels.features.trie import ChainPlan
from rote.settings import LIST, Checked, Setting, check
from rote.types import IntArray, offsets_from_counts

EDGE = "<edge>"
"""What stands for a token before the first and after the last."""

YES, NO = "yes", "no"
PLACES: Mapping[str, Callable[[int], bool]] = MappingProxyType(
    {
        "bias": lambda _: True,
        "is_first": lambda place: bool(place & 1),
        "is_last": lambda place: bool(place & 2),
    }
)
FUNCTIONS = (*TEXTS, "prefixN", "suffixN", *SIGNS)

_NAME = re.compile(r"[^\W\d]\w*")
_TERM = re.compile(rf"((?:{_NAME.pattern}\()*)({_NAME.pattern})(?:\[(0|-?[1-9]\d?)\])?(\)*)")
_CUT = re.compile(r"(prefix|suffix)([1-9]\d?)")


def _listed(templates: str) -> tuple[str, ...]:
    return tuple(templates.split())


CHUNKING = _listed(
    """
    bias
    word[-2] word[-1] word[0] word[1] word[2]
    word[-1]|word[0] word[0]|word[1]
    pos[-2] pos[-1] pos[0] pos[1] pos[2]
    pos[-2]|pos[-1] pos[-1]|pos[0] pos[0]|pos[1] pos[1]|pos[2]
    pos[-2]|pos[-1]|pos[0] pos[-1]|pos[0]|pos[1] pos[0]|pos[1]|pos[2]
    """
)
"""Words and tags around a token, for columns word and pos: what chunkers commonly look at."""

POS_TAGGING = _listed(
    """
    bias is_first is_last
    word[0] lower(word[0]) shape(word[0]) short_shape(word[0]) digits(lower(word[0]))
    prefix1(lower(word[0])) prefix2(lower(word[0])) prefix3(lower(word[0])) prefix4(lower(word[0]))
    suffix1(lower(word[0])) suffix2(lower(word[0])) suffix3(lower(word[0])) suffix4(lower(word[0]))
    lower(word[-2]) lower(word[-1]) lower(word[1]) lower(word[2])
    suffix2(lower(word[-1])) suffix2(lower(word[1]))
    short_shape(word[-1]) short_shape(word[1])
    has_digit(word[0]) has_hyphen(word[0]) is_capital(word[0]) is_title(word[0]) is_upper(word[0])
    is_symbol(word[0]) is_hashtag(word[0]) is_mention(word[0]) is_url(word[0])
    """
)
"""A word's letters, its look and its neighbours, for a column word: news as well as tweets."""

_Function: TypeAlias = Callable[[Any], str | bool]


def _are_texts(values: tuple[Any, ...]) -> bool:
    strings = all(isinstance(value, str) for value in values)
    return strings and 0 < len(values) == len(set(values))


_TEXTS = Setting("a list of different texts, one at least", _are_texts)
_COLUMNS = Setting(
    "a list of different names of letters, digits and _, with no digit first",
    lambda values: _are_texts(values) and all(map(_NAME.fullmatch, values)),
)


@dataclass(frozen=True)
class Templates(Checked):
    """Templates over the columns of tokens, read once.

    Parameters
    ----------
    columns
        What the values of a token are called, in their order: names of letters, digits and _.
    templates
        Which features a token has, one for each template; the module's docstring has the language.

    >>> pairs = Templates(("word", "pos"), ("word[0]", "pos[-1]|pos[0]", "is_title(word[0])"))
    >>> for row in pairs.rows([("Dogs", "NNS"), ("bark", "VBP")]):
    ...     print(row)
    ['word[0]=Dogs', 'pos[-1]|pos[0]=<edge>|NNS', 'is_title(word[0])']
    ['word[0]=bark', 'pos[-1]|pos[0]=NNS|VBP']
    """

    columns: tuple[str, ...]
    templates: tuple[str, ...]
    plan: _Plan = field(init=False, repr=False, compare=False)

    checks: ClassVar = {"columns": LIST, "templates": LIST}

    def __post_init__(self) -> None:
        super().__post_init__()
        check("columns", self.columns, _COLUMNS)
        check("templates", self.templates, _TEXTS)
        object.__setattr__(self, "plan", _planned(self.columns, self.templates))

    def __reduce__(self) -> tuple[type, tuple[tuple[str, ...], tuple[str, ...]]]:
        # The plan holds functions, so another process reads the templates anew.
        return type(self), (self.columns, self.templates)

    def reader(self, kind: str) -> FeatureReader:
        """What reads vectors of a kind from many sentences at once."""
        return partial(TemplateReader, self, kind)

    def rows(self, tokens: Sequence[Sequence[str]]) -> list[list[str]]:
        """For each token of a sentence the names of its features.

        Names are in the order of the templates, but for signs, which come last.
        """
        tokens = self.tokens(tokens)
        count, windows = len(tokens), self.plan.windows
        ptr, rows, offsets = (a.tolist() for a in (windows.ptr, windows.rows, windows.offsets))
        before, after = max(0, -min(offsets)), max(0, *offsets)
        values = [*self.by_column(tokens), _places(count)]
        padded, starts = [], []
        for own in self.plan.values:
            known = own.worked_out(values[own.base])
            for source, outside, start in own.rows:
                padded.append([outside] * before + [*known[source]] + [outside] * after)
                starts.append(start)
        texts, signs = [], []
        for first, last in pairwise(ptr):
            begins = [(rows[k], before + offsets[k]) for k in range(first, last)]
            terms = [padded[row][begin : begin + count] for row, begin in begins]
            start = starts[rows[first]]
            if not start.endswith("="):
                signs.append((start, terms[0]))
                continue
            said = terms[0] if len(terms) == 1 else map("|".join, zip(*terms, strict=True))
            texts.append([f"{start}{text}" for text in said])
        found = list(map(list, zip(*texts, strict=True))) if texts else [[] for _ in tokens]
        for name, holds in signs:
            for vector in compress(found, holds):
                vector.append(name)
        return found

    def tokens(self, x: Any) -> Sequence[Sequence[str]]:
        """The tokens of an input, each with a value per column: those of tables are its rows.

        Tokens that are dicts, and tables, are read by the names of their columns.
        """
        table = columns_of(x)
        if table is not None:
            return list(
                zip(*(column(table, name).to_numpy() for name in self.columns), strict=True)
            )
        if len(x) and isinstance(x[0], Mapping):
            return [self._values(place, token) for place, token in enumerate(x)]
        return x  # type: ignore[no-any-return]

    def _values(self, place: int, token: Any) -> Sequence[str]:
        missing = [name for name in self.columns if name not in token]
        if missing or not isinstance(token, Mapping):
            raise DataError(
                f"token {place}: expected a dict with the columns {', '.join(self.columns)}, as "
                f"the first token is one; got {token!r:.200}"
            )
        return [token[name] for name in self.columns]

    def by_column(self, tokens: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        """The values of tokens, column after column, once they are checked."""
        width = len(self.columns)
        if not len(tokens):
            return [()] * width
        # Sets of types and of lengths are built without running Python code for each token.
        if not {str, dict}.isdisjoint(map(type, tokens)) or set(map(len, tokens)) != {width}:
            place = next(
                k for k, t in enumerate(tokens) if isinstance(t, str | dict) or len(t) != width
            )
            raise DataError(
                f"token {place}: expected a sequence of {width} values "
                f"({', '.join(self.columns)}), got {tokens[place]!r}"
            )
        by_column = list(zip(*tokens, strict=True))
        for name, values in zip(self.columns, by_column, strict=True):
            if set(map(type, values)) == {str}:
                continue
            for k, value in enumerate(values):
                if not isinstance(value, str):
                    raise DataError(f"token {k}, column {name}: expected a string, got {value!r}")
        return by_column


class TemplateReader:
    """Reads the vectors of sentences: one after the other, their tokens lie in arrays."""

    def __init__(
        self, templates: Templates, kind: str, sentences: Sequence[Any], names: NamesOf
    ) -> None:
        self._plan, self._kind, self._names = templates.plan, kind, names(kind, separator="|")
        tokens = list(chain.from_iterable(map(templates.tokens, sentences)))
        places = [place for x in sentences for place in _places(len(x))]
        values: list[Sequence[Any]] = [*templates.by_column(tokens), places]
        self._ptr = offsets_from_counts(list(map(len, sentences)))
        said = []
        for own in self._plan.values:
            lexicon: Lexicon[Any] = self._names.lexicon(own, len(own.rows))
            said.append(lexicon.rows([*values[own.base], None]))
        self._said = np.concatenate(said)  # the last is what is said of all that is outside

    def lines(self, inputs: IntArray, vectors: IntArray) -> dict[str, Lines]:
        """Some vectors, each one of an input."""
        begins, windows = self._ptr[inputs], self._plan.windows
        places = np.stack([begins, self._ptr[inputs + 1], begins + vectors])
        numbers = self._names.say_windows(windows, self._said, places)
        lines = Lines(len(inputs))
        lines.add_runs(Runs(numbers.ravel(), np.arange(len(inputs) + 1) * numbers.shape[1]))
        return {self._kind: lines}


@dataclass(frozen=True)
class _Values:
    """What is said of a value of a column.

    ``steps`` are functions of what is known of it, of which it comes first. A row is one of these,
    and what it is outside; behind a start, it is where the names go on that begin so.
    """

    base: int
    steps: tuple[tuple[int, _Function], ...]
    rows: tuple[tuple[int, str | bool, str | None], ...]

    def worked_out(self, values: Sequence[Any]) -> list[Sequence[Any]]:
        """Values, and then what each step makes of them."""
        known = [values]
        for source, function in self.steps:
            known.append(list(map(function, known[source])))
        return known

    def __call__(self, names: Names, values: Sequence[Any]) -> IntArray:
        """The rows of values, of which the last may be None: that is what is outside."""
        inside = len(values) - (values[-1] is None)
        known = self.worked_out(values[:inside])
        texts: dict[tuple[int, str | bool], IntArray] = {}
        for source, outside, _ in self.rows:
            said = [*known[source], *[outside] * (len(values) - inside)]
            if isinstance(outside, bool):  # a sign says nothing more where it holds
                texts[source, outside] = np.where(said, names.text(""), UNKNOWN)
            else:
                texts[source, outside] = names.texts(said)
        table = np.array([texts[source, outside] for source, outside, _ in self.rows])
        starts = {k: start for k, (_, _, start) in enumerate(self.rows) if start is not None}
        table[list(starts)] = names.begin(list(starts.values()), table[list(starts)])
        return table.T


class _Plan(NamedTuple):
    values: tuple[_Values, ...]
    windows: ChainPlan


class _Term(NamedTuple):
    """A column by its number, or a place behind them, and the functions of it, innermost first."""

    base: int
    offset: int
    functions: tuple[_Function, ...]
    is_sign: bool


def _planned(columns: tuple[str, ...], templates: tuple[str, ...]) -> _Plan:
    # These dictionaries give what they have not met before the next number, for each column.
    steps: list[dict[tuple[int, _Function], int]] = [{} for _ in (*columns, PLACES)]
    rows: list[dict[tuple[int, str | bool, str | None], int]] = [{} for _ in steps]
    texts: list[list[tuple[int, int, int]]] = []
    signs: list[list[tuple[int, int, int]]] = []
    for template in templates:
        terms = [_term(template, text, columns) for text in template.split("|")]
        joined, slots = len(terms) > 1, []
        alone = terms[0].is_sign and not joined
        start: str | None = template if alone else f"{template}="
        for base, offset, functions, is_sign in terms:
            source, own = 0, steps[base]
            for function in (*functions, _spoken) if is_sign and joined else functions:
                source = own.setdefault((source, function), 1 + len(own))
            outside = (NO if joined else False) if is_sign else EDGE
            row = rows[base].setdefault((source, outside, start), len(rows[base]))
            slots.append((base, row, offset))
            start = None
        (signs if alone else texts).append(slots)
    every = [*texts, *signs]
    base, row, offset = np.array([slot for slots in every for slot in slots]).T
    firsts = offsets_from_counts(list(map(len, rows)))
    return _Plan(
        tuple(_Values(k, tuple(steps[k]), tuple(own)) for k, own in enumerate(rows) if own),
        ChainPlan(offsets_from_counts(list(map(len, every))), firsts[base] + row, offset.copy()),
    )


def _term(template: str, text: str, columns: tuple[str, ...]) -> _Term:
    found = _TERM.fullmatch(text)
    calls = found[1].split("(")[-2::-1] if found else []  # innermost first
    functions = [_function(name) for name in calls]
    if found is None or len(found[4]) != len(calls):
        reason = "expected a term such as word[0], shape(word[-1]) or bias, places from -99 to 99"
    elif None in functions:
        name = calls[functions.index(None)]
        reason = f"{name!r} is not a function; there are {', '.join(FUNCTIONS)}"
    elif any(name in SIGNS for name in calls[:-1]) or (calls and not found[3]):
        reason = f"{calls[-1]} is a function of a text, and what it is given is a sign"
    elif not found[3] and found[2] in PLACES:
        return _Term(len(columns), 0, (PLACES[found[2]],), is_sign=True)
    elif not found[3]:
        reason = f"what stands alone is one of {', '.join(PLACES)}; a column needs a place, as in "
        reason += f"{columns[0]}[0], and a function a term, as in lower({columns[0]}[0])"
    elif found[2] not in columns:
        reason = f"{found[2]!r} is not a column; the columns are {', '.join(columns)}"
    else:
        known = tuple(function for function in functions if function)
        is_sign = bool(calls) and calls[-1] in SIGNS
        return _Term(columns.index(found[2]), int(found[3]), known, is_sign)
    raise SettingError(f"template {template!r}, term {text!r}: {reason}")


@cache  # one function object for each name, so that equal steps are found equal
def _function(name: str) -> _Function | None:
    cut = _CUT.fullmatch(name)
    if cut:
        length = int(cut[2])
        return itemgetter(slice(length) if cut[1] == "prefix" else slice(-length, None))
    return TEXTS.get(name) or SIGNS.get(name)


def _spoken(holds: bool) -> str:
    return YES if holds else NO


def _places(count: int) -> list[int]:
    """Of each token of a sentence, whether it is the first (1) and the last (2)."""
    return [1, *[0] * (count - 2), 2] if count > 1 else [3] * count
