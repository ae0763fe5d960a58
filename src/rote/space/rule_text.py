"""Rules as lines of text, for files: `Vocabulary` turns them into nodes of `rote.space.language`.

    line    [name ":"] ["prefer" ["by" number]] rule    # what follows a # is a comment
    rule    "if" either "then" either  |  either
    either  both {"or" both}
    both    one {"and" one}
    one     "not" one  |  "(" rule ")"  |  count  |  variable ["is" ["not"] labels]
    count   ("at most" | "at least" | "exactly") number ("of" one {"," one} | kind "is" labels)
    labels  label {"|" label}
    variable  kind {place}            place  a number, first, last, or a letter: i, i+1, j-2

"prefer by 0.7" makes a soft rule, which costs 0.7 where it is broken; with "prefer" alone the cost
is learned, one for all that the line says.

A letter stands for every number: a rule with letters holds for all of them, two different letters
being two different numbers, or two that belong together where a task says so. Where a place is not
there, as i+1 after the last token, the rule says nothing. A count of a kind is over all of its
variables. "is" and its labels are left out of variables that are "off" or "on". A label, name of a
kind or word of the language that is to be read as it is stands in double quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import permutations
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from rote.errors import RuleError
from rote.settings import Setting, check, optional
from rote.space.builder import SpaceBuilder
from rote.space.language import Or, Rule, Variable
from rote.space.quantifiers import all_of, any_of, at_least, at_most, exactly

OFF_ON = ("off", "on")
Rules: TypeAlias = str | Callable[[SpaceBuilder, Sequence[Variable]], None]
Variables: TypeAlias = Mapping[str, Mapping[Any, Variable]]  # by kind and places, a tuple
Kinds: TypeAlias = Mapping[str, tuple[int, tuple[str, ...]]]  # how many places, which labels
T = TypeVar("T")
_Letters: TypeAlias = Mapping[str, int]
_Node: TypeAlias = Callable[[Variables, _Letters], Rule]

RULES = optional(
    Setting(
        "a text, as docs/rules.md shows, or a function of a builder and its variables",
        lambda rules: isinstance(rules, str) or callable(rules),
    )
)
_COUNTS = {"most": at_most, "least": at_least, "exactly": exactly}
_WORDS = {"if", "then", "or", "and", "not", "is", "are", "of", "at", "exactly"}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[(),|:]|[^\s(),|:"#][^\s(),|:"]*|#.*|\S')
_NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")
_PLACE = re.compile(r"(\d+|first|last)|([a-z])([+-]\d+)?")
_NEVER = Or(())


class _Absent(Exception):  # no error: a place that an input does not have
    """There is no variable at a place."""


class _Token(NamedTuple):
    text: str
    column: int
    quoted: bool = False


class _Line(NamedTuple):
    name: str
    letters: tuple[str, ...]
    ground: _Node
    weight: float | Literal["learned"] | None  # of a soft rule


@dataclass(frozen=True)
class Vocabulary:
    """The kinds of variables that rules may speak of, each with its places and labels.

    >>> words = Vocabulary({"token": (1, ("N", "V"))})
    >>> builder = SpaceBuilder()
    >>> tags = [builder.variable(str(t), ("N", "V")) for t in range(3)]
    >>> places = {"token": {(t,): tag for t, tag in enumerate(tags)}}
    >>> words.require(builder, "if token i is V then token i+1 is N", tags, places)
    >>> [named.name for named in builder.build().rules]
    ['if token i is V then token i+1 is N, i=0', 'if token i is V then token i+1 is N, i=1']
    """

    kinds: Kinds

    def check(self, rules: Rules | None) -> None:
        """Refuse what are no rules, and texts that cannot be read."""
        check("rules", rules, RULES)
        if isinstance(rules, str):
            _parsed(rules, tuple(self.kinds.items()))

    def require(
        self,
        builder: SpaceBuilder,
        rules: Rules | None,
        variables: Sequence[Variable],
        places: Variables,
        pairs: Collection[tuple[int, ...]] | None = None,
    ) -> None:
        """Add the rules; two letters stand for ``pairs``, or for any two different numbers."""
        if rules is None:
            return
        if not isinstance(rules, str):
            rules(builder, variables)
            return
        count = 1 + max((n for found in places.values() for key in found for n in key), default=-1)
        for line in _parsed(rules, tuple(self.kinds.items())):
            every: Collection[tuple[int, ...]] = list(permutations(range(count), len(line.letters)))
            if len(line.letters) == 2 and pairs is not None:
                every = pairs
            for numbers in every:
                letters = dict(zip(line.letters, numbers, strict=True))
                said = "".join(f", {letter}={number}" for letter, number in letters.items())
                try:
                    rule = line.ground(places, letters)
                except _Absent:
                    continue
                if line.weight is None:
                    builder.require(rule, f"{line.name}{said}")
                else:
                    builder.prefer(rule, line.weight, line.name)


@lru_cache(maxsize=64)
def _parsed(
    text: str, kinds: tuple[tuple[str, tuple[int, tuple[str, ...]]], ...]
) -> tuple[_Line, ...]:
    lines = enumerate(text.splitlines(), start=1)
    parsers = (_Parser(line, number, dict(kinds)) for number, line in lines)
    return tuple(parser.line() for parser in parsers if parser.tokens)


class _Parser:
    """One line, read from left to right."""

    def __init__(self, line: str, number: int, kinds: Kinds) -> None:
        self.number = number
        self.kinds = kinds
        self.text = line
        self.at = 0
        self.letters: dict[str, None] = {}
        self.tokens = list(self._cut(line))

    def _cut(self, line: str) -> Iterator[_Token]:
        for found in _TOKEN.finditer(line):
            text, column = found[0], found.start() + 1
            if text.startswith("#"):
                self.text = line[: found.start()]
                return
            if text == '"':
                raise self.error("a quote that ends", _Token(line[found.start() :], column))
            if text.startswith('"'):
                try:
                    yield _Token(json.loads(text), column, quoted=True)
                except ValueError:
                    raise self.error("quotes as in JSON", _Token(text, column)) from None
            else:
                yield _Token(text, column)

    def error(self, expected: str, token: _Token | None = None) -> RuleError:
        token = self.next if token is None else token
        got = repr(token.text) if token.text else "the end of the line"
        return RuleError(
            f"line {self.number}, column {token.column}: expected {expected}; got {got}"
        )

    @property
    def next(self) -> _Token:
        if self.at < len(self.tokens):
            return self.tokens[self.at]
        return _Token("", len(self.text.rstrip()) + 1)

    def take(self, *words: str) -> bool:
        """Whether one of these words of the language comes next; it is passed over."""
        found = not self.next.quoted and self.next.text in words
        self.at += found
        return found

    def want(self, *words: str) -> None:
        if not self.take(*words):
            raise self.error(" or ".join(map(repr, words)))

    def line(self) -> _Line:
        name = self.text.strip()
        colons = [k for k, t in enumerate(self.tokens) if t.text == ":" and not t.quoted]
        if colons:
            self.at = colons[0] + 1
            name = self.text[: self.tokens[colons[0]].column - 1].strip()
        if not name:
            raise self.error("a name before the colon", self.tokens[0])
        weight = self.weight() if self.take("prefer") else None
        ground = self.rule()
        if self.next.text:
            raise self.error("'and', 'or' or the end of the line")
        return _Line(name, tuple(self.letters), ground, weight)

    def weight(self) -> float | Literal["learned"]:
        if not self.take("by"):
            return "learned"
        if self.next.quoted or not _NUMBER.fullmatch(self.next.text):
            raise self.error("a number of at least 0, such as 0.7")
        self.at += 1
        return float(self.tokens[self.at - 1].text)

    def rule(self) -> _Node:
        if not self.take("if"):
            return self.either()
        first = self.either()
        self.want("then")
        then = self.either()
        return lambda places, letters: first(places, letters) >> then(places, letters)

    def either(self) -> _Node:
        both = partial(self.joined, "and", self.one, all_of)
        return self.joined("or", both, any_of)

    def joined(
        self, word: str, read: Callable[[], _Node], join: Callable[[list[Rule]], Rule]
    ) -> _Node:
        found = self.several(word, read)
        if len(found) == 1:
            return found[0]
        return lambda places, letters: join([each(places, letters) for each in found])

    def several(self, word: str, read: Callable[[], T]) -> list[T]:
        """One, and as many more as follow behind a word."""
        found = [read()]
        while self.take(word):
            found.append(read())
        return found

    def one(self) -> _Node:
        if self.take("not"):
            inner = self.one()
            return lambda places, letters: ~inner(places, letters)
        if self.take("("):
            inner = self.rule()
            self.want(")")
            return inner
        if self.take("at"):
            how = self.next.text
            self.want("most", "least")
            return self.count(how)
        return self.count("exactly") if self.take("exactly") else self.atom()

    def count(self, how: str) -> _Node:
        if self.next.quoted or not self.next.text.isdecimal():
            raise self.error("a number")
        most, compare = int(self.next.text), _COUNTS[how]
        self.at += 1
        if self.take("of"):
            some = self.several(",", self.one)
            return lambda places, letters: compare(most, [one(places, letters) for one in some])
        kind = self.kind(plural=True)
        self.want("is", "are")
        labels = self.labels(kind)
        return lambda places, _: compare(
            most, [_is(variable, labels) for variable in places.get(kind, {}).values()]
        )

    def atom(self) -> _Node:
        kind = self.kind()
        count, known = self.kinds[kind]
        place = [self.place() for _ in range(count)]
        if self.take("is"):
            wrong = self.take("not")
            labels = self.labels(kind)
        elif known == OFF_ON:
            wrong, labels = False, ("on",)
        else:
            raise self.error("'is'")

        def ground(places: Variables, letters: _Letters) -> Rule:
            found = places.get(kind, {})
            last = max((key[-1] for key in found if key), default=-1)
            variable = found.get(tuple(where(letters, last) for where in place))
            if variable is None:
                raise _Absent
            rule = _is(variable, labels)
            return ~rule if wrong else rule

        return ground

    def kind(self, plural: bool = False) -> str:
        token = self.next
        name = token.text
        if plural:
            spelled = {f"{k[:-1]}ies" if k.endswith("y") else f"{k}s": k for k in self.kinds}
            name = spelled.get(name, name)
        if name not in self.kinds or (not token.quoted and token.text in _WORDS):
            raise self.error(f"the name of a variable: {', '.join(self.kinds):.200}")
        self.at += 1
        return name

    def place(self) -> Callable[[_Letters, int], int]:
        found = None if self.next.quoted else _PLACE.fullmatch(self.next.text)
        if found is None:
            raise self.error("a place such as i, i+1, 0, first or last")
        self.at += 1
        number, letter, more = found.groups()
        if letter:
            self.letters.setdefault(letter)
            return lambda letters, _: letters[letter] + int(more or 0)
        return lambda _, last: last if number == "last" else int(number.replace("first", "0"))

    def labels(self, kind: str) -> tuple[str, ...]:
        def label() -> str:
            known = self.kinds[kind][1]
            if self.next.text not in known:
                raise self.error(f"a label of {kind}: {', '.join(known):.200}")
            self.at += 1
            return self.tokens[self.at - 1].text

        return tuple(self.several("|", label))


def _is(variable: Variable, labels: Sequence[str]) -> Rule:
    """One of these labels; one that the variable does not have is never taken."""
    there = [variable[label] for label in labels if label in variable.labels]
    return there[0] if len(there) == 1 else any_of(there) if there else _NEVER
